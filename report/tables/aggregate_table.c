/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregates as a table with nsys's columns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/device.h"
#include "report/tables/report.h"

/* A rank is a number, unless it has its step with it (struct process). */
static bool is_text(const struct report_context *context)
{
	return context->by == BY_HOST || context->by == BY_DEVICE ||
	       (context->by == BY_RANK && context->model->ranks.count);
}

void by_column(const struct report_context *context, struct table *table)
{
	static const enum column_id columns[BY_COUNT] = {
		[BY_PROCESS] = COL_PID, [BY_RANK] = COL_RANK,     [BY_HOST] = COL_HOST,
		[BY_THREAD] = COL_TID,  [BY_DEVICE] = COL_DEVICE, [BY_RANGE] = COL_RANGE,
	};

	if (context->by != BY_NOTHING)
		table_column_as(table, columns[context->by], is_text(context) ? COLUMN_TEXT : COLUMN_ID);
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

size_t by_key_cell(const struct report_context *context, struct table *table, const struct aggregate_row *key)
{
	by_cell(context, table, aggregate_field(key, 0));
	return context->by != BY_NOTHING;
}

static void aggregate_columns(const struct report_context *context, const struct aggregate_shape *shape,
			      struct table *table)
{
	bool in_bytes = column_kinds[shape->total].type == COLUMN_MB;

	by_column(context, table);
	table_has(table, shape->has_percent ? COL_TIME_PERCENT : COL_NONE, shape->total, shape->count,
		  in_bytes ? COL_AVG_MB : COL_AVG_NS);
	if (!shape->totals_only && in_bytes)
		table_has(table, COL_MED_MB, COL_MIN_MB, COL_MAX_MB, COL_STDDEV_MB);
	else if (!shape->totals_only)
		table_has(table, COL_MED_NS, COL_MIN_NS, COL_MAX_NS, COL_STDDEV_NS);
	table_columns(table, shape->names, sizeof(shape->names) / sizeof(*shape->names));
	for (size_t i = 0; i < sizeof(shape->more) / sizeof(shape->more[0]); i++)
		table_has(table, shape->more[i].column);
}

void spread_cells(struct table *table, const struct aggregate_row *r)
{
	table_cells(table, cell_if(!r->has_no_median, r->median), r->least, r->most, aggregate_deviation(r));
}

void aggregate_table(const struct report_context *context, struct aggregate *aggregate,
		     const struct aggregate_shape *shape, struct table *table)
{
	double all = array_sum(row, aggregate->rows, aggregate->count, (double)row->total);

	aggregate_columns(context, shape, table);
	aggregate_sort(aggregate);
	array_each(const struct aggregate_row, r, aggregate->rows, aggregate->count) {
		size_t field;

		if (!r->count)
			continue;
		field = by_key_cell(context, table, r);
		if (shape->has_percent)
			table_cells(table, share_percent((double)r->total, all));
		table_cells(table, r->total, r->count, (double)r->total / (double)r->count);
		if (!shape->totals_only)
			spread_cells(table, r);
		for (size_t k = 0; shape->names[k]; k++)
			table_text(table, aggregate_field(r, field++));
		for (size_t k = 0; k < sizeof(shape->more) / sizeof(shape->more[0]) && shape->more[k].column; k++)
			shape->more[k].cell(table, r, strtod(aggregate_field(r, field), NULL));
	}
}

void sum_bytes_cell(struct table *table, const struct aggregate_row *row, double number)
{
	(void)number;
	table_cells(table, cell_if(row->report_value, row->report_value));
}

/* Bytes per ns equal 10^9 bytes per second. */
void rate_cell(struct table *table, double bytes, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3f", ns ? bytes / (double)ns : 0);
	table_cells(table, cell_if(bytes > 0 && ns, text));
}

void sum_rate_cell(struct table *table, const struct aggregate_row *row, double number)
{
	(void)number;
	rate_cell(table, (double)row->report_value, row->total);
}

void report_sums(const struct report_context *c, struct table *table, const struct sum_report *report, void *data)
{
	SCOPED(aggregate) aggregate = {.totals_only = c->totals_only || report->shape.totals_only};
	struct scan s = {.context = c,
			 .aggregate = &aggregate,
			 .groups = report->groups,
			 .args = report->args,
			 .more = data};

	if (report->read)
		scan_aggregate_parts(&s, report->read);
	else if (report->visit)
		scan_aggregate(&s, report->visit);
	else
		do
			report->pass(&s);
		while (scan_next_pass(c, &aggregate));
	aggregate_table(c, &aggregate, &report->shape, table);
	if (report->is_of_device)
		device_none(c->model, table);
}

/* Distinguishes "nothing was launched" from "there are no device records". */
void device_none(const struct model *m, struct table *table)
{
	if (!table_rows(table) && !device_any(m) &&
	    model_bits(m).args & (1u << TF_ARG_COPY | 1u << TF_ARG_LAUNCH))
		table_lacks(table, "no device records; cuda_api_sum and cuda_launch_sum show the host's calls, and "
				   "ledger states the reason");
}
