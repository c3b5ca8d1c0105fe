/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_sum: calls that lasted longer than the backtrace thresholds, by stack. */
#include "report.h"

static uint32_t stack_row(struct scan *s, const struct event *e, uint32_t range, uint32_t stack)
{
	const struct function *f = trace_function(s->image->trace, e->id);
	struct buffer key = {0};
	uint32_t row;

	scan_group(s, range, &key);
	buffer_text(&key, f ? f->name : "?");
	buffer_add(&key, "", 1);
	symbols_stack(s->context->symbols, s->image, stack, &key);
	row = scan_row(s, &key);
	buffer_done(&key);
	return row;
}

static void visit_stack(struct scan *s, const struct event *e)
{
	uint64_t arg = e->kind == TF_CALL && e->args_count ? event_arg(e, TF_ARG_STACK) : 0, a, b;
	const uint64_t *known;
	uint32_t range, row;

	if (!arg)
		return;
	range = scan_range(s, event_start(e));
	a = (uint64_t)(s->image - s->context->model->images) << 32 | range;
	b = (uint64_t)e->id << 48 | tf_arg_value(arg);
	known = sums_recall(s->sums, a, b);
	row = known ? (uint32_t)*known : stack_row(s, e, range, (uint32_t)tf_arg_value(arg));
	if (!known)
		sums_remember(s->sums, a, b, row);
	sums_add(s->sums, row, axis_duration(s->axis, e->duration));
}

int report_stacks_sum(const struct report_context *c, struct table *table, struct err *err)
{
	static const struct sums_shape shape = {.total = "Total Time (ns)",
						.count = "Num Calls",
						.type = COLUMN_NS,
						.names = {"Name", "Stack"},
						.has_percent = true};
	struct sums sums = {0};

	(void)err;
	scan_sums(&(struct scan){.context = c, .sums = &sums, .args = 1u << TF_ARG_STACK}, visit_stack);
	sums_table(c, &sums, &shape, table);
	sums_done(&sums);
	return 0;
}
