#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads that wait for each other: the summary names waiters, holders and lines, however the program is ended, and
# nobody has asked while it ran.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK RANK MASTER_ADDR MASTER_PORT
sources=$(readlink -f -- "${tests_dir%/e2e}/targets")
deadlock=$targets/deadlock

line() { # FILE TEXT: the number of the line with that text
	grep -n -m 1 -- "$2" "$sources/$1" | cut -d: -f1
}

# started OUTPUT COMMAND...: in a process group of its own, as a shell starts a job; until it prints "ready".
started() {
	local output=$1
	shift
	rm -f "$output"
	set -m
	"$@" >"$output" 2>"$output.err" &
	job=$!
	set +m
	eventually grep -qs ready "$output"
}

has_look() {
	[ -n "$(find run.pillion -name '*.where' -size +0)" ]
}

# The directory's time changes when the launcher has judged whether the program hangs, and removes its claim.
has_judged() {
	has_look && [ -n "$(find run.pillion -maxdepth 0 -newer "$(find run.pillion -name '*.where')")" ]
}

named_in_capture() {
	report stats --summary run.pillion 2>/dev/null | grep -q '^DEADLOCK'
}

# ended HOW: ends the job as a user, a shell, timeout or the kernel does; its status is in `code`.
ended() {
	local program
	program=$(child_of "$job")
	program=${program:-$job}
	case $1 in
	term) kill -TERM "$job" ;;
	ctrl-c) kill -INT -- "-$job" ;;
	timeout)
		kill -TERM "$job"
		kill -TERM -- "-$job"
		;;
	kill) kill -KILL -- "-$job" 2>/dev/null ;;
	esac
	# Python waits for its threads once more. Another Ctrl-C would end the summary.
	[ "$1" != ctrl-c ] || while kill -0 "$program" 2>/dev/null; do
		sleep 0.2
		kill -INT "$program" 2>/dev/null
	done
	wait "$job" 2>/dev/null
	code=$?
}

# alike HOW COMMAND...: has the same status and output alone and recorded.
alike() {
	local how=$1 alone
	shift
	rm -rf run.pillion
	started alone "$@"
	sleep 0.5
	ended "$how"
	alone=$code
	PILLION_STATS=summary started recorded "$PILLION" -o run "$@"
	ok "$*: a deadlock is seen while it lasts" eventually named_in_capture
	ended "$how"
	is "$code $(cat recorded)" "$alone $(cat alone)" "$* ended by $how: status and output"
	report stats --summary run.pillion >summary 2>err
}

cycle() { # TEXT KIND LINE KIND LINE: two threads, in either order
	local one="thread [0-9]+ (\\([^)]*\\) )?at $3 waits for a $2 of thread [0-9]+ (\\([^)]*\\) )?at $5,"
	local two="thread [0-9]+ (\\([^)]*\\) )?at $5 waits for a $4 of thread [0-9]+ (\\([^)]*\\) )?at $3,"

	like "$(sed -n 2p summary)" "^DEADLOCK +($one|$two)\$" "$1: both threads, their locks and lines"
	like "$(sed -n 3p summary)" '^ +which waits for a .* of thread [0-9]+.*; process [0-9]+ ' "$1: and the process"
	unlike "$(cat summary)" "^FIX FIRST .*($3|$5|join)" "$1: FIX FIRST does not repeat it"
}

# tests/nightly/ended.py has all ways and more programs.
ways='ctrl-c kill'
[ -z "${PILLION_TESTS_LONG:-}" ] || ways='term ctrl-c timeout kill'
for how in $ways; do
	alike "$how" "$deadlock" mutexes
	cycle "mutexes, $how" mutex "deadlock.c:$(line deadlock.c 'one waits')" \
		mutex "deadlock.c:$(line deadlock.c 'two waits')"
	[ "$how" = kill ] || like "$(cat recorded.err)" '^DEADLOCK ' "mutexes, $how: the summary of the run"
done
alike kill "$deadlock" main
like "$(sed -n 2p summary)" '^DEADLOCK +the main thread at ' 'the main thread is one of them'
unlike "$(cat summary)" '^FIX FIRST' 'the main thread is one of them: FIX FIRST does not repeat it'
alike kill "$deadlock" ended
cycle 'the main thread has ended' mutex "deadlock.c:$(line deadlock.c 'one waits')" \
	mutex "deadlock.c:$(line deadlock.c 'two waits')"
PILLION_STATS=false started recorded "$PILLION" -f -o run "$deadlock" ended
has_two_waits() {
	"$PILLION" where "$1" >seen 2>said
	[ "$(grep -c 'pthread_mutex_lock for .*: waits for the mutex' seen)" -eq 2 ]
}
ok 'the main thread has ended: where PID' eventually has_two_waits "$(child_of "$job")"
like "$("$PILLION" top --once --json --interval=100ms "$(child_of "$job")" 2>err)" '"RSS \(bytes\)":[1-9]' \
	'the main thread has ended: its memory in top'
