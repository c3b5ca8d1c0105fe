/* SPDX-License-Identifier: Apache-2.0 */
/* lines: the cost of each source line as a table; with --source the text of a file with these values. line_shares: of
 * each line the shares of Python, native and system time, and what it moves. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/causes/where/place.h"
#include "report/events/cuda/graph_estimate.h"
#include "report/events/energy/energy.h"
#include "report/events/filter.h"
#include "report/events/nvtx/operator_call.h"
#include "report/events/stacks/heap.h"
#include "report/events/stacks/lines.h"
#include "report/events/stacks/source.h"
#include "report/tables/ops/ops.h"
#include "report/tables/report.h"
#include "report/time/helpers.h"

static const enum column_id columns[LINE_VALUES] = {
	[LINE_TOTAL] = COL_TOTAL_TIME_NS,
	[LINE_INCLUSIVE] = COL_INCLUSIVE_NS,
	[LINE_GPU_INCLUSIVE] = COL_INCLUSIVE_GPU_NS,
	[LINE_PYTHON] = COL_CPU_PYTHON_NS,
	[LINE_NATIVE] = COL_CPU_NATIVE_NS,
	[LINE_OFF_CPU] = COL_OFF_CPU_NS,
	[LINE_OS] = COL_OS_CALLS_NS,
	[LINE_CUDA] = COL_CUDA_CALLS_NS,
	[LINE_GPU] = COL_GPU_TIME_NS,
	[LINE_ESTIMATED] = COL_GPU_ESTIMATED_NS,
	[LINE_BACKWARD] = COL_GPU_BACKWARD_NS,
	[LINE_ENERGY] = COL_ENERGY_EST_J,
	[LINE_LAUNCHES] = COL_LAUNCHES,
	[LINE_ALLOCATED] = COL_ALLOCATED_MB,
	[LINE_HOST] = COL_HOST_ALLOCATED_MB,
	[LINE_HOST_PEAK] = COL_HOST_AT_PEAK_MB,
	[LINE_HOST_GROWTH] = COL_HOST_GROWTH_MB,
	[LINE_COPIED] = COL_COPIED_MB,
	[LINE_FLOPS] = COL_FLOPS,
	[LINE_SAMPLES] = COL_SAMPLES,
	[LINE_CALLS] = COL_CALLS,
};

/* Whether the table has the column. FLOPs and memory in use are not known by thread or range, energy where
 * no power was sampled. */
static bool has_column(const struct report_context *c, enum line_value value)
{
	switch (value) {
	case LINE_INCLUSIVE:
	case LINE_GPU_INCLUSIVE:
		return c->is_inclusive;
	case LINE_AT_PEAK:
	case LINE_HELPERS:
	case LINE_IN_OS:
	case LINE_SYSTEM:
	case LINE_MOVED:
		return false;
	case LINE_ENERGY:
		return energies_of(c->model)->count > 0;
	case LINE_ESTIMATED:
		return graph_estimate_any(c);
	case LINE_FLOPS:
	case LINE_HOST_PEAK:
	case LINE_HOST_GROWTH:
		return c->by != BY_THREAD && c->by != BY_RANGE;
	default:
		return true;
	}
}

/* After LINE_FLOPS: by time on the device, and what share of that time they take at the peak rates of their types. */
static void rate_cells(const struct line_values *v, struct table *table)
{
	double gpu = (double)v->of[LINE_GPU];

	table_cells(table, cell_if(v->of[LINE_FLOPS] && v->of[LINE_GPU], (double)v->of[LINE_FLOPS] / gpu),
		    cell_if(v->of[LINE_AT_PEAK] && v->of[LINE_GPU], 100 * (double)v->of[LINE_AT_PEAK] / gpu));
}

