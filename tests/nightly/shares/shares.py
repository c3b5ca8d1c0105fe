# SPDX-License-Identifier: Apache-2.0
"""shares.py TRUTH WAY SEED MS: as shares.c, which has the ways."""
import os
import random
import sys
import threading
import time

TRUTH, WAY, SEED, MS = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
LINES, WORKERS, DEPTH = 4, 4, 20
used = time.thread_time_ns


def line_0(end):
    while used() < end: sum(range(3000))


def line_1(end):
    while used() < end: sum(range(3000))


def line_2(end):
    while used() < end: sum(range(3000))


def line_3(end):
    while used() < end: sum(range(3000))


FUNCTIONS = line_0, line_1, line_2, line_3


def spend(spent, line, ns):
    start = used()
    FUNCTIONS[line](start + ns)
    spent[line] += used() - start


def recurse(spent, line, ns, depth):
    if depth:
        recurse(spent, line, ns, depth - 1)
    else:
        spend(spent, line, ns)


def run(seed, ns):
    rand, spent = random.Random(seed), [0] * LINES
    first, depth = rand.randrange(LINES), DEPTH if WAY in ("recursion", "all") else 1
    if WAY == "phases":
        for k in range(LINES):
            spend(spent, k, ns * (k + 1) // 10)
    while WAY != "phases" and sum(spent) < ns:
        k = rand.choices(range(LINES), (1, 4, 9, 16))[0]
        recurse(spent, (first + k) % LINES, rand.randrange(300_000, 5_300_000), rand.randrange(depth))
    text = "".join(f"{FUNCTIONS[k].__code__.co_firstlineno + 1} {spent[k]}\n" for k in range(LINES))
    with open(TRUTH, "ab", buffering=0) as file:
        file.write(text.encode())


def run_threads(seed, ns):
    threads = [threading.Thread(target=run, args=(seed + 17 * k, ns // WORKERS)) for k in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    ns = MS * 1_000_000
    if WAY in ("children", "all"):
        for k in range(WORKERS):
            if not os.fork():
                (run_threads if WAY == "all" else run)(SEED + 100 * k, ns // WORKERS)
                os._exit(0)
        for _ in range(WORKERS):
            os.wait()
    else:
        (run_threads if WAY == "threads" else run)(SEED, ns)


main()
