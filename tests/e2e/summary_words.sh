#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the summary calls things and people: programs as they were executed, processes that did not exit 0, who ended
# them, a job of a program and the worker that it forked. Nothing depends on elapsed time.
. "$(dirname -- "$0")/lib.sh"

# summary NAME COMMAND...: records it; the summary in `summary`.
summary() {
	PILLION_STATS=summary pillion -f true -o "$@" >out 2>err
	tail -n +2 err >summary
}

summary ended sh -c '(sleep 0.2; exit 3); sleep 60 & sleep 1; kill $!; wait $!; /bin/false'
like "$(cat summary)" '^ended +sleep \([0-9]+\): ended by its parent \(SIGTERM\)$' 'who ended a process'
like "$(cat summary)" '^ended +false \([0-9]+\): exit 1$' 'a child that did not exit 0 is named'
unlike "$(cat summary)" '^(also|ledger|folded) |blocked outside' 'no words of our own'
like "$(cat summary)" '^recording +[0-9]+ recorded' 'what was recorded'

if python=$(command -v "${PILLION_TEST_PYTHON:-python3}"); then
	cat >join.py <<-'P'
		import multiprocessing, time
		def work(queue):
		    until = time.process_time() + 0.3
		    while time.process_time() < until:
		        pass
		    queue.put(1)
		context = multiprocessing.get_context("fork")
		queue = context.Queue()
		worker = context.Process(target=work, args=(queue,))
		worker.start()
		worker.join()
	P
	summary join "$python" join.py
	like "$(head -n 1 summary)" '^[0-9.]+ m?s, 2 processes' 'a program that only waits for its fork is no start-up'
	like "$(cat summary)" '^main +[^ ]+ ' 'and has a line'
	echo 'sum(i * i for i in range(3000000))' >squares.py
	summary options "$python" -X utf8 -W ignore squares.py
	like "$(cat summary)" '^squares\.py ' "a script's name is not the argument of an option"
	cat >calls.py <<-'P'
		import json, time
		def work(i):
		    until = time.process_time() + 0.02
		    while time.process_time() < until:
		        json.dumps(i)
		for i in range(10):
		    work(i)
	P
	summary calls --python-calls=all "$python" calls.py
	like "$(sed -n '/^NVTX ranges/,$p' summary)" 'python:work \(calls\.py:2\)' 'calls of the functions of a program'
	unlike "$(sed -n '/^NVTX ranges/,$p' summary)" 'importlib' 'before those of imports'
	cat >unequal.py <<-'P'
		import os, sys, time
		for seconds in (0.1, 0.1, 1.0):
		    if not os.fork():
		        until = time.process_time() + seconds * float(sys.argv[1])
		        while time.process_time() < until:
		            pass
		        os._exit(0)
		for i in range(3):
		    os.wait()
	P
	summary unequal "$python" unequal.py 1
	differ=' of 3 processes, [0-9.]+ ms to [0-9.]+ m?s of CPU time each: '
	like "$(tr -s '\n ' ' ' <summary)" "$differ" 'parts of a job that differ'
	cpu=$(awk '/^Cpus_allowed_list/ { split($2, c, /[,-]/); print c[1] }' /proc/self/status)
	taskset -c "$cpu" sh -c 'while :; do :; done' &
	busy=$!
	summary starved nice -n 10 taskset -c "$cpu" "$python" unequal.py 0.3
	kill "$busy"
	like "$(tr -s '\n ' ' ' <summary)" "$differ" 'though another program had the CPU for most of the time'
	cat >threads.py <<-'P'
		import threading, time
		def serve(seconds):
		    until = time.thread_time() + seconds
		    while time.thread_time() < until:
		        pass
		for i in range(8):
		    thread = threading.Thread(target=serve, args=(0.3 if i == 5 else 0.02,))
		    thread.start()
		    thread.join()
	P
	summary threads "$python" threads.py
	unlike "$(cat summary)" 'unequal work' 'threads that follow each other share no work'
	is "$(grep -c '^threads ' summary)" 1 'threads without names have one line'
	cat >pool.py <<-'P'
		import multiprocessing, time
		def slow(i):
		    time.sleep(0.05)
		    return i
		if __name__ == '__main__':
		    with multiprocessing.Pool(2) as pool:
		        print(sum(pool.imap(slow, range(20))))
	P
	summary pool "$python" pool.py
	like "$(sed -n '/^workers /,/^[^ ]/p' summary)" ' of 2 processes: .*pool\.py:3 slow' \
		'workers that sleep and are terminated as they wait for work are no idle helpers'
