# SPDX-License-Identifier: Apache-2.0
"""How the benchmarks compare: candidates in turn, rounds and their medians, rows of figures, captures that are checked
and tidied up."""
import os
import shutil
import statistics
import subprocess
import tempfile

PASSES = 4  # of one round
CALLS, SLICES = 65536, 3  # of one run of a loop; a slice has two of the floor's flushes, and several windows of ours
FOREVER_NS = "3600000000000"


class CannotRun(Exception):
    pass


class Result:
    """The rounds of one candidate: (median, min) of each."""

    def __init__(self, rounds):
        self.rounds = rounds

    def over(self, plain):
        """Added to `plain`, round by round."""
        return Result([(a[0] - b[0], a[1] - b[1]) for a, b in zip(self.rounds, plain.rounds)])

    @property
    def median(self):
        return statistics.median(r[0] for r in self.rounds)

    @property
    def least(self):
        return min(r[1] for r in self.rounds)


class Bench:
    def __init__(self, build, rounds, directories):
        self.build, self.rounds = build, rounds
        self.shared_object = os.path.join(build, "preload", "libpillion.so")
        self.floor_libraries = {n: os.path.join(build, "tests", "bench", f"lib{n}.so")
            for n in ("floor", "clocks", "empty", "enter")}
        self.report = os.path.join(build, "report", "pillion-report")
        self.places = []
        try:
            for d in directories:
                self.places.append((file_system(d), tempfile.mkdtemp(prefix="pillion-bench.", dir=d)))
        except OSError:
            self.close()
            raise
        self.rows, self.failures, self.captures, self.is_large = [], [], 0, False
        # Nothing of a user's own settings may leak into what is measured.
        self.environment = {k: v for k, v in os.environ.items()
            if not k.startswith(("PILLION_", "NVTX_", "LD_PRELOAD"))}

    def close(self):
        for _, directory in self.places:
            shutil.rmtree(directory, ignore_errors=True)

    # ---- what is run ----

    def program(self, name):
        path = os.path.join(self.build, "tests", "bench", name)
        if not os.access(path, os.X_OK):
            raise CannotRun(f"{name} has not been built")
        return path

    def fresh(self, place):
        self.captures += 1
        return os.path.join(place, f"c{self.captures}")

    def pillion(self, place, **options):
        """The environment of a recorded program, and its capture-to-be. Options as PILLION_ variables."""
        capture = self.fresh(place)
        env = {"LD_PRELOAD": self.shared_object, "NVTX_INJECTION64_PATH": self.shared_object, "PILLION_OUTPUT": capture}
        env.update({"PILLION_" + k.upper(): v for k, v in options.items()})
        return env, capture

    def yardstick(self, name, place):
        library = self.floor_libraries[name]
        return {"LD_PRELOAD": library, "NVTX_INJECTION64_PATH": library,
            "BENCH_FLOOR": os.path.join(place, "floor")}, None

    def execute(self, argv, env):
        try:
            done = subprocess.run(argv, env={**self.environment, **env}, capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            raise CannotRun(f"{os.path.basename(argv[0])}: not done after 300 s") from None
        if done.returncode:
            raise CannotRun(f"{os.path.basename(argv[0])}: status {done.returncode}: {done.stderr.strip()[-200:]}")
        return dict(word.split("=", 1) for word in done.stdout.split())

    def interleave(self, candidates, passes=PASSES):
        """{name: (argv, function making (env, capture), events that must be in the capture)} -> {name: Result}"""
        rounds = {name: [] for name in candidates}
        for _ in range(self.rounds):
            best = {}
            for _ in range(passes):
                for name, (argv, make, events) in candidates.items():
                    env, capture = make()
                    got = self.execute(argv, env)
                    if capture:
                        self.check(capture, events)
                        shutil.rmtree(capture, ignore_errors=True)
                    figures = float(got["median"]), float(got["min"])
                    best[name] = tuple(map(min, figures, best.get(name, figures)))
            for name, figures in best.items():
                rounds[name].append(figures)
        return {name: Result(r) for name, r in rounds.items()}

    @staticmethod
    def check(capture, events):
        """A fast recorder that recorded nothing is no result."""
        if not os.path.isdir(capture):
            raise CannotRun("no capture was made")
        size = trace_bytes(capture)[0]
        if size < events * 8:
            raise CannotRun(f"{events} events were to be recorded, the trace has {size} bytes")
        if events < 0 and size > 1 << 20:
            raise CannotRun(f"nothing was to be recorded, the trace has {size} bytes")

    # ---- what comes out ----

    def row(self, what, goal, measured, ratio=None, limit=None, **detail):
        self.rows.append({"what": what, "goal": goal, "measured": measured, "ratio": ratio, "limit": limit, **detail})
        print(format_row(self.rows[-1]), flush=True)

    def ratio_row(self, what, limit, candidate, yardstick, measured):
        best = candidate.least / yardstick.least if yardstick.least > 0 else None
        ratio = candidate.median / yardstick.median if yardstick.median > 0 else None
        self.row(what, f"<= {limit} x", measured, ratio, limit, ns=candidate.median, min_ns=candidate.least,
                 yardstick_ns=yardstick.median, yardstick_min_ns=yardstick.least, ratio_of_minima=best)

    def limit_row(self, what, limit, unit, value, least=None, measured=None):
        shown = measured or f"{value:.2f} {unit}" + (f" (min {least:.2f})" if least is not None else "")
        self.row(what, f"<= {limit} {unit}", shown, value / limit, 1, value=value, least=least, unit=unit)


def trace_bytes(capture):
    """(length, bytes of blocks) of all trace files."""
    stats = [os.stat(os.path.join(capture, f)) for f in os.listdir(capture) if f.endswith(".trace")]
    return sum(s.st_size for s in stats), sum(s.st_blocks * 512 for s in stats)


def file_system(directory):
    """The type of the file system that holds it, by the longest mount point."""
    best = ("", "unknown")
    real = os.path.realpath(directory) + "/"
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
        for line in mounts:
            left, right = line.split(" - ", 1)
            point = left.split()[4].replace("\\040", " ").rstrip("/") + "/"
            if real.startswith(point) and len(point) >= len(best[0]):
                best = (point, right.split()[0])
    return best[1]


def format_row(row):
    over = row["ratio"] is not None and row["limit"] is not None and row["ratio"] > row["limit"]
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}{' over' if over else ''}"
    return f"{row['what']:<48} {row['goal']:<22} {row['measured']:<52} {ratio}"


# ---- the loop of calls (callloop.c) ----


def loop(bench, kind, calls=CALLS, slices=SLICES, threads=1):
    return [bench.program("callloop"), kind, str(calls), str(slices), str(threads)]


def loop_events(calls=CALLS, slices=SLICES, threads=1):
    return (calls * slices + calls // 10 + 1) * threads


def record_loop(bench, place, kind, events, **options):
    """One recorded run of about `events` events: (capture, events, CLOCK_MONOTONIC at its last call)."""
    each = max(1, events * 10 // 11)
    env, capture = bench.pillion(place, osrt_threshold="0", osrt_backtrace_threshold=FOREVER_NS, **options)
    got = bench.execute(loop(bench, kind, calls=each, slices=1), env)
    made = loop_events(each, 1)
    bench.check(capture, made)
    return capture, made, int(got["end_ns"])
