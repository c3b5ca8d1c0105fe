#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The end of a run that failed: the capture's path at the first sign of it, a summary before SIGKILL, and in it what
# died first.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK RANK MASTER_ADDR MASTER_PORT
export PILLION_STATS=summary
crash="^CRASH +signal 11 \\(SIGSEGV\\).*; process [0-9]+ "

timeout "$patience" "$PILLION" -o crash sh -c 'echo x; kill -SEGV $$' >out 2>err
is $? 139 'a crash: status'
like "$(sed -n 1p err)" "${crash}sh " 'a crash: the first line'
is "$(grep -c '^CRASH' err)" 1 'a crash: the summary of the run does not repeat it'
like "$("$PILLION" stats --summary crash)" "${crash}sh " 'a crash: the summary of the capture has it'
# What abort() sends reaches COMMAND alone, while batch systems send other signals to each process.
if command -v strace >/dev/null && strace -o alone.trace true 2>/dev/null; then
	strace -f -o aborted.trace -e trace=rt_sigtimedwait "$PILLION" -o aborted sh -c 'kill -ABRT $$' >out 2>err
	like "$(cat aborted.trace)" '\[ABRT\], [^,]*, \{tv_sec=0, tv_nsec=0\}' \
		'an abort: its line waits for no other signal'
else
	skip 'an abort' 'no strace'
fi
timeout "$patience" "$PILLION" -o child sh -c 'sh -c "kill -SEGV \$\$"; exit 1' >out 2>err
like "$(cat err)" "${crash}sh " 'a child that crashed, of a COMMAND that failed'
timeout "$patience" "$PILLION" -o well sh -c 'sh -c "kill -SEGV \$\$"; exit 0' >out 2>err
unlike "$(cat err)" '^CRASH' 'a child that crashed, of a COMMAND that did not fail'
timeout "$patience" "$PILLION" -o failed sh -c 'exit 1' >out 2>err
unlike "$(cat err)" '^(CRASH|DIED FIRST)' 'a COMMAND that exits with 1'
# A COMMAND that cannot be recorded: the launcher knows how it ended, and how long it took.
printf '%s\n' '#include <stdlib.h>' '#include <unistd.h>' \
	'int main(void) { sleep(1); return system("true") ? 9 : 3; }' >static.c
if gcc -static -o static static.c 2>/dev/null; then
	timeout "$patience" "$PILLION" -o static ./static >out 2>err
	is $? 3 'a static program: status'
	like "$(cat err)" '^[1-9][0-9.]* s, [0-9]+ process.*, exit 3$' 'a static program: the first line is its own'
	report stats --summary --json static.pillion >out 2>err
	like "$(tr -d '\n' <out)" '"Ended": *"exit 3"' 'and as JSON'
else
	skip 'a static program' 'no gcc that links statically'
fi
if command -v python3 >/dev/null && has_unwinder; then
	cat >busy.py <<'END'
import os, signal, time
def spin():
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass
spin()
os.kill(os.getpid(), signal.SIGSEGV)
END
	timeout "$patience" "$PILLION" -s cpu -o line python3 busy.py >out 2>err
	like "$(cat err)" '^CRASH +signal 11 \(SIGSEGV\) in main thread: at busy.py:7 ' 'a crash: its line'
else
	skip 'a crash: its line' 'no python3 or no unwinder'
fi

