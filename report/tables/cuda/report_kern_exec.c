/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_kern_exec_sum, cuda_kern_exec_trace: kernels with their call, queue time and execution. */
#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/correlate.h"
#include "report/tables/sorted_rows.h"

/* CLOCK_REALTIME. The queue time is the time between call and kernel, if any. */
struct execution {
	uint64_t call_start, call_end, start, end;
	bool has_queue;
};

static struct execution execution_of(const struct report_context *c, const struct correlated *k,
				     const struct device_record *r)
{
	const struct clock_map *clock = &c->model->machines[k->image->machine].clock;
	struct execution e = {.call_end = clock_map_ns(clock, k->event.ticks),
			      .start = clock_map_monotonic(clock, r->start_ns)};

	e.call_start = e.call_end - clock_map_duration(clock, k->event.duration);
	e.end = e.start + r->duration_ns;
	e.has_queue = e.start >= e.call_end;
	return e;
}

static uint64_t total_ns(const struct execution *e)
{
	return (e->end > e->call_end ? e->end : e->call_end) - e->call_start;
}

/* The function's name, "" if it was lost. */
static const char *call_name(const struct correlated *k)
{
	const struct function *f = trace_function(k->image->trace, k->event.id);

	return f ? f->name : "";
}

/* ---- the summary ---- */

enum exec_part { PART_TOTAL, PART_CALL, PART_QUEUE, PART_KERNEL, PARTS };

/* The begin of a key; the names of the call and of the kernel follow. */
struct exec_key {
	uint32_t process, pid, tid, device;
};

struct exec_summary {
	const struct report_context *context;
	struct aggregate parts[PARTS]; /* they have the same row numbers */
};

enum { NO_ROW = UINT32_MAX };

static uint32_t exec_make_row(struct exec_summary *s, const struct correlated *k, uint32_t id)
{
	SCOPED(buffer) key = {0};
	struct tf_device_operation operation;
	uint32_t row = NO_ROW;

	if (!device_operation(k->image->trace, id, &operation))
		operation = (struct tf_device_operation){.kind = TF_DEVICE_KERNEL};
	if (operation.kind == TF_DEVICE_KERNEL) {
		buffer_add(&key,
			   &(struct exec_key){(uint32_t)k->image->process, k->image->pid, k->thread->tid,
					      operation.device},
			   sizeof(struct exec_key));
		buffer_print(&key, "%s%c", call_name(k), 0);
		device_operation_name(s->context, k->image->trace, &operation, &key);
		buffer_add(&key, "", 1);
		for (int part = 0; part < PARTS; part++)
			row = aggregate_row(&s->parts[part], key.data, key.size);
	}
	return row;
}

static void exec_add_correlated(void *context, const struct correlated *k)
{
	struct exec_summary *s = context;
	uint64_t a = k->thread ? (uint64_t)(k->image - s->context->model->images) << 32 | k->thread->number : 0;

	for (size_t i = 0; k->thread && i < k->record_count; i++) {
		const struct device_record *r = &k->records[i];
		uint64_t b = (uint64_t)k->event.id << 32 | r->operation;
		const uint64_t *known = aggregate_recall(s->parts, a, b);
		uint32_t row = known ? (uint32_t)*known : exec_make_row(s, k, r->operation);
		struct execution e = execution_of(s->context, k, r);

		if (!known)
			aggregate_remember(s->parts, a, b, row);
		if (row == NO_ROW)
			continue;
		aggregate_add(&s->parts[PART_TOTAL], row, total_ns(&e));
		aggregate_add(&s->parts[PART_CALL], row, e.call_end - e.call_start);
		if (e.has_queue)
			aggregate_add(&s->parts[PART_QUEUE], row, e.start - e.call_end);
		aggregate_add(&s->parts[PART_KERNEL], row, r->duration_ns);
	}
}

static bool next_pass(struct exec_summary *s)
{
	bool again = false;

	for (int part = 0; part < PARTS; part++)
		again |= aggregate_next_pass(&s->parts[part]);
	return again;
}

static double mean_of_row(const struct aggregate_row *r)
{
	return r->count ? (double)r->total / (double)r->count : 0;
}

PLACE_COMPARATOR(by_mean, struct aggregate_row,
		 (mean_of_row(a) < mean_of_row(b)) - (mean_of_row(a) > mean_of_row(b)))

static void part_cells(struct table *table, const struct aggregate_row *r)
{
	if (!r->count) {
		table_nothings(table, 4);
		table_real(table, 0); /* like nsys */
		return;
	}
	table_real(table, mean_of_row(r));
	spread_cells(table, r);
}

static void summary_row(struct exec_summary *s, struct table *table, size_t row)
{
	const struct aggregate_row *total = &s->parts[PART_TOTAL].rows[row];
	const struct exec_key *key = (const void *)total->key;
	const char *call = (const char *)(key + 1);

	table_cells(table, key->pid, key->tid, key->device, total->count, s->parts[PART_QUEUE].rows[row].count);
	for (int part = 0; part < PARTS; part++)
		part_cells(table, &s->parts[part].rows[row]);
	table_cells(table, call, call + strlen(call) + 1);
}

