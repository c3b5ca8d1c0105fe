/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/costs.h"

#include <stdlib.h>
#include <string.h>

/* What has in all threads together a smaller part of the run's time is not named: 1/2000. */
enum { NAMED_PART = 2000 };

struct costs {
	struct causality *causes; /* NULL: see costs_causes */
	struct path path;
	double *work;  /* by actor: what it did itself */
	double *total; /* by editable: its time in all actors, that of waits whose cause is not known included */
	double *waits; /* by editable: its waits whose cause is known */
	struct prices prices; /* once is_ranked is set */
	bool is_ranked;
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
	k->total = function_totals(k->causes);
	k->waits = mem_alloc((editables_count(&k->causes->editables) + 1) * sizeof(*k->waits));
	for (uint32_t i = 0; i < g->node_count; i++)
		if (g->nodes[i].kind == NODE_WAIT)
			k->waits[g->nodes[i].what] += (double)(g->nodes[i].end_ns - replay_start(g, i));
}

struct costs *costs_new(struct causality *causes)
{
	struct costs *k = mem_alloc(sizeof(*k));

	k->causes = causes;
	if (k->causes) {
		path_find(k->causes, UINT64_MAX, &k->path);
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
	prices_done(&k->prices);
	free(k->work);
	free(k->total);
	free(k->waits);
	free(k);
}

struct causality *costs_causes(struct costs *k)
{
	return k->causes;
}

double costs_work(const struct costs *k, uint32_t actor)
{
	return k->work[actor];
}

/* ---- lines ---- */

static bool is_of_line(struct costs *k, uint32_t what, const struct code_line *line, const char *function)
{
	const struct editable *e = &k->causes->editables.items[what];

	if (!line)
		return !e->has_frame && (!function || !strcmp(e->name, function));
	return editable_line(&k->causes->editables, what) == line;
}

enum line_does costs_line_does(struct costs *k, const struct code_line *line)
{
	const struct editables *all = k->causes ? &k->causes->editables : NULL;
	double least = k->causes ? (double)k->causes->run_ns / NAMED_PART : 0, ns[DOES_KINDS] = {0};
	enum line_does most = DOES_CALL;

	for (uint32_t i = 0; all && i < all->count; i++) {
		const struct editable *e = &all->items[i];

		if (k->total[i] + k->waits[i] >= least && is_of_line(k, i, line, NULL))
			ns[e->kind == EDITABLE_CPU	? DOES_COMPUTE
			   : e->waits == BLOCKED_GPU ? DOES_AWAIT_DEVICE
						     : DOES_CALL] += k->total[i] + k->waits[i];
	}
	for (enum line_does i = DOES_CALL; i < DOES_KINDS; i++)
		most = ns[i] > ns[most] ? i : most;
	return most;
}

bool costs_of_edit(struct costs *k, const char *edit, struct saving *ret)
{
	struct err err;

	*ret = (struct saving){0};
	return k->causes && *edit && !price_find(k->causes, edit, ret, &err);
}

const struct prices *costs_prices(struct costs *k)
{
	if (k->causes && !k->is_ranked)
		prices_rank(k->causes, &k->path, &k->prices);
	k->is_ranked = true;
	return &k->prices;
}

static uint64_t costs_of_shares(struct costs *k, float *shares, const struct function_part *part,
				struct saving *ret_saves)
{
	uint64_t ns = function_saving(k->causes, shares, part, k->path.by_what, k->total, ret_saves);

	free(shares);
	return ns;
}

uint64_t costs_below(struct costs *k, struct own_stacks *own, const uint32_t *functions, size_t count,
		     struct saving *ret_saves)
{
	struct function_part part;

	*ret_saves = (struct saving){0};
	if (!k->causes)
		return 0;
	return costs_of_shares(k, function_shares(k->causes, own, functions, count, &part), &part, ret_saves);
}

uint64_t costs_of_import(struct costs *k, struct own_stacks *own, struct own_frame at, struct saving *ret_saves)
{
	struct function_part part;

	*ret_saves = (struct saving){0};
	if (!k->causes)
		return 0;
	return costs_of_shares(k, function_import_shares(k->causes, own, at, &part), &part, ret_saves);
}

const struct code_line *costs_line_of_calls(struct costs *k, const char *function)
{
	struct editables *all = k->causes ? &k->causes->editables : NULL;
	uint32_t best = NODE_NONE;

	for (uint32_t i = 0; all && i < all->count; i++)
		if (all->items[i].kind == EDITABLE_CALL && !strcmp(all->items[i].name, function) &&
		    (best == NODE_NONE || k->path.by_what[i] > k->path.by_what[best]))
			best = i;
	return best == NODE_NONE ? NULL : editable_line(all, best);
}

const struct actor *costs_actor(struct costs *k, const struct code_line *line, const char *function)
{
	for (size_t i = 0; k->causes && i < k->path.count; i++) {
		const struct path_row *row = &k->path.rows[i];

		if (row->kind <= CRITICAL_UNSEEN && row->actor < k->causes->actor_count &&
		    row->what < k->causes->editables.count && is_of_line(k, row->what, line, function))
			return &k->causes->actors[row->actor];
	}
	return NULL;
}

size_t costs_started(struct costs *k, const struct code_line *line)
{
	return k->causes ? causes_started_at(k->causes, line) : 0;
}
