# SPDX-License-Identifier: Apache-2.0
"""The programs of log.py: hangs and deaths. Each prints "ready" before it hangs, and DEATH_S before it dies."""
import collections
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TARGETS = os.path.join(os.environ.get("PILLION_BUILD_DIR", os.path.join(ROOT, "build")), "tests", "targets")
SOURCES = os.path.join(ROOT, "tests", "targets")
TORCH_PYTHON = os.environ.get("PYTHON_TORCH") or os.environ.get("NIGHTLY_PYTHON") or sys.executable

# words: of which the first line has one; texts: expressions of which that line has each; is_death: it ends by itself.
Kind = collections.namedtuple("Kind", "command words texts is_death")

DEATH_S = 1.5
HANGS = ("DEADLOCK", "COLLECTIVE", "STALLED")
JOB = """
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static volatile int zero, spins;
static char one[1 << 20], two[1 << 20];
static void *hold(void *none)
{
	pthread_mutex_lock(&held);
	pause();
	return none;
}
static void lock(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, hold, NULL);
	usleep(100000);
	pthread_mutex_lock(&held); /* lock */
}
static void die(const char *how)
{
	if (!strstr("segv fpe abort exit kill mpi_abort error", how))
		return;
	usleep(1500000);
	if (!strcmp(how, "segv"))
		*(volatile int *)8 = 1; /* segv */
	if (!strcmp(how, "fpe"))
		zero = 7 / zero; /* fpe */
	if (!strcmp(how, "abort"))
		abort(); /* abort */
	if (!strcmp(how, "exit"))
		exit(3); /* exit */
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "mpi_abort"))
		MPI_Abort(MPI_COMM_WORLD, 5); /* mpi_abort */
	if (!strcmp(how, "error"))
		MPI_Send(&zero, 1, MPI_INT, 99, 0, MPI_COMM_WORLD); /* error */
}
int main(int argc, char **argv)
{
	int rank, ranks, x = 1, y;
	MPI_Request requests[2];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		write(1, "ready\\n", 6);
	if (rank == 2)
		die(argv[1]);
	while (rank == 2 && !strcmp(argv[1], "late"))
		usleep(100000); /* late */
	while (rank == 2 && !strcmp(argv[1], "loop")) /* loop */
		spins++; /* loop */
	if (rank == 2 && !strcmp(argv[1], "lock"))
		lock();
	if (!strcmp(argv[1], "ssend"))
		MPI_Ssend(one, sizeof(one), MPI_CHAR, (rank + 1) % ranks, 0, MPI_COMM_WORLD); /* ssend */
	if (!strcmp(argv[1], "recv"))
		MPI_Recv(&y, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* recv */
	if (!strcmp(argv[1], "waitall")) {
		MPI_Irecv(one, sizeof(one), MPI_CHAR, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &requests[0]);
		MPI_Issend(two, sizeof(two), MPI_CHAR, (rank + 1) % ranks, 1, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* waitall */
	}
	if (rank == 2 && !strcmp(argv[1], "mismatch"))
		MPI_Barrier(MPI_COMM_WORLD); /* mismatch */
	if (rank == 2 && !strcmp(argv[1], "finalize"))
		return MPI_Finalize(); /* finalize */
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* mismatch */
	MPI_Finalize();
	return 0;
}
"""
MPI_HANGS = {"late": ("STALLED",), "loop": ("STALLED",), "lock": ("STALLED",), "ssend": ("DEADLOCK",),
             "recv": ("DEADLOCK",), "waitall": HANGS, "mismatch": HANGS, "finalize": ("COLLECTIVE",)}
MPI_DEATHS = {"segv": "signal 11 ", "fpe": "signal 8 ", "abort": "signal 6 ", "exit": "exit 3", "kill": "signal 9 ",
              "mpi_abort": "MPI_Abort", "error": "(exit|fatal error of MPI)"}
