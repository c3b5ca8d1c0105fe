/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that solve a part each and then add up. Rank 1 has more work than the others: late [even] */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 30 };

static double solve(int rank, int is_even)
{
	usleep(rank == 1 && !is_even ? 40000 : 10000); /* waits for its part of the data */
	return rank;
}

int main(int argc, char **argv)
{
	int rank;
	double sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int round = 0; round < ROUNDS; round++) {
		double part = solve(rank, argc > 1);

		MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	if (!rank)
		printf("sum %g\n", sum);
	MPI_Finalize();
	return 0;
}
