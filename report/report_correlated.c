/* SPDX-License-Identifier: Apache-2.0 */
/* correlated: host calls with the device work that they asked for, as correlate.h finds them. */
#include <errno.h>

#include "correlate.h"

struct context {
	const struct model *model;
	struct table *table;
};

static void row(void *arg, const struct correlated *c)
{
	struct context *x = arg;
	const struct axis *axis = &x->model->machines[c->image->machine].axis;
	const struct function *f = c->thread ? trace_function(c->image->trace, c->event.id) : NULL;
	uint64_t work_ns = 0;

	for (size_t i = 0; i < c->record_count; i++)
		work_ns += c->records[i].duration_ns;
	if (f) {
		table_number(x->table, axis_ns(axis, event_start(&c->event)) - x->model->origin_ns);
		table_number(x->table, axis_duration(axis, c->event.duration));
	} else {
		table_nothing(x->table);
		table_nothing(x->table);
	}
	table_number(x->table, c->image->pid);
	if (f)
		table_number(x->table, c->thread->tid);
	else
		table_nothing(x->table);
	table_text(x->table, f ? f->name : "");
	if (c->record_count)
		table_number(x->table, c->correlation);
	else
		table_nothing(x->table);
	table_number(x->table, c->record_count);
	table_number(x->table, work_ns);
}

int report_correlated(const struct report_context *c, struct table *table, struct err *err)
{
	struct context x = {c->model, table};
	struct correlate_counts counts = {0};

	table_column(table, "Call Start (ns)", COLUMN_NS);
	table_column(table, "Call Duration (ns)", COLUMN_NS);
	table_column(table, "PID", COLUMN_ID);
	table_column(table, "TID", COLUMN_ID);
	table_column(table, "Call", COLUMN_TEXT);
	table_column(table, "CorrId", COLUMN_ID);
	table_column(table, "Device Records", COLUMN_COUNT);
	table_column(table, "Device Time (ns)", COLUMN_NS);
	for (size_t i = 0; i < c->model->image_count; i++)
		correlate_image(c, &c->model->images[i], &x, row, &counts);
	return table_rows(table) ? 0 : device_none(c->model, err);
}
