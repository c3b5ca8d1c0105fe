#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Report lines: the line that is slow on purpose is the first, for each cause; device time and bytes are attributed to
# the line that requested them; also with --source.
set -u
. "$(dirname "$0")/lib.sh"

has_unwinder || skip_all 'built without the unwinder'
python=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)') || skip_all 'no python3'
job=$(CDPATH='' cd -P -- "$tests_dir/../targets" && pwd)/lines_job.py

# take NAME ARG...: records the job with a stack for every call; checks its status and output.
take() {
	local name=$1
	shift
	pillion -f -o "$name" -s cpu --sampling-frequency=499 --osrt-threshold=0 --osrt-backtrace-threshold=0 \
		--cudabacktrace=all:0 \
		--cuda-launch-stacks=true "$python" "$job" "$@" >out 2>err
	is "$? $(cat out) $(grep -v '^pillion: capture' err)" '0 done ' "$name: status and output"
}

# planted WHAT: FILE:LINE of the job's line with that mark.
planted() {
	printf '%s:%s' "$job" "$(grep -n "# PLANTED $1\$" "$job" | cut -d: -f1)"
}

# cell NAME PLACE TITLE: the value of column TITLE for the line PLACE, 0 without one.
cell() {
	report stats -q -r lines -f json "$1.pillion" | "$python" -c 'import json, sys
print(sum(row[sys.argv[2]] or 0 for row in json.load(sys.stdin) if row["Line"] == sys.argv[1]))' "$2" "$3"
}

# rows_at PLACE: how many rows of a csv have it as their line.
rows_at() {
	awk -F, -v place="$1" 'NR == 1 { while ($++column != "Line"); } $column == place' | wc -l
}

first() { # NAME
	report stats -q -r lines -f json "$1.pillion" |
		"$python" -c 'import json, sys; print(json.load(sys.stdin)[0]["Line"])'
}

# first_in NAME PLACE: number of processes in which that line is the first.
first_in() {
	report stats -q -r lines --by process -f json "$1.pillion" | "$python" -c 'import json, sys
top = {}
for row in json.load(sys.stdin):
    time = row["Total Time (ns)"] or 0
    top[row["PID"]] = max(top.get(row["PID"], (0, "")), (time, row["Line"]))
print(sum(line == sys.argv[1] for _, line in top.values()))' "$2"
}

# rows_of NAME PLACE: number of rows of that line, one for each process.
# named NAME WHAT TEXT: the planted line is the first in the summary, as in the report.
named() {
	report stats --summary "$1.pillion" >out 2>err
	like "$(grep -A1 '^lines ' out)" "lines_job\.py:$(grep -n "# PLANTED $2\$" "$job" | cut -d: -f1) \(" "$3"
	is "$(awk 'END { print NR <= 24 }' out) $(cat err)" '1 ' "$1: a short summary and no other message"
}

at_least() { # NUMBER LEAST TEXT
	if awk "BEGIN { exit !($1 >= $2) }"; then
		pass "$3"
	else
		fail "$3" "got $1, wanted $2 or more"
	fi
}

take lock lock
is "$(first lock)" "$(planted lock)" 'a lock held too long: the line that waits for it is the first'
take file file
is "$(first file)" "$(planted file)" 'a file read in a loop: its line is the first'
named lock lock 'a lock held too long: its line is in the summary'
named file file 'a file read in a loop: its line is in the summary'
at_least "$(cell file "$(planted file)" Calls)" 400 'every read is counted'
for method in fork spawn; do
	take "$method" "$method"
	# It is also the first over all processes, unless on a slow machine the first one waits longer for the others.
	is "$(first_in $method "$(planted fetch)")" 3 \
		"workers by $method, slow to collate: the line is the first in each"
	at_least "$(cell $method "$(planted fetch)" 'Off-CPU (ns)')" $((12 * 24 * 20000000)) \
		"workers by $method: the whole time they slept"
	is "$(report stats -q -r lines --by process -f csv $method.pillion | rows_at "$(planted fetch)")" 3 \
		"workers by $method: --by process has a row for each"
done

