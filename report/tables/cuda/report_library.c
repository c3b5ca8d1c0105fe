/* SPDX-License-Identifier: Apache-2.0 */
/* blas_sum, cudnn_sum, ..., nccl_sum: library calls by function and operation. */
#include <inttypes.h>
#include <string.h>

#include "report/events/cuda/correlate.h"
#include "report/events/interval_tree.h"
#include "report/read/operation.h"
#include "report/tables/report.h"

/* One report: how a call becomes a key; the last field of the key is a number that is not shown. */
struct library_report {
	uint32_t groups;
	void (*key)(const struct function *f, const struct tf_operation *op, struct buffer *key);
	struct aggregate_shape shape;
};

/* ---- keys ---- */

static void library_add_value(const struct function *f, const struct tf_operation *op, unsigned int field,
			      struct buffer *key)
{
	operation_value(op, f->group, field, key);
	buffer_field(key, "");
}

static void shape_key(const struct function *f, const struct tf_operation *op, struct buffer *key)
{
	operation_text(op, f->group, key);
	buffer_field(key, "");
}

static void blas_key(const struct function *f, const struct tf_operation *op, struct buffer *key)
{
	shape_key(f, op, key);
	buffer_print(key, "%.0f%c", operation_flops(f, op), 0);
}

/* Name, count, type, operation, peer, communicator, "0 of 8". A communicator is named as in all ranks, else by the
 * handle of the process. */
static void message_key(const struct function *f, const struct tf_operation *op, struct buffer *key)
{
	int64_t rank, ranks;

	library_add_value(f, op, TF_FIELD_COUNT, key);
	library_add_value(f, op, TF_FIELD_TYPE, key);
	library_add_value(f, op, TF_FIELD_REDUCTION, key);
	library_add_value(f, op, TF_FIELD_PEER, key);
	if (!operation_value(op, f->group, TF_FIELD_COMMUNICATOR_ID, key))
		operation_value(op, f->group, TF_FIELD_COMMUNICATOR, key);
	buffer_field(key, "");
	if (operation_field(op, TF_FIELD_RANK, &rank) && operation_field(op, TF_FIELD_RANKS, &ranks))
		buffer_print(key, "%" PRId64 " of %" PRId64, rank, ranks);
	buffer_field(key, "");
	buffer_print(key, "%.0f%c", operation_bytes(f, op), 0);
}

/* ---- columns derived from the number of a key ---- */

static void total_cell(struct table *table, const struct aggregate_row *row, double number)
{
	bool is_known = number > 0 && number * (double)row->count < 1.8e19;

	table_cells(table, cell_if(is_known, is_known ? (uint64_t)(number * (double)row->count) : 0));
}

/* NCCL calls only enqueue a kernel: their duration does not depend on the size. */
static void device_rate_cell(struct table *table, const struct aggregate_row *row, double number)
{
	rate_cell(table, number * (double)row->count, row->report_value);
}

/* Device time of the CUDA calls that the library made. */
static void device_cell(struct table *table, const struct aggregate_row *row, double number)
{
	(void)number;
	table_cells(table, cell_if(row->report_value, row->report_value));
}

/* ---- the reports ---- */

struct library_call {
	const struct library_report *kind;
	const struct function *function;
	const struct event *event;
};

static bool library_call_key(struct scan *s, const void *of, struct buffer *fields)
{
	const struct library_call *c = of;
	struct tf_operation op;

	operation_of(s->image->trace, c->event, &op);
	buffer_field(fields, c->function->name);
	c->kind->key(c->function, &op, fields);
	return true;
}

/* The row of the call. False: it is not a call of these libraries. */
static bool find_row(struct scan *s, const struct library_report *kind, const struct event *e, uint32_t *ret)
{
	const struct function *f = event_function(s->image->trace, e);
	uint64_t operation = e->args_count ? tf_operation_id(event_arg(e, TF_ARG_OPERATION)) : 0;

	if (!f || f->group >= TF_GROUP_COUNT || !(kind->groups & 1u << f->group))
		return false;
	*ret = scan_row_of(s, event_start(e), (uint64_t)e->id << 48 | operation, library_call_key,
			   &(struct library_call){kind, f, e});
	return true;
}

