/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_api_sum, osrt_sum, osrt_short_sum: calls by function; osrt_error_sum: failed ones by function and errno. */
#include <stdlib.h>
#include <string.h>

#include "report/events/filter.h"
#include "report/events/os_names.h"
#include "report/tables/report.h"

#define CALLS .total = COL_TOTAL_TIME_NS, .count = COL_NUM_CALLS, .names = {COL_NAME}, .has_percent = true

enum { UNKNOWN_ROW = SCAN_NO_ROW - 1 };

static bool is_wanted(const struct scan *s, uint32_t function)
{
	const struct function *f = trace_function(s->image->trace, function);

	return f && f->group < TF_GROUP_COUNT && s->groups & 1u << f->group;
}

/* Where a row depends on the time of the call, or calls are left out by their time. */
static void calls_read_timed(struct scan *s, struct cursor *c)
{
	struct event e;

	while (cursor_next(c, &e))
		if (scan_is_call(&e) && is_wanted(s, e.id))
			scan_add_call(s, &e, e.id, scan_name_key, trace_function(s->image->trace, e.id));
}

static void calls_read(struct scan *s, struct cursor *c)
{
	uint32_t count = s->image->trace->functions->count, *rows;
	struct plain_call call;

	if (c->shown || s->context->by == BY_RANGE || s->thread->kinds & 1u << TF_SUM) {
		calls_read_timed(s, c);
		return;
	}
	rows = mem_alloc((count + 1) * sizeof(*rows));
	for (uint32_t i = 0; i <= count; i++)
		rows[i] = is_wanted(s, i) ? UNKNOWN_ROW : SCAN_NO_ROW;
	while (cursor_next_call(c, &call)) {
		uint32_t *row = &rows[call.function < count ? call.function : count];

		if (*row == UNKNOWN_ROW)
			*row = scan_row_of(s, 0, call.function, scan_name_key,
					   trace_function(s->image->trace, call.function));
		if (*row != SCAN_NO_ROW)
			aggregate_add(s->aggregate, *row, clock_map_duration(s->clock, call.duration));
	}
	free(rows);
}

SUM_REPORT(cuda_api_sum, .shape = {CALLS}, .groups = 1u << TF_GROUP_CUDA | 1u << TF_GROUP_CUDA_DRIVER,
	   .read = calls_read)
SUM_REPORT(osrt_sum, .shape = {CALLS}, .groups = 1u << TF_GROUP_OSRT, .read = calls_read)

/* ---- failed calls ---- */

static uint32_t error_of(const struct event *e)
{
	uint32_t error = 0;

	for (uint32_t i = 0; !error && i < e->args_count; i++)
		error = os_error_of(e->args[i]);
	return error;
}

static bool error_key(struct scan *s, const void *event, struct buffer *fields)
{
	const struct event *e = event;

	buffer_field(fields, trace_function(s->image->trace, e->id)->name);
	os_error_name(error_of(e), fields);
	return true;
}

static void visit_error(struct scan *s, const struct event *e)
{
	uint32_t error = scan_is_call(e) && e->args_count && is_wanted(s, e->id) ? error_of(e) : 0;

	if (error)
		scan_add_call(s, e, (uint64_t)e->id << 32 | error, error_key, e);
}

SUM_REPORT(osrt_error_sum, .shape = {.total = COL_TOTAL_TIME_NS, .count = COL_NUM_CALLS,
				     .names = {COL_NAME, COL_ERROR}, .has_percent = true},
	   .groups = 1u << TF_GROUP_OSRT,
	   .args = 1u << TF_ARG_RESULT | 1u << TF_ARG_FD | 1u << TF_ARG_TIMEOUT | 1u << TF_ARG_DIRECTORY,
	   .visit = visit_error)

/* ---- calls below the threshold ---- */

/* Counters have no time, and therefore no capture range. */
static void add_short(struct scan *s, const char *name, uint64_t calls, uint64_t ticks)
{
	SCOPED(buffer) key = {0};

	scan_group(s, 0, &key);
	buffer_text(&key, name);
	aggregate_add_total(s->aggregate, scan_row(s, &key), calls, clock_map_duration(s->clock, ticks));
}

static void add_counters(struct scan *s, const struct trace_thread *thread)
{
	s->thread = thread;
	for (size_t i = 0; i < thread->counter_count; i++) {
		const struct trace_counter *counter = &s->image->trace->counters[thread->first_counter + i];
		const struct function *f = trace_function(s->image->trace, counter->function);

		if (f && f->group == TF_GROUP_OSRT)
			add_short(s, f->name, counter->sum.calls, counter->sum.ticks);
	}
}

static void short_pass(struct scan *s)
{
	const struct model *m = s->context->model;

	for (size_t i = 0; i < m->image_count; i++) {
		s->image = &m->images[i];
		s->clock = &m->machines[s->image->machine].clock;
		s->thread = NULL;
		for (size_t k = 0; s->image->trace && k < s->image->trace->thread_count; k++)
			add_counters(s, &s->image->trace->threads[k]);
		for (size_t k = 0; !s->image->trace && k < s->image->short_count; k++)
			add_short(s, s->image->shorts[k].name, s->image->shorts[k].calls, s->image->shorts[k].ticks);
	}
}

void report_osrt_short_sum(const struct report_context *c, struct table *table)
{
	static const struct sum_report report = {.shape = {CALLS, .totals_only = true}, .pass = short_pass};

	if (filter_is_set(c->model))
		table_lacks(table, "calls below the threshold are counted, not timed: a filter does not apply");
	else
		report_sums(c, table, &report, NULL);
}
