# SPDX-License-Identifier: Apache-2.0
"""Small programs that count what they do: what was recorded is what they did, and they notice nothing."""
import collections

from checks import check
from session import Skip, account, kernels_of

ROUNDS = 25
# One launch of the graph of cuda_launches.
IN_GRAPH = {"kernel:_Z3addPfi": 1, "kernel:_Z5scalePffi": 1, "memcpy:DtoD": 1, "memset": 1}
CAPTURED = sum(IN_GRAPH.values())


def recorded(session, seen, argv, options, **more):
    """If a process has no library loaded that leads to a libcupti, sets the path of one; the table then notes
    that."""
    capture = session.pillion(argv, options, **more)
    if not any("there is no libcupti" in note for note in capture.notes()):
        return capture
    session.need("libcupti.so")
    seen.note("finds no libcupti by itself; with LD_LIBRARY_PATH:")
    return session.pillion(argv, options, **{**more, "env": {**(more.get("env") or {}),
        "LD_LIBRARY_PATH": session.machine.with_library("libcupti.so")}})


def undisturbed(session, seen, argv, options=(), unmatched=0, **more):
    """The command bare and under pillion: same output, same status. Gives the capture and the program's own account.
    unmatched: the number of its launches, copies and memsets that have no device record, because they are captured into
    a graph or while another tool records."""
    bare = session.done(argv, **more)
    capture = recorded(session, seen, argv, options, **more)
    seen.equal(capture.ran.out, bare.out, "its output")
    said = [line for line in capture.ran.err.splitlines() if not line.startswith("pillion: ")]
    seen.equal(said, bare.err.splitlines(), "its stderr")
    lost = sum(map(capture.ledger, ("lost", "device records dropped", "device buffers unreadable")))
    seen.equal(lost, 0, "lost or dropped")
    seen.equal(capture.unmatched(), (unmatched, 0), "calls and device records that do not match")
    return capture, account(bare.out)


def equal_work(seen, capture, rows, without=None):
    """Device records against the program's own account, less what is `without` of it: (times, rows)."""
    left = collections.Counter({name: int(count) for name, (count, _) in rows.items()})
    times, inside = without or (0, {})
    for name, count in inside.items():
        left[name] -= times * count
    seen.equal(capture.kernels(), kernels_of({n: (c, 0) for n, c in left.items()}), "kernels by CUPTI")
    if seen.problems:
        seen.note("the ledger: " + "; ".join(capture.losses()))
    works = {"[CUDA memcpy %s]" % kind: left["memcpy:" + kind] for kind in ("HtoD", "DtoH", "DtoD")
        if left["memcpy:" + kind]}
    if left["memset"]:
        works["[CUDA memset]"] = left["memset"]
    if works:
        seen.equal({k: v for k, v in capture.works().items() if k in works}, works, "copies and memsets")
    return sum(kernels_of(rows).values())


def whole_program(session, seen, program, argv, source):
    nodes, rows = undisturbed(session, seen, [program, *argv], ["--cuda-graph-trace=node"], CAPTURED)
    launched = equal_work(seen, nodes, rows)
    seen.note(f"{launched} kernels, {source}")
    whole, rows = undisturbed(session, seen, [program, *argv], unmatched=CAPTURED)
    graphs = int(rows["graph"][0])
    equal_work(seen, whole, rows, (graphs, IN_GRAPH))
    seen.equal(sum(r["Name"].startswith("[CUDA graph") for r in whole.trace()), graphs, "whole graphs")
    by_host = launched - 2 * graphs + 2  # the graph's two kernels were launched once, into it
    seen.equal(whole.launches(), by_host, "launches by the host")


@check("nvcc, shared cudart", "nvcc", "libcudart.so")
def shared_cudart(session, seen):
    whole_program(session, seen, session.program("cuda_launches.cu"), [str(ROUNDS)],
        "every form of launch, copy and graph")


@check("nvcc, shared cudart, a default stream per thread", "nvcc", "libcudart.so")
def shared_cudart_ptds(session, seen):
    program = session.program("cuda_launches.cu", "--default-stream", "per-thread", name="cuda_launches-ptds")
    whole_program(session, seen, program, [str(ROUNDS)], "the _ptsz twins")


