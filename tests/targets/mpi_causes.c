/* SPDX-License-Identifier: Apache-2.0 */
/* As causes.c, of two ranks of MPI: mpirun -n 2 mpi_causes FORM slow|fixed. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 10 };

static int is_fixed, rank;

/* One rank arrives late at each collective. */
static void form_straggler(void)
{
	double mine = 1, sum;

	for (int i = 0; i < STEPS; i++) {
		usleep(10000);
		if (rank && !is_fixed)
			usleep(50000); /* straggler */
		MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
}

/* A message is sent late. */
static void form_late(void)
{
	int value = 0;

	for (int i = 0; i < STEPS; i++) {
		if (rank) {
			if (!is_fixed)
				usleep(50000); /* late */
			usleep(10000);
			MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		} else {
			MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			usleep(5000);
		}
	}
}

/* What rank 1 does is not on the path. */
static void form_slack(void)
{
	for (int i = 0; i < STEPS; i++) {
		if (!rank)
			usleep(60000); /* critical rank */
		else if (!is_fixed)
			usleep(30000); /* slack */
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* One rank reads for all. */
static void form_input(void)
{
	int value = 0;

	for (int i = 0; i < STEPS; i++) {
		if (!rank && !is_fixed)
			usleep(40000); /* input */
		MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
		usleep(10000);
	}
}

/* Messages in turn: each rank waits for the other. */
static void form_pingpong(void)
{
	int value = 0;

	for (int i = 0; i < STEPS; i++)
		if (rank) {
			MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (!is_fixed)
				usleep(40000); /* answer */
			MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		} else {
			usleep(10000);
			MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
			MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
}

/* Rank 0 has all of the work in the end. */
static void form_tail(void)
{
	double mine = 1, sum;

	for (int i = 0; i < STEPS; i++) {
		usleep(20000);
		MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	}
	if (!rank && !is_fixed)
		usleep(500000); /* tail */
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} forms[] = {{"straggler", form_straggler}, {"late", form_late},	 {"slack", form_slack},
		     {"input", form_input},	    {"pingpong", form_pingpong}, {"tail", form_tail}};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	is_fixed = argc > 2 && !strcmp(argv[2], "fixed");
	for (size_t i = 0; argc > 1 && i < sizeof(forms) / sizeof(*forms); i++)
		if (!strcmp(forms[i].name, argv[1]))
			forms[i].run();
	MPI_Finalize();
	return 0;
}
