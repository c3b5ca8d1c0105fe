#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""operators.py [--steps N]: a transformer and a CNN on the CPU under pillion with --pytorch=autograd-nvtx. Every other
step is profiled by torch.profiler, and pillion records the others: calls must be equal, own CPU time of operators
above 1 ms a step within 10 %. NIGHTLY_PYTHON: a Python that has PyTorch."""
import argparse
import collections
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("PILLION_BUILD_DIR", os.path.join(ROOT, "build"))
PROGRAM = """
import collections, json, sys, torch
torch.set_num_threads(1)
def make():
    if sys.argv[1] == "transformer":
        layer = torch.nn.TransformerEncoderLayer(256, 4, 512, batch_first=True)
        return torch.nn.TransformerEncoder(layer, 2), torch.randn(8, 64, 256)
    return torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3), torch.nn.BatchNorm2d(32), torch.nn.ReLU(),
        torch.nn.MaxPool2d(2), torch.nn.Conv2d(32, 64, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(), torch.nn.Linear(64, 10)), torch.randn(16, 3, 48, 48)
def step():
    optimizer.zero_grad()
    net(data).pow(2).mean().backward()
    optimizer.step()
def profiler():
    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
with profiler():
    net, data = make()
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    step(), step()
rows = collections.defaultdict(list)
for i in range(int(sys.argv[2])):
    if i % 2:
        step()
    with profiler() as profile:
        step()
    for e in sorted(profile.events(), key=lambda e: e.time_range.start):
        rows[e.name].append(e.self_cpu_time_total * 1000)
    if i % 2 == 0:
        step()
json.dump(rows, open(sys.argv[3], "w"))
"""


def typical(calls, steps):
    """Own time of a step: each call's median over the steps, because other programs interrupt some of them."""
    each = len(calls) // steps
    return sum(statistics.median(calls[i::each]) for i in range(each))


def recorded(python, program, steps, folder):
    """What torch.profiler and what pillion has: operator to the own times in ns of its calls in their order."""
    capture, path = os.path.join(folder, "ours.pillion"), os.path.join(folder, "theirs.json")
    # Otherwise large tensors are mapped anew in some steps, and their page faults dominate.
    os.environ.update(MALLOC_MMAP_THRESHOLD_="1073741824", MALLOC_TRIM_THRESHOLD_="4294967296")
    subprocess.run([os.path.join(ROOT, "scripts", "pillion"), "--stats=false", "-f", "true", "-o", capture,
        "-t", "nvtx", "--pytorch=autograd-nvtx", python, "-c", PROGRAM, program, str(steps), path], check=True,
        stderr=subprocess.DEVNULL)
    text = subprocess.run([os.path.join(BUILD, "report", "pillion-report"), "stats", "-q", "-r", "nvtx_pushpop_trace",
        "-f", "json", capture], check=True, stdout=subprocess.PIPE).stdout
    ours, ranges, kept = collections.defaultdict(list), {}, []
    for row in sorted(json.loads(text), key=lambda r: (r["Start (ns)"], r["Lvl"])):
        outer = ranges.get((row["TID"], row["ParentId"]))
        # torch.profiler counts an operator that only calls one of its own name once.
        if outer and outer["Name"] == row["Name"] and outer["NumChild"] == 1:
            outer["DurNonChild (ns)"] += row["DurNonChild (ns)"]
            outer["NumChild"] = row["NumChild"]
        else:
            kept.append(row)
            outer = row
        ranges[row["TID"], row["RangeId"]] = outer
    for row in kept:
        ours[row["Name"]].append(row["DurNonChild (ns)"])
    with open(path, encoding="utf-8") as file:
        return json.load(file), ours


def check(fact, text, *found):
    print("ok -" if fact else "not ok -", text)
    for line in found:
        print("#", line)
    return bool(fact)


def compare(python, program, steps, folder):
    theirs, ours = recorded(python, program, steps, folder)
    calls = [f"{n}: {len(ours.get(n, []))}, torch.profiler {len(theirs.get(n, []))}" for n in {*ours, *theirs}
        if len(ours.get(n, [])) != len(theirs.get(n, []))]
    if not check(len(theirs) > 40 and not calls, f"{program}: calls of {len(theirs)} operators", *calls):
        return False
    times = {n: (typical(ours[n], steps), typical(theirs[n], steps)) for n in theirs}
    large = {n: (a / b, b / 1e6) for n, (a, b) in times.items() if b > 1e6}
    worst = max((abs(ratio - 1) for ratio, _ in large.values()), default=1)
    return check(worst <= 0.1, f"{program}: own CPU time of {len(large)} operators above 1 ms a step within 10 %, "
        f"at most {worst:.1%}", *[f"{n}: {ratio:.3f} of {ms:.1f} ms" for n, (ratio, ms) in large.items()])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    python, options = os.environ.get("NIGHTLY_PYTHON", sys.executable), parser.parse_args()
    if subprocess.run([python, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
        print("1..0 # SKIP no PyTorch; NIGHTLY_PYTHON names a Python that has it")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        passed = [compare(python, p, options.steps, folder) for p in ("transformer", "cnn")]
    print("1..4")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
