#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""steps.py [--seed=N] [--keep=DIR] [LOOP]...: whether `pillion stats -r steps` finds the steps of generated loops.

Each loop is a program in C, Python, for the simulated GPU or for MPI, made from a seed: calls that are made in each
step, inner loops of fixed and of random length, calls that are made in each tenth step or by chance, computing, calls
before and after the loop that look like those in it, epochs around the steps. The program notes for each step when the
one before had ended, and when the first call of the step had been made. A border is right if it is between the two.
Counted are right borders among those that exist and those that were found. Prints TAP: 99 % of the borders of all
loops must be right, and 80 % of those of each loop."""
import argparse
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("PILLION_BUILD_DIR", os.path.join(ROOT, "build"))
PILLION = os.path.join(ROOT, "scripts", "pillion")
DOUBLES = os.path.join(BUILD, "tests/doubles")
PYTHON = os.environ.get("NIGHTLY_PYTHON", os.path.realpath(sys.executable))
CLOCK_NS = 2_000  # by which the clocks of program and recorder may differ
SHORT_NS = 50_000  # what the first calls of a step take that are too short to be recorded

KINDS = ["c"] * 11 + ["python"] * 10 + ["gpu"] * 5 + ["mpi"] * 4

# ---- a loop: operations, inner loops ("loop", least, most, body), and ("each", N, body), ("chance", P, body) ----

OPERATIONS = {
    "c": ["sleep", "write", "read", "sync", "open", "spin", "poll"],
    "python": ["sleep", "write", "read", "sync", "open", "spin", "poll"],
    "gpu": ["kernel", "kernel", "kernel", "wait", "copy", "sleep", "spin"],
    "mpi": ["reduce", "barrier", "bcast", "sleep", "write", "spin"],
}


def last_calls(items):
    """What may end a step. A loop that begins after the same call could begin there as well."""
    words = set()
    for item in reversed(items):
        if item[0] in ("each", "chance"):
            words |= last_calls(item[2])
        elif item[0] == "loop":
            return words | last_calls(item[3])
        elif item[0] != "spin":
            return words | {item[0]}
    return words


class Maker:
    def __init__(self, kind, seed):
        self.random = random.Random(seed)
        self.kind = kind

    def operation(self, called=False):
        word = self.random.choice([o for o in OPERATIONS[self.kind] if not called or o != "spin"])
        return (word, self.random.randint(1, 4))

    def body(self):
        """At least four calls are made in each step, of which one takes time; the first operation is made always."""
        items = [("kernel" if self.kind == "gpu" else "sleep", self.random.randint(2, 4))]
        items += [self.operation() for i in range(self.random.randint(1, 3))]
        items += [self.operation(called=True) for i in range(3)]
        self.random.shuffle(items)
        if self.random.random() < 0.5:
            least = self.random.randint(1, 4)
            most = least if self.random.random() < 0.5 else least + 3
            items.insert(self.random.randint(1, len(items)),
                         ("loop", least, most, [self.operation(called=True) for i in range(self.random.randint(1, 2))]))
        if self.random.random() < 0.4:
            items.append(("each", 10, [self.operation(called=True)]))
        if self.random.random() < 0.3:
            items.insert(self.random.randint(1, len(items)), ("chance", 30, [self.operation(called=True)]))
        return items

    def program(self):
        body = self.body()
        around = [self.operation(called=True) for i in range(self.random.randint(2, 8))]
        while around[-1][0] in last_calls(body):
            around[-1] = self.operation(called=True)
        after = [self.operation(called=True) for i in range(self.random.randint(0, 4))]
        epochs = 3 if self.random.random() < 0.15 else 1
        return {"before": around, "body": body, "after": after, "epochs": epochs,
                "validate": [self.operation(called=True)], "warm": self.random.random() < 0.3,
                "steps": self.random.randint(20, 50) * {"python": 4, "mpi": 5}.get(self.kind, 1),
                "threads": self.random.random() < 0.2}


# ---- as C ----

C_HEAD = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static uint64_t ended[4096], begun[4096], last;
static int steps = -1, out, in, has_first = 1;
static uint64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}
static void mark(void)
{
	if (!has_first) {
		has_first = 1;
		begun[steps] = now();
	}
}
static void step(void)
{
	ended[++steps] = last;
	has_first = 0;
}
static volatile unsigned sink;
static void spin(int ms)
{
	uint64_t end = now() + ms * 1000000ull;
	while (now() < end)
		sink++;
}
static char bytes[65536];
static void *other(void *nothing)
{
	for (;;)
		usleep(7000);
	return nothing;
}
static unsigned long state = SEED;
static int draw(int below)
{
	state = state * 6364136223846793005ul + 1442695040888963407ul;
	return (state >> 33) % below;
}
"""
C_OPERATIONS = {
    "sleep": "usleep({n} * 1000);", "write": "if (write(out, bytes, 16384) < 0) exit(9);",
    "read": "if (read(in, bytes, sizeof(bytes)) < 0) exit(9);", "sync": "fdatasync(out);", "spin": "spin({n});",
    "open": "close(open(\"/etc/hostname\", O_RDONLY));", "poll": "poll(NULL, 0, {n});",
    "kernel": "launch({k}, {n});", "wait": "cudaDeviceSynchronize();",
    "copy": "cudaMemcpy(bytes, device, 4096, cudaMemcpyDeviceToHost);",
    "reduce": "MPI_Allreduce(bytes, bytes + 64, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);",
    "barrier": "MPI_Barrier(MPI_COMM_WORLD);", "bcast": "MPI_Bcast(bytes, 64, MPI_INT, 0, MPI_COMM_WORLD);",
}
GPU_HEAD = """
#include "cuda_stub.h"
static void nothing(const unsigned *grid, const unsigned *block, void **params) { }
static const struct simgpu_kernel kernels[] = {{"_Z2k0Pf", nothing, 0, {0}}, {"_Z2k1Pf", nothing, 0, {0}},
	{"_Z2k2Pf", nothing, 0, {0}}, {"_Z2k3Pf", nothing, 0, {0}}};
CUDA_STUB_IMAGE(kernels);
static void h0(void) { } static void h1(void) { } static void h2(void) { } static void h3(void) { }
static void *const hosts[] = {h0, h1, h2, h3};
static void *device;
static void launch(int k, unsigned ms)
{
	static cudaKernel_t handles[4];
	cuda_stub_launch(&handles[k], hosts[k], (dim3){ms * 20000, 1, 1}, (dim3){1024, 1, 1}, NULL, NULL);
}
"""


