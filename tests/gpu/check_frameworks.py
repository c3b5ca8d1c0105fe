# SPDX-License-Identifier: Apache-2.0
"""PyTorch, JAX, Triton and CuPy: the same results as bare, and as many kernels of each name as CUPTI counts in another
run."""
import os

from check_ends import FLUSH_MS, lines_before
from checks import check
from session import Wrong, account, kernels_of
from training import LIMIT_S as LIMIT, NODES, STEPS, script, training


def results(text):
    """What does not depend on how long it took."""
    return [line for line in text.splitlines() if not line.startswith("us_per_step")]


def against_cupti(session, seen, argv, has_graphs=False):
    """Bare, under pillion, and under CUPTI's own count. has_graphs: some calls are captured: they have no device
    record."""
    bare = session.done(argv, LIMIT)
    capture = session.pillion(argv, NODES, LIMIT)
    seen.equal(results(capture.ran.out), results(bare.out), "its output")
    counted = kernels_of(session.by_cupti(argv, LIMIT))
    seen.equal(capture.kernels(), counted, "kernels, against CUPTI's own count")
    seen.ok(counted, "no kernel at all")
    seen.equal(capture.ledger("device records dropped"), 0, "dropped")
    seen.equal(capture.unmatched()[1], 0, "device records without a call")
    if not has_graphs:
        seen.equal(capture.unmatched()[0], 0, "calls without a device record")
    own = {n: c for n, c in kernels_of(account(bare.out)).items() if capture.kernels().get(n) != c}
    seen.equal(own, {}, "kernels that the program counted itself")
    seen.note(f"{sum(counted.values())} kernels of {len(counted)} names, {capture.launches()} launches by the host, "
              f"{capture.unmatched()[0]} calls without a device record")
    return capture


@check("PyTorch training, DataLoader workers", "torch", "cupti.h", limit=LIMIT)
def torch_training(session, seen):
    capture = against_cupti(session, seen, training(session))
    processes = capture.report("processes")
    seen.ok(len(processes) >= 3, f"{len(processes)} processes, with two workers")
    seen.note(f"{len(processes)} processes")
    for report in ("blas_sum", "cudnn_sum"):
        seen.note(f"{report}: {sum(capture.calls(report).values())} calls")


@check("torch.profiler inside the job", "torch", limit=LIMIT)
def torch_profiler(session, seen):
    argv = training(session, "--window", "8", "12", "--tool", "torch", "--maps")
    bare = session.done([*argv, "--trace", os.path.join(session.scratch, "bare.json")], LIMIT)
    capture = session.pillion([*argv, "--trace", os.path.join(session.scratch, "ours.json")], NODES, LIMIT)
    wanted, got = kernels_of(account(bare.out)), kernels_of(account(capture.ran.out))
    seen.ok(wanted, "torch.profiler has no kernels even without us")
    seen.equal(got, wanted, "its kernels, with us and without")
    gaps = [n for n in capture.notes() if "another tool used CUPTI" in n]
    seen.ok(gaps, "no gap in the ledger")
    whole = session.pillion(training(session), NODES, LIMIT)
    outside = sum(whole.kernels().values()) - sum(wanted.values())
    seen.equal(sum(capture.kernels().values()), outside, "kernels before and after it")
    seen.note(f"{sum(wanted.values())} kernels in its trace, {outside} in ours; {'; '.join(gaps)[:160]}")
    for line in bare.out.splitlines():
        if line.startswith("maps") and "libcupti" in line:
            seen.note(line)


@check("PyTorch, capture range", "torch", limit=LIMIT)
def torch_range(session, seen):
    window = ["--window", "8", "12"]
    profiled = session.done(training(session, *window, "--tool", "torch", "--trace",
        os.path.join(session.scratch, "range.json")), LIMIT)
    capture = session.pillion(training(session, *window, "--tool", "range"), ["-c", "cudaProfilerApi", *NODES], LIMIT)
    seen.equal(sum(capture.kernels().values()), sum(kernels_of(account(profiled.out)).values()),
        "kernels of four steps, against torch.profiler")


@check("PyTorch, out of memory", "torch", limit=LIMIT)
def torch_oom(session, seen):
    argv = training(session, "--oom", "--workers", "0")
    bare, capture = session.done(argv, LIMIT), session.pillion(argv, timeout=LIMIT)
    seen.equal(results(capture.ran.out), results(bare.out), "its output")


@check("PyTorch, SIGKILL in mid-training", "torch", limit=LIMIT)
def torch_killed(session, seen):
    argv = script(session, "torch_train.py", "--forever", "--workers", "0")
    capture, text, moment, late_ns = session.kill_under_pillion(argv, 4, [f"--cuda-flush-interval={FLUSH_MS}", *NODES],
        LIMIT)
    done, old = lines_before(text, moment), lines_before(text, moment - 2 * (FLUSH_MS * 1000000 + late_ns))
    whole = session.pillion(training(session, "--workers", "0"), NODES, LIMIT)
    per_step = sum(whole.kernels().values()) / STEPS
    if not old or not per_step:
        raise Wrong(f"{old} steps, {per_step} kernels in each: nothing to compare")
    device, host = sum(capture.kernels().values()), capture.launches()
    seen.ok(device >= 0.9 * old * per_step, f"{device} kernels kept of {old} steps of {per_step:.1f}")
    seen.note(f"{done} steps done, {old} older than two flush intervals, {device} kernels and {host} launches kept")


@check("Triton", "triton", "torch", "cupti.h", limit=LIMIT)
def triton(session, seen):
    session.done(script(session, "triton_add.py", "1"), LIMIT)  # compiles, once
    against_cupti(session, seen, script(session, "triton_add.py", "50"))


@check("JAX, jit", "jax", "cupti.h", limit=LIMIT)
def jax(session, seen):
    against_cupti(session, seen, script(session, "jax_jit.py", "20"))


@check("JAX, command buffers", "jax", "cupti.h", limit=LIMIT)
def jax_graphs(session, seen):
    argv = script(session, "jax_jit.py", "20", "graphs")
    capture = against_cupti(session, seen, argv, True)
    graphs = sum(capture.calls(pattern=r"^cu(da)?GraphLaunch").values())
    seen.ok(graphs, "no graph was launched: XLA's options may have changed")
    seen.note(f"{graphs} launches of graphs")


@check("PyTorch, a graph for each batch size", "torch", "cupti.h", limit=LIMIT)
def torch_graphs(session, seen):
    argv, launched = script(session, "torch_graphs.py", "6", "20"), 6 * 20
    against_cupti(session, seen, argv, True)
    whole = session.pillion(argv, ["--cuda-graph-trace=graph"], LIMIT)
    seen.equal(sum(r["Name"].startswith("[CUDA graph") for r in whole.trace()), launched, "graphs as wholes")
    seen.equal(sum(whole.calls(pattern=r"^cu(da)?GraphLaunch").values()), launched, "launches of graphs by the host")


@check("CuPy", "cupy", "cupti.h", limit=LIMIT)
def cupy(session, seen):
    session.done(script(session, "cupy_add.py", "1"), LIMIT)
    against_cupti(session, seen, script(session, "cupy_add.py", "50"))
