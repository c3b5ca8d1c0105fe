/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- edges ---- */

void graph_edge(struct graph *g, uint32_t from, uint64_t from_ns, uint32_t to, uint64_t to_ns)
{
	if (from_ns >= to_ns)
		return;
	mem_append(g->edges, g->edge_count, g->edge_capacity,
		   (struct edge){.from_ns = from_ns, .to_ns = to_ns, .from = from, .to = to, .node = NODE_NONE});
}

void graph_lock(struct graph *g, uint32_t from, uint64_t taken_ns, uint64_t from_ns, uint32_t to, uint64_t to_ns)
{
	size_t count = g->edge_count;

	graph_edge(g, from, from_ns, to, to_ns);
	if (g->edge_count == count)
		return;
	g->edges[count].is_lock = true;
	graph_edge(g, from, taken_ns, GRAPH_NOWHERE, taken_ns + 1);
}

uint32_t graph_meeting(struct graph *g)
{
	return GRAPH_MEETING | (uint32_t)g->meeting_count++;
}

void graph_arrive(struct graph *g, uint32_t meeting, uint32_t from, uint64_t from_ns)
{
	graph_edge(g, from, from_ns, meeting, from_ns + 1);
}

void graph_leave(struct graph *g, uint32_t meeting, uint64_t arrived_ns, uint32_t to, uint64_t to_ns)
{
	graph_edge(g, meeting, arrived_ns, to, to_ns);
}

COMPARATOR(compare_ends, struct edge,
	   order_of(a->to, b->to) ?: order_of(a->to_ns, b->to_ns) ?: order_of(a->from_ns, b->from_ns)
	   ?: order_of(a->from, b->from))

PLACE_COMPARATOR(compare_beginnings, struct edge, order_of(a->from, b->from) ?: order_of(a->from_ns, b->from_ns))

/* A wait for several sources waits for a meeting of them. */
static void join_sources(struct graph *g)
{
	size_t count = g->edge_count;

	for (size_t i = 0, next; i < count; i = next) {
		uint32_t to = g->edges[i].to, meeting;
		uint64_t to_ns = g->edges[i].to_ns, last_ns;

		for (next = i + 1; next < count && g->edges[next].to == to && g->edges[next].to_ns == to_ns; next++)
			;
		if (next - i == 1 || to >= GRAPH_NOWHERE)
			continue;
		meeting = graph_meeting(g);
		last_ns = g->edges[next - 1].from_ns;
		for (size_t k = i; k < next; k++) {
			g->edges[k].to = meeting;
			g->edges[k].to_ns = g->edges[k].from_ns + 1;
			g->edges[k].is_lock = false;
		}
		graph_edge(g, meeting, last_ns, to, to_ns);
	}
}

void graph_edges_done(struct graph *g)
{
	SCOPED_MEMORY size_t *order = NULL;

	sort_unless_sorted(g->edges, g->edge_count, sizeof(*g->edges), compare_ends);
	join_sources(g);
	sort_unless_sorted(g->edges, g->edge_count, sizeof(*g->edges), compare_ends);
	order = places_in_order(g->edge_count, compare_beginnings, g->edges);
	g->cuts = mem_alloc((g->edge_count + 1) * sizeof(*g->cuts));
	for (size_t i = 0; i < g->edge_count; i++)
		g->cuts[i] = (uint32_t)order[i];
}

static bool ends_before(const struct edge *e, uint32_t to, uint64_t to_ns)
{
	return e->to < to || (e->to == to && e->to_ns < to_ns);
}

/* The first edge to the actor, or to the end of a call of it. */
static size_t edge_to(const struct graph *g, uint32_t to, uint64_t to_ns)
{
	return first_place(i, 0, g->edge_count, ends_before(&g->edges[i], to, to_ns));
}

bool graph_has_edge(struct graph *g, uint32_t actor, uint64_t end_ns)
{
	size_t i = g->asked_edge;

	if ((i && !ends_before(&g->edges[i - 1], actor, end_ns)) || (i < g->edge_count && g->edges[i].to < actor))
		i = edge_to(g, actor, end_ns);
	while (i < g->edge_count && ends_before(&g->edges[i], actor, end_ns))
		i++;
	g->asked_edge = i;
	return i < g->edge_count && g->edges[i].to == actor && g->edges[i].to_ns == end_ns;
}

