#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""log.py [-n TIMES] [-j JOBS] [--load N] [--quiet S] [--bare] [WORD]...: whether the log of a job alone says why.

Jobs that hang are ended by Ctrl-C on a terminal, SIGTERM, timeout, scancel, a time limit or a warning before it, or
SIGKILL of all processes; others have a rank that dies by itself: plain, under torchrun, mpirun of Open MPI or of MPICH,
srun with PMI-2 or PMIx, and mpirun in a batch script. Right is a first verdict in what the job has written with the
word, the rank and the line of the program; the capture is looked at after SIGKILL only. Of programs that only wait
long, no verdict is right.
Each WORD is the name of a launcher, a kind or a way, and chooses among those of its own sort.
  -n TIMES   runs of each
  -j JOBS    how many at once; srun and sbatch use a Slurm of their own on this machine
  --load N   beside N processes that use a CPU
  --quiet S  how long a job hangs before it is ended
  --bare     each without pillion as well: the same status and output, and how long after the signal or death it ended
Prints TAP; the last lines have the rates, the times from the signal to the verdict in the log, and those to the end."""
import argparse
import collections
import concurrent.futures
import fcntl
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import termios
import threading
import time

import log_deadlocks
import log_programs as programs
import log_waits

HERE = os.path.dirname(os.path.abspath(__file__))
PILLION = os.path.join(os.path.dirname(os.path.dirname(HERE)), "scripts", "pillion")
PATIENCE_S = 150
VERDICT = re.compile(r"^(?:pillion: )?(DIED FIRST|CRASH|OUT OF MEMORY|DEADLOCK|COLLECTIVE|STALLED) .*(?:\n {5,}.*)*",
                     re.M)
READY = re.compile("^ready$", re.M)
NUMBERS = re.compile(r"0x[0-9a-f]+|\d+")

# name -> what precedes pillion, the ways in which its hangs are ended, what is recorded if it is not the default
Launcher = collections.namedtuple("Launcher", "words ways kinds options", defaults=((),))
SIGNALS, SLURM = ("ctrl-c", "sigterm", "timeout"), ("scancel", "limit", "warned")
LAUNCHERS = {
    "plain": Launcher([], SIGNALS, programs.threads_kinds),
    "deadlocks": Launcher([], SIGNALS + ("sigkill",), log_deadlocks.kinds),
    "waits": Launcher([], SIGNALS, log_waits.kinds),
    # its ranks are of a shell, which has them ignore Ctrl-C
    "nccl": Launcher([], SIGNALS[1:], programs.nccl_kinds, ("-t", "cuda,nccl,osrt")),
    "torchrun": Launcher([], SIGNALS, programs.torch_kinds),
    "openmpi": Launcher(["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "-n", "3"], SIGNALS,
                        lambda: programs.mpi_kinds("openmpi")),
    "mpich": Launcher(["mpirun.mpich", "-n", "3"], SIGNALS, lambda: programs.mpi_kinds("mpich")),
    "pmi2": Launcher(["srun", "--mpi=pmi2", "-N", "1", "-n", "3"], SIGNALS + SLURM,
                     lambda: programs.mpi_kinds("mpich")),
    "pmix": Launcher(["srun", "--mpi=pmix", "-N", "1", "-n", "3"], SIGNALS + SLURM,
                     lambda: programs.mpi_kinds("openmpi")),
    # on the first node of a real job ranks are children of mpirun
    "batch": Launcher(["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "--mca", "ras", "^slurm", "--mca",
                       "plm", "isolated", "-n", "3"],
                      ("timeout",) + SLURM[:2], lambda: programs.mpi_kinds("openmpi")),
    # and on its other nodes those of a daemon
    "nodes": Launcher(["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "--mca", "ras", "^slurm", "--mca",
                       "oob_tcp_if_include", "lo", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo",
                       "-H", os.uname().nodename.split(".")[0] + ":1,node2:2", "-n", "3"],
                      ("timeout",) + SLURM[:2], lambda: programs.mpi_kinds("openmpi")),
}
BATCHES = {"batch": "1", "nodes": "2"}  # how many nodes
IN_SLURM = ("pmi2", "pmix", *BATCHES)
# srun answers SIGTERM by SIGKILL to all processes at once: nobody is left to write
KILLED = {(launcher, way) for launcher in ("pmi2", "pmix") for way in ("sigterm", "timeout")}
KILLED.add(("deadlocks", "sigkill"))
CLUSTER = """. "${0%/*}/../e2e/lib.sh"
. "$tests_dir/slurm/cluster.sh"
trap 'stop_cluster; rm -rf "$work"' EXIT
start_cluster && echo "$SLURM_CONF" && read -r _"""

Run = collections.namedtuple("Run", "log status delay_s end_s")


class Job:
    """One that was started; `log` grows, and has times at which its parts came."""

    def __init__(self, name, launcher, command, way, is_terminal):
        self.name, self.launcher, self.way, self.chunks, self.sent = name, launcher, way, [], None
        if launcher in BATCHES:
            command = self.batch(command)
        elif launcher in IN_SLURM:
            # -K: else the ranks that are left wait for ever
            words = {"limit": ["--time=1"], "warned": ["--time=1", "--signal=TERM@50"], "itself": ["-K"]}
            command = command[:1] + ["-J", name] + words.get(way, []) + command[1:]
        if way == "timeout" and launcher not in BATCHES:
            seconds = options.quiet + (15 if launcher == "torchrun" else 4)
            command = ["timeout", "-k", "30", str(seconds)] + command
            self.sent = time.monotonic() + seconds
        self.end, child = os.openpty() if is_terminal else os.pipe()
        # a terminal is that of the session's foreground, which is the command
        self.process = subprocess.Popen(
            command, stdin=child if is_terminal else subprocess.DEVNULL, stdout=child, stderr=child,
            start_new_session=True, env=dict(os.environ, PILLION_STATS="summary"),
            preexec_fn=(lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0)) if is_terminal else None)
        os.close(child)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def batch(self, command):
        script = "#!/bin/bash\n" + " ".join((["timeout -k 30 10"] if self.way == "timeout" else []) + command) + "\n"
        limit = ["--time=1"] if self.way == "limit" else []
        return ["sbatch", "-W", "-Q", "-n", "4", "-N", BATCHES[self.launcher], "-J", self.name, "-o",
                self.name + ".out", *limit, programs.write(self.name + ".sh", script)]

    def read(self):
        while True:
            try:
                part = os.read(self.end, 65536)
            except OSError:  # a terminal that nobody has open
                break
            if not part:
                break
            self.chunks.append((time.monotonic(), part))

    def log(self):
        text = b"".join(part for _, part in self.chunks)
        if self.launcher in BATCHES and os.path.exists(self.name + ".out"):
            with open(self.name + ".out", "rb") as file:
                text += file.read()
        return text.decode(errors="replace").replace("\r", "").replace("^C", "")

    def time_of(self, expression):
        """When what it finds was there."""
        text = ""
        for at, part in self.chunks:
            text += part.decode(errors="replace").replace("\r", "").replace("^C", "")
            if expression.search(text):
                return at
        return None

    def press(self):
        """Ctrl-C, and again as long as nothing has ended; srun asks for a second one within a second."""
        for _ in range(4):
            for _ in range(2 if self.launcher in IN_SLURM else 1):
                os.write(self.end, b"\x03")
                time.sleep(0.3 if self.launcher in IN_SLURM else 0)
            self.sent = self.sent or time.monotonic()
            try:
                self.process.wait(4)
                return
            except subprocess.TimeoutExpired:
                pass

    def finish(self):
        limit = time.monotonic() + PATIENCE_S
        if self.way in ("ctrl-c", "sigterm", "sigkill", "scancel"):
            while "ready" not in self.log() and self.process.poll() is None and time.monotonic() < limit:
                time.sleep(0.05)
            time.sleep(options.quiet)
        if self.way == "ctrl-c":
            self.press()
        elif self.way == "sigterm":
            self.sent = time.monotonic()
            self.process.terminate()
        elif self.way == "sigkill":
            os.killpg(self.process.pid, signal.SIGKILL)
        elif self.way == "scancel":
            subprocess.run(["scancel", "--name", self.name])
            self.sent = time.monotonic()
        try:
            self.process.wait(max(limit - time.monotonic(), 1))
        except subprocess.TimeoutExpired:
            if self.launcher in IN_SLURM:
                subprocess.run(["scancel", "-s", "KILL", "--name", self.name])
        ended = time.monotonic()
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        status = self.process.wait()
        self.reader.join(2)
        if self.way == "itself":
            self.sent = self.time_of(READY)
            self.sent = self.sent and self.sent + programs.DEATH_S
        at = self.time_of(VERDICT)
        return Run(self.log(), status, at - self.sent if at and self.sent else None,
                   ended - self.sent if self.sent else None)


def first_verdict(log):
    found = VERDICT.search(log)
    return found.group(1, 0) if found else (None, "")


def summary(name):
    return subprocess.run([PILLION, "stats", "--summary", name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          errors="replace", universal_newlines=True).stdout


def is_right(kind, log):
    word, text = first_verdict(log)
    if not kind.words:
        return word not in ("DEADLOCK", "COLLECTIVE", "CRASH", "DIED FIRST")
    text = re.sub(r"\s+", " ", text)
    return word in kind.words and all(re.search(each, text) for each in kind.texts)


def run(names, kind):
    launcher, _, way = names[:3]
    name = "-".join(names)
    shutil.rmtree(name + ".pillion", ignore_errors=True)
    words, _, _, recorded = LAUNCHERS[launcher]
    traced = Job(name, launcher, words + [PILLION, "-o", name, *recorded] + kind.command, way,
                 way == "ctrl-c").finish()
    bare = None
    if options.bare:
        bare = Job(name + "-bare", launcher, words + kind.command, way, way == "ctrl-c").finish()
    return names, kind, traced, bare


def chosen(words):
    for launcher, (command, ways, kinds, _) in LAUNCHERS.items():
        if any(word in LAUNCHERS for word in words) and launcher not in words:
            continue  # its programs take a minute to compile
        if command and not shutil.which(command[0]):
            print(f"# no {command[0]}")
            continue
        if launcher in IN_SLURM and not os.environ.get("SLURM_CONF"):
            continue
        for kind, what in kinds().items():
            for way in ("itself",) if what.is_death else ways:
                sorts = (set(LAUNCHERS), {way for each in LAUNCHERS.values() for way in each.ways} | {"itself"})
                mine = [{w for w in words if w in sort} for sort in sorts]
                mine.append({w for w in words if not any(w in sort for sort in sorts)})
                if all(not wanted or name in wanted for wanted, name in zip(mine, (launcher, way, kind))):
                    for i in range(options.times):
                        yield (launcher, kind, way) + ((str(i),) if options.times > 1 else ()), what


def start_cluster(words):
    """None: no job needs it, or Slurm does not start here."""
    of_launchers = {w for w in words if w in LAUNCHERS}
    if (of_launchers and not of_launchers & set(IN_SLURM)) or not shutil.which("srun"):
        return None
    cluster = subprocess.Popen(["bash", "-c", CLUSTER, os.path.join(HERE, "slurm.sh")], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, universal_newlines=True)
    configuration = cluster.stdout.readline().strip()
    if not configuration:
        print("# Slurm does not start here")
    os.environ["SLURM_CONF"] = configuration
    os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    return cluster


def lacks(traced, bare):
    """The lines of the bare job that the other has not, but for their numbers."""
    had = {NUMBERS.sub("N", line) for line in traced.log.replace("-bare", "").split("\n")}
    return [line for line in bare.log.replace("-bare", "").split("\n") if NUMBERS.sub("N", line) not in had]


def judge(number, names, kind, traced, bare):
    """None: the limit came before the program hung."""
    if names[2] in ("timeout", "limit", "warned") and not READY.search(traced.log):
        print(f"ok {number} - {', '.join(names)} # SKIP it was not ready when it was ended", flush=True)
        return None
    is_killed = names[0::2][:2] in KILLED and not kind.is_death
    if is_killed:
        traced = traced._replace(log=summary("-".join(names)))
    right = is_right(kind, traced.log)
    times = [f"verdict {traced.delay_s * 1000:.0f} ms"] if traced.delay_s is not None else []
    if bare and traced.end_s is not None:
        times.append(f"end {traced.end_s:.2f} s, bare {bare.end_s:.2f} s")
    if bare:
        times.append(f"status {traced.status}" + ("" if traced.status == bare.status else f" NOT {bare.status}"))
        times += [f"lacks {len(lines)} lines, the first {lines[0]!r}" for lines in [lacks(traced, bare)] if lines]
    print(f"{'ok' if right else 'not ok'} {number} - {', '.join(names)} # {'; '.join(times)}", flush=True)
    lines = [first_verdict(traced.log)[1]] + traced.log.split("\n")
    lines = [line for line in lines if line.strip() and not re.match(r"\*\*\* |\[|--+$", line)]
    if not right or options.verbose:
        print("".join(f"#   {line[:220]}\n" for line in lines[:options.lines]), end="", flush=True)
    return right


def remove_system_v():
    """What the programs made of System V's, which remains when they are killed."""
    if os.path.exists("system_v"):
        with open("system_v") as file:
            subprocess.run(["ipcrm", *file.read().split()], stderr=subprocess.DEVNULL)  # some have been removed


