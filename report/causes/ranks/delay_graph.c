/* SPDX-License-Identifier: Apache-2.0 */
/* The waits of ranks that neither call MPI nor NCCL, as those of gloo, whose threads exchange messages by sockets: what
 * ended a wait of a rank's main thread is followed back in the graph of causes, over the threads of any process, to the
 * main thread of another rank, which is the late one. The waits that the same stretch of its work ended are one
 * meeting. What precedes the first meeting of two ranks is start-up, and is not judged. */
#include <stdlib.h>
#include <string.h>

#include "report/causes/critical.h"
#include "report/causes/ranks/rank_build.h"
#include "report/causes/replay.h"

/* Shorter waits are not looked at; so many meetings are not chance. */
enum { GRAPH_WAIT_NS = 500000, MEETINGS_LEAST = 4 };

struct graph_wait {
	uint64_t start_ns, end_ns;
	uint64_t late_ns;
	uint32_t what, waiting, late; /* late: an actor, as waiting */
	uint32_t node;		      /* of the late one; NODE_NONE: none */
};

struct graph_delays {
	struct delays *delays;
	const struct causality *causes;
	struct graph_wait *items; /* by the time and the node of the late rank */
	size_t count, capacity;
	struct map pairs; /* of lanes: when they met last */
	/* the wait that is followed */
	const char *rank;
	struct graph_wait *wait;
};

static const char *rank_of_main(const struct causality *s, uint32_t actor)
{
	return s->actors[actor].is_main && !s->actors[actor].is_stream ? image_rank(s->actors[actor].image) : "";
}

static void visit_cause(void *context, enum critical_kind kind, uint32_t node, uint32_t what, double ns)
{
	struct graph_delays *g = context;
	uint32_t actor = g->causes->graph.nodes[node].actor;
	const char *rank = actor < g->causes->actor_count ? rank_of_main(g->causes, actor) : "";

	(void)kind, (void)what, (void)ns;
	if (g->wait->node != NODE_NONE || !*rank || !strcmp(rank, g->rank))
		return;
	g->wait->late = actor;
	g->wait->node = node;
	g->wait->late_ns = g->causes->graph.nodes[node].end_ns;
}

static void follow_wait(struct graph_delays *g, uint32_t actor, uint32_t node)
{
	const struct graph *graph = &g->causes->graph;
	struct graph_wait w = {.start_ns = replay_start(graph, node), .end_ns = graph->nodes[node].end_ns,
			       .what = graph->nodes[node].what, .waiting = actor, .node = NODE_NONE};

	if (graph->nodes[node].kind != NODE_WAIT || w.end_ns < w.start_ns + GRAPH_WAIT_NS)
		return;
	g->rank = rank_of_main(g->causes, actor);
	g->wait = &w;
	critical_walk(graph, node, w.start_ns, w.end_ns, visit_cause, g);
	if (w.node != NODE_NONE)
		list_add(g, w);
}

COMPARATOR(compare_waits, struct graph_wait,
	   order_of(a->late_ns, b->late_ns) ?: order_of(a->node, b->node) ?: order_of(a->waiting, b->waiting)
	   ?: order_of(a->end_ns, b->end_ns))

/* Both were there when the late one came. Returns when they had met before; 0: never. */
static uint64_t meet(struct graph_delays *g, uint32_t a, uint32_t b, uint64_t ns)
{
	uint64_t *last = map_put(&g->pairs, a < b ? a : b, a < b ? b : a, NULL), since_ns = *last;

	*last = ns;
	return since_ns;
}

static void add_meeting(struct graph_delays *g, const struct graph_wait *waits, size_t count)
{
	struct delays *d = g->delays;
	const struct causality *s = g->causes;
	uint64_t origin_ns = d->context->model->origin_ns, late_ns = waits->late_ns;
	uint32_t late = delays_lane(d, s->actors[waits->late].image);

	for (size_t i = 0; i < count; i++) {
		const struct graph_wait *w = &waits[i];
		const struct editable *what = &s->editables.items[w->what];
		uint32_t waiting = delays_lane(d, s->actors[w->waiting].image);
		uint64_t since_ns = meet(g, waiting, late, late_ns);

		for (size_t k = 0; k < i; k++)
			meet(g, waiting, delays_lane(d, s->actors[waits[k].waiting].image), late_ns);
		if (!since_ns || late_ns < w->start_ns + RANK_WAIT_NS)
			continue;
		delays_wait(d, &(struct rank_wait){
				       .start_ns = origin_ns + w->start_ns,
				       .end_ns = origin_ns + w->end_ns,
				       .late_ns = origin_ns + (late_ns < w->end_ns ? late_ns : w->end_ns),
				       .since_ns = origin_ns + (since_ns < w->start_ns ? since_ns : w->start_ns),
				       .waiting = waiting,
				       .late = late,
				       .group = delays_group_of(d, what->name,
								delays_line(d, what->image, what->stack), false),
				       .meeting = d->meetings});
	}
	d->meetings++;
}

void delays_of_graph(struct delays *d, struct causality *causes)
{
	struct graph_delays g = {.delays = d, .causes = causes};
	struct map ranks = {0};
	size_t meetings = 0;

	for (uint32_t i = 0; causes && i < causes->actor_count; i++) {
		const struct span_of_nodes *of = &causes->graph.actors[i];
		const char *rank = rank_of_main(causes, i);

		if (!*rank)
			continue;
		map_put(&ranks, hash_bytes(rank, strlen(rank)), 0, NULL);
		for (uint32_t n = of->first; n < of->first + of->count; n++)
			follow_wait(&g, i, n);
	}
	array_sort(g.items, g.count, compare_waits);
	for (size_t i = 0, next; i < g.count; i = next, meetings++) {
		for (next = i; next < g.count && g.items[next].node == g.items[i].node; next++)
			;
		add_meeting(&g, &g.items[i], next - i);
	}
	d->wait_count = meetings < MEETINGS_LEAST ? 0 : d->wait_count;
	d->counts.collectives += meetings < MEETINGS_LEAST ? 0 : meetings;
	d->counts.ranks = meetings < MEETINGS_LEAST ? 0 : ranks.count;
	map_done(&ranks);
	map_done(&g.pairs);
	free(g.items);
}
