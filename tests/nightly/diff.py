#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real pairs of runs of one job, compared by `pillion diff`: how often it reports that a run which is the same has
become worse, and how often it finds a planted slow-down with its line.

TAP on stdout. Of the pairs of the same job at most 2 % may be reported worse. What is found of the planted ones
depends on how busy the machine is; it is printed, and only a wrong line fails."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PILLION = os.environ.get("PILLION", str(HERE.parent.parent / "scripts/pillion"))
JOB = HERE / "diff_job.py"
PLANT = 1 + next(i for i, line in enumerate(JOB.read_text().split("\n")) if line.endswith("# PLANT"))
WORDS = ["not worse", "worse", "cannot judge"]


def record(path, steps, extra):
    command = [PILLION, "-s", "cpu", "--sampling-frequency=499", "-o", path, "-f", "true", sys.executable, JOB]
    subprocess.run([*map(str, command), str(steps), str(extra)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env={**os.environ, "PILLION_STATS": "false"})


def compare(before, after):
    """The exit status, and the rows."""
    result = subprocess.run([PILLION, "diff", "-q", "-f", "json", *before, "--", *after], stdout=subprocess.PIPE,
                            text=True, check=False)
    return result.returncode, json.loads(result.stdout)


def count(pairs, side, steps, extra, scratch):
    """Compares that many pairs: how often each verdict was given, and the slower row of each that is worse."""
    verdicts, rows = [0, 0, 0], []
    for number in range(pairs):
        before = [f"{scratch}/before{i}.pillion" for i in range(side)]
        after = [f"{scratch}/after{i}.pillion" for i in range(side)]
        for old, new in zip(before, after):
            record(old, steps, 0)
            record(new, steps, extra)
        status, table = compare(before, after)
        verdicts[status] += 1
        if status == 1:
            rows.append(max(table[1:], key=lambda row: row["After (ns)"] - row["Before (ns)"])["Name"])
        print(f"# pair {number + 1} of {side} with {extra} % more: {WORDS[status]}, {table[0]['Change (%)']} %",
              flush=True)
    return verdicts, rows


def show(verdicts):
    return ", ".join(f"{n} {word}" for n, word in zip(verdicts, WORDS))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200, help="pairs of runs of the same job")
    parser.add_argument("--planted", type=int, default=40, help="pairs of which the second is slower")
    parser.add_argument("--side", type=int, default=1, help="captures of each side")
    parser.add_argument("--steps", type=int, default=1500)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pillion-diff.") as scratch:
        verdicts, _ = count(wanted.pairs, wanted.side, wanted.steps, 0, scratch)
        good = verdicts[1] <= wanted.pairs * 0.02
        print(f"{'ok' if good else 'not ok'} 1 - the same job is not reported worse: {show(verdicts)}")
        verdicts, rows = count(wanted.planted, wanted.side, wanted.steps, 20, scratch)
        good = good and all(f"diff_job.py:{PLANT}" in row for row in rows)
        print(f"{'ok' if good else 'not ok'} 2 - a slower loop is found with its line: {show(verdicts)}: {set(rows)}")
    print("1..2")
    return not good


sys.exit(main())
