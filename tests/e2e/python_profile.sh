#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `export -t pstats` has cProfile's calls, primitive calls and callers of the functions that were traced.
set -u
. "$(dirname "$0")/lib.sh"

export PYTHONPATH=${tests_dir%/tests/*}/python${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
account=$tests_dir/python_profile_account.py
profiled=$tests_dir/../targets/package/profiled.py
python=${PYTHON:-/usr/bin/python3}
command -v "$python" >/dev/null || skip_all 'no Python 3'

# compare PYTHON JOB MODULE...
compare() {
	"$1" -m pillion.functions "${@:3}" >functions.json
	timeout "$patience" "$1" "$profiled" "$2" theirs >bare
	pillion -f -o "$2" -t nvtx -c nvtx -p active@pillion --python-functions-trace=functions.json \
		"$1" "$profiled" "$2" >out 2>err
	is "$? $(cat out)" "0 $(cat bare)" "$2: status and output are those without pillion"
	report export -q -t pstats -f true -o ours "$2.pillion" 2>err
	adopt "$1" "$account" "$2" functions.json ours theirs
}

compare "$python" difflib difflib
compare "$python" html html.parser _markupbase
compare "$python" ipaddress ipaddress
compare "$python" json 'json.*'
compare "$python" parser "$("$python" -c 'import sys
print("re._parser" if sys.version_info >= (3, 11) else "sre_parse")')"
compare "$python" random random re
compare "$python" shlex shlex
compare "$python" statistics statistics
compare "$python" string string
compare "$python" textwrap textwrap
compare "$python" urllib urllib.parse
all_pythons "$python"
for other in "${pythons[@]:1}"; do
	compare "$other" ipaddress ipaddress
	compare "$other" json 'json.*'
done

# Threads, processes, recursion through another function, exceptions, and a function in progress when the program ends.
cat >called.py <<'END2'
import os, threading
def even(n):
    return odd(n - 1) if n else True
def odd(n):
    return even(n - 1) if n else False
def fails():
    raise KeyError
class Thing:
    @classmethod
    def made(cls):
        return cls()
    @staticmethod
    def still():
        even(1)
def last():
    os._exit(0)
END2
cat >calls.py <<'END2'
import os, threading
import called
called.even(4)
for _ in range(3):
    try:
        called.fails()
    except KeyError:
        pass
threads = [threading.Thread(target=lambda: called.even(2)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
called.Thing.made().still()
if os.fork():
    os.wait()
called.last()
END2
PYTHONPATH=$PYTHONPATH:. "$python" -m pillion.functions called >functions.json
pillion -f -o calls --python-functions-trace=functions.json "$python" calls.py 2>err
is "$?" 0 'a program of threads and processes: status'
report export -q -t pstats -f true -o calls.pstats calls.pillion 2>err
"$python" -c 'import pstats
stats = pstats.Stats("calls.pstats").stats
for (file, line, name), (primitive, calls, own, total, callers) in sorted(stats.items(), key=lambda s: s[0][2]):
    print(name, line, primitive, calls, *sorted((c[2], *n[:2]) for c, n in callers.items()))
' >seen
is "$(cat seen)" "even 2 6 12 ('odd', 6, 5) ('still', 1, 1)
fails 6 3 3
last 15 2 2
made 9 1 1
odd 4 6 7 ('even', 7, 6)
still 12 1 1" 'threads, processes, recursion, exceptions, methods, an unfinished call'
report export -t pstats -o - calls.pillion 2>err | cmp -s - calls.pstats
is $? 0 'pstats to standard output'
pillion -f -o none true 2>err
report export -t pstats -o none.pstats none.pillion >out 2>err
is "$? $(cat err)" "1 pillion export: pstats: the captures have no calls of Python functions: record with \
--python-calls=all" \
	'a capture without calls: status, message'
not_ok 'a capture without calls: no file' test -e none.pstats
is "$("$python" -m pillion.functions no_such_module 2>&1)" "pillion.functions: no_such_module: No module named \
'no_such_module'
[]" 'a module that does not exist is named'

rich=${PACKAGE_PYTHON:-python3}
if "$rich" -c 'import snakeviz' 2>/dev/null; then
	is "$("$rich" -c 'import pstats
from snakeviz.stats import json_stats, table_rows
stats = pstats.Stats("calls.pstats")
rows = table_rows(stats)
print(len(rows) == len(stats.stats), any("(fails)" in str(r) for r in rows), "still" in str(json_stats(stats)))')" \
		'True True True' 'snakeviz reads it'
else
	skip 'snakeviz reads it' 'no snakeviz; PACKAGE_PYTHON names a Python that has it'
fi
done_testing
