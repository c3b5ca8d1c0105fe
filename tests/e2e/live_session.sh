#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# launch, start, stop, cancel: recording is started and stopped from another shell.
. "$(dirname -- "$0")/lib.sh"

rounds=${SESSION_ROUNDS:-10}
threads=${SESSION_THREADS:-8}

# started NAME VERB [OPTION...]: runs session_writes as NAME.pillion, and waits until it is live.
started() {
	local name=$1
	shift
	PILLION_STATS=${stats:-false} "$PILLION" "$@" -o "$name" "$targets/session_writes" "$threads" "$name.end" \
		>"$name.out" 2>"$name.err" </dev/null &
	launcher=$!
	eventually test -e "$name.pillion/capture"
	eventually live "$name" '[a-z]*'
}

live() { # NAME yes|no: whether it records
	report status -f tsv "$1" 2>/dev/null | cut -f4,5 | grep -q "^1	$2\$"
}

ended() { # NAME
	touch "$1.end"
	wait "$launcher"
}

calls() { # NAME: recorded calls of write
	local n
	n=$(num_calls "$1" write)
	echo "${n:-0}"
}

range() { # NAME: the number of the open range
	report status --json "$1" | grep -o '"Range":[0-9]*' | cut -d: -f2
}

in_range() { # NAME RANGE: whether that range is open
	[ "$(range "$1")" = "$2" ]
}

has_calls() { # NAME
	[ "$(calls "$1")" -gt 0 ]
}

# breaks NAME: for each thread, how often a length does not follow the one before it; the largest of them.
breaks() {
	report export -q -t sqlite -f true -o "$1.sqlite" "$1.pillion" 2>/dev/null
	python3 - "$1.sqlite" <<'END'
import sqlite3, sys
last, breaks = {}, {}
for thread, length in sqlite3.connect(sys.argv[1]).execute(
        "SELECT globalTid, returnValue FROM OSRT_API JOIN StringIds ON nameId = id WHERE value = 'write' "
        "ORDER BY globalTid, start"):
    if thread in last and length != last[thread] % 60000 + 1:
        breaks[thread] = breaks.get(thread, 0) + 1
    last[thread] = length
print(max(breaks.values(), default=0) if last else "nothing is recorded")
END
}

# ---- launch ----

started launched launch --osrt-threshold=0 -s none
is "$(cat launched.out)" '' 'a launched run prints nothing'
ok 'it does not record' live launched no
is "$(report start launched)" 'range 1: started in 1 process' 'start: the number of the range'
ok 'it records' live launched yes
report start launched >out 2>err
is "$? $(cat out)" '1 ' 'start again: status 1'
like "$(cat err)" 'it records already' 'and the reason'
is "$(report stop "$launcher")" 'range 1: stopped in 1 process' 'stop, by the PID of the launcher'
ok 'it does not record any more' live launched no
report stop launched >out 2>err
is $? 1 'stop again: status 1'
for ((i = 2; i < rounds; i++)); do
	report start "$(child_of "$launcher")" >>out || break
	report stop launched >>out || break
done
is "$i" "$rounds" 'start and stop again and again, by the PID of a process'
is "$(report start --for=300ms launched)" "range $rounds: started in 1 process, for 0.3 s" 'start --for'
ok 'it ends by itself' eventually live launched no
like "$(report start --at=+200ms --for=3s launched)" \
	"^range $((rounds + 1)): starts at [0-9:.]{12} in 1 process, for 3 s" 'start --at: when'
ok 'it begins later' eventually in_range launched $((rounds + 1))
ok 'and ends by itself' eventually live launched no
for verb in stop cancel; do
	report start --at=+1h launched >out
	is "$(report $verb launched) $?" "range $((rounds + 2)): its planned start is cancelled in 1 process 0" \
		"$verb before the time of --at: it does not start then"
	report $verb launched >out 2>err
	is "$? $(cat out)" '1 ' "$verb again: nothing is planned any more"
done
ended launched
is $? 7 'the command has noticed nothing'
is "$(find launched.pillion -name '.answer*' -o -name '.where*')" '' 'no request and no answer is left'
before=$(breaks launched)
ok 'no call within a range is lost' test "$before" -le "$rounds"
like "$(report stats -q -r osrt_sum --by range -f csv launched.pillion | cut -d, -f1 | sort -u | tr '\n' ' ')" \
	"(^| )$rounds( |$)" 'the ranges are numbered'
