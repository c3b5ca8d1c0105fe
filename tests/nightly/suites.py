#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""suites.py [OPTION]... [SUITE]...: whether other people's test suites have the same outcomes under pillion.

Each file suites/NAME.sh is one suite (suite_step.sh says what it contains). A suite is obtained and built once, then
run bare, bare again, and under each configuration of CONFIGURATIONS. A test whose two bare outcomes differ is unsteady
and is not compared. Prints TAP, one line for each suite and configuration.

Results are kept, one file RESULTS/SUITE/CONFIGURATION@COMMIT.json each, where COMMIT is the last one that changed
preload/ or runtime/; a result that exists is not measured again, so that an interrupted run continues where it ended.
A result is measured anew if its suite's file has changed since, and always if preload/ or runtime/ differs from what
was committed. Everything is below one directory outside the tree: PILLION_NIGHTLY, by default
$XDG_CACHE_HOME/pillion-nightly or ~/.cache/pillion-nightly, for root /var/cache/pillion-nightly, because suites that
refuse to run as root run as nobody."""
import argparse
import collections
import ctypes
import glob
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
STEP = os.path.join(HERE, "suite_step.sh")
PRODUCT = ["preload", "runtime", "scripts/pillion"]
NOBODY = 65534
EXIT_STATUS = "(exit status)"

CONFIGURATIONS = {
    "bare": None,
    "again": None,
    "default": [],
    "samples": ["-s", "cpu"],
    "stacks": ["-t", "cuda,nvtx,osrt,cublas,cudnn,cusparse,cusolver,nccl,mpi", "--osrt-threshold=0",
        "--osrt-backtrace-threshold=0", "--cudabacktrace=all:0"],
}


class Skip(Exception):
    """The suite cannot run here, and why."""


# ---- the suites ----


class Suite:
    """One file of suites/: its variables, and its functions as steps."""

    def __init__(self, name, cache):
        self.name = name
        self.path = os.path.join(HERE, "suites", name + ".sh")
        self.source = os.path.join(cache, "source", name)
        self.step_log = os.path.join(cache, "source", name + ".log")
        variables = subprocess.run(["bash", STEP, name, "variables"], stdout=subprocess.PIPE, check=True).stdout
        self.subset, self.packages, self.user, self.limit, _, _ = variables.decode().split("\0")
        with open(self.path, "rb") as file:
            self.digest = hashlib.sha256(file.read() + variables).hexdigest()[:16]

    def as_user(self):
        """The prefix of a command: nothing, or what changes to a user without privileges."""
        if self.user != "nobody" or os.getuid() != 0:
            return []
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]

    def environment(self, work):
        keep = {key: value for key, value in os.environ.items() if not key.startswith(("PILLION_", "LD_"))}
        # The suites expect an interactive user's limits and English messages.
        return {**keep, "SOURCE": self.source, "HOME": work, "TMPDIR": work, "LC_ALL": "C.UTF-8", "TZ": "UTC"}

    def prepare(self, install):
        """Obtains and builds the suite unless this was done before."""
        self.install(install)
        for step in ("obtain", "build"):
            done = os.path.join(self.source, "." + step)
            if os.path.exists(done):
                continue
            if step == "obtain":
                shutil.rmtree(self.source, ignore_errors=True)
            os.makedirs(self.source, exist_ok=True)
            if self.as_user():
                subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", self.source], check=True)
            with open(self.step_log, "ab") as log:
                status = subprocess.run([*self.as_user(), "bash", STEP, self.name, step], cwd=self.source,
                    env=self.environment(self.source), stdin=subprocess.DEVNULL, stdout=log, stderr=log).returncode
            if status != 0:
                raise Skip(f"step {step}: {last_line(self.step_log)} (status {status}, see {self.step_log})")
            open(done, "wb").close()

    def install(self, install):
        missing = [package for package in self.packages.split() if not is_installed(package)]
        if missing and install:
            prefix = [] if os.getuid() == 0 else ["sudo"]
            subprocess.run([*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "install", "-y",
                "--no-install-recommends", *missing], stdout=subprocess.DEVNULL, check=False)
            missing = [package for package in missing if not is_installed(package)]
        if missing:
            raise Skip(f"packages are missing (--yes installs them): {' '.join(missing)}")

    def outcomes(self, log):
        """{test: outcome} of a run's log; the second test of one name is NAME#2."""
        lines = subprocess.run(["bash", STEP, self.name, "outcomes", log], cwd=self.source, stdout=subprocess.PIPE,
            env=self.environment(self.source), check=False).stdout.decode(errors="backslashreplace").splitlines()
        found, seen = {}, collections.Counter()
        for line in lines:
            test, _, outcome = line.rpartition("\t")
            seen[test] += 1
            found[test if seen[test] == 1 else f"{test}#{seen[test]}"] = outcome
        return found

    def known_difference(self, configuration, test):
        """Why the suite's file expects this test to differ, or nothing."""
        return subprocess.run(["bash", STEP, self.name, "differs", configuration, test], stdout=subprocess.PIPE,
            check=False).stdout.decode().strip()


