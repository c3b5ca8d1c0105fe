# SPDX-License-Identifier: Apache-2.0
# Threads that compute at the same time, each in a function of its own, which all call one function: without a GIL each
# of them executes a copy of its bytecode. Prints what does not depend on their order. Ends in each function's line are
# the functions that may be there; python_parallel.sh reads them.
import asyncio
import gc
import sys
import threading
import time

seconds = float(sys.argv[1])
rounds = int(sys.argv[2])
end = time.monotonic() + seconds
begin = threading.Barrier(4)


def shared(n):
    a = n * 3
    b = a + 1
    for i in range(200):
        b = (b * 31 + i) % 65537  # shared loop
    return b


def steps(n):
    for i in range(n):
        yield shared(i)  # steps calls


def generators():
    return sum(steps(8))  # generators sums


class Thrown(Exception):
    pass


def throws(n):
    shared(n)  # throws calls
    raise Thrown(n)


def exceptions():
    caught = 0
    for n in range(6):
        try:
            throws(n)  # exceptions calls
        except Thrown as e:
            caught += e.args[0]
    return caught


async def awaited(n):
    await asyncio.sleep(0)
    return shared(n)  # awaited calls


async def gathered():
    return sum(await asyncio.gather(*map(awaited, range(4))))


def coroutines():
    return asyncio.run(gathered())  # coroutines runs


def collections():
    for _ in range(4):
        cycle = [[] for _ in range(50)]
        for item in cycle:
            item.append(cycle)
    space = {}
    exec("def made():\n    return %d" % len(cycle), space)
    gc.collect(0)  # collections collects
    return space["made"]() + shared(1)  # collections calls


jobs = generators, exceptions, coroutines, collections
results = {}


def work(job):
    begin.wait()
    seen, count = set(), 0
    while time.monotonic() < end or count < rounds:
        seen.add(job())  # work calls
        count += 1
    time.sleep(0.01)  # work sleeps
    results[job.__name__] = sorted(seen)


threads = [threading.Thread(target=work, args=(job,), name=job.__name__) for job in jobs]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(sorted(results.items()))
