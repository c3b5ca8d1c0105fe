/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/function.h"

#include <stdlib.h>

/* What answers a request has fewer nodes. */
enum { ANSWER_NODES = 64 };

/* By number, those of pools included. */
struct serving {
	const struct causality *causes;
	float *factors; /* 1 - the part of it that is below the function */
	double *all, *served; /* time */
};

static bool is_answer(const struct serving *k, const struct run_node *n)
{
	const struct editables *all = &k->causes->editables;

	if (n->kind != NODE_WAIT || n->source == NODE_NONE || n->what >= all->count ||
	    k->causes->graph.nodes[n->source].kind == NODE_MEETING)
		return false;
	switch (all->items[n->what].waits) {
	case BLOCKED_SOCKET:
	case BLOCKED_PIPE:
	case BLOCKED_READ:
	case BLOCKED_POLL:
		return true;
	default:
		return false;
	}
}

/* Of the work before a wait, which sends the request: the part that is below the function. */
static double part_below(const struct serving *k, uint32_t node)
{
	const struct node_part *parts;
	size_t count = node == NODE_NONE ? 0 : graph_parts(&k->causes->graph, node, &parts);
	double below = 0, all = 0;

	for (size_t i = 0; i < count; i++) {
		below += (1 - (double)k->factors[parts[i].what]) * (double)parts[i].ns;
		all += (double)parts[i].ns;
	}
	return all > 0 ? below / all : 0;
}

static void add_node(const struct serving *k, uint32_t node, double part, double *sums)
{
	const struct run_node *n = &k->causes->graph.nodes[node];
	const struct node_part *parts;
	size_t count = n->kind == NODE_WORK ? graph_parts(&k->causes->graph, node, &parts) : 0;

	if (n->kind == NODE_WAIT || n->kind == NODE_UNSEEN)
		sums[n->what] += part * (double)(n->end_ns - replay_start(&k->causes->graph, node));
	for (size_t i = 0; i < count; i++)
		sums[parts[i].what] += part * (double)parts[i].ns;
}

/* The other one worked since the request of the same actor, for which it had waited; meanwhile it may have waited for a
 * lock. */
static void add_answer(const struct serving *k, uint32_t wait)
{
	const struct graph *g = &k->causes->graph;
	const struct run_node *nodes = g->nodes;
	uint32_t begin = nodes[wait].source, end = begin;
	double part = part_below(k, graph_previous(g, wait));

	if (part <= 0)
		return;
	while (begin != NODE_NONE && !is_answer(k, &nodes[begin]) && end - begin < ANSWER_NODES)
		begin = graph_previous(g, begin);
	if (begin == NODE_NONE || begin == end || !is_answer(k, &nodes[begin]) ||
	    nodes[nodes[begin].source].actor != nodes[wait].actor)
		return;
	add_node(k, wait, part, k->served);
	for (uint32_t i = begin; i <= end; i++)
		add_node(k, i, part, k->served);
}

static void add_divided(void *context, uint32_t what, double ns)
{
	((double *)context)[what] += ns;
}

float *function_with_served(const struct causality *s, const float *shares)
{
	const struct editables *all = &s->editables;
	size_t count = editables_count(all) + 1;
	SCOPED_MEMORY double *sums = mem_alloc(4 * count * sizeof(*sums));
	double *divided = sums + 2 * count, *divided_served = divided + count;
	SCOPED(edit) edit = {0};
	struct serving k = {.causes = s, .all = sums, .served = sums + count};
	float *ret = mem_alloc((all->count + 1) * sizeof(*ret));

	edit_init(&edit, s);
	function_edit(s, shares, 0, &edit);
	editable_factors(all, CONSEQUENCES_STAY, edit.factors);
	k.factors = edit.factors;
	for (uint32_t i = 0; i < s->graph.node_count; i++) {
		add_node(&k, i, 1, k.all);
		if (is_answer(&k, &s->graph.nodes[i]))
			add_answer(&k, i);
	}
	for (uint32_t i = 0; i < count - 1; i++) {
		if (k.served[i] > 0)
			editable_divide(all, i, k.served[i], divided_served, add_divided);
		if (k.all[i] > 0)
			editable_divide(all, i, k.all[i], divided, add_divided);
	}
	for (size_t i = 0; i < all->count; i++) {
		ret[i] = divided[i] > 0 ? (float)(divided_served[i] / divided[i]) : 0;
		ret[i] = ret[i] > shares[i] ? ret[i] : shares[i];
	}
	return ret;
}
