#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --on: the launcher dumps what --ring has kept when something has gone wrong, and goes on.
. "$(dirname -- "$0")/lib.sh"

# dumps NAME: how many dumps it has.
dumps() {
	find . -maxdepth 1 -name "$1.dump*.pillion" | wc -l
}

has_dumps() {
	[ "$(dumps "$1")" -ge "$2" ]
}

# Writes enough to get a trace file, then ends as told; the shell goes on until there is a file.
fails() { # NAME HOW
	printf '%s; while [ ! -e %s.end ]; do sleep 0.1; done' "$2" "$1"
}

on() { # NAME TRIGGER COMMAND
	"$PILLION" -o "$1" --stats=false --ring=2s --on="$2" --keep=2 --osrt-threshold=0 -s none sh -c "$3" \
		>"$1.out" 2>"$1.err" </dev/null &
	launcher=$!
}

child="'$targets/ring_calls' 4 on.counts"
on failing 'exit!=0' "$(fails failing "$child 300")"
eventually has_dumps failing 1
on killed signal "$(fails killed "$child 60000 & sleep 1; kill -9 \$!; wait")"
eventually has_dumps killed 1
on hanging hang:2s 'sleep 20; true'
eventually has_dumps hanging 1
sleep 2
touch failing.end killed.end
wait
is "$(dumps failing)" 1 'exit!=0: one dump'
like "$(cat failing.err)" 'process [0-9]+ exited with 7; what was recorded before it:' 'and the reason'
ok 'it has the calls of that process' [ "$(num_calls failing.dump1 write)" -gt 100 ]
is "$(dumps killed)" 1 'signal: one dump'
like "$(cat killed.err)" 'process [0-9]+ was ended by a signal' 'and the reason'
is "$(dumps hanging)" 1 'hang: one dump'
"$PILLION" -o bad --on=slow-step --ring=1s true >out 2>err
is $? 2 'a trigger that there is not is refused'
like "$(cat err)" '--on takes a list of oom, signal, exit!=0 and hang:60s' 'with those that there are'
"$PILLION" -o bad --on=oom true >out 2>err
is $? 2 '--on without a ring is refused'
done_testing
