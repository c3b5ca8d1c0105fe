/* SPDX-License-Identifier: Apache-2.0 */
/* Rank 1 does not arrive at a barrier. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static __attribute__((noinline)) void late(void)
{
	for (;;)
		sleep(1000);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 1)
		late();
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
