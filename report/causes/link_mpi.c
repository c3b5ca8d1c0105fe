/* SPDX-License-Identifier: Apache-2.0 */
/* Edges between ranks of MPI: from the call of whoever was late to the end of the calls that waited for it. */
#include <stdlib.h>

#include "report/causes/causes_build.h"
#include "report/causes/mpi/mpi_wait.h"

struct linking {
	struct linker *linker;
	uint32_t *actors; /* by image: the thread that calls MPI; NODE_NONE: none */
};

static uint64_t since_origin(const struct linking *k, uint64_t ns)
{
	return model_since_origin(k->linker->causes->context->model, ns);
}

static uint32_t actor_of(const struct linking *k, const struct mpi_side *side)
{
	return k->actors[side->image - k->linker->causes->context->model->images];
}

static void link_pair(void *context, const struct mpi_wait *wait)
{
	const struct linking *k = context;
	uint32_t from = actor_of(k, &wait->late), to = actor_of(k, &wait->waiting);

	if (!wait->is_meeting && from != NODE_NONE && to != NODE_NONE && from != to)
		graph_edge(&k->linker->causes->graph, from, since_origin(k, wait->late.start_ns), to,
			   since_origin(k, wait->waiting.end_ns));
}

/* Each rank for which `waits` is set leaves the collective when all have arrived. */
static void link_meeting(void *context, const struct mpi_side *sides, size_t count, size_t only)
{
	const struct linking *k = context;
	struct graph *g = &k->linker->causes->graph;
	uint32_t meeting = graph_meeting(g);
	uint64_t last_ns = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t ns = since_origin(k, sides[i].start_ns);

		graph_arrive(g, meeting, actor_of(k, &sides[i]), ns);
		last_ns = ns > last_ns ? ns : last_ns;
	}
	for (size_t i = 0; i < count; i++)
		if (only == SIZE_MAX || only == i)
			graph_leave(g, meeting, last_ns, actor_of(k, &sides[i]), since_origin(k, sides[i].end_ns));
}

void link_mpi(struct linker *l)
{
	const struct causality *s = l->causes;
	const struct model *m = s->context->model;
	struct linking k = {.linker = l, .actors = mem_alloc((m->image_count + 1) * sizeof(*k.actors))};
	struct mpi_wait_counts counts;
	bool has_mpi = false;

	for (size_t i = 0; i < m->image_count; i++)
		k.actors[i] = NODE_NONE;
	for (uint32_t i = 0; i < s->actor_count; i++) {
		uint32_t *of = &k.actors[s->actors[i].image - m->images];

		if (s->actors[i].thread && s->actors[i].thread->groups & 1u << TF_GROUP_MPI && *of == NODE_NONE) {
			*of = i;
			has_mpi = true;
		}
	}
	if (has_mpi)
		mpi_waits(m, &k, link_pair, link_meeting, &counts);
	free(k.actors);
}
