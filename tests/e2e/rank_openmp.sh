#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ranks of MPI with teams of OpenMP (libgomp): a rank that is late because its threads have unequal work, whichever
# thread is late, or wait at a barrier, is explained so with the line; one whose threads all have more work is not.
# Ranks whose threads send and receive: without the sleep of the late thread the run is shorter by it.
set -u
. "$(dirname "$0")/lib.sh"

source=${tests_dir%/*}/targets/mpi_openmp.c
command -v mpicc >/dev/null || skip_all 'no mpicc'
has_unwinder || skip_all 'without native stacks there are no lines'
needs_mpirun
mpicc -O1 -g -fopenmp -o mpi_openmp "$source" 2>err || skip_all "mpicc has no OpenMP: $(head -1 err)"
# ranks that wait leave the CPU to others; what a busy machine adds is little beside 300 ms
export OMPI_MCA_mpi_yield_when_idle=1

run() { # KIND
	PILLION_STATS=false ranks 2 "$PILLION" -o "$1" -t mpi,openmp,osrt ./mpi_openmp "$1" >out 2>err
	is "$? $(cat out)" '0 done' "$1: status and output"
	row=$(report stats -q -r rank_cause_sum -f json "$1.pillion" 2>err | grep -m 1 '"Late Ranks"')
}

unequal() { # KIND NAME TEXT-OF-THE-LINE
	local wanted line

	run "$1"
	line=$(grep -n "$3" "$source" | head -1 | cut -d: -f1)
	wanted='"Late Ranks":"rank 1","Cause":"waits for OpenMP threads","Late Name":"'"$2"'","Late Line":"[^"]*'
	like "$row" "$wanted""mpi_openmp.c:$line\\)" "$1: rank, cause, construct and line"
}

unequal main omp_parallel 'pragma omp parallel'
unequal worker omp_parallel 'pragma omp parallel'
unequal barrier omp_barrier 'pragma omp barrier'
run more
like "$row" '"Late Ranks":"rank 1"' 'more: the rank'
unlike "$row" '"Cause":"waits for OpenMP' 'more: threads with equal work do not wait for each other'
report analyze -r straggling_rank worker.pillion >out 2>err
like "$(cat out)" 'rank 1 arrives last at MPI_Barrier.* while it waits for its OpenMP threads' 'in words'
run multiple
line=$(grep -n 'late: multiple' "$source" | cut -d: -f1)
saved=$(report whatif -q -f json multiple.pillion "line~mpi_openmp.c:$line=0" | grep -o '"Saved (ns)":[0-9]*')
ok 'multiple: most of the 450 ms are saved' test "${saved##*:}" -gt 225000000
done_testing
