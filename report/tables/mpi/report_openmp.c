/* SPDX-License-Identifier: Apache-2.0 */
/* openmp_sum: constructs of OpenMP and waits in them, by line. openmp_wait_sum: where threads wait for the last one. */
#include "report/causes/openmp/openmp_places.h"
#include "report/names/attribution.h"
#include "report/tables/report.h"
#include "report/time/profile.h"

#define NO_OPENMP "no OpenMP was recorded: -t openmp records it"

static bool construct_key(struct scan *s, const void *event, struct buffer *fields)
{
	const struct event *e = event;
	struct attribution *attribution = s->more;

	buffer_field(fields, trace_function(s->image->trace, e->id)->name);
	attribution_text(attribution, s->image, event_stack(e), "", fields);
	return true;
}

static void construct_visit(struct scan *s, const struct event *e)
{
	bool is_any = e->kind == TF_CALL || e->kind == TF_CONSTRUCT;
	const struct function *f = is_any ? trace_function(s->image->trace, e->id) : NULL;

	if (f && f->group == TF_GROUP_OPENMP)
		scan_add_call(s, e, (uint64_t)e->id << 48 | event_stack(e), construct_key, e);
}

/* nsys's columns, and the line. */
void report_openmp_sum(const struct report_context *c, struct table *table)
{
	static const struct sum_report report = {.shape = {.total = COL_TOTAL_TIME_NS,
							   .count = COL_COUNT,
							   .names = {COL_NAME, COL_LINE},
							   .has_percent = true},
						 .groups = 1u << TF_GROUP_OPENMP,
						 .visit = construct_visit};
	SCOPED(attribution) attribution = {.symbols = c->symbols};

	report_sums(c, table, &report, &attribution);
	if (!table_rows(table))
		table_lacks(table, NO_OPENMP);
}

/* ---- openmp_wait_sum ---- */

static void place_row(const struct openmp_place *p, double wait_ns, struct table *table)
{
	SCOPED(buffer) late = {0};

	if (p->late)
		thread_label(p->late, &late);
	table_cells(table, 100 * (double)p->wait_ns / wait_ns, p->wait_ns, p->lost_ns, p->count, p->threads,
		    cell_if(!p->is_barrier, p->total_ns),
		    cell_if(!p->is_barrier && p->work_ns + p->wait_ns,
			    100 * (double)p->work_ns / (double)(p->work_ns + p->wait_ns)),
		    p->image->pid, p->is_barrier ? "barrier" : "end of region");
	code_line_cell(p->line, "", table);
	table_text(table, buffer_string(&late));
}

void report_openmp_wait_sum(const struct report_context *c, struct table *table)
{
	SCOPED(openmp_places) places = {0};
	double wait_ns;

	openmp_places_find(c, &places);
	table_has(table, COL_TIME_PERCENT, COL_TOTAL_WAIT_NS, COL_LOST_NS, COL_INSTANCES, COL_THREADS,
		  COL_TOTAL_TIME_NS, COL_LOAD_BALANCE_PERCENT, COL_PID, COL_KIND, COL_LINE, COL_LATE_THREAD);
	wait_ns = array_sum(place, places.items, places.count, (double)place->wait_ns);
	for (size_t i = 0; i < places.count; i++)
		place_row(&places.items[i], wait_ns > 0 ? wait_ns : 1, table);
	if (!table_rows(table))
		table_lacks(table, NO_OPENMP);
}
