/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of MPI's handles, which are pointers in Open MPI and ints in MPICH and its derivatives, and the bytes of
 * its calls. A handle is looked up by asking the library whose function was called. MPI ends the program if a handle
 * is invalid, so only handles that the call itself has used are passed on, and only after it succeeded. Any thread. */
#pragma once

#include "preload/library/library.h"

/* Appends a communicator without the unused upper half of its register, and its note. MPI_COMM_WORLD and MPI_COMM_SELF
 * have MPICH's numbers in both implementations. */
void library_mpi_communicator(struct tf_operation *op, const struct library_returned *call, uintptr_t word);

/* Notes the ranks of the communicator at `made`, and a number that is the same in all of them. is_later: it cannot be
 * used yet, and has the ranks of that of the first argument. */
void library_mpi_note(const struct library_returned *call, const void *made, bool is_later);

/* Appends the communicator that a call has made, and its note in the role B; of MPI_COMM_WORLD the handle, and in the
 * role C another one. */
void library_mpi_made(struct tf_operation *op, const struct library_shape *shape, const struct library_returned *call);

/* The lower halves of the first requests of MPI_Startall, and how many they are; 0: it failed. */
unsigned library_mpi_requests(const struct library_returned *call, uint32_t *ret_requests, unsigned most);

/* The size of a datatype in bytes; 0: unknown. */
int64_t library_mpi_bytes(const struct library_returned *call, uintptr_t type);

/* The rank, or the tag, of the message that was received. */
int64_t library_mpi_source(const struct library_returned *call, const struct library_part *part);

/* Where the arguments of a collective are, by the name of its shape. */
enum library_mpi_buffer {
	LIBRARY_MPI_BCAST,
	LIBRARY_MPI_GATHER,
	LIBRARY_MPI_GATHERV,
	LIBRARY_MPI_SCATTER,
	LIBRARY_MPI_SCATTERV,
	LIBRARY_MPI_ALLGATHER,
	LIBRARY_MPI_ALLGATHERV,
	LIBRARY_MPI_ALLTOALL,
	LIBRARY_MPI_ALLTOALLV,
	LIBRARY_MPI_ALLTOALLW,
	LIBRARY_MPI_REDUCE,
	LIBRARY_MPI_REDUCE_SCATTER,
	LIBRARY_MPI_REDUCE_BLOCK,
	LIBRARY_MPI_NEIGHBOR_ALL,
	LIBRARY_MPI_NEIGHBOR_ALLV,
	LIBRARY_MPI_NEIGHBOR_ALLW,
	LIBRARY_MPI_PARTITIONED,
	LIBRARY_MPI_FETCH,
	LIBRARY_MPI_COMPARE,
};

/* Appends the number of elements that the calling rank sends (of a scatter: receives), and their size. Nothing, if the
 * call ignores these arguments on this rank. */
void library_mpi_buffer(struct tf_operation *op, const struct library_returned *call, unsigned buffer);

/* After MPI_Type_free: the handle may become that of another datatype. */
extern const struct library_body library_mpi_type_free HIDDEN;