# Ranks that are preloaded without a launcher, as by srun --pillion: only what they recorded is known.
cat >alone.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <fcntl.h>
#include <unistd.h>
/* What MPICH writes to PMI_FD, and what may be in a file that has its number later. */
static void ask(int fd)
{
	dup2(fd, 9);
	for (int i = 0; i < 2; i++)
		if (write(9, "cmd=abort after 3 errors\n", 25) != 25)
			exit(99);
}
static void bad(int *p)
{
	*p = 1; /* crashes */
}
int main(int count, char **words)
{
	int rank = atoi(getenv("SLURM_PROCID")), pair[2];
	socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	if (rank == 1 && *words[1] == 'r')
		return fclose(fopen("/dev/null", "r")) ? 1 : 3;
	usleep(20000);
	if (rank == 1)
		switch (count > 1 ? *words[1] : 0) {
		case 's': bad(NULL); break;
		case 'a': abort();
		case 'e': exit(3);
		case 'm': _exit(-1);
		case 'n': exit(127);
		case 'k': kill(getpid(), SIGKILL);
		case 'f': ask(open("log", O_CREAT | O_WRONLY, 0600)); kill(getpid(), SIGKILL);
		case 'p': ask(pair[0]); kill(getpid(), SIGKILL);
		case 'z': ask(pair[0]); return 0;
		case 'l':
			for (int i = 0; i < 200; i++)
				if (fflush(stdout) | fflush(stdout))
					return 1;
			return 0;
		}
	usleep(200000);
	return 0;
}
END
gcc -g -o alone alone.c
# preloaded_ranks NAME WORD: the capture NAME.pillion of two ranks that are given the word
preloaded_ranks() {
	local rank
	for rank in 0 1; do
		(export LD_PRELOAD="$library" PILLION_OUTPUT="$work/$1.pillion" SLURM_PROCID=$rank SLURM_JOB_ID=7 \
			SLURM_STEP_ID=0 && exec ./alone "$2") 2>/dev/null
	done
	report stats --summary "$1.pillion"
}
crashes=$(grep -n '/\* crashes' alone.c | cut -d: -f1)
like "$(preloaded_ranks alone_segv s)" \
	"^DIED FIRST rank 1 on .*: signal 11 .*: at alone.c:$crashes bad; process " \
	'no launcher: a crash'
like "$(preloaded_ranks alone_abort a)" '^DIED FIRST rank 1 on .*: signal 6 \(SIGABRT\)' 'no launcher: abort()'
exit_at() { # WORDS: the line of the program that has them
	grep -nF "$1" alone.c | cut -d: -f1
}
like "$(preloaded_ranks alone_exit e)" \
	"^DIED FIRST rank 1 on .*: exit 3 at alone.c:$(exit_at 'exit(3)') main; process " \
	'no launcher: an exit, and its line'
like "$(preloaded_ranks alone_minus m)" \
	"^DIED FIRST rank 1 on .*: exit 255 at alone.c:$(exit_at '_exit(-1)') main; process " \
	'no launcher: exit(-1) is 255 for a parent'
returned=$(preloaded_ranks alone_return r)
like "$returned" '^DIED FIRST rank 1 on .*: exit 3; process ' 'no launcher: a status that main() returns'
unlike "$returned" 'last recorded: thread' 'no launcher: no thread where nothing is known of it'
like "$(report stats --summary alone_exit.pillion)" '2 processes, exit 3$' \
	'no launcher: the end is that of the rank that failed'
like "$(preloaded_ranks alone_none n)" \
	'^DIED FIRST rank 1 on .*: exit 127 \(usually a command or library was not found\) at alone.c' \
	'no launcher: what a shell or the loader usually means'
export PMI_FD=9
like "$(preloaded_ranks alone_pmi p)" '^DIED FIRST rank 1 on .*: fatal error of MPI at alone.c' \
	'no launcher: a text by which MPICH ends the job'
unlike "$(preloaded_ranks alone_went_on z)" '^(CRASH|DIED FIRST)' 'no launcher: the same, of a rank that ended well'
like "$(preloaded_ranks alone_file f)" '^DIED FIRST rank 1 on .*: killed; process ' \
	'no launcher: the text in a file that has the number of PMI_FD'
if strace -o traced true 2>/dev/null; then
	SLURM_PROCID=1 SLURM_JOB_ID=7 SLURM_STEP_ID=0 PILLION_OUTPUT="$work/once.pillion" \
		strace -o once -E LD_PRELOAD="$library" ./alone f
	is "$(grep -c '^fstat(9,\|^newfstatat(9, "",' once)" 1 'what such a file is, is asked once'
	SLURM_PROCID=1 SLURM_JOB_ID=7 SLURM_STEP_ID=0 PILLION_OUTPUT="$work/flushes.pillion" \
		strace -o flushes -E LD_PRELOAD="$library" ./alone l
	ok 'a rank that flushes stdout at two places: no system call for each' \
		test "$(grep -c '^getpid()' flushes)" -lt 50
else
	skip 'a file that has the number of PMI_FD' 'no strace'
	skip 'a rank that flushes stdout' 'no strace'
fi
unset PMI_FD
like "$(preloaded_ranks alone_kill k)" '^DIED FIRST rank 1 on .*: killed; process ' 'no launcher: SIGKILL of one rank'
unlike "$(preloaded_ranks alone_well w)" '^(CRASH|DIED FIRST)' 'no launcher: nothing has died'
unlike "$(report stats -r processes alone_exit.pillion 2>&1)" 'rate of its clock' \
	'no launcher: the rate of the clock is known'

