#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# line_memory: by how much each line of the functions of --lines-of changes the memory of the process, resident and
# allocated; as memory_profiler has it, if that Python has it.
set -u
. "$(dirname "$0")/lib.sh"

export PYTHONDONTWRITEBYTECODE=1
python=${PACKAGE_PYTHON:-${PYTHON:-/usr/bin/python3}}
command -v "$python" >/dev/null || skip_all 'no Python 3'

# What a line of 40 MB leaves and takes is compared; blocks of that size are mapped, and unmapped when they are freed.
cat >jobs.py <<'END'
import sys, threading
if __name__ != '__main__' or 'theirs' not in sys.argv:
    profile = lambda f: f
SIZE = 40 * 1000 * 1000
kept = []
@profile
def straight():
    a = bytearray(SIZE)
    b = [0] * (SIZE // 4)
    del b
    return a
@profile
def called():
    kept.append(straight())
    kept.append(bytearray(SIZE))
    kept.clear()
@profile
def caught():
    try:
        a = bytearray(SIZE)
        raise ValueError
    except ValueError:
        del a
    return 1
class Work:
    @profile
    def method(self):
        self.kept = [bytearray(SIZE) for _ in range(2)]
        self.kept.pop()
        self.kept = None
@profile
def generator():
    a = bytearray(SIZE)
    yield 1
    del a
    yield 2
@profile
def in_thread():
    a = bytearray(SIZE)
    a = None
def main():
    straight()
    called()
    caught()
    Work().method()
    for _ in generator():
        pass
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
main()
END
cat >account.py <<'END'
# Line, increment in MiB, and occurrences, of ours (JSON) or memory_profiler's text.
import json, re, sys
if sys.argv[1] == 'ours':
    rows = [(r['Line #'], r[sys.argv[2] + ' (MiB)'], r['Occurrences'], r['Line Contents'])
            for r in json.load(sys.stdin)]
else:
    found = (re.match(r' *(\d+) +[\d.]+ MiB +(-?[\d.]+) MiB +(\d+) (.*)', line) for line in sys.stdin)
    rows = [(int(m[1]), float(m[2]), int(m[3]), m[4]) for m in found if m]
for line, change, count, text in rows:
    if 'profile' not in text and 'def ' not in text:
        print(line, round(change / 38.1), count)
END
cat >expected <<'END'
8 2 2
9 4 2
10 -4 2
11 0 2
14 1 1
15 1 1
16 -2 1
19 0 1
20 1 1
21 0 1
22 0 1
23 -1 1
24 0 1
28 2 1
29 -1 1
30 -1 1
33 1 1
34 0 1
35 -1 1
36 0 1
39 1 1
40 -1 1
END

chosen=__main__:straight,called,caught,Work.method,generator,in_thread
table() { report stats -q -r line_memory -f json "$1.pillion"; }

check() {
	if ! "$1" -c 'import sys; sys.exit(object.__basicsize__ != 16)'; then
		skip "$1" 'no lines without the GIL'
		return
	fi
	pillion -f -o ours -t none --memory=all --lines-of="$chosen" "$1" jobs.py >out 2>err
	is "$? $(table ours | "$1" account.py ours Increment)" "0 $(cat expected)" "$1: resident memory by line"
	is "$(table ours | "$1" account.py ours 'Allocator Increment')" "$(cat expected)" "$1: allocated memory by line"
	is "$(table ours | "$1" -c 'import json, sys
rows = json.load(sys.stdin)
first = [r for r in rows if r["Line #"] == 6][0]
print(first["Function"], first["Occurrences"], 0 < first["Increment (MiB)"] <= first["Mem usage (MiB)"],
      max(r["Mem usage (MiB)"] for r in rows) > 76)')" 'straight 2 True True' \
		"$1: the first line of a function has its calls, and what was resident before"
	if "$1" -c 'import memory_profiler' 2>/dev/null; then
		"$1" -m memory_profiler jobs.py theirs >theirs 2>err
		# It has no threads, counts a line of a generator anew where that is resumed, and takes the increment
		# of a line that calls another decorated function (14) from the last line of that.
		comparable() { sed '/^14/d; /^3[3-9]/d; /^40/d; s/ [0-9]*$//'; }
		is "$(table ours | "$1" account.py ours Increment | comparable)" \
			"$("$1" account.py theirs <theirs | comparable)" \
			"$1: the increments are those of memory_profiler"
	else
		skip "$1: the increments are those of memory_profiler" 'no memory_profiler'
	fi
}

all_pythons "$python"
for any in "${pythons[@]}"; do
	check "$any"
done

pillion -f -o none -t none --lines-of=straight "$python" jobs.py >out 2>err
like "$(report stats -q -r line_memory none.pillion 2>&1)" 'record with --lines-of=FUNC,... --memory=' \
	'without --memory, the report says how to record it'
done_testing
