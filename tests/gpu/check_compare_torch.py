# SPDX-License-Identifier: Apache-2.0
"""Beside torch.profiler, run in turn: kernel time, and what a training step costs."""
import os

from check_compare import ROUNDS, add_nsys, cost, tell
from checks import check
from session import Wrong, account, median_of
from training import LIMIT_S as LIMIT, NODES, STEPS, training

WITHIN = 0.03


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


@check("cost of a training step", "torch", limit=5 * LIMIT)
def cost_of_step(session, seen):
    window = training(session, "--window", "5", str(STEPS), "--workers", "0", "--trace",
        os.path.join(session.scratch, "cost.json"))
    plain = [*window, "--tool", "range"]
    candidates = {"bare": lambda: cost(session.done(plain, LIMIT), "us_per_step"),
                  "pillion": lambda: cost(session.pillion(plain, timeout=LIMIT).ran, "us_per_step"),
                  "pillion, no device times": lambda: cost(session.pillion(plain, ["--gpu-activity=none"], LIMIT).ran,
                  "us_per_step"),
                  "torch.profiler": lambda: cost(session.done([*window, "--tool", "torch"], LIMIT), "us_per_step")}
    add_nsys(session, seen, candidates, plain, lambda ran: cost(ran, "us_per_step"))
    tell(seen, median_of(ROUNDS, candidates), "us")
