#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""log.py [-n TIMES] [LAUNCHER|KIND|WAY]...: whether the log of a job alone says why it hung or died.

A job whose threads or ranks hang is ended by Ctrl-C, SIGTERM or timeout; another one has a rank that dies by itself;
plain, under mpirun of Open MPI or of MPICH, where each rank has a launcher of its own. Right is a line with the word,
the rank and the line of the program in what the job has written; the capture is not looked at. Of programs that only
wait long, no such line is right. The words choose a part.
Prints TAP; the last line but one has the rates. Left out, because nobody is left to write: hangs under MPICH, whose
Hydra sends SIGKILL 50 ms after it was told to end, and MPI_Abort under it."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PILLION = os.path.join(ROOT, "scripts", "pillion")
TARGETS = os.path.join(os.environ.get("PILLION_BUILD_DIR", os.path.join(ROOT, "build")), "tests", "targets")
PATIENCE_S, QUIET_S = 60, 3

JOB = """
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rank, x = 1, y;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!rank)
		write(1, "ready\\n", 6);
	usleep(1000000);
	if (rank == 2 && !strcmp(argv[1], "segv"))
		*(volatile int *)8 = 1; /* dies */
	if (rank == 2 && !strcmp(argv[1], "abort"))
		abort(); /* aborts */
	if (rank == 2 && !strcmp(argv[1], "exit"))
		exit(3);
	if (rank == 2 && !strcmp(argv[1], "kill"))
		kill(getpid(), SIGKILL);
	if (rank == 2 && !strcmp(argv[1], "mpi_abort"))
		MPI_Abort(MPI_COMM_WORLD, 5);
	while (rank == 2 && !strcmp(argv[1], "late"))
		usleep(100000); /* late */
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
"""
RAISES = """
import os, sys, time
def step():
    raise ValueError("bad batch")  # raises
time.sleep(1)
rank = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", "2"))
if rank == "2":
    step()
time.sleep(20)
"""
# Programs that only wait long.
WAITS = {
    "server": "import socket\ns = socket.create_server(('127.0.0.1', 0))\nprint('ready', flush=True)\ns.accept()",
    "parent": "import subprocess\nprint('ready', flush=True)\nsubprocess.run(['sleep', '20'])",
    "asyncio": "import asyncio\nprint('ready', flush=True)\nasyncio.run(asyncio.sleep(20))",
    "timer": "import threading\ne = threading.Event()\nthreading.Timer(20, e.set).start()\n"
             "print('ready', flush=True)\ne.wait()",
    "pool": "import multiprocessing, time\nif __name__ == '__main__':\n    with multiprocessing.Pool(2) as p:\n"
            "        print('ready', flush=True)\n        p.map(time.sleep, [20, 20])",
    "caught": "import time, traceback\ntry:\n    raise ValueError('harmless')\nexcept ValueError:\n"
              "    traceback.print_exc()\nprint('ready', flush=True)\ntime.sleep(20)",
}
WORDS = r"^(pillion: )?(DIED FIRST|CRASH|DEADLOCK|COLLECTIVE) "
WAYS = ("ctrl-c", "sigterm", "timeout", "itself")


def line_of(source, text):
    return next(i for i, line in enumerate(source.split("\n"), 1) if text in line) - (not source[0].strip())


def write(name, text):
    with open(name, "w") as file:
        file.write(text.lstrip("\n"))
    return os.path.abspath(name)


LAUNCHERS = {"plain": [], "openmpi": ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root", "-n", "3"],
             "mpich": ["mpirun.mpich", "-n", "3"]}


