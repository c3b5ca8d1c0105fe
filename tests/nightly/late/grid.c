// SPDX-License-Identifier: Apache-2.0
// A grid of two rows and three columns of ranks that sum along their row, then along their column. Rank 5 waits for a
// device that answers late.
#include <mpi.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

static void wait_for_device(int device)
{
	struct pollfd wait = {.fd = device, .events = POLLIN};

	poll(&wait, 1, 35); // late
}

int main(int argc, char **argv)
{
	int rank, steps, device[2];
	MPI_Comm row, column;
	double value = 1, sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	steps = argc > 1 ? atoi(argv[1]) : 30;
	if (pipe(device))
		return 1;
	MPI_Comm_split(MPI_COMM_WORLD, rank / 3, rank, &row);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 3, rank, &column);
	for (int step = 0; step < steps; step++) {
		if (rank == 5)
			wait_for_device(device[0]);
		MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, row);
		for (int i = 0; i < 100000; i++)
			value += sum / (1 + i);
		MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_MAX, column);
	}
	MPI_Finalize();
	return 0;
}
