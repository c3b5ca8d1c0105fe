#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Python frames in CPU samples are correct at every point of the program, on every CPython of this machine.
set -u
. "$(dirname "$0")/lib.sh"

has_unwinder || skip_all 'built without the unwinder'
script=$tests_dir/../targets/python_samples.py

# percent NAME FUNCTION: its cumulative share of the samples.
percent() {
	report stats -r sample_python_sum -f csv "$1.pillion" |
		awk -F, -v f="$2" '$8 == f { n += $6 } END { print int(n) }'
}

# Code objects at reused addresses: every function has the same share of the time.
cat >generated.py <<END
import time

def run(i):
    names = {"time": time}
    exec(compile("""def made_%02d():
    end = time.thread_time() + 0.08
    while time.thread_time() < end:
        pass
""" % i, "generated.py", "exec"), names)
    names["made_%02d" % i]()
    names.clear()

for i in range(10):
    run(i)
print("done")
END

# Calls are counted for functions with one range per call: not for generator steps or functions without ranges.
cat >called.py <<END
import time

def spin():
    end = time.thread_time() + 0.04
    while time.thread_time() < end:
        pass

def plain(): spin()

class Thing:
    def method(self): spin()

def steps():
    for i in range(3):
        spin()
        yield i

def unnamed(): spin()

def same(): spin()

class Other:
    def same(self): spin()
END
echo '[{"module": "called", "functions": ["plain", "Thing.method", "steps", "same"]}]' >called.json
cat >calls.py <<END
import called
for i in range(7):
    called.plain()
for i in range(5):
    called.Thing().method()
    called.unnamed()
    called.same()
    called.Other().same()
list(called.steps())
print("done")
END

tried=0
all_pythons "${PYTHON:-/usr/bin/python3}"
for python in "${pythons[@]}"; do
	one=$python
	version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
	tried=$((tried + 1))
	pillion -f -t none -s cpu --sampling-frequency=1000 -o busy "$python" "$script" busy 1 >said 2>err
	is "$? $(cat said) $(grep -vc '^pillion: ' err)" '0 done 0' "$python: runs"
	report export -t folded --metric cpu -o - busy.pillion >busy.folded
	account=$(/usr/bin/python3 "$tests_dir/python_account.py" "$script" <busy.folded 2>wrong)
	stacks='' short='' wrong=''
	eval "$account"
	is "$((stacks > 60)) $wrong $((short * 20 <= stacks))" '1 0 1' "$version: $account"
	[ -s wrong ] && diag "$(head -3 wrong)"
	like "$(percent busy round_)" '^(8.|9.|100)$' \
		"$version: nearly all samples have the function that runs all the time"
	pillion -f -t none -s cpu --sampling-frequency=1000 -o generated "$python" generated.py >said 2>err
	is "$? $(cat said) $(report stats -q -r sample_python_sum -f csv generated.pillion | grep -c ',made_[0-9]*,')" \
		'0 done 10' \
		"$version: each short-lived function has its name"
	pillion -f -s cpu --sampling-frequency=1000 --python-functions-trace=called.json -o calls \
		"$python" calls.py >said 2>err
	# Up to 3.10 code has no qualified names: same() and Other.same() are one row of two functions.
	case $version in 3.8 | 3.9 | 3.10) wanted='method 5,plain 7,same ,steps ,unnamed ,' ;; *) \
		wanted='Other.same ,Thing.method 5,plain 7,same 5,steps ,unnamed ,' ;; esac
	is "$(cat said) $(report stats -q -r sample_python_sum -f csv calls.pillion |
		awk -F, '/called.py/ && $8 != "spin" && $8 != "<module>" { print $8, $5 }' | sort | tr '\n' ,)" \
		"done $wanted" "$version: calls, where a row is one function with a range per call"
done
[ "$tried" -gt 0 ] || skip_all 'no CPython'
pillion -f -t none -s cpu -o none --python-backtrace=none "$one" "$script" busy 0.2 >/dev/null 2>err
unlike "$(report stats -r sample_sum -f csv none.pillion)" 'round_' '--python-backtrace=none: no Python frames'
done_testing
