/* SPDX-License-Identifier: Apache-2.0 */
/* osrt_short_line_sum: calls below the threshold by source line, from the stacks of one in N of them. */
#include <inttypes.h>

#include "report/events/filter.h"
#include "report/names/attribution.h"
#include "report/tables/report.h"

static bool short_line_key(struct scan *s, const void *sample, struct buffer *fields)
{
	struct attribution *attribution = s->more;
	const struct tf_short_stack *sampled = sample;
	const struct function *f = trace_function(s->image->trace, sampled->function);

	buffer_field(fields, f ? f->name : "?");
	attribution_text(attribution, s->image, sampled->stack, "(no stack)", fields);
	buffer_add(fields, "", 1);
	buffer_print(fields, "%" PRIu32, sampled->weight);
	return true;
}

static const struct trace_thread *thread_numbered(const struct trace *t, uint32_t number)
{
	return array_find(thread, t->threads, t->thread_count, thread->number == number);
}

/* The sums have no time, and therefore no capture range. */
static void short_lines_add(struct scan *s, const struct blob *blob)
{
	struct tf_short_stack sampled;
	uint64_t what;
	uint32_t row;

	if (trace_blob(s->image->trace, blob, &sampled, sizeof(sampled)) < sizeof(sampled))
		return;
	s->thread = thread_numbered(s->image->trace, blob->id);
	if (!s->thread)
		return;
	what = (uint64_t)sampled.function << 32 | sampled.stack;
	row = scan_row_of(s, 0, what, short_line_key, &sampled);
	aggregate_add_total(s->aggregate, row, sampled.weight,
			    clock_map_duration(s->clock, sampled.ticks) * sampled.weight);
}

static void weight_cell(struct table *table, const struct aggregate_row *row, double weight)
{
	(void)row;
	table_number(table, (uint64_t)weight);
}

void report_osrt_short_line_sum(const struct report_context *c, struct table *table)
{
	static const struct aggregate_shape shape = {
		.total = COL_ESTIMATED_TIME_NS,
		.count = COL_ESTIMATED_CALLS,
		.names = {COL_NAME, COL_LINE},
		.more = {{COL_CALLS_FOR_EACH_STACK, weight_cell}},
		.totals_only = true,
		.has_percent = true,
	};
	SCOPED(attribution) attribution = {.symbols = c->symbols, .is_innermost = c->lines_all};
	SCOPED(aggregate) aggregate = {.totals_only = true};
	struct scan s = {.context = c, .aggregate = &aggregate, .more = &attribution};

	for (size_t i = 0; i < c->model->image_count && !filter_is_set(c->model); i++) {
		s.image = &c->model->images[i];
		s.clock = &c->model->machines[s.image->machine].clock;
		blobs_each(b, s.image->trace, TF_BLOB_SHORT_STACK)
			short_lines_add(&s, b);
	}
	if (filter_is_set(c->model))
		table_lacks(table, "calls below the threshold are counted, not timed: a filter does not apply");
	else if (!aggregate.count)
		table_lacks(table, "no stacks of calls below the threshold: record with --osrt-short-sampling=N");
	aggregate_table(c, &aggregate, &shape, table);
}
