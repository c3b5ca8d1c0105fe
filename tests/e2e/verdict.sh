#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Why a job hangs is the first line of its log, made before the signal comes: mpirun kills one second after SIGTERM.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK RANK MASTER_ADDR MASTER_PORT
deadlock=$targets/deadlock
export PILLION_STATS=summary

# started COMMAND...: records it in a process group of its own, until it prints "ready".
started() {
	rm -rf run.pillion log
	set -m
	"$PILLION" -o run "$@" >log 2>&1 &
	job=$!
	set +m
	eventually grep -qs ready log
}

# The launcher holds a text, made of the looks that there are: the report has ended, and the mark has remained.
has_verdict() {
	[ -e run.pillion/.hang ] && no_report && sleep 0.3 && [ -e run.pillion/.hang ] && no_report
}

no_report() {
	! pgrep -P "$job" -f pillion-report >/dev/null
}

first_lines() {
	grep -v '^ready$' log
}

for signal in TERM INT HUP; do
	started "$deadlock" mutexes
	ok "SIG$signal: the verdict is there before the signal" eventually has_verdict
	kill -"$signal" "$job"
	ok "SIG$signal: it is printed" eventually grep -q '^DEADLOCK' log
	wait "$job" 2>/dev/null
	like "$(first_lines | sed -n 1p)" '^DEADLOCK .*deadlock.c:[0-9]+ waits for a mutex' \
		"SIG$signal: it is the first line"
	like "$(first_lines | sed -n 2p)" '^ +which waits for' "SIG$signal: and complete"
	like "$(first_lines | sed -n 3p)" '^pillion: capture: ' "SIG$signal: the path of the capture follows"
	is "$(find run.pillion -name .hang)$(find run.pillion -name .verdict | wc -l)" 1 "SIG$signal: the marks"
done

# Whoever kills the launcher right after the signal leaves the line in the log: no process was started for it.
started "$deadlock" mutexes
ok 'killed at once: the verdict is there' eventually has_verdict
kill -STOP "$job"
kill -TERM "$job"
kill -CONT "$job"
ok 'killed at once: it is printed' eventually grep -q '^DEADLOCK' log
kill -KILL -- "-$job"
wait "$job" 2>/dev/null

# A program that goes on between looks has none.
cat >beats.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	puts("ready");
	fflush(stdout);
	for (;;) {
		sleep(2);
		for (volatile long i = 0; i < 30000000; i++)
			;
	}
}
END
if command -v gcc >/dev/null && gcc -o beats beats.c; then
	started ./beats
	ok 'a program that sleeps: a look' eventually sh -c '[ -n "$(find run.pillion -name "*.where" -size +0)" ]'
	kill -TERM "$job"
	wait "$job" 2>/dev/null
	like "$(first_lines | sed -n 1p)" '^pillion: capture: ' 'a program that sleeps: no verdict'
else
	skip 'a program that sleeps' 'no gcc'
fi

# Frames of the standard library are no lines of the program.
cat >lock.cpp <<'END'
#include <mutex>
#include <thread>
#include <unistd.h>
std::mutex one, two;
static void both(std::mutex &a, std::mutex &b)
{
	std::lock_guard<std::mutex> first(a);
	usleep(200000);
	std::lock_guard<std::mutex> second(b); /* waits */
}
int main()
{
	std::thread t(both, std::ref(one), std::ref(two)), u(both, std::ref(two), std::ref(one));
	(void)!write(1, "ready\n", 6);
	t.join();
	u.join();
}
END
if command -v g++ >/dev/null && g++ -g -O0 -o lock lock.cpp -lpthread 2>/dev/null; then
	started ./lock
	ok 'C++: the verdict is there' eventually has_verdict
	kill -TERM "$job"
	wait "$job" 2>/dev/null
	like "$(first_lines | sed -n 1p)" '^DEADLOCK +thread [0-9]+ at lock.cpp:9 waits for a mutex of thread' \
		"C++: the program's own line"
else
	skip 'C++' 'no g++'
fi

# Ctrl-C wakes Python's main thread, which then waits for nothing: what it waited for until then counts.
owned='import sys, sysconfig
sys.exit(sys.version_info >= (3, 14) or bool(sysconfig.get_config_var("Py_GIL_DISABLED")))'
cat >main.py <<'END'
import threading
import time
a, b = threading.Lock(), threading.Lock()
def one():
    with a:
        time.sleep(0.2)
        with b:  # waits
            pass
threading.Thread(target=one, daemon=True).start()
with b:
    time.sleep(0.4)
    print("ready", flush=True)
    with a:  # main waits
        pass
END
if command -v python3 >/dev/null && python3 -c "$owned"; then
	started python3 main.py
	ok 'Python: the verdict is there' eventually has_verdict
	kill -INT -- "-$job"
	wait "$job" 2>/dev/null
	like "$(cat log)" 'DEADLOCK .*main thread.* at main.py:(7|13)' 'Python, Ctrl-C: the main thread is in it'
	report stats --summary run.pillion >summary 2>err
	like "$(cat summary)" '^DEADLOCK .*at main.py:(7|13) waits for a threading.Lock' \
		'Python, Ctrl-C: and in the capture'
else
	skip 'Python' 'no python3 whose locks have owners'
fi

# The shell waits for the launcher: it ends with COMMAND where it was told to, whatever still hangs.
cat >parent.sh <<END
"$deadlock" mutexes &
echo \$! >worker
trap 'exit 3' TERM
while :; do sleep 0.1; done
END
started --wait=all sh parent.sh
kill -TERM "$job"
wait "$job" 2>/dev/null
code=$?
is "$code $(kill -0 "$(cat worker)" 2>/dev/null && echo alive)" '3 alive' \
	'a worker that hangs does not hold the launcher'
kill -KILL "$(cat worker)"
done_testing
