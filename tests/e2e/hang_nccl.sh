#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ranks that wait for the GPU, whose kernel of NCCL waits for a rank that has not called the collective.
set -u
. "$(dirname "$0")/lib.sh"
unset "${!SLURM_@}" PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK RANK MASTER_ADDR MASTER_PORT
has_unwinder || skip_all 'no libdw'

on_doubles
line=$(grep -n '/\* stops \*/' "$tests_dir/../targets/cuda_nccl.c" | cut -d: -f1)
at="cuda_nccl.c:($((line - 1))|$line)\\)"
WORLD_SIZE=3 PILLION_STATS=summary "$PILLION" -o run -t cuda,nccl,osrt \
	sh -c 'for r in 0 1 2; do RANK=$r "$0" 3 run.id stops & done; wait' "$targets/cuda_nccl" >log 2>&1 &
job=$!
ok 'it is known while the job hangs' eventually test -s run.pillion/.hang
kill -TERM "$job"
wait "$job"
like "$(grep -Eo -m 1 '^(DIED FIRST|CRASH|DEADLOCK|COLLECTIVE|STALLED) .*' log)" \
	"^STALLED +2 of 3 ranks are in ncclAllReduce; rank 1, PID [0-9]+, has not come for .*$at" \
	'the first line after SIGTERM'
done_testing
