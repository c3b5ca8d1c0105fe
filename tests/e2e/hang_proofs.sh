#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ranks of MPI that wait for each other in their calls are a DEADLOCK, as far as the arguments of these calls and the
# messages so far prove it: which ranks, where, and for whom. What may still end is none.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK RANK MASTER_ADDR MASTER_PORT
command -v gcc >/dev/null || skip_all 'no gcc'

# Of this MPI small messages with tag 0 end at once, and nothing else does.
cat >mpi.c <<'END'
static int forever(void)
{
	volatile long polls = 0;
	for (;;)
		polls++;
	return 0;
}
static long made;
int MPI_Init(void *a, void *b) { return 0; }
int MPI_Barrier(void *comm) { return forever(); }
int MPI_Allreduce(void *a, void *b, int n, void *t, void *o, void *comm) { return forever(); }
int MPI_Ssend(void *a, int n, void *t, int to, int tag, void *comm) { return forever(); }
int MPI_Send(void *a, int n, void *t, int to, int tag, void *comm) { return tag ? forever() : 0; }
int MPI_Recv(void *a, int n, void *t, int from, int tag, void *comm, void *s) { return tag ? forever() : 0; }
int MPI_Probe(int from, int tag, void *comm, void *s) { return forever(); }
int MPI_Sendrecv(void *a, int n, void *t, int to, int tag, void *b, int m, void *u, int from, int other, void *comm,
		 void *s) { return forever(); }
int MPI_Issend(void *a, int n, void *t, int to, int tag, void *comm, long *request)
{
	*request = ++made << 4;
	return 0;
}
int MPI_Irecv(void *a, int n, void *t, int from, int tag, void *comm, long *request)
{
	*request = ++made << 4;
	return 0;
}
int MPI_Wait(long *request, void *s) { return forever(); }
int MPI_Waitall(int n, long *requests, void *s) { return forever(); }
int MPI_Waitany(int n, long *requests, int *which, void *s) { return forever(); }
END
cat >job.c <<'END'
#include <stdlib.h>
#include <string.h>
int MPI_Init(void *, void *), MPI_Barrier(void *), MPI_Allreduce(void *, void *, int, void *, void *, void *);
int MPI_Ssend(void *, int, void *, int, int, void *), MPI_Send(void *, int, void *, int, int, void *);
int MPI_Recv(void *, int, void *, int, int, void *, void *), MPI_Probe(int, int, void *, void *);
int MPI_Sendrecv(void *, int, void *, int, int, void *, int, void *, int, int, void *, void *);
int MPI_Issend(void *, int, void *, int, int, void *, long *), MPI_Irecv(void *, int, void *, int, int, void *, long *);
int MPI_Wait(long *, void *), MPI_Waitall(int, long *, void *), MPI_Waitany(int, long *, int *, void *);
int main(int argc, char **argv)
{
	int rank = atoi(getenv("RANK")), other = 1 - rank, which;
	volatile long work = 0;
	long q[2];
	void *W = (void *)0x44000000; /* MPI_COMM_WORLD of MPICH */
	MPI_Init(0, 0);
	for (int i = 0; i < 3 && rank < 2; i++) {
		MPI_Send(0, 1, 0, other, 0, W);
		MPI_Recv(0, 1, 0, other, 0, W, 0);
	}
#define IS(how) if (!strcmp(argv[1], how))
	IS("all") {
		if (rank == 2)
			MPI_Barrier(W); /* all: barrier */
		MPI_Ssend(0, 1, 0, other, 1, W); /* all: sends */
	}
	while (rank == 2)
		work++; /* computes */
	IS("sends") MPI_Ssend(0, 1, 0, other, 1, W); /* sends */
	IS("receives") MPI_Recv(0, 1, 0, other, 1, W, 0); /* receives */
	IS("probes") MPI_Probe(other, 1, W, 0); /* probes */
	IS("both") MPI_Sendrecv(0, 1, 0, other, 1, 0, 1, 0, other, 2, W, 0); /* both */
	IS("tags") {
		if (rank)
			MPI_Ssend(0, 1, 0, 0, 7, W); /* tags: sends */
		MPI_Recv(0, 1, 0, 1, 8, W, 0); /* tags: receives */
	}
	IS("wait") {
		MPI_Issend(0, 1, 0, other, 1, W, q);
		MPI_Wait(q, 0); /* wait */
	}
	IS("waitall") {
		MPI_Irecv(0, 1, 0, other, 1, W, q);
		MPI_Issend(0, 1, 0, other, 2, W, q + 1);
		MPI_Waitall(2, q, 0); /* waitall */
	}
	IS("waitany") {
		MPI_Irecv(0, 1, 0, other, 1, W, q);
		MPI_Irecv(0, 1, 0, other, 2, W, q + 1);
		MPI_Waitany(2, q, &which, 0); /* waitany */
	}
	/* nothing is proved: */
	IS("arrives") {
		if (rank)
			MPI_Ssend(0, 1, 0, 0, 1, W);
		MPI_Recv(0, 1, 0, 1, 1, W, 0);
	}
	IS("posted") {
		if (rank)
			MPI_Ssend(0, 1, 0, 0, 3, W); /* its receive was called before */
		MPI_Irecv(0, 1, 0, 1, 3, W, q);
		MPI_Recv(0, 1, 0, 1, 4, W, 0);
	}
	IS("anybody") MPI_Recv(0, 1, 0, rank ? 0 : -1, 1, W, 0);
	IS("third") {
		if (rank)
			MPI_Recv(0, 1, 0, 2, 1, W, 0);
		MPI_Recv(0, 1, 0, 1, 1, W, 0);
	}
	IS("exchange") {
		MPI_Irecv(0, 1, 0, other, 1, W, q);
		MPI_Issend(0, 1, 0, other, 1, W, q + 1);
		MPI_Waitall(2, q, 0);
	}
	IS("either") {
		MPI_Irecv(0, 1, 0, other, 1, W, q);
		MPI_Irecv(0, 1, 0, 2, 2, W, q + 1);
		MPI_Waitany(2, q, &which, 0);
	}
	return 0;
}
END
ok 'ranks are built' gcc -O1 -w -shared -fPIC -o libmpi.so.40 mpi.c
ok 'with a library of MPI' gcc -g -O0 -w -o job job.c ./libmpi.so.40 -Wl,-rpath,"$work"

