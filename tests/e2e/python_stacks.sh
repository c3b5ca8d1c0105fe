#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Python frames in stacks: every stack of a sleep equals the one that Python reports, on every CPython of this machine.
set -u
. "$(dirname "$0")/lib.sh"

has_unwinder || skip_all 'built without the unwinder'
script=$tests_dir/../targets/python_stacks.py

# The Python frames of sleeps; stacks of threads continue with C frames below them.
recorded() {
	report stats -r stacks_sum -f json "$1.pillion" | env -u PYTHONHOME "$2" -c 'import json, sys
for row in json.load(sys.stdin):
    frames = [f for f in row["Stack"].split(" <- ") if ".py:" in f or "<string>" in f or "<frozen" in f]
    if frames and frames[0].split()[0] in ("asleep", "gil_released", "gil_held"):
        print(" <- ".join(frames))'
}

# taken TEXT COMMAND...: a run of the script in which every stack equals the one that Python reports.
taken() {
	local text=$1
	shift
	PYTHONIOENCODING=utf-8 pillion -f -o stacks --osrt-threshold=0 --osrt-backtrace-threshold=0 \
		--backtrace-depth=256 "$@" >said 2>err
	is "$? $(grep -vc '^pillion: ' err)" '0 0' "$text: runs, and prints no error"
	sort -u said >wanted
	recorded stacks /usr/bin/python3 | sort -u >got
	is "$(($(grep -c ^gil_held said) >= 200)) $(($(grep -c ^gil_released said) >= 200)) $(comm -3 wanted got |
		head -3)" '1 1 ' \
		"$text: $(wc -l <said) sleeps have the $(wc -l <wanted) stacks that Python reports, GIL held or not"
}

# A second interpreter of the process, on the thread that created it and on another thread.
cat >several.py <<'END'
import threading, time
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

def run(number):
    text = "import time\ndef within():\n    time.sleep(0.001)\nfor i in range(20): within()\n"
    getattr(interpreters, "exec", interpreters.run_string)(number, text)

def outside():
    time.sleep(0.002)

number = interpreters.create()
run(number)
outside()
thread = threading.Thread(target=run, args=(number,))
thread.start()
thread.join()
interpreters.destroy(number)
outside()
print("done")
END

tried=0
cat >interrupted.py <<END
import ctypes, time
ctypes.CDLL("$targets/python_handler.so").start_interrupting()

def f(n):
    return 0 if n == 0 else 1 + f(n - 1)

class Thing:
    def __init__(self, n):
        self.n = [g for g in (i for i in range(n))]

end, total = time.process_time() + 1, 0
while time.process_time() < end:
    total += f(40) + len(Thing(20).n) + eval("(lambda: 1)()")
print("done")
END

all_pythons "${PYTHON:-/usr/bin/python3}"
for python in "${pythons[@]}"; do
	one=$python
	version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	tried=$((tried + 1))
	taken "$version, $python" "$python" "$script"
	libpython=$("$python" -c 'import os, sysconfig
print(os.path.join(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME")))')
	if [ "${libpython%.so*}" != "$libpython" ] && [ -e "$libpython" ]; then
		PYTHONHOME=$("$python" -c 'import sys; print(sys.base_prefix)') taken "$version within a program" \
			"$targets/python_embed" "$libpython" 1 \
			"import sys; sys.path.insert(0, ''); exec(compile(open('$script').read(), '$script', 'exec'))"
	fi
	# Up to 3.11 a thread belongs to its first interpreter: the stack is the line that runs the other interpreter.
	case $version in 3.8 | 3.9 | 3.10 | 3.11) within=run ;; *) within=within ;; esac
	pillion -f -o several -s cpu --sampling-frequency=1000 --osrt-threshold=0 --osrt-backtrace-threshold=0 \
		"$python" -W ignore several.py >said 2>err
	is "$? $(cat said) $(grep -vc '^pillion: ' err)" '0 done 0' "$version: several interpreters"
	is "$(report stats -q -r stacks_sum -f csv several.pillion | grep -E ',(clock_nanosleep|select),' |
		awk -F, -v within="[ ,\"]$within [(]" '$0 ~ within { n += $3 }
			/[ ,"]outside [(]/ { m += $3 } END { print n, m }')" '40 2' \
		"$version: each sleep has its interpreter's stack"
	pillion -f -o interrupted --osrt-threshold=0 --osrt-backtrace-threshold=0 "$python" interrupted.py >said 2>err
	is "$? $(cat said) $(grep -vc '^pillion: ' err)" '0 done 0' \
		"$version: a handler in C may record wherever it interrupts the interpreter"
	report stats -r stacks_sum -f csv interrupted.pillion | grep 'handler ' >got
	is "$(($(wc -l <got) > 0)) $(grep -c '\.py:' got)" '1 0' "$version: its stacks are native"
done
[ "$tried" -gt 0 ] || skip_all 'no CPython'

pillion -f -o later -s cpu --osrt-threshold=0 --osrt-backtrace-threshold=0 "$targets/python_later" >said 2>err
is "$? $(cat said) $(num_calls later nanosleep)" '0 done 20' 'a version that is not known: it runs and is recorded'
like "$(notes later)" 'stacks have no Python frames: a CPython newer than 3.15, the newest that is known' \
	'a version that is not known: the ledger says so'
like "$(report stats -q -r stacks_sum -f csv later.pillion)" ',nanosleep,main ' \
	'a version that is not known: its stacks are native'
pillion -f -o none --python-backtrace=none --osrt-threshold=0 --osrt-backtrace-threshold=0 "$one" \
	"$script" >/dev/null 2>err
unlike "$(report stats -r stacks_sum -f csv none.pillion)" 'python_stacks\.py' \
	'--python-backtrace=none: no Python frames'
done_testing