def last_line(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return (file.read().split("\n") or [""])[-2:][0].strip()


def is_installed(package):
    return subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL).stdout == b"installed"


# ---- a run ----


def reap(statuses):
    """Reaps what has ended, {pid: status}; whether any child is left. Some tests wait for a process to be gone."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return True
            statuses[pid] = os.waitstatus_to_exitcode(status)
    except ChildProcessError:
        return False


def end_leftovers():
    """Kills and reaps every descendant that a suite left behind: this process is their subreaper."""
    while reap({}):
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            for child in file.read().split():
                os.kill(int(child), signal.SIGKILL)
        time.sleep(0.05)


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def directory_size(path):
    return sum(os.lstat(os.path.join(base, name)).st_blocks * 512 for base, _, names in os.walk(path) for name in names)


def read_capture(pillion, capture):
    """What the capture's ledger says, and whether it can be read at all."""
    ledger = subprocess.run([pillion, "stats", "-q", "-f", "json", "-r", "ledger", capture], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, check=False)
    facts = {"read status": ledger.returncode, "read errors": ledger.stderr.decode(errors="replace")[-2000:],
        "capture bytes": directory_size(capture)}
    sums, processes = collections.Counter(), 0
    try:
        for row in json.loads(ledger.stdout or b"[]"):
            sums[row["Fact"]] += int(row["Count"])
            processes += row["Fact"] == "recorded"
    except (ValueError, KeyError) as error:
        facts["read errors"] += f" {error!r}"
        facts["read status"] = facts["read status"] or 1
    return {**facts, "processes": processes, "recorded": sums["recorded"], "lost": sums["lost"]}


def run_command(argv, limit, directory, environment, log):
    """Runs a command and ends what it left behind; returns its status."""
    deadline, statuses = time.monotonic() + limit, {}
    try:
        with open(log, "wb") as output:
            process = subprocess.Popen(argv, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                stderr=output, start_new_session=True)
        while process.pid not in statuses and time.monotonic() < deadline:
            reap(statuses)
            time.sleep(0.02)
        process.returncode = statuses.get(process.pid, -signal.SIGKILL)
        return statuses.get(process.pid, "out of time")
    finally:
        end_leftovers()


def run_suite(suite, configuration, options, log):
    """Runs the suite once; returns the result to be kept."""
    work = tempfile.mkdtemp(prefix="pn.", dir=options.scratch)  # short: sockets' paths have at most 107 bytes
    try:
        return run_suite_in(work, suite, configuration, options, log)
    finally:
        if options.keep:
            print(f"# {suite.name}, {configuration}: {work} is kept")
        else:
            shutil.rmtree(work, ignore_errors=True)


