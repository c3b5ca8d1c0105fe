#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --lines-of: line_profile has the hits of every line of the chosen functions: loops, recursion, generators, coroutines,
# decorators, nested functions, exceptions, threads, a forked child that SIGKILL ends; in each CPython that there is,
# and as line_profiler counts and prints them, if that Python has it. A program's own trace functions work as they do
# without it.
set -u
. "$(dirname "$0")/lib.sh"

export PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8
package=${tests_dir%/tests/*}/python
python=${PACKAGE_PYTHON:-${PYTHON:-/usr/bin/python3}}
command -v "$python" >/dev/null || skip_all 'no Python 3'

cat >job.py <<'END'
import asyncio, functools, os, signal, threading
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
def decorated(f):
    @functools.wraps(f)
    def wrapper(*values):
        return f(*values)
    return wrapper
def outer(n):
    def inside(x):
        return x + n
    class Local:
        @decorated
        def method(self):
            return inside(2)
    return inside(1) + Local().method()
async def waits(n):
    for i in range(n):
        await asyncio.sleep(0)
    return n
async def asyncs():
    async for x in agen(2):
        await asyncio.gather(waits(1), waits(2))
async def agen(n):
    for i in range(n):
        yield i
def run():
    fib(8)
    sum(gen(5))
    fails()
    Work().loop()
    outer(1)
    asyncio.run(asyncs())
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

chosen=fib,gen,job:fails,job:raises,Work.loop,other:run,job:inside,Local.method,waits,agen

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
outer.<locals>.inside 33 10
outer.<locals>.Local.method 37 5
waits 40 50
waits 41 30
waits 42 20
agen 47 15
agen 48 10
END

cat >decorated.py <<'END'
import threading
@profile
def loops(n):
    for i in range(n):
        pass
class Work:
    @classmethod
    @profile
    def one(cls):
        return 1
    @profile
    @staticmethod
    def two():
        return 2
    @property
    @profile
    def three(self):
        return 3
threads = [threading.Thread(target=loops, args=(10,)) for _ in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(Work().one(), Work.two(), Work().three, type(loops).__name__, profile(len) is len)
END

# What trace and profile functions of the program see, and that it finds none but these.
cat >traces.py <<'END'
import sys, threading
seen = []
def callee(x):
    return x + 1
def chosen(n):
    s = 0
    for i in range(n):
        s = callee(s) + sum(x for x in range(2))
    return s
def traced(frame, event, argument):
    seen.append((frame.f_code.co_name, event, frame.f_lineno, frame.f_trace is traced))
    return traced
def show():
    print(seen, sys.gettrace(), sys.getprofile())
    seen.clear()
def sets():
    sys.settrace(traced)
    now = sys.gettrace() is traced
    chosen(1)
    sys._getframe().f_trace = traced
    sys.settrace(None)
    callee(1)
    return now
def turns_on():
    sys.settrace(traced)
def calls_what_sets():
    turns_on()
    callee(1)
    sys._getframe().f_trace = traced
    b = callee(1)
    sys.settrace(None)
def raises(frame, event, argument):
    if event == 'line':
        raise ValueError('no')
    return raises
def jumps(frame, event, argument):
    if frame.f_code.co_name == 'skips' and frame.f_lineno == skips.__code__.co_firstlineno + 2:
        frame.f_lineno += 1
    return jumps
def skips():
    a = 1
    a += 10
    a += 100
    return a
def opcodes(frame, event, argument):
    frame.f_trace_opcodes, frame.f_trace_lines = True, False
    seen.append((frame.f_code.co_name, event, frame.f_lasti))
    return opcodes
def profiled(frame, event, argument):
    seen.append((frame.f_code.co_name, event, getattr(argument, '__name__', argument)))
def sets_profile():
    sys.setprofile(profiled)
    len([])
    sys.setprofile(None)
chosen(3), show()
sys.settrace(traced), chosen(2), sys.settrace(None), show()
print(sets()), show()
calls_what_sets(), show()
try:
    sys.settrace(raises), chosen(1)
except ValueError as error:
    print(error), show()
sys.settrace(jumps), print(skips()), sys.settrace(None)
sys.settrace(opcodes), skips(), sys.settrace(None), show()
sys.settrace(traced), sys.setprofile(profiled), chosen(1), sys.setprofile(None), sys.settrace(None), show()
sets_profile(), show()
threading.settrace(traced)
thread = threading.Thread(target=chosen, args=(1,))
thread.start(), thread.join(), threading.settrace(None), show()
print(sys.call_tracing(chosen, (1,)))
chosen(2)
exec("def nameless(): return 1\nprint(nameless())", {"__name__": None})
END
cat >deep.py <<'END'
import sys
sys.setrecursionlimit(10**6)
def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)
print(deep(7000) if sys.version_info < (3, 11) else deep(60000))
END

# line_profiler PYTHON: line and hits.
line_profiler() {
	"$1" -c 'import job, line_profiler
p = line_profiler.LineProfiler(job.fib, job.gen, job.fails, job.raises, job.Work.loop, job.waits, job.agen)
for i in range(5):
    p.runcall(job.run)
for (file, first, name), rows in sorted(p.get_stats().timings.items(), key=lambda i: i[0][1]):
    for line, hits, time in rows:
        print(line, hits)'
}

check() {
	local is_older=true
	"$1" -c 'import sys; sys.exit(hasattr(sys, "monitoring"))' || is_older=false
	pillion -f -o some -t none -s none --lines-of=$chosen "$1" some.py >out 2>err
	is "$? $(cat out)" '0 None' "$1: status and output are those without pillion"
	if ! "$1" -c 'import sys; sys.exit(object.__basicsize__ != 16)'; then
		like "$(notes some)" '--lines-of: not possible' "$1: the ledger says that this interpreter has no lines"
		like "$(report stats --summary some.pillion)" '^no lines +--lines-of: not possible in this' \
			"$1: and so does the summary"
		like "$(report stats -q -r line_profile some.pillion 2>&1)" '--lines-of: not possible in this' \
			"$1: and the report, instead of the option that was given"
		return
	fi
	is "$(hits some)" "$(cat expected)" "$1: hits, also of threads and a killed child"
	is "$(notes some)" '' "$1: nothing is said to be missing"

	pillion -f -o decorated -t none --lines-of=@profile "$1" decorated.py >out 2>err
	is "$? $(cat out) $(hits decorated | tr '\n' ' ')" \
		'0 1 2 3 function True loops 4 33 loops 5 30 Work.one 10 1 Work.two 14 1 Work.three 18 1 ' \
		"$1: the builtin profile, as kernprof has it"

	"$1" traces.py >bare 2>&1
	pillion -f -o traces -t none --lines-of=chosen,sets,calls_what_sets,skips,sets_profile "$1" traces.py >out 2>err
	is "$? $(cat out)" "0 $(cat bare)" "$1: the program's own trace and profile functions"
	is "$(hits traces | sed -n '/^chosen/p' | tr '\n' ' ')" \
		'chosen 6 7 chosen 7 18 chosen 8 11 chosen 9 7 ' "$1: lines are counted beside them"
	[ "$is_older" = false ] || like "$(notes traces)" 'has turned off the lines .*f_trace_lines' \
		"$1: the ledger says that a trace function has turned off lines"

	pillion -f -o deep -t none --lines-of=deep "$1" deep.py >out 2>err
	is "$? $(cat out)" "0 $("$1" deep.py)" "$1: a deep recursion"
	[ "$is_older" = false ] || [ -n "$(notes deep)" ] ||
		is "$(hits deep)" 'deep 4 7001' "$1: all of its lines are counted"

	if "$1" -c 'import line_profiler' 2>/dev/null; then
		is "$(hits some | sed '/locals/d; s/.* \(.* .*\)/\1/')" "$(line_profiler "$1")" \
			"$1: hits are those of line_profiler"
	else
		skip "$1: hits are those of line_profiler" 'no line_profiler: PILLION_PYTHONS names others'
	fi
}

all_pythons "$python"
for any in "${pythons[@]}"; do
	check "$any"
done
pillion -f -o some -t nvtx --lines-of=$chosen "$python" some.py >out 2>err
"$python" -c 'import sys; sys.exit(object.__basicsize__ != 16)' || done_testing

for bad in +memory f,+memory f,,g 'f,' '' @profiles f@profile f,@; do
	pillion --lines-of="$bad" -o bad true >out 2>err
	is "$? $(ls -d bad* 2>/dev/null)" '2 ' "'$bad' is refused"
done

is "$(report stats -q -r line_profile -f json some.pillion | "$python" -c 'import json, sys
rows = json.load(sys.stdin)
print(all(r["Time (ns)"] > 0 for r in rows if r["Function"] == "fib"),
      next(r["Source"] for r in rows if r["Line"] == 24).strip())')" \
	'True total += i' 'lines have their time and their text'

pillion -f -o module -t nvtx --lines-of='job:*' "$python" -c 'import job; job.run(); job.never()' >out 2>err
is "$(hits module | awk '{ print $1 }' | uniq | tr '\n' ' ')" "fib gen fails raises never Work.loop decorated\
 decorated.<locals>.wrapper outer outer.<locals>.inside outer.<locals>.Local.method waits asyncs agen run " \
	'MODULE:* are the functions of a module, in their order'

pillion -f -o none -t nvtx "$python" some.py >out 2>err
like "$(report stats -q -r line_profile none.pillion 2>&1)" 'no lines were recorded: --lines-of' \
	'a capture without lines says which option records them'

pillion -f -o wrong -t nvtx --lines-of=nosuch "$python" some.py >out 2>err
like "$(report stats -q -r line_profile wrong.pillion 2>&1)" '--lines-of=nosuch: no such Python function was called' \
	'a function that there is not is named'
like "$(report stats --summary wrong.pillion)" '^no lines +--lines-of=nosuch: ' 'also in the summary'
unlike "$(report stats --summary some.pillion)" '^no lines' 'of lines that were recorded it says nothing'

# ---- functions that the program chooses ----

cat >chooses.py <<'END'
import functools, sys
from pillion import lines
def decorated(f):
    @functools.wraps(f)
    def wrapper():
        return f()
    return wrapper
@decorated
def before():
    return 1
def during():
    global done
    done = lines.count(during)
    return done
def late():
    return 3
def named():
    return 2
before(), late(), named()
print(lines.count(before), lines.count(len), during(), lines.count(during), lines.what_is_missing())
for i in range(2):
    before(), late(), during()
print(lines.count(late))
late()
END
PYTHONPATH=$package pillion -f -o chooses -t none --lines-of=@profile,named "$python" chooses.py >out 2>err
is "$? $(cat out)" '0 True False True True None
True' '@profile: the package counts the functions that it is given'
# Before 3.12, those of a function that is running when it is chosen are counted from its next call on.
during=$("$python" -c 'import sys; print(2 + hasattr(sys, "monitoring"))')
is "$(hits chooses)" "before 10 2
during 13 2
during 14 $during
late 16 1
named 18 1" '@profile: their lines from then on, also of one that is running, beside those of named functions'

# ---- %lprun ----

if "$python" -c 'import IPython' 2>/dev/null; then
	cat >notebook.py <<'END'
import re, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell("%load_ext " + sys.argv[1])
shell.run_cell("""def cell(n):
    for i in range(n):
        i

    return n
import job""")
shell.run_cell("cell(100)")
for line in "%lprun -f cell cell(3)", "text = %lprun -r -u 1 -T file.txt -m job -f cell job.fib(2), cell(1)", \
        "%lprun -f len len('')", "%lprun -f cell 1/0":
    result = shell.run_cell(line)
    print("error", type(result.error_in_exec).__name__)
print(open("file.txt").read() == shell.user_ns["text"], "Timer unit: 1 s" in shell.user_ns["text"])
END
	# seen FILE: line, hits and text, and exceptions.
	seen() { sed -nE 's/^( {0,5}[0-9]+ .{9}).{31}/\1/p; /^(error|True)/p' "$1"; }
	PYTHONPATH=$package:. pillion -f -o notebook -t nvtx --lines-of=@profile "$python" notebook.py pillion \
		>out 2>err
	is "$? $(seen out | tr -s ' ' | sed 's/ *$//')" "0  1 def cell(n):
 2 4 for i in range(n):
 3 3 i
 4
 5 1 return n
error NoneType
 2 def fib(n):
 3 3 if n < 2:
 4 2 return n
 5 1 return fib(n - 1) + fib(n - 2)
 1 def cell(n):
 2 2 for i in range(n):
 3 1 i
 4
 5 1 return n
error NoneType
error PillionError
error ZeroDivisionError
True True" '%lprun: lines of cells and modules during one statement'
else
	skip '%lprun' 'no IPython; PACKAGE_PYTHON names a Python that has it'
fi

# ---- line_profiler ----

# without_times FILE: line, hits and text.
without_times() {
	sed -E 's/^Total time: .*/Total time/; s/^( {0,5}[0-9]+ .{9}).{31}/\1/' "$1"
}

