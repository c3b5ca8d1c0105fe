#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A batch system ends the daemon of another host's mpirun together with the ranks below it, and nobody forwards what
# their launcher writes then: the line about a hang is written by the launcher of another rank, which has not made it.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" OMPI_COMM_WORLD_RANK RANK MASTER_ADDR MASTER_PORT
command -v gcc >/dev/null || skip_all 'no gcc'
export PMIX_NAMESPACE=job PILLION_STATS=summary

cat >mpi.c <<'END'
#include <unistd.h>
int MPI_Barrier(void *comm) { for (;;) sleep(1000); return 0; }
END
cat >job.c <<'END'
#include <stdlib.h>
int MPI_Barrier(void *);
int main(void)
{
	volatile long work = 0;
	while (atoi(getenv("PMIX_RANK")) == 1)
		work++;
	return MPI_Barrier(0);
}
END
ok 'a job' gcc -O1 -shared -fPIC -o libmpi.so.40 mpi.c
ok 'with a library of MPI' gcc -g -O0 -o job job.c ./libmpi.so.40 -Wl,-rpath,"$work"
late='^STALLED +1 of 2 ranks are in MPI_Barrier; rank 1, PID [0-9]+, has not come for .* main \(.*job.c:[67]\)'

# hung NAME: rank 0 below a program of that name, rank 1 not. The line is in the file .hang when rank 0's launcher has
# made it: that of rank 1, which computes, never asks for it.
hung() {
	rm -f launcher
	cp "$(command -v bash)" "$1"
	mkfifo "$1.pipe"
	cat "$1.pipe" >"$1.0" &
	reader=$!
	PMIX_RANK=0 "./$1" -c '"$PILLION" -o "${0##*/}" ./job 2>&1 & echo $! >launcher; wait' "./$1" \
		2>err >"$1.pipe" &
	daemon=$!
	ok "$1: rank 0 runs" eventually test -s launcher
	PMIX_RANK=1 "$PILLION" -o "$1" ./job >"$1.1" 2>&1 &
	other=$!
	ok "$1: a launcher holds the line" eventually grep -Eqs "$late" "$1.pillion/.hang"
	kill -TERM "$daemon" "$(cat launcher)" "$other"
	wait "$daemon"
	wait "$other"
	is $? 143 "$1: the status"
	wait "$reader"
	is $? 0 "$1: rank 0's launcher has ended, and what it wrote is in the file"
}
export PILLION
hung orted
like "$(cat orted.1)" "$late" 'below a daemon: the launcher of the other rank writes it'
is "$(cat orted.0 orted.1 | grep -c '^STALLED')" 1 'below a daemon: once'
hung other
is "$(cat other.0 other.1 | grep -Ec "$late")" 1 'below another program: one of both writes it'

done_testing
