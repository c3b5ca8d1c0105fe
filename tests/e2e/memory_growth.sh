#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Memory that grows while modules are imported is no leak, in a program and in each of its workers; memory that a loop
# keeps is one, at its line.
. "$(dirname -- "$0")/lib.sh"

python=$(command -v "${PILLION_TEST_PYTHON:-python3}") || skip_all 'no python3'

# Each module computes for so long, and keeps so much, as those of frameworks do.
mkdir heavy
cat >heavy/__init__.py <<'P'
import importlib
for i in range(12):
    importlib.import_module(f"heavy.part{i}")
P
for i in $(seq 0 11); do
	cat >"heavy/part$i.py" <<'P'
import time
until = time.process_time() + 0.6
table = b"x" * 40_000_000
while time.process_time() < until:
    pass
time.sleep(0.2)
P
done
echo 'import heavy' >imports.py
cat >workers.py <<'P'
import subprocess, sys
for worker in [subprocess.Popen([sys.executable, "imports.py"]) for i in range(2)]:
    worker.wait()
P
cat >leak.py <<'P'
import time
kept = []
def serve(i):
    until = time.process_time() + 0.3
    kept.append(b"x" * 20_000_000)
    while time.process_time() < until:
        pass
    time.sleep(0.1)
for i in range(24):
    serve(i)
P
PILLION_STATS=summary pillion -o imports "$python" imports.py 2>imports.summary &
PILLION_STATS=summary pillion -o workers "$python" workers.py 2>workers.summary &
PILLION_STATS=summary pillion -o leak "$python" leak.py 2>leak.summary
wait
like "$(cat imports.summary)" '^memory +peak [45][0-9]{2} MB' 'the peak of imports'
unlike "$(cat imports.summary)" 'grows steadily' 'which is no growth'
unlike "$(cat workers.summary)" 'grows steadily' 'nor in workers'
report analyze -r memory_growth -f csv imports.pillion >out 2>err
like "$(cat out)" '^memory_growth,clean' 'imports: checked, and no finding'
report analyze -r memory_growth -f csv workers.pillion >out 2>err
like "$(cat out)" '^memory_growth,clean' 'imports of workers: checked, and no finding'
report analyze -r memory_growth leak.pillion >out 2>err
like "$(cat out)" 'the memory of process [0-9]+ grows steadily by [0-9]+ MB per second' 'what a loop keeps'
like "$(cat out)" 'leak\.py:[678]' 'at its line'
like "$(cat leak.summary)" '^memory +peak [45][0-9]{2} MB in .*, grows steadily, by ' 'in the summary, too'
unlike "$(grep '^FIX FIRST' leak.summary)" 'the memory' 'which costs no time: first is the line that computes'
like "$(cat leak.summary)" '^found too +the memory of process' 'and the memory follows'
done_testing
