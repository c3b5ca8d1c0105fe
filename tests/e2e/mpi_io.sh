#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files that ranks of MPI write: many small writes of each rank are found with their line, large ones of all ranks
# together are not.
set -u
. "$(dirname "$0")/lib.sh"

[ -x "$targets/mpi_io" ] || skip_all 'built without MPI'
has_unwinder || skip_all 'without native stacks there are no lines'
needs_mpirun
export OMPI_MCA_mpi_yield_when_idle=1

record() { # KIND
	rm -f data
	PILLION_STATS=false ranks 2 "$PILLION" -o "$1" -t mpi "$targets/mpi_io" "$1" data >out 2>err
	is "$? $(cat out) $(wc -c <data)" '0 2 ranks 2097152' "$1: status, output and file"
	report analyze -q -r small_mpi_io -f csv "$1.pillion" >"$1.csv" 2>err
}

record small
line=$(grep -n 'MPI_File_write_at(' "$tests_dir/../targets/mpi_io.c" | cut -d: -f1)
# calls that are too short for a stack have a row of their own
sums=$(awk -F, 'NR > 1 { calls += $4; bytes += $5; print $2, $6, $7, $8 } END { print calls, bytes }' small.csv)
is "$(uniq <<<"$sums")" \
	"found 16 2 MPI_File_write_at"$'\n'"131072 2097152" 'small: sizes, ranks, calls and bytes'
like "$(cat small.csv)" ",MPI_File_write_at,main \(.*mpi_io\.c:$line\)" 'small: the line'
report analyze -r small_mpi_io small.pillion >out 2>err
like "$(cat out)" '131072 writes of MPI with 16 bytes on average, by 2 ranks, each on its own' 'small: in words'
record large
is "$(tail -n +2 large.csv | cut -d, -f1,2)" 'small_mpi_io,clean' 'large writes of all ranks together'
is "$(report stats -q -r mpi_sum -f csv large.pillion | awk -F, '$9 == "MPI_File_write_at_all" { print $3, $10 }')" \
	'2 2097152' 'large: calls and bytes'
done_testing
