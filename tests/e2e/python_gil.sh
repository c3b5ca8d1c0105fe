#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Waits for Python's global interpreter lock: threads that compute wait for each other at the line that computes; waits
# for other things are no such waits.
set -u
. "$(dirname "$0")/lib.sh"

python=$(command -v python3) || skip_all 'no python3'
has_unwinder || skip_all 'no native stacks in this build'
"$python" -c 'import sys, sysconfig
sys.exit(sys.implementation.name != "cpython" or sys.version_info < (3, 8) or
	bool(sysconfig.get_config_var("Py_GIL_DISABLED")))' ||
	skip_all 'this Python is not CPython 3.8 or newer with a GIL'

# Each thread computes until all have: each of them has to take the lock from another one.
cat >compute.py <<'END'
import threading

counts = [0] * 3

def compute(i):
    while min(counts) < 300000:
        counts[i] += 1  # the line

threads = [threading.Thread(target=compute, args=(i,)) for i in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
END

# One thread, and threads that wait for locks, conditions, queues and a condition variable of a library.
cat >wait.py <<'END'
import ctypes, queue, sys, threading, time

if 'alone' in sys.argv:
    sum(range(3000000))
    sys.exit()
libc = ctypes.CDLL(None)
cond, mutex = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
until = (ctypes.c_long * 2)(int(time.time()) + 1, 0)
libc.pthread_mutex_lock(mutex)
while libc.pthread_cond_timedwait(cond, mutex, until) == 0:
    pass
END

pillion -o compute -t python-gil --osrt-backtrace-threshold=20000 "$python" compute.py >out 2>err
is "$?" 0 'a program whose threads compute'
like "$(cat err)" 'python-gil: waits for the GIL are found among OS calls: osrt is added' \
	'osrt is added, and this is stated'
unlike "$(cat err)" 'not recorded' 'nothing is left out'
report stats -q -r python_gil_sum -f json compute.pillion >sum.json
report stats -q -r python_gil_trace -f json compute.pillion >trace.json
report stats -q -r osrt_sum -f json compute.pillion >osrt.json
cat >check.py <<'END'
import json, sys

rows, trace, osrt = (json.load(open(f'{name}.json')) for name in ('sum', 'trace', 'osrt'))
waits = [row for row in rows if row['State'] == 'Waiting for GIL']
at_line = [row for row in waits if 'compute.py:6)' in row['Line'] or 'compute.py:7)' in row['Line']]
assert len({row['Thread'] for row in at_line}) == 3, rows
assert all('compute' in row['Line'] for row in at_line), rows
for key in ('Waits', 'Total Time (ns)'):
    total = sum(row[key] for row in rows)
    assert total == (len(trace) if key == 'Waits' else sum(row['Duration (ns)'] for row in trace)), (key, total)
    # the program has no other waits by condition variables
    names = ('pthread_cond_wait', 'pthread_cond_timedwait', 'pthread_cond_clockwait')
    calls = [row for row in osrt if row['Name'] in names]
    assert total == sum(row[key.replace('Waits', 'Num Calls')] for row in calls), (key, total, calls)
assert trace == sorted(trace, key=lambda row: row['Start (ns)'])
print(sum(row['Total Time (ns)'] for row in waits))
END
ok 'each thread waits at the line that computes; sums equal the trace and the OS calls' "$python" check.py
report stats -q -r python_gil_sum --by process -f csv compute.pillion >out
like "$(head -1 out)" '^PID,' '--by process'

pillion -o alone -t python-gil "$python" wait.py alone >out 2>err
report stats -r python_gil_sum -f csv alone.pillion >out 2>err
is "$(grep -c 'Waiting for GIL' out)" 0 'one thread does not wait'
pillion -o wait -t osrt,python-gil --python-backtrace=auto "$python" wait.py >out 2>err
unlike "$(cat err) ." 'osrt is added' 'nothing is added to osrt'
like "$(report stats -q -r osrt_sum -f csv wait.pillion)" ',pthread_cond_timedwait$' \
	'a wait on a condition variable of a library is recorded'
report stats -r python_gil_sum wait.pillion >out 2>err
is "$? $(grep -c 'Waiting for GIL' out)" '1 0' 'and is not a wait for the lock'
like "$(cat err)" 'no waits for the GIL' 'the message states the reason'
pillion -o none -t nvtx "$python" wait.py alone >out 2>err
like "$(report stats -r python_gil_sum none.pillion 2>&1)" 'no OS calls were recorded: -t python-gil' \
	'without OS calls, the message names the option'
pillion -o bad -t python-gil,nosuch true >out 2>err
is "$?" 2 'another word of --trace that is wrong is refused'
done_testing
