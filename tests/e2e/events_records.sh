#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Device times without CUPTI, from pairs of CUDA events: each operation has one record that covers its time, the driver
# never waits, no event enters a graph capture, and missing records are counted in the ledger.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles
export PILLION_GPU_ACTIVITY=events

# equal CAPTURE OPTION...: compares it with log and bare. Times may differ by slightly more than the reported error.
equal() {
	local said
	said=$(report stats -r cuda_gpu_trace "$1.pillion" 2>&1 | sed -n 's/.*placed to \([0-9]*\) ns.*/\1/p')
	report stats -q -r cuda_gpu_trace:mangled -f csv "$1.pillion" >trace.csv &&
		report stats -q -r correlated -f csv "$1.pillion" >calls.csv &&
		account_says events_account.py log trace.csv calls.csv bare --loose $((${said:-0} + 100000)) "${@:2}"
}

# as_bare NAME COMMAND...: status, output and account are as without pillion, and the records equal the account; the
# comparison takes the options in $account.
as_bare() {
	local name=$1 plain
	shift
	rm -rf log bare "$name.pillion"
	PILLION_SIMGPU_LOG=bare "$@" >wanted 2>&1
	plain=$?
	PILLION_SIMGPU_LOG=log pillion -o "$name" "$@" >out 2>err
	is "$? $(cat out)" "$plain $(cat wanted)" "$name: status and output"
	# shellcheck disable=SC2086
	ok "$name: each operation has one record that covers its time" equal "$name" $account
}

# ---- programs of every kind ----

for program in cuda_launches cuda_launches_ptds cuda_launches_12 cuda_launches_static cuda_launches_nvcc \
	cuda_launches_nvcc_ptds; do
	account=
	[ "${program%static}" = "$program" ] || account=--driver
	if [ -x "$doubles/$program" ]; then
		as_bare $program "$doubles/$program" 7
	else
		skip "$program" 'no nvcc'
	fi
done
account=
is "$(ledger cuda_launches 'unmatched calls') $(ledger cuda_launches 'unmatched device records')" '4 0' \
	'only calls captured into a graph have no record'
like "$(report stats -r cuda_gpu_kern_sum cuda_launches.pillion 2>&1)" \
	'device times: CUDA events .* placed to [0-9]+ ns; CUDA graphs as a whole' \
	'the table states the source and error of its times'
like "$(report info cuda_launches.pillion)" 'device-times +CUDA events' 'info states the source of device times'

# ---- the driver API ----

account=--driver
for lookup in dlsym proc twin; do
	as_bare $lookup "$targets/cuda_driver" $lookup 3
done
account=

# ---- streams, devices, contexts ----

export PILLION_SIMGPU_DEVICES=2
account=--driver
as_bare threads "$targets/cuda_event_timing" threads 30
as_bare devices "$targets/cuda_event_timing" devices 40
as_bare contexts "$targets/cuda_event_timing" contexts 5
as_bare release "$targets/cuda_event_timing" release 4
as_bare fail "$targets/cuda_event_timing" fail 20
as_bare queue "$targets/cuda_event_timing" queue 3000
account=
accounted capture "$targets/cuda_event_timing" capture 500
is "$? $(cat out) $(sets capture)" '0 done 500x0.001 ' 'during a graph capture of another thread: all records'
is "$(grep -c -e '"ev":"unsafe"' -e '"ev":"event_captured"' log)" 0 \
	'during a graph capture of another thread: no event enters it'

# ---- missing records are counted ----

lost() { # CAPTURE: numbers of records, records without times, dropped records, unmatched calls
	echo "$(ledger "$1" 'device records') $(ledger "$1" 'device records without times')" \
		"$(ledger "$1" 'device records dropped') $(ledger "$1" 'unmatched calls')"
}
PILLION_SIMGPU_SLOWDOWN=400000 accounted left "$targets/cuda_event_timing" left 50
read -r -a n < <(lost left)
is "$((n[0] + n[1])) ${n[2]} $((n[0] + n[3]))" '50 0 50' \
	'exit with work in progress: unfinished operations are counted'
