#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Device times without CUPTI, by pairs of CUDA events: each piece of work has one record that holds its time, the driver
# is never made to wait, nothing goes into a capture, and what could not be had is in the ledger.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles
export PILLION_GPU_ACTIVITY=events

# equal CAPTURE OPTION...: with log and bare. Times may be off by what the report says, and a little.
equal() {
	local said
	said=$(report stats -r cuda_gpu_trace "$1.pillion" 2>&1 | sed -n 's/.*placed to \([0-9]*\) ns.*/\1/p')
	report stats -q -r cuda_gpu_trace:mangled -f csv "$1.pillion" >trace.csv &&
		report stats -q -r correlated -f csv "$1.pillion" >calls.csv &&
		account_says events_account.py log trace.csv calls.csv bare --loose $((${said:-0} + 100000)) "${@:2}"
}

# as_bare NAME COMMAND...: with what $account adds; status, output and account are as without us, and recorded is what
# was done.
as_bare() {
	local name=$1 plain
	shift
	rm -rf log bare "$name.pillion"
	PILLION_SIMGPU_LOG=bare "$@" >wanted 2>&1
	plain=$?
	PILLION_SIMGPU_LOG=log pillion -o "$name" "$@" >out 2>err
	is "$? $(cat out)" "$plain $(cat wanted)" "$name: status and output"
	# shellcheck disable=SC2086
	ok "$name: one record of each piece of work, around its time" equal "$name" $account
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
	'only what went into a graph has no record'
like "$(report stats -r cuda_gpu_kern_sum cuda_launches.pillion 2>&1)" \
	'device times: CUDA events .* placed to [0-9]+ ns; CUDA graphs as a whole' \
	'the table says where its times come from, and how exact they are'
like "$(report info cuda_launches.pillion)" 'device-times +CUDA events' 'info says so, too'

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
is "$? $(cat out) $(sets capture)" '0 done 500x0.001 ' 'beside a capture of another thread: all records'
is "$(grep -c -e '"ev":"unsafe"' -e '"ev":"event_captured"' log)" 0 'and the capture is not disturbed'

# ---- what is not there is counted ----

lost() { # CAPTURE: records, those without times, dropped ones, calls without any
	echo "$(ledger "$1" 'device records') $(ledger "$1" 'device records without times')" \
		"$(ledger "$1" 'device records dropped') $(ledger "$1" 'unmatched calls')"
}
PILLION_SIMGPU_SLOWDOWN=400000 accounted left "$targets/cuda_event_timing" left 50
read -r -a n < <(lost left)
is "$((n[0] + n[1])) ${n[2]} $((n[0] + n[3]))" '50 0 50' \
	'ended before the device was through: what it was not through with is counted'
ok 'and not waited for' [ "${n[1]}" -gt 10 ]
PILLION_SIMGPU_SLOWDOWN=150 accounted deep "$targets/cuda_event_timing" queue 18000
read -r -a n < <(lost deep)
is "$((n[0] + n[2])) ${n[1]} $((n[0] + n[3]))" '18000 0 18000' 'a queue of 18000: a record, or counted'
ok 'most of them records' [ "${n[0]}" -ge 16384 ]

# ---- ends ----

ends_are_recorded
accounted end "$targets/cuda_ends" before 40
is "$? $(sets end)" '0 40x0.001 40x0.004 ' 'fork before CUDA: both have their records'
accounted end "$targets/cuda_ends" after 40
is "$? $(sets end)" '0 80x0.004 ' 'fork after CUDA: the child leaves the events alone'

# ---- capture ranges ----

accounted range -c cudaProfilerApi --capture-range-end=repeat "$targets/cuda_ends" ranges 20
is "$? $(sets range)" '0 60x0.004 ' 'three ranges: their work alone'
# 120 for these, 280 with the work outside of them; some tell where the clock stands, more of them when the machine is
# busy.
ok 'and no event outside of them' [ "$(grep -c '"name":"cuEventRecord"' log)" -le 200 ]

# ---- SIGKILL ----

killed() {
	kill_accounted 4000 && equal killed --killed
}
ok 'killed in mid-run: all but what was under way' killed

# ---- auto: where CUPTI is unavailable ----

export PILLION_GPU_ACTIVITY=auto
# NVIDIA's own may be there, and does not go with this driver.
mkdir without && cp "$doubles/libcuda.so.1" "$doubles/libcudart.so.13" without/
LD_LIBRARY_PATH=$PWD/without as_bare without "$doubles/cuda_launches" 3
like "$(notes without)" 'from CUDA events because CUPTI is unavailable: (there is no libcupti|CUPTI does not work)' \
	'auto, no libcupti: events, and the ledger says why'
for mood in notinit error39; do
	PILLION_SIMCUPTI=$mood accounted mood "$doubles/cuda_launches" 3
	is "$? $(ledger mood 'device records') $(ledger mood 'unmatched device records')" "0 51 0" \
		"auto, $mood: all records"
	[ $mood = error39 ] ||
		like "$(notes mood)" 'from CUDA events because CUPTI is unavailable: CUPTI .* returned 15' \
			'by events, and the ledger says why'
done
NSYS_PROFILING_SESSION_ID=1 accounted other "$doubles/cuda_launches" 2
is "$(ledger other 'device records')$(notes other | grep -c 'under nsys')" 01 \
	"auto under nsys: no events in the other's run, and the ledger says so"
done_testing
