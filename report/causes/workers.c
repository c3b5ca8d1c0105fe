/* SPDX-License-Identifier: Apache-2.0 */
/* workers=N: child processes of one program that do the same work. Those that run one after another would run N at a
 * time; a pool, of which all run all the time, would divide its work among N. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/causes/saving.h"

/* A process that does not last so long is none of the workers. */
enum { WORKER_LEAST_NS = 1000000 };

struct worker_group {
	size_t parent; /* process */
	const char *program;
	uint32_t *actors; /* by start */
	size_t count, capacity;
	uint64_t total_ns;
};

static const char *program_of(const struct actor *a)
{
	return a->image->executable ? a->image->executable : "";
}

static void add_worker(const struct causality *s, struct worker_group **groups, size_t *count, uint32_t actor)
{
	const struct actor *a = &s->actors[actor];
	size_t parent = s->context->model->processes[a->image->process].parent, i = 0;
	struct worker_group *g;

	if (parent == SIZE_MAX)
		return;
	while (i < *count && ((*groups)[i].parent != parent || strcmp((*groups)[i].program, program_of(a)) != 0))
		i++;
	if (i == *count) {
		*groups = mem_resize(*groups, (*count + 1) * sizeof(**groups));
		(*groups)[(*count)++] = (struct worker_group){.parent = parent, .program = program_of(a)};
	}
	g = &(*groups)[i];
	mem_append(g->actors, g->count, g->capacity, actor);
	g->total_ns += a->end_ns - a->start_ns;
}

/* How many run at a time, at most. */
static size_t workers_at_once(const struct causality *s, const struct worker_group *g)
{
	size_t most = 0;

	for (size_t i = 0; i < g->count; i++) {
		size_t count = 0;

		for (size_t k = 0; k < g->count; k++)
			count += s->actors[g->actors[k]].start_ns <= s->actors[g->actors[i]].start_ns &&
				 s->actors[g->actors[k]].end_ns > s->actors[g->actors[i]].start_ns;
		most = count > most ? count : most;
	}
	return most;
}

/* The waits of the parent for children end at once; a worker begins when that before the N-th last has ended. */
static void run_beside(struct causality *s, const struct worker_group *g, uint32_t count, struct edit *e)
{
	for (uint32_t i = 0; i < s->graph.node_count; i++) {
		const struct run_node *n = &s->graph.nodes[i];

		if (n->kind == NODE_WAIT && s->actors[n->actor].image->process == g->parent &&
		    s->editables.items[n->what].waits == BLOCKED_CHILD)
			edit_no_wait(e, s, n->what, AWAITED_LATER);
	}
	e->starts_after = mem_alloc((s->actor_count + 1) * sizeof(*e->starts_after));
	for (size_t i = 0; i < s->actor_count; i++)
		e->starts_after[i] = NODE_NONE;
	for (size_t i = count; i < g->count; i++) {
		const struct span_of_nodes *before = &s->graph.actors[g->actors[i - count]];

		e->starts_after[g->actors[i]] = before->first + before->count - 1;
	}
}

static int change_workers(struct causality *s, const struct worker_group *g, uint32_t count, struct edit *e,
			  struct err *err)
{
	size_t at_once = workers_at_once(s, g);

	if (at_once == 1) {
		run_beside(s, g, count, e);
		return 0;
	}
	if (at_once != g->count)
		return err_set(err, -ENODATA, "workers=%u: %zu of %zu processes of %s ran at a time", count, at_once,
			       g->count, g->program);
	for (size_t i = 0; i < g->count; i++)
		edit_scale_actor(e, s, g->actors[i], (double)g->count / count);
	return 0;
}

int edit_workers(struct causality *s, uint32_t count, struct edit *ret, struct err *err)
{
	struct worker_group *groups = NULL, *best = NULL;
	size_t group_count = 0;
	int code;

	for (uint32_t i = 0; i < s->actor_count; i++)
		if (s->actors[i].is_main && s->actors[i].end_ns - s->actors[i].start_ns >= WORKER_LEAST_NS)
			add_worker(s, &groups, &group_count, i);
	for (size_t i = 0; i < group_count; i++)
		if (groups[i].count >= 2 && (!best || groups[i].total_ns > best->total_ns))
			best = &groups[i];
	code = best ? change_workers(s, best, count, ret, err)
		    : err_set(err, -ENODATA, "workers=%u: no process started several others of one program", count);
	array_free(group, groups, group_count, free(group->actors));
	return code;
}
