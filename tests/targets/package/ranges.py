# SPDX-License-Identifier: Apache-2.0
"""What the Python package offers to a program. Prints the same whether something records it or not."""
import asyncio

import pillion


@pillion.profile
def square(x):
    "its text"
    return x * x


@pillion.profile(name="numbers", color=0x123456)
def numbers():
    got = yield 1
    try:
        yield got
    except KeyError:
        yield "thrown"
    return 5


@pillion.annotate("failing")
def failing():
    raise ValueError("as without pillion")


@pillion.profile
async def waiting():
    await asyncio.sleep(0)
    return 3


@pillion.profile
async def streaming():
    yield 1
    yield 2


async def stream():
    return [x async for x in streaming()]


class Odd:
    def __str__(self):
        return "odd"


pillion.range_push("outer")
pillion.range_push("inner", color="red", category="io", payload=-5, domain="dom")
pillion.range_pop("dom")
pillion.range_pop()
pillion.mark("plain")
pillion.mark("half", payload=0.5, category="io")
with pillion.annotate("block"):
    with pillion.annotate("values", payload={"step": 3, "loss": 0.25, "name": "zwölf", "odd": Odd()}):
        pass
print(square(3), square.__name__, square.__doc__)
steps = numbers()
print(next(steps), steps.send(7), steps.throw(KeyError()), list(steps))
try:
    failing()
except ValueError as error:
    print(error)
print(asyncio.run(waiting()), asyncio.run(stream()))
first = pillion.range_start("one", payload=1)
second = pillion.range_start("two")
pillion.range_end(first)
pillion.range_end(second)
# What no tool may turn into an exception.
with pillion.annotate("\udc80", color="no color", payload=Odd()):
    pillion.range_push(Odd())
    pillion.range_pop()
with pillion.Profiler(pillion.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)) as profiler:
    for _ in range(12):
        pillion.mark(profiler.phase)
        profiler.step()
