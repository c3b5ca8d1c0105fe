#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two ranks of a job without MPI, one of which is changed to come from another host whose clock is 5 s ahead: both
# clocks are aligned by the kernels of their collectives, which NCCL's double synchronizes in real time.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles
ahead=5000000000

# job NAME OPTIONS WORD...: records both ranks of cuda_nccl and moves rank 1 to another host.
job() {
	local name=$1 options=$2
	shift 2
	rm -rf "$name.pillion" "$name.id"
	PILLION_STATS=false WORLD_SIZE=2 pillion -o "$name" -t "$options" \
		sh -c 'for r in 0 1; do RANK=$r "$0" "$@" & done; wait' "$targets/cuda_nccl" 40 "$name.id" \
		"$@" >out 2>err || return
	account_says plant_host.py "$name.pillion" RANK=1 $ahead
}
# placed CAPTURE: "COUNT SOURCE NS ERROR": number and kind of the collectives used, offset and error that info states.
placed() {
	local said='placed to ([0-9]+) ns, by ([0-9]+) ([A-Z]+) collectives: (-?[0-9]+) ns ahead of '
	report info -f csv "$1" | sed -nE "s/.*elsewhere: .*$said.*/\\2 \\3 \\4 \\1/p"
}
# unplaced CAPTURE: number of other hosts in info that are aligned by the time of day only.
unplaced() {
	report info -f csv "$1" | grep -cE '^clock,"?elsewhere: TSC, placed to [0-9]+ ns"?$'
}
# within FOUND...: the fields of placed(); whether the planted offset is within the error.
within() {
	[ $# -eq 4 ] && awk -v found="$3" -v wanted="$ahead" -v error="$4" \
		'BEGIN { off = found - wanted; exit !(off <= error && off >= -error && error < wanted / 5) }'
}

ok 'two ranks' job plain cuda,nccl
read -r -a found < <(placed plain.pillion)
diag "by ${found[*]}; off by $((${found[2]:-0} - ahead)) ns"
is "${found[*]:0:2}" '80 NCCL' 'each common collective is used'
ok 'the offset is found within the error that is stated' within "${found[@]}"
report stats -q -r ledger -f csv plain.pillion >ledger.csv
is "$(awk -F, '$2 == "elsewhere" && $3 == "clock placed to" { print $4 }' ledger.csv)" "${found[3]:-none}" \
	'the ledger states the same error'
like "$(grep 'clock placed to' ledger.csv)" 'its CLOCK_REALTIME, the reference of other machines' \
	'the ledger names the reference clock'
is "$(report stats -q -r processes -f csv plain.pillion |
	awk -F, 'NR > 1 { late += $5 / 1e9 > 4 } END { print (NR > 2), late + 0 }')" '1 0' \
	'no process begins 5 s late'
if report pack -q -o plain.pillpack plain.pillion 2>err; then
	is "$(placed plain.pillpack)" "${found[*]}" 'the packed capture gives the same offset'
fi

ok 'two ranks whose calls are in groups' job grouped cuda,nccl group
read -r -a found < <(placed grouped.pillion)
diag "by ${found[*]}; off by $((${found[2]:-0} - ahead)) ns"
is "${found[*]:0:2}" '80 NCCL' 'grouped calls: each common collective is used'
ok 'the offset is found within the error that is stated' within "${found[@]}"

PILLION_GPU_ACTIVITY=events job events cuda,nccl
read -r -a found < <(placed events.pillion)
diag "by ${found[*]}; off by $((${found[2]:-0} - ahead)) ns"
is "${found[*]:0:2}" '80 NCCL' 'device times by CUDA events'
ok 'device times by CUDA events: the offset is within the stated error' within "${found[@]}"

# The calls return at once: that a rank is late is in the kernels alone.
if has_unwinder; then
	WORLD_SIZE=3 PILLION_STATS=false pillion -o late -t cuda,nccl,osrt \
		sh -c 'for r in 0 1 2; do RANK=$r "$0" 20 late.id late & done; wait' "$targets/cuda_nccl" >out 2>err
	row=$(report stats -q -r rank_cause_sum -f json late.pillion | grep -m 1 '"Late Ranks"')
	line=$(grep -n '/\* late \*/' "$tests_dir/../targets/cuda_nccl.c" | cut -d: -f1)
	wanted='"Name":"ncclAllReduce".*"Late Ranks":"rank 1","Cause":"call","Late Name":"usleep"'
	like "$row" "$wanted,.*cuda_nccl.c:$line\\)" \
		'the late rank, its call and its line'
	like "$(report analyze -q -r straggling_rank -f json late.pillion)" "\"Verdict\":\"found\",\"Rank\":\"1\"" \
		'straggling_rank names it'
fi

ok 'two ranks whose calls of NCCL are not recorded' job without cuda
is "$(unplaced without.pillion) $(placed without.pillion)" '1 ' \
	'unrecorded NCCL calls: the hosts are aligned by the time of day'
like "$(report stats -q -r ledger -f csv without.pillion)" 'elsewhere,clock placed to,[0-9]+,.*not known' \
	'unrecorded NCCL calls: the ledger says so'

PILLION_SIMCUPTI=dropped job dropped cuda,nccl
is "$(unplaced dropped.pillion) $(placed dropped.pillion)" '1 ' \
	'dropped device records: the hosts are aligned by the time of day'
ok 'a report of two jobs' report info -q plain.pillion grouped.pillion
done_testing
