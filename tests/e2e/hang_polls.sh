#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ranks that poll while they wait for each other use all of a CPU: that no call of MPI ends tells that they hang.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK RANK MASTER_ADDR MASTER_PORT
command -v gcc >/dev/null || skip_all 'no gcc'

cat >mpi.c <<'END'
#include <stdlib.h>
#include <unistd.h>
int MPI_Barrier(void *comm)
{
	while (access("go", F_OK))
		;
	return 0;
}
int MPI_Waitall(int n, void *requests, void *s) { return MPI_Barrier(s); }
int MPI_Ssend(void *a, int n, void *t, int to, int tag, void *comm) { return MPI_Barrier(comm); }
END
cat >job.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int MPI_Barrier(void *), MPI_Waitall(int, void *, void *), MPI_Ssend(void *, int, void *, int, int, void *);
int main(int argc, char **argv)
{
	int rank = atoi(getenv("RANK"));
	volatile long work = 0;
	if (!strcmp(argv[1], "late") && rank == 1)
		for (;;)
			work++; /* computes */
	if (!strcmp(argv[1], "send"))
		MPI_Ssend(0, 1, 0, 0, 0, 0); /* all send */
	else if (!strcmp(argv[1], "waitall"))
		MPI_Waitall(1, 0, 0); /* all wait */
	else
		MPI_Barrier(0);
	return 0;
}
END
ok 'ranks are built' gcc -O1 -w -shared -fPIC -o libmpi.so.40 mpi.c
ok 'with a library of MPI' gcc -g -O0 -w -o job job.c ./libmpi.so.40 -Wl,-rpath,"$work"

line() { # TEXT
	grep -n -m 1 -- "$1" job.c | cut -d: -f1
}

started() { # OPTIONS HOW: three ranks
	rm -rf run.pillion log go
	set -m
	# shellcheck disable=SC2086
	PILLION_STATS=summary "$PILLION" $1 -t osrt,mpi -o run sh -c "for rank in 0 1 2; do
		RANK=\$rank ./job $2 &
	done
	wait" >log 2>&1 &
	job=$!
	set +m
}

ended() {
	kill -KILL -- "-$job" 2>/dev/null
	wait "$job" 2>/dev/null
}

late='2 of 3 ranks are in MPI_Barrier; rank 1, PID [0-9]+, has not come for [0-9.]+ m?s: computes'
started --hang=2 late
ok 'a rank that computes: --hang says it while it lasts' eventually grep -Eq "^pillion: STALLED +$late" log
unlike "$(cat log)" 'DEADLOCK|COLLECTIVE' 'it may come: this is no proof'
ok 'the launcher holds the text' [ -e run.pillion/.hang ]
kill -TERM "$job"
ok 'SIGTERM: the log has it' eventually grep -Eq "^STALLED +$late" log
ended
report stats --summary run.pillion >summary 2>err
like "$(cat summary)" "^STALLED +$late" 'the capture has it'
unlike "$(cat summary)" '^(DEADLOCK|COLLECTIVE)' 'and no more than that'

send='every rank sends, and none receives: rank 0, PID [0-9]+: MPI_Ssend for'
started --hang=2 send
ok 'all send: --hang says it while it lasts' eventually grep -Eq "^pillion: DEADLOCK +$send" log
ended

started --hang=2 waitall
ok 'all wait: --hang says it while it lasts' eventually grep -Eq \
	'^pillion: STALLED +every rank is in a call, and none has ended since: rank 0, PID [0-9]+: MPI_Waitall for' log
unlike "$(cat log)" 'DEADLOCK|COLLECTIVE' 'their messages may arrive: this is no proof'
touch go
wait "$job"
is $? 0 'the messages arrive'
unlike "$(sed 's/^pillion: .*//' log)" 'STALLED' 'at the end of a job that has gone on: nothing'

started '--ring=20s --on=hang:2s' waitall
ok '--on=hang: a dump, though all ranks use a CPU' eventually grep -q '^pillion: .*dump1.pillion' log
ended

done_testing