RAISES = """
import os, sys, time
def step():
    raise ValueError("bad batch")  # raises
rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ.get("SLURM_PROCID") or os.environ.get("PMI_RANK", "2")
if rank == "2":
    print("ready", flush=True)
    time.sleep(1.5)
    step()
time.sleep(20)
"""
# Workers of torchrun: gloo, threads, and workers of a DataLoader.
TORCH = """
import ctypes, os, queue, signal, sys, threading, time
import torch, torch.distributed as dist
def step():
    raise ValueError("bad batch")  # raises
def wait():
    with locks[0]:
        with locks[0]:  # relock
            pass
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        if rank == 2 and how == "worker_raises":
            raise ValueError("bad item")  # worker_raises
        if rank == 2 and how == "worker_killed":
            os.kill(os.getpid(), signal.SIGKILL)
        while rank == 2 and how == "loader":
            time.sleep(0.1)  # loader
        return torch.ones(3)
dist.init_process_group("gloo")
rank, how, locks, x = dist.get_rank(), sys.argv[1], [threading.Lock()], torch.ones(3)
dist.all_reduce(x)
if how == "ddp":
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1))
if not rank:
    print("ready", flush=True)
if how in "raises segv abort exit kill worker_raises worker_killed".split():
    time.sleep(1.5)
if how in ("loader", "worker_raises", "worker_killed"):
    for each in torch.utils.data.DataLoader(Data(), num_workers=1):  # loader worker_killed
        x = x + each
if rank == 2:
    if how == "raises":
        step()
    if how == "segv":
        ctypes.string_at(0)  # segv
    if how == "abort":
        os.abort()  # abort
    if how == "exit":
        sys.exit(3)  # exit
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "relock":
        wait()
    if how == "queue":
        queue.Queue().get()  # queue
    if how == "mismatch":
        dist.broadcast(x, 0)  # mismatch
    while how in ("late", "ddp"):
        time.sleep(0.1)  # late ddp
    while how == "loop":  # loop
        x = x  # loop
if how == "recv":
    dist.recv(x, (rank + 1) % 3)  # recv
if how == "ddp":
    model(x).sum().backward()
dist.all_reduce(x)  # mismatch
"""
TORCH_HANGS = {"relock": HANGS, "late": ("STALLED",), "loop": ("STALLED",), "queue": HANGS, "loader": HANGS,
               "ddp": ("STALLED",), "mismatch": HANGS, "recv": HANGS}
TORCH_DEATHS = {"raises": "ValueError: bad batch", "segv": "signal 11 ", "abort": "signal 6 ", "exit": "exit 3",
                "kill": "signal 9 ", "worker_raises": "ValueError: bad item", "worker_killed": "DataLoader worker"}
# Ranks on the doubles of CUDA and NCCL (tests/doubles): the third does not call what the others wait for in the GPU.
NCCL = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef struct { char internal[128]; } ncclUniqueId;
int cudaMalloc(void **address, size_t size), cudaDeviceSynchronize(void), cudaStreamSynchronize(void *stream);
int ncclGetUniqueId(ncclUniqueId *id), ncclCommInitRank(void **comm, int ranks, ncclUniqueId id, int rank);
int ncclAllReduce(const void *, void *, size_t, int, int, void *, void *);
static volatile int spins;
static ncclUniqueId id_of(const char *path, int rank)
{
	ncclUniqueId id;
	FILE *f = rank ? NULL : fopen("nccl.new", "w");
	if (f) {
		ncclGetUniqueId(&id);
		fwrite(&id, sizeof(id), 1, f);
		fclose(f);
		rename("nccl.new", path);
	}
	while (rank && !(f = fopen(path, "r")))
		usleep(10000);
	if (rank)
		fread(&id, sizeof(id), 1, f);
	return id;
}
int main(int argc, char **argv)
{
	int rank = atoi(getenv("RANK"));
	void *comm, *x;
	cudaMalloc(&x, 1 << 20);
	ncclCommInitRank(&comm, 3, id_of(argv[2], rank), rank);
	ncclAllReduce(x, x, 1024, 7, 0, comm, NULL);
	cudaDeviceSynchronize();
	if (!rank)
		write(1, "ready\\n", 6);
	while (rank == 2 && !strcmp(argv[1], "late"))
		usleep(100000); /* late */
	while (rank == 2 && !strcmp(argv[1], "loop")) /* loop */
		spins++; /* loop */
	if (rank == 2 && !strcmp(argv[1], "missing"))
		return sleep(100); /* missing */
	ncclAllReduce(x, x, 1024, 7, 0, comm, NULL);
	return cudaStreamSynchronize(NULL);
}
"""
QUEUES = """
import queue, threading
one, two = queue.Queue(), queue.Queue()
def worker():
    two.get()  # waits
    one.put(1)
threading.Thread(target=worker, daemon=True).start()
print("ready", flush=True)
one.get()  # waits
"""
PROCESSES = """
import multiprocessing, time
def enter(first, second):
    with first:
        time.sleep(0.4)
        with second:  # waits
            pass
if __name__ == "__main__":
    one, two = multiprocessing.Lock(), multiprocessing.Lock()
    workers = [multiprocessing.Process(target=enter, args=locks) for locks in ((one, two), (two, one))]
    for worker in workers:
        worker.start()
    print("ready", flush=True)
    for worker in workers:
        worker.join()
"""
POOL = """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1)
def outer():
    return pool.submit(int).result()  # waits
future = pool.submit(outer)
print("ready", flush=True)
future.result()  # waits
"""
WORKER = """
import multiprocessing, time
def work():
    time.sleep(1)
    raise ValueError("bad batch")  # raises
if __name__ == "__main__":
    worker = multiprocessing.Process(target=work)
    worker.start()
    worker.join()
    raise SystemExit(worker.exitcode)
