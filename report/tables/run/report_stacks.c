/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_sum: calls that lasted longer than the backtrace thresholds, by stack. */
#include "report/tables/report.h"

static bool stack_key(struct scan *s, const void *event, struct buffer *fields)
{
	const struct event *e = event;
	const struct function *f = trace_function(s->image->trace, e->id);

	buffer_field(fields, f ? f->name : "?");
	symbols_stack(s->context->symbols, s->image, event_stack(e), fields);
	return true;
}

static void visit_stack(struct scan *s, const struct event *e)
{
	uint64_t arg = scan_is_call(e) && e->args_count ? event_arg(e, TF_ARG_STACK) : 0;

	if (arg)
		scan_add_call(s, e, (uint64_t)e->id << 48 | tf_arg_value(arg), stack_key, e);
}

SUM_REPORT(stacks_sum, .shape = {.total = COL_TOTAL_TIME_NS, .count = COL_NUM_CALLS, .names = {COL_NAME, COL_STACK},
				 .has_percent = true},
	   .args = 1u << TF_ARG_STACK, .visit = visit_stack)