# A rank of a job step whose COMMAND does not end after SIGTERM: SIGKILL comes soon.
(export PMIX_NAMESPACE=step PMIX_RANK=0 && exec "$PILLION" -o early sh -c 'trap "" TERM
	echo >ready; until [ -e enough ]; do sleep 0.1; done') 2>err &
launcher=$!
eventually test -e ready
kill -TERM $launcher
ok 'SIGTERM: the path at once' eventually grep -q "^$capture_line early.pillion$" err
ok 'a COMMAND that ignores SIGTERM: a summary so far' eventually grep -q '^recording ' err
touch enough
wait $launcher
is "$? $(grep -c "^$capture_line" err)" '0 1' 'the path is printed once'

# cgroup v1 or v2, where this user may make one.
group=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
[ -d $group ] || group=/sys/fs/cgroup limit=memory.max
group=$group/pillion-test-$$
if command -v python3 >/dev/null && mkdir $group 2>/dev/null && echo 100000000 2>/dev/null >$group/$limit; then
	ok_in_group() {
		sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' $group "$@"
	}
	ok_in_group "$PILLION" -o oom python3 -c 'x = [bytes([1]) * 1000000 for i in range(1000)]' >out 2>err
	is $? 137 'a kill for memory: status'
	like "$(sed -n 1p err)" '^OUT OF MEMORY: the kernel killed 1 process \(process .*/pillion-test-.* 100\.0 MB' \
		'a kill for memory: the first line names the limit'
	ok_in_group "$PILLION" -o enough python3 -c 'import os, signal; os.kill(os.getpid(), signal.SIGKILL)' >out 2>err
	unlike "$(cat err)" 'OUT OF MEMORY' 'SIGKILL by somebody is no kill for memory'
	rmdir $group
else
	skip 'a kill for memory' 'no cgroup can be made here'
fi

# mpirun kills the other ranks a second after SIGTERM; a slow machine has more time here.
if ! command -v mpirun >/dev/null || ! ranks 1 true >out 2>err; then
	skip 'ranks' "mpirun does not run here"
	done_testing
fi
export OMPI_MCA_odls_base_sigkill_timeout=6
first='^DIED FIRST rank 2 on [^ ]+: '
died() { # TEXT ENDED COMMAND: of four ranks, rank 2 ends by COMMAND
	rm -rf ranks.pillion
	# shellcheck disable=SC2016
	ranks 4 "$PILLION" -o ranks sh -c '[ "$OMPI_COMM_WORLD_RANK" = 2 ] || exec sleep 1000; sleep 1; '"$3" >out 2>err
	like "$(cat err)" "$first$2.*; process [0-9]+ sh .*, after [0-9.]+ s" "$1: who died first"
	is "$(grep -c "^$capture_line" err) $(grep -c '^recording ' err)" '1 1' "$1: one summary"
}
died 'a rank that crashes' 'signal 11 \(SIGSEGV\)' 'kill -SEGV $$'
died 'a rank that fails' 'exit 3' 'exit 3'
died 'a rank that is killed' 'signal 9 \(SIGKILL\)' 'kill -KILL $$'
# mpirun under one launcher; what a rank starts may fail without harm.
rm -rf ranks.pillion
flags=(--oversubscribe)
[ "$(id -u)" -ne 0 ] || flags+=(--allow-run-as-root)
# shellcheck disable=SC2016
"$PILLION" -o ranks mpirun -n 4 "${flags[@]}" sh -c '[ "$OMPI_COMM_WORLD_RANK" = 2 ] || exec sleep 1000
	sh -c "exit 5"; sleep 1; exit 3' >out 2>err
like "$(cat err)" "${first}exit 3; process [0-9]+ sh .*, after [0-9.]+ s" 'one launcher: who died first'
like "$("$PILLION" analyze ranks 2>err | grep -v '^$' | head -n 1)" '^ DIED FIRST rank 2 on .*exit 3' \
	'analyze begins with it'
"$PILLION" stats --summary --json ranks >out 2>err
like "$(tr -d '\n' <out)" '"Kind": *"DIED FIRST"[^}]*"Rank": *"2"[^}]*"Ended": *"exit 3"' 'and as JSON'
if [ -x "$targets/mpi_died" ]; then
	for end in abort segv; do
		ranks 3 "$PILLION" -t mpi -o $end "$targets/mpi_died" $end >out 2>err
		like "$(cat err)" '^DIED FIRST rank 1 on ' "MPI, $end: who died first"
		[ $end = segv ] || like "$(cat err)" '^DIED FIRST rank 1 .*, in MPI_Abort' 'MPI_Abort is named'
	done
	line_of() { # WORDS: where the program has them
		grep -nF "$1" "$tests_dir/../targets/mpi_died.c" | cut -d: -f1
	}
	exits() { # END STATUS WORDS FUNCTION
		ranks 3 "$PILLION" -t mpi -o "$1" "$targets/mpi_died" "$1" >out 2>err
		like "$(cat err)" "^DIED FIRST rank 1 on .*: exit $2 at mpi_died.c:$(line_of "$3") $4; process " \
			"MPI, $1: the line that ends the rank"
	}
	exits exit 3 'exit(3);' check
	exits _exit 4 '_exit(4);' check
	exits error '[0-9]+' 'no such rank' main
else
	skip 'MPI_Abort' 'built without MPI'
fi
# Hydra kills the launchers as soon as a rank has called MPI_Abort.
cat >aborts.c <<'END'
#include <mpi.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 1 && argc == 2 && !sleep(2))
		*(volatile int *)8 = 1; /* crashes */
	if (rank == 1 && argc > 2)
		MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD); /* no such rank */
	if (rank == 1)
		MPI_Abort(MPI_COMM_WORLD, 5); /* aborts */
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
END
if command -v mpirun.mpich >/dev/null && mpicc.mpich -g -o aborts aborts.c 2>/dev/null; then
	timeout "$patience" mpirun.mpich -n 3 "$PILLION" -o hydra ./aborts >out 2>err
	is $? 5 'MPI_Abort under Hydra: status'
	like "$(cat err)" '^DIED FIRST rank 1 on .*, in MPI_Abort at aborts.c:13 main$' 'and the line that called it'
	timeout "$patience" mpirun.mpich -n 3 "$PILLION" -o fatal ./aborts fatal error >out 2>err
	ok 'a fatal error of MPICH: status' test $? -ne 0
	like "$(cat err)" '^DIED FIRST rank 1 on .*: fatal error of MPI at aborts.c:11 main; process ' \
		'a fatal error of MPICH: the line that called MPI'
	like "$(report stats --summary fatal.pillion)" '^DIED FIRST rank 1 on .*: fatal error of MPI at aborts.c:11 ' \
		'a fatal error of MPICH: the same in the summary of the capture'
	# mpirun waits for the line: the stacks of the ranks that wait are not read for it.
	timeout "$patience" mpirun.mpich -n 3 "$PILLION" -o crashed ./aborts late >out 2>err
	like "$(cat err)" '^DIED FIRST rank 1 on .*signal 11 .* at aborts.c:9 main;' 'a rank for which others wait'
	strace -f -o opened -e trace=openat "$PILLION" stats --quiet --verdict crashed >out 2>err
	if [ -s opened ]; then
		like "$(grep O_NOCTTY opened)" '/aborts"' 'its program is read for the line'
		unlike "$(grep O_NOCTTY opened)" '/libc[.-]' 'the C library is not'
	else
		skip 'what is read for the line' 'no strace'
	fi
