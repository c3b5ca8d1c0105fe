#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Real MPI: the ranks of one mpirun share one capture, the next run gets another.
set -u
. "$(dirname "$0")/lib.sh"

needs_mpirun

PILLION_STATS=false ranks 4 "$PILLION" -o job "$targets/forks" spawn 1 20 1 >out 2>err
is $? 0 'four ranks: status'
is "$(report stats -r processes -f csv job.pillion | awk -F, 'NR > 1 && $8 ~ /spawn/ { print $4 }' | sort |
	tr '\n' ' ')" '0 1 2 3 ' 'four ranks in one capture, each with its rank'
is "$(report stats -r osrt_sum --by rank -f csv job.pillion | awk -F, '$10 == "usleep" { print $1 }' | sort |
	tr '\n' ' ')" '0 1 2 3 ' '--by rank'
PILLION_STATS=false ranks 2 "$PILLION" "$targets/calls" 5 _exit >out 2>err
PILLION_STATS=false ranks 2 "$PILLION" "$targets/calls" 5 _exit >out 2>err
is "$(ls -d report*.pillion | tr '\n' ' ')" 'report1.pillion report2.pillion ' 'without -o: a capture for each run'
is "$(num_calls report2 usleep)" 10 'without -o: both ranks are in the capture'
done_testing
