#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ranks of one job step share one capture; other steps use other captures.
set -u
. "$(dirname "$0")/lib.sh"
unset RANK MASTER_ADDR MASTER_PORT PMIX_NAMESPACE PMIX_RANK OMPI_COMM_WORLD_RANK SLURM_JOB_ID SLURM_STEP_ID SLURM_PROCID

launches() { cat "$1"/*.index | grep -c '^launch	'; }

slurm() { # STEP ARG...: four ranks at once
	local step=$1 rank failed=0 pids=''
	shift
	for rank in 0 1 2 3; do
		SLURM_JOB_ID=7 SLURM_STEP_ID=$step SLURM_PROCID=$rank pillion "$@" >"out.$rank" 2>"err.$rank" &
		pids="$pids $!"
	done
	for rank in $pids; do
		wait "$rank" || failed=1
	done
	return "$failed"
}

ok 'four ranks of srun run' slurm 0 -o job sh -c 'sleep 0.2; echo $SLURM_PROCID'
is "$(launches job.pillion)" 4 'four ranks of srun share one capture'
is "$(cat out.? | tr '\n' ' ')" '0 1 2 3 ' 'four ranks of srun have their own outputs'
is "$(cat err.? | grep -c 'pillion view')" 1 'four ranks of srun print one message with the path'
is "$(ls job.pillion/*.range | wc -l)" 4 'each rank has its own capture range'
ok 'another step uses the next free name' slurm 1 -o job true
is "$(launches job.pillion) $(launches job.1.pillion)" '4 4' 'another step: all ranks share its capture'
rm -r job.1.pillion
ok 'another step with -f true' slurm 1 -f true -o job true
is "$(launches job.pillion)" 4 '-f true: the capture is replaced once'
is "$(ls -d job*)" job.pillion '-f true leaves no other capture'
for try in 2 3 4 5 6; do
	ok "step $try" slurm $try -f -o job true
	is "$(launches job.pillion)" 4 "step $try: its four ranks are in the capture"
done
ok 'four ranks without -o' slurm 8 true
is "$(launches report1.pillion)" 4 'four ranks without -o share report1'
ok 'the next step without -o' slurm 9 true
is "$(launches report2.pillion)" 4 'the next step without -o shares report2'

# A rank that creates the directory and writes its key 4 s later.
SLURM_JOB_ID=7 SLURM_STEP_ID=20 SLURM_PROCID=0 pillion -o quick true 2>err
mkdir -m 700 slow.pillion
(sleep 4; cp quick.pillion/capture slow.pillion/.capture && mv slow.pillion/.capture slow.pillion/capture) &
SLURM_JOB_ID=7 SLURM_STEP_ID=20 SLURM_PROCID=1 pillion -o slow true 2>err
is "$? $(launches slow.pillion)" '0 1' 'ranks wait for one that is slow to write its key'
wait

mpi() {
	for rank in 0 1 2; do
		PMIX_NAMESPACE=$1 PMIX_RANK=$rank OMPI_COMM_WORLD_RANK=$rank SLURM_JOB_ID=7 SLURM_STEP_ID=0 \
			SLURM_PROCID=0 pillion -o mpi "$2" 2>"err.$rank" &
	done
	wait
}
mpi prterun-1 true
is "$(launches mpi.pillion)" 3 "mpirun's ranks join despite variables of srun"
mpi prterun-2 true
is "$(launches mpi.pillion) $(launches mpi.1.pillion)" '3 3' 'ranks of another mpirun have their own capture'

# Hydra has one proxy on each host; each is here a shell with the arguments of one, and starts two ranks by a script.
proxy() { # PORT FIRST-RANK NAME
	# shellcheck disable=SC2016
	PILLION_STATS=false PMI_FD=9 sh -c 'for rank in $0 $(($0 + 1)); do
		PMI_RANK=$rank sh -c "\"\$@\"; exit" sh "$3" -o "$4" true || exit
	done' "$2" --control-port "n1:$1" "$PILLION" "$3" 2>err
}
ok "Hydra's ranks on a host" proxy 1234 0 hydra
ok "Hydra's ranks on another host" proxy 1234 2 hydra
is "$(launches hydra.pillion)" 4 "ranks of MPICH's mpirun on two hosts share one capture"
proxy 1235 0 hydra
is $? 2 "ranks of another mpirun do not join"

torch() { # RANK
	MASTER_ADDR=localhost MASTER_PORT=29500 RANK=$1 pillion -o torch true 2>err
}
torch 0
torch 1
is "$(launches torch.pillion)" 2 "torchrun's ranks join by MASTER_ADDR, MASTER_PORT and RANK"
torch 1
is $? 2 'a rank that is already in the capture belongs to another run'
is "$(MASTER_ADDR=a MASTER_PORT=1 pillion -o torch true 2>&1 | grep -c exists)" 1 \
	'MASTER_ADDR alone does not make a rank'
MASTER_ADDR=localhost MASTER_PORT=29500 RANK=1 TORCHELASTIC_RESTART_COUNT=1 pillion -o torch true 2>err
is $? 0 'workers that torchrun restarts join'
rank_of() { # CAPTURE
	pillion stats -r processes -f csv "$1" | cut -d, -f4 | tail -n +2 | sort -u
}
for variable in FLUX_TASK_RANK PALS_RANKID MV2_COMM_WORLD_RANK; do
	(export "$variable=3" && pillion -o "rank_$variable" sleep 0 2>err)
	is "$(rank_of "rank_$variable.pillion")" 3 "$variable gives a process's rank"
done
SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=1 RANK=5 OMPI_COMM_WORLD_RANK=2 pillion -o inner sleep 0 2>err
is "$(rank_of inner.pillion)" 5 "with several launchers the innermost gives the rank"
SLURM_JOB_ID=7 pillion -o single true 2>err
SLURM_JOB_ID=7 pillion -o single true 2>err
is "$? $(launches single.pillion) $(launches single.1.pillion)" '0 1 1' \
	'runs of one allocation without a step do not join'
done_testing