static void library_read(struct scan *s, struct cursor *c)
{
	struct event e;
	uint32_t row;

	while (cursor_next(c, &e))
		if (find_row(s, s->more, &e, &row))
			aggregate_add(s->aggregate, row, clock_map_duration(s->clock, e.duration));
}

/* ---- device time ---- */

struct device_time {
	struct scan scan;
	const struct library_report *kind;
	struct interval_tree intervals; /* the library calls of one image, with their rows */
	size_t innermost;
};

static void add_span(struct scan *s, const struct event *e)
{
	struct device_time *d = s->more;
	uint32_t row;

	if (find_row(s, d->kind, e, &row))
		interval_tree_add(&d->intervals, s->thread, event_start(e), e->ticks, row);
}

static void take_innermost(void *context, size_t span)
{
	((struct device_time *)context)->innermost = span;
}

static void library_add_correlated(void *context, const struct correlated *k)
{
	struct device_time *d = context;

	if (!k->thread || !k->record_count)
		return;
	d->innermost = SIZE_MAX;
	interval_tree_around(&d->intervals, k->thread, event_start(&k->event), k->event.ticks, d, take_innermost);
	for (size_t i = 0; d->innermost != SIZE_MAX && i < k->record_count; i++)
		d->scan.aggregate->rows[d->intervals.items[d->innermost].value].report_value +=
			k->records[i].duration_ns;
}

static void add_device_time(const struct report_context *c, struct aggregate *aggregate,
			    const struct library_report *kind)
{
	struct device_time d = {.scan = {.context = c, .aggregate = aggregate, .groups = kind->groups}, .kind = kind};

	d.scan.more = &d;
	for (size_t i = 0; i < c->model->image_count; i++) {
		d.scan.image = &c->model->images[i];
		scan_image(&d.scan, add_span);
		interval_tree_build(&d.intervals);
		if (d.intervals.count)
			correlate_image(c, d.scan.image, &d, library_add_correlated, NULL);
		interval_tree_done(&d.intervals);
	}
}

static void library_report(const struct report_context *c, struct table *table, const struct library_report *kind)
{
	SCOPED(aggregate) aggregate = {0};
	struct scan s = {.context = c, .aggregate = &aggregate, .groups = kind->groups, .more = (void *)kind};

	scan_aggregate_parts(&s, library_read);
	if (!share_self(c->share))
		add_device_time(c, &aggregate, kind);
	aggregate_table(c, &aggregate, &kind->shape, table);
}

#define DEVICE {COL_GPU_TIME_NS, device_cell}
#define TIMES .total = COL_TOTAL_TIME_NS, .count = COL_NUM_CALLS, .has_percent = true

/* What a report shows besides calls and their time: shapes, the work done, rates of messages by device time. The report
 * of MPI is in report_mpi.c. */
#define SHAPES shape_key, {TIMES, .names = {COL_NAME, COL_SHAPE}, .more = {DEVICE}}
#define FLOPS blas_key, {TIMES, .names = {COL_NAME, COL_SHAPE}, .more = {{COL_FLOP, total_cell}, DEVICE}}
#define MESSAGES												       \
	message_key,												       \
	{													       \
		TIMES,												       \
			.names = {COL_NAME, COL_COUNT_TEXT, COL_TYPE, COL_OPERATION, COL_PEER, COL_COMMUNICATOR,       \
				  COL_COMM_RANK},								       \
			.more = {{COL_BYTES, total_cell}, {COL_BANDWIDTH_GB_PER_S, device_rate_cell}, DEVICE}	       \
	}

#define LIBRARY_REPORT(report, NAME, form)                                                                             \
	void report_##report(const struct report_context *c, struct table *table)                                      \
	{                                                                                                              \
		static const struct library_report kind = {1u << TF_GROUP_##NAME, form};                               \
                                                                                                                       \
		library_report(c, table, &kind);                                                                \
	}

LIBRARY_REPORT(blas_sum, CUBLAS, FLOPS)
LIBRARY_REPORT(cudnn_sum, CUDNN, SHAPES)
LIBRARY_REPORT(cusparse_sum, CUSPARSE, SHAPES)
LIBRARY_REPORT(cusolver_sum, CUSOLVER, SHAPES)
LIBRARY_REPORT(cufft_sum, CUFFT, SHAPES)
LIBRARY_REPORT(nccl_sum, NCCL, MESSAGES)
