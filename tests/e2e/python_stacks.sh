#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Python frames in stacks: every stack of a sleep is what Python itself says of it, on every CPython of this machine.
set -u
. "$(dirname "$0")/lib.sh"

"$PILLION" --version | grep -q 'native stacks' || skip_all 'built without the unwinder'
script=$tests_dir/../targets/python_stacks.py

# The frames of sleeps, those of Python alone; threads' stacks go on in C below them.
recorded() {
	report stats -r stacks_sum -f json "$1.pillion" | "$2" -c 'import json, sys
for row in json.load(sys.stdin):
    frames = [f for f in row["Stack"].split(" <- ") if ".py:" in f or "<string>" in f or "<frozen" in f]
    if frames and frames[0].split()[0] in ("asleep", "gil_released", "gil_held"):
        print(" <- ".join(frames))'
}

tried=0
cat >interrupted.py <<END
import ctypes, time
ctypes.CDLL("$targets/python_handler.so").start_interrupting()

def f(n):
    return 0 if n == 0 else 1 + f(n - 1)

class Thing:
    def __init__(self, n):
        self.n = [g for g in (i for i in range(n))]

end, total = time.monotonic() + 1.5, 0
while time.monotonic() < end:
    total += f(40) + len(Thing(20).n) + eval("(lambda: 1)()")
print("done")
END

for python in "${PYTHON:-/usr/bin/python3}" "$HOME"/.pyenv/versions/3.{8,9,10,11,12,13,14}.*/bin/python3; do
	[ -x "$python" ] || continue
	one=$python
	version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	tried=$((tried + 1))
	PYTHONIOENCODING=utf-8 pillion -f -o stacks --osrt-threshold=0 --osrt-backtrace-threshold=0 --backtrace-depth=256 "$python" "$script" >said 2>err
	is $? 0 "$python: runs"
	is "$(grep -vc '^pillion: ' err)" 0 "$python: prints no error"
	sort -u said >wanted
	recorded stacks /usr/bin/python3 | sort -u >got
	is "$(($(grep -c ^gil_held said) >= 200)) $(($(grep -c ^gil_released said) >= 200)) $(comm -3 wanted got | head -3)" '1 1 ' \
		"$version: $(wc -l <said) sleeps ($(wc -l <wanted) stacks), GIL held and released, have the stacks that Python tells of"
	pillion -f -o interrupted --osrt-threshold=0 --osrt-backtrace-threshold=0 "$python" interrupted.py >said 2>err
	is "$? $(cat said) $(grep -vc '^pillion: ' err)" '0 done 0' "$version: a handler in C may record wherever it interrupts the interpreter"
	report stats -r stacks_sum -f csv interrupted.pillion | grep 'handler ' >got
	is "$(($(wc -l <got) > 0)) $(grep -c '\.py:' got)" '1 0' "$version: its stacks are native"
done
[ "$tried" -gt 0 ] || skip_all 'no CPython'
pillion -f -o none --python-backtrace=none --osrt-threshold=0 --osrt-backtrace-threshold=0 "$one" "$script" >/dev/null 2>err
unlike "$(report stats -r stacks_sum -f csv none.pillion)" 'python_stacks\.py' '--python-backtrace=none: no Python frames'
done_testing
