/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_graph_node_sum: the nodes of executable graphs, with their device time and the line that made them. */
#include "report/events/cuda/graph.h"
#include "report/events/cuda/graph_estimate.h"
#include "report/names/attribution.h"
#include "report/tables/sorted_rows.h"

struct node_row {
	struct sorted_row sorted; /* by total time in descending order */
	const struct image *image;
	const struct graph_shares *graph;
	size_t node;
	uint64_t total, estimated;
};

struct nodes {
	struct sorted_rows *rows;
	const struct image *image;
};

/* The sum of a linear function is that of the mean. */
static void nodes_add(void *context, const struct graph_shares *s)
{
	const struct nodes *n = context;

	for (size_t i = 0; i < s->node_count; i++) {
		double mean = s->nodes[i].mean_ns + s->nodes[i].slope * (s->mean_whole_ns - s->mean_ns);
		uint64_t estimated = s->as_whole && mean > 0 ? (uint64_t)(mean * (double)s->as_whole + 0.5) : 0;
		uint64_t total = s->nodes[i].exact_ns + estimated;
		struct node_row *row = sorted_rows_add(n->rows, UINT64_MAX - total, s->exec, i);

		row->image = n->image;
		row->graph = s;
		row->node = i;
		row->total = total;
		row->estimated = estimated;
	}
}

static void nodes_collect(struct sorted_rows *rows)
{
	const struct report_context *c = rows->context;
	struct nodes n = {.rows = rows};

	for (size_t i = 0; i < c->model->image_count; i++) {
		n.image = &c->model->images[i];
		graph_prepare(c, n.image);
		graph_estimate_each(c, n.image, &n, nodes_add);
	}
}

static void made_cells(struct attribution *attribution, const struct image *image,
		       const struct tf_device_operation *w, struct table *table)
{
	const struct graph_node *node = graph_node_of(image->trace, w, UINT64_MAX);
	const struct function *f = node ? trace_function(image->trace, node->event.id) : NULL;
	uint32_t stack = node ? event_stack(&node->event) : 0;

	code_line_cell(attribution_exact(attribution, image, stack), NULL, table);
	table_text(table, f ? f->name : "");
}

static void node_cells(struct sorted_rows *rows, const void *of, struct table *table)
{
	const struct node_row *row = of;
	const struct graph_shares *graph = row->graph;
	const struct graph_node_share *n = &graph->nodes[row->node];
	double error = graph_estimate_error(graph, row->node);
	struct tf_device_operation w = {0};
	SCOPED(buffer) name = {0};

	device_operation(row->image->trace, n->operation, &w);
	device_operation_name(rows->context, row->image->trace, &w, &name);
	table_cells(table, row->image->pid, graph->exec, w.node, graph->by_nodes + graph->as_whole, graph->by_nodes,
		    n->executions, row->total, cell_if(graph->as_whole, row->estimated),
		    cell_if(graph->as_whole && error >= 0, error >= 0 ? (uint64_t)(error + 0.5) : 0),
		    name.data ? name.data : "?");
	made_cells(rows->data, row->image, &w, table);
}

void report_cuda_graph_node_sum(const struct report_context *c, struct table *table)
{
	static const struct row_report report = {
		{COL_PID, COL_GRAPH, COL_NODE_NUMBER, COL_LAUNCHES, COL_BY_NODES, COL_EXECUTIONS, COL_TOTAL_TIME_NS,
		 COL_ESTIMATED_NS, COL_ERROR_NS, COL_NAME, COL_LINE, COL_MADE_BY},
		sizeof(struct node_row), nodes_collect, node_cells};
	SCOPED(attribution) attribution = {.symbols = c->symbols};

	report_rows(c, table, &report, &attribution);
	if (!table_rows(table))
		table_lacks(table, "no CUDA graph was recorded by its nodes: record with "
				   "--cuda-graph-trace=node");
}
