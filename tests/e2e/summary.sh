#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The partition of time, and the first lines of the summary, of jobs with one planted cost. Nothing depends on elapsed
# time: amounts are of CPU time, or of sleeps that are much longer than what a loaded machine adds.
. "$(dirname -- "$0")/lib.sh"
unset MALLOC_PERTURB_ # of Meson: the summary names what is switched on

unset MALLOC_PERTURB_ # which Meson sets, and the summary names
parts=$targets/time_parts
starved='too few CPUs \([^)]*\): '
has_schedstat() {
	[ "$(awk '{ print ($1 + $2 + $3 > 0) }' /proc/self/schedstat 2>/dev/null)" = 1 ]
}

# recorded NAME COMMAND...: records it with a summary: its output in out, the summary in err.
recorded() {
	PILLION_STATS=summary pillion -o "$@" >out 2>err
	code=$?
	tail -n +2 err >summary
}

# partitions NAME: the rows of time_sum in numbers, and in time.csv.
partitions() {
	report stats -q -r time_sum -f csv "$1.pillion" >time.csv
	report stats -q -r time_sum --by process -f csv "$1.pillion" >process.csv
	report stats -q -r processes -f csv "$1.pillion" >list.csv
}

# adds_up NAME TEXT: each lifetime is the sum of its parts, to a rounding error for each call; the lifetime of each main
# thread is that of its process, to 0.5 % or to 5 ms for which the process may lose the CPU while it ends, and what the
# process had used and waited for before it was recorded; the summary's parts are 100 %.
adds_up() {
	partitions "$1"
	is "$(awk -F, 'NR > 1 && $5 != "" {
			n++
			if ($4 - $5 - $6 - $7 > 1 || $4 - $5 - $6 - $7 < -1) wrong++
			if ($7 - $8 - $9 - $10 > 1 || $7 - $8 - $9 - $10 < -1) wrong++
		} END { print (n > 0), wrong + 0 }' time.csv)" '1 0' "$2: the parts add up to each thread's lifetime"
	is "$(awk -F, 'NR == FNR { life[$1] = $6; next }
		FNR > 1 && $1 == $2 {
			n++
			late = $4 - life[$1]
			if (late < -(life[$1] * 0.005 + 5000000)) wrong++
			if (late > life[$1] * 0.005 + 200000000 && $7 > 0) wrong++
		} END { print (n > 0), wrong + 0 }' list.csv time.csv)" '1 0' \
		"$2: the lifetimes of main threads are those of their processes"
	# Of a run below 100 ms there are no roles.
	is "$(awk 'NR == 1 && $2 == "ms," && $1 < 100 { print 100 }' summary
		grep -E ': [0-9]+ % ' summary | grep -vE '^(FIX FIRST|GPU|next|MPI|NCCL|found)' | sed 's/^[^:]*: //' |
		awk '{ sum = 0; for (i = 2; i <= NF; i++) if ($i == "%") sum += $(i - 1); print sum }' | sort -u)" 100 \
		"$2: the percentages of each role add up to 100"
	is "$(awk 'END { print NR <= 25 }' err)" 1 "$2: at most 25 lines"
	like "$(tail -n 2 summary)" '^recording +[0-9]+ recorded' "$2: the ledger is the last line or the last but one"
}

# cpu_is_rusage TEXT: the process's CPU time is what it printed, and what it used to print it and end.
cpu_is_rusage() {
	local printed got
	printed=$(tail -n 1 out)
	got=$(awk -F, 'NR > 1 { n += $4 } END { print n }' process.csv)
	is "$(awk "BEGIN { print ($got >= $printed && $got - $printed <= $printed * 0.02 + 20000000) }")" 1 \
		"$1: CPU time is that of getrusage"
}

first_line() { # REGEX TEXT
	like "$(head -n 2 summary)" "^FIX FIRST +$1" "$2"
}

# ---- CPU ----

recorded compute "$parts" compute
is "$code $(head -n 1 summary | sed 's/^[0-9.]* m\?s/TIME/')" '0 TIME, 1 process, exit 0' \
	'wall time, processes, end'
adds_up compute 'computing'
cpu_is_rusage 'computing'
first_line "([0-9.]+ m?s of [0-9.]+ m?s (pass through these|at .*time_parts\.c:[0-9]+ [a-z_]+); a change |$starved)" \
	'computing: named first'