def kinds_of(launcher):
    """Name of a kind -> command line, expression for its line, whether the job ends by itself."""
    raises = [sys.executable, write("raises.py", RAISES)]
    word = "CRASH +" if launcher == "plain" else "DIED FIRST rank 2 on [^ ]+: "
    raised = rf"^{word}ValueError: bad batch at raises\.py:{line_of(RAISES, '# raises')} step"
    kinds = {"mutexes": ([os.path.join(TARGETS, "deadlock"), "mutexes"], r"^DEADLOCK .* at deadlock\.c:\d+ ", False),
             "raises": (raises, raised, True)}
    for name in WAITS if launcher == "plain" else ():
        kinds[name] = ([sys.executable, write(f"waits_{name}.py", WAITS[name])], None, False)
    if launcher == "plain" or not shutil.which("mpicc." + launcher):
        return kinds
    program = os.path.abspath("job." + launcher)
    subprocess.run(["mpicc." + launcher, "-g", "-w", "-o", program, write("job.c", JOB)], check=True)
    at = {name: rf"job\.c:{line_of(JOB, text)} main" for name, text in (("segv", "/* dies"), ("abort", "/* aborts"))}
    for kind, ended in (("segv", "signal 11 .* at " + at["segv"]), ("abort", "signal 6 .* at " + at["abort"]),
                        ("exit", "exit 3"), ("kill", "signal 9 "), ("mpi_abort", ".*MPI_Abort")):
        kinds[kind] = ([program, kind], rf"^{word}{ended}", True)
    if launcher == "mpich":
        del kinds["mpi_abort"]
    kinds["late"] = ([program, "late"], r"^STALLED +2 of 3 ranks are in MPI_Allreduce; rank 2, .*job\.c:\d+", False)
    return kinds


def run(launcher, command, way):
    shutil.rmtree("run.pillion", ignore_errors=True)
    if way == "timeout":
        command = ["timeout", "-k", "30", str(QUIET_S + 1)] + LAUNCHERS[launcher] + [PILLION, "-o", "run"] + command
    else:
        command = LAUNCHERS[launcher] + [PILLION, "-o", "run"] + command
    with open("log", "wb") as log:
        job = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
                               env=dict(os.environ, PILLION_STATS="summary"))
    try:
        if way in ("ctrl-c", "sigterm"):
            limit = time.monotonic() + PATIENCE_S
            while b"ready" not in open("log", "rb").read() and time.monotonic() < limit:
                time.sleep(0.05)
            time.sleep(QUIET_S)
            # mpirun passes the signal on; a terminal sends it to all
            (os.killpg if way == "ctrl-c" else os.kill)(job.pid, signal.SIGINT if way == "ctrl-c" else signal.SIGTERM)
        job.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        try:
            os.killpg(job.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        job.wait()
    return open("log", errors="replace").read()


def is_right(expression, log):
    if expression:
        return re.search(expression, log, re.MULTILINE) is not None
    return not re.search(WORDS, log, re.MULTILINE)


def is_chosen(words, launcher, kind, way):
    """Each word chooses among those of its own sort."""
    sorts = (set(LAUNCHERS), set(WAYS))
    mine = [{w for w in words if w in sort} for sort in sorts] + [{w for w in words if not any(w in s for s in sorts)}]
    return all(not wanted or name in wanted for wanted, name in zip(mine, (launcher, way, kind)))


def judge(number, names, command, expression, way):
    log = run(names[0], command, way)
    right = is_right(expression, log)
    print(f"{'ok' if right else 'not ok'} {number} - {', '.join(names)}", flush=True)
    if not right:
        print("".join(f"# {line}\n" for line in log.split("\n")[:12]), end="")
    return right


def main(words):
    times = int(words[1]) if words[:1] == ["-n"] else 1
    words = words[2:] if words[:1] == ["-n"] else words
    results = {}
    for launcher in LAUNCHERS:
        if launcher != "plain" and not shutil.which("mpirun." + launcher):
            print(f"# no mpirun.{launcher}")
            continue
        for kind, (command, expression, is_death) in kinds_of(launcher).items():
            for way in WAYS[3:] if is_death else WAYS[:3]:
                if not is_chosen(words, launcher, kind, way) or (launcher == "mpich" and not is_death):
                    continue
                for _ in range(times):
                    number = sum(map(len, results.values())) + 1
                    results.setdefault(launcher if expression else "only waits", []).append(
                        judge(number, (launcher, kind, way), command, expression, way))
    print("# right: " + ", ".join(f"{name} {sum(right)} of {len(right)}" for name, right in results.items()))
    print(f"1..{sum(map(len, results.values()))}")
    return any(sum(right) < 0.95 * len(right) for right in results.values())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        code = main(sys.argv[1:])
        os.chdir("/")
    sys.exit(code)