static void value_columns(const struct report_context *c, struct table *table)
{
	table->hides_zeros = true;
	table_has(table, COL_TIME_PERCENT);
	for (size_t i = 0; i < LINE_VALUES; i++) {
		if (has_column(c, i))
			table_has(table, columns[i]);
		if (i == LINE_FLOPS && has_column(c, i))
			table_has(table, COL_GFLOP_PER_S_TENTHS, COL_PEAK_PERCENT);
	}
}

/* is_sparse: zero values are left empty, so that the others stand out. */
static void value_cells(const struct report_context *c, const struct line_values *v, uint64_t all, bool is_sparse,
			struct table *table)
{
	table_cells(table,
		    cell_if(!is_sparse || v->of[LINE_TOTAL], share_percent((double)v->of[LINE_TOTAL], (double)all)));
	for (size_t i = 0; i < LINE_VALUES; i++) {
		if (has_column(c, i))
			table_cells(table, cell_if(!is_sparse || v->of[i], v->of[i]));
		if (i == LINE_FLOPS && has_column(c, i))
			rate_cells(v, table);
	}
}

static uint64_t total_of(const struct lines *l)
{
	return array_sum(value, l->values, l->count, value->of[LINE_TOTAL]);
}

/* ---- the table ---- */

static bool is_of_helpers(const struct line_values *v)
{
	return v->of[LINE_HELPERS] && v->of[LINE_HELPERS] == v->of[LINE_TOTAL] && !v->of[LINE_GPU];
}

static void place_cells(const struct report_context *c, const struct lines *l, size_t row, struct table *table)
{
	const char *file = lines_field(c, l, row, 0);
	SCOPED(buffer) place = {0};

	buffer_print(&place, "%s:%s", file, lines_field(c, l, row, 1));
	table_cells(table, *file ? place.data : "?", lines_field(c, l, row, 2));
}

static void lines_fill_table(const struct report_context *c, const struct lines *l, struct table *table)
{
	SCOPED_MEMORY size_t *order = lines_order(c, l);
	uint64_t all = total_of(l);

	by_column(c, table);
	value_columns(c, table);
	table_has(table, COL_LINE, COL_FUNCTION);
	for (size_t i = 0; i < l->count; i++) {
		if (is_of_helpers(&l->values[order[i]]))
			table_aside(table, "idle helpers and start-up");
		by_cell(c, table, aggregate_field(&l->keys.rows[order[i]], 0));
		value_cells(c, &l->values[order[i]], all, false, table);
		place_cells(c, l, order[i], table);
	}
}

/* ---- annotated source ---- */

/* The values of a line, of all functions. */
struct noted {
	uint64_t line;
	struct line_values values;
};

COMPARATOR(compare_noted, struct noted, order_of(a->line, b->line))

/* The rows of a file by line; the caller frees them. Returns how many. */
static size_t noted_lines(const struct report_context *c, const struct lines *l, const char *file, struct noted **ret)
{
	struct noted *all = NULL;
	size_t count = 0, capacity = 0;
	SCOPED(map) places = {0}; /* line -> place in `all` */

	for (size_t i = 0; i < l->count; i++) {
		uint64_t line = strtoull(lines_field(c, l, i, 1), NULL, 10);
		size_t at;

		if (strcmp(lines_field(c, l, i, 0), file) != 0)
			continue;
		at = map_place(&places, line, 0, all, count, capacity, (struct noted){.line = line});
		for (size_t k = 0; k < LINE_VALUES; k++)
			all[at].values.of[k] += l->values[i].of[k];
	}
	array_sort(all, count, compare_noted);
	*ret = all;
	return count;
}

static void source_row(const struct report_context *c, const struct noted *n, uint64_t line, uint64_t all,
		       const char *text, struct table *table)
{
	static const struct line_values none = {0};

	value_cells(c, n ? &n->values : &none, all, true, table);
	table_cells(table, line, cell_if(text, text));
}

