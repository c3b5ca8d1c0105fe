# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# Open MPI and MPICH, started by mpirun in the batch script and by srun.
file ring.c <<'END'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, size, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 10; i++)
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d of %d: %d\n", rank, size, sum);
	MPI_Finalize();
	return rank == 2 ? 3 : 0;
}
END
# mpi_job TEXT MPI NODES COMMAND: a job of four ranks that runs COMMAND.
mpi_job() {
	local text=$1 mpi=$2
	command -v "mpicc.$mpi" >/dev/null || { skip "$text" "no mpicc.$mpi" && return; }
	submit -N "$3" -n 4 <<-END
		#!/bin/bash
		export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
		mpicc.$mpi -g -o ring ring.c || exit 99
		RECORD='-t osrt,mpi'
		export RECORD
		$4
		echo "status \$?"
	END
	compare "$text"
	captured "$text" 'job.pillion '
	is "$(ranks_of job.pillion)" '0 1 2 3 ' "$text: each rank is in the capture"
	like "$(printed .)" '^rank 3 of 4: 6$' "$text: the ranks are those of one job"
	like "$(report stats -q -r mpi_sum -f csv job.pillion)" ',40,.*,MPI_Allreduce' "$text: MPI's calls are recorded"
	is "$(columns job.pillion | tr ' ' '\n' | cut -d, -f1 | sort -u | tr '\n' ' ')" "${job[traced]} " \
		"$text: the job"
}
mpi_job 'Open MPI by mpirun' openmpi 2 'mpirun.openmpi -n 4 record ./ring'
# On one node: Slurm's plugin has a directory in /tmp that the nodes of this machine would share.
part ompi-pmix
mpi_job 'Open MPI by srun and PMIx' openmpi 1 'srun --mpi=pmix record ./ring'
part mpich-pmi2
mpi_job 'MPICH by srun and PMI-2' mpich 2 'srun --mpi=pmi2 record ./ring'
part mpich
mpi_job 'MPICH by mpirun' mpich 2 'mpirun.mpich -ppn 2 -n 4 record ./ring'

# Without the batch system's help: a stand-in for ssh, whose ranks have no variables of the job step.
file ssh <<'END'
#!/bin/sh
while case $1 in -*) true ;; *) false ;; esac; do shift; done
shift
exec sh -c "$*"
END
chmod +x "$work/files/ssh"
part mpich-ssh
mpi_job 'MPICH by mpirun and ssh' mpich 1 \
	'mpirun.mpich -launcher ssh -launcher-exec ./ssh -hosts n1,n2 -ppn 2 -n 4 record ./ring'
