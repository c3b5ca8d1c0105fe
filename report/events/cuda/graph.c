/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/cuda/graph.h"

#include <stdlib.h>
#include <string.h>

/* From `ticks` on, the executable graph has the nodes of `graph`. */
struct graph_source {
	uint64_t ticks;
	uint32_t exec, graph;
};

/* A node of `graph` has the graph `inner` inside of it, or (is_exec) the one from which `inner` was instantiated. */
struct inner {
	uint64_t ticks; /* of the call that made the node */
	uint32_t graph, inner;
	uint32_t copy; /* of `inner` that the node contains; 0: not known */
	bool is_exec;
};

/* An operation of a graph inside of an executable one, at its first execution. */
struct operation {
	uint64_t start_ns;
	struct tf_device_operation is;
};

/* State kept with a trace. */
struct graphs {
	bool is_prepared;
	struct graph_node *nodes; /* in the order of the calls of each thread */
	struct graph_source *sources; /* by exec and ticks */
	struct inner *inners;
	struct operation *operations;
	size_t node_count, node_capacity, source_count, source_capacity, inner_count, inner_capacity, operation_count,
		operation_capacity;
	struct map by_id;    /* graph << 32 | node -> 1 + position in nodes */
	struct map original; /* of a clone, or of the copy of a graph that a node contains */
	struct map inside;   /* (exec, graph << 32 | node) of an operation -> likewise */
	struct map seen;     /* id of an operation -> 1 + position in operations */
};

static void graphs_done(void *state)
{
	struct graphs *g = state;

	free(g->nodes);
	free(g->sources);
	free(g->inners);
	free(g->operations);
	map_done(&g->by_id);
	map_done(&g->original);
	map_done(&g->inside);
	map_done(&g->seen);
}

static const struct attachment_kind graphs_kind = {sizeof(struct graphs), graphs_done};

static uint64_t id_of(uint32_t graph, uint32_t node)
{
	return (uint64_t)graph << 32 | node;
}

/* ---- reading ---- */

static void add_node(struct graphs *g, const struct trace_thread *thread, const struct event *e, uint32_t graph)
{
	uint32_t node = (uint32_t)tf_arg_value(event_arg(e, TF_ARG_GRAPH_NODE));

	mem_append(g->nodes, g->node_count, g->node_capacity, (struct graph_node){thread, *e, graph, node});
	*map_put(&g->by_id, id_of(graph, node), 0, NULL) = g->node_count;
	for (uint32_t i = 0; i < e->args_count; i++) {
		unsigned kind = tf_arg_kind(e->args[i]);

		if (kind == TF_ARG_GRAPH_INNER && tf_arg_small(e->args[i])) {
			if (i && g->inner_count)
				g->inners[g->inner_count - 1].copy = (uint32_t)tf_arg_value(e->args[i]);
			continue;
		}
		if (kind != TF_ARG_GRAPH_INNER && kind != TF_ARG_GRAPH_EXEC)
			continue;
		mem_append(g->inners, g->inner_count, g->inner_capacity,
			   (struct inner){e->ticks, graph, (uint32_t)tf_arg_value(e->args[i]), 0,
					  kind == TF_ARG_GRAPH_EXEC});
	}
}

static void add_event(struct graphs *g, const struct trace_thread *thread, const struct event *e)
{
	uint64_t arg = event_arg(e, TF_ARG_GRAPH), exec = event_arg(e, TF_ARG_GRAPH_EXEC),
		 inner = event_arg(e, TF_ARG_GRAPH_INNER);
	uint32_t graph = (uint32_t)tf_arg_value(arg);

	if (!arg)
		return;
	if (event_arg(e, TF_ARG_GRAPH_NODE)) {
		add_node(g, thread, e, graph);
	} else if (exec) {
		mem_append(g->sources, g->source_count, g->source_capacity,
			   (struct graph_source){e->ticks, (uint32_t)tf_arg_value(exec), graph});
	} else if (inner) {
		*map_put(&g->original, graph, 0, NULL) = tf_arg_value(inner);
	}
}

COMPARATOR(sources_by_exec, struct graph_source, order_of(a->exec, b->exec) ?: order_of(a->ticks, b->ticks))

/* The graph whose nodes the executable one has at that time; 0: not known. */
static uint32_t source_of(const struct graphs *g, uint32_t exec, uint64_t ticks)
{
	size_t first = first_place(i, 0, g->source_count, g->sources[i].exec < exec),
	       after = first_place(i, first, g->source_count,
				   g->sources[i].exec == exec && g->sources[i].ticks <= ticks);

	if (after > first)
		return g->sources[after - 1].graph;
	return first < g->source_count && g->sources[first].exec == exec ? g->sources[first].graph : 0;
}

