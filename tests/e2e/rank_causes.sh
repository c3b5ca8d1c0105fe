#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ranks of MPI of which some are late by a known cause: which ranks, by what, at which line. The program has
# more causes.
set -u
. "$(dirname "$0")/lib.sh"

[ -x "$targets/mpi_late" ] || skip_all 'built without MPI'
has_unwinder || skip_all 'without native stacks there are no lines'
needs_mpirun
# ranks that wait leave the CPU to others; what a busy machine adds is little beside 100 ms
export OMPI_MCA_mpi_yield_when_idle=1

source=$tests_dir/../targets/mpi_late.c
line_of() { # CAUSE
	grep -n "late: $1 " "$source" | cut -d: -f1
}

# late CAUSE RANKS LINE-OF CALL RANKS-WANTED: what rank_cause_sum says of most of the waiting.
late() {
	local row wanted
	PILLION_STATS=false ranks "$2" "$PILLION" -o "$1" -t mpi,osrt "$targets/mpi_late" "$1" 10 100 >out 2>err
	is "$?" 0 "$1: status"
	row=$(report stats -q -r rank_cause_sum -f json "$1.pillion" 2>err | grep -m 1 '"Late Ranks"')
	wanted="\"Late Ranks\":\"$5\",\"Cause\":\"call\",\"Late Name\":\"$4\",\"Late Line\":\"[^\"]*"
	wanted="$wanted""mpi_late.c:$(line_of "$3")\)"
	like "$row" "$wanted" "$1: ranks, call and line"
	report analyze -q -r straggling_rank -f json "$1.pillion" >found 2>err
	like "$(cat found)" "\"Verdict\":\"found\",.*mpi_late.c:$(line_of "$3")\)" "$1: straggling_rank has the line"
}

late sleep 4 sleep usleep 'rank 1'
late second 6 second usleep 'every second rank, which are 1, 3 and 5'
late halo 4 halo usleep 'rank 1'
late chain 3 chain usleep 'rank 0'
late part 4 part usleep 'rank 3'
done_testing
