#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# For every way to end a process, all calls that it completed are in the trace, and info names the way.
set -u
. "$(dirname "$0")/lib.sh"

calls=$targets/calls

# WANTED_STATUS ENDED END
ends() {
	pillion -f -o ends "$calls" 200 "$3" >out 2>err
	is $? "$1" "$3: status $1"
	is "$(num_calls ends usleep)" 200 "$3: all 200 calls"
	like "$(report info ends.pillion)" "$2" "$3: info says $2"
}

ends 3 'exit 3' return
ends 3 'exit 3' exit
ends 3 'exit 3' _exit
ends 3 'exit 3' _Exit
ends 3 'exit 3' quick_exit
ends 3 'exit 3' exit_group
ends 134 'signal 6' abort
ends 139 'signal 11' segv
ends 137 'signal 9' kill

counted() { # the sum of the program's counters of all threads
	[ -s counter ] && od -A n -t u8 -N $((8 * threads)) -v -w8 counter | awk '{ n += $1 } END { print n }'
}

has_counted() { # NUMBER, or more
	[ "$(counted || echo 0)" -ge "$1" ]
}

# Killed by another process at any moment: counted by the program <= recorded <= counted + 1 per thread.
killed() { # THREADS
	local recorded
	threads=$1
	rm -rf killed.pillion counter
	US=50 PILLION_STATS=false "$PILLION" -o killed "$calls" -1 return "$1" counter >out 2>err &
	launcher=$!
	eventually has_counted $((1 + RANDOM % 2000 * $1))
	kill -KILL "$(child_of "$launcher")"
	wait "$launcher"
	status=$?
	counted=$(counted)
	recorded=$(num_calls killed usleep)
	[ "$status" -eq 137 ] && [ "$counted" -gt 0 ] && [ "$counted" -le "$recorded" ] &&
		[ "$recorded" -le $((counted + $1)) ] && return
	diag "status $status, $1 threads, counted $counted, recorded $recorded"
	return 1
}

killed_often() {
	for _ in 1 2 3 4 5; do
		killed 1 && killed 16 || return 1
	done
}
ok 'killed by another process: all counted calls are recorded, and at most one more per thread' killed_often

# Killed after info has shown the call in which it hangs.
shows() { # CAPTURE FUNCTION THREADS
	[ "$(report info -f csv "$1.pillion" 2>/dev/null | grep -c ",$2,[0-9]*,")" -eq "$3" ]
}
US=100000000 PILLION_STATS=false "$PILLION" -o asleep "$calls" 1 return 16 >out 2>err &
launcher=$!
ok 'each of 16 threads is shown in its call' eventually shows asleep usleep 16
kill -KILL "$(child_of $launcher)"
wait $launcher
ok 'each of 16 threads is shown in its call after the kill' shows asleep usleep 16
PILLION_STATS=false "$PILLION" -f -o hang "$calls" 20 hang >out 2>err &
launcher=$!
ok 'a hanging program is shown in its read' eventually shows hang read 1
sleep 1.2
kill -KILL "$(child_of $launcher)"
wait $launcher
is $? 137 'a hanging program, killed: status 137'
is "$(num_calls hang usleep)" 20 'a hanging program, killed: its calls are recorded'
age=$(report info hang.pillion | awk '$5 == "read" { gsub(",", "", $6); print $6 }')
ok "info shows the read it hung in, for more than a second (${age:-?} ns)" test "${age:-0}" -gt 1000000000

# Without the launcher, by environment variables only.
LD_PRELOAD=$library PILLION_OUTPUT=$work/bare.pillion "$calls" 200 kill 2>/dev/null
is $? 137 'by environment alone: status 137'
is "$(num_calls bare usleep)" 200 'by environment alone: all 200 calls'
done_testing
