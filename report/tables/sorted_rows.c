/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tables/sorted_rows.h"

COMPARATOR(compare_keys, struct sorted_row,
	   order_of(a->key[0], b->key[0]) ?: order_of(a->key[1], b->key[1]) ?: order_of(a->key[2], b->key[2]))

void *sorted_rows_add(struct sorted_rows *rows, uint64_t first, uint64_t second, uint64_t third)
{
	struct sorted_row *row = external_sort_add(&rows->sort);

	*row = (struct sorted_row){{first, second, third}};
	return row;
}

void *sorted_rows_add_event(struct scan *s, const struct event *e)
{
	uint64_t duration_ns = clock_map_duration(s->clock, e->duration);
	struct sorted_event *row = sorted_rows_add(s->more, clock_map_ns(s->clock, e->ticks) - duration_ns,
						   (uint64_t)(s->image - s->context->model->images),
						   (uint64_t)(s->thread - s->image->trace->threads));

	row->duration_ns = duration_ns;
	row->image = s->image;
	row->thread = s->thread;
	return row;
}

void report_rows(const struct report_context *c, struct table *table, const struct row_report *report, void *data)
{
	struct sorted_rows rows = {.context = c, .table = table, .data = data};
	const void *row;

	table_columns(table, report->columns, sizeof(report->columns) / sizeof(*report->columns));
	external_sort_init(&rows.sort, report->row_bytes, scan_records_held(c), compare_keys);
	report->collect(&rows);
	while ((row = external_sort_next(&rows.sort)))
		report->cells(&rows, row, table);
	external_sort_done(&rows.sort);
}
