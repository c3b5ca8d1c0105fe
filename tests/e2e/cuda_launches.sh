#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The records of a CUDA program equal the account of the simulated GPU: calls, kernels with their names and grids,
# copies with their bytes; for programs built by nvcc and in plain C, for CUDA 12 and 13, and with a default stream per
# thread.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles
export PILLION_GPU_ACTIVITY=none # host calls only; cupti_records checks device records

tables() { # CAPTURE
	report stats -q -r cuda_api_sum -f csv "$1" >api.csv &&
		report stats -q -r cuda_launch_sum -f csv "$1" >launch.csv &&
		report stats -q -r cuda_gpu_mem_size_sum -f csv "$1" >memory.csv
}

equal() { # CAPTURE LOG OPTION...
	tables "$1" || return
	local log=$2
	shift 2
	account_says cuda_account.py "$log" exported api.csv launch.csv memory.csv "$@"
}

for program in cuda_launches cuda_launches_ptds cuda_launches_12 cuda_launches_nvcc cuda_launches_nvcc_ptds; do
	if [ ! -x "$doubles/$program" ]; then
		skip "$program" 'no nvcc'
		continue
	fi
	"$doubles/$program" 7 >wanted 2>&1
	rm -f log
	PILLION_SIMGPU_LOG=log pillion -o $program "$doubles/$program" 7 >out 2>err
	is $? 0 "$program: its status"
	is "$(cat out)" "$(cat wanted)" "$program: its output"
	ok "$program: recorded is what was done" equal $program.pillion log --captured
done
is "$(grep -c _ptsz api.csv)$(report stats -q -r cuda_api_sum -f csv cuda_launches_ptds.pillion |
	grep -c '__cudaLaunchKernel_ptsz$')" \
	"$(grep -c _ptsz api.csv)1" 'per-thread variants have their own names'

# Without the launcher, and with the OS runtime deselected.
rm -f log
PILLION_SIMGPU_LOG=log LD_PRELOAD=$library PILLION_OUTPUT=$work/bare PILLION_TRACE=cuda \
	"$doubles/cuda_launches" 2 >out 2>err
ok 'without the launcher' equal bare log --captured

# Stacks of launches of any duration.
launches_in() { # CAPTURE: how many have a stack
	report stats -q -r stacks_sum -f csv "$1.pillion" | awk -F, '$9 ~ /Launch/ { n += $3 } END { print n + 0 }'
}
if has_unwinder; then
	for all in true false; do
		pillion -o stacks_$all -t cuda --cuda-launch-stacks=$all --cudabacktrace-threshold=60000000000 \
			"$doubles/cuda_launches" 2 >out 2>err
		report stats -q -r stacks_sum -f csv stacks_$all.pillion | grep '[lL]aunch' >stacks_$all
	done
	for threshold in 10000 60000000000; do
		pillion -o auto_$threshold -t cuda --cudabacktrace-threshold=$threshold \
			"$doubles/cuda_launches" 2 >out 2>err
	done
	is "$(report stats -q -r stacks_sum -f csv auto_60000000000.pillion | wc -l)" 1 \
		'a --cudabacktrace threshold: no stacks of shorter copies and memsets'
	# Copies and memsets of less than 10 us had no stack.
	without_stack=$(report stats -q -r lines -f json cuda_launches.pillion |
		python3 -c 'import json, sys
print(sum(row["GPU Time (ns)"] for row in json.load(sys.stdin) if "not attributed" in row["Function"]))')
	is "$without_stack" 0 'each launch, copy and memset has a line, however short the call'
	pillion -o auto_none -t cuda --cudabacktrace=none "$doubles/cuda_launches" 2 >out 2>err
	is "$(launches_in auto_10000) $(launches_in auto_60000000000)" "$(launches_in stacks_true) 0" \
		'launch stacks are taken by default, but not below a --cudabacktrace threshold'
	is "$(report stats -q -r stacks_sum -f csv auto_none.pillion | wc -l)" 1 '--cudabacktrace=none: no stacks'
	like "$(cat stacks_true)" '__cudaLaunchKernel,.*main \([^)]*cuda_launches\.c:[0-9]+\)' \
		'--cuda-launch-stacks: the source line of the launch'
	unlike "$(cat stacks_true)" '_start \(.*\.[ch]:' 'a function without line information gets no source line'
	is "$(cat stacks_false)" '' '--cuda-launch-stacks=false: no stacks below the threshold'
	is "$(report stats -q -r stacks_sum -f csv stacks_true.pillion | grep -vc 'Launch')" 1 \
		'--cuda-launch-stacks: no stacks of other calls'
fi

# CUDA calls are not recorded unless selected.
pillion -o none -t osrt "$doubles/cuda_launches" 1 >out 2>err
is "$(report stats -q -r cuda_api_sum -f csv none.pillion 2>/dev/null | grep -c cuda)" 0 '-t osrt: no CUDA calls'

# Errors are unchanged and recorded.
PILLION_SIMGPU_DEVICES=0 "$doubles/cuda_launches" >wanted 2>wanted_err
plain=$?
PILLION_SIMGPU_DEVICES=0 pillion -o failing "$doubles/cuda_launches" >out 2>err
is "$? $(head -n 1 err)" "$plain $(head -n 1 wanted_err)" 'a machine without devices: same status, same message'

# A kill loses only the calls in flight.
killed_often() {
	for _ in 1 2 3; do
		kill_accounted 200 && equal killed.pillion log --captured --slack 1 || return
	done
}
ok 'killed in mid-run: only the call in flight is missing' killed_often

# The capture range: only calls between Start and Stop are recorded; cuda_launches calls them around its rounds.
rm -f log
pillion -o range -c cudaProfilerApi "$doubles/cuda_launches" 3 >out 2>err
is $? 0 'a capture range: status'
report stats -q -r cuda_api_sum -f csv range.pillion >api.csv
is "$(awk -F, '$9 == "cudaMalloc" { print $3 }' api.csv)" 3 'a capture range: three of five cudaMalloc calls'
is "$(grep -c -e cudaEventCreate -e cudaStreamDestroy api.csv)" 0 'a capture range: nothing from outside'
report stats -q -r cuda_launch_sum -f csv range.pillion >launch.csv
like "$(cat launch.csv)" 'add\(float\*, int\)' 'a capture range: kernels registered before it have names'
done_testing