def main():
    results, delays, later, others, skipped = {}, {}, {}, {}, 0
    cluster = start_cluster(options.words)
    jobs = list(chosen(options.words))  # compiled before the load, beside which that takes minutes
    load = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(options.load)]
    try:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            futures = [pool.submit(run, names, kind) for names, kind in jobs]
            for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
                names, kind, traced, bare = future.result()
                of = names[0] + (", in the capture" if names[0::2][:2] in KILLED and not kind.is_death else "")
                right = judge(number, names, kind, traced, bare)
                if right is None:
                    skipped += 1
                    continue
                results.setdefault(of if kind.words else "only waits", []).append(right)
                if bare:
                    of = f"{names[0]}, {'deaths' if kind.is_death else 'hangs'}"
                    others.setdefault(of, []).append((traced.status != bare.status, bool(lacks(traced, bare))))
                    if None not in (traced.end_s, bare.end_s):
                        later.setdefault(of, []).append((traced.end_s, bare.end_s))
                if traced.delay_s is not None and traced.delay_s > 0 and not kind.is_death:
                    delays.setdefault(names[0], []).append(traced.delay_s)
    finally:
        for each in load:
            each.kill()
        if cluster:
            cluster.communicate("\n")
        remove_system_v()
    print("# right: " + ", ".join(f"{name} {sum(right)} of {len(right)}" for name, right in sorted(results.items())))
    for name, times in sorted(delays.items()):
        print(f"# {name}: from the signal to the verdict: median {statistics.median(times) * 1000:.0f} ms, "
              f"worst {max(times) * 1000:.0f} ms, of {len(times)}")
    for name, ends in sorted(later.items()):
        apart = [traced - bare for traced, bare in ends]
        print(f"# {name}: end {statistics.median(end for end, _ in ends):.2f} s, bare "
              f"{statistics.median(end for _, end in ends):.2f} s; later: median {statistics.median(apart):.2f} s, "
              f"worst {max(apart):.2f} s; more than 0.1 s: {sum(each > 0.1 for each in apart)} of {len(apart)}")
    for name, each in sorted(others.items()):
        print(f"# {name}: another status in {sum(status for status, _ in each)}, a line of the output less in "
              f"{sum(output for _, output in each)} of {len(each)}")
    print(f"1..{skipped + sum(map(len, results.values()))}")
    return any(sum(right) < 0.95 * len(right) for right in results.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-n", dest="times", type=int, default=1)
    parser.add_argument("-j", dest="jobs", type=int, default=1)
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--quiet", type=float, default=3)
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--lines", type=int, default=14)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background, for its jobs as well
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        code = main()
        os.chdir("/")
    sys.exit(code)