ok 'exit with work in progress: pillion does not wait' [ "${n[1]}" -gt 10 ]
PILLION_SIMGPU_SLOWDOWN=150 accounted deep "$targets/cuda_event_timing" queue 18000
read -r -a n < <(lost deep)
is "$((n[0] + n[2])) ${n[1]} $((n[0] + n[3]))" '18000 0 18000' 'a queue of 18000: each operation is recorded or counted'
ok 'a queue of 18000: most operations are recorded' [ "${n[0]}" -ge 16384 ]

# ---- ends ----

ends_are_recorded
accounted end "$targets/cuda_ends" before 40
is "$? $(sets end)" '0 40x0.001 40x0.004 ' 'fork before CUDA: both processes have their records'
accounted end "$targets/cuda_ends" after 40
is "$? $(sets end)" '0 80x0.004 ' 'fork after CUDA: the child does not use the events'

# ---- capture ranges ----

accounted range -c cudaProfilerApi --capture-range-end=repeat "$targets/cuda_ends" ranges 20
is "$? $(sets range)" '0 60x0.004 ' 'three ranges: only their work'
# The ranges need 120 events, all work needs 280. Some more events read the clock, and a busy machine needs more of
# those.
ok 'three ranges: no events outside of them' [ "$(grep -c '"name":"cuEventRecord"' log)" -le 200 ]

# ---- SIGKILL ----

killed() {
	kill_accounted 4000 && equal killed --killed
}
ok 'killed in mid-run: only work in progress is missing' killed

# ---- auto: where CUPTI is unavailable ----

export PILLION_GPU_ACTIVITY=auto
# NVIDIA's own libcupti may be installed, and does not work with this driver.
mkdir without && cp "$doubles/libcuda.so.1" "$doubles/libcudart.so.13" without/
LD_LIBRARY_PATH=$PWD/without as_bare without "$doubles/cuda_launches" 3
like "$(notes without)" 'from CUDA events because CUPTI is unavailable: (there is no libcupti|CUPTI does not work)' \
	'auto, no libcupti: by events, and the ledger gives the reason'
# A libcuda that has everything but one function, as other implementations of CUDA.
mkdir partial && cp without/* partial/ && sed 's/cuCtxGetId/cuCtxGetIx/g' without/libcuda.so.1 >partial/libcuda.so.1
LD_LIBRARY_PATH=$PWD/partial pillion -o partial "$doubles/cuda_launches" 3 >out 2>&1
like "$(notes partial)" 'no device times: libcuda lacks cuCtxGetId' \
	'auto, a driver without cuCtxGetId: the ledger names the function, not a release'
remote='import ctypes
runtime = ctypes.CDLL("libcudart.so.13")
address = ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(64)) == 0
for i in range(100):
    assert runtime.cudaMemset(address, 0, ctypes.c_size_t(64)) == 0
print("done")'
python=$(python3 -c 'import sys; print(sys.executable)')
LD_LIBRARY_PATH=$doubles/remote pillion -o remote --stats=summary "$python" -c "$remote" >out 2>err
is "$? $(<out) $(ledger remote 'device records')" '0 done 0' 'no libcuda in the process: the program is undisturbed'
like "$(notes remote)" 'no device times: CUDA calls succeed, but this process has no libcuda' \
	'no libcuda in the process: the ledger gives the reason'
like "$(<err)" 'GPU +no device times: CUDA calls succeed, but this process has no libcuda' \
	'no libcuda in the process: the summary gives the reason'
for mood in notinit error39; do
	PILLION_SIMCUPTI=$mood accounted mood "$doubles/cuda_launches" 3
	is "$? $(ledger mood 'device records') $(ledger mood 'unmatched device records')" "0 51 0" \
		"auto, $mood: all records"
	[ $mood = error39 ] ||
		like "$(notes mood)" 'from CUDA events because CUPTI is unavailable: CUPTI .* returned 15' \
			"auto, $mood: by events, and the ledger gives the reason"
done
NSYS_PROFILING_SESSION_ID=1 accounted other "$doubles/cuda_launches" 2
is "$(ledger other 'device records')$(notes other | grep -c 'under nsys')" 01 \
	'auto under nsys: no events, and the ledger says so'
done_testing