"""


def places(name, source, *marks):
    """An expression for a line of this file that has one of the marks."""
    numbers = [str(number) for number, line in enumerate(source.lstrip("\n").split("\n"), 1)
               if any(line.endswith(mark) for mark in marks)]
    return rf"{name}:({'|'.join(numbers)})\b".replace(".", r"\.")


def of_target(name, *marks):
    with open(os.path.join(SOURCES, name)) as file:
        return places(name, file.read(), *marks)


def write(name, text):
    with open(name, "w") as file:
        file.write(text.lstrip("\n"))
    return os.path.abspath(name)


def threads_kinds():
    deadlock, crash = os.path.join(TARGETS, "deadlock"), os.path.join(TARGETS, "crash")
    locks = os.path.join(SOURCES, "deadlock.py")
    marks = {"mutexes": ("one waits */", "two waits */"), "rwlocks": ("writer waits */", "reader waits */"),
             "relock": ("main relocks */", "pthread_mutex_lock(&first);"),
             "join": ("joiner waits */", "joined waits */")}
    kinds = {name: Kind([deadlock, name], ("DEADLOCK",), (of_target("deadlock.c", *marks[name]),), False)
             for name in marks}
    kinds["with"] = Kind([sys.executable, locks, "with"], ("DEADLOCK",),
                         (of_target("deadlock.py", "enter waits"),), False)
    for name, source in (("queues", QUEUES), ("processes", PROCESSES), ("pool", POOL)):
        kinds[name] = Kind([sys.executable, write(f"{name}.py", source)], ("DEADLOCK",),
                           (places(f"{name}.py", source, "# waits"),), False)
    for name, signal, *marks in (("segv", 11, "read_nothing crashes */"), ("abort", 6, "\t\tabort();"),
                                 ("fpe", 8, "zero = 7 / zero;"),
                                 ("overflow", 11, "descend(int depth)", "(char)depth;", "descend overflows */")):
        kinds[name] = Kind([crash, name], ("CRASH",), (f"signal {signal} ", of_target("crash.c", *marks)), True)
    kinds["raises"] = Kind([sys.executable, write("raises.py", RAISES)], ("CRASH",),
                           ("ValueError: bad batch", places("raises.py", RAISES, "# raises")), True)
    kinds["worker"] = Kind([sys.executable, write("worker.py", WORKER)], ("DIED FIRST",),
                           ("ValueError: bad batch", places("worker.py", WORKER, "# raises")), True)
    return kinds


def mpi_kinds(flavour):
    if not shutil.which("mpicc." + flavour):
        return {}
    program = os.path.abspath("job." + flavour)
    if not os.path.exists(program):
        subprocess.run(["mpicc." + flavour, "-g", "-w", "-o", program, write("job.c", JOB)], check=True)
    kinds = {name: Kind([program, name], words, ("rank [0-2]", places("job.c", JOB, f"/* {name} */")), False)
             for name, words in MPI_HANGS.items()}
    for name, end in MPI_DEATHS.items():
        at = places("job.c", JOB, f"/* {name} */") if f"/* {name} */" in JOB else ""
        kinds[name] = Kind([program, name], ("DIED FIRST",), ("rank 2 on ", end, at), True)
    kinds["raises"] = Kind([sys.executable, write("raises.py", RAISES)], ("DIED FIRST",),
                           ("rank 2 on ", "ValueError: bad batch", places("raises.py", RAISES, "# raises")), True)
    return kinds


def nccl_kinds():
    doubles = os.path.join(os.path.dirname(TARGETS), "doubles")
    libraries = [os.path.join(doubles, name) for name in ("libnccl.so.2", "libcudart.so.13")]
    program = os.path.abspath("nccl")
    if not all(map(os.path.exists, libraries)):
        return {}
    if not os.path.exists(program):
        subprocess.run(["cc", "-g", "-w", "-o", program, write("nccl.c", NCCL), *libraries], check=True)
    ranks = 'for r in 0 1 2; do RANK=$r "$0" "$1" nccl.$$ & done; wait'
    return {name: Kind(["env", "LD_LIBRARY_PATH=" + doubles, "TMPDIR=" + os.getcwd(), "WORLD_SIZE=3", "sh", "-c",
                        ranks, program, name],
                       ("STALLED",), ("2 of 3 ranks are in ncclAllReduce; rank 2, ",
                                      places("nccl.c", NCCL, f"/* {name} */")), False)
            for name in ("late", "loop", "missing")}


def torch_kinds():
    if subprocess.run([TORCH_PYTHON, "-c", "import torch.distributed"], stderr=subprocess.DEVNULL).returncode:
        return {}
    program = [TORCH_PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=3",
               write("work.py", TORCH)]
    kinds = {}
    for names, are_deaths in ((TORCH_HANGS, False), (TORCH_DEATHS, True)):
        for name, value in names.items():
            words, ends = (("DIED FIRST",), (value,)) if are_deaths else (value, ())
            rank = "rank [0-2]" if name in ("mismatch", "recv") else "rank 2"
            lines = re.findall(rf".*# .*\b{name}\b.*", TORCH)
            at = (places("work.py", TORCH, *lines),) if lines else ()
            kinds[name] = Kind(program + [name], words, (rank,) + ends + at, are_deaths)
    return kinds
