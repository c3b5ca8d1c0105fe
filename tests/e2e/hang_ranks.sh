#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ranks that hang and are killed by SIGKILL together with the launcher: the capture says what `pillion where` said
# while they ran, also of ranks that nobody looked into.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK RANK MASTER_ADDR MASTER_PORT
command -v gcc >/dev/null || skip_all 'no gcc'

# MPI that never returns; inside of it a call of the operating system is in progress.
cat >mpi.c <<'END'
#include <unistd.h>
int MPI_Barrier(void *comm) { for (;;) sleep(1000); return 0; }
int MPI_Allreduce(void *a, void *b, int n, void *t, void *o, void *comm) { for (;;) sleep(1000); return 0; }
int MPI_Finalize(void) { for (;;) sleep(1000); return 0; }
int MPI_Recv(void *a, int n, void *t, int source, int tag, void *comm, void *s) { for (;;) sleep(1000); return 0; }
int MPI_Ssend(void *a, int n, void *t, int source, int tag, void *comm) { for (;;) sleep(1000); return 0; }
END
cat >job.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int MPI_Finalize(void), MPI_Barrier(void *), MPI_Allreduce(void *, void *, int, void *, void *, void *);
int MPI_Recv(void *, int, void *, int, int, void *, void *), MPI_Ssend(void *, int, void *, int, int, void *);
static __attribute__((noinline)) void late(void)
{
	for (;;)
		usleep(100000); /* late sleeps */
}
int main(int argc, char **argv)
{
	int rank = atoi(getenv("RANK"));
	if (!strcmp(argv[1], "missing") && rank == 1)
		late();
	if (!strcmp(argv[1], "finalize") && rank == 1)
		MPI_Finalize(); /* one finalizes */
	if (!strcmp(argv[1], "gone") && rank == 1)
		return 0;
	if (!strcmp(argv[1], "receive"))
		MPI_Recv(0, 1, 0, 0, 0, 0, 0); /* all receive */
	if (!strcmp(argv[1], "send"))
		MPI_Ssend(0, 1, 0, 0, 0, 0); /* all send */
	if (!strcmp(argv[1], "mismatch") && rank == 1)
		MPI_Allreduce(0, 0, 1, 0, 0, 0); /* one reduces */
	MPI_Barrier(0); /* others wait */
	return 0;
}
END
ok 'ranks are built' gcc -O1 -shared -fPIC -o libmpi.so.40 mpi.c
ok 'with a library of MPI' gcc -g -O1 -o job job.c ./libmpi.so.40 -Wl,-rpath,"$work"

line() { # TEXT
	grep -n -m 1 -- "$1" job.c | cut -d: -f1
}

# The last sign of life of a killed process is up to a second old.
has_hung() {
	"$PILLION" where -q run >live 2>err && grep -Eq 'MPI_[A-Za-z]+ for ([3-9]|[0-9][0-9]+)\.[0-9]+ s' live &&
		report stats --summary run.pillion 2>/dev/null | grep -Eq -- "$1"
}

program=./job
# hung HOW REGEX: three ranks hang until the summary so far has that line; then all of them and the launcher are killed.
hung() {
	local how=$1
	rm -rf run.pillion
	set -m
	PILLION_STATS=false "$PILLION" -t osrt,mpi -o run sh -c "for rank in 0 1 2; do
		RANK=\$rank $program $how &
	done
	wait" >out 2>err &
	job=$!
	set +m
	ok "$how: the summary names it while it lasts" eventually has_hung "$2"
	kill -KILL -- "-$job"
	wait "$job" 2>/dev/null
}

