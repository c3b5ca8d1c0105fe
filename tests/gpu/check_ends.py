# SPDX-License-Identifier: Apache-2.0
"""Ends, forks, kills, ranges: no record is lost, and only the requested ranges are recorded."""
import collections
import os
import re

from check_programs import undisturbed
from checks import check
from session import Capture, Skip, Wrong

N = 40
FLUSH_MS = 200


def memsets(capture):
    """By their size in 10^6 bytes, with three decimals."""
    sets = [r for r in capture.trace() if r["Name"] == "[CUDA memset]"]
    counts = collections.Counter(f"{float(r['Bytes (MB)']):.3f}" for r in sets)
    return dict(counts)


def ends(session, *libraries):
    return session.program("cuda_ends.c", libraries=libraries)


@check("exit, _exit, quick_exit, exec, cudaDeviceReset and SIGKILL", "headers", "libcudart.so")
def every_end(session, seen):
    for how, status in (("return", 3), ("_exit", 3), ("quick_exit", 3), ("exec", 3), ("reset", 137)):
        capture = session.pillion([ends(session), how, str(N)], status=status)
        seen.equal(memsets(capture), {"0.004": N}, how)
    capture = session.pillion([ends(session), "handler", str(N)], status=5)
    seen.ok(memsets(capture) == {"0.004": N} or any("signal handler" in n for n in capture.notes()),
            "_exit in a signal handler: neither records nor a note")


@check("fork before and after CUDA", "headers", "libcudart.so")
def forks(session, seen):
    capture = session.pillion([ends(session), "before", str(N)])
    seen.equal(memsets(capture), {"0.001": N, "0.004": N}, "before: parent's and child's")
    seen.equal(len(capture.report("processes")), 2, "before: processes")
    capture = session.pillion([ends(session), "after", str(N)])
    seen.equal(memsets(capture), {"0.004": 2 * N}, "after: the parent's alone")


@check("capture range by cudaProfilerStart and Stop", "headers", "libcudart.so")
def ranges(session, seen):
    argv = [ends(session), "ranges", str(N)]
    seen.equal(memsets(session.pillion(argv, ["-c", "cudaProfilerApi", "--capture-range-end=repeat"])),
        {"0.004": 3 * N}, "three ranges")
    seen.equal(memsets(session.pillion(argv, ["-c", "cudaProfilerApi"])), {"0.004": N}, "the first alone")


def lines_before(text, moment):
    """The last count that was printed by a moment."""
    last = 0
    for line in text.splitlines():
        words = line.split()
        if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]) <= moment:
            last = int(words[0])
    return last


@check("SIGKILL in mid-run", "nvcc", "libcudart.so")
def killed(session, seen):
    argv = [session.program("jobs.cu"), "forever", "50"]
    capture, text, moment, late_ns = session.kill_under_pillion(argv, 2.5, [f"--cuda-flush-interval={FLUSH_MS}"])
    done, old = lines_before(text, moment), lines_before(text, moment - 2 * (FLUSH_MS * 1000000 + late_ns))
    if not old:
        raise Wrong("the program had done nothing by then")
    host, device = capture.launches(), sum(capture.kernels().values())
    seen.equal(capture.ran.status, 137, "status")
    seen.ok(host >= done, f"{host} launches recorded, {done} were done")
    seen.ok(device >= old, f"{device} kernels recorded, {old} were older than two flush intervals")
    seen.note(f"{done} launches done, {host} recorded by the host's side; {device} kernels kept, "
              f"{old} were older than {2 * FLUSH_MS} ms when it was killed, "
              f"where this machine was up to {late_ns // 1000000} ms late")


@check("a profiler inside the program", "headers", "cupti.h", "libcudart.so", "libcupti.so")
def profiler_inside(session, seen):
    program = session.program("cuda_profiler.c", libraries=["libcupti.so"])
    # What we record, and in how many steps the profiler records alone.
    wanted = {"": (["0.004", "0.016"], 1), "again": (["0.004", "0.016", "0.066"], 2), "stay": (["0.004"], 1)}
    for mode, (sizes, steps) in wanted.items():
        argv = [program, str(N), *([mode] if mode else [])]
        capture, _ = undisturbed(session, seen, argv, unmatched=steps * N)
        seen.equal(memsets(capture), {s: N for s in sizes}, f"ours ({mode or 'once'})")
        seen.ok(any("another tool used CUPTI" in n for n in capture.notes()),
                f"no gap in the ledger ({mode or 'once'})")


@check("a profiler with a subscription (cuptiSubscribe_v2)", "headers", "cupti.h", "libcudart.so", "libcupti.so")
def subscriber_inside(session, seen):
    program = session.program("cuda_profiler.c", libraries=["libcupti.so"])
    alone, shared = ["0.004", "0.016", "0.066"], ["0.004", "0.008", "0.016", "0.033", "0.066"]
    for mode in ("v2", "beside", "mixed"):
        bare = session.run([program, str(N), mode])
        if bare.status:  # the program says what its CUPTI or driver lacks
            ran = session.pillion([program, str(N), mode], status=bare.status).ran
            seen.equal(ran.out, bare.out, f"{mode}: its output")
            seen.note(f"{mode}: refused without us, too: {bare.out.splitlines()[-1]}")
            continue
        capture = session.pillion([program, str(N), mode])
        sizes, is_shared = memsets(capture), any("CUPTI is shared" in n for n in capture.notes())
        seen.equal(capture.ran.out, bare.out, f"{mode}: its output, with the number of its records")
        seen.equal(sizes, {s: N for s in (shared if is_shared else alone)}, f"{mode}: ours")
        seen.equal(capture.unmatched(), (0 if is_shared else 2 * N, 0), f"{mode}: unmatched")
        seen.note(f"{mode}: {'both record' if is_shared else 'the program alone records'}")


def under_tool(session, seen, tool):
    """The tool in front of pillion, and pillion in front of the tool."""
    argv = [session.program("jobs.cu"), "streams", "5"]
    bare = session.done(argv)
    alone = session.run([*tool, *argv], timeout=60)
    if alone.status:
        raise Skip(f"{os.path.basename(tool[0])} does not work here: {(alone.out + alone.err).strip()[-200:]}")
    path, inside = session.capture_path(), session.capture_path()
    recorded_with_tool(session, seen, [*tool, *session.pillion_line(path, argv)], path, bare)
    recorded_with_tool(session, seen, session.pillion_line(inside, [*tool, *argv]), inside, bare)


def recorded_with_tool(session, seen, line, path, bare):
    ran = session.done(line, timeout=120)
    rows = re.findall(r"kernel:\S+ \d+ \d+", ran.out)  # ncu's progress may be on the same line
    seen.equal(sorted(rows), sorted(bare.out.splitlines()), "the program's output")
    capture = Capture(session, path, ran)
    notes = capture.notes()
    seen.ok(any("nsys or ncu" in n or "another tool" in n or "CUPTI" in n for n in notes),
        f"the ledger does not name the reason: {notes}")
    seen.equal(capture.launches(), 20, "launches by the host")
    seen.note("; ".join(notes)[:200])


@check("under ncu", "ncu", "nvcc", "libcudart.so", "real", limit=120)
def under_ncu(session, seen):
    under_tool(session, seen, [session.machine.ncu, "--metrics", "gpu__time_duration.sum", "--target-processes", "all"])


@check("under nsys", "nsys", "nvcc", "libcudart.so", "real", limit=120)
def under_nsys(session, seen):
    under_tool(session, seen, [session.machine.nsys, "profile", "-t", "cuda", "-f", "true", "-o", session.capture_path()
        + ".nsys"])
