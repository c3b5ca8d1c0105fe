#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --mode=profile after thousands of imports: their stacks become one, so the program's own lines have rows.
set -u
. "$(dirname "$0")/lib.sh"

has_unwinder || skip_all 'built without the unwinder'

# 1500 modules that make calls; each call has a stack of its own, with the line of many/__init__.py.
mkdir many
python3 - <<'EOF'
for i in range(1500):
    with open("many/m%d.py" % i, "w") as file:
        file.write("import os\ndef name_%d():\n    os.stat('/')\n    os.access('/', 0)\nname_%d()\n" % (i, i))
with open("many/__init__.py", "w") as file:
    for i in range(1500):
        file.write("import many.m%d\n" % i)
EOF
cat >imports.py <<'EOF'
import os
import many
def loop(null):
    for i in range(500):
        os.write(null, b'x')
loop(os.open('/dev/null', os.O_WRONLY))
print('done')
EOF
# Not a script that finds Python: its shells have stacks of their own.
all_pythons "$(python3 -c 'import sys; print(sys.executable)')"
for python in "${pythons[@]}"; do
	pillion -f -s none -o run --stats=false --mode=profile --osrt-threshold=0 --osrt-backtrace-threshold=0 \
		"$python" imports.py >out 2>err
	is "$? $(cat out)" '0 done' "$python: the program runs"
	report stats -q -r ledger -f csv run.pillion >ledger
	is "$(grep -cE ',(stacks lost),' ledger)" 0 "$python: no stack is lost"
	report stats -q -r stacks_sum -f csv run.pillion >stacks
	like "$(grep -c ',write,.*loop .*imports.py:5' stacks)" '^[1-9]' "$python: the loop has its line"
	like "$(grep -c 'imports.py:2' stacks)" '^[1-9]' "$python: the imports have that of the first"
done

# ---- calls of which each has a stack and a file of its own: more than there is room for ----
mkdir files
cat >stacks.py <<'EOF'
import os, time
for k in range(60):
    names = {'os': os}
    exec(compile("".join("def f_%d():\n    os.stat('/')\n    os.access('/tmp', 0)\n"
        "    os.close(os.open('files/%d_%d', os.O_CREAT | os.O_WRONLY))\n" % (i, k, i) for i in range(200)),
        "made%d.py" % k, "exec"), names)
    for i in range(200):
        names['f_%d' % i]()
def loop():
    while time.process_time() < start + 1:
        sum(i * i for i in range(1000))
start = time.process_time()
loop()
EOF
python=$(python3 -c 'import sys; print(sys.executable)')
pillion -f -s cpu --sampling-source=signal -o many --stats=false --mode=profile --osrt-threshold=0 \
	--osrt-backtrace-threshold=0 "$python" stacks.py >out 2>err
is $? 0 'calls with too many stacks: the program runs'
report stats -q -r ledger -f csv many.pillion >ledger
like "$(grep ',stacks lost,' ledger | cut -d, -f4)" '^[0-9]{5}' 'their stacks have no room'
like "$(grep ',note,' ledger)" 'stacks were lost: the trace had no room' 'and the ledger says so'
if [ "$(ledger many 'CPU samples')" -lt 50 ]; then
	skip 'samples' 'signals take none here'
else
	report stats -q -r sample_sum -f csv many.pillion >samples
	ok 'samples have: what loses its stack is less than 5 %' \
		awk -F, '/,\(stack lost\),/ { lost = $1 } END { exit !(lost < 5) }' samples
	report stats -q -r lines -f csv many.pillion >lines
	like "$(cat lines)" 'stacks.py:1[12],' 'and the loop has its line'
fi

# ---- more files than have sums ----
cat >opens.py <<'EOF'
import os
for i in range(20000):
    os.close(os.open('files/none%d' % i, os.O_CREAT | os.O_WRONLY))
EOF
pillion -f -s none -o opens --mode=profile --osrt-threshold=0 --osrt-backtrace-threshold=1000000000 \
	"$python" opens.py >out 2>err
is $? 0 '20,000 files: the program runs'
like "$(report stats --summary opens.pillion)" '^calls +[0-9]{5,}; [1-9][0-9]? % without a name, for want of room$' \
	'the summary says which share of the calls is without a name'
done_testing
