/* SPDX-License-Identifier: Apache-2.0 */
/* Edges between ranks of MPI: from the call of whoever was late to the end of the calls that waited for it. */
#include "report/causes/causes_build.h"
#include "report/causes/mpi/mpi_wait.h"

static uint64_t since_origin(const struct causality *s, uint64_t ns)
{
	return model_since_origin(s->context->model, ns);
}

static uint32_t actor_of(const struct causality *s, const struct mpi_side *side)
{
	return causes_actor(s, side->image, side->thread);
}

static void link_pair(void *context, const struct mpi_wait *wait)
{
	struct causality *s = context;
	uint32_t from = actor_of(s, &wait->late), to = actor_of(s, &wait->waiting);

	if (!wait->is_meeting && from != NODE_NONE && to != NODE_NONE && from != to)
		graph_edge(&s->graph, from, since_origin(s, wait->late.start_ns), to,
			   since_origin(s, wait->waiting.end_ns));
}

/* Each rank for which `waits` is set leaves the collective when all have arrived. */
static void link_meeting(void *context, const struct mpi_side *sides, size_t count, size_t only)
{
	struct causality *s = context;
	struct graph *g = &s->graph;
	uint32_t meeting = graph_meeting(g);
	uint64_t last_ns = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t ns = since_origin(s, sides[i].start_ns);

		graph_arrive(g, meeting, actor_of(s, &sides[i]), ns);
		last_ns = ns > last_ns ? ns : last_ns;
	}
	for (size_t i = 0; i < count; i++)
		if (only == SIZE_MAX || only == i)
			graph_leave(g, meeting, last_ns, actor_of(s, &sides[i]), since_origin(s, sides[i].end_ns));
}

void link_mpi(struct linker *l)
{
	const struct causality *s = l->causes;
	struct mpi_wait_counts counts;
	bool has_mpi = false;

	for (uint32_t i = 0; i < s->actor_count && !has_mpi; i++)
		has_mpi = s->actors[i].thread && s->actors[i].thread->groups & 1u << TF_GROUP_MPI;
	if (has_mpi)
		mpi_waits(s->context->model, l->causes, link_pair, link_meeting, &counts);
}
