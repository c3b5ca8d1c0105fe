// SPDX-License-Identifier: Apache-2.0
// Each rank computes with two threads of OpenMP; in rank 1 the second one has nearly all of the work.
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>

static double part(int count)
{
	double sum = 0;

	for (int i = 1; i < count; i++) // late
		sum += 1.0 / i; // late
	return sum;
}

int main(int argc, char **argv)
{
	int rank, steps;
	double sum = 0, all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	steps = argc > 1 ? atoi(argv[1]) : 30;
	for (int step = 0; step < steps; step++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
		sum += part(rank == 1 && omp_get_thread_num() == 1 ? 12000000 : 200000); // late
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
