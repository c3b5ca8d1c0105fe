#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kernels.py [--seed=N] [--programs=N] [--runs=N]: whether `pillion whatif` predicts how long a run takes if a kernel
becomes faster or slower.

Each of 8 programs for the simulated GPU, made from a seed, launches five kernels on two streams with events between
them, copies, waits for the device and sleeps. For each kernel, `kernel~NAME=FACTORx` is computed from one recording,
and the program runs with a kernel that takes that part of its time. Of N runs (4) of each, the shortest counts. The
error is that of the predicted time of the run. Prints TAP: the median error is at most 5 %, the largest 10 %, and in
90 % of the programs the three kernels that save most if they take half of their time are predicted in this order, as
far as real savings differ by 3 % of the run, and by twice as much as two runs of one kind do."""
import argparse
import csv
import io
import os
import random
import shutil
import subprocess
import sys
import tempfile

import steps

KERNELS = 5
FACTORS = [0.5, 0.5, 0.5, 0.25, 2.0]
HEAD = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "cuda_stub.h"
static void nothing(const unsigned *grid, const unsigned *block, void **params) { }
static const struct simgpu_kernel kernels[] = {%s};
CUDA_STUB_IMAGE(kernels);
%s
static void *const hosts[] = {%s};
static char bytes[65536];
static double factors[] = {1, 1, 1, 1, 1};
static cudaStream_t streams[2];
static void launch(int k, unsigned us, int stream)
{
	static cudaKernel_t handles[%d];
	unsigned blocks = us * 62.5 * factors[k];
	cuda_stub_launch(&handles[k], hosts[k], (dim3){blocks, 1, 1}, (dim3){1024, 1, 1}, streams[stream], NULL);
}
""" % (", ".join('{"_Z5kern%dPf", nothing, 0, {0}}' % i for i in range(KERNELS)),
       " ".join("static void h%d(void) { }" % i for i in range(KERNELS)),
       ", ".join("h%d" % i for i in range(KERNELS)), KERNELS)


def body(draw):
    """Lines of one step."""
    lines = []
    for kernel in draw.sample(range(KERNELS), KERNELS):
        for again in range(draw.randint(1, 3)):
            lines.append("launch(%d, %d, %d);" % (kernel, draw.randint(500, 4000), draw.random() < 0.3))
        word = draw.choice(["", "", "sleep", "event", "copy", "wait"])
        if word == "sleep":
            lines.append("usleep(%d);" % draw.randint(500, 5000))
        elif word == "event":
            lines += ["cudaEventRecord(event, streams[1]);", "cudaStreamWaitEvent(streams[0], event, 0);"]
        elif word == "copy":
            lines.append("cudaMemcpyAsync(device, bytes, 65536, cudaMemcpyHostToDevice, streams[0]);")
        elif word == "wait":
            lines.append("cudaStreamSynchronize(streams[%d]);" % draw.randint(0, 1))
    lines += ["cudaDeviceSynchronize();", "usleep(%d);" % draw.randint(500, 4000)]
    return lines


def source(draw):
    lines = [HEAD, "int main(int argc, char **argv)", "{", "\tvoid *device;", "\tcudaEvent_t event;",
             "\tif (argc > 2)", "\t\tfactors[atoi(argv[1])] = atof(argv[2]);", "\tcuda_stub_begin();"]
    lines += ["\tcuda_stub_kernel(h%d, kernels[%d].name);" % (i, i) for i in range(KERNELS)]
    lines += ["\tcuda_stub_end();", "\tif (cudaMalloc(&device, 65536)) return 9;",
              "\tfor (int i = 0; i < 2; i++)", "\t\tcudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);",
              "\tcudaEventCreateWithFlags(&event, cudaEventDisableTiming);",
              "\tfor (int i = 0; i < %d; i++) {" % draw.randint(20, 30)]
    return "\n".join(lines + ["\t\t" + line for line in body(draw)] + ["\t}", "\treturn 0;", "}", ""])


def table(*words):
    text = subprocess.run([steps.PILLION, *words, "-q", "-f", "csv"], env=steps.environment(), capture_output=True,
                          text=True).stdout
    return list(csv.DictReader(io.StringIO(text)))


def record(binary, capture, *words):
    """The length of the run in ns."""
    subprocess.run([steps.PILLION, "-f", "true", "-o", capture, "--stats=false", "-s", "none", binary, *words],
                   env=steps.environment(), capture_output=True, check=True)
    return sum(int(row["Time (ns)"]) for row in table("critical", capture))


def real_time(binary, capture, runs, noise, *words):
    """The shortest run. Adds to `noise` by how much the next one is longer."""
    times = sorted(record(binary, capture, *words) for i in range(runs))
    noise.append(times[1] - times[0])
    return times[0]


def compare(number, draw, runs):
    """The errors of the edits, and whether the order is right."""
    errors, savings, noise = [], [], []
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "program")
        with open(path + ".c", "w") as file:
            file.write(source(draw))
        subprocess.run(["cc", "-g", "-O1", "-w", "-o", path, path + ".c", "-I",
                        os.path.join(steps.ROOT, "tests/targets"), "-I", os.path.join(steps.ROOT, "tests/doubles"),
                        "-I", os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/include",
                        os.path.join(steps.DOUBLES, "libcudart.so.13")], check=True)
        capture, other = path + ".pillion", path + ".other.pillion"
        before = record(path, capture)
        for again in range(runs - 1):
            time = record(path, other)
            if time < before:
                shutil.rmtree(capture)
                os.rename(other, capture)
                before = time
        for kernel in range(KERNELS):
            for factor in {0.5, FACTORS[(kernel + number) % KERNELS]}:
                row = table("whatif", capture, "kernel~kern%d=%gx" % (kernel, factor))[0]
                predicted = float(row["After (ns)"])
                real = real_time(path, other, runs, noise, str(kernel), str(factor))
                error = predicted / real - 1
                if factor == FACTORS[(kernel + number) % KERNELS]:
                    errors.append(abs(error))
                if factor == 0.5:
                    savings.append((before - real, before - predicted, kernel))
                print("# program %d, kern%d=%gx: %.1f ms, predicted %.1f, real %.1f: %+.1f %%" %
                      (number, kernel, factor, before / 1e6, predicted / 1e6, real / 1e6, 100 * error), flush=True)
    wanted = sorted(savings, reverse=True)[:3]
    found = sorted(savings, key=lambda s: -s[1])[:3]
    same = max(0.03 * before, 2 * sorted(noise)[len(noise) // 2])
    return errors, all(abs(a[0] - b[0]) < same for a, b in zip(wanted, found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=8)
    parser.add_argument("--runs", type=int, default=4)
    options = parser.parse_args()
    errors, orders = [], []
    for number in range(options.programs):
        found, is_ordered = compare(number, random.Random(options.seed * 1000 + number), options.runs)
        errors += found
        orders.append(is_ordered)
    errors.sort()
    median = errors[len(errors) // 2]
    checks = [(median <= 0.05, "%d edits of kernels: the median error is %.1f %%" % (len(errors), 100 * median)),
              (errors[-1] <= 0.1, "the largest error is %.1f %%" % (100 * errors[-1])),
              (sum(orders) >= 0.9 * len(orders), "the order of the first three is right in %d of %d programs" %
               (sum(orders), len(orders)))]
    for i, (passed, text) in enumerate(checks):
        print("%s %d - %s" % ("ok" if passed else "not ok", i + 1, text))
    print("1..%d" % len(checks))
    return not all(passed for passed, text in checks)


if __name__ == "__main__":
    sys.exit(main())
