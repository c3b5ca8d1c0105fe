/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/cuda/graph_estimate.h"

#include <math.h>
#include <stdlib.h>

#include "report/events/cuda/correlate.h"

/* Sums over the launches of a graph that were recorded by nodes. */
struct node_sums {
	uint32_t operation;
	double t, tt, td; /* of its time, of the square, of the product with the launch's duration */
	double now;	  /* its time in the launch that is being read */
	uint64_t executions;
};

struct graph_sums {
	struct graph_shares shares;
	double d, dd, whole, shortest, longest;
	double *outside; /* durations as a whole, shorter or longer than those by nodes that were read before */
	size_t outside_count, outside_capacity;
	struct node_sums *nodes;
	size_t count, capacity;
	struct map places; /* operation -> position */
};

/* State kept with a trace. */
struct estimates {
	bool is_prepared;
	struct graph_sums *graphs;
	size_t count, capacity;
	struct map by_exec; /* -> position */
	const struct trace *trace;
};

static void estimates_done(void *state)
{
	struct estimates *e = state;

	for (size_t i = 0; i < e->count; i++) {
		free(e->graphs[i].nodes);
		free(e->graphs[i].outside);
		free(e->graphs[i].shares.nodes);
		map_done(&e->graphs[i].places);
	}
	free(e->graphs);
	map_done(&e->by_exec);
}

static const struct attachment_kind estimates_kind = {sizeof(struct estimates), estimates_done};

/* ---- reading ---- */

static struct graph_sums *sums_of(struct estimates *e, uint32_t exec)
{
	size_t at = map_place(&e->by_exec, exec, 0, e->graphs, e->count, e->capacity,
			      (struct graph_sums){.shares = {.exec = exec}});

	return &e->graphs[at];
}

static struct node_sums *node_of(struct graph_sums *g, uint32_t operation)
{
	size_t at = map_place(&g->places, operation, 0, g->nodes, g->count, g->capacity,
			      (struct node_sums){.operation = operation});

	return &g->nodes[at];
}

/* A launch by nodes: all records of one correlation id. */
static void add_launch(struct estimates *e, const struct correlated *k, uint32_t exec)
{
	struct graph_sums *g = sums_of(e, exec);
	uint64_t start = UINT64_MAX, end = 0;
	double d;

	array_each(const struct device_record, r, k->records, k->record_count) {
		start = r->start_ns < start ? r->start_ns : start;
		end = r->start_ns + r->duration_ns > end ? r->start_ns + r->duration_ns : end;
		node_of(g, r->operation)->now += (double)r->duration_ns;
		node_of(g, r->operation)->executions++;
	}
	d = (double)(end - start);
	g->shares.by_nodes++;
	g->shortest = g->d == 0 || d < g->shortest ? d : g->shortest;
	g->longest = d > g->longest ? d : g->longest;
	g->d += d;
	g->dd += d * d;
	for (size_t i = 0; i < k->record_count; i++) {
		struct node_sums *n = node_of(g, k->records[i].operation);

		n->t += n->now;
		n->tt += n->now * n->now;
		n->td += n->now * d;
		n->now = 0;
	}
}

static void add_whole(struct graph_sums *g, double d)
{
	g->shares.as_whole++;
	g->whole += d;
	if (d >= g->shortest && d <= g->longest)
		return;
	mem_append(g->outside, g->outside_count, g->outside_capacity, d);
}

static void estimate_visit_correlated(void *context, const struct correlated *k)
{
	struct estimates *e = context;
	struct tf_device_operation w;

	if (!k->record_count || !device_operation(e->trace, k->records[0].operation, &w) || !w.graph)
		return;
	if (w.kind == TF_DEVICE_GRAPH) {
		add_whole(sums_of(e, w.graph), (double)k->records[0].duration_ns);
	} else if (device_is_node(&w)) {
		add_launch(e, k, w.graph);
	}
}

/* ---- fitting ---- */

/* Launches that differ by less than a twentieth of their duration are divided in proportion. */
static double small_spread(const struct graph_shares *s)
{
	return s->mean_ns * s->mean_ns / 400;
}

static void fit_node(struct graph_shares *s, const struct node_sums *sums, struct graph_node_share *ret)
{
	double n = (double)s->by_nodes, mean = sums->t / n, small = small_spread(s),
	       covariance = sums->td - mean * s->mean_ns * n,
	       slope = small > 0 ? (covariance + small * mean / s->mean_ns) / (s->spread + small) : 0,
	       squares = sums->tt - mean * mean * n - 2 * slope * covariance + slope * slope * s->spread;

	*ret = (struct graph_node_share){.operation = sums->operation,
					 .mean_ns = mean,
					 .slope = slope,
					 .exact_ns = (uint64_t)(sums->t + 0.5),
					 .executions = sums->executions,
					 .deviation_ns = n > 2 && squares > 0 ? sqrt(squares / (n - 2)) : 0};
}