like "$(cat summary)" '^time_parts .*[0-9]+ % CPU' 'computing: a line for the program'

recorded threads "$parts" threads
adds_up threads 'threads that end'
cpu_is_rusage 'threads that end'

recorded exec "$parts" exec
adds_up exec 'a program that calls exec'
cpu_is_rusage 'a program that calls exec'

recorded helpers "$parts" helpers
adds_up helpers 'idle helpers'
like "$(cat summary)" '^not shown +8 idle helpers' 'idle helpers are counted'
unlike "$(cat summary)" 'pthread_cond_wait' 'their waits are not in the summary'

if has_schedstat; then
	recorded starve "$parts" starve
	adds_up starve 'four workers on one CPU'
	time='[0-9.]+ m?s'
	four='the 4 workers had a CPU [0-9]+ % of the time and waited for one [4-9]'
	like "$(cat summary)" "^(FIX FIRST  $starved$four| {11}waited $time for a CPU: other programs held them\$)" \
		'four workers on one CPU: named first, or as a note if others had it'
	like "$(cat summary)" '^workers +[^ ]+ [0-9.]+ s of 4 processes: .*waits for a CPU' \
		'four workers on one CPU: their line'
	like "$(cat summary)" '^main .*waits for the 4 workers .* in wait' \
		'four workers on one CPU: main waits for them'
else
	skip 'four workers on one CPU' 'no schedstat'
fi

# ---- waits ----

recorded sleep "$parts" sleep
adds_up sleep 'sleep'
cpu_is_rusage 'sleep'
first_line 'time_parts is blocked [0-9]+ % of the time in usleep \(1 call\)' 'sleep: named first'
if has_unwinder; then
	saves='saves ((1\.[4-9]|[2-9]\.)[0-9]* to )?(1\.9|[2-9]\.)[0-9]+ s$'
	like "$(head -n 2 summary)" ": time_parts\.c:[0-9]+ doze, called from time_parts\.c:[0-9]+; $saves" \
		'sleep: with its line, its caller and its cost'
fi

recorded stream "$parts" stream
adds_up stream 'a read by __uflow'
is "$(awk -F, 'NR > 1 && $7 > 1000000000 { print ($8 >= $7 * 0.9) }' time.csv | sort -u)" 1 \
	'a read by __uflow: it explains that the thread is blocked'

LD_PRELOAD=$(preloadable "$targets/slow_fsync.so") recorded fsync "$parts" fsync
adds_up fsync 'fsync'
! has_unwinder || first_line '40 calls that wait until data is on the disk, .* time_parts\.c:[0-9]+ flush' \
	'fsync: named first'

# ---- shells, stops, kills ----

recorded shell sh -c "'$parts' compute | cat; exit 3"
is "$code" 3 'a pipeline of a shell: status'
adds_up shell 'a pipeline of a shell'
like "$(cat summary)" '^time_parts .*% CPU' 'a pipeline of a shell: its program has a line'
like "$(head -n 1 summary)" ' \(\+[1-9] of start-up\), ' 'a pipeline of a shell: the shell is counted apart'

recorded sequence -s none sh -c "'$parts' compute; awk 'BEGIN { while (i < 150000000) i++ }'"
first_line "(awk computes|$starved)" 'a program of a shell that computes more than the first one'

stopped() { # least ns
	report stats -q -r time_sum -f csv stopped.pillion 2>/dev/null |
		awk -F, -v least="$1" 'NR > 1 && $1 == $2 { n = $9 } END { exit !(n >= least) }'
}
PILLION_STATS=summary "$PILLION" -o stopped "$parts" signal >out 2>err &
launcher=$!
if eventually grep -q ready out; then
	child=$(child_of $launcher)
	kill -STOP "$child"
	ok 'a stop is seen while it lasts' eventually stopped 3000000000
	kill -CONT "$child"
	kill -USR1 "$child"
fi
wait $launcher
is $? 0 'a stopped program: status'
tail -n +2 err >summary
adds_up stopped 'a stopped program'
ok 'the stop is in the partition' stopped 3000000000
like "$(cat summary)" '^FIX FIRST .*time_parts was stopped' 'a stopped program: named first'

