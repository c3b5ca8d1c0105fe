// SPDX-License-Identifier: Apache-2.0
// Rank 1 looks through a directory of small files in each step, while the reduction of the others is under way.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void look_through(void)
{
	char name[64], content[16];

	for (int i = 0; i < 4000; i++) {
		struct stat status;
		int file;

		snprintf(name, sizeof(name), "small.%d", i % 100);
		stat(name, &status); // late
		file = open(name, O_RDWR | O_CREAT, 0600); // late
		if (read(file, content, sizeof(content)) == 0) // late
			lseek(file, 0, SEEK_SET); // late
		close(file); // late
	}
}

int main(int argc, char **argv)
{
	int rank, steps, done;
	double value = 1, sum;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	steps = argc > 1 ? atoi(argv[1]) : 30;
	for (int step = 0; step < steps; step++) {
		if (rank == 1)
			look_through();
		MPI_Iallreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
		for (done = 0; !done;) {
			MPI_Test(&request, &done, MPI_STATUS_IGNORE);
			if (!done)
				usleep(200);
		}
	}
	MPI_Finalize();
	return 0;
}
