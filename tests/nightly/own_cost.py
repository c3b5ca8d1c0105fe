#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""own_cost.py [OPTION]... [PROGRAM]...: compares the own cost that the ledger states with what recording has cost.

Runs each program bare and recorded, in turn. What recording has cost is the difference of the CPU time of a pair, as
getrusage(2) has it, the launcher included. A program fails if the median of what the ledger states differs from the
median of the differences by more than 25 %."""
import argparse
import csv
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LIMIT = 0.25
JOB = """
import json, os
null = os.open(os.devnull, os.O_WRONLY)
for i in range(400000):
    os.write(null, b"%d" % i)
    os.stat("/")
    if i % 100 == 0:
        json.dumps({"step": i, "values": [i] * 5})
"""
PROGRAMS = {  # options of pillion, the command
    "short": ([], ["./own_cost", "short"]),
    "samples": (["-s", "auto"], ["./own_cost", "short"]),
    "polls": ([], ["./own_cost", "polls"]),
    "recorded": ([], ["./own_cost", "recorded"]),
    "stacks": (["--osrt-backtrace-threshold=1"], ["./own_cost", "stacks"]),
    "threads": ([], ["./own_cost", "threads"]),
    "python": ([], [sys.executable, "job.py"]),
    "processes": ([], ["bash", "-c", "for ((i = 0; i < 200; i++)); do /bin/true; done"]),
    "forks": ([], ["bash", "-c", "for ((i = 0; i < 200; i++)); do (:); done"]),
    "start": ([], [sys.executable, "-c", "pass"]),
}


def cpu_seconds(argv):
    """The CPU time of a command and all its children."""
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        os.execvp(argv[0], argv)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"{' '.join(argv)}: status {status}")
    return usage.ru_utime + usage.ru_stime


def stated_seconds(pillion, capture):
    """What the ledger states, with the launcher."""
    done = subprocess.run([pillion, "stats", "-q", "-r", "ledger", "-f", "csv", capture], check=True, text=True,
        stdout=subprocess.PIPE)
    return sum(int(row["Count"]) for row in csv.DictReader(done.stdout.splitlines())
        if row["Fact"] in ("own overhead", "own launcher")) / 1e9


def compare(pillion, name, pairs):
    options, command = PROGRAMS[name]
    spent, stated, bares = [], [], []
    for _ in range(pairs):
        bare = cpu_seconds(command)
        recorded = cpu_seconds([pillion, "--stats=false", "-s", "none", "-f", "true", "-o", "capture", *options,
            *command])
        bares.append(bare)
        spent.append(recorded - bare)
        stated.append(stated_seconds(pillion, "capture.pillion"))
        shutil.rmtree("capture.pillion")
    quarter = statistics.quantiles(spent, n=4)
    spent, stated = statistics.median(spent), statistics.median(stated)
    print(f"| {name} | {statistics.median(bares):.2f} | {spent * 1e3:.0f} ({quarter[0] * 1e3:.0f} to "
        f"{quarter[2] * 1e3:.0f}) | {stated * 1e3:.0f} | {stated / spent:.2f} |", flush=True)
    return abs(stated / spent - 1) <= LIMIT


def main():
    usage = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("programs", nargs="*", metavar="PROGRAM", help="default: " + " ".join(PROGRAMS))
    usage.add_argument("--pillion", default=os.path.join(ROOT, "scripts", "pillion"))
    usage.add_argument("--pairs", type=int, default=20)
    options = usage.parse_args()
    place = tempfile.mkdtemp(prefix="pillion-own-cost.")
    try:
        os.chdir(place)
        subprocess.run(["cc", "-O2", "-pthread", "-o", "own_cost", os.path.join(HERE, "own_cost.c")], check=True)
        with open("job.py", "w", encoding="ascii") as file:
            file.write(JOB)
        print("| program | bare, s of CPU | spent, ms (quartiles) | stated, ms | ratio |\n|---|---|---|---|---|")
        wrong = [name for name in options.programs or PROGRAMS
            if not compare(os.path.abspath(options.pillion), name, options.pairs)]
    finally:
        os.chdir("/")
        shutil.rmtree(place)
    if wrong:
        print("more than 25 % away:", *wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
