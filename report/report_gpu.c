/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_gpu_kern_sum, cuda_gpu_mem_time_sum, cuda_gpu_mem_size_sum, cuda_gpu_sum: device records by name. */
#include <errno.h>
#include <stdlib.h>

#include "report.h"

enum { NO_ROW = UINT32_MAX };

/* Which work a report is about, and what of it is summed. */
struct gpu_sum {
	uint32_t kinds; /* bits of enum tf_work_kind */
	bool has_category, in_bytes;
};

static uint32_t make_row(struct scan *s, uint32_t id, uint32_t range, const struct gpu_sum *g)
{
	const struct trace *t = s->image->trace;
	struct buffer key = {0}, device = {0};
	struct tf_work work;
	uint32_t row;

	if (!device_work(t, id, &work))
		work = (struct tf_work){.kind = TF_WORK_KERNEL};
	if (work.kind >= 32 || !(g->kinds & 1u << work.kind))
		return NO_ROW;
	if (s->context->by == BY_DEVICE)
		device_name(t, work.device, &device);
	s->device = device.data;
	scan_group(s, range, &key);
	if (g->has_category) {
		buffer_text(&key, work.kind == TF_WORK_KERNEL || work.kind == TF_WORK_GRAPH ? "CUDA_KERNEL" : "MEMORY_OPER");
		buffer_add(&key, "", 1);
	}
	device_operation(s->context, t, &work, &key);
	row = scan_row(s, &key);
	s->device = NULL;
	buffer_done(&key);
	buffer_done(&device);
	return row;
}

static void visit(struct scan *s, const struct device_record *r)
{
	const struct gpu_sum *g = s->more;
	uint32_t range = s->context->by == BY_RANGE ? scan_range(s, axis_ticks(s->axis, r->start_ns)) : 0, row;
	uint64_t a = (uint64_t)(s->image - s->context->model->images) << 32 | range;
	const uint64_t *known = sums_recall(s->sums, a, r->work);

	row = known ? (uint32_t)*known : make_row(s, r->work, range, g);
	if (!known)
		sums_remember(s->sums, a, r->work, row);
	if (row != NO_ROW)
		sums_add(s->sums, row, g->in_bytes ? r->bytes : r->duration_ns);
}

static bool *images_with_source(const struct model *m, bool *ret_any)
{
	bool *has = mem_alloc((m->image_count + 1) * sizeof(*has));

	for (size_t i = 0; i < m->image_count; i++)
		*ret_any |= has[i] = device_source(m->images[i].trace).is_known;
	return has;
}

static bool has_device_work(const struct model *m)
{
	for (size_t i = 0; i < m->image_count; i++)
		for (size_t k = 0; m->images[i].trace && k < m->images[i].trace->thread_count; k++)
			if (m->images[i].trace->threads[k].args & (1u << TF_ARG_COPY | 1u << TF_ARG_LAUNCH))
				return true;
	return false;
}

/* "Nothing was launched" and "there are no device records of it" are different answers. */
int device_none(const struct model *m, struct err *err)
{
	bool any = false;

	free(images_with_source(m, &any));
	if (any || !has_device_work(m))
		return 0;
	return err_set(err, -ENODATA, "no device records, cuda_api_sum and cuda_launch_sum show the host's side; ledger says why");
}

static int by_time(const struct report_context *c, struct table *table, struct err *err, struct gpu_sum g, const struct sums_shape *shape)
{
	struct sums sums = {.totals_only = c->totals_only};
	struct scan s = {.context = c, .sums = &sums, .more = &g};

	do
		device_scan(&s, visit, NULL);
	while (sums_next_pass(&sums));
	sums_table(c, &sums, shape, table);
	sums_done(&sums);
	return table_rows(table) ? 0 : device_none(c->model, err);
}

