#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# For every way to reach CUDA, each operation that the simulated GPU counted is recorded once: driver look-ups of each
# kind, static runtimes, libraries of a local scope, a user's interposers, several runtimes. Look-ups give the same
# results as without pillion.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles
export PILLION_GPU_ACTIVITY=none # host calls only
interposer=$(preloadable "$targets/cuda_interposer.so")
runtime=$(preloadable "$doubles/libcudart.so.13")

equal() { # CAPTURE LOG OPTION...
	report stats -q -r cuda_api_sum -f csv "$1" >api.csv &&
		report stats -q -r cuda_launch_sum -f csv "$1" >launch.csv &&
		report stats -q -r cuda_gpu_mem_size_sum -f csv "$1" >memory.csv || return
	local log=$2
	shift 2
	account_says cuda_account.py "$log" exported api.csv launch.csv memory.csv "$@"
}

as_bare() { # NAME OPTIONS PROGRAM ARGUMENT...: runs it with and without pillion, and compares with the account
	local name=$1 options=$2
	shift 2
	rm -rf log "$name.pillion"
	"$@" >wanted 2>wanted_err
	local plain=$?
	PILLION_SIMGPU_LOG=log pillion -o "$name" "$@" >out 2>err
	is "$? $(cat out)" "$plain $(cat wanted)" "$name: status and output"
	is "$(grep -v '^pillion: ' err)" "$(cat wanted_err)" "$name: its stderr"
	# shellcheck disable=SC2086
	ok "$name: each operation is recorded once" equal "$name.pillion" log $options
}

# ---- the driver API ----

for lookup in dlsym global proc newer self old entry; do
	as_bare $lookup --driver "$targets/cuda_driver" $lookup 3
	like "$(cat launch.csv)" ',3,.*,2 1 1,512 1 1,"add\(int\*, int\)"' \
		"$lookup: the driver gives the name of a kernel that the program did not name"
done
as_bare twin --driver "$targets/cuda_driver" twin 3
like "$(cat api.csv)" 'cuLaunchKernel_ptsz' 'per-thread variants have their own names'
as_bare linked --driver "$targets/cuda_driver_linked" linked 3
as_bare linked_ptds --driver "$targets/cuda_driver_linked_ptds" linked 3
like "$(cat api.csv)" 'cuLaunchKernel_ptsz' 'per-thread variants that the linker binds have their own names'

# A driver whose look-up returns addresses that it does not export: name, version and flags identify the functions.
export PILLION_SIMGPU_ALIASES=1
for lookup in proc twin newer self old entry; do
	as_bare $lookup --driver "$targets/cuda_driver" $lookup 2
done
like "$(report stats -q -r cuda_api_sum -f csv twin.pillion)" 'cuLaunchKernel_ptsz' \
	'per-thread variants are identified by the flags'
as_bare static '--work --captured' "$doubles/cuda_launches_static" 2
as_bare shared --captured "$doubles/cuda_launches" 2
unset PILLION_SIMGPU_ALIASES

# ---- runtimes ----

as_bare static '--work --captured' "$doubles/cuda_launches_static" 3
is "$(grep -c ',cuda[A-Z]' api.csv)" 0 'a static runtime is recorded by its driver calls'
as_bare plugin --captured "$targets/cuda_lookups" plugin "$targets/cuda_launches_plugin.so" 2
is "$(grep -c ',cu[A-Z]' api.csv)" 0 'a library of a local scope: one layer'

"$targets/cuda_lookups" plugin "$targets/cuda_launches_plugin.so" 2 deep >wanted
pillion -o deep "$targets/cuda_lookups" plugin "$targets/cuda_launches_plugin.so" 2 deep >out
is "$? $(cat out)" "0 $(cat wanted)" 'RTLD_DEEPBIND: status and output'
like "$(report info deep.pillion 2>&1)" 'calls that cannot be seen' \
	'RTLD_DEEPBIND: the ledger reports calls that cannot be seen'
like "$(report info deep.pillion 2>&1)" \
	"calls of cuda[A-Za-z]* and similar functions are not recorded: .* in $targets/cuda_launches_plugin.so" \
	'RTLD_DEEPBIND: the ledger names the library'
LD_PRELOAD=$runtime pillion -o deeper "$targets/cuda_lookups" plugin \
	"$targets/cuda_launches_plugin.so" 2 deep >out
like "$(report info deeper.pillion 2>&1)" \
	"are not recorded: the loader has bound them directly .* in $targets/cuda_launches_plugin.so" \
	'RTLD_DEEPBIND: the ledger names it also when other libraries are recorded'
unlike "$(report info plugin.pillion 2>&1)" 'has bound them directly' 'no direct binding is reported for others'
unlike "$(report info plugin.pillion 2>&1)" 'calls that cannot be seen' 'no unseen calls are reported for others'