/* ---- nodes ---- */

static struct run_node *node_add(struct graph *g, enum node_kind kind, uint64_t end_ns, uint32_t what)
{
	g->now_ns = end_ns;
	return mem_new(g->nodes, g->node_count, g->node_capacity, (struct run_node){
		.end_ns = end_ns, .source = NODE_NONE, .parts = (uint32_t)g->part_count, .what = what,
		.actor = g->actor & GRAPH_ACTOR_NONE, .kind = kind});
}

/* What happened up to the end of the last node, and since the one before it, belongs to it. */
static void take_cuts(struct graph *g, uint64_t until_ns)
{
	while (g->next_cut < g->edge_count) {
		struct edge *e = &g->edges[g->cuts[g->next_cut]];

		if (e->from != g->actor || e->from_ns > until_ns)
			break;
		e->node = (uint32_t)g->node_count - 1;
		g->next_cut++;
	}
}

static uint64_t next_cut_ns(const struct graph *g)
{
	const struct edge *e = g->next_cut < g->edge_count ? &g->edges[g->cuts[g->next_cut]] : NULL;

	return e && e->from == g->actor ? e->from_ns : UINT64_MAX;
}

/* The edge to the end of something of this actor at that time; NODE_NONE: none. */
static uint32_t take_edge(struct graph *g, uint64_t end_ns)
{
	while (g->next_edge < g->edge_count && g->edges[g->next_edge].to == g->actor &&
	       g->edges[g->next_edge].to_ns < end_ns)
		g->next_edge++;
	return g->next_edge < g->edge_count && g->edges[g->next_edge].to == g->actor &&
			       g->edges[g->next_edge].to_ns == end_ns ? (uint32_t)g->next_edge : NODE_NONE;
}

/* So many parts are looked at before the map of all of them. */
enum { LAST_PARTS = 4 };

static void part_add(struct graph *g, uint32_t what, uint64_t ns)
{
	size_t place;

	if (!ns)
		return;
	g->open_ns += ns;
	for (size_t i = g->part_count, few = 0; i && few < LAST_PARTS && few < g->open.count; few++)
		if (g->parts[--i].what == what) {
			g->parts[i].ns += (float)ns;
			return;
		}
	place = map_place(&g->open, what, 0, g->parts, g->part_count, g->part_capacity,
			  (struct node_part){.what = what});
	g->parts[place].ns += (float)ns;
}

static void open_clear(struct graph *g)
{
	if (g->open.count > 16)
		map_done(&g->open);
	else if (g->open.count)
		memset(g->open.slots, 0, g->open.size * sizeof(*g->open.slots));
	g->open.count = 0;
	g->open_ns = 0;
}

/* The parts since the last node become a node. */
static void close_work(struct graph *g)
{
	struct run_node *n;

	if (!g->open_ns)
		return;
	n = node_add(g, NODE_WORK, g->now_ns, 0);
	n->parts = (uint32_t)(g->part_count - g->open.count);
	open_clear(g);
}

void graph_begin(struct graph *g, uint32_t actor, uint64_t start_ns)
{
	struct run_node *n;

	if (actor >= g->actor_count) {
		g->actors = mem_resize(g->actors, (actor + 1) * sizeof(*g->actors));
		memset(g->actors + g->actor_count, 0, (actor + 1 - g->actor_count) * sizeof(*g->actors));
		g->actor_count = actor + 1;
	}
	g->actor = actor;
	g->actors[actor].first = (uint32_t)g->node_count;
	g->next_edge = edge_to(g, actor, 0);
	g->next_cut = first_place(i, 0, g->edge_count, g->edges[g->cuts[i]].from < actor);
	n = node_add(g, NODE_START, start_ns, 0);
	n->source = take_edge(g, start_ns);
	take_cuts(g, start_ns);
}

