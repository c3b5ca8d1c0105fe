// SPDX-License-Identifier: Apache-2.0
// mpi_openmp KIND: ranks of MPI with teams of OpenMP. In the last rank one thread does the work of all: main, the main
// thread; worker, another one; barrier, another one before a barrier. more: all its threads have more work.
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 3, TURNS = 15, EQUAL_US = 10000 };

static void work(int us)
{
	if (us)
		usleep((useconds_t)us);
}

__attribute__((noinline)) static void region(int late, int us)
{
#pragma omp parallel num_threads(THREADS)
	work(late < 0 ? us : omp_get_thread_num() == late ? THREADS * us : 0);
}

__attribute__((noinline)) static void barrier(int late, int us)
{
#pragma omp parallel num_threads(THREADS)
	{
		work(late < 0 ? us : omp_get_thread_num() == late ? THREADS * us : 0);
#pragma omp barrier
		work(100);
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	int rank, ranks, late = -1, us = EQUAL_US;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (rank == ranks - 1) {
		late = !strcmp(kind, "more") ? -1 : strcmp(kind, "main") != 0;
		us = !strcmp(kind, "more") ? THREADS * us : us;
	}
	for (int i = 0; i < TURNS; i++) {
		if (!strcmp(kind, "barrier"))
			barrier(late, us);
		else
			region(late, us);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (!rank)
		puts("done");
	MPI_Finalize();
	return 0;
}
