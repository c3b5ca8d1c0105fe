/* SPDX-License-Identifier: Apache-2.0 */
/* Edges between ranks of MPI: from the call of whoever was late to the end of the calls that waited for it. Of calls of
 * which the arguments do not tell that (windows, probes, persistent requests, files, jobs that one another started) it
 * is the rank that began a call of MPI last before the wait ended. */
#include "report/causes/causes_build.h"
#include "report/causes/mpi/mpi_wait.h"

struct linking {
	struct linker *linker;
	struct map known; /* (actor, end of a call) of those whose waits the arguments tell */
};

static uint64_t since_origin(const struct causality *s, uint64_t ns)
{
	return model_since_origin(s->context->model, ns);
}

static uint32_t actor_of(const struct causality *s, const struct mpi_side *side)
{
	return causes_actor(s, side->image, side->thread);
}

static void note_known(void *context, const struct mpi_side *side)
{
	struct linking *k = context;
	const struct causality *s = k->linker->causes;

	map_put(&k->known, actor_of(s, side), since_origin(s, side->end_ns), NULL);
}

static void link_pair(void *context, const struct mpi_wait *wait)
{
	struct causality *s = ((struct linking *)context)->linker->causes;
	uint32_t from = actor_of(s, &wait->late), to = actor_of(s, &wait->waiting);

	if (wait->is_meeting || from == NODE_NONE || to == NODE_NONE || from == to)
		return;
	graph_edge(&s->graph, from, since_origin(s, wait->late.start_ns), to, since_origin(s, wait->waiting.end_ns));
	note_known(context, &wait->waiting);
}

/* Each rank for which `waits` is set leaves the collective when all have arrived. */
static void link_meeting(void *context, const struct mpi_side *sides, size_t count, size_t only)
{
	struct causality *s = ((struct linking *)context)->linker->causes;
	struct graph *g = &s->graph;
	uint32_t meeting = graph_meeting(g);
	uint64_t last_ns = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t ns = since_origin(s, sides[i].start_ns);

		graph_arrive(g, meeting, actor_of(s, &sides[i]), ns);
		last_ns = ns > last_ns ? ns : last_ns;
	}
	for (size_t i = 0; i < count; i++) {
		if (only != SIZE_MAX && only != i)
			continue;
		graph_leave(g, meeting, last_ns, actor_of(s, &sides[i]), since_origin(s, sides[i].end_ns));
		note_known(context, &sides[i]);
	}
}

/* The actor's first calls that ended at that time or later, else what follows its last ones. */
static size_t calls_at(const struct rows_of_calls *all, uint32_t actor, uint64_t ns)
{
	return first_place(i, all->first[actor], all->first[actor + 1], all->items[i].end_ns < ns);
}

uint64_t mpi_waits_since(const struct linker *l, uint32_t actor, uint64_t start_ns, uint64_t end_ns)
{
	const struct rows_of_calls *all = &l->mpi;
	size_t at = all->count ? calls_at(all, actor, end_ns) : 0;
	bool is_poll = all->count && at < all->first[actor + 1] && all->items[at].end_ns == end_ns &&
		       all->items[at].kind == CALLS_POLL;

	return is_poll ? all->items[at].start_ns : start_ns;
}

/* When the actor last began a call of MPI before that time; 0: it had begun none. */
static uint64_t arrival_of(const struct rows_of_calls *all, uint32_t actor, uint64_t ns)
{
	size_t at = calls_at(all, actor, ns);

	if (at < all->first[actor + 1] && all->items[at].start_ns < ns)
		return all->items[at].start_ns;
	return at > all->first[actor] ? all->items[at - 1].start_ns : 0;
}

/* So many ranks are looked at. */
enum { RANKS_MOST = 512 };

/* Nobody who comes later than the last one can have ended the wait. What follows is the transfer, or a wait for a CPU:
 * at most a quarter. */
static void link_last(struct linker *l, const uint32_t *callers, size_t count, uint32_t actor,
		      const struct row_of_calls *wait)
{
	uint64_t ns = wait->start_ns, least_ns = wait->end_ns - (wait->end_ns - wait->start_ns) / 4;
	uint32_t from = NODE_NONE;

	for (size_t i = 0; i < count; i++) {
		uint64_t arrival_ns = l->causes->actors[callers[i]].image == l->causes->actors[actor].image
					      ? 0
					      : arrival_of(&l->mpi, callers[i], wait->end_ns);

		if (arrival_ns > ns) {
			ns = arrival_ns;
			from = callers[i];
		}
	}
	if (from != NODE_NONE && ns >= least_ns)
		graph_edge(&l->causes->graph, from, ns, actor, wait->end_ns);
}

static void link_unmatched(const struct linking *k)
{
	const struct rows_of_calls *all = &k->linker->mpi;
	size_t actors = k->linker->causes->actor_count, count = 0;
	SCOPED_MEMORY uint32_t *callers = mem_alloc((actors + 1) * sizeof(*callers));

	for (uint32_t i = 0; i < actors; i++)
		if (all->first[i] < all->first[i + 1])
			callers[count++] = i;
	for (size_t i = 0; i < count && count <= RANKS_MOST; i++)
		for (size_t at = all->first[callers[i]]; at < all->first[callers[i] + 1]; at++) {
			const struct row_of_calls *c = &all->items[at];

			if (c->kind != CALLS_SHORT && !c->is_alone && c->end_ns - c->start_ns >= CAUSES_WAIT_NS &&
			    !map_find(&k->known, callers[i], c->end_ns))
				link_last(k->linker, callers, count, callers[i], c);
		}
}

void link_mpi(struct linker *l)
{
	struct linking k = {.linker = l};
	struct mpi_wait_counts counts;

	if (!l->mpi.count)
		return;
	mpi_waits(l->causes->context->model, &k, link_pair, link_meeting, note_known, &counts);
	link_unmatched(&k);
	map_done(&k.known);
}
