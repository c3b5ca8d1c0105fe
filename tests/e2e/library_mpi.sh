#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Real MPI: its calls with count, size of the type, peer and communicator.
set -u
. "$(dirname "$0")/lib.sh"

[ -x "$targets/mpi_calls" ] || skip_all 'built without MPI'
needs_mpirun

ranks 2 "$targets/mpi_calls" 10 >wanted
PILLION_STATS=false ranks 2 "$PILLION" -o job -t mpi "$targets/mpi_calls" 10 >out 2>err
is "$? $(cat out)" "0 $(cat wanted)" 'status and output'
report stats -q -r mpi_sum -f csv job.pillion >sum.csv

row() { # FUNCTION PEER: calls, count, type, communicator, bytes
	awk -F, -v name="$1" -v peer="$2" '$9 == name && $13 == peer { print $3, $10, $11, $14, $16 }' sum.csv
}
is "$(row MPI_Allreduce '')" '20 16 8 bytes world 2560' 'a collective of both ranks is one row'
is "$(row MPI_Bcast 0)" '20 2 24 bytes world 960' 'the size of a derived type'
is "$(row MPI_Isend 1)" '10 8 4 bytes world 320' 'a message to its peer'
is "$(row MPI_Irecv 1)" '10 8 4 bytes world 320' 'a message from its peer'
is "$(row MPI_Waitall '' | cut -d' ' -f1) $(row MPI_Barrier '' | cut -d' ' -f1) $(row MPI_Init '' | cut -d' ' -f1)" \
	'20 20 2' 'waits, barriers, Init'
is "$(awk -F, '$9 == "MPI_Gather" { n += $3 } END { print n }' sum.csv)" 20 \
	'a collective whose type is insignificant on one side'
is "$(report stats -q -r mpi_sum --by rank -f csv job.pillion | awk -F, '$10 == "MPI_Barrier" { print $1, $4 }' | sort |
	tr '\n' ' ')" '0 10 1 10 ' '--by rank'
done_testing
