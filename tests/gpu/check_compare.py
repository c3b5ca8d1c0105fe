# SPDX-License-Identifier: Apache-2.0
"""Beside other tools, run in turn: counts by CUPTI itself and by ncu, and what a launch costs."""
import collections
import csv
import io
import os

from checks import check
from session import Skip, Wrong, account, kernels_of, median_of
from training import NODES

ROUNDS = 3


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
    ran = session.run([session.machine.ncu, "--csv", "--print-kernel-base", "mangled", "--clock-control", "none",
                       "--metrics", "gpu__time_duration.sum", *argv], timeout=140)
    if ran.status or "ERR_NVGPUCTRPERM" in ran.out + ran.err:
        raise Skip("ncu does not work here: " + (ran.out + ran.err).strip()[-200:])
    rows = ran.out[ran.out.find('"ID"'):]
    by_ncu = collections.Counter(r["Kernel Name"] for r in csv.DictReader(io.StringIO(rows)) if r.get("Kernel Name"))
    if not by_ncu:
        raise Wrong("ncu printed no kernels: " + ran.out[-300:])
    seen.equal(session.pillion(argv, NODES).kernels(), dict(by_ncu), "kernels")
    seen.note(f"{sum(by_ncu.values())} kernels by ncu")


@check("energy, against NVML's own counter", "nvcc", "libcudart.so", "real")
def energy(session, seen):
    capture = session.pillion([session.program("jobs.cu"), "burn", "5"], ["--energy=true"])
    rows, counted = capture.report("energy_sum"), account(capture.ran.out)
    mj, ns = counted["mJ"][0], counted["ns"][0]
    if not mj:
        raise Skip("NVML has no counter of energy here")
    seen.equal(len(rows), 1, "devices")
    # Before and after the multiplications the device is idle or starts: only the time when it was busy is compared.
    busy = float(rows[0]["Busy (J)"])
    seen.ok(abs(busy / (mj / 1e3) - 1) < 0.1, f"{busy:.1f} J while busy, NVML's counter has {mj / 1e3:.1f} J")
    seen.figure("energy while busy, over NVML's counter", busy / (mj / 1e3), "")
    seen.note(f"{busy:.1f} J while busy, by NVML's counter {mj / 1e3:.1f} J in {ns / 1e9:.2f} s; "
              f"{rows[0]['Energy (J)']} J in all, at most {rows[0]['Max (W)']} W")


def cost(ran, name):
    return account(ran.out)[name][0]


def cost_and_mean(seen, name, ran):
    """The median of a run's batches; their mean, which includes flushes, is added to the figures."""
    seen.figure(name + ", mean of a run", cost(ran, "ns_per_launch_mean"), "ns")
    return cost(ran, "ns_per_launch")


def tell(seen, took, unit, bare="bare"):
    for name, value in took.items():
        seen.figure(name, value, unit)
        if name != bare:
            seen.figure(name + " over " + bare, value - took[bare], unit)
    seen.note(", ".join(f"{name} {value:.0f} {unit}" for name, value in took.items()))


def add_nsys(session, seen, candidates, argv, figure):
    """nsys, if there is one that works."""
    def line():
        return [session.machine.nsys, "profile", "-t", "cuda,cublas,cudnn", "-s", "none", "-o", session.capture_path()
            + ".nsys", *argv]

    if not session.machine.nsys or session.machine.is_simulated:
        return
    ran = session.run(line(), 120)
    if ran.status:
        seen.note("nsys does not work here: " + (ran.out + ran.err).strip()[-120:])
    else:
        candidates["nsys"] = lambda: figure(session.done(line(), 120))


@check("cost of a launch", "nvcc", "libcudart.so", limit=200)
def cost_of_launch(session, seen):
    argv = [session.program("jobs.cu"), "launches", "41" if session.machine.is_simulated else "401"]
    counter = None if session.machine.lacks("cupti.h") else session.program("cupti_count.c", name="libcupti_count.so",
        cudart="none", shared=True)

    def under(name, *options):
        return lambda: cost_and_mean(seen, name, session.pillion(argv, options).ran)

    capture = session.pillion(argv)
    launched = kernels_of(account(capture.ran.out))
    seen.equal(capture.kernels(), launched, "kernels")
    seen.equal(capture.launches(), sum(launched.values()), "launches by the host")
    seen.equal(capture.unmatched(), (0, 0), "calls and device records that do not match")
    candidates = {"bare": lambda: cost_and_mean(seen, "bare", session.done(argv)),
                  "pillion": under("pillion"),
                  "pillion, no device times": under("pillion, no device times", "--gpu-activity=none"),
                  "pillion, nothing recorded": under("pillion, nothing recorded", "-t", "none")}
    if counter:
        env = {**session.machine.injection(counter), "CUPTI_COUNT": os.path.join(session.scratch, "cost.count")}
        candidates["CUPTI alone"] = lambda: cost_and_mean(seen, "CUPTI alone", session.done(argv, env=env))
    add_nsys(session, seen, candidates, argv, lambda ran: cost(ran, "ns_per_launch"))
    tell(seen, median_of(ROUNDS, candidates), "ns")


@check("cost of a captured launch", "nvcc", "libcudart.so", limit=120)
def cost_of_captured(session, seen):
    argv = [session.program("jobs.cu"), "captured", "41" if session.machine.is_simulated else "401"]

    def under(*options):
        return lambda: cost(session.pillion(argv, options).ran, "ns_per_launch")

    capture, launched = session.pillion(argv), 500 * int(argv[2])
    seen.equal(capture.launches(), launched, "launches by the host")
    seen.equal(capture.unmatched(), (launched, 0), "captured launches, and device records without a call")
    seen.equal(capture.kernels(), {}, "kernels")
    candidates = {"bare": lambda: cost(session.done(argv), "ns_per_launch"), "pillion": under(),
                  "pillion, nothing recorded": under("-t", "none")}
    tell(seen, median_of(ROUNDS, candidates), "ns")


@check("cost of correlation, both ways", "nvcc", "libcudart.so", "cupti.h", "libcupti.so")
def cost_of_correlation(session, seen):
    probe = session.program("probe.cu", libraries=["libcupti.so"])
    ways = {"bare": "none", "kernel records": "kernels", "and records of the launches": "some",
        "and of all calls": "calls",
            "and external ids pushed": "external"}
    tell(seen, median_of(ROUNDS, {name: (lambda w=way: cost_line(session.done([probe, "cost", w]))) for name,
        way in ways.items()}), "ns")


def cost_line(ran):
    return float(ran.out.split("ns_per_launch")[1].split()[0])
