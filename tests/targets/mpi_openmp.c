// SPDX-License-Identifier: Apache-2.0
// mpi_openmp KIND: ranks of MPI with teams of OpenMP. In the last rank one thread does the work of all: main, the main
// thread; worker, another one; barrier, another one before a barrier. more: all its threads have more work. multiple:
// each thread of rank 0 sends to that thread of rank 1, of which one is late, in one region.
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

static void messages(int rank)
{
#pragma omp parallel num_threads(THREADS)
	for (int i = 0, tag = omp_get_thread_num(); i < TURNS; i++) {
		if (!rank) {
			if (tag == 1)
				usleep(THREADS * EQUAL_US); /* late: multiple */
			MPI_Send(&tag, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
		} else {
			MPI_Recv(&(int){0}, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	}
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "";
	int rank, ranks, late = -1, us = EQUAL_US, level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (rank == ranks - 1) {
		late = !strcmp(kind, "more") ? -1 : strcmp(kind, "main") != 0;
		us = !strcmp(kind, "more") ? THREADS * us : us;
	}
	if (!strcmp(kind, "multiple"))
		messages(rank);
	for (int i = 0; i < TURNS && strcmp(kind, "multiple"); i++) {
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
