// SPDX-License-Identifier: Apache-2.0
// The power method on a sparse matrix whose first rows are the full ones: rank 0 has most of the work.
#include <math.h>
#include <mpi.h>
#include <stdlib.h>

#define ROWS 2000

static double vector[ROWS], product[ROWS];

static double row_product(int row, int entries)
{
	double sum = 0;

	for (int i = 0; i < entries; i++) // late
		sum += vector[(row * 31 + i * 17) % ROWS] / (1 + i); // late
	return sum;
}

int main(int argc, char **argv)
{
	int rank, steps;
	double mine, norm;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	steps = argc > 1 ? atoi(argv[1]) : 30;
	for (int i = 0; i < ROWS; i++)
		vector[i] = 1;
	for (int step = 0; step < steps; step++) {
		mine = 0;
		for (int row = 0; row < ROWS; row++) {
			product[row] = row_product(row, rank == 0 ? 4000 : 200);
			mine += product[row] * product[row];
		}
		MPI_Allreduce(&mine, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		for (int row = 0; row < ROWS; row++)
			vector[row] = product[row] / sqrt(norm);
	}
	MPI_Finalize();
	return 0;
}