# A stop of half a second, of which samples once per second would make 0 or 1 s.
state_of() {
	sed 's/.*) \(.\).*/\1/' "/proc/$1/stat"
}
is_stopped() {
	[ "$(state_of "$child")" = T ]
}
not_stopped() {
	! is_stopped
}
rm -f out # the run above has printed "ready", too
PILLION_STATS=false "$PILLION" -o briefly "$parts" signal >out 2>err &
launcher=$!
if eventually grep -q ready out; then
	child=$(child_of $launcher)
	before=$(date +%s%N)
	kill -STOP "$child"
	eventually is_stopped
	stopped=$(date +%s%N)
	sleep 0.5
	continued=$(date +%s%N)
	kill -CONT "$child"
	eventually not_stopped
	after=$(date +%s%N)
	kill -USR1 "$child"
fi
wait $launcher
accounted=$(report stats -q -r time_sum -f csv briefly.pillion 2>/dev/null | awk -F, 'NR > 1 && $1 == $2 { print $9 }')
ok "a stop of $((continued - stopped)) to $((after - before)) ns is accounted to ${accounted:=0} ns" test \
	"$accounted" -gt $((continued - stopped - 300000000)) -a "$accounted" -lt $((after - before + 300000000))

grandchild() { # its pid; empty: it does not exist yet
	report stats -q -r processes -f csv killed.pillion 2>/dev/null | awk -F, 'NR == 4 { print $1 }'
}
used() { # PID least ns
	report stats -q -r time_sum --by process -f csv killed.pillion 2>/dev/null |
		awk -F, -v pid="$1" -v least="$2" '$1 == pid { n = $4 } END { exit !(n >= least) }'
}
PILLION_STATS=summary "$PILLION" -o killed "$parts" grandchild >out 2>err &
launcher=$!
found() {
	pid=$(child_of "$(child_of "$(child_of "$launcher")")")
	[ -n "$pid" ]
}
if eventually found; then
	ok 'the CPU time of a grandchild is known while it lives' eventually used "$pid" 300000000
	kill -KILL "$pid"
fi
wait $launcher
tail -n +2 err >summary
adds_up killed 'a killed grandchild'
ok 'a killed grandchild: its CPU time is kept' used "$pid" 300000000

recorded children "$parts" children
adds_up children 'thousands of children'
cpu_is_rusage 'thousands of children'
like "$(cat time.csv)" '\(unrecorded time of children\)' 'thousands of children: the time of their ends has a row'

recorded vfork --osrt-threshold=0 "$parts" vfork
adds_up vfork 'a child of vfork that fills the place in the range file'
is "$(awk -F, 'NR > 1 && $2 != "" && ($1 != $2 || $5 == "")' time.csv)" '' \
	'a child of vfork: the thread keeps its ID and its CPU time'

# ---- Python ----

if command -v python3 >/dev/null; then
	cat >job.py <<-'END'
		import sys, threading, time
		def step():
		    while time.process_time() < float(sys.argv[1]):
		        sum(range(1000))
		def doze():
		    time.sleep(float(sys.argv[2]))
		step()
		thread = threading.Thread(target=doze)
		thread.start()
		thread.join()
	END
	# Of the elapsed time most is the sleep, also where other programs hold the CPUs.
	recorded python python3 job.py 0.2 5
	is $code 0 'Python: status'
	adds_up python 'Python'
	if has_unwinder; then
		like "$(cat summary)" '^main .*[0-9]+ % CPU' 'Python: the time that it computes'
		like "$(cat summary)" '^threads .*[0-9]+ % clock_nanosleep job\.py:6 doze' \
			'Python: the sleep of a thread, with its line'
		like "$(cat summary)" '^main .*waits for .* in .*job\.py:10 ' 'Python: the line that waits for it'
		first_line ".*(job\.py:6 doze|$starved)" 'Python: named first'
		cat >programs.py <<-'END'
			import subprocess
			def count(n):
			    subprocess.run(['awk', f'BEGIN {{ while (i < {n}) i++ }}'], check=True)
			def look():
			    subprocess.run(['ls', '/'], stdout=subprocess.DEVNULL, check=True)
			look()
			count(30000000)
		END
		recorded programs -s none python3 programs.py
		first_line "(awk computes .* for main: programs\.py:3 count|$starved)" \
			'a program without lines: the line of its parent that waits for it'
		cat >driver.py <<-'END'
			import subprocess
			awk = ['awk', 'BEGIN { while (i < 30000000) i++ }', ';']
			subprocess.run(['find', '.', '-maxdepth', '0', '-exec', *awk, '-exec', 'true', ';'], check=True)
		END
		recorded driver python3 driver.py
		like "$(cat summary)" '^main .*waits for [a-z]*awk \(computes [0-9]+ %\) in ' \
			'a wait for a program that only starts others: what computes'
		recorded sampled -s cpu python3 job.py 0.6 0.1
		like "$(cat summary)" '^main .* CPU job\.py:[34] step' 'Python with samples: the line that computes'
		mkdir imports
		printf '%s\n' 'import time' 'end = time.thread_time() + 0.4' 'while time.thread_time() < end: pass' \
			>imports/slow_module.py
		printf '%s\n' 'import time, slow_module' 'end = time.thread_time() + 0.2' \
			'while time.thread_time() < end: pass' 'time.sleep(8)' >imports/uses.py
		recorded imports -s cpu python3 imports/uses.py
		report stats --summary --json imports.pillion >out 2>err
		ok 'Python: what imports compute is a part of its own' python3 -c '
