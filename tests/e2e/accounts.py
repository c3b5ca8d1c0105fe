#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accounts.py [OPTION]...: whether time_sum has the lives of threads as these account for them themselves.

Makes PROGRAMS programs from a seed, half of them in C, half in Python: processes and threads that burn CPU time, sleep,
poll, wait on conditions and locks, sleep by raw system calls, fork, execute programs and are killed, in any order
(tests/targets/accounted.c has the language). Each runs in every mode. A thread reads its clock and its schedstat at the
end of its work; its last destructor, or its parent, reads them again after the recorder has. Each cell of time_sum must
lie between the two readings, with a tolerance of 2 % or 5 ms: exact accounts are compared, so that a slow or busy
machine makes no difference.

Prints TAP, a line for each mode, with the seed of the programs that failed."""
import argparse
import csv
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TARGETS = os.path.join(HERE, "..", "targets")
SLACK_NS, SLACK_SHARE, LIMIT_S = 5_000_000, 0.02, 240
# The kernel tells in ticks of 10 ms when the first thread of a program was created, if it has waited since.
TICK_NS = 10000000
SIGNAL, PERF = "--sampling-source=signal", "--sampling-source=perf"
MODES = {  # name -> (options of pillion, command before the program)
    "default": ([], []),
    "none": (["-s", "none"], []),
    "signals": (["-s", "cpu", SIGNAL], []),
    "perf": (["-s", "cpu", PERF], []),
    "strace": (["-s", "cpu"], ["strace", "-f", "-qq", "-e", "trace=none", "-o", "/dev/null"]),
    "go": (["-s", "cpu"], []),
}


class Skip(Exception):
    """The mode cannot be tried here, and why."""


# ---- programs ----


def operations(rand, depth):
    words = []
    for _ in range(rand.randint(1, 7)):
        letter = rand.choice("bbssprclf" if depth else "bbssprcl")
        words.append("f" + process(rand, depth - 1) if letter == "f" else f"{letter}{rand.randint(1, 40)}")
    return "[" + "".join(words) + "]"


def process(rand, depth):
    threads = "".join(operations(rand, depth if i < 2 else 0) for i in range(rand.choice((1, 1, 2, 4, 7))))
    end = rand.choice("eee__kx" if depth else "ee_k")
    return f"({threads}){end}" + (process(rand, depth - 1) if end == "x" else "")


def plan(seed):
    """The first process waits for the others, because its own end can be read by nobody."""
    rand = random.Random(seed)
    return f"([b{rand.randint(1, 20)}f{process(rand, 2)}s{rand.randint(1, 20)}])e"


# ---- accounts ----


def read_records(path, ended_ns):
    """(pid, tid), record of its end, record after it: dicts in ns. Nobody reads the latter of the first process. A
    thread of another one without it was killed by the end of its process."""
    ends, afters = {}, {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            kind, pid, tid, *numbers = line.split()
            key, numbers = (pid, tid), list(map(int, numbers))
            if kind == "end":
                ends[key] = dict(zip(("now", "born_after", "born_before", "cpu", "delay", "raw", "burned"),
                    numbers))
            else:
                afters[key] = dict(zip(("now", "cpu", "delay"), numbers))
    last = list(ends)[-1] if ends else None  # the first process ends last
    for key, end in ends.items():
        rest = ended_ns - end["now"]
        if key in afters:
            yield key, end, afters[key]
        elif end["raw"] < 0 or (key == last and key[0] == key[1]):
            yield key, end, {"now": ended_ns, "cpu": end["cpu"] + rest, "delay": end["delay"] + rest, "is_loose": True}


def bounds(end, after):
    """Column -> the smallest and the largest right value."""
    blocked = end["now"] - end["born_before"] - end["cpu"] - end["delay"]
    most = after["now"] - end["born_after"] - after["cpu"] - after["delay"]
    if end["raw"] < 0:  # a Go program ends by a system call of its own: what it has used is not known
        return {"Lifetime (ns)": (end["now"] - end["born_before"], after["now"] - end["born_after"])}
    if "is_loose" in after:
        most = after["now"] - end["born_after"] - end["cpu"] - end["delay"]
    wanted = {
        "Lifetime (ns)": (end["now"] - end["born_before"], after["now"] - end["born_after"]),
        "CPU (ns)": (end["cpu"], after["cpu"]),
        "Runnable (ns)": (end["delay"], after["delay"]),
        "Blocked (ns)": (blocked, most),
    }
    # a run delay after a wait in a recorded call counts as part of the call, and so does CPU time in calls
    in_calls = after["delay"] + after["cpu"] - end["burned"]
    return {**wanted, "Unexplained (ns)": (end["raw"] - in_calls, most)}


def wrong_cells(rows, records):
    cells, wrong = 0, []
    for key, end, after in records:
        row = rows.get(key)
        if not row:
            wrong.append(f"thread {key[1]} of {key[0]} is not there")
            continue
        for column, readings in bounds(end, after).items():
            # the kernel may account for CPU time and run delay of a busy thread only at its next tick
            least, most = min(readings), max(readings)
            slack = max(SLACK_NS, SLACK_SHARE * most)
            if key[0] == key[1] and column != "CPU (ns)" and column != "Runnable (ns)":
                slack += TICK_NS / 2
            value = int(row[column] or 0)
            cells += 1
            if not least - slack <= value <= most + slack:
                wrong.append(f"{row['Thread']} ({key[1]}): {column} {value / 1e9:.4f} s, "
                             f"right: {least / 1e9:.4f} to {most / 1e9:.4f}, of {end} and {after}")
    return cells, wrong


# ---- runs ----


class Runner:
    def __init__(self, options, directory):
        self.directory, self.build = directory, os.path.abspath(options.build)
        self.pillion = os.environ.get("PILLION") or os.path.join(HERE, "..", "..", "scripts", "pillion")
        self.targets = os.path.join(self.build, "tests", "targets")
        self.environment = {**os.environ, "PILLION_BUILD_DIR": self.build, "PILLION_STATS": "false"}
        self.environment.pop("LD_PRELOAD", None)

    def call(self, argv):
        return subprocess.run(argv, cwd=self.directory, env=self.environment, capture_output=True, text=True,
            errors="replace", stdin=subprocess.DEVNULL, timeout=LIMIT_S, check=False)

    def command(self, number, seed):
        if number % 2:
            return [sys.executable, os.path.join(TARGETS, "python", "accounted.py"),
                os.path.join(self.targets, "accounted_python.so"), "records", plan(seed)]
        return [os.path.join(self.targets, "accounted"), "records", plan(seed)]

    def account(self, mode, command):
        """(cells, wrong cells) of one run."""
        options, before = MODES[mode]
        records = os.path.join(self.directory, "records")
        if os.path.exists(records):
            os.remove(records)
        ran = self.call([self.pillion, *options, "-f", "-o", "run", *before, *command])
        ended_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        if "no CPU samples: perf_event_open" in ran.stderr:
            raise Skip("perf_event_open is not permitted")
        if ran.returncode or not os.path.exists(records):
            return 0, [f"status {ran.returncode}: {ran.stderr[-400:]}"]
        table = self.call([os.path.join(self.build, "report", "pillion-report"), "stats", "-q", "-r", "time_sum", "-f",
            "csv", "run.pillion"])
        rows = {(row["PID"], row["TID"]): row for row in csv.DictReader(table.stdout.splitlines())}
        return wrong_cells(rows, read_records(records, ended_ns))

    def go_program(self):
        if not shutil.which("go"):
            raise Skip("no go")
        shutil.copy(os.path.join(TARGETS, "accounted.go"), self.directory)
        self.environment.update(CGO_ENABLED="1", GOCACHE=os.path.join(self.directory, "cache"), GO111MODULE="off")
        built = self.call(["go", "build", "-o", "accounted_go", "accounted.go"])
        if built.returncode:
            raise Skip(f"go build: {built.stderr[-200:]}")
        return [os.path.join(self.directory, "accounted_go"), "records"]


def try_mode(runner, mode, options):
    """(cells, programs with wrong cells). Raises Skip."""
    if mode == "strace" and not shutil.which("strace"):
        raise Skip("no strace")
    go = runner.go_program() if mode == "go" else None
    cells, failed = 0, []
    for number in range(options.programs):
        seed = f"{options.seed}:{number}"
        count, wrong = runner.account(mode, [*go, seed] if go else runner.command(number, seed))
        cells += count
        if wrong:
            failed.append((number, plan(seed), wrong))
    return cells, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", default=str(random.SystemRandom().randrange(10 ** 9)),
        help="default: another one each time")
    parser.add_argument("--modes", default=",".join(MODES), help=f"of {', '.join(MODES)}; default: all")
    parser.add_argument("--build",
        default=os.environ.get("PILLION_BUILD_DIR") or os.path.join(HERE, "..", "..", "build"))
    options = parser.parse_args()
    status = 0
    with tempfile.TemporaryDirectory() as directory:
        with open("/proc/self/schedstat", encoding="ascii") as text:
            if not re.match(r"[1-9]", text.read()):
                print("1..0 # SKIP the kernel has no schedstat")
                return 0
        runner = Runner(options, directory)
        for number, mode in enumerate(options.modes.split(","), 1):
            text = f"{number} - {mode}: accounts of {options.programs} programs, seed {options.seed}"
            try:
                cells, failed = try_mode(runner, mode, options)
            except Skip as reason:
                print(f"ok {text} # SKIP {reason}")
                continue
            is_right = cells > 0 and not failed
            status |= not is_right
            wrong = sum(len(program[2]) for program in failed)
            print(f"{'ok' if is_right else 'not ok'} {text}, {cells} cells, {wrong} wrong", flush=True)
            for which, text, wrong in failed:
                print(f"# program {which}: {text}", *(f"#   {line}" for line in wrong[:10]), sep="\n")
    print(f"1..{len(options.modes.split(','))}")
    return status


if __name__ == "__main__":
    sys.exit(main())
