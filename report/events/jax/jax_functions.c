/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/jax/jax_functions.h"

#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/attribute.h"
#include "report/events/cuda/device.h"

struct jax_scan {
	struct jax_functions *functions;
	struct scan scan;
	struct jax_ranges ranges;
	struct map stacks; /* (row, image << 32 | stack) -> ns */
	size_t node; /* the innermost range around a call that has a function; NVTX_NO_PARENT: none */
};

static bool function_key(struct scan *s, const void *name, struct buffer *fields)
{
	(void)s;
	buffer_text(fields, name);
	return true;
}

static struct jax_function *function_of(struct jax_scan *g, uint32_t row)
{
	return aggregate_more(&g->functions->keys, row, sizeof(struct jax_function));
}

static uint32_t function_row(struct jax_scan *g, size_t node)
{
	const struct nvtx_node *n = &g->ranges.tree.nodes[node];
	uint32_t name = g->ranges.places[node].name;

	g->scan.thread = n->thread;
	return scan_row_of(&g->scan, n->start, name, function_key, interner_field(&g->ranges.names, name, 0));
}

/* ---- time of the host ---- */

static void add_stack(struct jax_scan *g, uint32_t row, uint32_t stack, uint64_t ns)
{
	struct jax_function *f = function_of(g, row);
	uint64_t image = (uint64_t)(g->scan.image - g->scan.context->model->images);
	uint64_t *sum = stack ? map_put(&g->stacks, row, image << 32 | stack, NULL) : NULL;

	if (!sum)
		return;
	*sum += ns;
	if (*sum >= f->stack_ns) {
		f->image = g->scan.image;
		f->stack = stack;
		f->stack_ns = *sum;
	}
}

static void add_range(struct jax_scan *g, size_t node)
{
	const struct nvtx_node *n = &g->ranges.tree.nodes[node];
	const struct jax_place *p = &g->ranges.places[node];
	enum jax_kind kind = p->kind == JAX_BUILD ? JAX_COMPILE : p->kind;
	uint64_t ns = clock_map_duration(g->scan.clock, p->self);
	struct jax_function *f;
	uint32_t row;

	if (p->kind == JAX_NONE || p->kind == JAX_OP || p->is_staged)
		return;
	row = function_row(g, node);
	f = function_of(g, row);
	f->image = f->image ? f->image : g->scan.image;
	f->ns[kind] += ns;
	f->counts[kind]++;
	if (kind == JAX_COMPILE && ns > f->longest_ns)
		f->longest_ns = ns;
	if (p->kind == JAX_MISS) {
		texts_add(&g->functions->changes, "%s", interner_field(&g->ranges.names, p->full, 0));
		f->change = g->functions->changes.items[g->functions->changes.count - 1];
	}
	if (jax_is_phase(p->kind))
		add_stack(g, row, n->stack, ns);
}

/* ---- time of the devices ---- */

static void take_node(void *context, size_t node)
{
	struct jax_scan *g = context;
	const struct jax_place *p = &g->ranges.places[node];

	if ((p->kind == JAX_RUN && !p->is_staged) || p->kind == JAX_MODULE)
		g->node = node;
}

static void add_correlated(void *context, const struct correlated *k)
{
	struct jax_scan *g = context;
	struct tf_device_operation operation;
	struct jax_function *f;

	if (!k->thread || !k->record_count)
		return;
	g->node = NVTX_NO_PARENT;
	attribute_ranges(&g->ranges.tree, k, g, take_node);
	if (g->node == NVTX_NO_PARENT)
		return;
	f = function_of(g, function_row(g, g->node));
	for (size_t i = 0; i < k->record_count; i++) {
		f->device_ns += k->records[i].duration_ns;
		f->kernels += device_operation(k->image->trace, k->records[i].operation, &operation) &&
			      operation.kind == TF_DEVICE_KERNEL;
	}
}

/* ---- the whole ---- */

void jax_functions_make(const struct report_context *c, struct jax_functions *ret)
{
	struct jax_scan g = {.functions = ret, .scan = {.context = c}};

	*ret = (struct jax_functions){0};
	g.scan.aggregate = &ret->keys;
	for (size_t i = 0; i < c->model->image_count; i++) {
		const struct image *image = g.scan.image = &c->model->images[i];

		if (!jax_is_in(image))
			continue;
		g.scan.clock = &c->model->machines[image->machine].clock;
		jax_ranges_make(&g.ranges, image);
		ret->has_calls |= g.ranges.has_calls;
		for (size_t k = 0; k < g.ranges.tree.count; k++)
			add_range(&g, k);
		if (g.ranges.tree.count)
			attribute_image(c, image, &g, add_correlated);
		jax_ranges_done(&g.ranges);
	}
	for (uint32_t row = 0; row < ret->keys.count; row++) {
		struct jax_function *f = function_of(&g, row);
		enum jax_kind run = f->counts[JAX_RUN] ? JAX_RUN : JAX_MODULE;

		f->change = f->counts[JAX_COMPILE] > 1 ? f->change : NULL;
		f->runs = f->counts[run];
		f->run_ns = f->ns[run];
	}
	map_done(&g.stacks);
}

void jax_functions_done(struct jax_functions *f)
{
	aggregate_done(&f->keys);
	texts_done(&f->changes);
	*f = (struct jax_functions){0};
}

ROW_COMPARATOR(by_compilation, struct jax_function,
	       order_of(jax_compile_ns(b), jax_compile_ns(a)) ?: order_of(b->device_ns, a->device_ns) ?:
	       order_of(b->run_ns, a->run_ns) ?: strcmp(row_a->key, row_b->key))

void jax_functions_sort(struct jax_functions *f)
{
	aggregate_sort_by(&f->keys, by_compilation);
}
