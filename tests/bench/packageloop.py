# SPDX-License-Identifier: Apache-2.0
"""packageloop.py KIND CALLS SLICES: ns per call of the Python package's functions. Prints "median=NS min=NS".

KIND: push, pop, mark, annotate; step, schedule: Profiler.step() without and with a schedule; empty: a context manager
that does nothing."""
import os
import statistics
import sys
import timeit

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import pillion  # noqa: E402


class Empty:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        pass


LOOPS = {"push": "push('x')", "pop": "pop()", "mark": "mark('x')", "annotate": "with annotate('x'): pass",
    "step": "step()", "schedule": "scheduled()", "empty": "with Empty(): pass"}


def main():
    kind, calls, slices = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    names = {"push": pillion.range_push, "pop": pillion.range_pop, "mark": pillion.mark, "annotate": pillion.annotate,
        "Empty": Empty, "step": pillion.Profiler(cuda=False).step,
        "scheduled": pillion.Profiler(pillion.schedule(wait=50, warmup=5, active=5), cuda=False).step}
    got = [t / calls * 1e9 for t in timeit.repeat(LOOPS[kind], globals=names, number=calls, repeat=slices)]
    print(f"median={statistics.median(got):.1f} min={min(got):.1f}")


main()
