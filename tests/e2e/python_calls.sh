#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --python-calls: the pstats export has cProfile's calls and primitive calls of every function, in Python and in C.
set -u
. "$(dirname "$0")/lib.sh"

export PYTHONPATH=${tests_dir%/tests/*}/python${PYTHONPATH:+:$PYTHONPATH} PYTHONDONTWRITEBYTECODE=1
account=$tests_dir/python_calls_account.py
profiled=$tests_dir/../targets/package/profiled.py
python=${PYTHON:-/usr/bin/python3}
command -v "$python" >/dev/null || skip_all 'no Python 3'

notes() { report stats -q -r ledger -f csv "$1.pillion" | sed -n 's/.*,note,1,//p'; }

# compare PYTHON JOB
compare() {
	timeout "$patience" "$1" "$profiled" "$2" theirs >bare
	pillion -f -o "$2" -t nvtx -c nvtx -p active@pillion --python-calls=all "$1" "$profiled" "$2" >out 2>err
	is "$? $(cat out)" "0 $(cat bare)" "$1, $2: status and output are those without pillion"
	report export -q -t pstats -f true -o ours "$2.pillion" 2>err
	adopt "$1" "$account" "${1#"$HOME"/.pyenv/versions/}, $2" ours theirs.json
}

all_pythons "$python"
for any in "${pythons[@]}"; do
	if "$any" -c 'import sys, sysconfig
sys.exit(sys.version_info >= (3, 15) or not sysconfig.get_config_var("Py_GIL_DISABLED"))'; then
		pillion -f -o refused -t nvtx --python-calls=all "$any" -c 'print(6 * 7)' >out 2>err
		is "$? $(cat out) $(notes refused)" \
			'0 42 --python-calls: not possible in a free-threaded CPython before 3.15' \
			"$any: the ledger says why no call is recorded"
		continue
	fi
	for job in difflib html ipaddress json parser random shlex statistics string textwrap urllib; do
		compare "$any" "$job"
	done

	# Recursion, generators, exceptions, methods that override those of C, threads, and a forked child.
	cat >calls.py <<-'END'
		import os, sys, threading
		def steps(n):
		    for i in range(n):
		        yield i
		def fib(n):
		    return n if n < 2 else fib(n - 1) + fib(n - 2)
		class List(list):
		    def append(self, x):
		        super().append(x)
		def fails():
		    return int("x")
		def job():
		    List().append(1)
		    generator = steps(9)
		    next(generator)
		    try:
		        generator.throw(KeyError)
		    except KeyError:
		        pass
		    try:
		        fails()
		    except ValueError:
		        pass
		    threads = threading.Thread(target=fib, args=(3,)), threading.Thread(target=fib, args=(3,))
		    for thread in threads:
		        thread.start()
		    for thread in threads:
		        thread.join()
		    if os.fork() == 0:
		        fib(2)
		        os._exit(0)
		    os.wait()
		    print(sum(steps(5)), fib(6), sys.getprofile())
		job()
	END
	timeout "$patience" "$any" -W ignore calls.py >bare 2>bare.err
	pillion -f -o calls -t nvtx --python-calls=__main__ "$any" -W ignore calls.py >out 2>err
	is "$? $(cat out)" "0 $(cat bare)" "$any: status and output of a program of threads and processes"
	report export -q -t pstats -f true -o calls.pstats calls.pillion 2>err
	"$any" -c 'import pstats
for (file, line, name), (primitive, calls, own, total, callers) in sorted(
        pstats.Stats("calls.pstats").stats.items(), key=lambda s: s[0][2]):
    if file != "~" or name in ("<built-in method builtins.next>", "<built-in method builtins.sum>"):
        print(name, primitive, calls, *sorted((c[2], *n[:2]) for c, n in callers.items()))
' >seen
	# A generator is entered for each value, and for what is thrown into it. A thread and a child have no caller.
	is "$(cat seen)" "<built-in method builtins.next> 1 1 ('job', 1, 1)
<built-in method builtins.sum> 1 1 ('job', 1, 1)
<module> 1 1
List 1 1 ('<built-in method builtins.__build_class__>', 1, 1)
append 1 1 ('job', 1, 1)
fails 1 1 ('job', 1, 1)
fib 4 38 ('fib', 34, 8) ('job', 1, 1)
job 1 1 ('<module>', 1, 1)
steps 8 8 ('<built-in method builtins.next>', 1, 1) ('<built-in method builtins.sum>', 6, 6) (\"<method 'throw' of \
'generator' objects>\", 1, 1)" "$any: recursion, generators, exceptions, threads, a child"
	is "$(notes calls)" '' "$any: nothing is missing"
	pillion -f -o no_c -t nvtx --python-calls=__main__,no-c "$any" -W ignore calls.py >out 2>err
	is "$? $(cat out)" "0 $(cat bare)" "$any: status and output without C functions"
	report export -q -t pstats -f true -o no_c.pstats no_c.pillion 2>err
	"$any" -c 'import pstats
for (file, line, name), (primitive, calls, own, total, callers) in sorted(
        pstats.Stats("no_c.pstats").stats.items(), key=lambda s: s[0][2]):
    print(name, primitive, calls, *sorted((c[2], *n[:2]) for c, n in callers.items()))
' >seen
	is "$(cat seen)" "<module> 1 1
List 1 1 ('<module>', 1, 1)
append 1 1 ('job', 1, 1)
fails 1 1 ('job', 1, 1)
fib 4 38 ('fib', 34, 8) ('job', 1, 1)
job 1 1 ('<module>', 1, 1)
steps 8 8 ('job', 8, 8)" "$any: no-c: the same calls of Python functions, none in C"

	# Signals that arrive while functions are called for the first time, and the events of such a call.
	cat >signals.py <<-'END'
		import signal, sys, types
		def template():
		    pass
		def fresh(line):
		    types.FunctionType(template.__code__.replace(co_firstlineno=line), globals())()
		def handle(*unused):
		    global handled
		    handled += 1
		    raise TimeoutError
		def wait(before):
		    line = 1
		    while handled == before:
		        line += 1
		        fresh(line)
		handled = lost = 0
		signal.signal(signal.SIGALRM, handle)
		for number in range(200):
		    try:
		        signal.setitimer(signal.ITIMER_REAL, 0.0001 + number % 10 * 0.00002)
		        wait(number)
		        lost += 1
		    except TimeoutError:
		        pass
		events = set()
		sys.addaudithook(lambda event, arguments: events.add(event))
		fresh(1)
		print(handled, lost, sorted(events))
	END
	timeout "$patience" "$any" signals.py >bare
	pillion -f -o signals -t nvtx --python-calls=all "$any" signals.py >out 2>err
	is "$? $(cat out)" "0 $(cat bare)" "$any: each exception of a signal's handler is raised; no event for auditing"

	# Profile functions of the program's own: the events that each of them gets.
	cat >profiles.py <<-'END'
		import functools, profile, pstats, sys, threading
		seen = []
		def watch(mark):
		    def function(frame, event, argument):
		        name = getattr(argument, '__name__', '?') if event.startswith('c_') else frame.f_code.co_name
		        seen.append((mark, event, name))
		    return function
		def leaf(n):
		    return abs(n)
		def work(n):
		    try:
		        len(n)
		    except TypeError:
		        pass
		    return [leaf(i) for i in range(n)]
		def case(text, function, *arguments):
		    del seen[:]
		    function(*arguments)
		    sys.setprofile(None)
		    print(text, seen)
		f, g = watch('f'), watch('g')
		def plain():
		    sys.setprofile(f)
		    work(2)
		def from_within():
		    def inner():
		        sys.setprofile(f)
		    inner()
		    leaf(1)
		def returned_to():
		    sys.setprofile(f)
		def replaced():
		    sys.setprofile(f)
		    sys.setprofile(g)
		    work(1)
		def taken_away():
		    sys.setprofile(f)
		    sys.setprofile(None)
		    work(1)
		def again():
		    taken_away()
		    sys.setprofile(f)
		    leaf(1)
		def by_c():
		    next(map(sys.setprofile, [f]))
		    leaf(1)
		def by_partial():
		    functools.partial(sys.setprofile, f)()
		    leaf(1)
		def by_keywords():
		    sys.setprofile(*[f], **{})
		    leaf(1)
		def unpacked():
		    sys.getprofile() is None or seen.append('profiled')
		    sys.setprofile(f)
		    seen.append(sys.getprofile() is f)
		def refused():
		    try:
		        sys.setprofile()
		    except TypeError:
		        work(1)
		def traced():
		    sys.settrace(lambda frame, event, argument: None)
		    sys.setprofile(f)
		    leaf(1)
		    sys.settrace(None)
		def in_thread():
		    thread = threading.Thread(target=plain)
		    thread.start()
		    thread.join()
		def in_all_threads():
		    threading.setprofile(f)
		    thread = threading.Thread(target=work, args=(1,))
		    thread.start()
		    thread.join()
		    threading.setprofile(None)
		for function in (plain, from_within, returned_to, replaced, taken_away, again, by_c, by_partial,
		                 by_keywords, unpacked, refused, traced):
		    case(function.__name__, function)
		for run in range(2):
		    p = profile.Profile()
		    p.runcall(work, 5)
		    p.create_stats()
		    print('profile', sorted((k[2].split(' at 0x')[0], v[:2]) for k, v in p.stats.items()))
		print(repr(sys.setprofile), sys.setprofile.__doc__[:20], sys.getprofile())
		case('in_thread', in_thread) # from 3.12 on, such a thread leaves the events of all threads on
		del seen[:]
		in_all_threads()
		print('in_all_threads', [s for s in seen if s[2] in ('work', 'leaf', 'len', 'abs')], seen[0])
	END
	timeout "$patience" "$any" profiles.py >bare 2>bare.err
	for calls in all __main__ json profile,threading; do
		pillion -f -o profiles -t nvtx --python-calls=$calls "$any" profiles.py >out 2>err
		is "$? $(grep -v '^pillion: ' err)$(cat out)" "0 $(cat bare.err bare)" \
			"$any, --python-calls=$calls: profile functions of the program get their events only"
	done
done

# ---- greenlets ----

printf 'def getcurrent(): pass\n' >greenlet.py
pillion -f -o greens -t nvtx --python-calls=all "$python" -c 'import sys; sys.path.insert(0, ""); import greenlet' 2>err
like "$(notes greens)" 'the program has greenlets' 'greenlets: the ledger says that callers and times are wrong'
rm greenlet.py

pillion -f -o some -t nvtx --python-calls='json.*,email' "$python" -c 'import json, email.message, textwrap
json.dumps([1]), textwrap.fill("a b"), email.message.Message().as_string()' 2>err
report export -q -t pstats -f true -o some.pstats some.pillion 2>err
is "$("$python" -c 'import pstats
print(*sorted({"/".join(k[0].split("/")[-2:]) for k in pstats.Stats("some.pstats").stats}))')" \
	'email/__init__.py json/__init__.py json/decoder.py json/encoder.py json/scanner.py ~' 'chosen modules'
cat >own.py <<'END'
import cProfile
def called():
    pass
profile = cProfile.Profile()
profile.runcall(called)
print(sum(e.callcount for e in profile.getstats()))
called()
END
timeout "$patience" "$python" own.py >bare
pillion -f -o own -t nvtx --python-calls=all "$python" own.py >out 2>err
is "$? $(cat out)" "0 $(cat bare)" "the program's own cProfile counts what it counts without pillion"
report export -q -t pstats -f true -o own.pstats own.pillion 2>err
seen=$("$python" -c 'import pstats
print(*[v[1] for k, v in pstats.Stats("own.pstats").stats.items() if k[2] == "called"])')
if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then
	is "$seen" 2 'calls are recorded while the program profiles'
else
	is "$seen" '' 'before 3.12 the profiler of the program takes the place of ours'
	like "$(notes own)" 'the program has a profile function of its own' 'this is in the ledger'
fi

rich=${PACKAGE_PYTHON:-python3}
if "$rich" -c 'import snakeviz' 2>/dev/null; then
	is "$("$rich" -c 'import pstats
from snakeviz.stats import json_stats, table_rows
stats = pstats.Stats("calls.pstats")
rows = table_rows(stats)
print(len(rows) == len(stats.stats), any("(fib)" in str(r) for r in rows), "steps" in str(json_stats(stats)))')" \
		'True True True' 'snakeviz reads it'
	chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
	if [ -n "$chromium" ] && command -v node >/dev/null; then
		: >server
		PYTHONUNBUFFERED=1 timeout "$patience" "$rich" -m snakeviz -s -H 127.0.0.1 calls.pstats >server 2>&1 &
		server=$!
		eventually grep -q '^http' server
		adopt node "$tests_dir/python_calls.mjs" "$chromium" "$(grep '^http' server)" job fib steps
		kill "$server"
	else
		skip 'snakeviz in Chromium' 'no Chromium or no node'
	fi
else
	skip 'snakeviz reads it' 'no snakeviz; PACKAGE_PYTHON names a Python that has it'
fi
done_testing
