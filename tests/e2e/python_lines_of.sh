#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --lines-of: line_profile has the hits of every line of the chosen functions: loops, recursion, generators, exceptions,
# threads, a forked child that SIGKILL ends; as line_profiler counts them, if PACKAGE_PYTHON has it.
set -u
. "$(dirname "$0")/lib.sh"

export PYTHONDONTWRITEBYTECODE=1
python=${PACKAGE_PYTHON:-${PYTHON:-/usr/bin/python3}}
command -v "$python" >/dev/null || skip_all 'no Python 3'

cat >job.py <<'END'
import os, signal, threading
def fib(n):
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)
def gen(n):
    for i in range(n):
        yield i
def fails():
    try:
        int('x')
    except ValueError:
        pass
def raises(n):
    if n:
        raises(n - 1)
    raise KeyError(n)
def never():
    pass
class Work:
    def loop(self):
        total = 0
        for i in range(1000):
            total += i
        return total
def run():
    fib(8)
    sum(gen(5))
    fails()
    Work().loop()
    try:
        raises(3)
    except KeyError:
        pass
END
cat >some.py <<'END'
from job import *
run()
threads = [threading.Thread(target=run) for _ in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
pid = os.fork()
if not pid:
    run()
    os.kill(os.getpid(), signal.SIGKILL)
os.waitpid(pid, 0)
print(never())
END

# hits NAME: function, line, hits
hits() {
	report stats -q -r line_profile -f json "$1.pillion" | "$python" -c 'import json, sys
for r in json.load(sys.stdin):
    print(r["Function"], r["Line"], r["Hits"])'
}
notes() { report stats -q -r ledger -f csv "$1.pillion" | sed -n 's/.*,note,1,//p'; }

chosen=fib,gen,job:fails,job:raises,Work.loop,other:run
pillion -f -o some -t nvtx --lines-of=$chosen "$python" some.py >out 2>err
is "$? $(cat out)" '0 None' 'status and output are those without pillion'
if ! "$python" -c 'import sys; sys.exit(not hasattr(sys, "monitoring") or object.__basicsize__ != 16)'; then
	like "$(notes some)" '--lines-of: not possible' 'the ledger says that this interpreter has no lines'
	done_testing
fi

for bad in +memory f,+memory f,,g 'f,' ''; do
	pillion --lines-of="$bad" -o bad true >out 2>err
	is "$? $(ls -d bad* 2>/dev/null)" '2 ' "'$bad' is refused"
done

# Four threads and a child: five times what one run has.
cat >expected <<'END'
fib 3 335
fib 4 170
fib 5 165
gen 7 30
gen 8 25
fails 10 5
fails 11 5
fails 12 5
fails 13 5
raises 15 20
raises 16 15
raises 17 5
Work.loop 22 5
Work.loop 23 5005
Work.loop 24 5000
Work.loop 25 5
END
is "$(hits some)" "$(cat expected)" 'hits of loops, recursion, generators, exceptions, threads and a killed child'
is "$(report stats -q -r line_profile -f json some.pillion | "$python" -c 'import json, sys
rows = json.load(sys.stdin)
print(all(r["Time (ns)"] > 0 for r in rows if r["Function"] == "fib"),
      next(r["Source"] for r in rows if r["Line"] == 24).strip())')" \
	'True total += i' 'lines have their time and their text'
is "$(notes some)" '' 'nothing is said to be missing'

pillion -f -o module -t nvtx --lines-of='job:*' "$python" -c 'import job; job.run(); job.never()' >out 2>err
is "$(hits module | awk '{ print $1 }' | uniq | tr '\n' ' ')" 'fib gen fails raises never Work.loop run ' \
	'MODULE:* are the functions of a module, in their order'

pillion -f -o none -t nvtx "$python" some.py >out 2>err
like "$(report stats -q -r line_profile none.pillion 2>&1)" 'no lines were recorded: --lines-of' \
	'a capture without lines says which option records them'

if "$python" -c 'import line_profiler' 2>/dev/null; then
	"$python" -c 'import job, line_profiler
p = line_profiler.LineProfiler(job.fib, job.gen, job.fails, job.raises, job.Work.loop)
for i in range(5):
    p.runcall(job.run)
for (file, first, name), rows in sorted(p.get_stats().timings.items(), key=lambda i: i[0][1]):
    for line, hits, time in rows:
        print(name, line, hits)' >theirs
	is "$(hits some)" "$(cat theirs)" 'hits are those of line_profiler'
else
	skip 'hits are those of line_profiler' 'no line_profiler; PACKAGE_PYTHON names a Python that has it'
fi
done_testing