@check("nvcc, static cudart", "nvcc")
def static_cudart(session, seen):
    program = session.program("cuda_launches.cu", cudart="static")
    capture, rows = undisturbed(session, seen, [program, str(ROUNDS)], ["--cuda-graph-trace=node"], CAPTURED)
    launched = equal_work(seen, capture, rows)
    seen.ok(capture.launches() > 0, "no launch was seen on the host's side")
    seen.note(f"{launched} kernels; the runtime called the driver by pointers that we gave it")


@check("driver API: linked, dlsym, cuGetProcAddress", "headers", "libcuda.so")
def driver_api(session, seen):
    for lookup in ("linked", "dlsym", "proc"):
        words = ["-DLINKED"] if lookup == "linked" else []
        program = session.program("driver.c", *words, cudart="none", name="driver-" + lookup, libraries=["libcuda.so"]
            if words else [])
        capture, rows = undisturbed(session, seen, [program, lookup, "40"])
        before = len(seen.problems)
        equal_work(seen, capture, rows)
        seen.equal(capture.launches(), 80, "launches by the host")
        seen.problems[before:] = [lookup + ": " + p for p in seen.problems[before:]]
    seen.note("80 launches by each look-up")


def environment_for(session, argv):
    """Libraries that do not find their relatives beside them are told where all of NVIDIA's are."""
    alone = session.run(argv, timeout=60)
    if alone.status == 0:
        return {}
    env = {"LD_LIBRARY_PATH": session.machine.everywhere()}
    told = session.run(argv, timeout=60, env=env)
    if told.status:
        raise Skip(f"does not run here without us either: {told.err.strip()[-200:]}")
    return env


def calls_of(session, seen, define, stem, function, report, options=(), count=20):
    program = session.program("libraries.c", "-D" + define, name="libraries-" + define, libraries=[stem])
    argv = [program, str(count)]
    env = environment_for(session, argv)
    capture, _ = undisturbed(session, seen, argv, options, timeout=90, env=env)
    seen.equal(capture.calls(report).get(function), count, function)
    counted = session.by_cupti(argv, env=env)
    kernels, copies = kernels_of(counted), int(counted["memcpy"][0])
    seen.equal(capture.kernels(), kernels, "kernels, against CUPTI's own count")
    seen.equal(sum(n for name, n in capture.works().items() if "memcpy" in name), copies, "copies, likewise")
    seen.ok(kernels or copies, "nothing on the device at all")  # NCCL only copies where there is one rank
    seen.note(f"{count} calls, {sum(kernels.values())} kernels of {len(kernels)} names, {copies} copies")


@check("cuBLAS", "libcublas.so", "headers", "cupti.h")
def cublas(session, seen):
    calls_of(session, seen, "CUBLAS", "libcublas.so", "cublasSgemm", "blas_sum")


@check("cuDNN", "libcudnn.so", "headers", "cupti.h", "real")
def cudnn(session, seen):
    calls_of(session, seen, "CUDNN", "libcudnn.so", "cudnnSoftmaxForward", "cudnn_sum")


@check("NCCL, one GPU", "libnccl.so", "headers", "cupti.h", "real")
def nccl(session, seen):
    calls_of(session, seen, "NCCL", "libnccl.so", "ncclAllReduce", "nccl_sum", ["-t", "cuda,osrt,nccl"])


@check("CUDA graphs, whole and by nodes", "nvcc", "libcudart.so")
def graphs(session, seen):
    argv = [session.program("jobs.cu"), "graph", "200"]
    nodes, rows = undisturbed(session, seen, argv, ["--cuda-graph-trace=node"], 3)
    equal_work(seen, nodes, rows)
    whole, rows = undisturbed(session, seen, argv, ["--cuda-graph-trace=graph"], 3)
    seen.equal(sum(r["Name"].startswith("[CUDA graph") for r in whole.trace()), 200, "graphs as wholes")
    seen.equal(whole.kernels(), {}, "kernels beside them")
    seen.note("200 graphs, 600 nodes")


