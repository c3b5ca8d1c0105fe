#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Many threads that record few calls each: running together, killed at any moment, while other threads fork, and with
# limited file size, address space or disk space.
set -u
. "$(dirname "$0")/lib.sh"

attach=$targets/attach

recorded() { # OPTION... COMMAND...: records every call into `some`
	rm -rf some.pillion
	pillion -t osrt --osrt-threshold=0 -o some "$@" >out 2>err
}

# Missing events are reported: recorded calls, lost events and unrecorded threads add up to the calls of the threads.
# The lost events may include three other calls per thread: its creation, its join and its wait at the barrier.
adds_up() { # CAPTURE WRITES TEXT
	local seen lost
	seen=$(num_calls "$1" write) lost=$(($(ledger "$1" lost) + $(ledger "$1" 'threads lost')))
	ok "$3: recorded (${seen:-0}) and lost ($lost) make $2" \
		test $((seen + lost)) -ge "$2" -a "${seen:-0}" -le "$2" -a $((seen + lost)) -le $((4 * $2 + 20))
}

for mode in started released; do
	for threads in 1 100 1500; do
		recorded "$attach" $mode $threads
		is "$? $(cat out)" "0 $threads" "$mode, $threads threads: status and output"
		is "$(num_calls some write) $(ledger some lost) $(ledger some 'threads lost')" "$threads 0 0" \
			'each call is recorded'
	done
done

recorded "$attach" forks 6
is $? 0 'threads while others fork: status'
is "$(num_calls some write) $(ledger some lost) $(ledger some 'threads lost')" "$(cat out) 0 0" \
	'each call is recorded in parent and children'

# ---- killed at any moment ----

has_run() { # NUMBER of threads or more
	[ -s counts ] && [ "$(od -A n -t u4 -v -w8 -j $((8 * $1)) -N 8 counts | awk '{ print $2 }')" -gt 0 ]
}

# Compares, per thread id (the kernel reuses them): recorded calls, calls that had returned, number of threads. Prints
# the ids that do not match.
misfits() {
	report stats -q -r osrt_sum --by thread -f csv killed.pillion >by_thread.csv || echo 'no report'
	od -A n -t u4 -v -w8 counts | awk -F'[ ,]+' '
		NR == FNR { if ($2) { counted[$2] += $3; threads[$2]++ } next }
		$NF == "write" { recorded[$1] += $4 }
		END {
			for (t in counted)
				if (counted[t] > recorded[t] || recorded[t] > counted[t] + threads[t])
					print "thread " t ": counted " counted[t] ", recorded " recorded[t]
		}
	' - by_thread.csv
}

killed() { # THREADS
	local launcher status
	rm -rf killed.pillion counts
	PILLION_STATS=false "$PILLION" -f -t osrt --osrt-threshold=0 -o killed "$attach" waves "$1" counts >out 2>err &
	launcher=$!
	eventually has_run $((1 + RANDOM % 2000))
	kill -KILL "$(child_of "$launcher")"
	wait "$launcher"
	status=$?
	misfits >misfits
	[ "$status" -eq 137 ] && ! [ -s misfits ] && [ "$(ledger killed lost)" -eq 0 ] && return
	diag "status $status, $1 threads at a time" "$(head -5 misfits)" "$(cat err)"
	return 1
}

killed_often() {
	for _ in 1 2 3 4 5; do
		killed 16 && killed 300 || return 1
	done
}
ok 'killed at any moment: all counted calls are recorded, and at most one more per thread' killed_often

# ---- limited space ----

(ulimit -f 600 && recorded "$attach" started 400)
is "$? $(cat out)" '0 400' 'a limit on the size of files: status and output'
adds_up some 400 'a limit on the size of files'
ok 'the trace fits' test "$(stat -c %s some.pillion/*.trace | sort -n | tail -1)" -le $((600 * 1024))

(ulimit -v 300000 && recorded "$attach" started 1000)
is "$? $(cat out)" '0 1000' 'a limit on address space: status and output'
is "$(num_calls some write) $(ledger some lost) $(ledger some 'threads lost')" '1000 0 0' 'each call is recorded'

if [ "$(id -u)" -eq 0 ] && mkdir full && mount -t tmpfs -o size=1m none full 2>/dev/null; then
	for mode in started released; do
		rm -rf full/cap.pillion
		pillion -t osrt --osrt-threshold=0 -o full/cap "$attach" $mode 400 >out 2>err
		is "$? $(cat out)" '0 400' "a full disk, threads $mode: status and output"
		adds_up full/cap 400 "a full disk, threads $mode"
	done
	umount full
else
	skip 'a full disk' 'no tmpfs can be mounted here'
fi
done_testing
