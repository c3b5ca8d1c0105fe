/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_died abort|segv|exit|_exit|error: after a few barriers rank 1 ends the job, while the others wait for it. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(const char *end)
{
	if (!strcmp(end, "exit"))
		exit(3);
	if (!strcmp(end, "_exit"))
		_exit(4); /* without its handlers */
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 3; i++) {
		if (rank == 0)
			usleep(50000);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == 1 && argc > 1 && !strcmp(argv[1], "abort"))
		MPI_Abort(MPI_COMM_WORLD, 7);
	if (rank == 1 && argc > 1 && !strcmp(argv[1], "error"))
		MPI_Send(&rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD); /* no such rank */
	if (rank == 1 && argc > 1)
		check(argv[1]);
	if (rank == 1) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
