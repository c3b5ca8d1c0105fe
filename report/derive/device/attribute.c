/* SPDX-License-Identifier: Apache-2.0 */
#include "report/derive/device/attribute.h"

#include "report/derive/device/graph.h"

struct attributing {
	void *context;
	void (*visit)(void *, const struct correlated *);
};

static const struct graph_node *node_of(const struct correlated *k, const struct device_record *r)
{
	struct tf_device_operation w;

	return device_operation(k->image->trace, r->operation, &w) ? graph_node_of(k->image->trace, &w, k->event.ticks)
								   : NULL;
}

/* Splits the records of a launch by the calls that made their nodes. */
static void attribute_launch(void *context, const struct correlated *k)
{
	struct attributing *a = context;

	if (!k->record_count) {
		a->visit(a->context, k);
		return;
	}
	for (size_t i = 0, from; i < k->record_count;) {
		const struct graph_node *node = node_of(k, &k->records[i]);
		struct correlated part = *k;

		for (from = i++; i < k->record_count && node_of(k, &k->records[i]) == node;)
			i++;
		part.records += from;
		part.record_count = i - from;
		if (node) {
			part.thread = node->thread;
			part.event = node->event;
			part.launch = k;
		}
		a->visit(a->context, &part);
	}
}

void attribute_image(const struct report_context *c, const struct image *image, void *context,
		     void (*visit)(void *, const struct correlated *))
{
	struct attributing a = {context, visit};

	if (graph_prepare(c, image))
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