void graph_work(struct graph *g, uint64_t until_ns, uint32_t what)
{
	uint64_t cut_ns;

	while ((cut_ns = next_cut_ns(g)) < until_ns) {
		if (cut_ns > g->now_ns) {
			part_add(g, what, cut_ns - g->now_ns);
			g->now_ns = cut_ns;
		}
		close_work(g);
		take_cuts(g, cut_ns);
	}
	if (until_ns <= g->now_ns)
		return;
	part_add(g, what, until_ns - g->now_ns);
	g->now_ns = until_ns;
	if (cut_ns == until_ns) {
		close_work(g);
		take_cuts(g, until_ns);
	}
}

void graph_call(struct graph *g, uint64_t until_ns, uint32_t what, enum graph_alone alone)
{
	uint32_t edge = take_edge(g, until_ns);
	struct run_node *n;

	if ((edge == NODE_NONE && alone == GRAPH_WORKS) || until_ns <= g->now_ns) {
		graph_work(g, until_ns, what);
		return;
	}
	close_work(g);
	/* Nothing that it caused happened while it waited. */
	take_cuts(g, until_ns - 1);
	n = node_add(g, edge == NODE_NONE ? NODE_UNSEEN : NODE_WAIT, until_ns, what);
	n->source = edge;
	n->is_lock = edge != NODE_NONE && g->edges[edge].is_lock;
	n->is_timer = edge == NODE_NONE && alone >= GRAPH_TIMER;
	n->is_assumed = alone == GRAPH_ASSUMED;
	g->has_assumed |= n->is_assumed;
	take_cuts(g, until_ns);
}

void graph_operation(struct graph *g, uint64_t start_ns, uint64_t end_ns, uint32_t what)
{
	struct run_node *n;

	/* A stream executes one operation at a time; what seems to overlap is an error of the clock. */
	start_ns = larger_of(start_ns, g->now_ns);
	if (end_ns <= start_ns)
		return;
	n = node_add(g, NODE_OPERATION, end_ns, what);
	n->source = take_edge(g, end_ns);
	mem_append(g->parts, g->part_count, g->part_capacity, (struct node_part){what, (float)(end_ns - start_ns)});
	take_cuts(g, end_ns);
}

void graph_end(struct graph *g, bool is_end)
{
	close_work(g);
	take_cuts(g, UINT64_MAX);
	g->actors[g->actor].count = (uint32_t)g->node_count - g->actors[g->actor].first;
	if (!is_end)
		return;
	mem_append(g->ends, g->end_count, g->end_capacity, (uint32_t)g->node_count - 1);
}

/* ---- the whole ---- */

/* Adds the nodes of meetings, and sets what begins there. */
static void add_meetings(struct graph *g)
{
	size_t from = edge_to(g, GRAPH_MEETING, 0), cut = first_place(i, 0, g->edge_count,
								       g->edges[g->cuts[i]].from < GRAPH_MEETING);

	g->actor = GRAPH_ACTOR_NONE;
	for (size_t i = from, next; i < g->edge_count; i = next) {
		uint32_t meeting = g->edges[i].to;

		for (next = i; next < g->edge_count && g->edges[next].to == meeting; next++)
			node_add(g, NODE_MEETING, g->edges[next].from_ns, next != i)->source = (uint32_t)next;
		while (cut < g->edge_count && g->edges[g->cuts[cut]].from < meeting)
			cut++;
		for (; cut < g->edge_count && g->edges[g->cuts[cut]].from == meeting; cut++)
			g->edges[g->cuts[cut]].node = (uint32_t)g->node_count - 1;
	}
}

struct queue {
	uint64_t end_ns;
	uint32_t node, after; /* the next node of an actor, and the one after its last */
};

/* Nodes of meetings come after others of the same time, because these may be their sources. */
static bool is_before(const struct graph *g, const struct queue *a, const struct queue *b)
{
	bool a_meets = g->nodes[a->node].kind == NODE_MEETING, b_meets = g->nodes[b->node].kind == NODE_MEETING;

	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns;
	return a_meets != b_meets ? b_meets : a->node < b->node;
}

