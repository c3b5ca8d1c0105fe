/* SPDX-License-Identifier: Apache-2.0 */
/* Edges between the threads of a team of OpenMP at barriers, and at the ends of regions: who waits there leaves when
 * the last one has arrived. Nobody arrives at the next barrier before all have left this one, so those who wait at the
 * time of the latest arrival of all are at one barrier, then those of the latest arrival of the rest. */
#include <stdlib.h>

#include "report/causes/causes_build.h"

/* A thread, and its waits that are of no barrier yet. */
struct team_thread {
	const struct moment *waits;
	size_t count;
};

static const struct moment *last_of(const struct team_thread *t)
{
	return t->count ? &t->waits[t->count - 1] : NULL;
}

/* The barrier at which a thread arrived last of all, at that time. */
static void link_barrier(struct graph *g, struct team_thread *threads, size_t count, uint64_t arrived_ns)
{
	uint32_t meeting = 0;

	for (size_t i = 0, waiting = 0; i < count; i++)
		if (threads[i].count && last_of(&threads[i])->end_ns >= arrived_ns && ++waiting == 2)
			meeting = graph_meeting(g);
	for (size_t i = 0; i < count; i++) {
		const struct moment *m = last_of(&threads[i]);

		if (!m || m->end_ns < arrived_ns)
			continue;
		threads[i].count--;
		if (!meeting)
			continue;
		graph_arrive(g, meeting, m->actor, m->start_ns);
		graph_leave(g, meeting, arrived_ns, m->actor, m->end_ns);
	}
}

static void link_team(struct graph *g, struct team_thread *threads, size_t count)
{
	for (const struct moment *last = NULL;; last = NULL) {
		for (size_t i = 0; i < count; i++)
			if (threads[i].count && (!last || last_of(&threads[i])->start_ns > last->start_ns))
				last = last_of(&threads[i]);
		if (!last)
			return;
		link_barrier(g, threads, count, last->start_ns);
	}
}

void link_openmp(struct linker *l)
{
	const struct moments *waits = &l->of[MOMENT_TEAM];
	const struct actor *actors = l->causes->actors;
	SCOPED_MEMORY struct team_thread *threads = mem_alloc((l->causes->actor_count + 1) * sizeof(*threads));
	size_t count = 0;

	for (size_t i = 0; i < waits->count; i++) {
		const struct moment *m = &waits->items[i];

		if (i && actors[m->actor].image != actors[m[-1].actor].image) {
			link_team(&l->causes->graph, threads, count);
			count = 0;
		}
		if (!count || m->actor != m[-1].actor)
			threads[count++] = (struct team_thread){m, 0};
		threads[count - 1].count++;
	}
	link_team(&l->causes->graph, threads, count);
}
