/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to another process or thread: a function that sends one and waits for the answer takes, beside its own time,
 * what the other one does until it answers. docs/decisions/spine.md */
#include "report/causes/function.h"

#include <stdlib.h>

/* What answers a request has fewer nodes. */
enum { ANSWER_NODES = 64 };

/* By number, those of pools included. */
struct serving {
	const struct causality *causes;
	const float *shares; /* below the function; of editables only */
	float unknown[BLOCKED_KINDS]; /* likewise of calls whose line is not known */
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

/* Short calls have no stack: as large a part of them is below the function as of the longer ones of that kind. */
static void find_unknown(struct serving *k)
{
	const struct editables *all = &k->causes->editables;
	double below[BLOCKED_KINDS] = {0}, sums[BLOCKED_KINDS] = {0};

	for (size_t i = 0; i < all->stack_count; i++) {
		const struct editable *item = &all->items[all->stacks[i].what];

		if (!item->has_frame)
			continue;
		below[item->waits] += (double)k->shares[all->stacks[i].what] * (double)all->stacks[i].ns;
		sums[item->waits] += (double)all->stacks[i].ns;
	}
	for (size_t i = 0; i < BLOCKED_KINDS; i++)
		k->unknown[i] = sums[i] > 0 ? (float)(below[i] / sums[i]) : 0;
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
	const struct editable *call = &k->causes->editables.items[nodes[wait].what];
	uint32_t begin = nodes[wait].source, end = begin;
	double part = (double)(call->has_frame ? k->shares[nodes[wait].what] : k->unknown[call->waits]);

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
	struct serving k = {.causes = s, .shares = shares, .all = sums, .served = sums + count};
	float *ret = mem_alloc((all->count + 1) * sizeof(*ret));

	find_unknown(&k);
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
