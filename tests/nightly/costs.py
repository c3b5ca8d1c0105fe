#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""costs.py [OPTION]... [WORKLOAD]...: what recording costs real programs, in CPU time.

Runs each workload of costs.sh bare and under each tool, in turn, for some rounds. The CPU time is that of the program
and of all its children, with the tool's own processes. A ratio is to the bare run of the same round; the table has the
medians. No figure fails, a workload that does not work bare or under pillion does. The tools: bare; pillion, without
samples and by default; nsys (OS calls, no samples) and strace -c -f where they are installed. Where one of these two
does not end within LIMIT_S, or fails, it has no figure."""
import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
NOBODY = 65534
REFUSES_ROOT = {"pgbench"}
FOREIGN = {"nsys", "strace"}
LIMIT_S = 600

# Before a program: runs it, and writes the CPU time of it and its children into the file of its first argument.
TIMED = """
import os, resource, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
pid = os.fork()
if pid == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execvp(sys.argv[2], sys.argv[2:])
status = os.waitpid(pid, 0)[1]
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    file.write(repr(usage.ru_utime + usage.ru_stime))
sys.exit(os.waitstatus_to_exitcode(status) & 127)
"""


def tools(pillion):
    every = {
        "bare": [],
        "pillion": [pillion, "--stats=false", "-s", "none", "-o", "capture"],
        "samples": [pillion, "--stats=false", "-o", "capture"],
        "nsys": ["nsys", "profile", "-t", "osrt", "-s", "none", "--stats=false", "-o", "capture"],
        "strace": ["strace", "-c", "-f", "-o", "counts"],
    }
    return {name: words for name, words in every.items() if not words or shutil.which(words[0])}


def end_left(work):
    """Ends what a run has left behind: processes that have its directory in their environment."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if f"HOME={work}/run".encode() in file.read().split(b"\0"):
                    os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass


def measure(workload, words):
    """The CPU time of one run in seconds; a text if the workload cannot run or fails."""
    work = tempfile.mkdtemp(prefix="pn.")
    run = os.path.join(work, "run")
    os.mkdir(run)
    prefix = []
    if workload in REFUSES_ROOT and os.getuid() == 0:
        prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        for path in (work, run):
            os.chown(path, NOBODY, NOBODY)
    time_file = os.path.join(work, "cpu")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PILLION_", "LD_"))}
    try:
        done = subprocess.run([*prefix, "bash", os.path.join(HERE, "costs.sh"), workload, "python3", "-c", TIMED,
            time_file, *words], cwd=run, env={**environment, "HOME": run}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S)
        if done.returncode != 0:
            text = done.stdout.decode(errors="replace").strip().splitlines()[-3:]
            return f"status {done.returncode}: {' / '.join(text)}"
        with open(time_file, encoding="ascii") as file:
            return float(file.read())
    except subprocess.TimeoutExpired:
        return "out of time"
    finally:
        end_left(work)
        shutil.rmtree(work, ignore_errors=True)


def compare(workload, candidates, rounds):
    """{tool: (median seconds, median ratio)}, without those of FOREIGN that failed, or a text of what failed."""
    seconds = {name: [] for name in candidates}
    for _ in range(rounds):
        for name in list(seconds):
            one = measure(workload, candidates[name])
            if not isinstance(one, str):
                seconds[name].append(one)
            elif name in FOREIGN:
                print(f"{workload} under {name}: {one}", file=sys.stderr)
                del seconds[name]
            else:
                return f"{name}: {one}"
    return {name: (statistics.median(values),
        statistics.median(value / bare for value, bare in zip(values, seconds["bare"])))
        for name, values in seconds.items()}


def main():
    names = subprocess.run(["bash", os.path.join(HERE, "costs.sh"), "list"], stdout=subprocess.PIPE,
        check=True).stdout.decode().split()
    usage = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="default: " + " ".join(names))
    usage.add_argument("--pillion", default=os.path.join(ROOT, "scripts", "pillion"))
    usage.add_argument("--tools", metavar="NAME,...", help="bare and these; default: all that are installed")
    usage.add_argument("--rounds", type=int, default=5)
    usage.add_argument("--json", metavar="FILE", help="write the figures there too")
    options = usage.parse_args()
    candidates = tools(options.pillion)
    if options.tools:
        candidates = {name: words for name, words in candidates.items() if name in ["bare", *options.tools.split(",")]}
    failures, figures = 0, {}
    print("| workload | bare, s of CPU | " + " | ".join(name for name in candidates if name != "bare") + " |")
    print("|---" * (len(candidates) + 1) + "|")
    for workload in options.workloads or names:
        found = compare(workload, candidates, options.rounds)
        figures[workload] = found
        if isinstance(found, str):
            failures += "status 77" not in found
            print(f"| {workload} | {found} |")
        else:
            print(f"| {workload} | {found['bare'][0]:.2f} | " +
                " | ".join(f"{found[name][1]:.3f}" if name in found else "-"
                    for name in candidates if name != "bare") + " |")
        sys.stdout.flush()
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
