#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A generated job of many ranks on hosts whose clocks disagree: aligned, summed, the slowest rank named.
set -u
. "$(dirname "$0")/lib.sh"

ranks=600 hosts=75
"$PILLION_BUILD_DIR/tests/trace-writer" ranks job.pillion $ranks $hosts 40
is "$(report info job.pillion | sed -n 's/.*\(node[0-9]*\): .* by 20 MPI collectives.*/\1/p' | sort -u | wc -l)" \
	"$((hosts - 1))" \
	'all hosts are aligned to that of rank 0'
# node0001 is 37 ms ahead of node0000, and gains 13 us per second
like "$(report info job.pillion)" \
	'node0001: .*: 3700[0-9]{4} ns ahead of node0000, drifting by 1[23]\.[0-9]+ us per second' 'offset and drift'
is "$(report stats -q -r osrt_sum -f csv job.pillion | awk -F, 'NR > 1 { print $3, $9 }')" "$((ranks * 40)) write" \
	'calls of all ranks'
is "$(report stats -q -r mpi_sum -f csv job.pillion | awk -F, '/MPI_Barrier/ { print $3 }')" "$((ranks * 20))" \
	'barriers of all ranks'
is "$(report stats -q -r mpi_wait_sum -f csv job.pillion | awk -F, 'NR == 2 { print $3, $6, $9 }')" \
	"$(((ranks - 1) * 20)) wait at collective $((ranks / 3))" 'the others wait for the slowest rank'
like "$(report stats --summary job.pillion)" "^2\\.10 s, $ranks processes, $hosts hosts, exit 0" 'the summary'
done_testing
