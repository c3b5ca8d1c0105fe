#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Report lines: what is slow on purpose stands first, by whatever it is slow; device time and bytes lie on the line that
# asked for them; the same beside the source's text.
set -u
. "$(dirname "$0")/lib.sh"

has_unwinder || skip_all 'built without the unwinder'
python=$("${PYTHON:-python3}" -c 'import sys; print(sys.executable)') || skip_all 'no python3'
job=$(CDPATH='' cd -P -- "$tests_dir/../targets" && pwd)/lines_job.py

# take NAME ARG...: the job, silent and well ended, every call with its stack.
take() {
	local name=$1
	shift
	pillion -f -o "$name" -s cpu --sampling-frequency=499 --osrt-threshold=0 --osrt-backtrace-threshold=0 \
		--cudabacktrace=all:0 \
		--cuda-launch-stacks=true "$python" "$job" "$@" >out 2>err
	is "$? $(cat out) $(grep -v '^pillion: capture' err)" '0 done ' "$name: runs as without"
}

# planted WHAT: that line of the job, as a place.
planted() {
	printf '%s:%s' "$job" "$(grep -n "# PLANTED $1\$" "$job" | cut -d: -f1)"
}

# cell NAME PLACE TITLE: a number of that line, 0 where there is none.
cell() {
	report stats -q -r lines -f json "$1.pillion" | "$python" -c 'import json, sys
print(sum(row[sys.argv[2]] or 0 for row in json.load(sys.stdin) if row["Line"] == sys.argv[1]))' "$2" "$3"
}

first() { # NAME
	report stats -q -r lines -f json "$1.pillion" |
		"$python" -c 'import json, sys; print(json.load(sys.stdin)[0]["Line"])'
}

# first_in NAME PLACE: processes in which that line is the first.
first_in() {
	report stats -q -r lines --by process -f json "$1.pillion" | "$python" -c 'import json, sys
top = {}
for row in json.load(sys.stdin):
    time = row["Total Time (ns)"] or 0
    top[row["PID"]] = max(top.get(row["PID"], (0, "")), (time, row["Line"]))
print(sum(line == sys.argv[1] for _, line in top.values()))' "$2"
}

# named NAME WHAT TEXT: that planted line is the first of the summary's, as it is of the report's.
named() {
	report stats --summary "$1.pillion" >out 2>err
	like "$(grep -A1 '^ lines ' out)" "lines_job\.py:$(grep -n "# PLANTED $2\$" "$job" | cut -d: -f1) \(" "$3"
	is "$(awk 'END { print NR <= 24 }' out) $(cat err)" '1 ' "$1: a short summary, and nothing else to say"
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
is "$(first file)" "$(planted file)" 'a file read in a loop: first'
named lock lock 'it is in the summary'
named file file 'so is the file'
at_least "$(cell file "$(planted file)" Calls)" 400 'every read is counted'
for method in fork spawn; do
	take "$method" "$method"
	# Of all processes, too, unless the machine is so slow that the first one waits longer for them to begin.
	is "$(first_in $method "$(planted fetch)")" 3 "workers by $method, slow to collate: first in each of them"
	at_least "$(cell $method "$(planted fetch)" 'Off-CPU (ns)')" $((12 * 24 * 20000000)) \
		"workers by $method: all that they slept"
	is "$(report stats -q -r lines --by process -f csv $method.pillion |
		awk -F, -v place="$(planted fetch)" '$14 == place' | wc -l)" 3 \
		"workers by $method: --by process tells the three apart"
done

# Samples know Python's frames or they do not; the line is C's then.
take spin spin
if report stats -q -r sample_line_sum -f csv spin.pillion | grep -q 'lines_job\.py'; then
	is "$(first spin)" "$(planted spin)" 'a busy loop: first'
	named spin spin 'so is the loop'
	like "$(grep '^ lines ' out)" ' CPU' 'with its CPU time'
	at_least "$(cell spin "$(planted spin)" 'CPU Python (ns)')" 300000000 "its time is Python's"
	take alone alone
	is "$(first alone)" "$(planted collate)" 'a slow collate function: first'
else
	skip 'a busy loop, a slow collate function: first' 'samples have no Python frames here'
fi

doubles=$PILLION_BUILD_DIR/tests/doubles
if [ -e "$doubles/libcudart.so.13" ]; then
	LINES_CUDART=$doubles/libcudart.so.13 LD_LIBRARY_PATH=$doubles take device device
	gpu=$(report stats -q -r cuda_gpu_kern_sum -f csv device.pillion |
		awk -F, 'NR > 1 { n += $2 } END { print n + 0 }')
	is "$(cell device "$(planted launch)" 'GPU Time (ns)')" "$gpu" \
		'all device time of kernels lies on the line that launched them'
	at_least "$gpu" 1 'and there is some'
	report stats --summary device.pillion >out 2>err
	like "$(grep -A3 '^ lines ' out)" "^ lines .* GPU " "device time is in the summary's lines"
	is "$(cell device "$(planted allocate)" 'Allocated (MB)')" 8.389 'memory on the line that allocated it'
	is "$(cell device "$(planted copy)" 'Copied (MB)')" 100.663 'copies on the line that asked for them'
	at_least "$(cell device "$(planted launch)" Calls)" 12 'launches are counted'
else
	skip 'device time by line' 'built without CUDA headers'
fi