@check("CUDA graphs, some launches by nodes", "nvcc", "libcudart.so")
def sampled_graphs(session, seen):
    """Recording of whole graphs is disabled for the launches that are recorded by nodes, and enabled after them."""
    argv = [session.program("jobs.cu"), "graph", "400"]
    capture, _ = undisturbed(session, seen, argv, ["--cuda-graph-sampling=4"], 3)
    whole = sum(r["Name"].startswith("[CUDA graph") for r in capture.trace())
    by_nodes, odd = divmod(sum(capture.kernels().values()), 3)
    seen.equal((whole + by_nodes, odd), (400, 0), "launches as wholes and by nodes, kernels of incomplete ones")
    seen.ok(by_nodes > 40, f"{by_nodes} launches by nodes of 400, one in four was requested")
    rows = sorted(capture.report("cuda_graph_node_sum"), key=lambda r: int(r["Node"]))
    first, second = ((int(r["Total Time (ns)"]) - int(r["Estimated (ns)"])) / by_nodes for r in rows[:2])
    seen.figure("first node of a launch by nodes", first, "ns")
    seen.figure("second node", second, "ns")
    seen.note(f"{whole} whole, {by_nodes} by nodes: mean of the first node {first:.0f} ns, of the second "
              f"{second:.0f} ns")


@check("hardware events (-t cuda-hw)", "nvcc", "libcudart.so")
def hardware(session, seen):
    capture, rows = undisturbed(session, seen, [session.program("jobs.cu"), "streams", "100"], ["-t", "cuda-hw"])
    equal_work(seen, capture, rows)
    notes = [n for n in capture.notes() if "-t cuda-hw" in n]
    seen.equal(len(notes), 1, "notes in the ledger")
    seen.note("; ".join(notes))


@check("four threads, four streams", "nvcc", "libcudart.so")
def streams(session, seen):
    capture, rows = undisturbed(session, seen, [session.program("jobs.cu"), "streams", "500"])
    equal_work(seen, capture, rows)
    used = {r["Strm"] for r in capture.trace() if r["GrdX"]}
    seen.equal(len(used), 4, "streams")
    seen.equal(capture.launches(), 2000, "launches by the host")


@check("unified memory", "nvcc", "libcudart.so", "real")
def unified(session, seen):
    options = ["--cuda-um-cpu-page-faults=true", "--cuda-um-gpu-page-faults=true"]
    capture, rows = undisturbed(session, seen, [session.program("jobs.cu"), "managed", "20"], options)
    equal_work(seen, capture, {"kernel:_Z11step_kernelPf": rows["kernel:_Z11step_kernelPf"]})
    totals = capture.report("um_total_sum")
    seen.ok(totals or capture.notes(), "nothing moved, and no word of why")
    seen.note("moved: " + (", ".join(f"{k} {v}" for k, v in totals[0].items()) if totals
        else "; ".join(capture.notes())))


@check("memory", "nvcc", "libcudart.so")
def memory(session, seen):
    capture, _ = undisturbed(session, seen, [session.program("jobs.cu"), "memory", "30"])
    seen.equal(sum(capture.calls(pattern=r"^cudaMalloc$").values()), 31, "cudaMalloc calls")
    seen.equal(sum(capture.calls(pattern=r"^cudaFree$").values()), 30, "cudaFree calls")
    usage = [r for r in capture.report("cuda_mem_usage") if r["Memory"] == "Device"]
    for name, wanted in (("Allocations", "31"), ("Frees", "30"), ("Not Freed", "1"),
                         ("In Use At End (MB)", "3.145728")):
        seen.equal([r[name] for r in usage], [wanted], name)
    seen.note("; ".join(", ".join(f"{k} {v}" for k, v in r.items() if v) for r in usage))


@check("out of memory", "nvcc", "libcudart.so")
def out_of_memory(session, seen):
    capture, rows = undisturbed(session, seen, [session.program("jobs.cu"), "oom", "50"])
    equal_work(seen, capture, rows)
    seen.note("the program goes on after cudaErrorMemoryAllocation, and so do we")
