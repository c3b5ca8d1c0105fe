#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Replayed recordings of real GPUs: each device record appears once with its call from the recording, sums are exact to
# the nanosecond, gaps have their causes; REPLAY_ROUNDS (20) times.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles
[ -x "$doubles/replay/cuda_replay" ] || skip_all 'built without the replay'
export LD_LIBRARY_PATH="$doubles/replay:$LD_LIBRARY_PATH"
rounds=${REPLAY_ROUNDS:-20}
data=$tests_dir/../data/replay

played() { # NAME STRETCH MOOD: plays NAME.txt
	PILLION_SIMCUPTI=$3 PILLION_REPLAY=$1.txt PILLION_REPLAY_STRETCH=$2 pillion -o "$1" -f true -t cuda \
		"$doubles/replay/cuda_replay" >out 2>err
}

for name in v100 ranks; do
	ok "$name: unpacked" sh -c "python3 -B '$tests_dir/replay_account.py' cut 0 '$data/$name.txt.xz' >$name.txt"
	for mood in '' reorder,late,thread,layout=12.4; do
		played $name 1 "$mood"
		is "$? $(cat out)" "0 $(grep -c ^A $name.txt) calls" "$name${mood:+, $mood}: status and output"
		report stats -q -r cuda_gpu_trace:mangled,correlated,ledger -f csv $name.pillion >tables
		ok 'each device record once, with its call; sums to the ns; as many unmatched as in the recording' \
			account_says replay_account.py records 1 $name.txt tables
	done
done

# The beginning of the recording at half speed.
python3 -B "$tests_dir/replay_account.py" cut 200 "$data/ranks.txt.xz" >gaps.txt
for ((i = 1; i <= rounds; i++)); do
	played gaps 2 ''
	report analyze -q -r gpu_idle -f csv gaps.pillion >"run$i"
	echo >>"run$i"
	report stats -q -r cuda_gpu_trace:mangled,processes -f csv gaps.pillion >>"run$i"
done
ok "busy and idle times add up to the wall time, gaps have the recording's causes, $rounds times" \
	account_says replay_account.py idle gaps.txt run*
done_testing
