#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shares.py [OPTION]... [PROGRAM]...: whether `lines` has the shares of lines that programs measure themselves.

Twelve programs, six in C, six in Python: four lines that compute in slices of a random length, in one thread, in
threads, in recursion, in phases, in child processes, and in all of these. The share of each line in the CPU time of the
four must lie within 3 sigma of the sampling error, which is that of a binomial distribution over the samples of the
run. Four more programs work in step with the kernel's tick, to which samples by signals are exact: perf samples them if
it is permitted; otherwise they are not judged.

Prints TAP, a line for each program with the largest deviation in sigma."""
import argparse
import csv
import math
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SIGMAS, LIMIT_S = 3, 1200
WAYS = "plain", "threads", "recursion", "phases", "children", "all"
STEPS = "step 71", "step 50", "step 29", "step 90"


class Skip(Exception):
    """The program cannot be tried here, and why."""


def build_program(directory):
    source, program = os.path.join(HERE, "shares", "shares.c"), os.path.join(directory, "shares")
    with open(source, encoding="utf-8") as text:
        first = next(number for number, line in enumerate(text, 1) if "line_0(long long ns" in line)
    subprocess.run(["cc", "-g", "-O1", "-D_GNU_SOURCE", f"-DFIRST_LINE={first}", "-o", program, source, "-lpthread"],
        check=True)
    return program


def read_truth(path):
    spent = {}
    with open(path, encoding="ascii") as text:
        for line in text:
            number, ns = map(int, line.split())
            spent[number] = spent.get(number, 0) + ns
    return spent


def read_lines(report, capture, source):
    """line -> (ns, samples)"""
    table = subprocess.run([report, "stats", "-q", "-r", "lines", "-f", "csv", capture], capture_output=True, text=True,
        check=False)
    found = {}
    for row in csv.DictReader(table.stdout.splitlines()):
        path, _, number = row["Line"].rpartition(":")
        if os.path.basename(path) == os.path.basename(source):
            found[int(number)] = (int(row["CPU Python (ns)"]) + int(row["CPU Native (ns)"]), int(row["Samples"]))
    return found


def deviations(spent, found):
    """(samples, line -> (share, true share, deviation in sigma))"""
    known = {number: found.get(number, (0, 0)) for number in spent}
    all_ns, samples = sum(ns for ns, _ in known.values()), sum(count for _, count in known.values())
    ret = {}
    for number, ns in spent.items():
        true = ns / sum(spent.values())
        share = known[number][0] / all_ns if all_ns else 0
        sigma = math.sqrt(true * (1 - true) / samples) if samples else 0
        if ns:
            ret[number] = share, true, abs(share - true) / sigma if sigma else math.inf
    return samples, ret


def try_program(options, directory, words, source, way, sampling):
    truth, capture = os.path.join(directory, "truth"), os.path.join(directory, "run")
    if os.path.exists(truth):
        os.remove(truth)
    seed = str(random.Random(f"{options.seed} {way}").randrange(10 ** 6))
    environment = {**os.environ, "PILLION_BUILD_DIR": os.path.abspath(options.build), "PILLION_STATS": "false"}
    ran = subprocess.run([os.path.join(ROOT, "scripts", "pillion"), "-f", "-o", capture, *sampling, *words, truth,
        way, seed, str(options.ms)], capture_output=True, text=True, env=environment, timeout=LIMIT_S, check=False)
    if "no CPU samples: perf_event_open" in ran.stderr:
        raise Skip("perf_event_open is not permitted: not judged")
    if ran.returncode:
        return f"status {ran.returncode}: {ran.stderr[-300:]}", {}
    return deviations(read_truth(truth), read_lines(os.path.join(options.build, "report", "pillion-report"),
        capture + ".pillion", source))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10 ** 9)))
    parser.add_argument("--ms", type=int, default=6000, help="CPU time of each program (default: %(default)s)")
    parser.add_argument("--build", default=os.environ.get("PILLION_BUILD_DIR") or os.path.join(ROOT, "build"))
    parser.add_argument("program", nargs="*", help="c-plain, python-all, 'c-step 71', ...; default: all")
    options = parser.parse_args()
    status = 0
    with tempfile.TemporaryDirectory() as directory:
        native, script = build_program(directory), os.path.join(HERE, "shares", "shares.py")
        signals, perf = ["-s", "cpu", "--sampling-source=signal"], ["-s", "cpu", "--sampling-source=perf"]
        programs = [(f"c-{way}", [native], native + ".c", way, signals) for way in WAYS]
        programs += [(f"python-{way}", [sys.executable, script], script, way, signals) for way in WAYS]
        programs += [(f"c-{way}", [native], native + ".c", way, perf) for way in STEPS]
        programs = [one for one in programs if not options.program or one[0] in options.program]
        print(f"1..{len(programs)}", flush=True)
        for number, (name, *program) in enumerate(programs, 1):
            try:
                samples, lines = try_program(options, directory, *program)
            except Skip as reason:
                print(f"ok {number} - {name} # SKIP {reason}", flush=True)
                continue
            worst = max((one[2] for one in lines.values()), default=math.inf)
            status |= worst > SIGMAS
            print(f"{'not ok' if worst > SIGMAS else 'ok'} {number} - {name}, seed {options.seed}: {samples} samples, "
                f"{worst:.1f} sigma")
            for line, (share, true, sigmas) in lines.items():
                print(f"# line {line}: {100 * share:.1f} %, true {100 * true:.1f} %, {sigmas:.1f} sigma", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
