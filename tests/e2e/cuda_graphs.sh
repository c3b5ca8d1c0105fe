#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a CUDA graph executes is attributed to the line, range and operator that captured or added its nodes.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles
python=$(python3 -c 'import sys; print(sys.executable)') || skip_all 'no python3'
[ -e "$targets/nvtx_text.so" ] || skip_all "built without NVTX's headers"
job=$(cd "$tests_dir/../targets/python" && pwd)/cuda_graphs.py

# graphs NAME HOW REPLAYS OPTION...: records it as NAME.pillion.
graphs() {
	local name=$1 how=$2 replays=$3
	shift 3
	accounted "$name" -f true "$@" "$python" "$job" "$how" "$replays" "$targets/nvtx_text.so"
}

# attributed NAME [PERCENT]: times of lines and operators agree with the account; prints the number of nodes replayed
attributed() {
	report stats -q -r lines -f csv "$1.pillion" >lines 2>&1
	report stats -q -r pytorch_sum -f csv "$1.pillion" >operators 2>&1
	account_says graph_account.py log out lines operators "${@:2}"
}

# ---- by nodes: exact ----

# HOW NODES MADE: nodes that 40 replays execute, calls that made nodes of graphs
while read -r how nodes made; do
	for ids in driver cupti; do
		[ $ids = cupti ] || export PILLION_SIMGPU_IDS=1
		graphs "$how" "$how" 40 --cuda-graph-trace=node
		is "$? $(attributed "$how")" "0 $nodes" "$how, ids from $ids: all device time is at its lines"
		is "$(ledger "$how" 'unmatched calls') $(ledger "$how" 'graph nodes')" "0 $made" \
			"$how, ids from $ids: no call is unmatched"
		unset PILLION_SIMGPU_IDS
	done
done <<-END
	capture 360 9
	explicit 240 3
	child 560 10
	update 720 12
	branch 80 5
END
PILLION_SIMGPU_SEED=7 graphs branch branch 40 --cuda-graph-trace=node
like "$(attributed branch)" '^(8[1-9]|9[0-9]|1[01][0-9])$' \
	'a conditional node with two bodies: all device time is at its lines'

done_testing
