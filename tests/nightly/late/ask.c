// SPDX-License-Identifier: Apache-2.0
// Rank 0 asks another program for the parameters of each step, and broadcasts them.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double parameter(int step)
{
	char command[64], answer[32] = "0";
	FILE *program;

	snprintf(command, sizeof(command), "sleep 0.04; echo %d", step);
	program = popen(command, "r");
	if (fgets(answer, sizeof(answer), program) == NULL) // late
		perror("ask");
	pclose(program);
	return atof(answer);
}

int main(int argc, char **argv)
{
	int rank, steps;
	double value = 0, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	steps = argc > 1 ? atoi(argv[1]) : 30;
	for (int step = 0; step < steps; step++) {
		if (rank == 0)
			value = parameter(step);
		MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		for (int i = 0; i < 200000; i++)
			sum += value / (i + rank + 1);
	}
	MPI_Finalize();
	return sum < 0;
}
