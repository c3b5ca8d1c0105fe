#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# pillion diff: what it says and its exit status; that it is a verb only where its operands are captures.
. "$(dirname -- "$0")/lib.sh"

writer=$PILLION_BUILD_DIR/tests/trace-writer
# steps NAME SEED [SLOWER FACTOR]: a run whose kernels vary by 1 % as a whole and by 5 % from launch to launch
steps() {
	"$writer" steps "$1.pillion" "$2" 12 0.01 0 0.05 "${3:-0}" "${4:-1}"
}
for i in 1 2 3; do
	steps "old$i" "$i"
	steps "same$i" "1$i"
	steps "slow$i" "2$i" 7 1.45
done

# ---- a verb, or the program ----

printf 'a\n' >one.txt
printf 'b\n' >two.txt
is "$(pillion diff one.txt two.txt 2>err)" "$(diff one.txt two.txt)" 'diff of text files is the program'
is "$(pillion -- diff one.txt two.txt 2>err)" "$(diff one.txt two.txt)" 'after -- it is the program'
like "$(pillion diff old1.pillion same1.pillion 2>err)" 'not worse: ' 'with captures it is the verb'

# ---- a pair ----

report diff --over step old1.pillion same1.pillion >out 2>err
is "$? $(cat err)" '0 ' 'two runs of the same job: status 0'
like "$(cat out)" ' not worse: .*gate 3\.0 %' 'and says so'
report diff --over step old1.pillion slow1.pillion >out 2>err
is "$?" 1 'a kernel takes 45 % longer: status 1'
like "$(cat out)" 'worse: .*layer07_forward at layer07 \(/home/user/train.py:70\)' 'the kernel and its line are named'
like "$(cat out)" ' slower +layer07_forward ' 'its row is slower'
is "$(grep -c ' slower ' out)" 1 'no other row is'
report diff --gate=20% old1.pillion slow1.pillion >out 2>err
is "$?" 0 'a wider gate'
"$writer" launches little.pillion 300000
"$writer" launches more.pillion 400000
report diff little.pillion more.pillion >out 2>err
is "$?" 2 'all rows changed alike: status 2'
like "$(cat out)" 'cannot judge: .*give several captures of each side' 'with the way out'

# ---- several captures of a side ----

report diff old1.pillion old2.pillion old3.pillion -- same1.pillion same2.pillion same3.pillion >out 2>err
is "$?" 0 'three against three, the same job'
report diff old1.pillion old2.pillion old3.pillion -- slow1.pillion slow2.pillion slow3.pillion >out 2>err
is "$?" 1 'three against three, slower'
like "$(cat out)" 'layer07 \(/home/user/train.py:70\)' 'with the line'
pillion diff old1.pillion old2.pillion -- slow1.pillion >out 2>err
is "$?" 1 'two against one, by the launcher'
report diff old1.pillion old2.pillion old3.pillion >out 2>err
is "$? $(cat err)" '2 pillion diff: several captures: pillion diff BEFORE... -- AFTER...' 'three captures without --'
report diff old1.pillion >out 2>err
is "$?" 2 'one capture'
report diff old1.pillion none.pillion >out 2>err
is "$?" 2 'a capture that does not exist'

# ---- rows, formats ----

is "$(report diff -q --by=api -f csv old1.pillion same1.pillion |
	awk -F, '$9 == "cudaLaunchKernel" { print $6, $7, $8, $9 }')" \
	'480 480 noise cudaLaunchKernel' '--by api: the calls'
like "$(report diff -q --by=range -f csv old1.pillion same1.pillion)" ',40,40,noise,step,' '--by range'
is "$(report diff -q --by=rank old1.pillion same1.pillion 2>&1)" 'pillion diff: old1.pillion: no ranks' \
	'--by rank without ranks'
like "$(report diff --over=nothing old1.pillion same1.pillion 2>&1)" \
	"--over=nothing: no such range; the capture has: step" 'a range that does not exist'
like "$(report diff -f markdown old1.pillion slow1.pillion)" '^\| --- \| ---: \|' 'markdown'
like "$(report diff -f markdown old1.pillion slow1.pillion)" '^ worse: ' 'markdown has the verdict'
report diff --gate=none old1.pillion same1.pillion >out 2>err
is "$?" 2 '--gate takes a percentage'
report diff -f json old1.pillion slow1.pillion >out.json 2>err
if command -v python3 >/dev/null; then
	is "$(python3 -c 'import json; rows = json.load(open("out.json"))
print(rows[0]["Verdict"], len(rows), *(r["Name"] for r in rows[:3]), rows[2]["Line"])')" \
		'worse 14 (total) wall time layer07_forward layer07 (/home/user/train.py:70)' \
		'json: the total, the wall time, then the rows'
fi

# ---- CPU time that neither calls nor samples have ----

if command -v python3 >/dev/null; then
	cat >computes.py <<'END'
import sys, time

while time.process_time() < float(sys.argv[1]):
    sum(range(1000))
END
	for i in 1 2 3; do
		PILLION_STATS=false pillion -s none -o "short$i" python3 computes.py 0.5 2>err
		PILLION_STATS=false pillion -s none -o "long$i" python3 computes.py 2 2>err
	done
	report diff --by=api short[123].pillion -- long[123].pillion >out 2>err
	is "$?" 1 'default captures, four times the CPU time: status 1'
	like "$(cat out)" ' slower +CPU time ' 'its row is slower'
	like "$(cat out)" 'worse: .*CPU time \+[1-9].*record with -s cpu' 'and how to see the lines'
	report diff --by=api --gate=900% short1.pillion short2.pillion >out 2>err
	is "$?" 2 'without samples, CPU time is never judged as not worse'
	unlike "$(cat out)" 'not worse' 'nor called that'
fi

# ---- lines: CPU time, not the waits for others ----

if has_unwinder && command -v python3 >/dev/null; then
	cat >job.py <<'END'
import os, time

def child():
    time.sleep(0.3)
    os._exit(0)

def waits(pid):
    os.waitpid(pid, 0)

while time.process_time() < 0.5:
    sum(range(1000))
pid = os.fork()
if not pid:
    child()
waits(pid)
END
	python=$(python3 -c 'import sys; print(sys.executable)')
	# lines NAME: the functions of job.py that take half of what the child sleeps; a sample is of 10 ms
	lines() {
		report diff -q --by=line -f csv "$1.pillion" "$1.pillion" | awk -F, '$4 > 150e6' |
			grep -oE '(child|waits) \([^,]*job\.py' | sed 's/ .*//' | sort -u | tr '\n' ' '
	}
	PILLION_STATS=false pillion -o sampled -s cpu "$python" job.py 2>err
	is "$(lines sampled)" 'child ' 'with samples: a sleep counts, the wait for a child does not'
	PILLION_STATS=false pillion -s none -o called "$python" job.py 2>err
	is "$(lines called)" 'child waits ' 'without samples: both do'
fi
done_testing
