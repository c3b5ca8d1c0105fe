#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ended.py [PROGRAM]...: whether the summary names deadlocks and crashes, however the job is ended.

Five programs whose threads or ranks wait for each other, and six jobs of which one process crashes while another waits;
each is ended by SIGTERM, Ctrl-C, timeout and SIGKILL of all, alone and recorded. Right is a summary with that word and
line, and the same status and output as alone. Prints TAP; 40 of 44 must be named, and all must end as alone."""
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
BUILD = os.environ.get("PILLION_BUILD_DIR", os.path.join(ROOT, "build"))
TARGETS = os.path.join(BUILD, "tests", "targets")
SOURCES = os.path.join(ROOT, "tests", "targets")
PATIENCE_S = 60
OWN_PID = os.getpid()

QUEUES = """
import queue, threading
one, two = queue.Queue(), queue.Queue()
def worker():
    two.get()  # the worker waits
    one.put(1)
threading.Thread(target=worker, daemon=True).start()
print("ready", flush=True)
one.get()  # main waits
"""
SEMAPHORES = """
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
static sem_t one, two;
static void *worker(void *none)
{
	sem_wait(&two); /* the worker waits */
	sem_post(&one);
	return none;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, worker, NULL);
	write(1, "ready\\n", 6);
	sem_wait(&one); /* main waits */
	return 0;
}
"""
RING = """
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rank, ranks, value;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!rank)
		write(1, "ready\\n", 6);
	MPI_Recv(&value, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* all receive */
	MPI_Finalize();
	return 0;
}
"""
THROWS = """
#include <stdexcept>
static void parse() { throw std::runtime_error("bad"); }
int main() { parse(); }
"""
CTYPES = """
import ctypes
def inner():
    ctypes.string_at(0)
inner()
"""
HOG = """
held = []
while True:
    held.append(bytearray(1 << 20))
