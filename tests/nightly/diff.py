#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real pairs of runs of the jobs in pairs/, compared by `pillion diff`: how often it reports that a run which is the
same has become worse, and how often it finds a planted slow-down with its line.

Each round runs every job once, and every second one also with the planted slow-down, one run at a time. A run is
compared with the one before it, a planted one with the run before it; each six rounds give a comparison of three runs
with three, too. How much of the extra work makes the job that much slower is measured first, without pillion. TAP on
stdout: of the pairs of the same job at most 2 % may be reported worse, and of the planted ones at least 95 % must be,
with their line. A pair whose runs differ by more than the gate by themselves cannot be judged; therefore the deviation
of the pairs is printed."""
import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PILLION = os.environ.get("PILLION", str(ROOT / "scripts/pillion"))
BUILD = pathlib.Path(os.environ.get("PILLION_BUILD_DIR", ROOT / "build"))
PYTHON = os.environ.get("NIGHTLY_PYTHON", sys.executable)
WORDS = ["not worse", "worse", "cannot judge"]
SIDE = 3


class Job:
    """A program STEPS EXTRA; `extra` is an amount whose effect can be measured. A slow-down is found if the row that
    adds the most contains one of `plants`."""

    def __init__(self, kind, words, steps, extra, options=(), plants=(), **environment):
        self.kind, self.words, self.steps, self.extra = kind, words, steps, extra
        self.options = options or ("-s", "cpu", "--sampling-frequency=999")
        self.environment = environment
        self.plants = plants or [plant_line(words[-1])]

    def command(self, extra, seed):
        """The command, and its environment."""
        more = {key: value.format(seed=seed) for key, value in self.environment.items()}
        return [*self.words, str(self.steps), str(extra)], dict(os.environ, PILLION_STATS="false", **more)


def plant_line(source):
    """file:line of the comment PLANT."""
    source = pathlib.Path(source)
    lines = source.read_text(encoding="utf-8").split("\n")
    planted = re.compile(r"(#|/\*) PLANT")
    return f"{source.name}:{1 + next(i for i, line in enumerate(lines) if planted.search(line))}"


def jobs_of(scratch):
    """The jobs that this machine can run."""
    pairs, doubles, layers = HERE / "pairs", BUILD / "tests/doubles", BUILD / "tests/targets/cuda_layers"
    native = ("-s", "cpu", "--sampling-frequency=1999", "--sampling-source=perf")
    yield Job("python", [PYTHON, str(pairs / "python_job.py")], 800, 40000)
    if not subprocess.run([PYTHON, "-c", "import numpy"], stderr=subprocess.DEVNULL, check=False).returncode:
        yield Job("numpy", [PYTHON, str(pairs / "numpy_job.py")], 2600, 400)
    program = pathlib.Path(scratch) / "c_job"
    if not program.exists():
        subprocess.run(["gcc", "-g", "-O1", "-o", program, pairs / "c_job.c", "-lm"], check=True)
    yield Job("C", [str(program)], 6000, 1000, native, [plant_line(pairs / "c_job.c")])
    yield Job("shell", [str(pairs / "shell_job.sh")], 30, 100000, ("-t", "none", *native),
              ["[factor]"])
    if layers.exists():
        yield Job("simulated GPU", [str(layers)], 4000, 8000, ("-t", "cuda"),
                  [plant_line(ROOT / "tests/targets/cuda_layers.c")], LD_LIBRARY_PATH=str(doubles),
                  PILLION_SIMGPU_SEED="{seed}")


class Rounds:
    """The rounds of one job: records captures and compares them. Those that `scratch` has are not recorded again."""

    def __init__(self, job, scratch, slower):
        self.job, self.scratch, self.seed = job, pathlib.Path(scratch), 0
        self.runs, self.planted = [], []
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.results = {"job": job.kind, "same": [], "planted": [], "three same": [], "three planted": []}
        self.extra = self.calibrated(slower)

    def cpu_of(self, extra):
        """The time that is sampled: of the CPU in user mode; or simulated."""
        command, environment = self.job.command(extra, 1)
        if "PILLION_SIMGPU_SEED" in environment:
            path = self.record(f"calibration{extra}", extra)
            return run_json("stats", "-q", "-r", "cuda_gpu_kern_sum", "-f", "json", path, key="Total Time (ns)")
        before = os.times()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        after = os.times()
        return after.children_user - before.children_user

    def calibrated(self, slower):
        """The amount that makes the job that much slower."""
        known = self.scratch / "extra"
        if not known.exists():
            ratios = [self.cpu_of(self.job.extra) / self.cpu_of(0) for _ in range(5)]
            known.write_text(str(round(self.job.extra * slower / (statistics.median(ratios) - 1))), encoding="utf-8")
        return int(known.read_text(encoding="utf-8"))

    def record(self, name, extra):
        self.seed += 1
        command, environment = self.job.command(extra, self.seed)
        path = self.scratch / f"{name}.pillion"
        if not path.exists():
            new = self.scratch / "new.pillion"
            subprocess.run([PILLION, *self.job.options, "-o", new, "-f", "true", *command], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
            new.rename(path)
        return path

    def compare(self, what, before, after):
        """Keeps the verdict, the change, and the row that adds the most."""
        result = subprocess.run([PILLION, "diff", "-q", "-f", "json", *before, "--", *after], stdout=subprocess.PIPE,
                                text=True, check=False)
        table = json.loads(result.stdout)
        changed = [row for row in table[1:] if row["Verdict"] in ("slower", "new")] or table[1:]
        worst = max(changed, key=lambda row: row["After (ns)"] - row["Before (ns)"])
        names = f"{worst['Name']} at {worst['Line']}"
        self.results[what].append({"status": result.returncode, "change": table[0]["Change (%)"],
                                   "noise": table[0]["Noise (%)"], "row": names,
                                   "found": any(plant in names for plant in self.job.plants)})
        print(f"# {self.job.kind}: {what}: {WORDS[result.returncode]}, {table[0]['Change (%)']} %: {names}",
              file=sys.stderr, flush=True)

    def go(self, number):
        runs, planted = self.runs, self.planted
        runs.append(self.record(f"run{number}", 0))
        if number:
            self.compare("same", runs[-2:-1], runs[-1:])
        if number % 2:
            planted.append(self.record(f"planted{number}", self.extra))
            self.compare("planted", runs[-1:], planted[-1:])
        if number % (2 * SIDE) == 2 * SIDE - 1:
            self.compare("three same", runs[-2 * SIDE::2], runs[1 - 2 * SIDE::2])
            self.compare("three planted", runs[1 - 2 * SIDE::2], planted[-SIDE:])


def run_json(*words, key):
    """The sum of a column."""
    text = subprocess.run([PILLION, *words], stdout=subprocess.PIPE, text=True, check=True).stdout
    return sum(row[key] for row in json.loads(text))


def count(results, status):
    return sum(r["status"] == status for r in results)


def found(results):
    return sum(r["status"] == 1 and r["found"] for r in results)


def deviation(results):
    """Of the changes, in percent."""
    changes = [math.log1p(r["change"] / 100) for r in results if r["change"] is not None]
    return 100 * math.sqrt(sum(c * c for c in changes) / max(1, len(changes)))


def table(results):
    """As Markdown."""
    lines = ["| job | captures of a side | pairs | deviation | not worse | worse | cannot judge | planted | found |",
             "|---|---|---|---|---|---|---|---|---|"]
    for side, prefix in ((1, ""), (SIDE, "three ")):
        for r in [*results, {"job": "all", **{key: sum((x[key] for x in results), []) for key in results[0]
                                              if key != "job"}}]:
            same, planted = r[prefix + "same"], r[prefix + "planted"]
            if same:
                lines.append(f"| {r['job']} | {side} | {len(same)} | {deviation(same):.1f} % | " + " | ".join(
                    str(count(same, status)) for status in range(3)) + f" | {len(planted)} | {found(planted)} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200, help="pairs of runs of the same job")
    parser.add_argument("--slower", type=float, default=5, help="percent by which the planted runs are slower")
    parser.add_argument("--job", action="append", help="only this kind; may be repeated")
    parser.add_argument("--results", help="a file that gets all results as JSON")
    parser.add_argument("--captures", help="a folder that keeps the captures; those in it are compared again")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pillion-diff.") as scratch:
        folder = pathlib.Path(wanted.captures or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        jobs = [job for job in jobs_of(folder) if not wanted.job or job.kind in wanted.job]
        rounds = [Rounds(job, folder / job.kind, wanted.slower / 100) for job in jobs]
        for number in range(1 - -wanted.pairs // len(jobs)):
            for r in rounds:
                r.go(number)
            if wanted.results:
                pathlib.Path(wanted.results).write_text(json.dumps([r.results for r in rounds]), encoding="utf-8")
    done = [r.results for r in rounds]
    same, planted = ([x for r in done for x in r[key]] for key in ("same", "planted"))
    print("\n".join(f"# {line}" for line in table(done)))
    is_quiet, is_found = count(same, 1) <= 0.02 * len(same), found(planted) >= 0.95 * len(planted)
    print(f"{'ok' if is_quiet else 'not ok'} 1 - the same job is not reported worse: {count(same, 1)} of {len(same)}")
    print(f"{'ok' if is_found else 'not ok'} 2 - a planted slow-down is found with its line: {found(planted)} of "
          f"{len(planted)}")
    print("1..2")
    return not (is_quiet and is_found)


sys.exit(main())
