/* SPDX-License-Identifier: Apache-2.0 */
/* Edges to sleeps: a thread that sleeps, and looks between its sleeps whether something has happened, waits for the one
 * that did it. Ends of processes that it has asked for are found by link_processes. */
#include "report/causes/causes_build.h"

/* When the actor was last not in a long call, before that time, or has ended. */
static uint64_t last_doing(const struct linker *l, uint32_t actor, uint64_t ns)
{
	uint64_t end_ns = l->causes->actors[actor].end_ns;

	return end_ns < ns ? end_ns : linker_last_running(l, NULL, actor, ns);
}

/* Whoever looks for something between sleeps waits for the one that did nothing while it slept but for the first time
 * and the last one; of several, as first_running_of. */
static void link_doing(struct linker *l, uint32_t actor, struct row_of_calls *row)
{
	const struct causality *s = l->causes;
	size_t process = s->actors[actor].image->process;

	for (uint32_t i = 0; i < s->actor_count; i++) {
		const struct actor *a = &s->actors[i];
		uint64_t ns;

		if (i == actor || a->is_stream || a->start_ns >= row->last_start_ns ||
		    !linker_is_family(l, process, a->image->process))
			continue;
		ns = last_doing(l, i, row->end_ns);
		if (ns <= row->last_start_ns || ns + 1 >= row->end_ns || (row->found_ns && row->found_ns <= ns) ||
		    last_doing(l, i, row->last_start_ns) > row->first_end_ns)
			continue;
		row->found_ns = ns + 1;
		row->found = i;
	}
}

/* Whoever sleeps once after it has started processes or threads waits for them, if all of those end meanwhile: it goes
 * on when both the sleep and the last one of them have ended. */
static void link_started(struct linker *l, uint32_t actor, const struct row_of_calls *row, uint64_t since_ns)
{
	const struct causality *s = l->causes;
	size_t process = s->actors[actor].image->process;
	uint64_t ended_ns = 0;
	uint32_t last = NODE_NONE;

	for (uint32_t i = 0; i < s->actor_count; i++) {
		const struct actor *a = &s->actors[i];
		bool is_started = a->is_main ? linker_parent(l, a->image->process) == process
					     : a->image == s->actors[actor].image;

		if (i == actor || a->is_stream || !is_started || a->start_ns < since_ns || a->start_ns >= row->end_ns)
			continue;
		if (a->end_ns >= row->end_ns)
			return;
		if (a->end_ns > row->start_ns && a->end_ns > ended_ns) {
			ended_ns = a->end_ns;
			last = i;
		}
	}
	if (last != NODE_NONE)
		graph_edge(&l->causes->graph, last, ended_ns, actor, row->end_ns + 1);
}

/* Looks at memory have no record. */
static bool may_look(const struct row_of_calls *row)
{
	return row->looks ||
	       (row->count >= CAUSES_POLLS && (row->end_ns - row->start_ns) / row->count < CAUSES_POLL_NS);
}

static void link_row(struct linker *l, uint32_t actor, struct row_of_calls *row, uint64_t since_ns)
{
	bool is_single = row->last_start_ns == row->start_ns;

	if (row->found_ns || !may_look(row))
		return;
	if (is_single && row->has_started)
		link_started(l, actor, row, since_ns);
	if (!is_single)
		link_doing(l, actor, row);
	if (row->found_ns)
		graph_edge(&l->causes->graph, row->found, row->found_ns - 1, actor, row->found_ns);
}

void link_looks(struct linker *l)
{
	const struct rows_of_calls *all = &l->sleeps;
	const struct causality *s = l->causes;

	/* Streams, which have been added since and are the last actors, have no sleeps. */
	for (uint32_t i = 0; i < s->actor_count && s->actor_count <= FAMILY_MOST && !s->actors[i].is_stream; i++)
		for (size_t k = all->first[i]; k < all->first[i + 1]; k++)
			link_row(l, i, &all->items[k], k > all->first[i] ? all->items[k - 1].end_ns : 0);
}