if "$python" -c 'import torch' 2>/dev/null; then
	# At the thresholds that go without saying: torch's start alone makes stacks by the ten thousand.
	pillion -f -o torch "$python" "$job" torch >out 2>err
	is "$? $(cat out) $(grep -v '^pillion: capture' err)" '0 done ' 'torch: runs as without'
	is "$(first_in torch "$(planted fetch)")" 2 \
		'a DataLoader of PyTorch, slow to collate: first in each of its workers'
	named_place=$(first torch)
	like "$(report stats --summary torch.pillion | grep -A1 '^ lines ')" "${named_place##*/} \(" \
		"the summary's first line is the report's"
	is "$(report stats -q -r lines --by process -f csv torch.pillion |
		awk -F, -v place="$(planted fetch)" '$14 == place' | wc -l)" 2 \
		'a DataLoader of PyTorch: by each of its workers'
else
	skip 'a DataLoader of PyTorch' 'no torch for this python3'
fi

# At the thresholds that go without saying, and without samples.
pillion -f -o default "$python" "$job" lock >out 2>err
is "$? $(cat out)" '0 done' 'default thresholds: runs as without'
named default lock 'default thresholds: the line is in the summary'

# A program of C: its own lines, by their functions.
PILLION_STATS=summary pillion -f -o native --osrt-backtrace-threshold=0 "$targets/stacks" >out 2>err
is "$? $(grep -A2 '^ lines ' err | sed -n 's/.*\/\(stacks.c:.*\)/\1/p' | tr '\n' ' ')" \
	'0 stacks.c:7 (long_sleep) stacks.c:18 (short_sleep) ' \
	"a native program's lines in the summary, the longest first"
is "$(report stats -q -r lines -f csv native.pillion | sed -n 's/.*\/\(stacks.c:[0-9]*\),.*/\1/p' | tr '\n' ' ')" \
	'stacks.c:7 stacks.c:18 ' 'as in the report'

# Beside the text.
is "$(report stats --source lines_job.py -f json file.pillion | "$python" -c 'import json, sys
rows = json.load(sys.stdin)
text = open(sys.argv[1]).read().split("\n")[:-1]
top = max(rows, key=lambda r: r["Total Time (ns)"] or 0)
print([r["Source"] for r in rows] == text, [r["Line"] for r in rows] == list(range(1, len(text) + 1)),
    "PLANTED file" in top["Source"])' "$job")" \
	'True True True' '--source: every line of the file, the slow one with its time'
like "$(report stats --source "$job" file.pillion)" '[0-9,]{9,} .* -  .*labels.append\(f.read\(\)\)' \
	'--source: as a table for people'
cp "$job" moved.py
pillion -f -o moved --osrt-threshold=0 --osrt-backtrace-threshold=0 "$python" "$work/moved.py" file >out 2>err
touch moved.py
report stats --source moved.py moved.pillion >out 2>err
is "$? $(cat err)" '1 pillion stats: lines: moved.py was changed after the capture began: lines may have moved' \
	'--source: a file that was changed'
head -n 5 "$job" >moved.py
report stats --source moved.py moved.pillion >out 2>err
like "$? $(cat err)" '^1 .*moved.py (ends before line|was changed)' '--source: a file that is shorter now'
rm moved.py
report stats --source moved.py -f csv moved.pillion >out 2>err
like "$? $(cat err)" '^1 .*moved.py: No such file' '--source: a file that is gone'
at_least "$(wc -l <out)" 3 'its lines are there without their text'
mkfifo moved.py
like "$(report stats --source "$work/moved.py" moved.pillion 2>&1)" 'moved.py: not a regular file' \
	'--source: a FIFO is not waited for'
rm moved.py
truncate -s 65M moved.py
like "$(report stats --source "$work/moved.py" moved.pillion 2>&1)" 'moved.py: larger than 64 MB' \
	'--source: a huge file'
like "$(report stats --source never.py moved.pillion 2>&1)" \
	'never.py has no recorded data; these files have: .*moved.py' \
	'--source: a file that did not run'
report stats --source moved.py --by process moved.pillion >out 2>err
like "$? $(cat err)" '^2 .*--source shows one text and cannot be combined with --by' '--source --by'

# Names that a terminal would obey.
odd=$(printf 'odd,"\033[31m name.py')
printf 'import time\nfor i in range(40):\n\ttime.sleep(0.002)  # \033[32m,"\n' >"$odd"
pillion -f -o odd --osrt-backtrace-threshold=0 "$python" "$odd" >out 2>err
is "$(report stats -q -r lines -f json odd.pillion |
	"$python" -c 'import json, sys; print(json.load(sys.stdin)[0]["Line"].split("/")[-1])')" \
	'odd,"\x1b[31m name.py:3' 'a name that a terminal would obey'
like "$(report stats -q --source "$odd" -f csv odd.pillion)" '3,"        time.sleep\(0.002\)  # \\x1b\[32m,"""' \
	'a text that a terminal would obey'

# A program without lines of the user's; one without any stacks.
like "$(report stats -q -r lines --lines-all -f csv lock.pillion | head -2)" ',[^,]*:[0-9]+,' \
	'--lines-all: the innermost lines'
pillion -f -o bare --osrt-backtrace-threshold=60000000000 "$python" "$job" lock >out 2>err
like "$(report stats -r lines bare.pillion 2>&1)" 'the captures have no stacks: record with' 'a capture without stacks'

done_testing