has_memory() {
	report stats -q -r mem_usage_sum -f csv run.pillion 2>/dev/null | grep -q ',deadlock$'
}
ok 'the main thread has ended: its memory in the recording' eventually has_memory
ended kill
# As long as the calls lasted, and not only until the look that found them.
started recorded "$PILLION" -f --stats=false -o aged "$deadlock" mutexes
is_seen() {
	[ -n "$(find aged.pillion -name '*.where' -size +0)" ]
}
eventually is_seen
sleep 3
ended term
report where aged.pillion >out 2>err
is "$(awk '$3 == "pthread_mutex_lock" && $6 == "s:" && $5 >= 2.9' out | wc -l)" 2 'the age of a call'
report analyze run.pillion >findings 2>err
like "$(grep -v '^$' findings | head -n 1)" "^ DEADLOCK .*waits for a mutex of thread" 'analyze begins with it'
unlike "$(cat findings)" '\\x0a' 'in one line'
report analyze -q --fail-on found run.pillion >/dev/null 2>&1
is $? 3 '--fail-on takes it'
like "$(report analyze -r deadlock -f csv run.pillion)" '^deadlock,found,[0-9]+,' 'a row for each thread'
report stats --summary --json run.pillion >out 2>err
command -v python3 >/dev/null && ok 'mutexes, as JSON: each owns what the other waits for' python3 -c '
import json, sys
rows = [r for r in json.load(open("out"))["rows"] if r["table"] == "ended"]
owners = {r["TID"]: r["Owner"] for r in rows}
lines = {int(r["Line"].rstrip(")").split(":")[-1]) for r in rows}
sys.exit(len(rows) != 2 or any(r["Kind"] != "DEADLOCK" for r in rows) or
         any(owners[owners[t]] != t for t in owners) or lines != {int(a) for a in sys.argv[1:]})' \
	"$(line deadlock.c 'one waits')" "$(line deadlock.c 'two waits')"
report stats -r lines -f csv run.pillion >lines
for who in one two; do
	like "$(cat lines)" "deadlock\\.c:$(line deadlock.c "$who waits"),mutex_$who" \
		"the line where thread $who waits, by stats -r lines"
done
alike kill "$deadlock" rwlocks
cycle 'read-write locks' 'read-write lock' "deadlock.c:$(line deadlock.c 'writer waits')" \
	'read-write lock' "deadlock.c:$(line deadlock.c 'reader waits')"
alike kill "$deadlock" relock
relock="^DEADLOCK +the main thread at deadlock.c:$(line deadlock.c 'main relocks') waits for a mutex"
like "$(sed -n 2p summary)" "$relock that it holds itself; process [0-9]+ " 'a thread that holds the mutex itself'
alike kill "$deadlock" join
join="thread [0-9]+ at deadlock.c:$(line deadlock.c 'joiner waits')"
joined="thread [0-9]+ at deadlock.c:$(line deadlock.c 'joined waits')"
like "$(sed -n 2p summary)" \
	"^DEADLOCK +($join waits for the end of $joined,|$joined waits for a mutex of $join,)\$" 'pthread_join'

owned='import sys, sysconfig
sys.exit(sys.version_info >= (3, 14) or bool(sysconfig.get_config_var("Py_GIL_DISABLED")))'
if command -v python3 >/dev/null && python3 -c "$owned"; then
	for how in $ways; do
		alike "$how" python3 "$sources/deadlock.py" with
		at="deadlock.py:$(line deadlock.py 'enter waits')"
		cycle "Python, $how" threading.Lock "$at" threading.Lock "$at"
	done
	alike kill python3 "$sources/deadlock.py" acquire
	at="deadlock.py:$(line deadlock.py 'acquire waits')"
	cycle 'Python, acquire' threading.Lock "$at" threading.Lock "$at"
	alike kill python3 "$sources/deadlock.py" rlock
	at="deadlock.py:$(line deadlock.py 'enter waits')"
	cycle 'Python, RLock' threading.RLock "$at" threading.RLock "$at"
else
	skip 'Python' 'no python3 whose locks have owners'
fi

