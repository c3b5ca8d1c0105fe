/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_gpu_kern_sum, cuda_gpu_kern_gb_sum, cuda_gpu_mem_time_sum, cuda_gpu_mem_size_sum, cuda_gpu_sum: device records
 * by name. */
#include <stdlib.h>

#include "report/events/cuda/attribute.h"
#include "report/events/cuda/device.h"
#include "report/tables/report.h"

/* Which operations a report covers, and which of their values it aggregates. */
struct gpu_sum {
	uint32_t kinds; /* bits of enum tf_device_operation_kind */
	bool has_category, has_shape, in_bytes;
	const char *range; /* that the names of kernels begin with; NULL: none */
};

/* Distinguishes keys of device operations from those of CUDA calls in a report that has both. */
#define A_CALL ((uint64_t)1 << 32)

/* As nsys prints it: three numbers of four digits. */
static void shape_field(const uint32_t sizes[3], struct buffer *fields)
{
	buffer_print(fields, "%4u %4u %4u%c", sizes[0], sizes[1], sizes[2], 0);
}

static bool operation_key(struct scan *s, const void *id, struct buffer *fields)
{
	const struct gpu_sum *g = s->more;
	const struct trace *t = s->image->trace;
	struct tf_device_operation operation;
	bool is_kernel;

	if (!device_operation(t, *(const uint32_t *)id, &operation))
		operation = (struct tf_device_operation){.kind = TF_DEVICE_KERNEL};
	if (operation.kind >= 32 || !(g->kinds & 1u << operation.kind))
		return false;
	if (s->context->by == BY_DEVICE)
		device_name(t, operation.device, &s->device);
	is_kernel = operation.kind == TF_DEVICE_KERNEL;
	if (g->has_shape) {
		shape_field(operation.grid, fields);
		shape_field(operation.block, fields);
	}
	if (g->has_category) {
		buffer_field(fields, is_kernel || operation.kind == TF_DEVICE_GRAPH ? "CUDA_KERNEL" : "MEMORY_OPER");
	}
	if (g->range && is_kernel)
		buffer_print(fields, "%s/", g->range);
	device_operation_name(s->context, t, &operation, fields);
	return true;
}

static void gpu_visit_record(struct scan *s, const struct device_record *r)
{
	const struct gpu_sum *g = s->more;
	uint64_t start = s->context->by == BY_RANGE ? clock_map_ticks(s->clock, r->start_ns) : 0;
	uint32_t row = scan_row_of(s, start, r->operation, operation_key, &r->operation);

	if (row != SCAN_NO_ROW)
		aggregate_add(s->aggregate, row, g->in_bytes ? r->bytes : r->duration_ns);
}

/* ---- :nvtx-name ---- */

struct ranged {
	struct scan *scan;
	struct nvtx_tree tree;
	size_t node; /* the innermost range around a call */
};

static void ranged_node(void *context, size_t node)
{
	((struct ranged *)context)->node = node; /* those inside are last */
}

static void ranged_visit(void *context, const struct correlated *k)
{
	struct ranged *r = context;
	struct scan *s = r->scan;
	struct gpu_sum *g = s->more;
	SCOPED(buffer) name = {0}, fields = {0}, key = {0};

	r->node = SIZE_MAX;
	if (k->thread)
		attribute_ranges(&r->tree, k, r, ranged_node);
	if (r->node != SIZE_MAX)
		nvtx_tree_sum_name(&r->tree, r->node, &name);
	g->range = name.size ? name.data : NULL;
	array_each(const struct device_record, record, k->records, k->record_count) {
		uint64_t start = s->context->by == BY_RANGE ? clock_map_ticks(s->clock, record->start_ns) : 0;

		buffer_clear(&fields);
		buffer_clear(&key);
		buffer_clear(&s->device);
		if (!operation_key(s, &record->operation, &fields))
			continue;
		scan_group(s, s->context->by == BY_THREAD ? 0 : scan_range(s, start), &key);
		buffer_add(&key, fields.data, fields.size);
		aggregate_add(s->aggregate, scan_row(s, &key), record->duration_ns);
	}
	buffer_done(&s->device);
}

/* Reads the records with the ranges of their calls. */
static void scan_ranged(struct scan *s)
{
	const struct model *m = s->context->model;

	for (size_t i = 0; i < m->image_count; i++) {
		struct ranged r = {.scan = s};

		if (!m->images[i].trace || !scan_is_mine(s->context, &m->images[i]))
			continue;
		s->image = &m->images[i];
		s->clock = &m->machines[s->image->machine].clock;
		nvtx_tree_make(&r.tree, s->image, false);
		attribute_image(s->context, s->image, &r, ranged_visit);
		nvtx_tree_done(&r.tree);
	}
}

