/* SPDX-License-Identifier: Apache-2.0 */
/* Passes a number around a ring of ranks. The last rank computes longer than the others, so all wait for it. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 20, LATE_MS = 5 };

int main(int argc, char **argv)
{
	int rank, ranks, number = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int round = 0; round < ROUNDS; round++) {
		struct timespec late = {0, LATE_MS * 1000000L};

		if (rank == ranks - 1)
			nanosleep(&late, NULL);
		if (rank > 0)
			MPI_Recv(&number, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		number++;
		MPI_Send(&number, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD);
		if (rank == 0)
			MPI_Recv(&number, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("%d ranks, %d rounds: %d\n", ranks, ROUNDS, number);
	MPI_Finalize();
	return 0;
}
