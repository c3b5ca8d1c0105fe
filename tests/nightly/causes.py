#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""causes.py [--runs=N] [NAME]...: whether `pillion whatif` predicts what fixes save, and FIX FIRST names the largest.

Each fix is a program in two forms, slow and fixed (causes_programs.py). The slow one is recorded, and the edit that
stands for the fix is replayed: predicted. Both forms also run without pillion, N times in turn (default 3): real is the
difference of their shortest times. Printed are both, the interval, and whether the first finding names the line whose
repair saves most, as its line or as the line from which that is called. A clean program must have no finding but
bound_by. What others do on the machine is left out: the rule cpu_starved.
Prints TAP: a fix holds if it is wrong by at most 25 % of what is real and 50 ms, or real is in the interval with 50 ms
to each side, and the line is named. Programs that lack a module or a tool are skipped. NIGHTLY_PYTHON names the Python
of the programs."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from causes_programs import CLEAN, COMMANDS, HEAD, PROGRAMS, TARGETS, make_files

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PILLION = os.path.join(ROOT, "scripts", "pillion")
BUILD = os.environ.get("PILLION_BUILD_DIR", os.path.join(ROOT, "build"))
PYTHON = os.environ.get("NIGHTLY_PYTHON", sys.executable)
NS_OF_50_MS = 50_000_000


def environment():
    result = {name: value for name, value in os.environ.items() if not name.startswith("PILLION_")}
    result.update(PYTHONDONTWRITEBYTECODE="1", PILLION_BUILD_DIR=BUILD)
    result["LD_LIBRARY_PATH"] = os.path.join(BUILD, "tests/doubles")
    return result


def marked(path, mark):
    """The lines of a file that end in the comment."""
    with open(path, encoding="utf-8") as file:
        return ["%s:%d" % (os.path.basename(path), number) for number, line in enumerate(file, 1)
            if line.rstrip().endswith(mark)]


