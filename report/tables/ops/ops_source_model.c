/* SPDX-License-Identifier: Apache-2.0 */
/* The ranges and kernels of captures. */
#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/attribute.h"
#include "report/events/nvtx/operator_call.h"
#include "report/names/attribution.h"
#include "report/read/operation.h"
#include "report/tables/ops/ops.h"

/* What calls of libraries with the same function and arguments do. */
struct known_call {
	bool is_known;
	struct operator_work work;
};

struct model_source {
	const struct report_context *context;
	const struct image *image;
	struct attribution attribution;
	struct nvtx_tree tree;
	struct ops ops;
	size_t range; /* while a call is visited */
	struct known_call *calls;
	size_t call_count, call_capacity;
	struct map call_numbers;     /* function and arguments -> place in `calls` */
	struct interval_tree spans;  /* calls of libraries whose work is known, with their place in `calls` */
	size_t span;		     /* while a call is visited */
	struct device_properties device; /* of device_number in the image device_of */
	const struct image *device_of;
	uint32_t device_number;
	ops_visit_kernel *visit; /* of ops_visit() */
	void *visit_context;
};

/* ---- what the table asks for ---- */

static void model_range_text(const void *source, size_t range, struct buffer *ret)
{
	const struct model_source *m = source;

	nvtx_tree_name(&m->tree, range, ret);
}

static void model_kernel_name(const void *source, uint32_t name, struct buffer *ret)
{
	const struct model_source *m = source;
	struct tf_device_operation w;

	if (device_operation(m->image->trace, name, &w))
		device_operation_name(m->context, m->image->trace, &w, ret);
}

static void model_line_text(void *source, uint32_t line, struct buffer *ret)
{
	struct model_source *m = source;

	attribution_text(&m->attribution, m->image, line, "", ret);
}

static bool model_call_work(const void *source, uint32_t call, struct operator_work *ret)
{
	const struct model_source *m = source;

	*ret = m->calls[m->spans.items[call - 1].value].work;
	return true;
}

static void model_modules_text(void *source, uint32_t line, struct buffer *ret)
{
	struct model_source *m = source;

	attribution_modules(&m->attribution, m->image, line, ret);
}

/* Kernels come by start, and devices take turns rarely. */
static const struct device_properties *model_device(void *source, uint32_t device)
{
	struct model_source *m = source;

	if (m->device_of != m->image || m->device_number != device) {
		m->device = device_properties(m->image->trace, device);
		m->device_of = m->image;
		m->device_number = device;
	}
	return &m->device;
}

/* ---- calls of libraries ---- */

static struct shape sizes_of(const struct tf_operation *op, unsigned int role)
{
	struct shape ret = {0};

	ret.rank = operation_fields(op, TF_FIELD_DIMENSION | role, (int64_t *)ret.sizes, RANK);
	return ret;
}

/* A gradient takes as many operations as the convolution. */
static bool convolution_of_call(const struct tf_operation *op, struct operator_work *ret)
{
	static const char name[] = "aten::cudnn_convolution";
	struct operator_call c = {.name = {name, sizeof(name) - 1}, .result = sizes_of(op, TF_ROLE_C)};

	c.sizes.items[c.sizes.count++] = sizes_of(op, TF_ROLE_A);
	c.sizes.items[c.sizes.count++] = sizes_of(op, TF_ROLE_B);
	return operator_call_work(&c, ret);
}

static bool product_of_call(const struct function *f, const struct tf_operation *op, struct operator_work *ret)
{
	double flops = operation_flops(f, op);
	int64_t sizes[3], batch = 1;
	unsigned int multiple;

	if (!operation_product(f, op, sizes, &multiple) || !(flops > 0 && flops < 1.8e19))
		return false;
	if (!operation_field(op, TF_FIELD_BATCH, &batch) && !operation_field(op, TF_FIELD_BATCH | TF_ROLE_D, &batch))
		operation_field(op, TF_FIELD_BATCH | TF_ROLE_C, &batch);
	operator_product_work(batch > 1 ? (uint64_t)batch : 1, (uint64_t)sizes[1], (uint64_t)sizes[0],
			      (uint64_t)sizes[2], ret);
	ret->flops = (uint64_t)flops; /* of complex numbers more */
	return true;
}

static struct known_call known_call(const struct function *f, const struct tf_operation *op)
{
	struct known_call ret = {0};

	if (operation_is_convolution(f, op))
		ret.is_known = convolution_of_call(op, &ret.work);
	else
		ret.is_known = product_of_call(f, op, &ret.work);
	ret.work.element = operation_element(f, op);
	ret.work.type = operation_type(f, op);
	return ret;
}

