/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/cuda/attribute.h"

#include "report/events/cuda/graph.h"
#include "report/events/cuda/graph_estimate.h"

struct attributing {
	void *context;
	void (*visit)(void *, const struct correlated *);
};

static const struct graph_node *node_of(const struct correlated *k, uint32_t operation)
{
	struct tf_device_operation w;

	return device_operation(k->image->trace, operation, &w) ? graph_node_of(k->image->trace, &w, k->event.ticks)
								: NULL;
}

/* Records of one launch of which all or none are of this node. */
static void visit_part(struct attributing *a, const struct correlated *k, const struct device_record *records,
		       size_t count, const struct graph_node *node, bool is_estimate)
{
	struct correlated part = *k;

	part.records = records;
	part.record_count = count;
	part.is_estimate = is_estimate;
	if (node) {
		part.thread = node->thread;
		part.event = node->event;
		part.launch = k;
	}
	a->visit(a->context, &part);
}

/* A launch that was recorded as a whole: what its nodes do not take is the launch's. */
static void divide(struct attributing *a, const struct correlated *k, const struct device_record *whole,
		   const struct graph_shares *s)
{
	struct device_record r = *whole;
	uint64_t left = whole->duration_ns, before = 0, now;
	double taken = 0;

	for (size_t i = 0; i < s->node_count; i++) {
		r.operation = s->nodes[i].operation;
		taken += graph_estimate_ns(s, i, whole->duration_ns);
		now = (uint64_t)(taken + 0.5); /* rounds the sum, so that it is exact */
		r.duration_ns = now - before;
		before = now;
		if (r.duration_ns)
			visit_part(a, k, &r, 1, node_of(k, r.operation), true);
		left -= r.duration_ns < left ? r.duration_ns : left;
		r.start_ns = whole->start_ns + whole->duration_ns - left;
	}
	r.operation = whole->operation;
	r.duration_ns = left;
	if (left)
		visit_part(a, k, &r, 1, NULL, true);
}

static const struct graph_shares *shares_of(const struct correlated *k, const struct device_record *r)
{
	struct tf_device_operation w;

	return device_operation(k->image->trace, r->operation, &w) && w.kind == TF_DEVICE_GRAPH
		       ? graph_estimate(k->image->trace, w.graph)
		       : NULL;
}

/* Splits the records of a launch by the calls that made their nodes. */
static void attribute_launch(void *context, const struct correlated *k)
{
	struct attributing *a = context;
	const struct graph_shares *shares = k->record_count == 1 ? shares_of(k, k->records) : NULL;

	if (!k->record_count)
		a->visit(a->context, k);
	else if (shares)
		divide(a, k, k->records, shares);
	for (size_t i = 0, from; i < k->record_count && !shares;) {
		const struct graph_node *node = node_of(k, k->records[i].operation);

		for (from = i++; i < k->record_count && node_of(k, k->records[i].operation) == node;)
			i++;
		visit_part(a, k, k->records + from, i - from, node, false);
	}
}

void attribute_image(const struct report_context *c, const struct image *image, void *context,
		     void (*visit)(void *, const struct correlated *))
{
	struct attributing a = {context, visit};
	bool has_nodes = graph_prepare(c, image), has_estimates = graph_estimate_prepare(c, image);

	if (has_nodes || has_estimates)
		correlate_image(c, image, &a, attribute_launch, NULL);
	else
		correlate_image(c, image, context, visit, NULL);
}

/* ---- ranges ---- */

struct ranging {
	const struct nvtx_tree *tree;
	const struct correlated *call;
	void *context;
	void (*visit)(void *, size_t);
};

static void visit_around_launch(void *context, size_t node)
{
	const struct ranging *r = context;
	const struct nvtx_node *n = &r->tree->nodes[node];

	if (n->thread != r->call->thread || n->start > event_start(&r->call->event) || n->end < r->call->event.ticks)
		r->visit(r->context, node);
}

void attribute_ranges(const struct nvtx_tree *tree, const struct correlated *k, void *context,
		      void (*visit)(void *, size_t))
{
	struct ranging r = {tree, k, context, visit};

	if (k->launch)
		nvtx_tree_around(tree, k->launch->thread, event_start(&k->launch->event), k->launch->event.ticks, &r,
				 visit_around_launch);
	nvtx_tree_around(tree, k->thread, event_start(&k->event), k->event.ticks, context, visit);
}