def run_suite_in(work, suite, configuration, options, log):
    words = CONFIGURATIONS[configuration]
    capture, run = os.path.join(work, "capture.pillion"), os.path.join(work, "run")
    os.mkdir(run)
    if suite.as_user():
        for path in (work, run):
            os.chown(path, NOBODY, NOBODY)
    recorder = [options.pillion, "--stats=false", "-o", capture, *words] if words is not None else []
    argv = [*suite.as_user(), *recorder, "bash", STEP, suite.name, "run"]
    begin, cpu = time.monotonic(), cpu_seconds()
    status = run_command(argv, int(suite.limit), run, suite.environment(run), log)
    result = {"suite": suite.digest, "date": time.strftime("%Y-%m-%d"), "commit": options.commit,
        "seconds": round(time.monotonic() - begin, 2), "cpu": round(cpu_seconds() - cpu, 2),
        "outcomes": {**suite.outcomes(log), EXIT_STATUS: str(status)}}
    if words is not None:
        result["capture"] = read_capture(options.pillion, capture)
    return result


def result_of(suite, configuration, options):
    """The kept result, measured now if there is none that holds."""
    path = os.path.join(options.results, suite.name, f"{configuration}@{options.commit}")
    try:
        with open(path + ".json", encoding="utf-8") as file:
            result = json.load(file)
    except (OSError, ValueError):
        result = None
    stale = not result or result["suite"] != suite.digest
    if stale or configuration in options.rerun or options.dirty and CONFIGURATIONS[configuration] is not None:
        suite.prepare(options.yes)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        result = run_suite(suite, configuration, options, path + ".log")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1, ensure_ascii=True)
        os.replace(path + ".new", path + ".json")
    return result


# ---- outcomes compared ----


def compare(suite, configuration, bare, again, result):
    """[(test, bare outcome, its outcome)] of those that differ, and how many tests were compared."""
    differences, compared = [], 0
    for test in sorted({**bare, **result}):
        expected = bare.get(test, "absent")
        if again.get(test, "absent") != expected:
            continue
        compared += 1
        found = result.get(test, "absent")
        if found != expected and not suite.known_difference(configuration, test):
            differences.append((test, expected, found))
    return differences, compared


class Tap:
    def __init__(self):
        self.count = self.failures = 0

    def line(self, passed, text, comments=()):
        self.count += 1
        self.failures += not passed
        print(f"{'ok' if passed else 'not ok'} {self.count} - {text}")
        for comment in comments:
            print(f"# {comment}")
        sys.stdout.flush()


def check_suite(suite, options, tap):
    """The TAP lines of one suite; returns its row of the table."""
    configurations = [name for name, words in CONFIGURATIONS.items() if words is not None and
        name in options.configurations]
    try:
        bare = result_of(suite, "bare", options)
        again = result_of(suite, "again", options)
    except Skip as reason:
        for name in configurations:
            tap.line(True, f"{suite.name}, {name} # SKIP {reason}")
        return None
    unsteady = sum(bare["outcomes"].get(test) != again["outcomes"].get(test)
        for test in {**bare["outcomes"], **again["outcomes"]})
    cells, date = [], bare["date"]
    for name in configurations:
        result = result_of(suite, name, options)
        differences, compared = compare(suite, name, bare["outcomes"], again["outcomes"], result["outcomes"])
        comments = [f"{test}: {expected} bare, {found} here" for test, expected, found in differences]
        capture = result["capture"]
        comments.append(f"{unsteady} unsteady; {result['cpu']:.1f} s of CPU, bare {bare['cpu']:.1f} and "
            f"{again['cpu']:.1f}; {capture['processes']} processes, {capture['recorded']} recorded, "
            f"{capture['lost']} lost, {capture['capture bytes'] >> 20} MiB")
        enough = compared > 1
        tap.line(enough and not differences,
            f"{suite.name}, {name}: {compared - len(differences)} of {compared} outcomes are as bare", comments)
        tap.line(capture["read status"] == 0, f"{suite.name}, {name}: the capture is read",
            capture["read errors"].splitlines()[:5])
        cells.append(str(len(differences)))
        date = max(date, result["date"])
    return [suite.name, suite.subset, str(len(bare["outcomes"])), str(unsteady), *cells, date, options.commit]