def c_items(items, depth=1, kernels=None):
    text = []
    tabs = "\t" * depth
    for item in items:
        word = item[0]
        if word == "loop":
            count = item[1] if item[1] == item[2] else "%d + draw(%d)" % (item[1], item[2] - item[1] + 1)
            text += [tabs + "for (int k = 0, n = %s; k < n; k++) {" % count, *c_items(item[3], depth + 1), tabs + "}"]
        elif word in ("each", "chance"):
            test = "i %% %d == %d" % (item[1], item[1] - 1) if word == "each" else "draw(100) < %d" % item[1]
            text += [tabs + "if (%s) {" % test, *c_items(item[2], depth + 1), tabs + "}"]
        else:
            text.append(tabs + C_OPERATIONS[word].format(n=item[1], k=item[1] - 1))
            if word != "spin":
                text.append(tabs + "mark();")
    return text


def as_c(kind, program, seed):
    lines = [C_HEAD.replace("SEED", "%dul" % (seed + 1))]
    if kind == "gpu":
        lines.append(GPU_HEAD)
    if kind == "mpi":
        lines.append("#include <mpi.h>")
    lines += ["int main(int argc, char **argv)", "{", "\tpthread_t id;", "\tFILE *file;", "\tint rank = 0;",
              "\tchar name[4096];"]
    if kind == "mpi":
        lines += ["\tMPI_Init(&argc, &argv);", "\tMPI_Comm_rank(MPI_COMM_WORLD, &rank);"]
    if kind == "gpu":
        lines.append("\tcuda_stub_begin();")
        lines += ["\tcuda_stub_kernel(h%d, kernels[%d].name);" % (i, i) for i in range(4)]
        lines += ["\tcuda_stub_end();", "\tif (cudaMalloc(&device, 4096)) exit(9);"]
    lines += ["\tsnprintf(name, sizeof(name), \"%s.data.%d\", argv[1], rank);",
              "\tout = open(name, O_CREAT | O_WRONLY | O_APPEND, 0600);", "\tin = open(\"/dev/zero\", O_RDONLY);"]
    if program["threads"]:
        lines.append("\tpthread_create(&id, NULL, other, NULL);")
    lines += c_items(program["before"])
    lines += ["\tlast = now();", "\tfor (int epoch = 0; epoch < %d; epoch++) {" % program["epochs"],
              "\t\tfor (int i = 0; i < %d; i++) {" % program["steps"], "\t\t\tstep();"]
    if program["warm"]:
        lines.append("\t\t\tif (!i && !epoch) spin(60);")
    lines += c_items(program["body"], 3)
    lines += ["\t\t\tlast = now();", "\t\t}"]
    if program["epochs"] > 1:
        lines += c_items(program["validate"], 2)
    lines += ["\t}", *c_items(program["after"])]
    if kind == "gpu":
        lines.append("\tcudaDeviceSynchronize();")
    lines += ["\tsnprintf(name, sizeof(name), \"%s.%d\", argv[1], rank);", "\tfile = fopen(name, \"w\");",
              "\tfor (int i = 0; i <= steps; i++)",
              "\t\tfprintf(file, \"%llu %llu\\n\", (unsigned long long)ended[i], (unsigned long long)begun[i]);",
              "\tfclose(file);"]
    if kind == "mpi":
        lines.append("\tMPI_Finalize();")
    return "\n".join(lines + ["\t(void)id;", "\treturn 0;", "}", ""])


