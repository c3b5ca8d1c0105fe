# SPDX-License-Identifier: Apache-2.0
# Sleeps in shapes of many kinds, and prints what Python itself says of each stack: "function (file:line) <- ...", from
# the outermost caller of interest inwards to the sleep.
import asyncio
import ctypes
import sys
import threading
import time

seen = []
released, held = ctypes.CDLL(None), ctypes.PyDLL(None)


def here():
    f, frames = sys._getframe(1), []
    while f:
        code = f.f_code
        frames.append("%s (%s:%d)" % (getattr(code, "co_qualname", code.co_name), code.co_filename, f.f_lineno))
        f = f.f_back
    seen.append(" <- ".join(frames))


def asleep(): here(); time.sleep(0.0001)


def gil_released(): here(); released.usleep(100)


def gil_held(): here(); held.usleep(100)


def nap():
    way()


def recursion(n):
    return nap() if n == 0 else recursion(n - 1)


def generator():
    for i in range(2):
        nap()
        yield i


def delegating():
    yield from generator()


class Thing:
    def __init__(self, sleeps=True):
        if sleeps:
            nap()

    @property
    def value(self):
        return nap()

    def __del__(self):
        nap()

    def __enter__(self):
        nap()

    def __exit__(self, *_):
        nap()

    def __lt__(self, other):
        nap()
        return False


async def produced():
    for i in range(2):
        await asyncio.sleep(0)
        nap()
        yield i


async def task():
    await asyncio.sleep(0.001)
    nap()


async def coroutine():
    await asyncio.sleep(0)
    nap()
    async for _ in produced():
        nap()
    [nap() async for _ in produced()]
    await asyncio.gather(task(), task())
    await asyncio.get_running_loop().run_in_executor(None, nap)


def naïve_名():
    nap()


def generated(i):
    """Creates code at the address of code that was just freed."""
    names = {"nap": nap}
    exec(compile("def made():\n    nap()\nmade()", "generated-%03d.py" % i, "exec"), names)
    names.clear()
    names = {"nap": nap}
    exec(compile("def made_%03d():\n    nap()\nmade_%03d()" % (i, i), "generated.py", "exec"), names)
    names.clear()


def shapes():
    for i in range(60):
        recursion(i)
    for i in range(50):
        generated(i)
    list(generator())
    list(delegating())
    [nap() for _ in range(2)]
    (lambda: nap())()
    thing = Thing()
    thing.value
    with thing:
        nap()
    sorted([thing, Thing()])
    del thing
    exec("nap()")
    max([1, 2], key=lambda _: nap() or 0)
    asyncio.run(coroutine())
    naïve_名()
    Thing(
        sleeps=nap() is None,
    )
    for _ in range(100):
        Thing(sleeps=False)


for way in asleep, gil_released, gil_held:
    shapes()
    threads = [threading.Thread(target=recursion, args=(i,)) for i in range(3)]
    [t.start() for t in threads]
    [t.join() for t in threads]
print("\n".join(seen))
