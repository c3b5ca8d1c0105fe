#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --mode=profile: the sums are those of the program and of --mode=trace, and what has none says so.
set -u
. "$(dirname "$0")/lib.sh"

# record NAME OPTION... -- COMMAND...
record() {
	pillion --mode=profile -o "$@" >"$1.out" 2>"$1.err"
}
cells() { # NAME REPORT PATTERN COLUMN...: of the rows that match the pattern, by the titles of columns
	report stats -q -r "$2" -f csv "$1.pillion" >table 2>err
	python3 - "${@:3}" <<-'END'
		import csv, re, sys
		with open("table", newline="") as f:
		    rows = [[row[t] for t in sys.argv[2:]] for row in csv.DictReader(f)
		            if re.search(sys.argv[1], ",".join(row.values()))]
		print("\n".join(sorted(",".join(row) for row in rows)))
	END
}
total() { # of numbers, one a line
	awk '{ n += $1 } END { print n + 0 }'
}
files() { # NAME: calls, opens, bytes read and written of each file
	cells "$1" files . Path 'Num Calls' Opens 'Read (bytes)' 'Written (bytes)' | sed 's|^/.*/||'
}
of_files() { # TIMES: what files() must print after so many rounds
	for k in 0 1 2; do
		printf 'file.%d,%d,%d,%d,%d\n' $k $(($1 * 4)) "$1" $(($1 * 50)) $(($1 * 100 * (k + 1)))
	done
}
counts() { # NAME: of each function, above and below the threshold
	{
		cells "$1" osrt_sum . Name 'Num Calls'
		cells "$1" osrt_short_sum . Name 'Num Calls'
	} | sed 's/64,/,/' | awk -F, '/^(close|open|pread|write),/ { n[$1] += $2 } END { for (i in n) print i, n[i] }' |
		sort | tr '\n' ' '
}
size() { # NAME: of its largest trace file
	stat -c %s "$1".pillion/*.trace | sort -n | tail -n 1
}
count_of() { # NAME FACT: of the ledger, over all processes
	cells "$1" ledger "$2" Count | total
}

# ---- every call above the threshold ----
ok 'a program runs' record all --osrt-threshold=0 "$targets/summed_files" 1 500
ok 'the same program runs with --mode=trace' pillion -o trace --osrt-threshold=0 "$targets/summed_files" 1 500
is "$(files all)" "$(of_files 500)" 'calls, opens and bytes of each file are those of the program'
is "$(files all)" "$(files trace)" 'and those of --mode=trace'
is "$(counts all)" 'close 1500 open 1500 pread 1500 write 1500 ' 'calls by function are those of the program'
is "$(counts all)" "$(counts trace)" 'and those of --mode=trace'
is "$(cells all files_meta_sum . Directory Opens)" "$(cells trace files_meta_sum . Directory Opens)" \
	'opens by directory are those of --mode=trace'
is "$(count_of all '^[0-9]+,[^,]*,lost')" 0 'nothing is lost'
is "$(count_of all 'not seen')" 0 'the kernel has counted no more bytes'
is "$(($(count_of all ',recorded,') < 300))" 1 'few calls became events'

# ---- every call below the threshold ----
ok 'short calls: a program runs' record short --osrt-threshold=1000000000 "$targets/summed_files" 1 500
is "$(files short | grep -c '^file')" 3 'short calls: each file has a row'
transfers() { # NAME PATTERN: reads and writes of the files that match
	echo $(($(cells "$1" files "$2" Reads | total) + $(cells "$1" files "$2" Writes | total)))
}
is "$(($(transfers short .) + $(count_of short 'below threshold, without a file')))" 3000 \
	'short calls: each is counted by its file, or counted as missing there'
is "$(($(transfers short '/file') >= 2400))" 1 'short calls: once there is a trace file, their files are known'
is "$(counts short)" 'close 1500 open 1500 pread 1500 write 1500 ' 'short calls: each is counted once'

# ---- threads, more than have rows of their own ----
ok '100 threads run' record threads --osrt-threshold=0 "$targets/summed_files" 100 20
is "$(files threads)" "$(of_files 2000)" '100 threads: the sums are those of the program'
is "$(counts threads)" 'close 6000 open 6000 pread 6000 write 6000 ' '100 threads: calls by function'
ok '100 threads with short calls run' record thin --osrt-threshold=1000000000 "$targets/summed_files" 100 20
is "$(($(transfers thin .) + $(count_of thin 'below threshold, without a file')))" 12000 \
	'100 threads: short calls by file'

# ---- ends ----
record killed --osrt-threshold=0 "$targets/summed_files" 4 250 kill
is "$?" 137 'a program kills itself'
is "$(files killed)" "$(of_files 1000)" 'SIGKILL: the sums are those of the program'
ok 'a program forks' record forked --osrt-threshold=0 "$targets/summed_files" 2 250 fork
is "$(files forked)" "$(of_files 1000)" 'fork: the sums of both processes'

# ---- size ----
ok 'ten times as many calls' record long --osrt-threshold=0 "$targets/summed_files" 1 5000
is "$(size long)" "$(size all)" 'the trace file is as large after ten times as many calls'
# The trace file has no room for most of these, whose pages are in memory.
bare=$("$targets/held_threads" 1500) && ok '1,500 threads at once run' record held "$targets/held_threads" 1500
if [ -n "$bare" ]; then
	is "$(($(cat held.out) <= bare + bare / 10 + 50))" 1 '1,500 threads at once: hardly more mappings than bare'
	writes=$(counts held | sed -n 's/.*write \([0-9]*\).*/\1/p')
	is "$((writes <= 3000 && writes + $(count_of held ',lost,') >= 3000))" 1 'and each call is counted, or lost'
else
	skip '1,500 threads at once' 'so many cannot be created here'
fi
is "$(($(size threads) <= 2000000))" 1 'the trace file of 100 threads is within its bound'
is "$(($(size long) * 4 < $(size trace) * 10))" 1 'and smaller than events'

# ---- lines ----
cat >busy.py <<'END'
import time

def spin():
    while time.process_time() < 1: pass

def pause():
    for _ in range(5): time.sleep(0.1)

spin()
pause()
END
ok 'a program with a busy line and one that waits' record busy -s cpu python3 busy.py
of_lines() { # COLUMN: by line
	report stats -q -r lines -f csv busy.pillion | python3 -c "
import csv, sys
for row in csv.DictReader(sys.stdin):
    if 'busy.py:' in row['Line']:
        print(row['Line'].rpartition('/')[2], row['Function'], row['$1'])"
}
is "$(of_lines Calls | grep :7)" 'busy.py:7 pause 5' 'lines: calls'
is "$(of_lines 'Off-CPU (ns)' | awk '/:7/ { print ($3 >= 5e8) }')" 1 'lines: the time of calls'
is "$(of_lines 'Total Time (ns)' | awk '/:4/ { print ($3 >= 5e8 && $3 < 2e9) }')" 1 'lines: CPU time'
is "$(of_lines Samples | awk '/:4/ { print ($3 >= 20) }')" 1 'lines: samples'
of_samples() { # REPORT COLUMN: the sum of all rows
	report stats -q -r "$1" -f csv busy.pillion | python3 -c "
import csv, sys
print(sum(int(row['$2']) for row in csv.DictReader(sys.stdin)))"
}
is "$(of_samples sample_line_sum Samples)" "$(of_samples lines Samples)" 'sample_line_sum: the same samples'
is "$(of_samples sample_sum 'Self Time (ns)')" "$(of_samples sample_line_sum 'Self Time (ns)')" 'sample_sum: their time'
like "$(report stats -q -r sample_python_sum -f csv busy.pillion)" ',spin,.*busy\.py' 'sample_python_sum: the function'

# ---- ranges of NVTX, and steps ----
names() { # NAME REPORT: style and number of the ranges with each text, with an asterisk for each number of a step
	cells "$1" nvtx_sum . Style Range Instances | sed 's/step [0-9][0-9]*/step */' |
		awk -F, '{ n[$1 "," $2] += $3 } END { for (i in n) print i "," n[i] }' | LC_ALL=C sort
}
of_names() { # TIMES THREADS: what names() must print after so many rounds
	printf '%s\n' "PushPop,Optimizer.step#SGD.step,$1" "PushPop,aten::mm,$1" "PushPop,crossing,$1" \
		"PushPop,parts:part,$(($1 * 2))" "PushPop,step *,$1" "StartEnd,handed over,$2" "StartEnd,started,$1"
}
steps() { # NAME: source and number of the steps of each process
	cells "$1" steps_sum . Source Steps
}
"$targets/nvtx_sums" 1 1
if [ $? = 77 ]; then
	skip 'ranges' "built without NVTX's headers"
else
	record ranges "$targets/nvtx_sums" 1 50
	ok 'the same ranges with --mode=trace' pillion -o events "$targets/nvtx_sums" 1 50
	is "$(names ranges)" "$(of_names 50 1)" 'ranges: their numbers are those of the program'
	is "$(names ranges)" "$(names events)" 'and those of --mode=trace'
	is "$(cells ranges nvtx_pushpop_sum . Instances | total)" 300 'nvtx_pushpop_sum'
	is "$(cells ranges nvtx_startend_sum . Instances | total)" 51 'nvtx_startend_sum'
	is "$(cells ranges nvtx_names . Domain Kind Name)" 'parts,category,kind of part' 'nvtx_names'
	is "$(count_of ranges unmatched)" 0 'each range has a begin and an end'
	is "$(($(count_of ranges ',recorded,') < 100))" 1 'no range is an event'
	is "$(steps ranges)" 'NVTX ranges,50' 'steps: their number'
	is "$(steps ranges)" "$(steps events)" 'and that of --mode=trace'
	times='Total Time (ns),Avg (ns),Min (ns),Max (ns),StdDev (ns)'
	IFS=, read -ra times <<<"$times"
	is "$(cells ranges steps_sum . "${times[@]}")" "$(cells ranges nvtx_sum ',step' "${times[@]}")" \
		'their times are those of the ranges'
	[ "$(cells ranges steps_sum . 'Total Time (ns)')" -ge "$(cells ranges osrt_sum usleep 'Total Time (ns)')" ]
	is "$?" 0 'which contain the sleeps of the same run'
	for name in ranges events; do
		cells $name steps_sum . 'Min (ns)' 'Med (ns)' 'Max (ns)' |
			awk -F, '{ print (1000000 < $1 && $1 <= $2 && $2 <= $3) }' >order
		is "$(cat order)" 1 "the median of $name is between least and most"
	done
	like "$(report stats --summary ranges.pillion)" 'steps +50 of [0-9.]+ m?s on average, from ' \
		'the summary has the steps'
	like "$(report stats -r steps_sum all.pillion 2>&1)" 'in profile mode loops of calls are not found' \
		'steps_sum without ranges says what is missing'

	record many "$targets/nvtx_sums" 100 20
	is "$? $(names many)" "0 $(of_names 2000 100)" '100 threads: their ranges'
	is "$(steps many)" 'NVTX ranges,20' '100 threads: steps are those of one'
	is "$(count_of many ' other,')" 0 '100 threads: all ranges and steps have sums'
	record children "$targets/nvtx_sums" 2 20 fork
	is "$? $(names children | grep -v over)" "0 $(of_names 80 4 | grep -v over)" \
		'fork: the ranges of both processes'
	is "$(names children | grep fork)" 'PushPop,over a fork,1' 'fork: the pop of the child is none of the parent'
	is "$(count_of children 'unmatched pop')" 1 'fork: but counted'
	record again "$targets/nvtx_sums" 2 20 exec
	is "$? $(names again)" "0 $(of_names 80 4)" 'exec: the ranges of both images'
	is "$(count_of again 'unmatched push')" 1 'exec: the open one is counted'
	record dead "$targets/nvtx_sums" 2 20 kill
	is "$? $(names dead)" "137 $(of_names 40 2)" 'SIGKILL: the ranges that have ended'
	is "$(count_of dead 'unmatched push') $(count_of dead 'unmatched start')" '1 1' 'SIGKILL: those that were open'
	record texts "$targets/nvtx_sums" 1 20 names
	is "$(cells texts nvtx_sum 'name|other' Instances | total)" 20000 'many texts: each range is counted'
	is "$(cells texts nvtx_sum other Instances)" "$(count_of texts 'ranges in sums, other')" \
		'many texts: the ledger has what is in no sum of its own'
	is "$(cells texts nvtx_sum other Instances | awk '{ print ($1 > 0 && $1 < 20000) }')" 1 \
		'many texts: a part of them'
	is "$(steps texts)" 'NVTX ranges,20' 'many texts: steps have their sum'
	is "$(($(size texts) <= 2000000))" 1 'many texts: the trace file is within its bound'
	if report pack -q -o packed.pillpack --redact ranges.pillion 2>err; then
		is "$(report stats -q -r steps_sum -f csv packed.pillpack | cut -d, -f 4-)" \
			"$(report stats -q -r steps_sum -f csv ranges.pillion | cut -d, -f 4-)" 'packed: the same steps'
	else
		grep -q 'no zstd' err && skip 'packed: the same steps' 'built without zstd'
	fi
fi

# ---- what there is not ----
report stats -q -r steps all.pillion >out 2>err
is "$? $(cat out err)" '1 pillion stats: steps: not recorded in profile mode' 'a report that needs events'
report stats all.pillion >out 2>err
is "$? $(grep -c 'other reports of the default set: not recorded in profile mode' err)" '0 1' 'the default set'
for verb in 'export -t chrome -o page' 'export -t html -o page' 'view -o page' 'query' analyze critical 'ops'; do
	# shellcheck disable=SC2086 # words
	report $verb all.pillion </dev/null >out 2>err
	is "$? $(cat err)" "1 pillion ${verb%% *}: its events are not recorded in profile mode" "$verb"
done
not_ok 'nothing is written' test -e page
report whatif all.pillion 'call~write=0' >out 2>err
is "$? $(cat err)" '1 pillion whatif: its events are not recorded in profile mode' 'whatif'
report diff all.pillion trace.pillion >out 2>err
is "$? $(cat err)" '2 pillion diff: all.pillion: its events are not recorded in profile mode' 'diff'
for option in '--by thread' '--by range' '--filter-time 0/1s'; do
	# shellcheck disable=SC2086 # words
	report stats $option -r osrt_sum all.pillion >out 2>err
	is "$? $(grep -c 'not recorded in profile mode' err)" '1 1' "stats $option"
done
report stats --summary all.pillion >out 2>err
like "$(cat out)" '^profile +sums, no events: pillion stats prints them$' 'the summary says where the sums are'
unlike "$(cat out)" 'FIX FIRST|^(main|role|job) ' 'and nothing to repair'
if command -v gcc >/dev/null; then
	echo 'static volatile long n; int main(void) { for (long i = 0; i < 500000000; i++) n += i; }' >loop.c
	gcc -O1 -o loop loop.c
	record scripted -s cpu sh -c 'sleep 0; ./loop; sleep 0; exit 0'
	sampled=$(report stats -q -r sample_sum -f csv --by process scripted.pillion |
		awk -F, 'NR > 1 && !seen[$1]++ { n++ } END { print n + 0 }')
	like "$(report stats --summary scripted.pillion)" "^CPU +[0-9.]+ m?s by samples, of $sampled process(es)?\$" \
		'CPU time is of processes that have samples'
else
	skip 'processes with samples' 'no gcc'
fi
record idle sleep 0.1
like "$(report stats -r steps idle.pillion 2>&1)" 'not recorded in profile mode' \
	'a run without a trace file is known, too'
like "$(cat idle.err)" 'open it with pillion stats idle.pillion' 'the run ends with a verb that reads sums'

# ---- options ----
pillion --mode=none true 2>err
is "$? $(grep -c -- '--mode takes trace|profile' err)" '2 1' 'another mode'
pillion --mode=profile --ring=30s true 2>err
is "$? $(grep -c -- '--ring keeps events' err)" '2 1' 'a ring'

# ---- ranks ----
if [ ! -x "$targets/mpi_calls" ] || ! command -v mpirun >/dev/null || ! ranks 1 true >out 2>err; then
	skip 'ranks' 'mpirun does not run here'
else
	for mode in profile trace; do
		PILLION_STATS=false ranks 2 "$PILLION" --mode=$mode -o "ranks-$mode" -t mpi \
			"$targets/mpi_calls" 50 >out 2>err
	done
	for name in mpi_sum mpi_peer_sum mpi_comm_sum mpi_msg_size_sum; do
		for mode in profile trace; do
			report stats -q -r $name -f csv ranks-$mode.pillion | cut -d, -f3,9- |
				sed 's/,[^,]*$//' | sort >"$mode.csv" # without the bandwidth
		done
		like "$(cat profile.csv)" '100,MPI_(Allreduce|Bcast)' "$name has calls"
		is "$(cat profile.csv)" "$(cat trace.csv)" "$name is that of --mode=trace"
	done
fi
done_testing