# ---- as Python ----

PY_HEAD = """
import json, os, random, select, sys, threading, time
ended, begun, last = [], [], 0
def mark():
    if len(begun) < len(ended):
        begun.append(time.time_ns())
def spin(ms):
    end = time.time_ns() + ms * 1000000
    while time.time_ns() < end:
        pass
def other():
    while True:
        time.sleep(0.007)
random.seed(SEED)
bytes_ = bytes(16384)
out = os.open(sys.argv[1] + '.data', os.O_CREAT | os.O_WRONLY | os.O_APPEND)
zero = os.open('/dev/zero', os.O_RDONLY)
"""
PY_OPERATIONS = {
    "sleep": "time.sleep({n} / 1000)", "write": "os.write(out, bytes_)", "read": "os.read(zero, 65536)",
    "sync": "os.fdatasync(out)", "spin": "spin({n})", "open": "open('/etc/hostname').read()",
    "poll": "select.select([], [], [], {n} / 1000)",
}


def py_items(items, depth=0):
    text = []
    blanks = "    " * depth
    for item in items:
        word = item[0]
        if word == "loop":
            text += [blanks + "for k in range(random.randint(%d, %d)):" % item[1:3], *py_items(item[3], depth + 1)]
        elif word in ("each", "chance"):
            test = ("i %% %d == %d" % (item[1], item[1] - 1) if word == "each" else
                    "random.randrange(100) < %d" % item[1])
            text += [blanks + "if %s:" % test, *py_items(item[2], depth + 1)]
        else:
            text.append(blanks + PY_OPERATIONS[word].format(n=item[1]))
            if word != "spin":
                text.append(blanks + "mark()")
    return text


def as_python(program, seed):
    lines = [PY_HEAD.replace("SEED", str(seed))]
    if program["threads"]:
        lines.append("threading.Thread(target=other, daemon=True).start()")
    lines += py_items(program["before"])
    lines += ["last = time.time_ns()", "for epoch in range(%d):" % program["epochs"],
              "    for i in range(%d):" % program["steps"], "        ended.append(last)"]
    if program["warm"]:
        lines.append("        if not i and not epoch: spin(60)")
    lines += py_items(program["body"], 2)
    lines.append("        last = time.time_ns()")
    if program["epochs"] > 1:
        lines += py_items(program["validate"], 1)
    lines += py_items(program["after"])
    lines += ["with open(sys.argv[1] + '.0', 'w') as file:",
              "    for a, b in zip(ended, begun): print(a, b, file=file)", ""]
    return "\n".join(lines)


# ---- running ----

