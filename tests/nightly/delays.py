#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""delays.py [--runs=N] [NAME]...: whether `pillion whatif --delay` measures the slope that the replay predicts.

Each program is run N times (default 5) with a delay at a line, of a lock, a rank, a collective or a call, and N times
without. Prints TAP: the slope is within 0.1 of the prediction. A program whose interval is wider than 0.4 and contains
the prediction is skipped, because the machine is too busy to tell. Programs that lack a tool are skipped."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PILLION = os.path.join(ROOT, "scripts", "pillion")
BUILD = os.environ.get("PILLION_BUILD_DIR", os.path.join(ROOT, "build"))
PYTHON = os.environ.get("NIGHTLY_PYTHON", sys.executable)
MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", "2"]

JOB = '''\
import os, sys, threading, time
lock = threading.Lock()
fd = os.open("out", os.O_CREAT | os.O_WRONLY)
def store():
    for _ in range(20):
        os.write(fd, b"x")  # STORE
def hold():
    for _ in range(10):
        with lock:
            time.sleep(0.01)
            os.write(fd, b"x")  # HOLD
if sys.argv[1] == "serial":
    store()
elif sys.argv[1] == "slack":
    thread = threading.Thread(target=store)
    thread.start()
    time.sleep(0.6)
    thread.join()
else:
    threads = [threading.Thread(target=hold) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
'''


def marked(path, mark):
    """FILE:N of the line that contains the mark."""
    with open(path, encoding="utf-8") as file:
        return next("%s:%d" % (os.path.basename(path), number) for number, line in enumerate(file, 1) if mark in line)


def programs(directory):
    """name -> what is delayed, the command"""
    delays = os.path.join(BUILD, "tests/targets/delays")
    source = os.path.join(ROOT, "tests/targets/delays.c")
    ranks = MPIRUN + [os.path.join(BUILD, "tests/targets/mpi_causes")]
    job = os.path.join(directory, "job.py")
    with open(job, "w", encoding="utf-8") as file:
        file.write(JOB)
    line = "line~" + marked(source, "poll(NULL, 0, 0)")
    lock = "lock~" + marked(source, "pthread_mutex_lock(")
    result = {"line_" + name: (line + "=10ms", [delays, name]) for name in (
        "serial", "slack", "half", "parallel", "inside_lock", "outside_lock", "late_at_barrier", "quick_consumer")}
    result["lock_inside"] = (lock + "=10ms", [delays, "inside_lock"])
    result["call_child"] = ("call~poll=10ms", [delays, "child"])
    for form, mark in (("serial", "# STORE"), ("slack", "# STORE"), ("hold", "# HOLD")):
        result["python_" + form] = ("line~%s=20ms" % marked(job, mark), [PYTHON, job, form])
    result["rank_critical"] = ("rank~0=40ms", ranks + ["slack", "slow"])
    result["rank_slack"] = ("rank~1=20ms", ranks + ["slack", "slow"])
    result["collective"] = ("collective~MPI_Barrier=40ms", ranks + ["slack", "slow"])
    return result


def measure(delay, command, runs, directory):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PILLION_")}
    environment.update(PYTHONDONTWRITEBYTECODE="1", PILLION_BUILD_DIR=BUILD)
    text = subprocess.run([PILLION, "whatif", "--json", "-n", str(runs), "--delay", delay] + command, cwd=directory,
        env=environment, stdout=subprocess.PIPE, text=True, check=False).stdout
    return json.loads(text)["rows"][0] if text else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("name", nargs="*")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        chosen = {name: row for name, row in programs(directory).items() if not options.name or name in options.name}
        print("1..%d" % len(chosen))
        for number, (name, (delay, command)) in enumerate(chosen.items(), 1):
            if not shutil.which(command[0]):
                print("ok %d - %s # SKIP without %s" % (number, name, command[0]))
                continue
            row = measure(delay, command, options.runs, directory)
            if not row:
                print("not ok %d - %s: no answer" % (number, name))
                continue
            slope, low, high, predicted = (row[column] for column in (
                "Slope", "Slope Low", "Slope High", "Predicted Slope"))
            is_close = predicted is not None and abs(slope - predicted) <= 0.1
            is_busy = not is_close and predicted is not None and high - low > 0.4 and low <= predicted <= high
            print("%s %d - %s (%s): slope %.2f [%.2f, %.2f], predicted %s%s" % (
                "ok" if is_close or is_busy else "not ok", number, name, delay, slope, low, high, predicted,
                " # SKIP the machine is too busy" if is_busy else ""), flush=True)


if __name__ == "__main__":
    main()