else
	skip 'forks and threads of Python' 'no python3'
fi

if command -v gcc >/dev/null; then
	echo 'static volatile long n; int main(void) { for (long i = 0; i < 1500000000; i++) n += i; }' >loop.c
	gcc -g -O1 -o real-name loop.c && ln -s real-name called-so
	summary named ./called-so
	like "$(cat summary)" '^called-so ' 'a program is named as it was executed'
	unlike "$(tail -n +2 summary)" 'real-name' 'not by what a link leads to'
	unlike "$(cat summary)" '^switched.* -O' 'a build with -O1'
	gcc -g -o slow loop.c
	summary slow ./slow
	like "$(cat summary)" '^switched .*-O0 \(loop\.c is compiled without optimization\)$' \
		'a build without optimization'
	cat >shares.c <<-'C'
		#define _GNU_SOURCE
		#include <pthread.h>
		#include <sched.h>
		#include <stdlib.h>
		#include <time.h>
		struct part { int cpu; double seconds; };
		static volatile unsigned long n;
		static void *work(void *argument)
		{
			struct part *part = argument;
			struct timespec t;
			cpu_set_t set;
			CPU_ZERO(&set);
			CPU_SET(part->cpu, &set);
			sched_setaffinity(0, sizeof(set), &set);
			do {
				for (int i = 0; i < 1000000; i++)
					n += 1;
				clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
			} while (t.tv_sec + t.tv_nsec / 1e9 < part->seconds);
			return NULL;
		}
		int main(int argc, char **argv)
		{
			struct part parts[2];
			pthread_t threads[2];
			for (int i = 0; i < 2; i++) {
				parts[i] = (struct part){atoi(argv[i + 1]), atof(argv[i + 3])};
				pthread_create(&threads[i], NULL, work, &parts[i]);
			}
			for (int i = 0; i < 2; i++)
				pthread_join(threads[i], NULL);
			return argc == 0;
		}
	C
	gcc -g -O1 -o shares shares.c -lpthread
	cpus=$(awk '/^Cpus_allowed_list/ { n = split($2, c, /[,-]/); print c[1], c[n] }' /proc/self/status)
	taskset -c "${cpus%% *}" sh -c 'while :; do :; done' & # so that one of the two threads is preempted
	busy=$!
	# shellcheck disable=SC2086 # two words
	summary equal ./shares $cpus 0.6 0.6
	unlike "$(cat summary)" 'unequal work|of CPU time each' 'equal work of which one part was preempted'
	# shellcheck disable=SC2086
	summary shares ./shares $cpus 0.2 1.8
	kill "$busy"
	like "$(cat summary)" 'the 2 threads have unequal work' 'unequal work beside another program'
	# shellcheck disable=SC2016 # sh expands it
	summary ranks sh -c 'for i in 0 1 2; do OMPI_COMM_WORLD_RANK=$i OMPI_COMM_WORLD_SIZE=3 ./real-name & done; wait'
	like "$(cat summary)" '^rank [012] +[^ ]+ ' 'ranks have their numbers'
	like "$(cat summary)" '^other ranks +[^ ]+ .* of 2 processes' 'and are told apart from the others'
	is "$(awk -F '[▒█·]' '/^(time|rank|other ranks) / { print length($1) }' summary | sort -u | wc -l)" 1 \
		'bars are below what explains them'
fi

report stats ended.pillion >out 2>err
is "$(grep -cE '\((osrt_short_sum|ledger)\):' out)" 0 'the default set has neither short calls nor the ledger'
report analyze ended.pillion >out 2>err
like "$(cat out)" '^ could not check [0-9]+ rules.*\(--all lists them\)$' 'one line of what could not be checked'
done_testing