def make(kind, program, seed, directory):
    """The command of the program, without the name of its result."""
    if kind == "python":
        source = os.path.join(directory, "loop.py")
        with open(source, "w") as file:
            file.write(as_python(program, seed))
        return [PYTHON, source]
    source, binary = os.path.join(directory, "loop.c"), os.path.join(directory, "loop")
    with open(source, "w") as file:
        file.write(as_c(kind, program, seed))
    compiler = ["mpicc"] if kind == "mpi" else ["cc"]
    more = ["-I", os.path.join(ROOT, "tests/targets"), "-I", os.path.join(ROOT, "tests/doubles"),
            "-I", os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/include", os.path.join(DOUBLES, "libcudart.so.13")
            ] if kind == "gpu" else []
    subprocess.run(compiler + ["-g", "-O1", "-w", "-o", binary, source] + more + ["-lpthread"], check=True)
    if kind == "mpi":
        return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", binary]
    return [binary]


def environment():
    result = {name: value for name, value in os.environ.items() if not name.startswith("PILLION_")}
    result.update(PILLION_BUILD_DIR=BUILD, PYTHONDONTWRITEBYTECODE="1", LD_LIBRARY_PATH=DOUBLES,
                  OMPI_MCA_rmaps_base_oversubscribe="1")
    return result


def rows(capture, *words):
    text = subprocess.run([PILLION, *words[:1], *words[1:], "-f", "csv", "-q", capture] if words[0] == "stats" else
                          [PILLION, "query", "-f", "csv", "-q", capture, *words[1:]],
                          env=environment(), capture_output=True, text=True).stdout
    lines = [line.split(",") for line in text.splitlines() if line]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def check(capture, result, rank):
    """Right borders, those of the program, those that were found."""
    with open("%s.%s" % (result, rank or "0")) as file:
        known = [tuple(map(int, line.split())) for line in file]
    origin = int(rows(capture, "query", "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME")[0]["utcEpochNs"])
    series = [row for row in rows(capture, "stats", "-r", "steps") if row.get("Rank", "") == rank]
    found = [int(row["Start (ns)"]) + origin for row in series]
    right = at = 0
    for ended, begun in known:
        while at < len(found) and found[at] < ended - CLOCK_NS:
            at += 1
        if at < len(found) and found[at] <= begun + SHORT_NS:
            right += 1
            at += 1
    return right, len(known), len(found), series[0]["Source"] if series else "-"


def run(number, kind, seed, keep):
    with tempfile.TemporaryDirectory() as scratch:
        directory = os.path.join(keep, "%s%d" % (kind, number)) if keep else scratch
        os.makedirs(directory, exist_ok=True)
        program = Maker(kind, seed).program()
        command = make(kind, program, seed, directory)
        result, capture = os.path.join(directory, "result"), os.path.join(directory, "run.pillion")
        done = subprocess.run([PILLION, "-f", "true", "-o", capture, "--stats=false",
                               *(["-t", "mpi,osrt"] if kind == "mpi" else []), *command, result],
                              env=environment(), capture_output=True, text=True)
        if done.returncode:
            return "status %d: %s" % (done.returncode, done.stderr[-300:].replace("\n", " ")), False, (0, 1)
        sums = [check(capture, result, rank) for rank in (("0", "1") if kind == "mpi" else ("",))]
        right, known, found = (sum(s[i] for s in sums) for i in range(3))
        text = "%d of %d borders, %d found, by %s" % (right, known, found, sums[0][3])
        return text, right >= 0.8 * max(known, found), (right, max(known, found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    parser.add_argument("loops", nargs="*", type=int)
    options = parser.parse_args()
    numbers = options.loops or range(1, len(KINDS) + 1)
    failed = right = known = 0
    for number in numbers:
        kind = KINDS[number - 1]
        text, passed, borders = run(number, kind, options.seed * 1000 + number, options.keep)
        failed += not passed
        right += borders[0]
        known += borders[1]
        print("%s %d - %s: %s" % ("ok" if passed else "not ok", number, kind, text), flush=True)
    passed = right >= 0.99 * known
    print("%s %d - %d of %d borders right (%.2f %%)" % ("ok" if passed else "not ok", len(numbers) + 1, right, known,
                                                        100 * right / max(known, 1)))
    print("1..%d" % (len(numbers) + 1))
    return failed != 0 or not passed


if __name__ == "__main__":
    sys.exit(main())