static void lines_annotate_source(const struct report_context *c, const struct lines *l, struct table *table)
{
	uint64_t all = total_of(l), line = 0;
	SCOPED(source) source = {0};
	SCOPED(buffer) text = {0};
	SCOPED_MEMORY struct noted *noted = NULL;
	const char *file;
	size_t count = 0, next = 0;
	struct err err;
	int code = source_choose(c, l, &file, &err);

	value_columns(c, table);
	table_has(table, COL_LINE_NUMBER, COL_SOURCE);
	if (!code) {
		count = noted_lines(c, l, file, &noted);
		code = source_open(&source, c, file, &err);
	}
	while (source_next(&source, &text)) {
		bool has;

		line++;
		has = next < count && noted[next].line == line;

		source_row(c, has ? &noted[next] : NULL, line, all, text.data, table);
		next += has;
	}
	if (code)
		table_lacks(table, "%s", err.text);
	else if (next < count)
		table_lacks(table, "%s ends before line %" PRIu64 ": it is not the file that was executed",
			       source.path, noted[count - 1].line);
	for (; next < count; next++)
		source_row(c, &noted[next], noted[next].line, all, NULL, table);
}

/* ---- floating-point operations ---- */

struct line_work {
	const struct report_context *context;
	struct lines *lines;
};

static void add_work(void *context, const struct image *image, const struct op *op, const struct ops_rate *rate,
		     uint32_t stack)
{
	struct line_work *w = context;
	uint64_t *row = map_find(&w->lines->stacks, (uint64_t)(image - w->context->model->images), stack);
	double ns = rate->peak > 0 ? 1e9 * (double)rate->flops / rate->peak : 0;
	uint64_t *of;

	(void)op;
	if (!row || !rate->is_known)
		return;
	of = w->lines->values[*row - 1].of;
	of[LINE_FLOPS] = add_sat(of[LINE_FLOPS], rate->flops);
	of[LINE_AT_PEAK] = add_sat(of[LINE_AT_PEAK], ns < 1.8e19 ? (uint64_t)ns : UINT64_MAX);
}

/* ---- host memory in use ---- */

static void add_host_memory(const struct report_context *c, struct lines *lines)
{
	SCOPED(attribution) attribution = {.symbols = c->symbols};

	for (size_t i = 0; i < c->model->image_count; i++) {
		SCOPED(heap) h = {0};

		heap_replay(c->model, &c->model->images[i], &attribution, &h);
		for (size_t k = 0; k < h.stack_count; k++) {
			uint64_t *row = map_find(&lines->stacks, i, h.stacks[k].stack), *values;

			if (!row)
				continue;
			values = lines->values[*row - 1].of;
			values[LINE_HOST_PEAK] += h.stacks[k].values.peak;
			values[LINE_HOST_GROWTH] += heap_growth(&h.stacks[k].values);
		}
	}
}

/* ---- idle helpers ---- */

struct line_helpers {
	struct lines *lines;
	struct map threads; /* image, tid: of all others */
};

static void find_work(const struct report_context *c, struct map *ret)
{
	SCOPED(partition) p = {0};
	SCOPED(helpers) helpers = {0};

	partition_make(c, true, &p);
	helpers_find(c, &p, &helpers);
	for (size_t i = 0; i < p.count; i++)
		if (!helpers_have(&helpers, &p, i))
			map_put(ret, (uintptr_t)p.threads[i].image, p.threads[i].tid, NULL);
}

static void add_helpers(void *more, uint32_t row, const struct scan *s, const struct event *e, uint64_t ns)
{
	struct line_helpers *h = more;

	(void)e;
	if (!map_find(&h->threads, (uintptr_t)s->image, s->thread->tid))
		h->lines->values[row].of[LINE_HELPERS] += ns;
}

static void gather(const struct report_context *c, bool has_helpers, struct lines *ret)
{
	struct line_helpers helpers = {ret};

	if (has_helpers)
		find_work(c, &helpers.threads);
	lines_gather(c, has_helpers ? add_helpers : NULL, &helpers, ret);
	map_done(&helpers.threads);
	where_add_lines(c, NULL, ret);
}

