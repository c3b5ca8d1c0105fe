#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The capture range: only the loops between cudaProfilerStart and Stop are recorded, with every end mode, in every
# process of the run. Loop i makes i cudaMalloc calls and ten usleep calls.
set -u
. "$(dirname "$0")/lib.sh"

loops=$targets/cuda_loops
[ -x "$loops" ] || skip_all 'built without CUDA headers'
export LD_LIBRARY_PATH=$PILLION_BUILD_DIR/tests/doubles

num_cuda() {
	report stats -r cuda_api_sum -f csv "$1.pillion" 2>/dev/null | awk -F, -v name="$2" '$9 == name { print $3 }'
}

# MODE MALLOCS SLEEPS ARGUMENTS...
mode() {
	local mode=$1 mallocs=$2 sleeps=$3
	shift 3
	pillion -f -o range -c cudaProfilerApi --capture-range-end="$mode" "$loops" "$@" >out 2>err
	is "$? $(cat out)" '0 10 loops, 0 failed' "$mode: the program continues"
	is "$(num_cuda range cudaMalloc)" "$mallocs" "$mode: $mallocs cudaMalloc calls"
	is "$(num_calls range usleep)" "$sleeps" "$mode: $sleeps sleeps, including the worker's"
}

pillion -f -o whole "$loops" 3 5 >out 2>err
is "$(num_cuda whole cudaMalloc)" 55 'without -c: all ten loops'
mode stop $((3 + 4 + 5)) 30 3 5
mode none $((3 + 4 + 5 + 6 + 7 + 8 + 9 + 10)) 80 3 5
mode stop $((3 + 4 + 5)) 30 3 5 8 8
mode repeat $((3 + 4 + 5 + 8)) 40 3 5 8 8
is "$(report stats -r cuda_api_sum -f csv --by range range.pillion | awk -F, '$10 == "cudaMalloc" { print $1 "=" $4 }' |
	sort | tr '\n' ' ')" \
	'1=12 2=8 ' 'repeat: the report has a row for each range'
mode repeat:2 $((2 + 4)) 20 2 2 4 4 6 6
pillion -f -o nvprof --profile-from-start off "$loops" 3 5 8 8 >out 2>err
is "$(num_cuda nvprof cudaMalloc)" 20 '--profile-from-start off means repeat'
pillion -f -o stopped -c cudaProfilerApi --stop-on-range-end=true "$loops" 3 5 >out 2>err
is "$(num_cuda stopped cudaMalloc)" 12 '--stop-on-range-end=true means stop'

pillion -f -o shutdown -c cudaProfilerApi --capture-range-end=stop-shutdown "$loops" 3 5 >out 2>err
is $? 143 'stop-shutdown: SIGTERM at its end'
is "$(num_cuda shutdown cudaMalloc)" 12 'stop-shutdown: the range'

pillion -f -o never -c cudaProfilerApi "$loops" >out 2>err
is "$? $(cat out)" '0 10 loops, 0 failed' 'no Start: the program runs'
is "$(num_calls never usleep)" '' 'no Start: nothing is recorded'
like "$(report stats --summary never.pillion)" '^--capture-range=cudaProfilerApi: cudaProfilerStart was never called' \
	'no Start: the summary gives the reason'
unlike "$(report stats --summary stopped.pillion)" 'never called' 'with Start: the summary does not say so'

# ---- shares are of the ranges, not of what was around them ----

if command -v python3 >/dev/null; then
	cat >around.py <<'END'
import ctypes, time
cuda = ctypes.CDLL("libcudart.so.13")
def computes():
    begin = time.process_time()
    while time.process_time() - begin < 1:
        pass
computes()
cuda.cudaProfilerStart()
time.sleep(0.5)
cuda.cudaProfilerStop()
computes()
END
	python=$(python3 -c 'import sys; print(sys.executable)')
	# A sample stands for the CPU time since the previous one, which may have been before the range.
	pillion -f -o around -s none -c cudaProfilerApi "$python" around.py >out 2>err
	report stats --summary around.pillion >out 2>err
	like "$(cat out)" '^[0-9.]+ s \(recorded: [0-9.]+ m?s in 1 capture range, of which all shares are\), 1 p' \
		'the summary has the time of the range beside that of the run'
	like "$(cat out)" '^FIX FIRST +(main|around.py) is blocked [0-9]+ % .* \(1 call\): around.py:9 ' \
		'FIX FIRST: the sleep in the range'
	unlike "$(cat out)" ' % (CPU|runnable|other waits)' 'no share of the time outside of the range'
	# The program computes for 2 s around a range in which it sleeps for 0.5 s.
	is "$(report stats -q -r time_sum -f csv around.pillion | awk -F, '
		$1 == $2 { rows++; other += $4 - $8 - $10 } END { print rows, (other == 0) }')" '1 1' \
		'time_sum has one process, whose main thread is in its calls or between them'
	column() { # NUMBER: the sum of that column of time_sum
		report stats -q -r time_sum -f csv around.pillion |
			awk -F, -v column="$1" 'NR > 1 { n += $column } END { printf "%d", n }'
	}
	ok 'and not the CPU time around the range' test "$(column 10)" -lt "$(column 4)"
fi

# Without the launcher, by environment variables only.
LD_PRELOAD=$library PILLION_OUTPUT=$work/bare.pillion PILLION_CAPTURE_RANGE=cudaProfilerApi "$loops" 3 5 >out 2>err
is "$(num_cuda bare cudaMalloc)" 12 'without the launcher'
# A process that is killed in a call recorded nothing when the range ended.
pillion -f true -o in_call -d 2 sleep 100 >out 2>err
report stats --summary in_call.pillion >out 2>err
like "$(head -n 1 out)" '^[0-9.]+ s \(recorded: ([2-9]|[1-9][0-9]+)\.[0-9]+ s in 1 capture range' \
	'a range that ends in a call lasts until its end'
done_testing
