/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/critical.h"

#include "report/causes/replay.h"

struct path_walk {
	const struct graph *graph;
	uint64_t from_ns, until_ns;
	critical_visit *visit;
	void *context;
};

/* How much of it is in the part of the run that is shown. */
static double shown(const struct path_walk *w, uint64_t start, uint64_t end)
{
	start = larger_of(start, w->from_ns);
	if (end > w->until_ns)
		end = w->until_ns;
	return end > start ? (double)(end - start) : 0;
}

static void show(const struct path_walk *w, enum critical_kind kind, uint32_t node, uint64_t start, uint64_t end)
{
	double ns = shown(w, start, end);

	if (ns > 0)
		w->visit(w->context, kind, node, w->graph->nodes[node].what, ns);
}

/* The parts of a node share the time of it that is shown. */
static void show_parts(const struct path_walk *w, uint32_t node, uint64_t start)
{
	const struct node_part *parts;
	size_t count = graph_parts(w->graph, node, &parts);
	double ns = shown(w, start, w->graph->nodes[node].end_ns);
	double sum = array_sum(part, parts, count, (double)part->ns);

	for (size_t i = 0; i < count && ns > 0; i++)
		w->visit(w->context, CRITICAL_PART, node, parts[i].what, ns * (double)parts[i].ns / sum);
}

/* Returns the node before it on the path. */
static uint32_t walk_back(const struct path_walk *w, uint32_t node)
{
	const struct graph *g = w->graph;
	const struct run_node *n = &g->nodes[node];
	uint32_t previous = graph_previous(g, node);
	bool is_bound = replay_is_bound(g, node);
	uint64_t start = is_bound ? g->nodes[n->source].end_ns : previous == NODE_NONE ? 0 : g->nodes[previous].end_ns;

	switch (n->kind) {
	case NODE_WORK:
		show_parts(w, node, start);
		break;
	case NODE_OPERATION: {
		uint64_t begin = n->end_ns - (uint64_t)g->parts[n->parts].ns;

		show_parts(w, node, begin);
		show(w, CRITICAL_LATENCY, node, start, begin);
		break;
	}
	case NODE_UNSEEN:
		show(w, CRITICAL_UNSEEN, node, start, n->end_ns);
		break;
	case NODE_START:
		show(w, is_bound ? CRITICAL_LATENCY : CRITICAL_BEFORE, node, start, n->end_ns);
		break;
	case NODE_MEETING: /* no thread's; it takes time only in a damaged trace */
		break;
	default:
		show(w, is_bound ? CRITICAL_LATENCY : CRITICAL_CALL, node, start, n->end_ns);
	}
	return is_bound ? n->source : previous;
}

void critical_walk(const struct graph *g, uint32_t last, uint64_t from_ns, uint64_t until_ns, critical_visit *visit,
		   void *context)
{
	const struct path_walk w = {g, from_ns, until_ns, visit, context};

	for (uint32_t node = last; node != NODE_NONE && g->nodes[node].end_ns > from_ns;)
		node = walk_back(&w, node);
}

uint32_t critical_node_at(const struct graph *g, uint32_t actor, uint64_t ns)
{
	const struct span_of_nodes *of = &g->actors[actor];
	size_t at = first_place(i, of->first, of->first + of->count, g->nodes[i].end_ns < ns);

	return (uint32_t)(at < of->first + of->count ? at : at - 1);
}
