/* SPDX-License-Identifier: Apache-2.0 */
/* jax_ops_sum: the operations (HLO) that XLA executed. XLA's NVTX ranges name an operation. Without such ranges, and in
 * a command buffer (a CUDA graph, whose launch has a single range), the name of the kernel is used: XLA names a kernel
 * after its operation or fusion. */
#include <string.h>

#include "report/events/cuda/attribute.h"
#include "report/events/cuda/device.h"
#include "report/events/jax/jax_modules.h"
#include "report/events/jax/jax_ranges.h"
#include "report/tables/report.h"

enum op_source { OP_RANGE, OP_KERNEL, OP_COMMAND_BUFFER, OP_OUTSIDE };
enum { FIELDS = 6 };
static const char *const source_names[] = {"range", "kernel", "command buffer", "outside"};

struct op_sum {
	uint64_t device_ns, kernels, host_ns, instances;
};

struct jax_ops {
	const struct report_context *context;
	const struct clock_map *clock;
	struct jax_ranges ranges;
	struct jax_modules modules;
	struct aggregate keys; /* FIELDS fields: operation, module, function, source, scope, line; with struct op_sum */
	size_t op, function; /* the innermost ranges around a call; NVTX_NO_PARENT: none */
};

static struct op_sum *sum_of(struct jax_ops *o, const char *op, size_t module, size_t function, enum op_source source)
{
	const struct jax_ranges *r = &o->ranges;
	const char *module_name = module == NVTX_NO_PARENT ? "" : interner_field(&r->names, r->places[module].full, 0);
	const struct jax_origin *origin = jax_modules_find(&o->modules, module_name, op);
	SCOPED(buffer) key = {0};
	uint32_t row;

	buffer_print(&key, "%s%c%s%c%s%c%s%c%s%c%s", op, 0, module_name, 0,
		     function == NVTX_NO_PARENT ? "" : interner_field(&r->names, r->places[function].name, 0), 0,
		     source_names[source], 0, origin ? origin->scope : "", 0, origin ? origin->line : "");
	row = aggregate_row(&o->keys, key.data, key.size + 1);
	return aggregate_more(&o->keys, row, sizeof(struct op_sum));
}

static const char *op_name(const struct jax_ops *o, size_t node)
{
	return interner_field(&o->ranges.names, o->ranges.places[node].name, 0);
}

static struct op_sum *sum_of_range(struct jax_ops *o, size_t node)
{
	size_t module = o->ranges.places[node].module;

	return sum_of(o, op_name(o, node), module, module, OP_RANGE);
}

static void take_node(void *context, size_t node)
{
	struct jax_ops *o = context;
	const struct jax_place *p = &o->ranges.places[node];

	if (p->kind == JAX_OP)
		o->op = node;
	if ((p->kind == JAX_RUN && !p->is_staged) || p->kind == JAX_MODULE)
		o->function = node;
}

/* Of an operation of the device that no range of XLA names. */
static struct op_sum *sum_of_operation(struct jax_ops *o, const struct image *image,
				       const struct tf_device_operation *operation)
{
	enum op_source source = o->op != NVTX_NO_PARENT ? OP_COMMAND_BUFFER
				: o->function != NVTX_NO_PARENT ? OP_KERNEL
								: OP_OUTSIDE;
	size_t module = o->function == NVTX_NO_PARENT ? NVTX_NO_PARENT : o->ranges.places[o->function].module;
	SCOPED(buffer) name = {0};

	if (source == OP_OUTSIDE)
		buffer_text(&name, "(not within a range of JAX or XLA)");
	else
		device_operation_name(o->context, image->trace, operation, &name);
	return sum_of(o, buffer_string(&name), module, o->function, source);
}

static void add_correlated(void *context, const struct correlated *k)
{
	struct jax_ops *o = context;
	bool is_named;

	if (!k->record_count)
		return;
	o->op = o->function = NVTX_NO_PARENT;
	if (k->thread)
		attribute_ranges(&o->ranges.tree, k, o, take_node);
	is_named = o->op != NVTX_NO_PARENT && !text_begins_with(op_name(o, o->op), "command_buffer");
	for (size_t i = 0; i < k->record_count; i++) {
		struct tf_device_operation operation;
		bool is_known = device_operation(k->image->trace, k->records[i].operation, &operation), is_whole;
		struct op_sum *sum;

		is_whole = !is_known || (o->op != NVTX_NO_PARENT && operation.kind == TF_DEVICE_GRAPH);
		sum = is_named || (is_whole && o->op != NVTX_NO_PARENT) ? sum_of_range(o, o->op)
									 : sum_of_operation(o, k->image, &operation);
		sum->device_ns += k->records[i].duration_ns;
		sum->kernels += is_known && operation.kind == TF_DEVICE_KERNEL;
	}
}

/* False: it has nothing of JAX. */
static bool ops_add_image(struct jax_ops *o, const struct image *image)
{
	bool is_jax;

	if (!jax_is_in(image))
		return false;
	o->clock = &o->context->model->machines[image->machine].clock;
	jax_ranges_make(&o->ranges, image);
	jax_modules_make(&o->modules, image->trace);
	for (size_t i = 0; i < o->ranges.tree.count; i++) {
		const struct nvtx_node *n = &o->ranges.tree.nodes[i];
		struct op_sum *sum;

		if (o->ranges.places[i].kind != JAX_OP)
			continue;
		sum = sum_of_range(o, i);
		sum->instances++;
		sum->host_ns += clock_map_duration(o->clock, n->end - n->start);
	}
	is_jax = o->ranges.has_any;
	if (is_jax)
		attribute_image(o->context, image, o, add_correlated);
	jax_ranges_done(&o->ranges);
	jax_modules_done(&o->modules);
	return is_jax;
}

ROW_COMPARATOR(ops_in_order, struct op_sum,
	       order_of(b->device_ns, a->device_ns) ?: order_of(b->host_ns, a->host_ns) ?:
	       memcmp(row_a->key, row_b->key, smaller_of(row_a->key_size, row_b->key_size)))

static void ops_fill(struct jax_ops *o, struct table *table)
{
	uint64_t all = array_sum(one, o->keys.rows, o->keys.count, ((const struct op_sum *)one->more)->device_ns);

	aggregate_sort_by(&o->keys, ops_in_order);
	array_each(const struct aggregate_row, row, o->keys.rows, o->keys.count) {
		const struct op_sum *s = row->more;

		table_cells(table, share_percent((double)s->device_ns, (double)all), s->device_ns, s->kernels,
			    s->host_ns, s->instances, aggregate_field(row, 0));
		for (size_t field = 1; field < FIELDS; field++)
			table_cells(table, cell_if(*aggregate_field(row, field), aggregate_field(row, field)));
	}
}

void report_jax_ops_sum(const struct report_context *c, struct table *table)
{
	struct jax_ops o = {.context = c};
	bool is_jax = false;

	table_has(table, COL_GPU_PERCENT, COL_GPU_NS, COL_KERNELS, COL_HOST_NS, COL_INSTANCES, COL_OPERATION,
		  COL_HLO_MODULE, COL_FUNCTION, COL_SOURCE, COL_SCOPE, COL_LINE);
	table->hides_zeros = true;
	for (size_t i = 0; i < c->model->image_count; i++)
		is_jax |= ops_add_image(&o, &c->model->images[i]);
	ops_fill(&o, table);
	aggregate_done(&o.keys);
	if (!table_rows(table))
		table_lacks(table, "%s",
		       is_jax ? "XLA has neither ranges nor kernels here: it has them on NVIDIA's devices only"
			      : "no ranges of JAX or XLA: record with --jax");
}