import json
parts = {row["Kind"]: row["Time (ns)"] for row in json.load(open("out"))["rows"] if row["table"] == "roles"}
assert parts["import"] > parts["cpu"] > 0, parts'
		like "$(cat summary)" '^(main|uses.py) .*[0-9]+ % CPU, mostly in imports' \
			'Python: and named beside a long sleep, instead of the line that computes less'
	fi
else
	skip Python 'no python3'
fi

# ---- memory, and what is switched on ----

unlike "$(report stats --summary threads.pillion)" '^switched' 'nothing is switched on'
like "$(report stats --summary threads.pillion)" '^memory +peak [0-9.]+ MB in ' 'the peak of resident memory'
unlike "$(report stats --summary threads.pillion)" 'grows steadily' 'which does not grow'
CUDA_LAUNCH_BLOCKING=1 NCCL_DEBUG=WARN PYTHONDEVMODE=1 recorded switches "$parts" threads
like "$(cat summary)" '^switched +CUDA_LAUNCH_BLOCKING=1 \(each launch waits for its kernel\), PYTHONDEVMODE=1 \(' \
	'variables that are on are named, and no others'
if command -v python3 >/dev/null; then
	cat >grows.py <<'END'
import time
kept = []
for i in range(24):
    kept.append(b"x" * 10000000)
    time.sleep(0.35)
END
	recorded grows python3 grows.py
	like "$(cat summary)" '^memory +peak 2[0-9]{2} MB in .*, grows steadily, by [0-9.]+ MB per second$' \
		'memory that grows steadily'
else
	skip 'memory that grows' 'no python3'
fi

# ---- a GPU ----

if [ -e "$PILLION_BUILD_DIR/tests/doubles/cuda_launches" ]; then
	doubles=$PILLION_BUILD_DIR/tests/doubles
	LD_LIBRARY_PATH=$doubles recorded gpu "$doubles/cuda_launches" 1000 # longer than 100 ms
	adds_up gpu 'a GPU'
	is "$(sed -n 's/^GPU  *\(.*idle [0-9.]* %\).*/\1/p' summary |
		awk '{ for (i = 2; i <= NF; i++) if ($i == "%") sum += $(i - 1)
			print (sum > 99.7 && sum < 100.3) }')" 1 \
		'a GPU: kernels, copies, graphs and idle time add up to 100 %'
	# What this program could save depends on the machine; analyze_rules.sh has a job whose first finding is known.
else
	skip 'a GPU' 'built without CUDA headers'
fi

# ---- without the launcher ----

alone() { # WAY
	mkdir "alone.$1"
	LD_PRELOAD=$library PILLION_OUTPUT=$PWD/alone.$1 "$parts" "$1" >out 2>err
	report stats --summary "alone.$1" >summary 2>>err
	report stats -q -r time_sum -f csv "alone.$1" >time.csv
	report stats -q -r time_sum --by process -f csv "alone.$1" >process.csv
}
alone threads
cpu_is_rusage 'without the launcher'
alone killed
cpu_is_rusage 'a killed child without the launcher'
if has_schedstat; then
	alone crowd
	cpu_is_rusage 'threads on one CPU without the launcher'
	is "$(awk -F, 'NR > 1 && $1 != $2 && $5 > 100000000 { n++; life += $4; unexplained += $10 }
		END { print n, (unexplained <= life * 0.05) }' time.csv)" '4 1' \
		'threads on one CPU that end: their run delay is known'
else
	skip 'threads on one CPU without the launcher' 'no schedstat'
fi

done_testing