# ---- begin ----


def product_commit():
    """The last commit that changed what is in the target, and whether the tree differs from it."""
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words, "--", *PRODUCT], stdout=subprocess.PIPE,
            check=True).stdout.decode().strip()
    return git("log", "-1", "--format=%h", "--abbrev=10"), bool(git("status", "--porcelain"))


def install_product(build, cache):
    """A copy of the build, so that it can be rebuilt while suites run; returns the path of pillion in it."""
    dry = subprocess.run(["ninja", "-C", build, "-n"], stdout=subprocess.PIPE, check=False)
    if dry.returncode != 0 or b"no work to do" not in dry.stdout:
        sys.exit(f"suites.py: {build} is not up to date: the results would be of another commit")
    prefix = os.path.join(cache, "product")
    shutil.rmtree(prefix, ignore_errors=True)
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", prefix],
        stdout=subprocess.DEVNULL, check=True)
    return glob.glob(os.path.join(prefix, "**", "bin", "pillion"), recursive=True)[0]


def default_cache():
    if os.getuid() == 0:
        return "/var/cache/pillion-nightly"
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pillion-nightly")


def parse_options(names):
    usage = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("suites", nargs="*", metavar="SUITE", help="default: " + " ".join(names))
    usage.add_argument("--build", default=os.path.join(ROOT, "build"), help="the build directory of pillion")
    usage.add_argument("--configurations", default=",".join(CONFIGURATIONS), metavar="NAME,...",
        help="only these, of " + " ".join(CONFIGURATIONS))
    usage.add_argument("--rerun", nargs="?", const=",".join(CONFIGURATIONS), default="", metavar="NAME,...",
        help="measure these configurations again (all)")
    usage.add_argument("--yes", action="store_true", help="install missing Debian packages without asking")
    usage.add_argument("--prepare", action="store_true", help="obtain and build the suites, run nothing")
    usage.add_argument("--keep", action="store_true", help="keep the working directories and captures of the runs")
    usage.add_argument("--table", action="store_true", help="print the rows for tests/README.md at the end")
    options = usage.parse_args()
    unknown = set(options.suites) - set(names)
    if unknown:
        usage.error(f"no such suite: {' '.join(sorted(unknown))}")
    options.suites = options.suites or names
    options.configurations = options.configurations.split(",")
    options.rerun = options.rerun.split(",")
    return options


def main():
    names = sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(HERE, "suites", "*.sh")))
    options = parse_options(names)
    cache = os.path.abspath(os.environ.get("PILLION_NIGHTLY") or default_cache())
    options.results = os.path.join(cache, "results")
    options.scratch = os.environ.get("TMPDIR", "/tmp")
    os.makedirs(os.path.join(cache, "source"), exist_ok=True)
    options.commit, options.dirty = product_commit()
    if options.dirty:
        options.commit += "-dirty"
    if not options.prepare:
        options.pillion = install_product(options.build, cache)
    if ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) != 0:  # PR_SET_CHILD_SUBREAPER
        sys.exit("suites.py: no subreaper")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A shell ignores these in what it starts in the background, and the suites would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    tap, rows = Tap(), []
    for name in options.suites:
        suite = Suite(name, cache)
        if options.prepare:
            try:
                suite.prepare(options.yes)
                tap.line(True, f"{name}: built")
            except Skip as reason:
                tap.line(False, f"{name}: {reason}")
            continue
        rows.append(check_suite(suite, options, tap))
    print(f"1..{tap.count}")
    if options.table:
        for row in filter(None, rows):
            print("# | " + " | ".join(row) + " |")
    sys.exit(1 if tap.failures else 0)


if __name__ == "__main__":
    main()
