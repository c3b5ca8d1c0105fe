#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A launcher with a spool and its processes are killed at any moment, in different orders. After pillion recover the
# capture has every call that the processes have counted themselves, and so has the report that reads capture and spool
# as one. SPOOL_ROUNDS (6): how often.
set -u
. "$(dirname "$0")/lib.sh"
unset RANK PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK SLURM_JOB_ID SLURM_STEP_ID SLURM_PROCID
mkdir spools
shapes=('1 1' '2 4' '3 2' '1 4')

members() { # SESSION: names and processes
	ps -s "$1" -o comm=,pid=
}
# calls PATH...: the calls of write, recorded one by one and counted.
calls() {
	report stats -q -r osrt_sum,osrt_short_sum -f csv "$@" 2>/dev/null | awk -F, '
		/Num Calls|Calls/ { for (i = 1; i <= NF; i++) if ($i == "Num Calls" || $i == "Calls") column = i }
		$NF == "write" || /(^|,)write(,|$)/ { sum += $column }
		END { print sum + 0 }'
}
counted() {
	od -A n -t u8 -v -w64 counters 2>/dev/null | awk '{ sum += $1 } END { print sum + 0 }'
}
has_begun() { [ "$(counted)" -ge "$least" ]; }
# A thread may be killed after a call and before it counts it, or in a call.
near() { # COUNTED RECORDED THREADS
	[ "$2" -ge $(($1 - $3)) ] && [ "$2" -le $(($1 + $3)) ]
}

for ((round = 1; round <= ${SPOOL_ROUNDS:-6}; round++)); do
	shape=${shapes[round % 4]}
	threads=$((${shape% *} * ${shape#* }))
	rm -rf counters c.pillion
	# shellcheck disable=SC2086
	PILLION_STATS=false setsid "$PILLION" -o c --spool="$work/spools" --spool-interval=$((round % 3 * 100 + 100)) \
		"$targets/counted_calls" counters $shape 2>err &
	launcher=$!
	least=$((RANDOM * 20 + 1000))
	ok "round $round, processes and threads $shape: it runs" eventually has_begun
	sleep "0.$((RANDOM % 8))$((RANDOM % 10))"
	order=$((RANDOM % 3)) # the launcher first, last, or anywhere
	members "$launcher" | case $order in
	0) sort -r ;;
	1) sort ;;
	*) shuf ;;
	esac >victims
	while read -r _ pid; do
		kill -KILL "$pid"
	done <victims 2>/dev/null
	wait "$launcher" 2>/dev/null
	gone() { [ -z "$(members "$launcher")" ]; }
	eventually gone
	spool=$(echo spools/pillion-*)
	both=$(calls c.pillion "$spool")
	ok "round $round: recover" report recover -q c.pillion
	number=$(counted)
	ok "round $round: every call is recorded" near "$number" "$(calls c.pillion)" "$threads"
	ok "round $round: capture and spool are read as one" near "$number" "$both" "$threads"
	is "$(ls spools)" '' "round $round: the spool is removed"
done
done_testing