late="rank 1, PID [0-9]+, has not come for [0-9.]+ m?s: .*sleep.* late \\(.*job.c:$(line 'late sleeps')\\)"
missing="^STALLED +2 of 3 ranks are in MPI_Barrier; $late"
hung missing "$missing"
like "$(cat live)" "$missing" 'where, while it runs'
for looks in with without; do
	[ $looks = with ] || rm -f run.pillion/*.where
	report stats --summary run.pillion >summary 2>err
	like "$(sed -n 2p summary)" "$missing" "$looks a look: the summary"
	"$PILLION" where run >seen 2>said
	like "$(cat seen)" "$missing" "$looks a look: where"
	like "$(cat seen)" 'MPI_Barrier for [0-9.]+ s: in MPI_Barrier, waits for other ranks' \
		"$looks a look: the call of MPI, not the one inside of it"
	report analyze -r straggling_rank run.pillion >found 2>err
	like "$(cat found)" "2 of 3 ranks are in MPI_Barrier; $late" "$looks a look: straggling_rank"
	like "$(report analyze run.pillion 2>err | grep -v '^$' | head -n 1)" \
		"^ STALLED 2 of 3 ranks are in MPI_Barrier; $late" "$looks a look: analyze begins with it"
done
like "$(cat said)" 'nobody asked before: this is what its processes recorded' 'without a look: it is said'

all() { # HOW TEXT CALL LINE
	hung "$1" "^DEADLOCK +$2: rank 0, PID"
	report stats --summary run.pillion >summary 2>err
	like "$(sed -n 2p summary)" \
		"^DEADLOCK +$2: rank 0, PID [0-9]+: $3 for [0-9.]+ s at main \\(.*job.c:$4\\)" \
		"$1: the summary has the first rank and its line"
	like "$(sed -n 3p summary)" '^ +rank 1, PID [0-9]+: MPI_.* for .* at main \(.*job.c:[0-9]+\)' "$1: and the next"
	"$PILLION" where run >seen 2>said
	like "$(cat seen)" "^DEADLOCK +$2: rank 0, PID" "$1: where"
}
all receive 'every rank receives, and none sends' MPI_Recv "$(line 'all receive')"
all send 'every rank sends, and none receives' MPI_Ssend "$(line 'all send')"
all mismatch 'the ranks are in calls that do not match' MPI_Barrier "$(line 'others wait')"
like "$(sed -n 3p summary)" "rank 1, PID [0-9]+: MPI_Allreduce for .*job.c:$(line 'one reduces')" \
	'mismatch: the other call'

finalize='^COLLECTIVE +2 of 3 ranks are in MPI_Barrier; rank 1, PID [0-9]+, is not: MPI_Finalize for [0-9]'
hung finalize "$finalize"
report stats --summary run.pillion >summary 2>err
like "$(sed -n 2p summary)" "$finalize" 'finalize: the summary'

gone='^COLLECTIVE +all ranks that are left, 2, are in MPI_Barrier; rank 1, PID [0-9]+, has ended: exit 0$'
hung gone "$gone"
report stats --summary run.pillion >summary 2>err
like "$(sed -n 2p summary)" "$gone" 'gone: the summary'
unlike "$(cat summary)" 'do not match' 'gone: ranks in the same call are no mismatch'

# The interpreter calls MPI_Finalize when the program's frames are gone, as mpi4py has it do.
cat >calls.c <<'END'
int MPI_Barrier(void *), MPI_Finalize(void);
void come(void) { MPI_Barrier(0); }
void end(void) { MPI_Finalize(); }
END
cat >job.py <<'END'
import ctypes, os, sys, time
calls = ctypes.CDLL("./calls.so")
def stop():
    time.sleep(0.2)  # exits
    sys.exit(3)
if os.environ["RANK"] == "1":
    ctypes.pythonapi.Py_AtExit(ctypes.cast(calls.end, ctypes.c_void_p))
    stop()
calls.come()
END
if command -v python3 >/dev/null && gcc -O1 -shared -fPIC -o calls.so calls.c ./libmpi.so.40 -Wl,-rpath,"$work"; then
	program='python3 job.py'
	at=$(grep -n '# exits' job.py | cut -d: -f1)
	hung exits "${finalize}[0-9.]* s as it exits: .*, last recorded at stop \\(.*job.py:$at\\)"
else
	skip 'the exit of an interpreter' 'no python3'
fi

done_testing