# --hang: the launcher says it while the program hangs, once, and nothing of programs that merely wait.
rm -rf run.pillion
PILLION_STATS=false started recorded "$PILLION" --hang=1s -o run "$deadlock" mutexes
ok '--hang: a deadlock is printed' eventually grep -q '^pillion: DEADLOCK ' recorded.err
is "$(grep -v '^pillion: ' recorded.err)" '' "--hang: each line says that it is pillion's"
like "$(sed -n 2p recorded.err)" '^pillion:  +which waits for a mutex of thread' '--hang: all of it'
is "$(cat recorded)" ready '--hang: the output is that of the program'
ended kill
"$PILLION" where --hung=1 run >seen 2>said
is "$? $(grep -c '^pillion: DEADLOCK' seen)" '3 1' 'where --hung: the same, and status 3'
cat >server.py <<'END'
import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
print("ready", flush=True)
s.accept()
END
for quiet in 'sh -c "echo ready; sleep 1000; true"' 'sh -c "echo ready; read line; true"' 'python3 server.py'; do
	case $quiet in python3*) command -v python3 >/dev/null || continue ;; esac
	rm -rf run.pillion
	mkfifo input
	set -m
	eval "PILLION_STATS=false \"$PILLION\" --hang=1 -o run $quiet" <input >recorded 2>recorded.err &
	job=$!
	set +m
	exec 4>input
	rm input
	ok "$quiet: it was judged" eventually has_judged
	ended kill
	exec 4>&-
	is "$(cat recorded.err)" '' "$quiet: nothing is printed"
	"$PILLION" where --hung=1 run >seen 2>said
	is "$? $(cat seen)" '0 ' "$quiet: nothing hangs"
done
rm -rf run.pillion
PILLION_STATS=false started recorded "$PILLION" --hang=0 -o run "$deadlock" mutexes
sleep 4
is "$(find run.pillion -name '*.where')$(cat recorded.err)" '' '--hang=0: nobody looks'
ended kill

# Semaphores and queues have no holder: nothing can wake a process of which all threads wait without a time limit.
cat >semaphores.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>
static sem_t one, two;
static void on_signal(int number) { (void)number; sem_post(&one); }
static void *worker(void *none)
{
	sem_wait(&two); /* the worker waits */
	sem_post(&one);
	return none;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	(void)argv;
	if (argc > 1)
		signal(SIGUSR1, on_signal);
	pthread_create(&thread, NULL, worker, NULL);
	write(1, "ready\n", 6);
	sem_wait(&one); /* main waits */
	return 0;
}
END
if command -v gcc >/dev/null && gcc -g -o semaphores semaphores.c -lpthread 2>/dev/null; then
	alike kill ./semaphores
	like "$(sed -n 2p summary)" '^DEADLOCK +all 2 threads wait, and nothing else can wake them: '\
'the main thread at semaphores.c:21 waits for a semaphore,$' 'semaphores: the main thread'
	like "$(sed -n 3p summary)" '^ +thread [0-9]+ at semaphores.c:9 waits for a semaphore; process [0-9]+ ' \
		'semaphores: the worker'
	rm -rf run.pillion
	PILLION_STATS=false started recorded "$PILLION" -o run ./semaphores handler
	ok 'semaphores and a signal handler: a look' eventually has_judged
	ended kill
	report stats --summary run.pillion >summary 2>err
	unlike "$(cat summary)" '^DEADLOCK' 'a handler may post the semaphore: no deadlock'
else
	skip 'semaphores' 'no gcc'
fi
cat >queues.py <<'END'
import queue, signal, sys, threading
one, two = queue.Queue(), queue.Queue()
def worker():
    two.get()  # the worker waits
    one.put(1)
threading.Thread(target=worker, daemon=True).start()
if len(sys.argv) > 1:
    signal.signal(signal.SIGTERM, lambda *_: one.put(2))
print("ready", flush=True)
one.get()  # main waits
END
if command -v python3 >/dev/null; then
	alike kill python3 queues.py
	like "$(sed -n 2p summary)" '^DEADLOCK +all 2 .* the main thread at queues.py:10 waits for a threading.Lock,$' \
		'queues of Python'
	rm -rf run.pillion
	PILLION_STATS=false started recorded "$PILLION" -o run python3 queues.py handler
	ok 'queues and a signal handler: a look' eventually has_judged
	ended kill
	report stats --summary run.pillion >summary 2>err
	unlike "$(cat summary)" '^DEADLOCK' 'a handler may put into the queue: no deadlock'
else
	skip 'queues' 'no python3'
fi

# A wait that has ended, and one that ends by itself, are no deadlocks.
cat >solved.c <<'END'
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
	struct timespec t;
	pthread_mutex_lock(&one);
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 5;
	write(1, "ready\n", 6);
	pthread_mutex_timedlock(&one, &t);
	write(1, "on\n", 3);
	pause();
	return 0;
}
END
if command -v gcc >/dev/null && gcc -g -o solved solved.c -lpthread 2>/dev/null; then
	rm -rf run.pillion
	PILLION_STATS=false started recorded "$PILLION" -o run ./solved
	ok 'a look into a quiet process' eventually has_look
	eventually grep -q on recorded
	ended kill
	report stats --summary run.pillion >summary 2>err
	unlike "$(cat summary)" '^DEADLOCK' 'a wait with a time limit is no deadlock'
else
	skip 'a wait with a time limit' 'no gcc'
fi

done_testing
