/* SPDX-License-Identifier: Apache-2.0 */
/* blas_sum, cudnn_sum, ..., nccl_sum, mpi_sum: calls of a library by function and by what they were asked for. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/derive/device/correlate.h"
#include "report/read/operation.h"
#include "report/derive/events/spans.h"
#include "report/stats/report.h"

/* One report: how a call becomes a key, the last field of which is a number that no column shows. */
struct kind {
	uint32_t groups;
	void (*key)(const struct function *f, const struct tf_operation *op, struct buffer *key);
	struct sums_shape shape;
};

/* ---- keys ---- */

static void end_field(struct buffer *key)
{
	buffer_add(key, "", 1);
}

static void add_value(const struct function *f, const struct tf_operation *op, unsigned int field, struct buffer *key)
{
	operation_value(op, f->group, field, key);
	end_field(key);
}

static void shape_key(const struct function *f, const struct tf_operation *op, struct buffer *key)
{
	operation_text(op, f->group, key);
	end_field(key);
}

static void blas_key(const struct function *f, const struct tf_operation *op, struct buffer *key)
{
	shape_key(f, op, key);
	buffer_print(key, "%.0f", operation_flops(f->name, op));
	end_field(key);
}

/* Name, count, type, operation, peer, communicator, "0 of 8". A communicator by what it is in all ranks, else by the process's
 * own handle. */
static void message_key(const struct function *f, const struct tf_operation *op, struct buffer *key)
{
	int64_t bytes, rank, ranks;

	add_value(f, op, TF_FIELD_COUNT, key);
	if (!operation_value(op, f->group, TF_FIELD_TYPE, key) && operation_field(op, TF_FIELD_ELEMENT, &bytes) && bytes)
		buffer_print(key, "%" PRId64 " bytes", bytes);
	end_field(key);
	add_value(f, op, TF_FIELD_REDUCTION, key);
	add_value(f, op, TF_FIELD_PEER, key);
	if (!operation_value(op, f->group, TF_FIELD_COMMUNICATOR_ID, key))
		operation_value(op, f->group, TF_FIELD_COMMUNICATOR, key);
	end_field(key);
	if (operation_field(op, TF_FIELD_RANK, &rank) && operation_field(op, TF_FIELD_RANKS, &ranks))
		buffer_print(key, "%" PRId64 " of %" PRId64, rank, ranks);
	end_field(key);
	buffer_print(key, "%.0f", operation_bytes(f->name, f->group, op));
	end_field(key);
}

/* ---- columns that follow from a key's number ---- */

static void total_cell(struct table *table, const struct sums_row *row, double number)
{
	bool is_known = number > 0 && number * (double)row->count < 1.8e19;

	table_number_if(table, is_known, is_known ? (uint64_t)(number * (double)row->count) : 0);
}

/* Bytes by ns are 10^9 bytes by second. */
static void rate_cell(struct table *table, double bytes, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3f", ns ? bytes / (double)ns : 0);
	if (bytes > 0 && ns)
		table_text(table, text);
	else
		table_nothing(table);
}

static void call_rate_cell(struct table *table, const struct sums_row *row, double number)
{
	rate_cell(table, number * (double)row->count, row->total);
}

/* NCCL's calls only hand the work over: they last as long whether it is much or little. */
static void device_rate_cell(struct table *table, const struct sums_row *row, double number)
{
	rate_cell(table, number * (double)row->count, row->beside);
}

/* What devices did for the CUDA calls that the library made. */
static void device_cell(struct table *table, const struct sums_row *row, double number)
{
	(void)number;
	table_number_if(table, row->beside, row->beside);
}

/* ---- the reports ---- */

struct call {
	const struct kind *kind;
	const struct function *function;
	const struct event *event;
};

static bool call_key(struct scan *s, const void *of, struct buffer *fields)
{
	const struct call *c = of;
	struct tf_operation op;

	operation_of(s->image->trace, c->event, &op);
	buffer_text(fields, c->function->name);
	end_field(fields);
	c->kind->key(c->function, &op, fields);
	return true;
}

/* The call's row; false: not a call of these libraries. */
static bool find_row(struct scan *s, const struct kind *kind, const struct event *e, uint32_t *ret)
{
	const struct function *f = e->kind == TF_CALL ? trace_function(s->image->trace, e->id) : NULL;
	uint64_t operation = e->args_count ? tf_arg_value(event_arg(e, TF_ARG_OPERATION)) : 0;

	if (!f || f->group >= TF_GROUP_COUNT || !(kind->groups & 1u << f->group))
		return false;
	*ret = scan_row_of(s, event_start(e), (uint64_t)e->id << 48 | operation, call_key, &(struct call){kind, f, e});
	return true;
}