static void fit_graph(struct graph_sums *g)
{
	struct graph_shares *s = &g->shares;

	if (!s->by_nodes)
		return;
	s->mean_ns = g->d / (double)s->by_nodes;
	s->mean_whole_ns = s->as_whole ? g->whole / (double)s->as_whole : s->mean_ns;
	s->spread = g->dd - s->mean_ns * s->mean_ns * (double)s->by_nodes;
	s->spread = s->spread > 0 ? s->spread : 0;
	for (size_t i = 0; i < g->outside_count; i++)
		s->outside_ns += fmax(0, fmax(g->shortest - g->outside[i], g->outside[i] - g->longest));
	s->nodes = mem_alloc((g->count + 1) * sizeof(*s->nodes));
	s->node_count = g->count;
	for (size_t i = 0; i < g->count; i++)
		fit_node(s, &g->nodes[i], &s->nodes[i]);
}

/* ---- interface ---- */

enum { WHOLE = 1, BY_NODES = 2 };

/* How the graphs of a trace were recorded. */
static unsigned ways_of(const struct trace *t)
{
	struct tf_device_operation w;
	unsigned ways = 0;

	blobs_each(b, t, TF_BLOB_DEVICE_OPERATION)
		if (device_operation(t, b->id, &w))
			ways |= (w.kind == TF_DEVICE_GRAPH ? WHOLE : 0) | (device_is_node(&w) ? BY_NODES : 0);
	return ways;
}

static struct estimates *estimates_of(const struct report_context *c, const struct image *image, unsigned ways)
{
	struct estimates *e = image->trace ? attachment_get(&image->trace->attachments, &estimates_kind) : NULL;

	if (!e || e->is_prepared || (ways_of(image->trace) & ways) != ways)
		return e;
	e->is_prepared = true;
	e->trace = image->trace;
	correlate_unfiltered(c, image, e, estimate_visit_correlated);
	for (size_t i = 0; i < e->count; i++)
		fit_graph(&e->graphs[i]);
	return e;
}

bool graph_estimate_prepare(const struct report_context *c, const struct image *image)
{
	const struct estimates *e = estimates_of(c, image, WHOLE | BY_NODES);

	return e && e->count;
}

void graph_estimate_each(const struct report_context *c, const struct image *image, void *context,
			 void (*visit)(void *, const struct graph_shares *))
{
	const struct estimates *e = estimates_of(c, image, BY_NODES);

	for (size_t i = 0; e && i < e->count; i++)
		if (e->graphs[i].shares.node_count)
			visit(context, &e->graphs[i].shares);
}

const struct graph_shares *graph_estimate(const struct trace *t, uint32_t exec)
{
	const struct estimates *e = attachment_find(&t->attachments, &estimates_kind);
	const uint64_t *at = e ? map_find(&e->by_exec, exec, 0) : NULL;

	return at && e->graphs[*at].shares.node_count && e->graphs[*at].shares.as_whole ? &e->graphs[*at].shares : NULL;
}

double graph_estimate_ns(const struct graph_shares *s, size_t node, uint64_t whole_ns)
{
	const struct graph_node_share *n = &s->nodes[node];
	double ns = n->mean_ns + n->slope * ((double)whole_ns - s->mean_ns);

	return ns > 0 ? ns : 0;
}

/* That of a sum of predicted values: the values scatter, and the fitted line is uncertain. Nothing is known of its
 * course outside of the fitted range, where the node may take all or nothing. */
double graph_estimate_error(const struct graph_shares *s, size_t node)
{
	double n = (double)s->by_nodes, r = (double)s->as_whole, distance = s->mean_whole_ns - s->mean_ns, variance,
	       slope = fmin(1, fmax(0, s->nodes[node].slope));

	if (s->by_nodes < 3)
		return -1;
	variance = r + r * r * (1 / n + (distance != 0 ? distance * distance / (s->spread + small_spread(s)) : 0));
	return 2 * s->nodes[node].deviation_ns * sqrt(variance) + s->outside_ns * fmax(slope, 1 - slope);
}

bool graph_estimate_any(const struct report_context *c)
{
	bool has = false;

	for (size_t i = 0; i < c->model->image_count; i++)
		has |= graph_estimate_prepare(c, &c->model->images[i]);
	return has;
}

void graph_estimate_remark(const struct report_context *c, struct buffer *ret)
{
	uint64_t launches = 0, by_nodes = 0;
	double squares = 0, total = 0;
	bool is_known = true;

	for (size_t i = 0; i < c->model->image_count; i++) {
		const struct trace *t = c->model->images[i].trace;
		const struct estimates *e;

		if (!graph_estimate_prepare(c, &c->model->images[i]))
			continue;
		e = attachment_find(&t->attachments, &estimates_kind);
		for (size_t k = 0; k < e->count; k++) {
			const struct graph_shares *s = &e->graphs[k].shares;

			if (!s->node_count || !s->as_whole)
				continue;
			launches += s->as_whole;
			by_nodes += s->by_nodes;
			total += (double)s->as_whole * s->mean_whole_ns;
			for (size_t n = 0; n < s->node_count; n++) {
				double error = graph_estimate_error(s, n);

				is_known &= error >= 0;
				squares += error * error;
			}
		}
	}
	if (!launches)
		return;
	buffer_print(ret,
		     "the times of nodes in %llu launches of CUDA graphs are estimates from %llu recorded by nodes, ",
		     (unsigned long long)launches, (unsigned long long)by_nodes);
	if (is_known && total > 0)
		buffer_print(ret, "to %.2g %%", 100 * sqrt(squares) / total);
	else
		buffer_text(ret, "some from fewer than 3");
}
