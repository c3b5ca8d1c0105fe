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

in_group=()
on() { # NAME TRIGGER COMMAND
	"${in_group[@]}" "$PILLION" -o "$1" --stats=false --ring="${ring:-2s}" --on="$2" --keep=2 \
		--osrt-threshold=0 -s none sh -c "$3" >"$1.out" 2>"$1.err" </dev/null &
}

# limited BYTES: makes a cgroup of v1 or v2, where this user may make one.
limited() {
	local limit
	group=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
	[ -d $group ] || group=/sys/fs/cgroup limit=memory.max
	group=$group/pillion-test-$$
	mkdir $group 2>/dev/null && echo "$1" 2>/dev/null >$group/$limit
}

child="'$targets/ring_calls' 4 on.counts"
on failing 'exit!=0' "$(fails failing "$child 300")"
eventually has_dumps failing 1
on killed signal "$(fails killed "$child 60000 & sleep 1; kill -9 \$!; wait")"
eventually has_dumps killed 1
on hanging hang:2s 'sleep 20; true'
eventually has_dumps hanging 1
ring=30s on stepping slow-step:100x "'$targets/slow_step' 1000 500 2000 stepping.end"
eventually has_dumps stepping 1
ring=30s on steady slow-step:1000x "'$targets/slow_step' 200 100 200 steady.end"
if limited 100000000; then
	in_group=(sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group")
	on starved oom "$(fails starved "$child 300; tail /dev/zero")"
	eventually has_dumps starved 1
else
	group=
fi
sleep 2
touch failing.end killed.end stepping.end steady.end starved.end
wait
is "$(dumps failing)" 1 'exit!=0: one dump'
like "$(cat failing.err)" 'process [0-9]+ exited with 7; what was recorded before it:' 'and the reason'
for name in failing killed hanging stepping; do
	is "$(grep -v '^pillion: ' $name.err)" '' "$name: each line says that it is pillion's"
	like "$(cat $name.err)" "^pillion: .*/$name\.dump1\.pillion$" "$name: the path of the dump"
done
ok 'it has the calls of that process' [ "$(num_calls failing.dump1 write)" -gt 100 ]
is "$(dumps killed)" 1 'signal: one dump'
like "$(cat killed.err)" 'process [0-9]+ was ended by a signal' 'and the reason'
is "$(dumps hanging)" 1 'hang: one dump'
is "$(dumps stepping)" 1 'slow-step: one dump'
like "$(cat stepping.err)" 'a step of process [0-9]+ took [2-9]\.[0-9]+ s, [0-9.]+ times as long as usual' \
	'and the reason'
report export -q -t sqlite -o stepping.sqlite stepping.dump1.pillion >out 2>err
is "$(python3 -c '
import sqlite3
rows = sqlite3.connect("stepping.sqlite").execute(
    "SELECT returnValue, count(*) FROM OSRT_API JOIN StringIds ON nameId = id WHERE value = \"write\" "
    "AND returnValue BETWEEN 495 AND 505 GROUP BY returnValue ORDER BY 1").fetchall()
print(rows == [(number, 5) for number in range(495, 506)] or rows)')" True 'steps 495 to 505 are whole'
is "$(dumps steady)" 0 'and no dump where no step is slow'
if [ "$group" ]; then
	is "$(dumps starved)" 1 'oom: one dump'
	like "$(cat starved.err)" 'the kernel has killed a process for want of memory' 'and the reason'
	rmdir "$group"
else
	skip 'oom' 'no cgroup can be made here'
fi
"$PILLION" -o bad --on=slow-step:1x --ring=1s true >out 2>err
is $? 2 'a trigger that there is not is refused'
like "$(cat err)" '--on takes a list of slow-step' 'with those that there are'
"$PILLION" -o bad --on=oom true >out 2>err
is $? 2 '--on without a ring is refused'
done_testing
