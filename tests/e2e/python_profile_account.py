# SPDX-License-Identifier: Apache-2.0
"""python_profile_account.py JOB FUNCTIONS OURS THEIRS: compares the pstats of the listed functions."""
import importlib
import inspect
import json
import pstats
import sys


def keys(path):
    """cProfile's keys of the listed functions whose calls are ranges; a generator's steps are."""
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    for row in rows:
        module = importlib.import_module(row["module"])
        for path in row["functions"]:
            function = inspect.unwrap(inspect.getattr_static(module, path.split(".")[0]))
            for part in path.split(".")[1:]:
                function = inspect.getattr_static(function, part)
            code = inspect.unwrap(getattr(function, "__func__", function)).__code__
            if not code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
                yield code.co_filename, code.co_firstlineno, code.co_name


def check(fact, text, *found):
    print("ok -" if fact else "not ok -", text)
    for line in [] if fact else found:
        print("#", line)


def main():
    job, functions, ours, theirs = sys.argv[1], *sys.argv[2:]
    ours, theirs = pstats.Stats(ours).stats, pstats.Stats(theirs).stats
    listed = set(keys(functions))
    wanted = {k: v[:2] for k, v in theirs.items() if k in listed}
    got = {k: v[:2] for k, v in ours.items()}
    check(wanted and got == wanted, f"{job}: cProfile's calls and primitive calls of {len(wanted)} functions",
        *[f"{k}: {got.get(k)}, cProfile {wanted.get(k)}" for k in {*got, *wanted} if got.get(k) != wanted.get(k)])
    # A call through a function that is not listed has the nearest listed caller.
    edges = {k: {c: n[:2] for c, n in v[4].items()} for k, v in theirs.items() if k in listed and listed >= {*v[4]}}
    mine = {k: {c: n[:2] for c, n in v[4].items()} for k, v in ours.items()}
    differ = [f"{k}: {mine.get(k)}, cProfile {v}" for k, v in edges.items() if mine.get(k) != v]
    check(edges and not differ, f"{job}: the callers of {len(edges)} functions", *differ)
    wrong = [k for k, v in ours.items() if not 0 <= v[2] <= v[3] + 1e-9 or v[4] and v[1] < sum(c[0] for c in
        v[4].values())]
    check(ours and not wrong, f"{job}: own time is part of the total, calls of callers part of the calls", *wrong)


main()