both() { # LIBRARY...: the same code calls each of them
	"$targets/cuda_lookups" two "$@" >wanted
	rm -rf two.pillion
	pillion -o two "$targets/cuda_lookups" two "$@" >out
	is "$(cat out)" "$(cat wanted)" "two runtimes by dlsym: each call reaches its own runtime"
	is "$(report stats -q -r cuda_api_sum -f csv two.pillion | awk -F, '$9 == "cudaMalloc" { print $3 }')" \
		$((3 * $#)) 'two runtimes by dlsym: all calls are recorded'
}
both "$targets/libfake12.so" "$targets/libfake13.so"
both "$targets/libfake13.so" "$targets/libfake12.so"
ok 'dlsym from 16 threads at once' pillion -o many "$targets/cuda_lookups" many "$doubles/libcudart.so.13" 16

as_bare two '--captured --captured' "$targets/cuda_lookups" plugins 2 "$targets/cuda_launches_plugin.so" \
	"$targets/cuda_launches_plugin12.so"
if command -v python3 >/dev/null; then
	as_bare ctypes '' python3 "$tests_dir/../targets/python/cuda_ctypes.py" 2
	is "$(awk -F, '$9 ~ /^cuda/ { print $9, $3 }' api.csv | sort | tr '\n' ' ')" \
		'cudaDeviceSynchronize 4 cudaFree 4 cudaMalloc 4 cudaMemcpy 4 cudaMemcpyAsync 4 cudaMemset 4 ' \
		'ctypes: each call of both runtimes once'
else
	skip ctypes 'no python3'
fi

# ---- interposers ----

LD_PRELOAD=$interposer "$doubles/cuda_launches" 2 >wanted
rm -rf chain.pillion log
PILLION_SIMGPU_LOG=log LD_PRELOAD=$interposer pillion -t cuda -o chain \
	"$doubles/cuda_launches" 2 >out 2>err
# The launcher's processes load the interposer, too, but make no calls through it.
is "$(grep -v 'interposed 0' out)" "$(cat wanted)" "a user's interposer sees the same calls as without pillion"
is "$(report stats -q -r cuda_api_sum -f csv chain.pillion | awk -F, '$9 == "cudaMalloc" { print $3 }')" \
	"$(grep -c '"name":"cudaMalloc"' log)" "the interposer's calls are recorded once"
LD_PRELOAD="$interposer:$library" PILLION_OUTPUT=$work/before.pillion \
	"$doubles/cuda_launches" 2 >out 2>err
is "$(cat out)" "$(cat wanted)" 'an interposer before ours: the same output'
unlike "$(report info before.pillion 2>&1; report info chain.pillion 2>&1)" 'has bound them directly' \
	'interposers: no calls are reported as lost'

# ---- look-ups without CUDA ----

probe() { # NAME
	"$targets/cuda_lookups" probe >wanted
	pillion -o "$1" "$targets/cuda_lookups" probe >out
	is "$(cat out)" "$(cat wanted)" "$1: look-ups give the same results and the same error messages"
}
unset LD_LIBRARY_PATH
probe nothing
LD_LIBRARY_PATH=$doubles
export LD_LIBRARY_PATH
LD_PRELOAD=$runtime "$targets/cuda_lookups" probe >wanted
LD_PRELOAD="$library:$runtime" PILLION_OUTPUT=$work/present "$targets/cuda_lookups" probe >out
is "$(cat out)" "$(cat wanted)" 'an installed runtime is found'
# ---- the driver loads libpillion.so ----

by_injection() { # PROGRAM ARGUMENT...: device records of programs whose runtime has no known name
	rm -rf injected.pillion log
	PILLION_GPU_ACTIVITY=auto PILLION_SIMGPU_LOG=log pillion -o injected --cuda-graph-trace=node "$@" >out 2>err
	is "$(report stats -q -r cuda_gpu_kern_sum -f csv injected.pillion |
		awk -F, 'NR > 1 { n += $3 } END { print n }')" \
		"$(grep -c '"ev":"launch"' log)" "${1##*/}: every kernel that the device ran is recorded"
	is "$(grep -c '"ev":"injected","result":1' log || grep -c '"ev":"injected".*"result":1' log)" 1 \
		"${1##*/}: the driver has loaded libpillion.so"
}
by_injection "$doubles/cuda_launches_static" 3
by_injection "$targets/cuda_driver" proc 3

# CUPTI's library is in the loader's list long before its constructors have returned.
mkdir slow && cp "$targets/cupti_slow.so" slow/libcupti.so.13
"$targets/cuda_slow" "$work/slow/libcupti.so.13" >wanted
PILLION_GPU_ACTIVITY=auto pillion -o slow -c cudaProfilerApi "$targets/cuda_slow" "$work/slow/libcupti.so.13" >out 2>err
is "$? $(cat out)" "0 $(cat wanted)" 'pillion waits for a CUPTI that another thread is loading'

is "$(pillion -o variable sh -c 'echo "$CUDA_INJECTION64_PATH"
	env -i sh -c "echo \$CUDA_INJECTION64_PATH"; exit 3' 2>/dev/null; echo $?)" \
	"$(realpath "$library")
$(realpath "$library")
3" 'children get the variable, also in a clean environment'
is "$(PILLION_OUTPUT=$work/nowhere/at/all LD_PRELOAD=$library LD_LIBRARY_PATH='' \
	"$targets/cuda_lookups" probe 2>/dev/null)" \
	"$(LD_LIBRARY_PATH='' "$targets/cuda_lookups" probe)" \
	'without a place to record to, look-ups are unchanged'
is "$(CUDA_INJECTION64_PATH=/tool.so pillion -o foreign sh -c 'echo "$CUDA_INJECTION64_PATH"' 2>/dev/null)" /tool.so \
	'the value of another tool is kept'
for variable in NSYS_PROFILING_SESSION_ID NV_COMPUTE_PROFILER_PERFWORKS_DIR; do
	is "$(export "$variable=/tool"; pillion -o "front-$variable" sh -c 'echo "<$CUDA_INJECTION64_PATH>"' \
		2>/dev/null)" '<>' "$variable: a program under another profiler does not get the variable"
	export variable
	is "$(pillion -o "within-$variable" sh -c 'env "$variable=/tool" sh -c "
		echo \"<\$CUDA_INJECTION64_PATH>\""' 2>/dev/null)" '<>' \
		"$variable: nor does one that the profiler starts"
done
CUDA_INJECTION64_PATH=/tool.so PILLION_GPU_ACTIVITY=auto pillion -o stranger "$doubles/cuda_launches" 1 >out 2>err
like "$(report info stranger.pillion 2>&1)" 'another tool' 'the ledger says that another tool uses CUPTI'
done_testing
