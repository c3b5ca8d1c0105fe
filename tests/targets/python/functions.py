# SPDX-License-Identifier: Apache-2.0
"""Calls all of traced.py, and prints what a program could see of a tracer."""
import asyncio
import inspect
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import traced  # noqa: E402

print(traced.plain(1), traced.plain(1, 5, 6, key=7), traced.plain.__name__, traced.plain.__doc__, traced.plain.mark)
try:
    traced.fails()
except ValueError as error:
    print('raised', error)
try:
    traced.plain()
except TypeError as error:
    print('raised', error)

steps = traced.steps(4)
print(next(steps), steps.send('a'), steps.throw(KeyError()), steps.send('b'))
try:
    steps.send('c')
except StopIteration as stop:
    print('returned', stop.value)
closed = traced.steps(2)
next(closed)
closed.close()
print(inspect.isgeneratorfunction(traced.steps), asyncio.iscoroutinefunction(traced.waits), inspect.isgenerator(closed))


async def both():
    return await asyncio.gather(traced.waits(3), traced.waits(5))

print(asyncio.run(both()))
thing = traced.Thing()
print(thing.method(4), thing.made(), traced.Thing.made(), thing.still(4), traced.Thing.still(5), thing.inherited(),
    traced.Base().inherited())
print(isinstance(vars(traced.Thing)['made'], classmethod), isinstance(vars(traced.Thing)['still'], staticmethod))


async def produced():
    return [x async for x in traced.produces()]

print(asyncio.run(produced()), json.dumps({'a': [1]}))
print(inspect.signature(traced.plain))