/* A launch that was captured contains a copy of what the executable graph was instantiated from. */
static void add_copies(struct graphs *g)
{
	array_each(const struct inner, i, g->inners, g->inner_count) {
		if (i->copy)
			*map_put(&g->original, i->copy, 0, NULL) =
				i->is_exec ? source_of(g, i->inner, i->ticks) : i->inner;
	}
}

static void read_calls(struct graphs *g, const struct trace *t)
{
	for (size_t k = 0; k < t->thread_count; k++) {
		struct cursor cursor;
		struct event e;

		if (!(t->threads[k].args & 1u << TF_ARG_GRAPH))
			continue;
		cursor_init(&cursor, t, &t->threads[k]);
		while (cursor_next(&cursor, &e))
			if (e.kind == TF_CALL && e.args_count)
				add_event(g, &t->threads[k], &e);
	}
	array_sort(g->sources, g->source_count, sources_by_exec);
	add_copies(g);
}

/* ---- nodes with their numbers ---- */

/* A clone keeps the numbers of its original's nodes; later ones are its own. */
static const struct graph_node *node_at(const struct graphs *g, uint32_t graph, uint32_t node)
{
	for (unsigned depth = 0; graph && depth < 64; depth++) {
		const uint64_t *at = map_find(&g->by_id, id_of(graph, node), 0), *original;

		if (at)
			return &g->nodes[*at - 1];
		original = map_find(&g->original, graph, 0);
		graph = original ? (uint32_t)*original : 0;
	}
	return NULL;
}

/* ---- nodes of graphs inside of graphs ---- */

/* The nodes of all graphs inside of one, in the order of the nodes that contain them. */
struct inside {
	struct inside_node {
		uint32_t node;	/* position */
		uint32_t graph; /* number of the inner graph: one that is inside of two nodes has two */
		bool is_taken;
	} *nodes;
	size_t count, capacity;
	uint32_t graphs;
};

static void collect(const struct graphs *g, uint32_t graph, unsigned depth, struct inside *ret)
{
	for (size_t i = 0; i < g->inner_count && depth < 16; i++) {
		uint32_t inner = g->inners[i].inner;

		if (g->inners[i].graph != graph)
			continue;
		if (g->inners[i].is_exec)
			inner = source_of(g, inner, UINT64_MAX);
		ret->graphs++;
		for (size_t k = 0; k < g->node_count; k++) {
			if (g->nodes[k].graph != inner)
				continue;
			mem_append(ret->nodes, ret->count, ret->capacity,
				   (struct inside_node){(uint32_t)k, ret->graphs, false});
		}
		collect(g, inner, depth + 1, ret);
	}
}

/* A device operation's kind as far as a call determines it; 0: any. */
static unsigned kind_of_call(const struct trace *t, const struct event *e)
{
	const struct function *f = trace_function(t, e->id);
	unsigned cuda = f ? f->kind.cuda : 0;
	uint64_t copy = event_arg(e, TF_ARG_COPY);

	if (copy)
		return tf_arg_small(copy) == 63 ? TF_DEVICE_SET : TF_DEVICE_COPY;
	if (event_arg(e, TF_ARG_LAUNCH) || (cuda & CUDA_NODE && cuda & CUDA_OF_KERNEL))
		return TF_DEVICE_KERNEL;
	if (cuda & CUDA_NODE && cuda & CUDA_COPIES)
		return TF_DEVICE_COPY;
	return cuda & CUDA_NODE && cuda & CUDA_SET ? TF_DEVICE_SET : 0;
}

static bool agrees(const struct trace *t, const struct event *e, const struct tf_device_operation *w)
{
	uint64_t arg = event_arg(e, TF_ARG_LAUNCH);
	const struct blob *b = arg ? trace_definition(t, TF_BLOB_LAUNCH, (uint32_t)tf_arg_value(arg)) : NULL;
	unsigned kind = kind_of_call(t, e);
	struct tf_launch launch;

	if (kind && kind != w->kind)
		return false;
	if (!b || trace_blob(t, b, &launch, sizeof(launch)) < sizeof(launch))
		return true;
	return (!launch.kernel || !w->kernel || launch.kernel == w->kernel) &&
	       !memcmp(launch.grid, w->grid, sizeof(w->grid)) && !memcmp(launch.block, w->block, sizeof(w->block));
}

/* The node that the record names as the source of its own; NULL: not known. */
static const struct graph_node *node_by_source(const struct graphs *g, const struct tf_device_operation *w)
{
	return w->source_graph ? node_at(g, w->source_graph, w->source_node) : NULL;
}

