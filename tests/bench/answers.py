# SPDX-License-Identifier: Apache-2.0
"""What people wait for: exports, the page, queries, the summary, and programs whose Python calls are recorded. Each is
measured beside the least that it can cost, or a peer, in turn, on one CPU. A figure is CPU time, because other programs
on the machine change it less than elapsed time, which is printed with it."""
import contextlib
import csv
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time

from harness import CannotRun, record_loop

# Of pyperformance, those that need no other package, from many short calls to few long ones.
PROGRAMS = ("chaos", "comprehensions", "coroutines", "deepcopy", "deltablue", "fannkuch", "float", "generators", "go",
    "hexiom", "json_dumps", "json_loads", "logging", "mdp", "meteor_contest", "nbody", "nqueens", "pidigits",
    "pyflate", "raytrace", "regex_compile", "regex_dna", "regex_effbot", "regex_v8", "richards", "scimark",
    "spectral_norm", "sqlite_synth", "telco", "unpack_sequence", "xml_etree")
PROGRAM_S = 0.4  # the least CPU time of a run of one

# Reads the result of a statement from a database, as a person with sqlite3 would.
SQLITE = "import sqlite3, sys; print(len(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchall()))"

QUERIES = (
    ("count by name", 1, "SELECT nameId, COUNT(*) FROM OSRT_API GROUP BY nameId"),
    ("join, count by name", 1, "SELECT value, COUNT(*) FROM OSRT_API JOIN StringIds ON id = nameId GROUP BY nameId"),
    ("join, sum by text", 3, 'SELECT value, COUNT(*), SUM("end" - start) FROM OSRT_API '
        'JOIN StringIds ON id = nameId GROUP BY value'),
)


# ---- one run ----


def writer(bench, *words):
    """A capture by the trace writer, and what it is made of."""
    program = os.path.join(bench.build, "tests", "trace-writer")
    if not os.access(program, os.X_OK):
        raise CannotRun("trace-writer has not been built")
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise CannotRun(f"trace-writer: {done.stderr.strip()[-200:]}")