static void summary_table(struct exec_summary *s, struct table *table)
{
	size_t count = s->parts[PART_TOTAL].count, *order = places_in_order(count, by_mean, s->parts[PART_TOTAL].rows);

	table_has(table, COL_PID, COL_TID, COL_DEVID, COL_COUNT, COL_QCOUNT, COL_TAVG_NS, COL_TMED_NS, COL_TMIN_NS,
		  COL_TMAX_NS, COL_TSTDDEV_NS, COL_AAVG_NS, COL_AMED_NS, COL_AMIN_NS, COL_AMAX_NS, COL_ASTDDEV_NS,
		  COL_QAVG_NS, COL_QMED_NS, COL_QMIN_NS, COL_QMAX_NS, COL_QSTDDEV_NS, COL_KAVG_NS, COL_KMED_NS,
		  COL_KMIN_NS, COL_KMAX_NS, COL_KSTDDEV_NS, COL_API_NAME, COL_KERNEL_NAME);
	for (size_t i = 0; i < count; i++)
		summary_row(s, table, order[i]);
	free(order);
}

void report_cuda_kern_exec_sum(const struct report_context *c, struct table *table)
{
	struct exec_summary s = {.context = c};

	do
		for (size_t i = 0; i < c->model->image_count; i++)
			correlate_image(c, &c->model->images[i], &s, exec_add_correlated, NULL);
	while (next_pass(&s));
	summary_table(&s, table);
	for (int part = 0; part < PARTS; part++)
		aggregate_done(&s.parts[part]);
	device_none(c->model, table);
}

/* ---- the trace ---- */

struct kernel_row {
	struct sorted_row sorted; /* by the starts of the call and the kernel */
	struct execution times;
	const struct image *image;
	const char *call;
	uint32_t tid, operation;
};

static void kernel_add(void *context, const struct correlated *k)
{
	struct sorted_rows *rows = context;

	for (size_t i = 0; k->thread && i < k->record_count; i++) {
		struct execution times = execution_of(rows->context, k, &k->records[i]);
		struct tf_device_operation operation;
		struct kernel_row *row;

		if (device_operation(k->image->trace, k->records[i].operation, &operation) &&
		    operation.kind != TF_DEVICE_KERNEL)
			continue;
		row = sorted_rows_add(rows, times.call_start, times.start, 0);
		row->times = times;
		row->image = k->image;
		row->call = call_name(k);
		row->tid = k->thread->tid;
		row->operation = k->records[i].operation;
	}
}

static void kernels_collect(struct sorted_rows *rows)
{
	const struct report_context *c = rows->context;

	for (size_t i = 0; i < c->model->image_count; i++)
		correlate_image(c, &c->model->images[i], rows, kernel_add, NULL);
}

static void shape_cell(struct table *table, const uint32_t *shape)
{
	char text[48];

	snprintf(text, sizeof(text), "%4u %4u %4u", shape[0], shape[1], shape[2]);
	table_text(table, text);
}

static void kernel_row_cells(struct sorted_rows *rows, const void *of, struct table *table)
{
	const struct kernel_row *row = of;
	const struct execution *e = &row->times;
	const struct model *m = rows->context->model;
	struct tf_device_operation operation;
	SCOPED(buffer) name = {0};

	if (!device_operation(row->image->trace, row->operation, &operation))
		operation = (struct tf_device_operation){.kind = TF_DEVICE_KERNEL};
	table_cells(table, model_since_origin(m, e->call_start), e->call_end - e->call_start,
		    cell_if(e->has_queue, model_since_origin(m, e->call_end)),
		    cell_if(e->has_queue, e->start - e->call_end), model_since_origin(m, e->start), e->end - e->start,
		    total_ns(e), row->image->pid, row->tid, operation.device, row->call);
	shape_cell(table, operation.grid);
	shape_cell(table, operation.block);
	device_operation_name(rows->context, row->image->trace, &operation, &name);
	table_text(table, buffer_string(&name));
}

void report_cuda_kern_exec_trace(const struct report_context *c, struct table *table)
{
	static const struct row_report report = {
		{COL_API_START_NS, COL_API_DUR_NS, COL_QUEUE_START_NS, COL_QUEUE_DUR_NS, COL_KERNEL_START_NS,
		 COL_KERNEL_DUR_NS, COL_TOTAL_DUR_NS, COL_PID, COL_TID, COL_DEVID, COL_API_FUNCTION, COL_GRIDXYZ,
		 COL_BLOCKXYZ, COL_KERNEL_NAME},
		sizeof(struct kernel_row), kernels_collect, kernel_row_cells};

	report_rows(c, table, &report, NULL);
	device_none(c->model, table);
}