static void visit(struct scan *s, const struct event *e)
{
	uint32_t row;

	if (find_row(s, s->more, e, &row))
		sums_add(s->sums, row, axis_duration(s->axis, e->duration));
}

/* ---- device time ---- */

struct device_time {
	struct scan scan;
	const struct kind *kind;
	struct spans spans; /* the library's calls of one image, by their rows */
	size_t innermost;
};

static void add_span(struct scan *s, const struct event *e)
{
	struct device_time *d = s->more;
	uint32_t row;

	if (find_row(s, d->kind, e, &row))
		spans_add(&d->spans, s->thread, event_start(e), e->ticks, row);
}

static void take_innermost(void *context, size_t span)
{
	((struct device_time *)context)->innermost = span;
}

static void add_work(void *context, const struct correlated *k)
{
	struct device_time *d = context;

	if (!k->thread || !k->record_count)
		return;
	d->innermost = SIZE_MAX;
	spans_around(&d->spans, k->thread, event_start(&k->event), k->event.ticks, d, take_innermost);
	for (size_t i = 0; d->innermost != SIZE_MAX && i < k->record_count; i++)
		d->scan.sums->rows[d->spans.items[d->innermost].value].beside += k->records[i].duration_ns;
}

static void add_device_time(const struct report_context *c, struct sums *sums, const struct kind *kind)
{
	struct device_time d = {.scan = {.context = c, .sums = sums}, .kind = kind};

	d.scan.more = &d;
	for (size_t i = 0; i < c->model->image_count; i++) {
		d.scan.image = &c->model->images[i];
		scan_image(&d.scan, add_span);
		spans_build(&d.spans);
		if (d.spans.count)
			correlate_image(c, d.scan.image, &d, add_work, NULL);
		spans_done(&d.spans);
	}
}

static int run(const struct report_context *c, struct table *table, const struct kind *kind)
{
	struct sums sums = {0};

	scan_sums(&(struct scan){.context = c, .sums = &sums, .more = (void *)kind}, visit);
	add_device_time(c, &sums, kind);
	sums_table(c, &sums, &kind->shape, table);
	sums_done(&sums);
	return 0;
}

#define DEVICE {"GPU Time (ns)", COLUMN_NS, device_cell}
#define TIMES .total = "Total Time (ns)", .count = "Num Calls", .type = COLUMN_NS, .has_percent = true
#define MESSAGE_COLUMNS(rate)                                                                                          \
	TIMES, .names = {"Name", "Count", "Type", "Operation", "Peer", "Communicator", "Rank"},                        \
	       .more = {{"Bytes", COLUMN_COUNT, total_cell}, {"Bandwidth (GB/s)", COLUMN_TEXT, rate}, DEVICE}

/* By the form that trace_groups.h gives a library. */
#define SHAPES shape_key, {TIMES, .names = {"Name", "Shape"}, .more = {DEVICE}}
#define FLOPS blas_key, {TIMES, .names = {"Name", "Shape"}, .more = {{"FLOP", COLUMN_COUNT, total_cell}, DEVICE}}
#define MESSAGES message_key, {MESSAGE_COLUMNS(device_rate_cell)}
#define MESSAGES_BY_CALL message_key, {MESSAGE_COLUMNS(call_rate_cell)}
#define IF_REPORT_SHAPES(...) __VA_ARGS__
#define IF_REPORT_FLOPS(...) __VA_ARGS__
#define IF_REPORT_MESSAGES(...) __VA_ARGS__
#define IF_REPORT_MESSAGES_BY_CALL(...) __VA_ARGS__
#define IF_REPORT_NO_REPORT(...)

#define LIBRARY_REPORT(number, NAME, word, set, category, title, hue, saturation, prefix, none, form, report, ...)      \
	IF_REPORT_##form(                                                                                              \
		int report_##report(const struct report_context *c, struct table *table, struct err *err)              \
		{                                                                                                      \
			static const struct kind kind = {1u << TF_GROUP_##NAME, form};                                 \
                                                                                                                       \
			(void)err;                                                                                     \
			return run(c, table, &kind);                                                                   \
		})
TF_GROUPS(LIBRARY_REPORT)
