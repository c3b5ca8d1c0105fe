#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dump: a capture of what was recorded so far, while threads go on to record.
. "$(dirname -- "$0")/lib.sh"

threads=${SESSION_THREADS:-8}

# breaks NAME: for each thread, how often the length of a write does not follow the one before it; the sum.
breaks() {
	report export -q -t sqlite -f true -o "$1.sqlite" "$1.pillion" 2>/dev/null
	python3 - "$1.sqlite" <<'END'
import sqlite3, sys
last, breaks = {}, 0
for thread, length in sqlite3.connect(sys.argv[1]).execute(
        "SELECT globalTid, returnValue FROM OSRT_API JOIN StringIds ON nameId = id WHERE value = 'write' "
        "ORDER BY globalTid, start"):
    breaks += length != last.get(thread, 0) % 60000 + 1
    last[thread] = length
print(breaks if len(last) > 1 else "nothing is recorded")
END
}

has_calls() { # NAME COUNT
	local n
	n=$(num_calls "$1" write)
	[ "${n:-0}" -ge "$2" ]
}

PILLION_STATS=false "$PILLION" -o run --osrt-threshold=0 --osrt-backtrace-threshold=0 -s none \
	"$targets/session_writes" "$threads" end >out 2>err </dev/null &
launcher=$!
eventually has_calls run 1000
for i in 1 2 3; do
	is "$(report dump run)" "$(readlink -f .)/run.dump$i.pillion" "dump $i: the name of the copy"
done
is "$(report dump -o named "$launcher")" named.pillion 'dump -o'
report dump -o named run >out 2>err
is "$?" 2 'a capture that exists is not replaced'
like "$(cat err)" 'named.pillion: File exists' 'and the message names it'
before=$(num_calls run.dump3 write)
eventually has_calls run $((before + 1000))
is "$(num_calls run.dump3 write)" "$before" 'what is recorded later is not in the copy'
touch end
wait "$launcher"
is $? 7 'the command has noticed nothing'
for i in run.dump1 run.dump2 run.dump3 named run; do
	is "$(breaks $i)" 0 "$i: all calls of each thread from its first one on"
	report stats -q -r osrt_sum,stacks_sum -f csv $i.pillion >out 2>err
	is "$? $(cat err)" '0 ' "$i: it can be read, and nothing in it is damaged"
done
ok 'a later copy has more' [ "$(num_calls run.dump3 write)" -ge "$(num_calls run.dump1 write)" ]
report dump run >out 2>err
is "$?" 2 'a run that has ended is not live'
done_testing