line() { # TEXT
	grep -n -m 1 -- "/\* $1 \*/" job.c | cut -d: -f1
}

started() { # HOW WORDS: three ranks, until one of these words is said
	rm -rf run.pillion log
	set -m
	PILLION_STATS=false "$PILLION" --hang=2 -t osrt,mpi -o run sh -c "for rank in 0 1 2; do
		RANK=\$rank ./job $1 &
	done
	wait" >log 2>&1 &
	job=$!
	set +m
	ok "$1: it is said while it lasts" eventually grep -Eq "^pillion: ($2) " log
	kill -KILL -- "-$job" 2>/dev/null
	wait "$job" 2>/dev/null
}

# The two ranks wait for each other, while the third one computes. On a slow machine STALLED may be said before.
proved() { # HOW CALL
	started "$1" DEADLOCK
	sed -n '/^pillion: DEADLOCK/,$p' log >said
	like "$(cat said)" "^pillion: DEADLOCK +ranks wait for each other: rank 0, PID [0-9]+: $2 for [0-9.]+ m?s at \
main \\(.*job.c:$(line "$1")\\), waits for rank 1" "$1: rank 0"
	like "$(cat said)" "^pillion: +rank 1, PID [0-9]+: $2 for [0-9.]+ m?s at main \\(.*job.c:$(line "$1")\\), \
waits for rank 0" "$1: rank 1"
	unlike "$(cat said)" '^pillion: .*rank 2, PID' "$1: not the one that computes"
	report stats --summary run.pillion >summary 2>err
	like "$(sed -n 2p summary)" '^DEADLOCK +ranks wait for each other: rank 0' "$1: the capture has it"
}
proved sends MPI_Ssend
proved receives MPI_Recv
proved probes MPI_Probe
proved both MPI_Sendrecv
proved wait MPI_Wait
proved waitall MPI_Waitall
proved waitany MPI_Waitany

started tags DEADLOCK
like "$(cat log)" "rank 0, PID [0-9]+: MPI_Recv for .*job.c:$(line 'tags: receives')\\), waits for rank 1" \
	'tags: rank 0'
like "$(cat log)" "rank 1, PID [0-9]+: MPI_Ssend for .*job.c:$(line 'tags: sends')\\), waits for rank 0" \
	'tags: rank 1'

started all DEADLOCK
like "$(cat log)" '^pillion: DEADLOCK +ranks wait for each other: rank 0' 'all: the ranks that wait for each other'
unlike "$(sed -n '/^pillion: DEADLOCK/,$p' log)" '^pillion: .*rank 2, PID' 'all: not the one that waits for them'

for how in arrives posted anybody third exchange either; do
	started "$how" 'DEADLOCK|STALLED'
	like "$(cat log)" '^pillion: STALLED ' "$how: no more than that it lasts"
	unlike "$(cat log)" 'DEADLOCK|COLLECTIVE' "$how: nothing is proved"
done

done_testing
