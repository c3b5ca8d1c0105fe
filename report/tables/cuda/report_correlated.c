/* SPDX-License-Identifier: Apache-2.0 */
/* correlated: host calls with the device operations that they submitted, from correlate.h. device_facts: other
 * device records. */

#include "report/events/cuda/correlate.h"
#include "report/tables/report.h"

struct context {
	const struct model *model;
	struct table *table;
};

static void correlated_add_row(void *arg, const struct correlated *c)
{
	struct context *x = arg;
	const struct clock_map *clock = &x->model->machines[c->image->machine].clock;
	const struct function *f = c->thread ? trace_function(c->image->trace, c->event.id) : NULL;
	uint64_t device_ns = array_sum(record, c->records, c->record_count, record->duration_ns);

	table_cells(x->table, cell_if(f, model_since_origin(x->model, clock_map_ns(clock, event_start(&c->event)))),
		    cell_if(f, clock_map_duration(clock, c->event.duration)), c->image->pid,
		    cell_if(f, f ? c->thread->tid : 0), f ? f->name : "", cell_if(c->record_count, c->correlation),
		    c->record_count, device_ns);
}

void report_correlated(const struct report_context *c, struct table *table)
{
	struct context x = {c->model, table};
	struct correlate_counts counts = {0};

	table_has(table, COL_CALL_START_NS, COL_CALL_DURATION_NS, COL_PID, COL_TID, COL_CALL, COL_CORRID,
		  COL_DEVICE_RECORDS, COL_DEVICE_TIME_NS);
	for (size_t i = 0; i < c->model->image_count; i++)
		correlate_image(c, &c->model->images[i], &x, correlated_add_row, &counts);
	device_none(c->model, table);
}

static void fact_row(struct scan *s, const struct device_record *r)
{
	static const char *const kinds[] = {"wait", "allocate", "free", "overhead", "managed", "compile"};
	struct table *table = s->more;
	struct tf_device_operation w;
	bool is_known = device_operation(s->image->trace, r->operation, &w) && w.kind >= TF_DEVICE_WAIT &&
			w.kind <= TF_DEVICE_COMPILE;

	table_cells(table, model_since_origin(s->context->model, clock_map_monotonic(s->clock, r->start_ns)),
		    r->duration_ns, s->image->pid, is_known ? kinds[w.kind - TF_DEVICE_WAIT] : "unknown",
		    r->correlation, is_known ? w.device : 0, is_known ? w.stream : 0, r->bytes, r->address);
}

void report_device_facts(const struct report_context *c, struct table *table)
{
	struct scan s = {.context = c, .more = table};

	table_has(table, COL_START_NS, COL_DURATION_NS, COL_PID, COL_KIND, COL_CORRID, COL_DEVICE_NUMBER, COL_STRM,
		  COL_DEVICE_BYTES, COL_ADDRESS);
	for (size_t i = 0; i < c->model->image_count; i++) {
		s.image = &c->model->images[i];
		device_scan_more(&s, fact_row, NULL);
	}
	device_none(c->model, table);
}
