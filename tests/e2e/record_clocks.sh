#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Durations are correct even if the program, another preloaded library or a time namespace changes its clocks.
. "$(dirname -- "$0")/lib.sh"
clocks=$targets/clocks

# sleep_ns NAME: total duration of the recorded nanosleep calls of NAME.pillion.
sleep_ns() {
	report stats -r osrt_sum -f csv "$1.pillion" | awk -F, '$9 == "nanosleep" { print $2 }'
}

# wall_ns NAME: time from the start of the first process to the end of the last one.
wall_ns() {
	report stats -r processes -f json "$1.pillion" | python3 -c '
import json, sys
rows = [row for row in json.load(sys.stdin) if row["Duration (ns)"] is not None]
start = min(row["Start (ns)"] for row in rows)
print(max(row["Start (ns)"] + row["Duration (ns)"] for row in rows) - start)'
}

# true_times TEXT STATUS COMMAND...: COMMAND runs clocks under pillion, and ends with STATUS. The recorded calls are at
# least as long as the sleeps, at most as long as the program measured with the kernel's clock, and no longer than the
# whole run. 1 % and 1 ms allow for the rate of the time-stamp counter, which may be measured.
true_times() {
	local text=$1 status=$2 began ended seen slept wall
	shift 2
	began=$(date +%s%N)
	timeout "$patience" "$@" >out 2>err
	is "$?" "$status" "$text: exit status"
	ended=$(date +%s%N)
	seen=$(tail -n 1 out)
	slept=$(sleep_ns clocks)
	wall=$(wall_ns clocks)
	ok "$text: the durations of calls are correct ($slept ns <= $seen ns)" \
		test "${slept:-0}" -ge 297000000 -a "${slept:-0}" -le $((seen + seen / 100 + 1000000))
	ok "$text: the processes lasted longer than their calls, and less than the launcher ($wall ns)" \
		test "${wall:-0}" -ge "${slept:-0}" -a "${wall:-0}" -le $(((ended - began) * 101 / 100 + 1000000))
}

export PILLION_STATS=false

true_times 'unchanged clocks' 3 "$PILLION" -f true -o clocks "$clocks"
if [ "$(uname -m)" = x86_64 ]; then
	true_times 'PR_SET_TSC' 3 "$PILLION" -f true -o clocks "$clocks" tsc
	true_times 'PR_SET_TSC by syscall()' 3 "$PILLION" -f true -o clocks "$clocks" tsc-syscall
	"$clocks" strict >plain
	plain=$?
	"$PILLION" -f true -o strict "$clocks" strict >out 2>err
	is "$? $(cat out)" "$plain $(cat plain)" "seccomp's strict mode, which forbids the counter and the system call"
else
	skip 'PR_SET_TSC' 'no time-stamp counter'
fi

if command -v faketime >/dev/null 2>&1; then
	true_times 'libfaketime' 3 "$PILLION" -f true -o clocks faketime '2001-03-14 00:00:00' "$clocks"
	true_times 'libfaketime around pillion' 3 faketime '2001-03-14 00:00:00' "$PILLION" -f true -o clocks "$clocks"
	true_times 'libfaketime, half as fast' 3 "$PILLION" -f true -o clocks faketime -f '+0 x0.5' "$clocks"
else
	skip 'libfaketime' 'no faketime'
fi

if unshare -T --monotonic 500000 true 2>/dev/null; then
	true_times 'a time namespace' 3 "$PILLION" -f true -o clocks unshare -T --monotonic 500000 "$clocks"
	true_times 'a time namespace of forked children' 3 \
		"$PILLION" -f true -o clocks unshare -T --monotonic 500000 --fork "$clocks"
	true_times 'a time namespace around pillion' 3 \
		unshare -T --monotonic 500000 "$PILLION" -f true -o clocks "$clocks"
else
	skip 'time namespaces' 'not allowed here'
fi

# A call of a stopped program continues; its duration includes the time in which it was stopped.
"$PILLION" -f true -o clocks "$clocks" >out 2>err &
launcher=$!
stop() {
	child=$(pgrep -P "$launcher" -x clocks) && kill -STOP "$child" 2>/dev/null
}
ok 'the program is stopped' eventually stop
sleep 0.5
# The launcher stops with its command, as a job of a shell does.
kill -CONT "$launcher" "$child" 2>/dev/null
wait "$launcher"
is "$?" 3 'the program continues: exit status'
slept=$(sleep_ns clocks)
seen=$(tail -n 1 out)
ok "the durations of its calls include the time in which it was stopped ($slept ns <= $seen ns)" \
	test "${slept:-0}" -ge 297000000 -a "${slept:-0}" -le $((seen + seen / 100 + 1000000))
done_testing
