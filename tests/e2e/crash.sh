#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Crashes: the summary names signal, thread and line, and the program dies as it does alone.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK RANK MASTER_ADDR MASTER_PORT
ulimit -c 0
crash=$targets/crash
source=$(readlink -f -- "${tests_dir%/e2e}/targets")/crash.c

line() { # TEXT: the number of the line of crash.c with that text
	grep -n -m 1 -- "$1" "$source" | cut -d: -f1
}

# alike OPTIONS COMMAND...: run alone and recorded, it has the same status and output; the summary is in `err`.
alike() {
	local options=$1
	shift
	timeout "$patience" "$@" >alone 2>/dev/null
	alone=$?
	rm -rf run.pillion
	# shellcheck disable=SC2086
	PILLION_STATS=summary timeout "$patience" "$PILLION" $options -o run "$@" >recorded 2>err
	is "$? $(cat recorded)" "$alone $(cat alone)" "$* $options: status and output"
}

named() { # TEXT REGEX: the line after the first of the summary
	if has_unwinder; then
		like "$(grep '^CRASH' err)" "^CRASH +$2" "$1: the summary"
	else
		skip "$1: the summary" 'no unwinder'
	fi
}

alike '' "$crash" dispositions
alike '-s none' "$crash" dispositions

fault="signal 11 \\(SIGSEGV, address 0x0\\) in main thread: at crash.c:$(line 'read_nothing crashes') read_nothing;"
alike '' "$crash" segv
named 'a null pointer' "$fault process [0-9]+ .*, after [0-9.]+ [mu]?s$"
report stats --summary --json run.pillion >out 2>/dev/null
report analyze run.pillion >findings 2>err
like "$(grep -v '^$' findings | head -n 1)" '^ CRASH signal 11 \(SIGSEGV' 'analyze begins with it'
report analyze --json run.pillion >findings.json 2>err
like "$(python3 -c 'import json
row = json.load(open("findings.json"))["rows"][0]
print(row["Rule"], row["Verdict"], row["Text"], row["Line"])' 2>&1)" '^crash found CRASH signal 11 .* [^ ]*:[0-9]+$' \
	'its first row is the crash'
report analyze -q --fail-on found:crash run.pillion >/dev/null 2>&1
is $? 3 '--fail-on takes it'
like "$(pillion analyze --sarif run.pillion)" '"ruleId": *"crash", *"level": *"error"' 'SARIF has it as an error'
like "$(tr -d '\n' <out)" '"Kind": *"CRASH"[^}]*"Ended": *"signal 11 \(SIGSEGV[^}]*"Line": *"read_nothing' 'and as JSON'
report info -q run.pillion >out
like "$(cat out)" 'Crashes' 'info has the crash'
report info -q -f json run.pillion >out
like "$(tr -d '\n' <out)" '"Signal": *"signal 11 \(SIGSEGV, address 0x0\)"' 'and info as JSON'
alike '-s none' "$crash" segv
named 'without samples' "$fault"
alike '' "$crash" thread segv
named 'in a thread' "signal 11 \\(SIGSEGV, address 0x0\\) in thread worker: at crash.c:[0-9]+ read_nothing;"
while read -r how signal; do
	alike '' "$crash" "$how"
	named "$how" "$signal\\) in main thread: at crash.c:[0-9]+ "
