#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""samples.py [OPTION]... [PROGRAM]...: whether programs behave under `pillion -s cpu` as without it.

The programs are those to which a signal of a profiler is most dangerous: compilers at run time, garbage collectors
that stop threads by signals, tracers, small signal stacks, other profilers. Each runs bare, then ROUNDS times under
pillion. Every output and exit status must be one of those of the bare runs; most programs have only one. Prints TAP,
one line for each program.

Results are kept, one file RESULTS/PROGRAM@COMMIT.json each, where COMMIT is the last one that changed preload/ or
runtime/, so that an interrupted run continues where it ended. --rerun measures again."""
import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from suites import HERE, ROOT, Tap, default_cache, install_product, product_commit

BARE_RUNS = 3
LIMIT_S = 600


class Skip(Exception):
    """The program cannot run here, and why."""


class Programs:
    """What is run: name -> (description for the table, function that returns the command)."""

    def __init__(self, options, directory):
        self.python, self.build, self.directory = options.python, options.build, directory
        target = lambda name, *words: lambda: [self.target(name), *words]
        self.rows = {
            "jax": ("jit, grad, scan, vmap, pmap on four CPU devices", self.script("jax_steps.py", "jax")),
            "torch.compile": ("30 steps, C++ code generator", self.script("torch_compile.py", "torch")),
            "lightning": ("Trainer, DataLoader with 2 workers", self.script("lightning_fit.py", "lightning")),
            "numba": ("njit, parallel", self.script("numba_jit.py", "numba")),
            "gdb": ("run, a breakpoint, backtrace", self.debugger),
            "valgrind": ("memcheck", self.wrapped(["valgrind", "-q"], "altstack", "handled", "65536")),
            "strace": ("-f, all signals shown", self.wrapped(["strace", "-f", "-e", "trace=none", "-e", "signal=all",
                "-o", "/dev/stdout"], "altstack", "small", "4096")),
            "ptrace parent": ("PTRACE_TRACEME", target("traced", "traceme")),
            "ptrace parent, seize": ("PTRACE_SEIZE, then exec",
                lambda: [self.target("traced"), "seize", self.target("altstack"), "small", "4096"]),
            "alternate stack, 8 KiB": ("handlers on it", target("altstack", "handled", "8192")),
            "alternate stack, MINSIGSTKSZ": ("handlers on it", target("altstack", "handled", "2048")),
            "alternate stacks of threads": ("with and without, fork", target("altstack", "threads", "8192")),
            "SBCL": ("collections, threads, stack exhaustion", self.lisp),
            "Go, static": ("goroutines, collections, SIGUSR1, a child", lambda: self.go("0")),
            "Go, with cgo": ("the same, linked to libc", lambda: self.go("1")),
            "Java": ("threads, sockets, children, collections", self.java),
            "gperftools, profiler": ("SIGPROF at 1000 Hz",
                lambda: ["env", "CPUPROFILE=profile", "CPUPROFILE_FREQUENCY=1000", *self.native("profiler")]),
            "gperftools, tcmalloc": ("replaces malloc", lambda: self.native("tcmalloc")),
        }

    def source(self, name):
        return os.path.join(HERE, "samples", name)

    def target(self, name):
        return os.path.join(self.build, "tests", "targets", name)

    @staticmethod
    def need(tool):
        if not shutil.which(tool):
            raise Skip(f"there is no {tool}")
        return tool

    @staticmethod
    def compile(argv, environment=None):
        done = subprocess.run(argv, env={**os.environ, **(environment or {})}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0:
            raise Skip(f"{argv[0]}: {done.stdout.decode(errors='replace').strip().splitlines()[-1:]}")

    def script(self, name, module):
        def command():
            if subprocess.run([self.python, "-c", f"import {module}"], stderr=subprocess.DEVNULL).returncode != 0:
                raise Skip(f"{self.python} has no {module}")
            return [self.python, self.source(name)]
        return command

    def wrapped(self, words, name, *arguments):
        return lambda: [self.need(words[0]), *words[1:], self.target(name), *arguments]

    def debugger(self):
        return [self.need("gdb"), "-q", "-nx", "-batch", "-ex", "break burn", "-ex", "run", "-ex", "bt 1", "-ex",
            "delete", "-ex", "continue", "--args", self.target("altstack"), "small", "4096"]

    def lisp(self):
        return [self.need("sbcl"), "--script", self.source("collect.lisp")]

    def go(self, cgo):
        self.need("go")
        program = os.path.join(self.directory, "goroutines" + cgo)
        source = program + ".go"
        with open(self.source("goroutines.go"), encoding="utf-8") as file:
            text = file.read()
        if cgo == "1":  # a file that imports "C" links the program to libc
            text = text.replace("import (", 'import "C"\n\nimport (', 1)
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        self.compile(["go", "build", "-o", program, source], {"CGO_ENABLED": cgo,
            "GOCACHE": os.path.join(self.directory, "go-cache"), "GO111MODULE": "off"})
        return [program]

    def java(self):
        self.need("java")
        self.compile([self.need("javac"), "-d", self.directory, os.path.join(HERE, "Jobs.java")])
        return ["java", "-cp", self.directory, "Jobs"]

    def native(self, library):
        program = os.path.join(self.directory, "profiled-" + library)
        self.compile(["gcc", "-O1", "-g", "-pthread", "-o", program, self.source("profiled.c"), "-Wl,--no-as-needed",
            "-l" + library])
        return [program]


def outcome(argv, directory):
    """The status and the output, without numbers of processes."""
    keep = {key: value for key, value in os.environ.items() if not key.startswith(("PILLION_", "LD_"))}
    try:
        done = subprocess.run(argv, cwd=directory, env=keep, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return "out of time"
    text = done.stdout.decode(errors="backslashreplace")
    text = re.sub(r"(?m)^\d+ +(?=[-+<])", "", text)
    text = re.sub(r"(process|LWP|Thread 0x[0-9a-f]+) *\(?\d*\)?|0x[0-9a-f]{4,}|(?<=si_pid=)\d+", "", text)
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode  # as the launcher returns it
    return f"{status} {text}"


def capture_facts(pillion, capture):
    """The number of samples in the capture, and the events lost."""
    ledger = subprocess.run([pillion, "stats", "-q", "-f", "json", "-r", "ledger", capture], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, check=False)
    sums = collections.Counter()
    for row in json.loads(ledger.stdout or b"[]"):
        sums[row["Fact"]] += int(row["Count"])
    return sums["CPU samples"], sums["lost"], ledger.returncode


def measure(command, options, work):
    bare = [outcome(command, work) for _ in range(BARE_RUNS)]
    result = {"date": time.strftime("%Y-%m-%d"), "commit": options.commit, "rounds": options.rounds,
        "bare": sorted(set(bare)), "differences": [], "samples": 0, "lost": 0, "unreadable": 0}
    capture = os.path.join(work, "capture.pillion")
    for _ in range(options.rounds):
        found = outcome([options.pillion, "--stats=false", "-f", "true", "-s", "cpu",
            f"--sampling-frequency={options.frequency}", *options.option, "-o", capture, *command], work)
        if found not in bare:
            result["differences"].append(found)
        samples, lost, status = capture_facts(options.pillion, capture)
        result["samples"] += samples
        result["lost"] += lost
        result["unreadable"] += status != 0
    return result


def result_of(name, command, options, directory):
    path = os.path.join(options.results, re.sub(r"\W+", "-", name) + "@" + options.commit + ".json")
    if os.path.exists(path) and not options.rerun and not options.dirty:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        if result["rounds"] >= options.rounds:
            return result
    work = tempfile.mkdtemp(prefix="ps.", dir=directory)
    result = measure(command(), options, work)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(options.results, exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    os.replace(path + ".new", path)
    return result


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--frequency", type=int, default=999, help="of samples, in Hz")
    parser.add_argument("--option", action="append", default=[], help="a further option of pillion")
    parser.add_argument("--python", default=os.environ.get("NIGHTLY_PYTHON", sys.executable),
        help="the Python with JAX, PyTorch, Lightning and numba; default: NIGHTLY_PYTHON")
    parser.add_argument("--build", default=os.environ.get("PILLION_BUILD_DIR", os.path.join(ROOT, "build")))
    parser.add_argument("--cache", default=os.environ.get("PILLION_NIGHTLY") or default_cache())
    parser.add_argument("--rerun", action="store_true")
    parser.add_argument("--table", action="store_true", help="print the rows of the table in tests/README.md")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    options.results = os.path.join(options.cache, "samples" + "".join(options.option))
    options.commit, options.dirty = product_commit()
    return options


def main():
    options = parse_options()
    tap, table = Tap(), []
    os.makedirs(options.cache, exist_ok=True)
    options.pillion = install_product(options.build, os.path.join(options.cache, "samples-product"))
    with tempfile.TemporaryDirectory(prefix="ps.") as directory:
        programs = Programs(options, directory)
        for name, (text, command) in programs.rows.items():
            if options.programs and name not in options.programs:
                continue
            try:
                result = result_of(name, command, options, directory)
            except Skip as reason:
                tap.line(True, f"{name} # SKIP {reason}")
                continue
            differences = result["differences"]
            passed = not differences and not result["lost"] and not result["unreadable"]
            tap.line(passed, f"{name}: {result['rounds'] - len(differences)} of {result['rounds']} runs are as bare",
                [f"{len(result['bare'])} bare outcomes, {result['samples']} samples, {result['lost']} events lost, "
                    f"{result['unreadable']} captures unreadable", *[repr(found)[:500] for found in differences[:3]]])
            table.append([name, text, result["rounds"], len(differences), result["samples"] // result["rounds"],
                result["date"], result["commit"]])
    print(f"1..{tap.count}")
    for row in table if options.table else []:
        print("# | " + " | ".join(str(cell) for cell in row) + " |")
    sys.exit(tap.failures > 0)


if __name__ == "__main__":
    main()
