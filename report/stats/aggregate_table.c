/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregates as a table with nsys's columns. */
#include <stdlib.h>
#include <string.h>

#include "report/stats/report.h"

/* A rank is a number, unless it has its step with it (struct process). */
static bool is_text(const struct report_context *context)
{
	return context->by == BY_HOST || context->by == BY_DEVICE ||
	       (context->by == BY_RANK && context->model->ranks.count);
}

void by_column(const struct report_context *context, struct table *table)
{
	static const char *const titles[BY_COUNT] = {
		[BY_PROCESS] = "PID", [BY_RANK] = "Rank",     [BY_HOST] = "Host",
		[BY_THREAD] = "TID",  [BY_DEVICE] = "Device", [BY_RANGE] = "Range",
	};

	if (context->by != BY_NOTHING)
		table_column(table, titles[context->by], is_text(context) ? COLUMN_TEXT : COLUMN_ID);
}

void by_cell(const struct report_context *context, struct table *table, const char *text)
{
	if (context->by == BY_NOTHING)
		return;
	if (is_text(context))
		table_text(table, text);
	else if (*text && text[strspn(text, "0123456789")] == 0)
		table_number(table, strtoull(text, NULL, 10));
	else
		table_nothing(table);
}

static const char *title_with_unit(struct buffer *b, const char *word, const struct aggregate_shape *shape)
{
	buffer_clear(b);
	buffer_print(b, "%s (%s)", word, shape->type == COLUMN_MB ? "MB" : "ns");
	return b->data;
}

static void aggregate_columns(const struct report_context *context, const struct aggregate_shape *shape,
			      struct table *table)
{
	enum column_type mean = shape->type == COLUMN_MB ? COLUMN_MB : COLUMN_NS_MEAN;
	struct buffer b = {0};

	by_column(context, table);
	if (shape->has_percent)
		table_column(table, "Time (%)", COLUMN_PERCENT);
	table_column(table, shape->total, shape->type);
	table_column(table, shape->count, COLUMN_COUNT);
	table_column(table, title_with_unit(&b, "Avg", shape), mean);
	if (!shape->totals_only) {
		table_column(table, title_with_unit(&b, "Med", shape), mean);
		table_column(table, title_with_unit(&b, "Min", shape), shape->type);
		table_column(table, title_with_unit(&b, "Max", shape), shape->type);
		table_column(table, title_with_unit(&b, "StdDev", shape), mean);
	}
	for (size_t i = 0; shape->names[i]; i++)
		table_column(table, shape->names[i], COLUMN_TEXT);
	for (size_t i = 0; i < sizeof(shape->more) / sizeof(shape->more[0]) && shape->more[i].title; i++)
		table_column(table, shape->more[i].title, shape->more[i].type);
	buffer_done(&b);
}

void aggregate_table(const struct report_context *context, struct aggregate *aggregate,
		     const struct aggregate_shape *shape, struct table *table)
{
	double all = 0;

	aggregate_columns(context, shape, table);
	aggregate_sort(aggregate);
	for (size_t i = 0; i < aggregate->count; i++)
		all += (double)aggregate->rows[i].total;
	for (size_t i = 0; i < aggregate->count; i++) {
		const struct aggregate_row *r = &aggregate->rows[i];
		size_t field = 0;

		if (!r->count)
			continue;
		if (context->by != BY_NOTHING)
			by_cell(context, table, aggregate_field(r, field++));
		if (shape->has_percent)
			table_real(table, all > 0 ? 100 * (double)r->total / all : 0);
		table_number(table, r->total);
		table_number(table, r->count);
		table_real(table, (double)r->total / (double)r->count);
		if (!shape->totals_only) {
			table_real(table, r->median);
			table_number(table, r->least);
			table_number(table, r->most);
			table_real(table, aggregate_deviation(r));
		}
		for (size_t k = 0; shape->names[k]; k++)
			table_text(table, aggregate_field(r, field++));
		for (size_t k = 0; k < sizeof(shape->more) / sizeof(shape->more[0]) && shape->more[k].title; k++)
			shape->more[k].cell(table, r, strtod(aggregate_field(r, field), NULL));
	}
}
