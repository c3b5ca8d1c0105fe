# SPDX-License-Identifier: Apache-2.0
# Programs that watch others: perf and its own tests, rr, gdb, strace, ltrace, valgrind, where they work.
# shellcheck shell=bash disable=SC2034
subset='perf test, stat, record, trace; rr record and replay; gdb; strace -f; valgrind: status, digest of output'
packages='linux-perf rr gdb strace valgrind gcc libc6-dev'

obtain() {
	cat >work.c <<-'C'
		#include <pthread.h>
		#include <stdio.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static void *work(void *sum)
		{
			for (long i = 0; i < 20000000; i++)
				*(volatile long *)sum += i % 7;
			return NULL;
		}
		int main(void)
		{
			long sums[4] = { 0 };
			pthread_t threads[3];
			for (int i = 0; i < 3; i++)
				pthread_create(&threads[i], NULL, work, &sums[i]);
			pid_t child = fork();
			if (child == 0)
				execl("/bin/echo", "echo", "child", NULL);
			waitpid(child, NULL, 0);
			work(&sums[3]);
			for (int i = 0; i < 3; i++)
				pthread_join(threads[i], NULL);
			printf("%ld %ld\n", sums[0], sums[3]);
			return 3;
		}
	C
}

build() {
	gcc -g -O1 -pthread -o work work.c
}

# The digest of what the pattern's lines are, without process ids and addresses.
program() { # NAME PATTERN COMMAND...
	local name=$1 pattern=$2 status
	shift 2
	timeout 300 "$@" >output 2>&1 </dev/null
	status=$?
	cat output
	echo "== $name	$status $(grep -aE "$pattern" output | sed -E 's/\(process [0-9]+\)//; s/0x[0-9a-f]+//g' |
		sha256sum | cut -c 1-16)"
}

run() {
	local work=$SOURCE/work
	perf test 2>&1 | sed 's/^/-- /'
	program 'perf stat' '^(child|[0-9]+ [0-9]+)$' perf stat -e task-clock,context-switches,page-faults "$work"
	program 'perf record' '^(child|[0-9]+ [0-9]+)$' perf record -q -g -e cpu-clock -o perf.data "$work"
	program 'perf report' '\[\.\] work' perf report -i perf.data --no-children -g none -F sym --stdio
	program 'perf trace' '^(child|[0-9]+ [0-9]+)$' perf trace -o trace "$work"
	program 'perf sched' 'NOTHING' perf bench sched pipe -l 2000
	program 'rr record' '^(child|[0-9]+ [0-9]+)$' rr record -o recorded "$work"
	program 'rr replay' '^(child|[0-9]+ [0-9]+)$' rr replay -a recorded
	# The program prints to a file, because its lines could be inserted into those of gdb.
	program 'gdb' '^(child|[0-9]+ [0-9]+$|Breakpoint|\[Inferior 1)' gdb -nx -batch -ex 'break work' \
		-ex 'run >printed' -ex bt -ex delete -ex continue -ex 'shell cat printed' "$work"
	program 'gdb, steps' '^(\[Inferior 1|main|work|child|[0-9]+)' gdb -nx -batch -ex 'break main' \
		-ex 'run >printed' -ex next -ex next -ex 'advance 21' -ex step -ex finish -ex next -ex continue \
		-ex 'shell cat printed' "$work"
	program 'gdb, function of libc' '^(\[Inferior 1|main|work|child|[0-9]+.(for|pid|wait))' gdb -nx -batch \
		-ex 'break waitpid' -ex 'run >printed' -ex finish -ex next -ex continue -ex 'shell cat printed' "$work"
	program 'gdb, fork followed' '^(child|\[Inferior)' gdb -nx -batch -ex 'set follow-fork-mode child' \
		-ex 'set detach-on-fork off' -ex 'run >printed' -ex 'info inferiors' -ex 'shell cat printed' "$work"
	program 'strace -f' '^(child|[0-9]+ [0-9]+)$' strace -f -o trace "$work"
	program 'strace, threads' '.' sh -c 'grep -cE "clone3?\(.*CLONE_THREAD" trace; grep -c execve trace'
	program 'valgrind' '^(child|[0-9]+ [0-9]+)$|ERROR SUMMARY' valgrind -q --error-exitcode=9 "$work"
	program 'helgrind' '^(child|[0-9]+ [0-9]+)$' valgrind -q --tool=helgrind --error-exitcode=9 "$work"
}

outcomes() { # LOG
	sed -nE 's/^== //p
		s/^-- +([0-9.]+): ([^:]*[^ :]) *: *(Ok|FAILED!|Skip).*$/perf test \1 \2\t\3/p' "$1"
}

differs() { # CONFIGURATION TEST
	case $2 in
	'gdb, function of libc') echo 'a breakpoint on a wrapped function has two locations, the wrapper and libc' ;;
	esac
}
