/* SPDX-License-Identifier: Apache-2.0 */
/* Makes calls that every MPI library has, argv[1] rounds, with two or more ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, rank, ranks, next, previous;
	double values[16] = {0}, sums[16], total = 0;
	MPI_Request requests[2];
	MPI_Datatype row;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	next = (rank + 1) % ranks;
	previous = (rank + ranks - 1) % ranks;
	MPI_Type_contiguous(3, MPI_DOUBLE, &row);
	MPI_Type_commit(&row);
	for (int i = 0; i < rounds; i++) {
		values[0] = rank + i;
		MPI_Allreduce(values, sums, 16, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		total += sums[0];
		MPI_Irecv(sums, 8, MPI_INT, previous, 42, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(values, 8, MPI_INT, next, 42, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		MPI_Bcast(values, 2, row, 0, MPI_COMM_WORLD);
		MPI_Gather(rank ? values : MPI_IN_PLACE, 1, rank ? MPI_DOUBLE : MPI_DATATYPE_NULL, sums, 1, MPI_DOUBLE,
			   0, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Type_free(&row);
	if (!rank)
		printf("%d ranks %.0f\n", ranks, total);
	MPI_Finalize();
	return 0;
}
