/* SPDX-License-Identifier: Apache-2.0 */
/* Calls functions of MPI of each kind, argv[1] times, with derived types, MPI_IN_PLACE and persistent requests.
 * mpi_functions.F90 and python/mpi_functions.py do the same in their languages. Two or more ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { RANKS = 16 };
static double a[16 * RANKS], b[16 * RANKS];
static int ones[RANKS], twos[RANKS], offsets[RANKS], bytes[RANKS];
static MPI_Datatype types[RANKS];

static void messages(int rank, int next, int previous, MPI_Comm comm, MPI_Datatype pair)
{
	MPI_Request requests[2];

	if (rank % 2) {
		MPI_Recv(b, 8, MPI_DOUBLE, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
		MPI_Send(a, 3, pair, rank - 1, 2, comm);
	} else {
		MPI_Ssend(a, 5, MPI_INT, rank + 1, 1, comm);
		MPI_Recv(b, 3, pair, rank + 1, 2, comm, MPI_STATUS_IGNORE);
	}
	MPI_Sendrecv(a, 4, MPI_DOUBLE, next, 3, b, 4, MPI_DOUBLE, previous, 3, comm, MPI_STATUS_IGNORE);
	MPI_Irecv(b, 8, MPI_FLOAT, previous, 4, comm, &requests[0]);
	MPI_Isend(a, 8, MPI_FLOAT, next, 4, comm, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Recv_init(b, 2, MPI_DOUBLE, previous, 5, comm, &requests[0]);
	MPI_Send_init(a, 2, MPI_DOUBLE, next, 5, comm, &requests[1]);
	MPI_Startall(2, requests);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}

static void collectives(int rank, int ranks, MPI_Comm comm, MPI_Datatype pair)
{
	MPI_Request request;

	MPI_Barrier(comm);
	MPI_Bcast(a, 2, pair, 0, comm);
	MPI_Reduce(a, b, 6, MPI_DOUBLE, MPI_SUM, 0, comm);
	MPI_Allreduce(MPI_IN_PLACE, b, 7, MPI_DOUBLE, MPI_MAX, comm);
	MPI_Iallreduce(a, b, 3, MPI_DOUBLE, MPI_SUM, comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Scan(a, b, 2, MPI_DOUBLE, MPI_SUM, comm);
	MPI_Reduce_scatter(a, b, twos, MPI_DOUBLE, MPI_SUM, comm);
	MPI_Reduce_scatter_block(a, b, 2, MPI_DOUBLE, MPI_SUM, comm);
	MPI_Gather(rank ? a : MPI_IN_PLACE, 3, rank ? MPI_DOUBLE : MPI_DATATYPE_NULL, b, 3, MPI_DOUBLE, 0, comm);
	MPI_Gatherv(a, twos[rank], MPI_DOUBLE, b, twos, offsets, MPI_DOUBLE, 0, comm);
	MPI_Scatter(a, 2, MPI_DOUBLE, b, 2, MPI_DOUBLE, 0, comm);
	MPI_Scatterv(a, twos, offsets, MPI_DOUBLE, rank ? b : MPI_IN_PLACE, 2, MPI_DOUBLE, 0, comm);
	MPI_Allgather(a, 2, MPI_DOUBLE, b, 1, pair, comm);
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, twos, offsets, MPI_DOUBLE, comm);
	MPI_Alltoall(a, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, comm);
	MPI_Alltoallv(a, ones, offsets, MPI_DOUBLE, b, ones, offsets, MPI_DOUBLE, comm);
	for (int i = 0; i < ranks; i++)
		types[i] = rank == i ? pair : MPI_DOUBLE;
	MPI_Alltoallw(a, twos, bytes, types, b, twos, bytes, types, comm);
}

static void windows(int next, MPI_Comm comm)
{
	MPI_Win window;

	MPI_Win_create(b, sizeof(b), sizeof(*b), MPI_INFO_NULL, comm, &window);
	MPI_Win_fence(0, window);
	MPI_Put(a, 3, MPI_DOUBLE, next, 0, 3, MPI_DOUBLE, window);
	MPI_Win_fence(0, window);
	MPI_Get(a, 2, MPI_DOUBLE, next, 0, 2, MPI_DOUBLE, window);
	MPI_Win_fence(0, window);
	MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, rank, ranks;
	MPI_Comm copy, half;
	MPI_Datatype pair;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < RANKS; i++) {
		ones[i] = 1;
		twos[i] = 2;
		offsets[i] = 2 * i;
		bytes[i] = 32 * i;
	}
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
	for (int i = 0; i < rounds; i++) {
		MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
		MPI_Type_commit(&pair);
		messages(rank, (rank + 1) % ranks, (rank + ranks - 1) % ranks, copy, pair);
		collectives(rank, ranks, copy, pair);
		MPI_Type_free(&pair);
		MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, half);
		/* The same handle may now be that of another size. */
		MPI_Type_contiguous(3, MPI_DOUBLE, &pair);
		MPI_Type_commit(&pair);
		MPI_Bcast(a, 2, pair, 0, copy);
		MPI_Type_free(&pair);
		windows((rank + 1) % ranks, copy);
	}
	MPI_Comm_free(&half);
	MPI_Comm_free(&copy);
	if (!rank)
		printf("%d ranks %.0f\n", ranks, b[0]);
	MPI_Finalize();
	return 0;
}
