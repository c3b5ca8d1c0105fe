// SPDX-License-Identifier: Apache-2.0
// mpi_straggler planted|clean: diffusion on a strip of a grid per rank, with exchange of borders and a global norm.
// Planted: the rows that remain when the grid is cut into blocks of a power of two all go to the last rank. Clean: the
// rows are divided evenly.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 2048, ROWS = 1408, STEPS = 1600 };

static double relax(const double *old, double *new, int rows)
{
	double change = 0;

	for (int y = 1; y <= rows; y++) {
		for (int x = 1; x < WIDTH - 1; x++) {
			const double *at = old + (size_t)y * WIDTH + x;
			double value = 0.25 * (at[-1] + at[1] + at[-WIDTH] + at[WIDTH]); // PLANT

			change += (value - *at) * (value - *at); // PLANT
			new[(size_t)y * WIDTH + x] = value;
		}
	}
	return change;
}

static int rows_of(int rank, int ranks, int planted)
{
	int block = planted ? 256 : ROWS / ranks;

	return rank < ranks - 1 ? block : ROWS - block * (ranks - 1);
}

int main(int argc, char **argv)
{
	int rank, ranks, rows, up, down, planted = argc > 1 && strcmp(argv[1], "planted") == 0;
	double *grid[2], norm = 0, change;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	rows = rows_of(rank, ranks, planted);
	up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	down = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
	for (int i = 0; i < 2; i++) {
		grid[i] = calloc((size_t)(rows + 2) * WIDTH, sizeof(double));
		for (int y = 0; y < rows + 2; y++)
			grid[i][(size_t)y * WIDTH] = 1;
	}
	for (int step = 0; step < STEPS; step++) {
		double *old = grid[step % 2];

		MPI_Sendrecv(old + WIDTH, WIDTH, MPI_DOUBLE, up, 0, old + (size_t)(rows + 1) * WIDTH, WIDTH, MPI_DOUBLE,
			down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Sendrecv(old + (size_t)rows * WIDTH, WIDTH, MPI_DOUBLE, down, 1, old, WIDTH, MPI_DOUBLE, up, 1,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		change = relax(old, grid[(step + 1) % 2], rows);
		MPI_Allreduce(&change, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("norm %.6e\n", norm);
	free(grid[0]);
	free(grid[1]);
	MPI_Finalize();
	return 0;
}