static void add_call(struct scan *s, const struct event *e)
{
	struct model_source *m = s->more;
	const struct function *f = event_function(s->image->trace, e);
	uint64_t operation = f && e->args_count ? tf_operation_id(event_arg(e, TF_ARG_OPERATION)) : 0;
	struct tf_operation op;
	size_t number;

	if (!operation || (f->group != TF_GROUP_CUBLAS && f->group != TF_GROUP_CUDNN))
		return;
	number = map_place(&m->call_numbers, e->id, operation, m->calls, m->call_count, m->call_capacity,
			   operation_of(s->image->trace, e, &op) ? known_call(f, &op) : (struct known_call){0});
	if (m->calls[number].is_known)
		interval_tree_add(&m->spans, s->thread, event_start(e), e->ticks, (uint32_t)number);
}

static void read_calls(struct model_source *m)
{
	struct scan s = {.context = m->context, .image = m->image, .more = m,
			 .groups = 1u << TF_GROUP_CUBLAS | 1u << TF_GROUP_CUDNN};

	m->call_count = 0;
	scan_image(&s, add_call);
	interval_tree_build(&m->spans);
}

/* ---- kernels ---- */

static void visit_range(void *context, size_t node)
{
	((struct model_source *)context)->range = node;
}

static void visit_span(void *context, size_t span)
{
	((struct model_source *)context)->span = span;
}

static void add_correlated(void *context, const struct correlated *k)
{
	struct model_source *m = context;
	struct op op = {0};
	struct tf_device_operation w;

	m->range = NVTX_NO_PARENT;
	m->span = SIZE_MAX;
	if (k->thread) {
		attribute_ranges(&m->tree, k, m, visit_range);
		interval_tree_around(&m->spans, k->thread, event_start(&k->event), k->event.ticks, m, visit_span);
		op.tid = k->thread->tid;
		op.line = event_stack(&k->event);
		op.replay = k->launch ? k->launch->correlation : 0;
	}
	op.range = m->range;
	op.call = m->span == SIZE_MAX ? 0 : (uint32_t)m->span + 1;
	for (size_t i = 0; i < k->record_count; i++) {
		if (!device_operation(m->image->trace, k->records[i].operation, &w) || w.kind != TF_DEVICE_KERNEL)
			continue;
		op.start_ns = k->records[i].start_ns;
		op.duration_ns = k->records[i].duration_ns;
		op.name = k->records[i].operation;
		op.device = w.device;
		op.stream = w.stream;
		memcpy(op.grid, w.grid, sizeof(op.grid));
		memcpy(op.block, w.block, sizeof(op.block));
		ops_add(&m->ops, &op);
	}
}

static void add_image(struct model_source *m, const struct image *image, struct table *table)
{
	if (!device_source(image->trace).is_known)
		return;
	m->image = image;
	nvtx_tree_make(&m->tree, image, true);
	read_calls(m);
	attribute_image(m->context, image, m, add_correlated);
	m->ops.ranges = m->tree.nodes;
	m->ops.range_count = m->tree.count;
	ops_rows(&m->ops, table);
	interval_tree_done(&m->spans);
	map_done(&m->call_numbers);
	m->call_numbers = (struct map){0};
	nvtx_tree_done(&m->tree);
}

static void read_model(struct model_source *m, struct table *table)
{
	const struct model *model = m->context->model;

	m->attribution.symbols = m->context->symbols;
	m->ops.source = m;
	m->ops.range_text = model_range_text;
	m->ops.kernel_name = model_kernel_name;
	m->ops.line_text = model_line_text;
	m->ops.modules_text = model_modules_text;
	m->ops.call_work = model_call_work;
	m->ops.device = model_device;
	for (size_t i = 0; i < model->image_count; i++)
		if (model->images[i].trace)
			add_image(m, &model->images[i], table);
	attribution_done(&m->attribution);
	free(m->calls);
	ops_done(&m->ops);
}

void ops_of_model(const struct report_context *c, struct table *table)
{
	struct model_source m = {.context = c};

	read_model(&m, table);
}

/* ---- each kernel ---- */

static void visit_kernel(void *source, const struct op *op, const struct ops_rate *rate, uint32_t line)
{
	const struct model_source *m = source;

	m->visit(m->visit_context, m->image, op, rate, line);
}

void ops_visit(const struct report_context *c, void *context, ops_visit_kernel *visit)
{
	struct model_source m = {.context = c, .ops.visit = visit_kernel, .visit = visit, .visit_context = context};

	read_model(&m, NULL);
}

bool ops_may_know_work(const struct model *m)
{
	const uint32_t groups = 1u << TF_GROUP_CUBLAS | 1u << TF_GROUP_CUDNN;

	return array_find(image, m->images, m->image_count, trace_bits(image->trace).groups & groups) ||
	       nvtx_has_operators(m);
}
