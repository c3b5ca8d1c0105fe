/* SPDX-License-Identifier: Apache-2.0 */
/* openmp_sum: constructs of OpenMP and waits in them, by line. */
#include <errno.h>

#include "report/derive/stacks/attribution.h"
#include "report/stats/report.h"

static bool construct_key(struct scan *s, const void *event, struct buffer *fields)
{
	const struct event *e = event;
	struct attribution *attribution = s->more;

	buffer_text(fields, trace_function(s->image->trace, e->id)->name);
	buffer_add(fields, "", 1);
	attribution_line(attribution, s->image, (uint32_t)tf_arg_value(event_arg(e, TF_ARG_STACK)), fields);
	return true;
}

static void construct_visit(struct scan *s, const struct event *e)
{
	bool is_any = e->kind == TF_CALL || e->kind == TF_CONSTRUCT;
	const struct function *f = is_any ? trace_function(s->image->trace, e->id) : NULL;

	if (f && f->group == TF_GROUP_OPENMP)
		scan_add_call(s, e, (uint64_t)e->id << 48 | tf_arg_value(event_arg(e, TF_ARG_STACK)), construct_key, e);
}

/* nsys's columns, and the line. */
int report_openmp_sum(const struct report_context *c, struct table *table, struct err *err)
{
	static const struct sum_report report = {.shape = {.total = COL_TOTAL_TIME_NS,
							   .count = COL_COUNT,
							   .names = {COL_NAME, COL_LINE},
							   .has_percent = true},
						 .groups = 1u << TF_GROUP_OPENMP,
						 .visit = construct_visit};
	struct attribution attribution = {.symbols = c->symbols};
	int code = report_sums(c, table, err, &report, &attribution);

	attribution_done(&attribution);
	if (!code && !table_rows(table))
		return err_set(err, -ENODATA, "no OpenMP was recorded: -t openmp records it");
	return code;
}