# Without Python frames in samples, the line is one of C.
take spin spin
if report stats -q -r sample_line_sum -f csv spin.pillion | grep -q 'lines_job\.py'; then
	is "$(first spin)" "$(planted spin)" 'a busy loop: its line is the first'
	named spin spin 'a busy loop: its line is in the summary'
	like "$(grep '^lines ' out)" ' CPU' 'a busy loop: the summary has its CPU time'
	report export -q -t folded --metric cpu -o spin.folded spin.pillion
	if grep -q ';spin (.*position is unknown' spin.folded; then
		skip 'a busy loop: its time is CPU Python time' 'the loop of this interpreter has no symbol'
	else
		at_least "$(cell spin "$(planted spin)" 'CPU Python (ns)')" 300000000 \
			'a busy loop: its time is CPU Python time'
		take order order
		at_least "$(cell order "$(planted order)" 'CPU Native (ns)')" 300000000 \
			'a function of the interpreter that is called: its time is CPU Native time'
	fi
	take alone alone
	is "$(first alone)" "$(planted collate)" 'a slow collate function: its line is the first'
else
	skip 'a busy loop, a slow collate function: first' 'samples have no Python frames here'
fi

doubles=$PILLION_BUILD_DIR/tests/doubles
if [ -e "$doubles/libcudart.so.13" ]; then
	LINES_CUDART=$doubles/libcudart.so.13 LD_LIBRARY_PATH=$doubles take device device
	gpu=$(report stats -q -r cuda_gpu_kern_sum -f csv device.pillion |
		awk -F, 'NR > 1 { n += $2 } END { print n + 0 }')
	is "$(cell device "$(planted launch)" 'GPU Time (ns)')" "$gpu" \
		'all device time of kernels is attributed to the launching line'
	at_least "$gpu" 1 'the device time of kernels is not 0'
	LINES_CUDART=$doubles/libcudart.so.13 LD_LIBRARY_PATH=$doubles pillion -o named --gpu-activity=none \
		"$python" "$job" device >out 2>&1
	is "$(report stats -q -r cuda_launch_sum -f csv named.pillion | sed -n '2s/.*,//p')" 'steps()' \
		'a kernel that was registered by a looked-up function has its name'
	report stats --summary device.pillion >out 2>err
	is "$(cell device "$(planted allocate)" 'Allocated (MB)')" 8.388608 \
		'memory is attributed to the allocating line'
	like "$(grep -A3 '^lines ' out)" "^lines .* GPU " "device time is in the summary's lines"
	is "$(cell device "$(planted copy)" 'Copied (MB)')" 100.663296 'copies are attributed to the requesting line'
	at_least "$(cell device "$(planted launch)" Calls)" 12 'launches are counted'
else
	skip 'device time by line' 'built without CUDA headers'
fi

if "$python" -c 'import torch' 2>/dev/null; then
	# With the default thresholds: without them the start of torch alone records tens of thousands of stacks.
	pillion -f -o torch "$python" "$job" torch >out 2>err
	is "$? $(cat out) $(grep -v '^pillion: capture' err)" '0 done ' 'torch: status and output'
	is "$(first_in torch "$(planted fetch)")" 2 \
		'a DataLoader of PyTorch, slow to collate: the line is the first in each worker'
	named_place=$(first torch)
	like "$(report stats --summary torch.pillion | grep -A1 '^lines ')" "${named_place##*/} \(" \
		'torch: the first line of the summary is that of the report'
	is "$(report stats -q -r lines --by process -f csv torch.pillion | rows_at "$(planted fetch)")" 2 \
		'a DataLoader of PyTorch: a row for each worker'
else
	skip 'a DataLoader of PyTorch' 'no torch for this python3'
fi

# With the default thresholds and without samples.
pillion -f -s none -o default "$python" "$job" lock >out 2>err
is "$? $(cat out)" '0 done' 'default thresholds: status and output'
named default lock 'default thresholds: the line is in the summary'

# A C program: its lines with their functions.
PILLION_STATS=summary pillion -f -s none -o native --osrt-backtrace-threshold=0 "$targets/stacks" >out 2>err
is "$? $(grep -A2 '^lines ' err | sed -n 's/.* \(stacks.c:.*\)/\1/p' | tr '\n' ' ')" \
	'0 stacks.c:7 (long_sleep) stacks.c:18 (short_sleep) ' \
	"a native program's lines in the summary, the longest first"
is "$(report stats -q -r lines -f csv native.pillion | sed -n 's/.*\/\(stacks.c:[0-9]*\),.*/\1/p' | tr '\n' ' ')" \
	'stacks.c:7 stacks.c:18 ' "a native program's lines are the same in the report"

