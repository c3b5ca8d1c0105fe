#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Device records where the launcher itself ends a program: at the end of a capture range, after --duration, and for a
# signal that it forwards. CUPTI has not filled a buffer by then.
set -u
. "$(dirname "$0")/lib.sh"

on_doubles
export PILLION_SIMCUPTI=full # as the real one, its own flush returns full buffers only
cut=$targets/cuda_cut

for round in 1 2 3 4; do
	accounted range -c cudaProfilerApi --capture-range-end=stop-shutdown "$cut" ranges 12
	is "$? $(sets range)" '143 12x0.004 ' "stop-shutdown, $round: each record of the range"
	accounted range -c cudaProfilerApi --capture-range-end=stop-shutdown "$cut" once 12
	is "$? $(sets range)" '143 12x0.004 ' "stop-shutdown, $round: a program that would exit at once"
	accounted range -c cudaProfilerApi --capture-range-end=repeat-shutdown:2 --kill=sigkill "$cut" ranges 12
	is "$? $(sets range)" '137 24x0.004 ' "repeat-shutdown, $round: each record of both ranges"
done

# What is requested between the answer and the signal is missing: on a busy machine that is more than a few calls.
records_of() { # NAME [MISSING]: whether there are many records, and nearly all calls have theirs
	local records missing
	records=$(ledger "$1" 'device records') missing=$(ledger "$1" 'unmatched calls')
	[ "$records" -ge 30 ] && { [ "$missing" -le "${2:-4}" ] || [ $((missing * 20)) -le "$records" ]; } && return
	echo "# $records device records, $missing calls without one"
	return 1
}
for threads in 1 2; do
	accounted timed -d 1 "$cut" busy "$threads"
	is $? 143 "--duration, $threads threads: status"
	ok "--duration, $threads threads: nearly every call has its record" records_of timed
	accounted timed -y 0.2 -d 1 --kill=sigkill "$cut" busy "$threads"
	is $? 137 "--delay and --duration, $threads threads: status"
	ok "--delay and --duration, $threads threads: nearly every call has its record" records_of timed
done
for name in TERM HUP XCPU; do
	rm -rf log sent.pillion
	PILLION_SIMGPU_LOG=log PILLION_STATS=false setsid "$PILLION" -o sent "$cut" busy 1 >out 2>err &
	launcher=$!
	ok "SIG$name: it runs" eventually log_has 300
	kill -s $name $launcher
	wait $launcher
	is $? $((128 + $(kill -l $name))) "SIG$name: status"
	ok "SIG$name: nearly every call has its record" records_of sent
done

# A program that makes no call of CUDA any more: the records were read while it made some, but for those of the last
# moment, and it is not waited for without a limit.
accounted quiet -d 1 "$cut" quiet 300
is $? 143 'a program that sleeps: status'
ok 'a program that sleeps: nearly every call has its record' records_of quiet 40
PILLION_SIMCUPTI=full,busy accounted quiet -d 1 "$cut" quiet 300
ok 'if reading them took long once, too' records_of quiet 40
done_testing