def measured(argv, env=None):
    """One run: (wall seconds, CPU seconds of all its threads, peak memory in MB, what it printed)."""
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        child = subprocess.Popen(argv, stdout=out, stderr=subprocess.DEVNULL, env=env)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read(1 << 20).decode(errors="replace")
    if child.returncode:
        raise CannotRun(f"{os.path.basename(argv[0])} {' '.join(argv[1:4])}: status {child.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def report_run(bench, *words):
    return measured([bench.report, *words])


def summed(bench, capture, events):
    """osrt_sum of all of it: every event read and summed, medians exact."""
    run = report_run(bench, "stats", "-q", "-r", "osrt_sum", "-f", "csv", capture)
    counted = sum(int(row["Num Calls"]) for row in csv.DictReader(run[3].splitlines()))
    if counted < events:
        raise CannotRun(f"{events} events written, {counted} in the table")
    return run


def report(bench):
    name, place = bench.places[0]
    capture, few, many, packed = (bench.fresh(place) for _ in range(4))
    size = 100000000 if bench.is_large else 30000000
    sums = []
    writer(bench, "large", few, 1000000, 2, 25)
    writer(bench, "large", many, size, 2, 25)
    for _ in range(bench.rounds):
        sums.append((summed(bench, many, size), summed(bench, few, 1000000)))
    walls, cpus = [s[0][0] for s in sums], [s[0][1] for s in sums]
    wall = statistics.median(walls)
    bench.limit_row(f"read and sum {size:.0e} events, {name}", size / 1e7, "s", wall, min(walls),
        f"{size / wall / 1e6:.1f} M/s (best {size / min(walls) / 1e6:.1f}), CPU {statistics.median(cpus):.2f} s")
    more, less = (statistics.median(s[i][2] for s in sums) for i in (0, 1))
    bench.row(f"peak memory of {size:.0e} events to 1e6", "<= 2 x", f"{more:.1f} MB to {less:.1f}", more / less, 2)
    for path in (few, many):
        shutil.rmtree(path)
    for kind in ("large", "nvtx", "mpi", "files", "samples", "launches"):
        events = 200000
        writer(bench, kind, capture, events, *([4] if kind == "large" else []))
        report_run(bench, "pack", "-q", "-f", "true", "-o", packed + ".pillpack", capture)
        bench.limit_row(f"packed, {'calls' if kind == 'large' else kind}", 8, "bytes an event",
            os.path.getsize(packed + ".pillpack") / events)


# ---- what people wait for ----


@contextlib.contextmanager
def one_cpu():
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(every)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


def beside(bench, what, limit, ours, theirs, peer, events=0):
    """A row: CPU seconds of ours and of the peer, each a function that returns a run; `events`: as a rate, too."""
    runs = [(ours(), theirs()) for _ in range(bench.rounds)]
    walls, cpus, others = [r[0][0] for r in runs], [r[0][1] for r in runs], [r[1][1] for r in runs]
    cpu, other = statistics.median(cpus), statistics.median(others)
    rate = f", {events / cpu / 1e6:.1f} M/s" if events else ""
    bench.limit_row(what, limit, "s", cpu, min(cpus),
        f"{cpu:.2f} s (min {min(cpus):.2f}, wall {min(walls):.2f}){rate}; {peer} {other:.2f}")


def page(bench, place, capture, events):
    path = os.path.join(place, "exported")
    beside(bench, f"export -t html, {events:.0e} events", 2,
        lambda: report_run(bench, "export", "-q", "-f", "true", "-t", "html", "-o", path, capture),
        lambda: summed(bench, capture, events), "reading and summing")


def exports(bench, place, capture, events):
    """The least: writing as many bytes."""
    for kind, rate in (("sqlite", 4e6), ("chrome", 8e6)):
        path = os.path.join(place, "exported")
        words = "export", "-q", "-f", "true", "-t", kind, "-o", path, capture
        report_run(bench, *words)
        size = os.path.getsize(path)
        copy = ["dd", "if=/dev/zero", "of=" + path + ".copy", "bs=64K", f"count={size}", "iflag=count_bytes"]
        beside(bench, f"export -t {kind}, {events:.0e} events", events / rate, lambda: report_run(bench, *words),
            lambda: measured(copy), f"writing {size / 1e6:.0f} MB", events)
        os.unlink(path + ".copy")


def queries(bench, place, capture, events):
    """The peer: sqlite3 with the database that was exported before."""
    base = os.path.join(place, "exported.sqlite")
    report_run(bench, "export", "-q", "-f", "true", "-t", "sqlite", "-o", base, capture)
    for what, limit, sql in QUERIES:
        beside(bench, f"query, {what}, {events:.0e} events", limit,
            lambda: report_run(bench, "query", "-q", "-f", "csv", capture, sql),
            lambda: measured([sys.executable, "-I", "-S", "-c", SQLITE, base, sql]), "sqlite3 on its export")


def answers(bench):
    if not os.access(bench.report, os.X_OK):
        raise CannotRun("pillion-report has not been built")
    place = bench.places[0][1]
    with one_cpu():
        for events, summary_s, more in ((1000000, 0.15, page), (4000000, 2, exports), (10000000, 5, queries)):
            capture, made, _ = record_loop(bench, place, "write", events)
            beside(bench, f"summary, {events:.0e} events", summary_s,
                lambda: report_run(bench, "stats", "-q", "--summary", capture),
                lambda: summed(bench, capture, made), "reading and summing")
            more(bench, place, capture, made)
            shutil.rmtree(capture)
        python_calls(bench, place)


# ---- calls of Python ----


def loops_of(script, env):
    """So many loops of a program of pyperformance take PROGRAM_S; and what 1 takes less than that."""
    loops = 1
    while measured([sys.executable, script, "--worker", "-w0", "-n1", f"-l{loops}"], env)[1] < PROGRAM_S:
        loops *= 2
    return loops


def empty_calls(place):
    """The words that run a program with callbacks that do nothing; None: this Python has no sys.monitoring, or no
    headers."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "emptycalls.c")
    module = os.path.join(place, "emptycalls.so")
    include = sysconfig.get_path("include")
    if not hasattr(sys, "monitoring") or not os.path.exists(os.path.join(include, "Python.h")):
        return None
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I" + include, "-o", module, source], check=True)
    return [source[:-1] + "py", place]


def python_calls(bench, place):
    """Programs of pyperformance with each of their calls recorded, with empty callbacks, and under cProfile, beside
    bare."""
    found = importlib.util.find_spec("pyperformance")
    if not found:
        raise CannotRun(f"calls of Python: {sys.executable} has no pyperformance")
    ratios, others, floors, empty = {}, {}, {}, empty_calls(place)
    for name in PROGRAMS:
        script = os.path.join(os.path.dirname(found.origin), "data-files", "benchmarks", "bm_" + name,
            "run_benchmark.py")
        if not os.path.exists(script):
            continue
        end = ["--worker", "-w0", "-n1", f"-l{loops_of(script, bench.environment)}"]
        seconds = {"bare": [], "calls": [], "cProfile": [], "empty": []}
        for _ in range(bench.rounds):
            env, capture = bench.pillion(place, python_calls="all")
            for which, words, more in (("bare", [script], {}), ("calls", [script], env),
                ("cProfile", ["-m", "cProfile", "-o", os.devnull, script], {}),
                *([("empty", [*empty, script], {})] if empty else [])):
                seconds[which].append(measured([sys.executable, *words, *end], {**bench.environment, **more})[1])
            bench.check(capture, 100)
            shutil.rmtree(capture)
        bare, calls, profiled = (statistics.median(seconds[k]) for k in ("bare", "calls", "cProfile"))
        ratios[name], others[name] = calls / bare, profiled / bare
        floors[name] = statistics.median(seconds["empty"]) / bare if empty else 1
        bench.row(f"--python-calls=all, {name}", "stated",
            f"{calls:.2f} s on {bare:.2f}, empty {floors[name] * bare:.2f}, cProfile {profiled:.2f}", ratios[name])
    if not ratios:
        raise CannotRun("calls of Python: pyperformance has none of the programs")
    bench.row(f"--python-calls=all, median of {len(ratios)} programs", "<= 1.25 x",
        f"worst {max(ratios.values()):.2f}, empty callbacks {statistics.median(floors.values()):.2f}, "
        f"cProfile {statistics.median(others.values()):.2f}",
        statistics.median(ratios.values()), 1.25)