def prepare_program(name, directory):
    _, text, edit = PROGRAMS[name]
    path = os.path.join(directory, name + ".py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEAD + text)
    fix = marked(path, "# FIX")
    return [PYTHON, path], edit and edit.format(line=fix[0], file=name + ".py"), marked(path, "# FIRST") or fix


def prepare_target(target, _directory):
    program, form, fix, first, edit = target
    source = os.path.join(ROOT, "tests/targets", program + ".c")
    lines = marked(source, "/* %s */" % fix)
    command = [os.path.join(BUILD, "tests/targets", program), form]
    if program.startswith("mpi"):
        command = ["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", "2"] + command
    return command, edit.format(line=lines[0]), [line for mark in (first or fix).split("|")
        for line in marked(source, "/* %s */" % mark)]


def prepare_clean(name, directory):
    make_files(directory)
    text = CLEAN[name]
    if text:
        path = os.path.join(directory, name + ".py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return (["timeout", "--foreground", "2"] if name.startswith("server") else []) + [PYTHON, path]
    return [word.format(python=PYTHON, targets=os.path.join(BUILD, "tests/targets")) for word in COMMANDS[name]]


def has_module(module):
    return not subprocess.run([PYTHON, "-c", "import " + module], stderr=subprocess.DEVNULL, check=False).returncode


def is_missing(name, command):
    """What it lacks, or None."""
    if not shutil.which(command[0]) or not shutil.which(next(word for word in reversed(command) if "/" in word) if
            "targets/" in " ".join(command) else command[0]):
        return command[0]
    module = name.split("_")[0]
    return module if module in ("torch", "numpy") and not has_module(module) else None


def fixes():
    """name, kind, and what prepares it: its command without its form, the edit, the lines to name"""
    for name, (kind, _, _) in PROGRAMS.items():
        yield name, kind, lambda directory, name=name: prepare_program(name, directory)
    for target in TARGETS:
        kind = {"causes": "C", "cuda_causes": "GPU", "mpi_causes": "MPI"}[target[0]]
        yield target[0] + "_" + target[1], kind, lambda directory, target=target: prepare_target(target, directory)


def wall(command, directory):
    start = time.monotonic()
    subprocess.run(command, cwd=directory, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        check=True)
    return (time.monotonic() - start) * 1e9


def predicted(edit, directory):
    text = subprocess.run([PILLION, "whatif", "--json", "slow.pillion", edit], cwd=directory, env=environment(),
        stdout=subprocess.PIPE, text=True, check=False).stdout
    rows = [row for row in json.loads(text).get("rows", []) if row["table"] == "whatif"]
    return (rows[0]["Saved (ns)"], rows[0]["Low (ns)"], rows[0]["High (ns)"]) if rows else None


def findings(directory):
    text = subprocess.run([PILLION, "analyze", "--json", "slow.pillion"], cwd=directory, env=environment(),
        stdout=subprocess.PIPE, text=True, check=False).stdout
    return [row for row in json.loads(text).get("rows", [])
        if row.get("table") == "findings" and row.get("Verdict") == "found" and row["Rule"] != "cpu_starved"]


def record(command, directory):
    trace = ["-t", "osrt,mpi"] if command[0] == "mpirun" else []
    subprocess.run([PILLION, "--stats=false", "-o", "slow"] + trace + command, cwd=directory, env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def words(row):
    if not row:
        return "nothing"
    return "%s: %s (%.0f ms, %s)" % (row["Rule"], " ".join(row["Text"].split())[:110], row["Saves (ns)"] / 1e6,
        row["Line"] and os.path.basename(row["Line"]))


def names(row, lines):
    return any((row[column] or "").replace(os.sep, "/").endswith(line) for line in lines
        for column in ("Line", "Called From"))


class Results:
    """What is printed in the end."""
    def __init__(self):
        self.number = self.count = self.inside = self.named = self.clean = self.clean_count = 0
        self.errors = []

    def line(self, is_ok, name, text):
        self.number += 1
        print("%s %d - %s%s" % ("ok" if is_ok else "not ok", self.number, name, text), flush=True)

    def skip(self, name, reason):
        self.line(True, name, " # SKIP without " + reason)

    def fix(self, name, kind, prepare, runs):
        with tempfile.TemporaryDirectory() as directory:
            command, edit, lines = prepare(directory)
            lack = is_missing(name, command)
            if lack:
                self.skip(name, lack)
                return
            times = {"slow": [], "fixed": []}
            for _ in range(runs):
                for form, all_times in times.items():
                    all_times.append(wall(command + [form], directory))
            record(command + ["slow"], directory)
            found = findings(directory)
            row = found[0] if found else None
            saving = predicted(edit, directory) if edit else row and tuple(row["Saves%s (ns)" % word]
                for word in ("", " Low", " High"))
        real = min(times["slow"]) - min(times["fixed"])
        is_named = bool(row) and names(row, lines)
        self.count += 1
        self.named += is_named
        if not saving:
            self.line(False, name, ": cannot tell")
            return
        saved, low, high = saving
        is_inside = low - NS_OF_50_MS <= real <= high + NS_OF_50_MS
        self.inside += is_inside
        if real > 2 * NS_OF_50_MS:
            self.errors.append(abs(saved - real) / real)
        self.line((is_inside or abs(saved - real) <= real / 4 + NS_OF_50_MS) and is_named, name,
            " (%s): predicted %.0f ms [%.0f, %.0f], real %.0f ms, %s" % (kind, saved / 1e6, low / 1e6, high / 1e6,
            real / 1e6, "named first" if is_named else "not %s but %s" % (" ".join(lines), words(row))))

    def clean_program(self, name):
        with tempfile.TemporaryDirectory() as directory:
            command = prepare_clean(name, directory)
            lack = is_missing(name, command)
            if lack:
                self.skip(name, lack)
                return
            record(command, directory)
            wrong = [row for row in findings(directory) if row["Rule"] != "bound_by"]
        self.clean_count += 1
        self.clean += not wrong
        self.line(not wrong, name, " (clean)%s" % "".join(": " + words(row) for row in wrong[:1]))

    def summary(self):
        self.errors.sort()
        if self.errors:
            print("# %d fixes: real within the interval %d; median error %.1f %%, worst %.1f %%; named first %d" % (
                self.count, self.inside, 100 * self.errors[len(self.errors) // 2], 100 * self.errors[-1], self.named))
        print("# %d clean programs: %d without a finding" % (self.clean_count, self.clean))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("name", nargs="*")
    options = parser.parse_args()
    chosen = [fix for fix in fixes() if not options.name or fix[0] in options.name]
    clean = [name for name in CLEAN if not options.name or name in options.name]
    results = Results()
    print("1..%d" % (len(chosen) + len(clean)))
    for name, kind, prepare in chosen:
        results.fix(name, kind, prepare, options.runs)
    for name in clean:
        results.clean_program(name)
    results.summary()


if __name__ == "__main__":
    main()
