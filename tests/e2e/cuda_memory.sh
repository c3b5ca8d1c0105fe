#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Memory: usage by kind, owners at the peak, leaks, and the state at a failed allocation.
set -u
. "$(dirname "$0")/lib.sh"

doubles=$PILLION_BUILD_DIR/tests/doubles
{ [ -x "$targets/cuda_memory" ] && [ -e "$doubles/libcuda.so.1" ]; } || skip_all 'built without CUDA headers'
export LD_LIBRARY_PATH="$doubles" PILLION_GPU_ACTIVITY=none PILLION_SIMGPU_MEMORY=$((100 << 20))

"$targets/cuda_memory" >wanted 2>&1
like "$(cat wanted)" 'cudaMalloc of 209715200: 2' 'the simulated device runs out of memory'
pillion -o memory --cudabacktrace=memory:0 "$targets/cuda_memory" >out 2>err
is $? 0 'its status'
is "$(cat out)" "$(cat wanted)" 'its output'

cut_columns() { # REPORT COLUMNS
	report stats -q -r "$1" -f csv memory.pillion | cut -d, -f"$2"
}

usage=$(cut_columns cuda_mem_usage 2-7,9-)
like "$usage" ',All,4,3,58\.[0-9]*,57\.[0-9]*,1,31\.' \
	'the whole device: four allocated, three freed, peak, remainder'
like "$usage" ',Device,3,2,53\.[0-9]*,52\.[0-9]*,1,31\.' 'of cudaMalloc'
like "$usage" ',Async pool,1,1,5\.[0-9]*,5\.[0-9]*,0,0' 'of cudaMallocAsync'
like "$usage" 'host,Pinned host,1,1,1\.[0-9]*,1\.[0-9]*,0,0' 'of the host'
peak=$(report stats -q -r cuda_mem_peak -f csv memory.pillion)
! has_unwinder || like "$peak" ',54\.5,31\.[0-9]*,1,Device,cudaMalloc,' 'the largest owner at the peak'
like "$peak" ',9\.1,5\.[0-9]*,1,Async pool,cudaMallocAsync,' 'the smallest owner at the peak'
leaks=$(report stats -q -r cuda_mem_leaks -f csv memory.pillion)
is "$(printf '%s\n' "$leaks" | grep -c cudaMalloc)" 1 'one source line did not free'
like "$leaks" ',31\.[0-9]*,1,[0-9]*,Device,cudaMalloc,' 'the leak is one block'
failures=$(report stats -q -r cuda_mem_failures -f csv memory.pillion)
like "$failures" ',asked,209\.[0-9]*,,57\.[0-9]*,[0-9.]*,104\.[0-9]*,Device,cudaMalloc,' \
	'a failed allocation: requested, in use, free and total bytes'
! has_unwinder || like "$failures" ',had,31\.[0-9]*,1,,,,Device,cudaMalloc,' \
	'a failed allocation: the owners of the memory'
is "$(report export -q -t folded --metric alloc -o - memory.pillion | awk '{ n += $NF } END { print n }')" \
	$(((30 + 20 + 5 + 1) << 20)) '--metric alloc: bytes by stack'
if has_unwinder; then
	like "$leaks" 'keeps \([^)]*cuda_memory\.c:[0-9]+\) <- main' 'the leak by source line'
	like "$failures" 'asks_too_much[^ ]* \([^)]*cuda_memory\.c:[0-9]+\) <- main' \
		'the failed allocation: source line'
fi
like "$(report export -q -t chrome -o - memory.pillion)" \
	'"ph":"C","name":"CUDA memory in use, device 0".*"Device \(bytes\)":52428800' 'a counter over time'
like "$(report stats -q -r cuda_mem_leaks --filter-time=3600s/ -f csv memory.pillion 2>&1)" ',31\.' \
	'memory in use does not depend on a filter'
unlike "$(report stats -q -r ledger -f csv memory.pillion)" 'unknown frees|blocks replaced' \
	'the ledger has no unknown frees or replaced blocks'
is "$(PILLION_GPU_ACTIVITY=cupti accounted used "$targets/cuda_memory"
	report export -q -t speedscope -o - used.pillion |
	python3 -c 'import json, sys
print([p["name"] for p in json.load(sys.stdin)["profiles"] if not p["endValue"]])')" '[]' \
	'speedscope: an idle device has no profile'
pillion -o none --cuda-memory-usage=false "$targets/cuda_memory" >out 2>err
is "$(report stats -q -r cuda_mem_usage -f csv none.pillion | wc -l)" 1 '--cuda-memory-usage=false: no rows'
done_testing