static void sift(const struct graph *g, struct queue *heap, size_t count, size_t at)
{
	struct queue item = heap[at];

	for (size_t child; (child = 2 * at + 1) < count; at = child) {
		child += child + 1 < count && is_before(g, &heap[child + 1], &heap[child]);
		if (is_before(g, &item, &heap[child]))
			break;
		heap[at] = heap[child];
	}
	heap[at] = item;
}

PLACE_COMPARATOR(compare_nodes, struct run_node, order_of(a->end_ns, b->end_ns))

static void find_order(struct graph *g, size_t meetings)
{
	SCOPED_MEMORY struct queue *heap = mem_alloc((g->actor_count + 1) * sizeof(*heap));
	size_t count = 0, met = 0, at = 0;
	SCOPED_MEMORY size_t *of_meetings =
		places_in_order(g->node_count - meetings, compare_nodes, g->nodes + meetings);

	g->order = mem_alloc((g->node_count + 1) * sizeof(*g->order));
	for (size_t i = 0; i < g->actor_count; i++)
		if (g->actors[i].count)
			heap[count++] = (struct queue){g->nodes[g->actors[i].first].end_ns, g->actors[i].first,
						       g->actors[i].first + g->actors[i].count};
	for (size_t i = count / 2; i-- > 0;)
		sift(g, heap, count, i);
	while (count || met < g->node_count - meetings) {
		size_t meeting = met < g->node_count - meetings ? meetings + of_meetings[met] : SIZE_MAX;

		if (!count || (meeting != SIZE_MAX && g->nodes[meeting].end_ns < heap[0].end_ns)) {
			g->order[at++] = (uint32_t)meeting;
			met++;
			continue;
		}
		g->order[at++] = heap[0].node++;
		if (heap[0].node == heap[0].after)
			heap[0] = heap[--count];
		else
			heap[0].end_ns = g->nodes[heap[0].node].end_ns;
		if (count)
			sift(g, heap, count, 0);
	}
}

enum { RELAY_NODES = 64 };

/* Whether what ended a wait had itself waited for most of that time, without a known source, and since before that wait
 * began: it only passed on what came from elsewhere, perhaps because of what the waiting actor had done before. What
 * its own timer woke passed nothing on. */
static bool is_relayed(const struct graph *g, uint32_t wait)
{
	uint64_t start = g->nodes[wait - 1].end_ns, middle = start + (g->nodes[wait].end_ns - start) / 2;
	uint32_t at = g->nodes[wait].source;

	for (int i = 0; i < RELAY_NODES && at != NODE_NONE && g->nodes[at].end_ns > middle; i++) {
		uint32_t previous = graph_previous(g, at);

		if (g->nodes[at].kind == NODE_UNSEEN && g->nodes[previous].end_ns <= start)
			return !g->nodes[at].is_timer;
		at = previous;
	}
	return false;
}

static void drop_relayed(struct graph *g)
{
	for (size_t i = 0; i < g->node_count; i++) {
		struct run_node *n = &g->nodes[g->order[i]];

		if (n->kind == NODE_WAIT && is_relayed(g, g->order[i])) {
			n->kind = NODE_UNSEEN;
			n->source = NODE_NONE;
		}
	}
}

void graph_finish(struct graph *g)
{
	size_t meetings = g->node_count;

	add_meetings(g);
	array_each(struct run_node, n, g->nodes, g->node_count) {
		if (n->source != NODE_NONE)
			n->source = g->edges[n->source].node;
		if (n->source != NODE_NONE && g->nodes[n->source].end_ns > n->end_ns)
			n->source = NODE_NONE;
		if (n->kind == NODE_WAIT && n->source == NODE_NONE)
			n->kind = NODE_UNSEEN;
	}
	find_order(g, meetings);
	drop_relayed(g);
	free(g->edges);
	free(g->cuts);
	g->edges = NULL;
	g->cuts = NULL;
	g->edge_count = g->edge_capacity = 0;
	map_done(&g->open);
}

void graph_done(struct graph *g)
{
	free(g->nodes);
	free(g->parts);
	free(g->edges);
	free(g->cuts);
	free(g->actors);
	free(g->order);
	free(g->ends);
	map_done(&g->open);
	*g = (struct graph){0};
}
