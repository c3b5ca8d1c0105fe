#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exams.py: whether FIX FIRST names what an expert changed, and what that saved, on real performance fixes.

PILLION_EXAMS has folders, separated by colons: each has run.py and cases.json, that is workloads, the commits of the
fixes, the functions that they changed and the time before and after. run.py prepares a project's sources from MIRROR,
runs, records and judges; what it has judged is not run again. The sources are in no folder of this tree. Prints TAP,
and the table of each exam."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CACHE = os.environ.get("PILLION_NIGHTLY") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pillion-nightly")

# The line of the table, and what its share must be, in percent.
WANTED = (
    ("first finding names a changed function", 75, None),
    ("one of the first three does", 82, None),
    ("nothing named", None, 3),
    ("more than five places in the first finding", None, 0),
    ("interval contains the saving", 85, None),
)


def run(exam, cache, *more):
    command = [sys.executable, os.path.join(exam, "run.py"), "--cache", cache, *more]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout


def main():
    exams = [e for e in os.environ.get("PILLION_EXAMS", "").split(":") if e]
    mirror = os.environ.get("MIRROR", "")
    if not exams or not os.path.isdir(mirror):
        return print("1..0 # SKIP PILLION_EXAMS and MIRROR: no exams, or no sources of their projects")
    number = failed = 0
    for exam in exams:
        name = os.path.basename(exam.rstrip("/"))
        cache = os.path.join(CACHE, "exams", name)
        os.makedirs(cache, exist_ok=True)
        print("# " + run(exam, cache, "--missing", "--mirror", mirror, "--pillion",
                         os.path.join(ROOT, "scripts", "pillion")).replace("\n", "\n# "))
        table = run(exam, cache, "--table")
        print("# " + table.replace("\n", "\n# "))
        for title, least, most in WANTED:
            found = re.search(re.escape(title) + r".*?\((\d+) %\)", table)
            share = int(found[1]) if found else None
            is_good = found and (least is None or share >= least) and (most is None or share <= most)
            number += 1
            failed += not is_good
            print(f"{'ok' if is_good else 'not ok'} {number} - {name}: {title}: {share} %", flush=True)
    print(f"1..{number}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
