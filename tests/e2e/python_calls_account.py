# SPDX-License-Identifier: Apache-2.0
"""python_calls_account.py JOB OURS THEIRS: compares our pstats with what cProfile counted. Ours have what happened
while the capture range was open, which begins and ends in functions of the package pillion."""
import collections
import json
import os
import pstats
import re
import sys

PACKAGE = os.path.normpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../python/pillion")) + os.sep


def is_around(key):
    """The functions that begin or end the profile or the capture range."""
    return key[0].startswith(PACKAGE) or key[2] == "<method 'disable' of '_lsprof.Profiler' objects>"


def our_counts(path):
    """Calls and primitive calls, without those that functions of the package made."""
    found = {}
    for key, (primitive, calls, _, _, callers) in pstats.Stats(path).stats.items():
        around = [n for caller, n in callers.items() if is_around(caller)]
        calls -= sum(n[0] for n in around)
        primitive -= sum(n[1] for n in around)
        if calls and not is_around(key):
            found[key] = calls, primitive
    return found


def their_counts(path):
    """cProfile keeps addresses in what represents a function. `several`: keys of more than one function, such as those
    that dataclasses generates; where one calls another, we see recursion, cProfile does not."""
    found = collections.defaultdict(lambda: (0, 0))
    several = set()
    with open(path, encoding="utf-8") as file:
        for source, line, name, calls, recursive in json.load(file):
            key = source, line, re.sub(" at 0x[0-9a-f]+", "", name)
            if key in found and source != "~":
                several.add(key)
            if not is_around(key):
                found[key] = found[key][0] + calls, found[key][1] + calls - recursive
    return found, several


def main():
    job, ours, (theirs, several) = sys.argv[1], our_counts(sys.argv[2]), their_counts(sys.argv[3])
    differ = [f"{k}: {ours.get(k)}, cProfile {theirs.get(k)}" for k in {*ours, *theirs} if ours.get(k) != theirs.get(k)
        and (k not in several or k not in ours or ours[k][0] != theirs[k][0])]
    is_same = len(theirs) > 4 and any(k[0] == "~" for k in theirs) and not differ
    print("ok -" if is_same else "not ok -", f"{job}: cProfile's calls and primitive calls of all functions")
    for line in differ:
        print("#", line)


main()
