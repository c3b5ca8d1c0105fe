/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/mpi/mpi_communicator.h"

#include <stdlib.h>
#include <string.h>

#include "report/read/operation.h"

enum { WORLD = 0x44000000 }; /* as trace_library.h defines for TF_FIELD_COMMUNICATOR */

static struct mpi_communicator *add(struct mpi_communicators *c, size_t ranks)
{
	const size_t size = (ranks + 1) * sizeof(*c->items->ranks);
	struct mpi_communicator *new = list_new(c, (struct mpi_communicator){.ranks = mem_alloc(size), .count = ranks});

	memset(new->ranks, 0xff, size);
	return new;
}

/* An operation of this rank of the job, with a communicator in this role. */
static void learn(struct mpi_communicators *c, const struct tf_operation *op, unsigned role, uint32_t job_rank,
		  size_t job_ranks)
{
	int64_t id = 0, rank = 0, ranks = 0;
	struct mpi_communicator *of;
	uint64_t *place;
	bool is_new;

	if (!operation_field(op, TF_FIELD_COMMUNICATOR_OF_MPI | role, &id) ||
	    !operation_field(op, TF_FIELD_RANK | role, &rank) ||
	    !operation_field(op, TF_FIELD_RANKS | role, &ranks) || ranks <= 0 || (size_t)ranks > job_ranks ||
	    rank < 0 || rank >= ranks)
		return;
	place = map_put(&c->by_id, (uint64_t)id, 0, &is_new);
	if (is_new) {
		*place = c->count;
		add(c, (size_t)ranks);
	}
	of = &c->items[*place];
	if ((size_t)rank < of->count && of->ranks[rank] == UINT32_MAX) {
		of->ranks[rank] = job_rank;
		of->known++;
	}
}

void mpi_communicators_find(const struct mpi_job *job, struct mpi_communicators *ret)
{
	struct mpi_communicator *world;

	*ret = (struct mpi_communicators){0};
	world = add(ret, job->count);
	world->known = job->count;
	for (uint32_t rank = 0; rank < job->count; rank++) {
		const struct trace *t = job->ranks[rank] ? job->ranks[rank]->trace : NULL;

		world->ranks[rank] = rank;
		blobs_each(b, t, TF_BLOB_OPERATION) {
			struct tf_operation op = {0};

			trace_blob(t, b, &op, sizeof(op));
			if (memchr(op.fields, TF_FIELD_COMMUNICATOR_OF_MPI, sizeof(op.fields)))
				learn(ret, &op, TF_ROLE_NONE, rank, job->count);
			if (memchr(op.fields, TF_FIELD_COMMUNICATOR_OF_MPI | TF_ROLE_B, sizeof(op.fields)))
				learn(ret, &op, TF_ROLE_B, rank, job->count); /* it has made it */
		}
		world = &ret->items[0];
	}
}

bool mpi_communicator_of(const struct mpi_communicators *c, const struct tf_operation *op, uint32_t rank,
			 size_t *ret_place, uint32_t *ret_rank)
{
	int64_t communicator, id, own;
	const uint64_t *place;

	*ret_place = 0;
	*ret_rank = rank;
	if (!operation_field(op, TF_FIELD_COMMUNICATOR, &communicator))
		return false;
	if (communicator == WORLD)
		return true;
	if (!operation_field(op, TF_FIELD_COMMUNICATOR_OF_MPI, &id) || !operation_field(op, TF_FIELD_RANK, &own))
		return false;
	place = map_find(&c->by_id, (uint64_t)id, 0);
	if (!place || c->items[*place].known < c->items[*place].count || own < 0 ||
	    (size_t)own >= c->items[*place].count || c->items[*place].ranks[own] != rank)
		return false;
	*ret_place = *place;
	*ret_rank = (uint32_t)own;
	return true;
}

void mpi_communicators_done(struct mpi_communicators *c)
{
	array_free(item, c->items, c->count, free(item->ranks));
	map_done(&c->by_id);
	*c = (struct mpi_communicators){0};
}