static bool is_inside(const struct tf_device_operation *w)
{
	return w->graph && w->node_graph && w->node_graph != w->graph;
}

static void keep_first(struct scan *s, const struct device_record *r)
{
	struct graphs *g = s->more;
	struct tf_device_operation w;
	bool is_new;
	uint64_t *at = map_put(&g->seen, r->operation, 0, &is_new);

	if (is_new && device_operation(s->image->trace, r->operation, &w) && is_inside(&w) && !node_by_source(g, &w)) {
		mem_append(g->operations, g->operation_count, g->operation_capacity,
			   (struct operation){r->start_ns, w});
		*at = g->operation_count;
	} else if (*at && r->start_ns < g->operations[*at - 1].start_ns) {
		g->operations[*at - 1].start_ns = r->start_ns;
	}
}

COMPARATOR(operations_by_exec, struct operation,
	   order_of(a->is.graph, b->is.graph) ?: order_of(a->is.node_graph, b->is.node_graph)
	   ?: order_of(a->start_ns, b->start_ns))

/* Matches the operations of one inner graph, [from, end) by start, with the nodes of inner graph `number`. False: an
 * operation has no node there; nothing is matched then. */
static bool match_graph(struct graphs *g, const struct trace *t, size_t from, size_t end, struct inside *in,
			uint32_t number)
{
	const struct tf_device_operation *first = &g->operations[from].is, *w;
	size_t k = 0;

	for (size_t i = from; i < end; i++) {
		w = &g->operations[i].is;
		for (k = 0; k < in->count; k++)
			if (in->nodes[k].graph == number && !in->nodes[k].is_taken &&
			    agrees(t, &g->nodes[in->nodes[k].node].event, w))
				break;
		if (k == in->count)
			break;
		in->nodes[k].is_taken = true;
		*map_put(&g->inside, w->graph, id_of(w->node_graph, w->node), NULL) = 1 + in->nodes[k].node;
	}
	for (size_t i = 0; i < in->count && k == in->count; i++)
		in->nodes[i].is_taken &= in->nodes[i].graph != number;
	for (size_t i = from; i < end && k == in->count; i++)
		map_remove(&g->inside, first->graph, id_of(first->node_graph, g->operations[i].is.node));
	return k < in->count;
}

static bool is_same_graph(const struct operation *a, const struct operation *b)
{
	return a->is.graph == b->is.graph && a->is.node_graph == b->is.node_graph;
}

/* Each inner graph with the first one that has nodes for all of its operations. */
static void match_inside(struct graphs *g, const struct trace *t)
{
	struct inside in = {0};

	for (size_t i = 0, end; i < g->operation_count; i = end) {
		const struct operation *first = &g->operations[i];
		bool is_matched = false;

		for (end = i + 1; end < g->operation_count && is_same_graph(first, &g->operations[end]);)
			end++;
		if (!i || g->operations[i - 1].is.graph != first->is.graph) {
			in.count = in.graphs = 0;
			collect(g, source_of(g, first->is.graph, UINT64_MAX), 0, &in);
		}
		for (uint32_t n = 1; n <= in.graphs && !is_matched; n++)
			is_matched = match_graph(g, t, i, end, &in, n);
	}
	free(in.nodes);
}

static void read_inside(struct graphs *g, const struct report_context *c, const struct image *image)
{
	struct scan s = {.context = c, .image = image, .is_unfiltered = true, .more = g};

	device_scan_image(&s, keep_first, NULL);
	array_sort(g->operations, g->operation_count, operations_by_exec);
	match_inside(g, image->trace);
}

/* ---- interface ---- */

bool graph_prepare(const struct report_context *c, const struct image *image)
{
	struct graphs *g = image->trace ? attachment_get(&image->trace->attachments, &graphs_kind) : NULL;

	if (g && !g->is_prepared) {
		g->is_prepared = true;
		read_calls(g, image->trace);
		if (g->inner_count)
			read_inside(g, c, image);
	}
	return g && g->node_count;
}

const struct graph_node *graph_node_of(const struct trace *t, const struct tf_device_operation *w, uint64_t ticks)
{
	const struct graphs *g = attachment_find(&t->attachments, &graphs_kind);
	const struct graph_node *source;
	const uint64_t *at;

	if (!g || !w->graph || !device_is_node(w))
		return NULL;
	source = node_by_source(g, w);
	if (source)
		return source;
	if (!is_inside(w))
		return node_at(g, source_of(g, w->graph, ticks), w->node);
	at = map_find(&g->inside, w->graph, id_of(w->node_graph, w->node));
	return at && *at ? &g->nodes[*at - 1] : NULL;
}