else
	skip 'MPI_Abort under Hydra' 'no mpirun.mpich'
fi

# Where one rank's launcher has printed why, the one of a rank that ends later asks for no text of its own.
rank() { # RANK COMMAND...
	RANK=$1 WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=1 PILLION_STATS=summary "${@:2}"
}
if strace -f -o traced true 2>/dev/null; then
	# shellcheck disable=SC2016
	rank 1 timeout "$patience" strace -f -o later -e trace=execve "$PILLION" -o told \
		sh -c ': >begun; until [ -e told.pillion/.verdict ]; do :; done; kill -SEGV $$' >out1 2>err1 &
	# shellcheck disable=SC2016
	rank 0 timeout "$patience" "$PILLION" -o told sh -c 'until [ -e begun ]; do :; done; kill -SEGV $$' >out 2>err
	wait $!
	is "$(cat err err1 | grep -c '^DIED FIRST rank 0 ')" 1 'ranks that end one after the other: one verdict'
	is "$(awk '/killed by SIGSEGV/ { died = 1 } died && /"--quiet", "--verdict"/' later)" '' 'none is looked for'
	like "$(cat err1)" '^recording +[0-9]+ recorded, ' 'the last one has the summary'
else
	skip 'ranks that end one after the other' 'no strace'
fi
done_testing