lines() { PYTHONPATH=$package timeout "$patience" "$python" -m pillion.lines "$@"; }

cat >shapes.py <<'END'
def same(f):
    return f
class Work:
    @same
    def loop(
        self,
        n=1000,
    ) -> int:
        """text
at the margin
        """
        total = 0

        for i in range(n):
            total += i
        return total
        # trailing


    def other(self):
        return [i for i in range(3)]
def many():
    for i in range(100_001): pass
    for i in range(300_000):
        i
def outer():
    def inner(a):
        return a
    return inner("ü")
def run():
    Work().loop(), Work().other(), many(), outer()
END
pillion -f -o shapes -t nvtx --lines-of=Work.loop,Work.other,many,outer "$python" -c 'import shapes; shapes.run()' \
	>out 2>err
lines shapes.pillion >ours.txt
is "$? $(grep -c '^Function: .* at line' ours.txt) $(sed -n 1p ours.txt)" '0 4 Timer unit: 1e-06 s' \
	'the text of line_profiler'
is "$(lines -u 1 shapes.pillion | without_times /dev/stdin | sed 1d)" "$(without_times ours.txt | sed 1d)" \
	'likewise in another unit'
echo >>shapes.py
like "$(lines shapes.pillion)" 'Function: Work.loop; the file cannot be read or was changed' \
	'a file that was changed is not shown'
lines none.pillion >out 2>err
is "$? $(cat err)" '1 no lines were recorded: --lines-of records them' 'the text of a capture without lines'

if "$python" -c 'import line_profiler' 2>/dev/null; then
	"$python" -c 'import shapes, line_profiler
p = line_profiler.LineProfiler(shapes.Work.loop, shapes.Work.other, shapes.many, shapes.outer)
p.runcall(shapes.run)
p.print_stats(stream=open("theirs.txt", "w", encoding="utf-8"), output_unit=1e-6)' >out 2>err
	# Before 3.11 it does not know the class of a method.
	last_names() { without_times "$1" | sed -E 's/^(Function: ).*\./\1/'; }
	is "$(last_names ours.txt)" "$(last_names theirs.txt)" 'the text is that of line_profiler'
else
	skip 'the text is that of line_profiler' 'no line_profiler; PACKAGE_PYTHON names a Python that has it'
fi
done_testing