int report_cuda_gpu_kern_sum(const struct report_context *c, struct table *table, struct err *err)
{
	static const struct sums_shape shape = {
		.total = "Total Time (ns)", .count = "Instances", .type = COLUMN_NS, .names = {"Name"}, .has_percent = true};

	return by_time(c, table, err, (struct gpu_sum){.kinds = 1u << TF_WORK_KERNEL}, &shape);
}

int report_cuda_gpu_mem_time_sum(const struct report_context *c, struct table *table, struct err *err)
{
	static const struct sums_shape shape = {
		.total = "Total Time (ns)", .count = "Count", .type = COLUMN_NS, .names = {"Operation"}, .has_percent = true};

	return by_time(c, table, err, (struct gpu_sum){.kinds = 1u << TF_WORK_COPY | 1u << TF_WORK_SET}, &shape);
}

int report_cuda_gpu_sum(const struct report_context *c, struct table *table, struct err *err)
{
	static const struct sums_shape shape = {.total = "Total Time (ns)",
						.count = "Instances",
						.type = COLUMN_NS,
						.names = {"Category", "Operation"},
						.has_percent = true};

	return by_time(c, table, err, (struct gpu_sum){.kinds = ~0u, .has_category = true}, &shape);
}

static uint32_t call_row(struct scan *s, const struct function *f, uint32_t range)
{
	struct buffer key = {0};
	uint32_t row;

	scan_group(s, range, &key);
	buffer_print(&key, "CUDA_API%c%s", 0, f->name);
	row = scan_row(s, &key);
	buffer_done(&key);
	return row;
}

static void visit_call(struct scan *s, const struct event *e)
{
	const struct function *f = e->kind == TF_CALL ? trace_function(s->image->trace, e->id) : NULL;
	uint32_t range = scan_range(s, event_start(e)), row;
	uint64_t a = (uint64_t)(s->image - s->context->model->images) << 32 | range, b = (uint64_t)1 << 32 | e->id;
	const uint64_t *known;

	if (!f || (f->group != TF_GROUP_CUDA && f->group != TF_GROUP_CUDA_DRIVER))
		return;
	known = sums_recall(s->sums, a, b);
	row = known ? (uint32_t)*known : call_row(s, f, range);
	if (!known)
		sums_remember(s->sums, a, b, row);
	sums_add(s->sums, row, axis_duration(s->axis, e->duration));
}

int report_cuda_api_gpu_sum(const struct report_context *c, struct table *table, struct err *err)
{
	static const struct sums_shape shape = {.total = "Total Time (ns)",
						.count = "Instances",
						.type = COLUMN_NS,
						.names = {"Category", "Operation"},
						.has_percent = true};
	struct gpu_sum g = {.kinds = ~0u, .has_category = true};
	struct sums sums = {.totals_only = c->totals_only};
	struct scan host = {.context = c, .sums = &sums}, device = {.context = c, .sums = &sums, .more = &g};

	(void)err;
	do {
		scan_events(&host, visit_call);
		device_scan(&device, visit, NULL);
	} while (sums_next_pass(&sums));
	sums_table(c, &sums, &shape, table);
	sums_done(&sums);
	return 0;
}

int report_cuda_gpu_mem_size_sum(const struct report_context *c, struct table *table, struct err *err)
{
	static const struct sums_shape shape = {
		.total = "Total (MB)", .count = "Count", .type = COLUMN_MB, .names = {"Operation"}};
	struct gpu_sum g = {.kinds = 1u << TF_WORK_COPY | 1u << TF_WORK_SET, .in_bytes = true};
	struct sums sums = {.totals_only = c->totals_only};
	bool any = false, *has = images_with_source(c->model, &any);
	struct scan host = {.context = c, .sums = &sums, .args = 1u << TF_ARG_COPY, .more = has};
	struct scan device = {.context = c, .sums = &sums, .more = &g};

	(void)err;
	do {
		scan_events(&host, host_copy_visit);
		device_scan(&device, visit, NULL);
	} while (sums_next_pass(&sums));
	sums_table(c, &sums, &shape, table);
	sums_done(&sums);
	free(has);
	return 0;
}
