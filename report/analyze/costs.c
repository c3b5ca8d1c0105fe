/* SPDX-License-Identifier: Apache-2.0 */
#include "report/analyze/costs.h"

#include <stdlib.h>
#include <string.h>

/* What has a smaller part of the critical path is not named: 1/2000. */
enum { NAMED_PART = 2000 };

struct costs {
	struct causality *causes; /* NULL: see costs_causes */
	struct path path;
	double *work; /* by actor: what it did itself */
};

static void find_work(struct costs *k)
{
	const struct graph *g = &k->causes->graph;

	k->work = mem_alloc((k->causes->actor_count + 1) * sizeof(*k->work));
	for (uint32_t i = 0; i < g->node_count; i++) {
		const struct node_part *parts;
		size_t count = g->nodes[i].kind == NODE_WORK ? graph_parts(g, i, &parts) : 0;

		for (size_t p = 0; p < count; p++)
			k->work[g->nodes[i].actor] += (double)parts[p].ns;
	}
}

struct costs *costs_new(const struct report_context *c, bool is_replayed)
{
	struct costs *k = mem_alloc(sizeof(*k));

	k->causes = is_replayed ? causes_find(c) : NULL;
	if (k->causes) {
		path_find(k->causes, 0, UINT64_MAX, &k->path);
		find_work(k);
	}
	return k;
}

void costs_free(struct costs *k)
{
	if (!k)
		return;
	if (k->causes)
		path_done(&k->path);
	free(k->work);
	causes_free(k->causes);
	free(k);
}

struct causality *costs_causes(struct costs *k)
{
	return k->causes;
}

/* ---- lines ---- */

static bool is_of_line(struct costs *k, uint32_t what, const char *line, const char *function)
{
	const struct editable *e = &k->causes->editables.items[what];

	if (!*line)
		return !e->has_frame && (!function || !strcmp(e->name, function));
	return !strcmp(editable_line(&k->causes->editables, what), line);
}

/* Changes what is on the path, and returns how much the run could be shorter at most. */
static double change_line(struct costs *k, const char *line, const char *function, unsigned int of, struct edit *edit)
{
	const struct editables *all = &k->causes->editables;
	double bound = 0, least = (double)k->causes->run_ns / NAMED_PART;

	for (uint32_t i = 0; i < all->count; i++) {
		unsigned int kind = all->items[i].kind == EDITABLE_CPU ? COST_COMPUTING : COST_CALLS;

		if (!(of & kind) || k->path.by_what[i] < least || !is_of_line(k, i, line, function))
			continue;
		edit_scale(edit, i, kind == COST_COMPUTING ? 0.5 : 0);
		bound += k->path.by_what[i] * (kind == COST_COMPUTING ? 0.5 : 1);
	}
	return bound;
}

static double change_waits(struct costs *k, const char *line, struct edit *edit)
{
	const struct editables *all = &k->causes->editables;
	bool is_any = false;

	for (uint32_t i = 0; i < all->count && *line; i++)
		if (all->items[i].kind == EDITABLE_CALL &&
		    (all->items[i].waits == BLOCKED_CHILD || all->items[i].waits == BLOCKED_GPU) &&
		    is_of_line(k, i, line, NULL)) {
			edit_no_wait(edit, k->causes, i);
			is_any = true;
		}
	return is_any ? (double)k->causes->run_ns : 0;
}

void costs_of_line(struct costs *k, const char *line, const char *function, unsigned int of, uint64_t least_ns,
		   struct saving *ret)
{
	struct edit edit;
	double bound;

	*ret = (struct saving){0};
	if (!k->causes)
		return;
	edit_init(&edit, k->causes);
	bound = change_line(k, line, function, of, &edit);
	if (of & COST_WAITS)
		bound += change_waits(k, line, &edit);
	if (bound >= (double)least_ns && bound > 0)
		saving_find(k->causes, &edit, ret);
	edit_done(&edit);
}

const struct actor *costs_actor(struct costs *k, const char *line, const char *function)
{
	for (size_t i = 0; k->causes && i < k->path.count; i++) {
		const struct path_row *row = &k->path.rows[i];

		if (row->kind <= CRITICAL_UNSEEN && row->actor < k->causes->actor_count &&
		    row->what < k->causes->editables.count && is_of_line(k, row->what, line, function))
			return &k->causes->actors[row->actor];
	}
	return NULL;
}

/* ---- kernels ---- */

bool costs_of_kernel(struct costs *k, uint64_t least_ns, struct saving *ret, uint32_t *ret_what, double *ret_ns)
{
	const struct editables *all = k->causes ? &k->causes->editables : NULL;
	uint32_t best = NODE_NONE;
	struct edit edit;

	for (uint32_t i = 0; all && i < all->count; i++)
		if (all->items[i].kind == EDITABLE_KERNEL &&
		    (best == NODE_NONE || k->path.by_what[i] > k->path.by_what[best]))
			best = i;
	if (best == NODE_NONE || k->path.by_what[best] / 2 < (double)least_ns)
		return false;
	edit_init(&edit, k->causes);
	edit_scale(&edit, best, 0.5);
	saving_find(k->causes, &edit, ret);
	edit_done(&edit);
	*ret_what = best;
	*ret_ns = k->path.by_what[best];
	return true;
}

/* ---- balance ---- */

void costs_of_balance(struct costs *k, const struct partition *p, const struct roles *roles, const struct role *role,
		      uint64_t least_ns, struct saving *ret, uint64_t *ret_most, uint64_t *ret_mean,
		      const struct actor **ret_actor)
{
	size_t count = 0, number = (size_t)(role - roles->items) + 1;
	double sum = 0, most = 0;
	struct map known = {0};
	struct edit edit;

	*ret = (struct saving){0};
	for (size_t i = 0; i < p->count; i++)
		if (roles->role_of[i] == number && p->threads[i].thread)
			map_put(&known, (uintptr_t)p->threads[i].image, (uintptr_t)p->threads[i].thread, NULL);
	for (uint32_t i = 0; k->causes && i < k->causes->actor_count; i++)
		if (map_find(&known, (uintptr_t)k->causes->actors[i].image, (uintptr_t)k->causes->actors[i].thread)) {
			sum += k->work[i];
			if (k->work[i] > most)
				*ret_actor = &k->causes->actors[i];
			most = k->work[i] > most ? k->work[i] : most;
			count++;
		}
	if (count > 1 && most - sum / (double)count >= (double)least_ns) {
		edit_init(&edit, k->causes);
		for (uint32_t i = 0; i < k->causes->actor_count; i++)
			if (k->work[i] > 0 && map_find(&known, (uintptr_t)k->causes->actors[i].image,
						       (uintptr_t)k->causes->actors[i].thread))
				edit_scale_actor(&edit, k->causes, i, sum / (double)count / k->work[i]);
		saving_find(k->causes, &edit, ret);
		edit_done(&edit);
		*ret_most = (uint64_t)most;
		*ret_mean = (uint64_t)(sum / (double)count);
	}
	map_done(&known);
}