done <<END
bus signal 7 \(SIGBUS, address 0x[0-9a-f]+
fpe signal 8 \(SIGFPE
abort signal 6 \(SIGABRT
jump signal 11 \(SIGSEGV, address 0x0
raise signal 11 \(SIGSEGV
kill signal 8 \(SIGFPE
END
[ "$(uname -m)" = x86_64 ] && alike '' "$crash" ill
for stack in '' 'thread '; do
	# shellcheck disable=SC2086
	alike '' "$crash" ${stack}overflow
	if [ "$(uname -m)" = x86_64 ]; then
		named "a stack overflow, $stack" \
			'signal 11 \(SIGSEGV, address 0x[0-9a-f]+\) in .*: at crash.c:[0-9]+ descend'
	fi
done

# The program has handlers: they run as without us, and what they leave to the default action is recorded.
for how in segv raise abort; do
	for handler in chain signal once ignored; do
		alike '' "$crash" $handler $how
	done
done
alike '' "$crash" stack overflow
alike '' "$crash" chain segv
named 'a handler that restores the default action' "$fault"
alike '' "$crash" signal segv
named 'a handler that raises the signal again' 'signal 11 \(SIGSEGV\) in main thread: at crash.c:[0-9]+ read_nothing;'

# Why abort() was called: what libc has written, and the exception of C++. what() of the program is not called again.
cat >throws.cpp <<'END'
#include <cstdio>
#include <stdexcept>
struct own : std::exception { const char *what() const noexcept override { std::puts("what"); return "own"; } };
struct derived : std::runtime_error { derived() : std::runtime_error("bad") {} };
static void parse(char how)
{
	if (how == 'd') throw derived();
	if (how == 'o') throw own();
	if (how == 'i') throw 42;
	throw std::runtime_error("password=hunter2 bad");
}
static void again() noexcept
{
	try { parse('i'); } catch (int) { parse('d'); }
}
int main(int, char **arguments)
{
	if (*arguments[1] == 'n') again();
	parse(*arguments[1]);
}
END
if command -v g++ >/dev/null && g++ -g -o throws throws.cpp 2>/dev/null; then
	while read -r how reason; do
		alike '' ./throws "$how"
		named "an exception that nobody catches, $how" \
			"signal 6 \\(SIGABRT: $reason\\) in main thread: at throws.cpp:[0-9]+ (parse|again)"
	done <<-'END'
	runtime std::runtime_error: password=\[masked\] bad
	derived derived: bad
	noexcept derived: bad
	own own
	integer int
	END
	has_unwinder && like "$(report stats -r crashes -f csv run.pillion)" \
		'signal 6 \(SIGABRT: int\)' 'the report has it'
	# Then what() of the program and the library that calls abort() are in one object.
	if g++ -g -static-libstdc++ -rdynamic -o exports throws.cpp 2>/dev/null; then
		alike '' ./exports own
		named 'an exception in a program that exports a static libstdc++' \
			'signal 6 \(SIGABRT\) in main thread: at throws.cpp:[0-9]+ parse'
	else
		skip 'an exception in a program that exports a static libstdc++' 'no static libstdc++'
	fi
else
	skip 'an exception that nobody catches' 'no g++'
fi
cat >asserts.c <<'END'
#include <assert.h>
#include <stdlib.h>
static void check(int n) { assert(n > 1); }
int main(int n, char **arguments)
{
	char *volatile p = malloc(8);
	if (!arguments[1]) check(n);
	free(p);
	free(p);
	return 0;
}
END
if cc -g -w -o asserts asserts.c 2>/dev/null; then
	alike '' ./asserts
	named 'an assertion' \
		"signal 6 \\(SIGABRT: Assertion \`n > 1' failed\\.\\) in main thread: at asserts.c:3 check;"
	alike '' ./asserts twice
	named 'a damaged heap' 'signal 6 \(SIGABRT: .*double free.*\) in main thread: at asserts.c:[0-9]+ main;'
else
	skip 'an assertion' 'no C compiler'
fi

cat >job.py <<'END'
import ctypes
def inner():
    ctypes.string_at(0)
inner()
END
if command -v python3 >/dev/null && python3 -c 'import ctypes' 2>/dev/null; then
	alike '' python3 job.py
	named 'Python' 'signal 11 \(SIGSEGV, address 0x0\) in main thread: at job.py:3 inner;'
	alike '' python3 -X faulthandler job.py
	named 'Python with faulthandler' 'signal 11 \(SIGSEGV\) in main thread: at job.py:3 inner;'
	like "$(cat err)" 'Fatal Python error: Segmentation fault' 'whose message is printed'
else
	skip 'Python' 'no python3 with ctypes'
fi

# The search for debug information that is not there: with no server named, nothing is loaded for it.
if has_unwinder && command -v strip >/dev/null && strip --strip-debug -o stripped "$crash"; then
	alike '' ./stripped segv
	(unset DEBUGINFOD_URLS && LD_DEBUG=libs report stats --verdict run.pillion) >out 2>loaded
	like "$(cat out)" '^CRASH .*: at [a-z_]+; process' 'without debug information: the function'
	unlike "$(cat loaded)" 'library=libdebuginfod' 'and libdebuginfod is not loaded'
else
	skip 'without debug information' 'no unwinder, or no strip'
fi

# Under a tracer there is no handler: it sees one signal, as without us.
if command -v strace >/dev/null && strace -o alone.trace true 2>/dev/null; then
	strace -f -e trace=none -o traced.trace "$PILLION" -o traced "$crash" segv >/dev/null 2>&1
	is "$(grep -c 'SIGSEGV {' traced.trace)" 1 'a tracer sees the signal once'
else
	skip 'a tracer' 'no strace'
fi
done_testing
