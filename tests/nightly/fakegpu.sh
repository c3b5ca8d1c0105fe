#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fakegpu.sh: a second simulated CUDA, NCCL and cuBLAS, which is not of this project: FakeGPU, the public repository
# FanBB2333/FakeGPU (MIT). Nothing of it is in this repository, and nothing here fetches or builds it. Calls, bytes and
# floating-point operations are compared with its own report; late and hanging ranks are planted and have to be named.
#   FAKEGPU_BUILT  its tree, built by somebody: tests/README.md says what it must hold
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../e2e/lib.sh"

fakegpu=${FAKEGPU_BUILT:-}
[ -n "$fakegpu" ] || skip_all 'FAKEGPU_BUILT names no built tree of FakeGPU'
for tool in gcc python3; do
	command -v $tool >/dev/null || skip_all "no $tool"
done

# ---- the second stack ----

first() { # NAME: the newest file of that name in the tree
	find "$fakegpu" -name "$1" \( -type f -o -type l \) 2>/dev/null | sort | tail -n 1
}
coordinator=$(first fakegpu-coordinator) cluster=$fakegpu/verification/data/cluster_valid.yaml
for need in 'libcudart.so*' 'libcublas.so*' 'libnccl.so*' fakegpu-coordinator "${cluster##*/}"; do
	[ -n "$(first "$need")" ] || skip_all "FAKEGPU_BUILT=$fakegpu has no $need"
done
libraries=$(find "$fakegpu" -name 'lib*.so*' -printf '%h\n' | sort -u | paste -sd:)
for program in steps ranks; do
	gcc -g -O1 -o $program "$here/fakegpu/$program.c" "$(first 'libcudart.so*')" \
		"$(first 'libcublas.so*')" "$(first 'libnccl.so*')" -Wl,--allow-shlib-undefined 2>gcc.err ||
		skip_all "no $program: $(head -n 1 gcc.err)"
done

export FAKEGPU_REPORT_PATH=$work/report.json FAKEGPU_MODE=simulate
fake() { # COMMAND...: on FakeGPU. Its banner is not part of the program's output.
	LD_LIBRARY_PATH=$libraries "$@" | grep -v '^[= ]*$\|FakeGPU\|fake_gpu'
	return "${PIPESTATUS[0]}"
}

# ---- calls, bytes and operations ----

is "$(fake ./steps 50 2>/dev/null | tail -n 1)" 'done' 'the program runs without pillion'
is "$(fake pillion -o steps -t cuda,cublas ./steps 50 2>err | tail -n 1)" 'done' 'the program runs recorded'
cat >compare.py <<'END'
"""Prints what FakeGPU's report and pillion's tables do not agree on."""
import csv, json, sys
fake = json.load(open("report.json"))["summary"]
launches = sum(device["kernel_launches"]["total"] for device in json.load(open("report.json"))["devices"])
def rows(name):
    return list(csv.DictReader(open(name)))
calls = {row["Name"]: int(row["Num Calls"]) for row in rows("calls.csv")}
bytes_of = {row["Operation"]: (int(row["Count"]), round(float(row["Total (MB)"]) * 1e6)) for row in rows("bytes.csv")}
flops = sum(float(row["FLOP"] or 0) for row in rows("blas.csv"))
blas = sum(int(row["Num Calls"]) for row in rows("blas.csv") if "gemm" in row["Name"].lower())
io = fake["io"]
for what, got, wanted in (
        ("launches", calls["cudaLaunchKernel"], launches),
        ("allocations", calls["cudaMalloc"], fake["alloc"]["calls"]),
        ("to the device", bytes_of["[CUDA memcpy HtoD]"], (io["h2d"]["calls"], io["h2d"]["bytes"])),
        ("to the host", bytes_of["[CUDA memcpy DtoH]"], (io["d2h"]["calls"], io["d2h"]["bytes"])),
        ("memsets", bytes_of["[CUDA memset]"], (io["memset"]["calls"], io["memset"]["bytes"])),
        ("products", blas, fake["compute"]["cublas_gemm"]["calls"]),
        ("operations", flops, fake["compute"]["cublas_gemm"]["flops"])):
    if got != wanted or not wanted:
        print(f"{what}: {got}, FakeGPU has {wanted}")
END
report stats -q -r cuda_api_sum -f csv steps.pillion >calls.csv
report stats -q -r cuda_gpu_mem_size_sum -f csv steps.pillion >bytes.csv
report stats -q -r cublas_sum -f csv steps.pillion >blas.csv
is "$(python3 compare.py 2>&1)" '' 'calls, bytes and operations are those of its own report'

# ---- ranks ----

export FAKEGPU_DIST_MODE=simulate FAKEGPU_COORDINATOR_TRANSPORT=unix FAKEGPU_COORDINATOR_ADDR=$work/socket
export FAKEGPU_COORDINATOR_TIMEOUT_MS=600000
export FAKEGPU_CLUSTER_CONFIG=$cluster
"$coordinator" --transport unix --address "$work/socket" >coordinator.log 2>&1 &
coordinates=$!
trap 'kill $coordinates 2>/dev/null; rm -rf "$work"' EXIT
ok 'the coordinator listens' eventually test -S "$work/socket"
line=$(grep -n 'reads slowly' "$here/fakegpu/ranks.c" | cut -d: -f1)

is "$(fake pillion -o late -t cuda,nccl,osrt ./ranks 4 40 2 0 2>err | tail -n 1)" 'done' \
	'four ranks, one is late: it ends'
report analyze -q -r straggling_rank -f csv late.pillion >found.csv
like "$(cut -d, -f 2,3,9 <found.csv)" "found,2,.*ranks\.c:$line" 'the late rank and its line are named'
is "$(fake pillion -o equal -t cuda,nccl,osrt ./ranks 4 40 -1 0 2>err | tail -n 1)" 'done' 'four equal ranks: it ends'
unlike "$(report analyze -q -r straggling_rank -f csv equal.pillion)" ',found,' 'of equal ranks none is accused'

set -m
LD_LIBRARY_PATH=$libraries PILLION_STATS=false "$PILLION" -o hang -t cuda,nccl,osrt ./ranks 4 40 2 10 >out 2>err &
job=$!
set +m
named() { "$PILLION" where hang.pillion 2>/dev/null | grep -q "rank 2.*ranks.c:$line"; }
ok 'a rank that does not come is named while the job hangs' eventually named
sleep 4 # ranks that have waited for a second do not merely wait for a message
kill -KILL -- "-$job"
wait "$job" 2>/dev/null
report stats --summary hang.pillion >summary 2>err
like "$(cat summary)" "^COLLECTIVE +3 of 4 ranks are in ncclAllReduce; rank 2, .*ranks\.c:$line" \
	'and after SIGKILL of all, by the summary'
done_testing
