# SPDX-License-Identifier: Apache-2.0
"""pythonloop.py CALLS SLICES: ns per call of fcntl, made 20 Python functions down. Prints "median=NS min=NS".

It keeps the GIL: to give it up and take it again are two more calls, with stacks of their own."""
import os
import statistics
import sys
import time

DEPTH = 18  # and the module's own frame, and the loop's


def loop(fd, calls, call=os.get_inheritable, clock=time.perf_counter_ns):
    start = clock()
    for _ in range(calls):
        call(fd)
    return (clock() - start) / calls


def descend(depth, fd, calls):
    return descend(depth - 1, fd, calls) if depth > 1 else loop(fd, calls)


def main():
    calls, slices = int(sys.argv[1]), int(sys.argv[2])
    fd = os.open("/dev/null", os.O_WRONLY)
    descend(DEPTH, fd, calls // 10)
    got = [descend(DEPTH - 1, fd, calls) for _ in range(slices)]
    print(f"median={statistics.median(got):.1f} min={min(got):.1f}")


main()