"""
HOWS = ("term", "ctrl-c", "timeout", "kill")


def written(name, text):
    with open(name, "w") as file:
        file.write(text)
    return os.path.abspath(name)


def compiled(name, text, *command):
    path = written(name, text)
    program = path.rsplit(".", 1)[0]
    done = subprocess.run([*command, "-g", "-o", program, path], stderr=subprocess.DEVNULL)
    return program if done.returncode == 0 else None


def crashing(*words):
    """A job that goes on after one of its processes has crashed."""
    return ["sh", "-c", '"$@" 2>/dev/null; echo ready; exec sleep 1000', "sh", *words]


def programs():
    """name: command, what its summary has to say"""
    semaphores = compiled("semaphores.c", SEMAPHORES, "gcc", "-pthread")
    throws = compiled("throws.cpp", THROWS, "g++")
    ring = compiled("ring.c", RING, "mpicc") if shutil.which("mpicc") else None
    every = {
        "mutexes": ([os.path.join(TARGETS, "deadlock"), "mutexes"], r"DEADLOCK.* at deadlock\.c:\d+ waits for a mutex"),
        "with": ([sys.executable, os.path.join(SOURCES, "deadlock.py"), "with"],
                 r"DEADLOCK.* at deadlock\.py:\d+ waits for a threading\.Lock"),
        "semaphores": ([semaphores], r"DEADLOCK.*semaphores\.c:(8|17)"),
        "queues": ([sys.executable, written("queues.py", QUEUES)], r"DEADLOCK.*queues\.py:(5|9)"),
        "ring": (["mpirun", "--oversubscribe", "-n", "3", ring], r"DEADLOCK.*rank 0.*MPI_Recv"),
        "segv": (crashing(os.path.join(TARGETS, "crash"), "segv"), r"CRASH +signal 11 .* at crash\.c:\d+ read_nothing"),
        "ctypes": (crashing(sys.executable, written("inner.py", CTYPES)), r"CRASH +signal 11 .* at inner\.py:4 inner"),
        "throws": (crashing(throws), r"CRASH +signal 6 .* at throws\.cpp:3 parse"),
        "abort": (crashing(os.path.join(TARGETS, "crash"), "abort"), r"CRASH +signal 6 .* at crash\.c:\d+ "),
        "overflow": (crashing(os.path.join(TARGETS, "crash"), "overflow"),
                     r"CRASH +signal 11 .* at crash\.c:\d+ descend"),
        "memory": (crashing(sys.executable, written("hog.py", HOG)), r"OUT OF MEMORY"),
    }
    if not cgroup():
        del every["memory"]
    return {name: job for name, job in every.items() if all(job[0])}


def cgroup():
    """One with little memory, for the job and its launcher, made by root; None: there is none."""
    for parent, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = os.path.join(parent, f"pillion-ended.{OWN_PID}")
        try:
            os.makedirs(group, exist_ok=True)
            with open(os.path.join(group, limit), "w") as file:
                file.write(str(128 << 20))
            return group
        except OSError:
            if os.path.isdir(group):
                os.rmdir(group)
    return None


def enter_cgroup():
    with open(os.path.join(cgroup(), "cgroup.procs"), "w") as file:
        file.write(str(os.getpid()))


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def descendants(pid):
    return [pid] + [each for child in children(pid) for each in descendants(child)]


def is_python(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().startswith("python")
    except OSError:
        return False


def until(condition):
    end = time.time() + PATIENCE_S
    while time.time() < end:
        if condition():
            return True
        time.sleep(0.2)
    return False


def content(name):
    with open(name) as file:
        return file.read()


def summary():
    done = subprocess.run([PILLION, "stats", "--summary", "run.pillion"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, universal_newlines=True)
    return done.stdout


def end(job, how):
    """As a user, a shell, timeout or the kernel does."""
    everyone = descendants(job.pid)
    if how in ("term", "timeout"):
        job.terminate()
    elif how == "ctrl-c":
        os.killpg(job.pid, signal.SIGINT)
    else:
        for pid in everyone:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
    asked = time.time()
    while job.poll() is None and time.time() < asked + PATIENCE_S:
        time.sleep(0.5)
        # Python joins its threads once more, and then needs a second Ctrl-C
        if how == "ctrl-c" and job.poll() is None:
            for pid in filter(is_python, everyone):
                os.kill(pid, signal.SIGINT)
    for pid in everyone:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    status = job.wait()
    return status if status >= 0 else 128 - status  # as a shell has it


def run(command, how, is_seen, is_small):
    """Its status and its output."""
    if how == "timeout":
        command = ["timeout", "1000", *command]
    environment = dict(os.environ, PILLION_STATS="summary", OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with open("out", "w") as out, open("said", "w") as said:
        job = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=said, env=environment,
                               start_new_session=True, preexec_fn=enter_cgroup if is_small else None)
    until(lambda: "ready" in content("out"))
    until(is_seen)
    return end(job, how), content("out")


def judge(name, command, wanted, how):
    is_small = name == "memory"
    alone = run(command, how, lambda: time.sleep(0.5) or True, is_small)
    shutil.rmtree("run.pillion", ignore_errors=True)
    is_seen = lambda: re.search(wanted, summary()) if "DEADLOCK" in wanted else time.sleep(2) or True
    recorded = run([PILLION, "-f", "true", "-o", "run", *command], how, is_seen, is_small)
    text = summary()
    is_named = bool(re.search(wanted, text))
    first = " / ".join(text.splitlines()[1:3])
    print(f"# {name}, {how}: {'named' if is_named else 'NOT NAMED'}, "
          f"{'as alone' if alone == recorded else f'NOT AS ALONE: {recorded}, alone {alone}'}: {first[:150]}",
          flush=True)
    return is_named, alone == recorded


def main():
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        results = [judge(name, command, wanted, how) for name, (command, wanted) in programs().items()
                   if name in (sys.argv[1:] or [name]) for how in HOWS]
        os.chdir("/")
    if cgroup():
        os.rmdir(cgroup())
    named, alike = (sum(result[i] for result in results) for i in (0, 1))
    print("1..2")
    print(f"{'ok' if named * 44 >= len(results) * 40 else 'not ok'} 1 - {named} of {len(results)} are named")
    print(f"{'ok' if alike == len(results) else 'not ok'} 2 - {alike} of {len(results)} end as alone")
    return named * 44 < len(results) * 40 or alike < len(results)


sys.exit(main())
