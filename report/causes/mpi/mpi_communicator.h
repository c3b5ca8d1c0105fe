/* SPDX-License-Identifier: Apache-2.0 */
/* The communicators of an MPI job, and which ranks of the job are theirs. */
#pragma once

#include "report/base/util.h"
#include "report/causes/mpi/mpi_wait.h"

struct mpi_communicator {
	uint32_t *ranks; /* by rank in the communicator: the rank in the job */
	size_t count, known; /* different: some ranks have not used it */
};

struct mpi_communicators {
	struct mpi_communicator *items; /* the first one is MPI_COMM_WORLD */
	size_t count, capacity;
	struct map by_id; /* TF_FIELD_COMMUNICATOR_OF_MPI -> its place */
};

/* Reads the definitions of the job's traces, not the events. */
void mpi_communicators_find(const struct mpi_job *job, struct mpi_communicators *ret);

/* The place of the communicator of a call by this rank of the job, and its rank there. False: unknown. */
bool mpi_communicator_of(const struct mpi_communicators *c, const struct tf_operation *op, uint32_t rank,
			 size_t *ret_place, uint32_t *ret_rank);

void mpi_communicators_done(struct mpi_communicators *c);
