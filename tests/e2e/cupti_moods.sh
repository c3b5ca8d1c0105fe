#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CUPTI in each version and mood, MOODS_ROUNDS (10) times with different seeds: every operation is recorded or counted
# in the ledger, and the program's behaviour is unchanged.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles
rounds=${MOODS_ROUNDS:-10}
reports=cuda_gpu_trace:mangled,correlated,device_facts,ledger

# round MOOD SEED: one run in a directory of its own; prints the problems found.
round() {
	local n=$((1 + $2 % 7)) status
	rm -rf "$2" mood.pillion
	mkdir "$2"
	PILLION_SIMCUPTI=$1,seed=$2 PILLION_SIMGPU_LOG=$2/log pillion -o mood --cuda-graph-trace=node \
		"$doubles/cuda_launches" $n >out 2>err
	status=$?
	[ "$status $(<out)" = "0 ${wanted[n]}" ] || { echo "seed $2: status $status: $(cat out err)" && return 1; }
	report stats -q -r $reports -f csv mood.pillion >"$2/tables" || { echo "seed $2: no report" && return 1; }
}

for n in 1 2 3 4 5 6 7; do
	wanted[n]=$("$doubles/cuda_launches" $n 2>&1)
done
# compare OPTION... SEED...: compares the runs of all seeds
compare() {
	account_says cupti_account.py --nodes "$@" >said || return
	broken=$((broken + $(sed -n '$s/ .*//p' said)))
}

mood() { # MOOD OPTION...
	local name=$1 seed is_good=1 seeds=()
	shift
	for ((seed = 1; seed <= rounds && is_good; seed++)); do
		round "$name" "$seed" >said || { is_good=0 && break; }
		seeds+=("$seed")
		[ $((seed % 100)) -eq 0 ] || [ "$seed" -eq "$rounds" ] || continue
		compare "$@" "${seeds[@]}" || is_good=0
		[ $is_good -eq 0 ] || rm -rf "${seeds[@]}"
		seeds=()
	done
	if [ $is_good -eq 1 ]; then
		pass "$name, $rounds seeds"
	else
		fail "$name, $rounds seeds" "$(cat said)"
	fi
}

broken=0 # buffers
for name in nested late reorder thread late,thread reorder,thread,late layout=11.8 layout=12.0 layout=12.4 layout=12.8 \
	layout=13.0 layout=13.3 layout=13.5 error39; do
	mood $name
done
# Behaviours of the real CUPTI: each one alone, and all of them together with the behaviours selected for the test.
for name in lenient lenient,full lenient,unfinished lenient,needy,layout=12.8 lenient,perthread lenient,scope \
	lenient,v2 lenient,detach perthread,thread,late,reorder,nested full,layout=12.4,thread,reorder; do
	mood $name
done
# Without records, each call is counted as one without a device record until times come from CUDA events.
for name in silent mute lenient,silent; do
	is_good=1
	for ((seed = 1; seed <= rounds && is_good; seed++)); do
		round "$name" "$seed" >said || is_good=0
		if [ "$(ledger mood 'unmatched calls')" -eq 0 ]; then
			echo "seed $seed: nothing is missing" >said
			is_good=0
		fi
		rm -rf "$seed"
	done
	if [ $is_good -eq 1 ]; then
		pass "$name, $rounds seeds"
	else
		fail "$name" "$(cat said)"
	fi
done
# One wait at the end is too late to take times from CUDA events.
once=("$targets/cuda_event_timing" queue 1000)
for name in silent mute lenient,silent; do
	PILLION_SIMCUPTI=$name pillion -o once -f true --stats=summary "${once[@]}" >out 2>err
	is "$? $(<out) $(ledger once 'no device times')" '0 done 1000' "$name, one wait: the ledger counts them"
	like "$(<err)" 'GPU +no device times: CUPTI .* no record of 1000 launches, .*: .* --gpu-activity=events' \
		"$name, one wait: the summary says why there are no device times, and what to do"
done
PILLION_SIMCUPTI=silent pillion -o once -f true --gpu-activity=events "${once[@]}" >out 2>&1
is "$(ledger once 'device records') $(ledger once 'no device times')" '1000 0' 'silent: CUDA events have the times'
pillion -o once -f true "${once[@]}" >out 2>&1
is "$(ledger once 'device records') $(ledger once 'no device times')" '1000 0' 'a CUPTI that works: no such sentence'
mood oldclock --loose 100000
mood thread,layout=11.8,oldclock --loose 100000
mood dropped --dropped
mood odd --lossy
mood broken --broken
[ "$rounds" -lt 10 ] || ok 'some of them could not be read' [ $broken -gt 0 ]
done_testing
