# SPDX-License-Identifier: Apache-2.0
"""Beside other tools, run in turn: counts by ncu, times by torch.profiler, and what each costs."""
import collections
import csv
import io
import os

from check_frameworks import LIMIT, NODES, STEPS, training
from checks import check
from session import Wrong, account, kernels_of, median_of

ROUNDS = 3
LAUNCHES = 20000
WITHIN = 0.03


@check("kernels, against CUPTI's own count", "nvcc", "libcudart.so", "cupti.h", "libcupti.so")
def against_cupti(session, seen):
    argv = [session.program("cuda_launches.cu"), "25"]
    counted = session.by_cupti(argv)
    capture = session.pillion(argv, NODES)
    seen.equal(capture.kernels(), kernels_of(counted), "kernels")
    works = capture.works()
    copies = sum(count for name, count in works.items() if "memcpy" in name)
    seen.equal(copies, int(counted["memcpy"][0]), "copies")
    seen.equal(works.get("[CUDA memset]", 0), int(counted["memset"][0]), "memsets")
    seen.equal(int(counted["dropped"][0]), 0, "dropped by CUPTI in its own run")
    seen.note(f"{sum(kernels_of(counted).values())} kernels, {copies} copies")


@check("kernels, against ncu", "ncu", "nvcc", "libcudart.so", "real", limit=150)
def against_ncu(session, seen):
    argv = [session.program("cuda_launches.cu"), "3"]
    ran = session.done([session.machine.ncu, "--csv", "--print-kernel-base", "mangled", "--clock-control", "none",
                        "--metrics", "gpu__time_duration.sum", *argv], timeout=140)
    rows = ran.out[ran.out.find('"ID"'):]
    by_ncu = collections.Counter(r["Kernel Name"] for r in csv.DictReader(io.StringIO(rows)) if r.get("Kernel Name"))
    if not by_ncu:
        raise Wrong("ncu printed no kernels: " + ran.out[-300:])
    seen.equal(session.pillion(argv, NODES).kernels(), dict(by_ncu), "kernels")
    seen.note(f"{sum(by_ncu.values())} kernels by ncu")


@check("kernel time, against torch.profiler", "torch", limit=3 * LIMIT)
def kernel_time(session, seen):
    # The same steps by both: the range of the one is the window of the other.
    window = training(session, "--window", "5", str(STEPS), "--workers", "0")
    trace = os.path.join(session.scratch, "time.json")

    def by_torch():
        return account(session.done([*window, "--tool", "torch", "--trace", trace], LIMIT).out)["profiled"][1]

    def by_pillion():
        return session.pillion([*window, "--tool", "range"], ["-c", "cudaProfilerApi", *NODES], LIMIT).kernel_ns()

    took = median_of(ROUNDS, {"torch.profiler": by_torch, "pillion": by_pillion})
    if not took["torch.profiler"]:
        raise Wrong("torch.profiler has no kernels")
    ratio = took["pillion"] / took["torch.profiler"]
    seen.ok(abs(ratio - 1) <= WITHIN, f"pillion has {ratio:.4f} of torch.profiler's kernel time")
    seen.figure("kernel time, pillion over torch.profiler", ratio, "")
    seen.note(f"{took['pillion'] / 1e6:.3f} ms against {took['torch.profiler'] / 1e6:.3f} ms, medians of {ROUNDS}")


def cost(ran, name):
    return account(ran.out)[name][0]


def tell(seen, took, unit, bare="bare"):
    for name, value in took.items():
        seen.figure(name, value, unit)
        if name != bare:
            seen.figure(name + " over " + bare, value - took[bare], unit)
    seen.note(", ".join(f"{name} {value:.0f} {unit}" for name, value in took.items()))


@check("cost of a launch", "nvcc", "libcudart.so", limit=200)
def cost_of_launch(session, seen):
    argv = [session.program("jobs.cu"), "launches", str(LAUNCHES // 20 if session.machine.is_simulated else LAUNCHES)]
    counter = None if session.machine.lacks("cupti.h") else session.program("cupti_count.c", name="libcupti_count.so", cudart="none", shared=True)

    def under(*options):
        return lambda: cost(session.pillion(argv, options).ran, "ns_per_launch")

    candidates = {"bare": lambda: cost(session.done(argv), "ns_per_launch"),
                  "pillion": under(),
                  "pillion, no device times": under("--gpu-activity=none"),
                  "pillion, nothing recorded": under("-t", "none")}
    if counter:
        env = {**session.machine.injection(counter), "CUPTI_COUNT": os.path.join(session.scratch, "cost.count")}
        candidates["CUPTI alone"] = lambda: cost(session.done(argv, env=env), "ns_per_launch")
    if session.machine.nsys and not session.machine.is_simulated:
        candidates["nsys"] = lambda: cost(session.done([session.machine.nsys, "profile", "-t", "cuda", "-s", "none", "-o",
                                                        session.capture_path() + ".nsys", *argv], 120), "ns_per_launch")
    tell(seen, median_of(ROUNDS, candidates), "ns")


@check("cost of a training step", "torch", limit=5 * LIMIT)
def cost_of_step(session, seen):
    window = training(session, "--window", "5", str(STEPS), "--workers", "0", "--trace", os.path.join(session.scratch, "cost.json"))
    plain = [*window, "--tool", "range"]
    candidates = {"bare": lambda: cost(session.done(plain, LIMIT), "us_per_step"),
                  "pillion": lambda: cost(session.pillion(plain, timeout=LIMIT).ran, "us_per_step"),
                  "torch.profiler": lambda: cost(session.done([*window, "--tool", "torch"], LIMIT), "us_per_step")}
    if session.machine.nsys:
        candidates["nsys"] = lambda: cost(session.done([session.machine.nsys, "profile", "-t", "cuda,cublas,cudnn", "-s", "none", "-o",
                                                        session.capture_path() + ".nsys", *plain], LIMIT), "us_per_step")
    tell(seen, median_of(ROUNDS, candidates), "us")


@check("cost of correlation, both ways", "nvcc", "libcudart.so", "cupti.h", "libcupti.so")
def cost_of_correlation(session, seen):
    probe = session.program("probe.cu", libraries=["libcupti.so"])
    ways = {"bare": "none", "kernel records": "kernels", "and records of the launches": "some", "and of all calls": "calls",
            "and external ids pushed": "external"}
    tell(seen, median_of(ROUNDS, {name: (lambda w=way: cost_line(session.done([probe, "cost", w]))) for name, way in ways.items()}), "ns")


def cost_line(ran):
    return float(ran.out.split("ns_per_launch")[1].split()[0])