/* ---- reports ---- */

static bool *images_with_source(const struct model *m, bool *ret_any)
{
	bool *has = mem_alloc((m->image_count + 1) * sizeof(*has));

	for (size_t i = 0; i < m->image_count; i++)
		*ret_any |= has[i] = device_source(m->images[i].trace).is_known;
	return has;
}

static void device_pass(struct scan *s)
{
	if (s->context->kernel_ranges)
		scan_ranged(s);
	else
		device_scan(s, gpu_visit_record, NULL);
}

#define DEVICE_TIME .total = COL_TOTAL_TIME_NS, .has_percent = true

static const struct sum_report by_name = {
	{DEVICE_TIME, .count = COL_INSTANCES, .names = {COL_NAME}}, .pass = device_pass, .is_of_device = true};

void report_cuda_gpu_kern_sum(const struct report_context *c, struct table *table)
{
	report_sums(c, table, &by_name, &(struct gpu_sum){.kinds = 1u << TF_DEVICE_KERNEL});
}

void gpu_work_sum(const struct report_context *c, struct table *table)
{
	struct gpu_sum g = {.kinds = 1u << TF_DEVICE_KERNEL | 1u << TF_DEVICE_GRAPH};

	report_sums(c, table, &by_name, &g);
}

void report_cuda_gpu_kern_gb_sum(const struct report_context *c, struct table *table)
{
	static const struct sum_report report = {
		{DEVICE_TIME, .count = COL_INSTANCES, .names = {COL_GRIDXYZ, COL_BLOCKXYZ, COL_NAME}},
		.pass = device_pass,
		.is_of_device = true};

	report_sums(c, table, &report,
			   &(struct gpu_sum){.kinds = 1u << TF_DEVICE_KERNEL, .has_shape = true});
}

void report_cuda_gpu_mem_time_sum(const struct report_context *c, struct table *table)
{
	static const struct sum_report report = {{DEVICE_TIME, .count = COL_COUNT, .names = {COL_OPERATION}},
						 .pass = device_pass,
						 .is_of_device = true};

	report_sums(c, table, &report,
			   &(struct gpu_sum){.kinds = 1u << TF_DEVICE_COPY | 1u << TF_DEVICE_SET});
}

void report_cuda_gpu_sum(const struct report_context *c, struct table *table)
{
	static const struct sum_report report = {
		{DEVICE_TIME, .count = COL_INSTANCES, .names = {COL_CATEGORY, COL_OPERATION}},
		.pass = device_pass,
		.is_of_device = true};

	report_sums(c, table, &report, &(struct gpu_sum){.kinds = ~0u, .has_category = true});
}

static bool gpu_call_key(struct scan *s, const void *function, struct buffer *fields)
{
	buffer_add(fields, "CUDA_API", sizeof("CUDA_API"));
	return scan_name_key(s, function, fields);
}

static void gpu_visit_call(struct scan *s, const struct event *e)
{
	const struct function *f = event_function(s->image->trace, e);

	if (f && f->kind.cuda)
		scan_add_call(s, e, A_CALL | e->id, gpu_call_key, f);
}

static void calls_and_device_pass(struct scan *s)
{
	struct scan host = *s, device = *s;

	scan_events(&host, gpu_visit_call);
	device_scan(&device, gpu_visit_record, NULL);
}

void report_cuda_api_gpu_sum(const struct report_context *c, struct table *table)
{
	static const struct sum_report report = {
		{DEVICE_TIME, .count = COL_INSTANCES, .names = {COL_CATEGORY, COL_OPERATION}},
		.pass = calls_and_device_pass};

	report_sums(c, table, &report, &(struct gpu_sum){.kinds = ~0u, .has_category = true});
}

struct copied {
	struct gpu_sum device;
	bool *has_source; /* by image: see host_copy_visit */
};

static void copies_pass(struct scan *s)
{
	struct copied *copied = s->more;
	struct scan host = *s, device = *s;

	host.more = copied->has_source;
	host.args = 1u << TF_ARG_COPY;
	device.more = &copied->device;
	scan_events(&host, host_copy_visit);
	device_scan(&device, gpu_visit_record, NULL);
}

void report_cuda_gpu_mem_size_sum(const struct report_context *c, struct table *table)
{
	static const struct sum_report report = {
		{.total = COL_TOTAL_MB, .count = COL_COUNT, .names = {COL_OPERATION}}, .pass = copies_pass};
	struct copied copied = {.device = {.kinds = 1u << TF_DEVICE_COPY | 1u << TF_DEVICE_SET, .in_bytes = true}};
	bool any = false;

	copied.has_source = images_with_source(c->model, &any);
	report_sums(c, table, &report, &copied);
	free(copied.has_source);
}
