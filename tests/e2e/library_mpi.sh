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
for name in mpi_sum mpi_peer_sum mpi_comm_sum mpi_line_sum mpi_msg_size_sum; do
	report stats -q -r $name -f csv job.pillion >$name.csv
done

row() { # REPORT FUNCTION [FIELD...]: calls and the other fields, of which the first ones are given
	awk -F, -v name="$2" -v wanted="${*:3}" '$9 == name { text = $10; for (i = 11; i < NF; i++) text = text " " $i }
		$9 == name && (wanted == "" || index(text " ", wanted " ") == 1) { print $3, text }' "$1.csv"
}
is "$(row mpi_sum MPI_Allreduce)" '20 2560' 'a collective of both ranks is one row'
is "$(row mpi_sum MPI_Bcast)" '20 960' 'the bytes of a derived type'
is "$(row mpi_sum MPI_Waitall | cut -d' ' -f1) $(row mpi_sum MPI_Init | cut -d' ' -f1)" '20 2' 'waits, Init'
is "$(row mpi_sum MPI_Gather | cut -d' ' -f1)" 20 'a collective whose type is insignificant on one side'
is "$(cut -d, -f9 mpi_sum.csv | tail -n +2 | sort | uniq -d)" '' 'a row for each function'
is "$(row mpi_peer_sum MPI_Isend 1)" '10 1 world 320' 'a message to its peer'
is "$(row mpi_peer_sum MPI_Irecv 1)" '10 1 world 320' 'a message from its peer'
is "$(row mpi_comm_sum MPI_Barrier)" '20 world ' 'a communicator of both ranks'
is "$(row mpi_msg_size_sum MPI_Allreduce)" '20 128 2560' '128 bytes'
is "$(row mpi_msg_size_sum MPI_Isend)" '20 32 640' '32 bytes'
! has_unwinder || like "$(cut -d, -f9,10 mpi_line_sum.csv)" 'MPI_Init,main \(.*mpi_calls.c:[0-9]+\)' \
	'the line of a call'
is "$(report stats -q -r mpi_sum --by rank -f csv job.pillion | awk -F, '$10 == "MPI_Barrier" { print $1, $4 }' | sort |
	tr '\n' ' ')" '0 10 1 10 ' '--by rank'
is "$(report stats -q -r mpi_sum --by rank -f csv job.pillion | head -1 | tr , '\n' | grep -c '^Rank$')" 1 \
	'one column has the rank'
is "$(report stats -q -r mpi_matrix -f csv job.pillion | tail -n +2 | sort | tr '\n' ' ')" \
	'0,1,world,10,320,32 1,0,world,10,320,32 ' 'messages between ranks'
report stats -q -r mpi_overlap_sum -f csv job.pillion >overlap.csv
is "$(awk -F, 'NR > 1 { phases += $1; waits += $3 } END { print phases, waits }' overlap.csv)" '20 20' \
	'phases between nonblocking calls and their waits'
# Who waits for whom depends on the machine; that all calls were matched does not.
report stats -r mpi_wait_sum -f csv job.pillion >out 2>err
is "$? $(head -1 out | cut -d, -f6-)" '0 Kind,Name,Line,Late Rank,Late Name,Late Line' 'waits for other ranks'
unlike "x $(cat err)" 'not matched' 'the calls of both ranks are matched'
done_testing