static void no_lines(const struct report_context *c, struct table *table)
{
	table_lacks(table, filter_is_set(c->model)
				   ? "no event that passes the filter has a stack"
				   : "the captures have no stacks: record with -s cpu, or lower "
				     "--osrt-backtrace-threshold and --cudabacktrace-threshold");
}

/* ---- shares ---- */

/* A thread's time: samples outside of OS calls, and OS calls, also those that are too short for a stack. */
enum line_share { SHARE_PYTHON, SHARE_NATIVE, SHARE_SYSTEM, SHARES };

static uint64_t shares_of(const struct line_values *v, uint64_t ret[SHARES])
{
	const uint64_t *of = v->of;

	ret[SHARE_PYTHON] = rest_of(of[LINE_PYTHON], rest_of(of[LINE_IN_OS], of[LINE_NATIVE]));
	ret[SHARE_NATIVE] = rest_of(of[LINE_NATIVE], of[LINE_IN_OS]);
	ret[SHARE_SYSTEM] = (int64_t)of[LINE_SYSTEM] > 0 ? of[LINE_SYSTEM] : 0;
	return is_of_helpers(v) ? 0 : ret[SHARE_PYTHON] + ret[SHARE_NATIVE] + ret[SHARE_SYSTEM];
}

static void share_row(const struct report_context *c, const struct lines *l, size_t row, uint64_t all,
		      struct table *table)
{
	static const enum line_value values[] = {LINE_GPU, LINE_ALLOCATED, LINE_COPIED, LINE_MOVED, LINE_HOST};
	const struct line_values *v = &l->values[row];
	uint64_t shares[SHARES], sum = shares_of(v, shares);

	by_cell(c, table, aggregate_field(&l->keys.rows[row], 0));
	table_cells(table, share_percent((double)sum, (double)all));
	for (size_t i = 0; i < SHARES; i++)
		table_cells(table, share_percent((double)shares[i], (double)all));
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		table_number(table, v->of[values[i]]);
	place_cells(c, l, row, table);
}

void report_line_shares(const struct report_context *c, struct table *table)
{
	uint64_t all = 0, shares[SHARES];
	SCOPED(lines) lines = {0};
	SCOPED_MEMORY size_t *order = NULL;

	gather(c, true, &lines);
	by_column(c, table);
	table_has(table, COL_TIME_PERCENT, COL_PYTHON_PERCENT, COL_NATIVE_PERCENT, COL_SYSTEM_PERCENT, COL_GPU_TIME_NS,
		  COL_ALLOCATED_MB, COL_COPIED_MB, COL_MOVED_MB, COL_HOST_ALLOCATED_MB, COL_LINE, COL_FUNCTION);
	table->hides_zeros = true;
	all += array_sum(value, lines.values, lines.count, shares_of(value, shares));
	order = lines_order(c, &lines);
	for (size_t i = 0; i < lines.count; i++)
		if (!is_of_helpers(&lines.values[order[i]]))
			share_row(c, &lines, order[i], all, table);
	if (!lines.has_stacks)
		no_lines(c, table);
}

void report_lines(const struct report_context *c, struct table *table)
{
	SCOPED(lines) lines = {0};

	gather(c, c->has_asides, &lines);
	if (lines.has_stacks && has_column(c, LINE_FLOPS) && ops_may_know_work(c->model))
		ops_visit(c, &(struct line_work){c, &lines}, add_work);
	if (lines.has_stacks && has_column(c, LINE_HOST_PEAK))
		add_host_memory(c, &lines);
	if (!lines.has_stacks)
		no_lines(c, table);
	else if (c->source)
		lines_annotate_source(c, &lines, table);
	else
		lines_fill_table(c, &lines, table);
}
