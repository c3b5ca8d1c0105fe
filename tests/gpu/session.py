# SPDX-License-Identifier: Apache-2.0
"""What the checks of tests/gpu are made of: running commands with a limit, compiling programs on the spot, captures and
their reports, and what a check has seen."""
import collections
import contextlib
import csv
import io
import os
import re
import shutil
import signal
import statistics
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAMS = os.path.join(HERE, "programs")
TARGETS = os.path.join(ROOT, "tests", "targets")


class Skip(Exception):
    """A check that cannot be made here, and why."""


class Wrong(Exception):
    """A check that cannot go on, because of what it saw."""


class Ran:
    def __init__(self, argv, status, out, err, seconds, is_late):
        self.argv, self.status, self.out, self.err = argv, status, out, err
        self.seconds, self.is_late = seconds, is_late

    def wrong(self, what):
        text = (self.err.strip() or self.out.strip())[-600:]
        if self.is_late:
            return Wrong(f"{what}: not done after {self.seconds:.0f} s: {text}")
        return Wrong(f"{what}: status {self.status}: {text}")


class Seen:
    """What one check found. A check passes if it came to its end and found nothing wrong."""

    def __init__(self, name):
        self.name, self.problems, self.notes, self.figures = name, [], [], []
        self.outcome, self.seconds, self.checked = "", 0.0, 0

    def ok(self, is_so, problem):
        self.checked += 1
        if not is_so:
            self.problems.append(problem)
        return bool(is_so)

    def equal(self, got, wanted, what):
        return self.ok(got == wanted, f"{what}: got {differences(got, wanted)}")

    def note(self, text):
        self.notes.append(text)

    def figure(self, name, value, unit):
        self.figures.append((name, value, unit))


def differences(got, wanted):
    """Of two tables only the rows that differ."""
    if not (isinstance(got, dict) and isinstance(wanted, dict)):
        return f"{got!r}, wanted {wanted!r}"
    keys = [k for k in {**wanted, **got} if got.get(k) != wanted.get(k)]
    rows = [f"{k}: {got.get(k, 'none')}, wanted {wanted.get(k, 'none')}" for k in keys[:8]]
    return "; ".join(rows) + (f"; and {len(keys) - 8} more" if len(keys) > 8 else "")


def account(text):
    """The "name count bytes" lines of a program of ours."""
    rows = collections.OrderedDict()
    for line in text.splitlines():
        found = re.match(r"(\S+(?:\s\S+)*?) (-?[0-9.]+) ([0-9]+)$", line)
        if found:
            rows[found.group(1)] = (float(found.group(2)), int(found.group(3)))
    return rows


def kernels_of(rows):
    """Kernels of an account, by name: how many."""
    return {name[len("kernel:"):]: int(count) for name, (count, _) in rows.items() if name.startswith("kernel:")
        and count}


class Capture:
    def __init__(self, session, path, ran):
        self.session, self.path, self.ran = session, path, ran

    def report(self, name, *options, status=(0, 1)):
        """Rows of a report; none if the capture has nothing of the kind."""
        ran = self.session.run([self.session.report, "stats", "-q", "-r", name, "-f", "csv", *options, self.path],
            timeout=120)
        if ran.status not in status:
            raise ran.wrong("pillion stats -r " + name)
        return list(csv.DictReader(line for line in io.StringIO(ran.out) if line.strip()))

    def kernels(self):
        return {r["Name"]: int(r["Instances"]) for r in self.report("cuda_gpu_kern_sum:mangled")}

    def kernel_ns(self):
        return sum(int(r["Total Time (ns)"]) for r in self.report("cuda_gpu_kern_sum:mangled"))

    def calls(self, report="cuda_api_sum", pattern="."):
        counts = collections.Counter()
        for row in self.report(report):
            if re.search(pattern, row["Name"]):
                counts[row["Name"]] += int(row["Num Calls"])  # those of libraries have a row for each shape
        return dict(counts)

    def launches(self):
        """Launches that the host's side has."""
        return sum(self.calls(pattern=r"(?i)launchkernel|launchcooperative").values())

    def works(self):
        """Copies and memsets, by name: how many."""
        return {r["Operation"]: int(r["Count"]) for r in self.report("cuda_gpu_mem_time_sum")}

    def trace(self):
        return self.report("cuda_gpu_trace:mangled")

    def ledger(self, fact):
        return sum(int(r["Count"]) for r in self.report("ledger") if r["Fact"] == fact)

    def notes(self):
        return [r["Detail"] for r in self.report("ledger") if r["Fact"] in ("note", "device time gap")]

    def unmatched(self):
        """(calls without a device record, captured ones included; device records without a call)"""
        calls = sum(int(r["Count"]) for r in self.report("ledger") if r["Fact"] == "unmatched calls"
            or r["Fact"] == "graph nodes")
        return calls, self.ledger("unmatched device records")

    def losses(self):
        """The ledger's lines about missing device records."""
        facts = ("unmatched", "lost", "torn", "unreadable", "device records", "device buffers")
        return [f"{r['Fact']} {r['Count']}" for r in self.report("ledger")
            if r["Fact"].startswith(facts)] + self.notes()


