/* SPDX-License-Identifier: Apache-2.0 */
/* correlated: host calls with the device work that they asked for, as correlate.h finds them.
 * device_facts: what is known of devices besides, record by record. */
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

static void fact_row(struct scan *s, const struct device_record *r)
{
	static const char *const kinds[] = {"wait", "allocate", "free", "overhead", "managed", "compile"};
	struct table *table = s->more;
	struct tf_work w;
	bool is_known = device_work(s->image->trace, r->work, &w) && w.kind >= TF_WORK_WAIT && w.kind <= TF_WORK_COMPILE;

	table_number(table, axis_monotonic(s->axis, r->start_ns) - s->context->model->origin_ns);
	table_number(table, r->duration_ns);
	table_number(table, s->image->pid);
	table_text(table, is_known ? kinds[w.kind - TF_WORK_WAIT] : "unknown");
	table_number(table, r->correlation);
	table_number(table, is_known ? w.device : 0);
	table_number(table, is_known ? w.stream : 0);
	table_number(table, r->bytes);
	table_number(table, r->address);
}

int report_device_facts(const struct report_context *c, struct table *table, struct err *err)
{
	struct scan s = {.context = c, .more = table};

	table_column(table, "Start (ns)", COLUMN_NS);
	table_column(table, "Duration (ns)", COLUMN_NS);
	table_column(table, "PID", COLUMN_ID);
	table_column(table, "Kind", COLUMN_TEXT);
	table_column(table, "CorrId", COLUMN_ID);
	table_column(table, "Device", COLUMN_ID);
	table_column(table, "Strm", COLUMN_ID);
	table_column(table, "Bytes", COLUMN_ID);
	table_column(table, "Address", COLUMN_ID);
	for (size_t i = 0; i < c->model->image_count; i++) {
		s.image = &c->model->images[i];
		device_scan_more(&s, fact_row, NULL);
	}
	return table_rows(table) ? 0 : device_none(c->model, err);
}
