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
done_testing