# --source: the lines with their text.
is "$(report stats --source lines_job.py -f json file.pillion | "$python" -c 'import json, sys
rows = json.load(sys.stdin)
text = open(sys.argv[1]).read().split("\n")[:-1]
top = max(rows, key=lambda r: r["Total Time (ns)"] or 0)
print([r["Source"] for r in rows] == text, [r["Line"] for r in rows] == list(range(1, len(text) + 1)),
    "PLANTED file" in top["Source"])' "$job")" \
	'True True True' '--source: every line of the file, the slow one with its time'
like "$(report stats --source "$job" file.pillion)" '[0-9,]{9,} .*labels.append\(f.read\(\)\)' \
	'--source: as a table for people'
like "$(report stats --source "$job" file.pillion)" '^ +-  .* -  +1  # SPDX' '--source: a line without values is empty'
unlike "$(report stats --source "$job" file.pillion)" 'GPU Time|Allocated' '--source: no columns without values'
cp "$job" moved.py
pillion -f -s none -o moved --osrt-threshold=0 --osrt-backtrace-threshold=0 "$python" "$work/moved.py" file >out 2>err
cp -r moved.pillion kept.pillion
report stats -q --summary --keep-sources kept.pillion >out
report stats --source moved.py moved.pillion >out 2>err
is "$? $(cat err)" '1 pillion stats: lines: moved.py cannot be verified: the capture has not recorded what it was' \
	'--source: a capture without records of sources'
touch moved.py
report stats --source moved.py kept.pillion >out 2>err
is "$? $(cat err)" '0 ' '--source: a file that was written again, with the content that ran'
report stats --source moved.py moved.pillion >out 2>err
is "$? $(cat err)" '1 pillion stats: lines: moved.py was changed after the capture began: lines may have moved' \
	'--source: a file that was changed'
head -n 5 "$job" >moved.py
like "$(report stats --source moved.py kept.pillion 2>&1)" 'moved.py was changed after the run; its lines are shown' \
	'--source: a file with other content than what ran'
report stats --source moved.py moved.pillion >out 2>err
like "$? $(cat err)" '^1 .*moved.py (ends before line|was changed)' '--source: a file that is shorter now'
rm moved.py
report stats --source moved.py -f csv moved.pillion >out 2>err
like "$? $(cat err)" '^1 .*moved.py: No such file' '--source: a file that is gone'
at_least "$(wc -l <out)" 3 '--source: a file that is gone: lines without text'
mkfifo moved.py
like "$(report stats --source "$work/moved.py" moved.pillion 2>&1)" 'moved.py: not a regular file' \
	'--source: a FIFO is not read'
rm moved.py
truncate -s 65M moved.py
like "$(report stats --source "$work/moved.py" moved.pillion 2>&1)" 'moved.py: larger than 64 MB' \
	'--source: a huge file'
like "$(report stats --source never.py moved.pillion 2>&1)" \
	'never.py has no recorded data; these files have: .*moved.py' \
	'--source: a file that did not run'
report stats --source moved.py --by process moved.pillion >out 2>err
like "$? $(cat err)" '^2 .*--source shows one text and cannot be combined with --by' '--source --by'

# Names with terminal control sequences.
odd=$(printf 'odd,"\033[31m name.py')
printf 'import time\nfor i in range(40):\n\ttime.sleep(0.002)  # \033[32m,"\n' >"$odd"
pillion -f -s none -o odd --osrt-backtrace-threshold=0 "$python" "$odd" >out 2>err
is "$(report stats -q -r lines -f json odd.pillion |
	"$python" -c 'import json, sys; print(json.load(sys.stdin)[0]["Line"].split("/")[-1])')" \
	'odd,"\x1b[31m name.py:3' 'a name with control sequences'
like "$(report stats -q --source "$odd" -f csv odd.pillion)" '3,"        time.sleep\(0.002\)  # \\x1b\[32m,"""' \
	'a source text with control sequences'

# A capture without lines of user code; one without stacks.
like "$(report stats -q -r lines --lines-all -f csv lock.pillion | head -2)" ',[^,]*:[0-9]+,' \
	'--lines-all: the innermost lines'
pillion -f -s none -o bare --osrt-backtrace-threshold=60000000000 "$python" "$job" lock >out 2>err
like "$(report stats -r lines bare.pillion 2>&1)" 'the captures have no stacks: record with' 'a capture without stacks'

done_testing
