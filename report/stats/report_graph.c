/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_graph_node_sum: the nodes of executable graphs, with their device time and the line that made them. */
#include <errno.h>
#include <stdlib.h>

#include "report/derive/device/graph.h"
#include "report/derive/device/graph_estimate.h"
#include "report/derive/stacks/attribution.h"
#include "report/stats/report.h"

struct line {
	const struct image *image;
	const struct graph_shares *graph;
	size_t node;
	uint64_t total, estimated;
};

struct lines {
	const struct report_context *context;
	const struct image *image;
	struct attribution attribution;
	struct line *items;
	size_t count, capacity;
};

/* The sum of a linear function is that of the mean. */
static void keep_nodes(void *context, const struct graph_shares *s)
{
	struct lines *l = context;

	for (size_t i = 0; i < s->node_count; i++) {
		double mean = s->nodes[i].mean_ns + s->nodes[i].slope * (s->mean_whole_ns - s->mean_ns);
		uint64_t estimated = s->as_whole && mean > 0 ? (uint64_t)(mean * (double)s->as_whole + 0.5) : 0;

		l->items = mem_grow(l->items, l->count, &l->capacity, sizeof(*l->items));
		l->items[l->count++] = (struct line){l->image, s, i, s->nodes[i].exact_ns + estimated, estimated};
	}
}

static int lines_by_total(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	return order_of(b->total, a->total) ?: order_of(a->graph->exec, b->graph->exec) ?: order_of(a->node, b->node);
}

static void made_cells(struct lines *l, const struct image *image, const struct tf_device_operation *w, uint64_t ticks,
		       struct table *table)
{
	const struct graph_node *node = graph_node_of(image->trace, w, ticks);
	const struct function *f = node ? trace_function(image->trace, node->event.id) : NULL;
	uint32_t stack = node ? (uint32_t)tf_arg_value(event_arg(&node->event, TF_ARG_STACK)) : 0;
	struct symbol_frame frame;
	bool is_users;

	if (stack && attribution_stack(&l->attribution, image, stack, &frame, &is_users)) {
		symbols_name(l->context->symbols, &frame);
		table_text(table, frame.text);
	} else {
		table_nothing(table);
	}
	table_text(table, f ? f->name : "");
}

static void add_line(struct lines *l, const struct line *i, struct table *table)
{
	const struct graph_node_share *n = &i->graph->nodes[i->node];
	double error = graph_estimate_error(i->graph, i->node);
	struct tf_device_operation w = {0};
	struct buffer name = {0};

	device_operation(i->image->trace, n->operation, &w);
	device_operation_name(l->context, i->image->trace, &w, &name);
	table_number(table, i->image->pid);
	table_number(table, i->graph->exec);
	table_number(table, w.node);
	table_number(table, i->graph->by_nodes + i->graph->as_whole);
	table_number(table, i->graph->by_nodes);
	table_number(table, n->executions);
	table_number(table, i->total);
	table_number_if(table, i->graph->as_whole, i->estimated);
	if (i->graph->as_whole && error >= 0)
		table_number(table, (uint64_t)(error + 0.5));
	else
		table_nothing(table);
	table_text(table, name.data ? name.data : "?");
	made_cells(l, i->image, &w, UINT64_MAX, table);
	buffer_done(&name);
}

int report_cuda_graph_node_sum(const struct report_context *c, struct table *table, struct err *err)
{
	struct lines l = {.context = c, .attribution = {.symbols = c->symbols}};

	table_has(table, COL_PID, COL_GRAPH, COL_NODE_NUMBER, COL_LAUNCHES, COL_BY_NODES, COL_EXECUTIONS,
		  COL_TOTAL_TIME_NS, COL_ESTIMATED_NS, COL_ERROR_NS, COL_NAME, COL_LINE, COL_MADE_BY);
	for (size_t i = 0; i < c->model->image_count; i++) {
		l.image = &c->model->images[i];
		graph_prepare(c, l.image);
		graph_estimate_each(c, l.image, &l, keep_nodes);
	}
	if (l.count)
		qsort(l.items, l.count, sizeof(*l.items), lines_by_total);
	for (size_t i = 0; i < l.count; i++)
		add_line(&l, &l.items[i], table);
	attribution_done(&l.attribution);
	free(l.items);
	return table_rows(table)
		       ? 0
		       : err_set(err, -ENODATA,
				 "no CUDA graph was recorded by its nodes: record with --cuda-graph-trace=node");
}
