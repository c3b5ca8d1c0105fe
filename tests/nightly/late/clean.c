// SPDX-License-Identifier: Apache-2.0
// clean KIND STEPS: programs in which all ranks do the same work.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 60000, KEYS = 4000 };

static int rank, ranks;
static double cells[CELLS + 2], sum;

static void work(int loops)
{
	for (int k = 0; k < loops; k++)
		for (int i = 1; i <= CELLS; i++)
			cells[i] = 0.5 * cells[i] + 0.25 * (cells[i - 1] + cells[i + 1]) + 1;
}

static void halo(void)
{
	int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;

	work(20);
	MPI_Sendrecv(&cells[1], 1, MPI_DOUBLE, left, 0, &cells[CELLS + 1], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Sendrecv(&cells[CELLS], 1, MPI_DOUBLE, right, 1, &cells[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
}

static void reduce(void)
{
	work(20);
	MPI_Allreduce(&cells[1], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static int compare(const void *left, const void *right)
{
	return (*(const int *)left > *(const int *)right) - (*(const int *)left < *(const int *)right);
}

static void sort(void)
{
	static int keys[8 * KEYS], received[8 * KEYS];

	for (int i = 0; i < ranks * KEYS; i++)
		keys[i] = (int)((unsigned int)(i + 1) * 2654435761u % 1000003u);
	MPI_Alltoall(keys, KEYS, MPI_INT, received, KEYS, MPI_INT, MPI_COMM_WORLD);
	qsort(received, (size_t)(ranks * KEYS), sizeof(int), compare);
}

static void overlap(void)
{
	MPI_Request request;

	MPI_Iallreduce(&cells[1], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
	work(20);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void save(void)
{
	char name[32];
	int file;

	snprintf(name, sizeof(name), "clean.%d", rank);
	file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	work(10);
	if (write(file, cells, sizeof(cells)) != sizeof(cells))
		perror("clean");
	close(file);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void allocate(void)
{
	volatile char *memory = malloc(8 << 20);

	for (int i = 0; i < 8 << 20; i += 64)
		memory[i] = 1;
	free((void *)memory);
	MPI_Bcast(cells, 1000, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	MPI_Reduce(&cells[1], &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*step)(void);
	} kinds[] = {{"halo", halo}, {"reduce", reduce}, {"sort", sort},
		     {"overlap", overlap}, {"save", save}, {"allocate", allocate}};

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (size_t i = 0; argc > 2 && i < sizeof(kinds) / sizeof(*kinds); i++)
		for (int step = 0; !strcmp(kinds[i].name, argv[1]) && step < atoi(argv[2]); step++)
			kinds[i].step();
	MPI_Finalize();
	return 0;
}
