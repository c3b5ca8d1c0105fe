// SPDX-License-Identifier: Apache-2.0
// Heat in a rod, cut into pieces: neighbours exchange their borders. Rank 2 makes its piece durable in each step.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CELLS 100000

static double now[CELLS + 2], next[CELLS + 2];

static void exchange(int left, int right)
{
	MPI_Request requests[4];

	MPI_Irecv(&now[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(&now[CELLS + 1], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(&now[1], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[2]);
	MPI_Isend(&now[CELLS], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[3]);
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void checkpoint(FILE *file)
{
	for (int i = 0; i < 6; i++) {
		rewind(file);
		fwrite(now, sizeof(double), CELLS, file);
		fflush(file);
		fdatasync(fileno(file)); // late
	}
}

int main(int argc, char **argv)
{
	int rank, ranks, steps;
	FILE *file = fopen("heat.checkpoint", "w");

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	steps = argc > 1 ? atoi(argv[1]) : 30;
	if (rank == 0)
		now[1] = 1000;
	for (int step = 0; step < steps; step++) {
		exchange(rank > 0 ? rank - 1 : MPI_PROC_NULL, rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL);
		for (int i = 1; i <= CELLS; i++)
			next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
		memcpy(now, next, sizeof(now));
		if (rank == 2)
			checkpoint(file);
	}
	MPI_Finalize();
	return 0;
}