stats=summary started never launch
ended never
like "$(cat never.err)" 'pillion start was never called, so nothing is recorded' 'never started: the summary says so'
is "$(calls never)" 0 'and nothing is recorded'

# ---- a run that records from its start ----

started whole profile --osrt-threshold=0 -s none
ok 'it records' live whole yes
eventually has_calls whole
is "$(report stop whole)" 'range 1: stopped in 1 process' 'stop: what was recorded so far is range 1'
one=$(calls whole)
is "$(report start whole)" 'range 2: started in 1 process' 'start again: range 2'
sleep 0.2
is "$(report cancel whole)" 'range 2: cancelled in 1 process' 'cancel'
ended whole
is $? 7 'its status'
ok 'calls were recorded before' test "$one" -gt 0
is "$(calls whole)" "$one" 'what the cancelled range has recorded does not count'

started again launch --osrt-threshold=0 -s none
report start again >out && report cancel again >out
is "$(report start again)" 'range 2: started in 1 process' 'start after cancel: range 2'
ok 'which records' eventually has_calls again
ended again
ok 'it is read though the one before it was cancelled' test "$(calls again)" -gt 0

# ---- --on-signal ----

started signal launch --osrt-threshold=0 -s none --on-signal=USR2
kill -USR2 "$launcher"
ok 'the launcher takes the signal and starts to record' eventually live signal yes
kill -USR2 "$launcher"
ok 'the next one stops it' eventually live signal no
ended signal
is $? 7 'the command did not receive it'
started forwarded profile
kill -USR2 "$launcher"
wait "$launcher"
is $? 140 'without --on-signal it is forwarded'

# ---- the launcher's own report ----

# A launcher asks pillion-report why a job is quiet. Here that is one that does not end before it is told to.
mkdir -p slow/runtime slow/report slow/preload
cp "$PILLION_BUILD_DIR/runtime/pillion-launch" slow/runtime
ln -s "$library" slow/preload
mkfifo slow/go
printf '#!/bin/sh\n: >"%s/slow/asked"\nread -r line <"%s/slow/go"\n' "$work" "$work" >slow/report/pillion-report
chmod +x slow/report/pillion-report
PILLION_BUILD_DIR=$work/slow "$PILLION" launch --stats=false -o quiet sleep 1000 >quiet.out 2>quiet.err &
launcher=$!
ok 'a job is quiet' eventually test -e slow/asked
is "$(report status -f tsv quiet | cut -f4 | tail -n 1)" 1 'what the launcher asks about it is not of the job'
kill "$launcher"
(echo >slow/go) &
wait "$launcher"
kill $! 2>/dev/null

# ---- refusals ----

report start nosuch >out 2>err
is $? 2 'no such run: status 2'
"$PILLION" launch --delay=1 true >out 2>err
is $? 2 'launch with --delay is refused'
report start --at=soon nosuch >out 2>err
is $? 2 'a time that is none is refused'
started fixed profile -c cudaProfilerApi
report start fixed >out 2>err
is $? 0 'a run with a capture range can be started, too'
report stop fixed >out 2>err
report start fixed >out 2>err
is $? 1 'but not after the last range that it may have'
like "$(cat err)" 'has ended for good' 'and the reason is given'
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$work"
	other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	"${other[@]}" "$PILLION_BUILD_DIR/report/pillion-report" start "$PWD/fixed.pillion" >out 2>err
	is $? 2 'another user is refused'
	printf 'request=%016x\nrealtime_ns=%s\naction=stop\nopens_ns=0\nfor_ns=0\n' 77 "$(date +%s%N)" >forged
	chown 65534 forged && mv forged fixed.pillion/.where
	kill -CHLD "$launcher"
	sleep 0.3
	is "$(find fixed.pillion -name '.answer*' -exec grep -l 000000000000004d {} +)" '' \
		'nor is a request of another user answered'
else
	skip 'another user is refused' 'only root can be another user'
fi
ended fixed
done_testing