class Session:
    """One go of gpu-check: the machine, the build, a scratch directory, and the time that is left."""

    def __init__(self, machine, build, scratch, seconds):
        self.machine, self.build, self.scratch, self.deadline = machine, build, scratch, time.monotonic() + seconds
        self.check_deadline = self.deadline
        self.launcher = os.path.join(ROOT, "scripts", "pillion")
        self.report = os.path.join(build, "report", "pillion-report")
        self.captures, self.compiled = 0, {}
        # Nothing of a user's own settings may leak into what is measured.
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(("PILLION_", "NVTX_", "LD_PRELOAD", "CUDA_INJECTION"))}
        if machine.is_simulated and "PILLION_SIMCUPTI" in os.environ:
            self.environment["PILLION_SIMCUPTI"] = os.environ["PILLION_SIMCUPTI"]
        self.environment.update(machine.environment, PILLION_BUILD_DIR=build, PYTHONUNBUFFERED="1")

    def seconds_left(self):
        return self.deadline - time.monotonic()

    def allowed(self, timeout):
        """Of the time that a command asks for, what the check and the whole go have left."""
        return max(5, min(timeout, self.seconds_left(), self.check_deadline - time.monotonic()))

    # ---- commands ----

    def start(self, argv, env=None, **options):
        return subprocess.Popen(argv, env={**self.environment, **(env or {})}, cwd=self.scratch,
            stdin=subprocess.DEVNULL,
                                start_new_session=True, **options)

    def run(self, argv, timeout=60, env=None):
        """Runs a command to its end, or to the end of its time: then it and what it started are killed."""
        timeout = self.allowed(timeout)
        begin, is_late = time.monotonic(), False
        process = self.start(argv, env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            is_late = True
            os.killpg(process.pid, signal.SIGKILL)
            try:
                out, err = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                out = err = b""
        return Ran(argv, process.returncode, out.decode(errors="replace"), err.decode(errors="replace"),
                   time.monotonic() - begin, is_late)

    def done(self, argv, timeout=60, env=None, status=0):
        ran = self.run(argv, timeout, env)
        if ran.is_late or ran.status != status:
            raise ran.wrong(" ".join(os.path.basename(a) if i == 0 else a for i, a in enumerate(argv)))
        return ran

    def capture_path(self):
        self.captures += 1
        return os.path.join(self.scratch, f"capture{self.captures}.pillion")

    def pillion_line(self, path, argv, options=()):
        return [self.launcher, "--stats=false", "-o", path, *options, "--", *argv]

    def pillion(self, argv, options=(), timeout=60, env=None, status=0):
        """A recorded run of a command that ends with `status`."""
        path = self.capture_path()
        ran = self.run(self.pillion_line(path, argv, options), timeout, env)
        if ran.is_late or (status is not None and ran.status != status):
            raise ran.wrong("under pillion: " + " ".join(os.path.basename(a) for a in argv[:4]))
        if not os.path.isdir(path):
            raise ran.wrong("no capture")
        return Capture(self, path, ran)

    def kill_under_pillion(self, argv, seconds, options=(), timeout=60):
        """Kills the command once it has printed for some seconds. Gives the capture, what it printed, when it was
        killed, and by how many ns this machine was late at most for what was to be done every 100 ms, all that time."""
        path, out = self.capture_path(), os.path.join(self.scratch, f"killed{self.captures}.out")
        with open(out, "wb") as file:
            process = self.start(self.pillion_line(path, argv, options), stdout=file, stderr=subprocess.PIPE)
        limit = time.monotonic() + self.allowed(timeout)
        while time.monotonic() < limit and process.poll() is None and not os.path.getsize(out):
            time.sleep(0.05)
        due, late_ns = time.monotonic_ns(), 0
        for _ in range(int(seconds * 10)):
            due += 100000000
            time.sleep(max(0, (due - time.monotonic_ns()) / 1e9))
            late_ns = max(late_ns, time.monotonic_ns() - due)
        killed = children(process.pid)
        moment = time.monotonic_ns()
        for pid in killed:
            with contextlib.suppress(ProcessLookupError):  # a helper may end once the command is gone
                os.kill(pid, signal.SIGKILL)
        try:
            _, err = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise Wrong("pillion did not end after its command was killed") from None
        with open(out, encoding="utf-8", errors="replace") as file:
            text = file.read()
        ran = Ran(argv, process.returncode, text, err.decode(errors="replace"), seconds, False)
        if not killed or not text:
            raise ran.wrong("nothing there to kill")
        return Capture(self, path, ran), text, moment, late_ns

    # ---- programs ----

    def need(self, *what):
        """Skips unless the machine has all of it."""
        for name in what:
            why = self.machine.lacks(name)
            if why:
                raise Skip(why)

    def program(self, source, *arguments, name=None, cudart="shared", libraries=(), shared=False):
        """Compiles a program of tests/gpu or tests/targets, once, as its users would. .cu by nvcc."""
        path = next(p for p in (os.path.join(PROGRAMS, source), os.path.join(TARGETS, source)) if os.path.exists(p))
        name = name or f"{source.partition('.')[0]}-{cudart}"
        out = os.path.join(self.scratch, name)
        if name not in self.compiled:
            argv = (self.machine.nvcc_line if source.endswith(".cu") else self.machine.cc_line)(
                path, out, cudart, list(libraries), shared) + list(arguments)
            ran = self.run(argv, timeout=120)
            self.compiled[name] = None if ran.status == 0 else ran.wrong("compiling " + source)
        if self.compiled[name]:
            raise self.compiled[name]
        return out

    def by_cupti(self, argv, timeout=60, env=None):
        """CUPTI's own account of another run of the same command."""
        counter = self.program("cupti_count.c", name="libcupti_count.so", cudart="none", shared=True)
        out = self.capture_path() + ".count"
        env = {**(env or {}), "CUPTI_COUNT": out, **self.machine.injection(counter)}
        ran = self.done(argv, timeout, env)
        if not os.path.exists(out):
            raise Skip("CUPTI's own count wrote nothing: " + (ran.err.strip()[-200:] or "no word"))
        with open(out, encoding="utf-8") as file:
            return account(file.read())


def children(pid):
    """Not every kernel has /proc/PID/task/TID/children."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            continue
        if parent == pid and name.isdigit():
            found.append(int(name))
    return found


def median_of(rounds, candidates):
    """Runs all candidates in turn, `rounds` times: {name: function that gives a figure}. Gives their medians."""
    figures = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            figures[name].append(run())
    return {name: statistics.median(values) for name, values in figures.items()}


def which(name, *places):
    """A program on PATH, or in one of the places."""
    found = shutil.which(name)
    for place in places:
        path = os.path.join(place, name)
        if not found and os.access(path, os.X_OK):
            found = path
    return found
