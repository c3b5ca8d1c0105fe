/* SPDX-License-Identifier: Apache-2.0 */
/* Host memory: mem_usage_sum, mem_usage_trace: what the processes had resident; mem_alloc_sum, mem_leaks: which lines
 * allocated it, as far as --memory recorded it. */
#include <stdlib.h>

#include "report/events/stacks/heap.h"
#include "report/tables/report.h"
#include "report/time/resident.h"

enum { KB = 1024 };

/* ---- resident memory ---- */

#define NO_SAMPLES                                                                                                     \
	"no sample of a process's memory: the run lasted less than a second, or was not started by pillion"

static void usage_row(const struct report_context *c, struct table *table, const struct resident_point *points,
		      size_t count)
{
	const struct model *m = c->model;
	const struct resident_point *peak = points, *last = &points[count - 1];

	for (size_t i = 1; i < count; i++)
		peak = points[i].kb > peak->kb ? &points[i] : peak;
	table_cells(table, points->pid, m->machines[points->machine].host, count, points->kb * KB, peak->kb * KB,
		    model_since_origin(m, peak->ns), last->kb * KB, ((double)last->kb - (double)points->kb) * KB,
		    points->name);
}

void report_mem_usage_sum(const struct report_context *c, struct table *table)
{
	size_t count;
	SCOPED_MEMORY struct resident_point *points = resident_points(c->model, &count);

	table_has(table, COL_PID, COL_HOST, COL_SAMPLES, COL_FIRST_MB, COL_PEAK_MB, COL_PEAK_AT_NS, COL_LAST_MB,
		  COL_GROWTH_MB, COL_NAME);
	for (size_t from = 0, to; from < count; from = to) {
		to = resident_end(points, count, from);
		usage_row(c, table, points + from, to - from);
	}
	if (!count)
		table_lacks(table, NO_SAMPLES);
}

void report_mem_usage_trace(const struct report_context *c, struct table *table)
{
	size_t count;
	SCOPED_MEMORY struct resident_point *points = resident_points(c->model, &count);

	table_has(table, COL_TIME_NS, COL_PID, COL_HOST, COL_RESIDENT_MB, COL_NAME);
	for (size_t i = 0; i < count; i++)
		table_cells(table, model_since_origin(c->model, points[i].ns), points[i].pid,
			    c->model->machines[points[i].machine].host, points[i].kb * KB, points[i].name);
	if (!count)
		table_lacks(table, NO_SAMPLES);
}

/* ---- allocations by line ---- */

/* A line of one image. */
struct heap_row {
	const struct heap *heap;
	const struct heap_line *line;
};

struct heap_rows {
	struct heap *heaps; /* by image */
	struct heap_row *items;
	size_t heap_count, count, capacity;
};

static void heap_rows_gather(const struct report_context *c, struct heap_rows *ret, struct table *table)
{
	SCOPED(attribution) attribution = {.symbols = c->symbols, .is_innermost = c->lines_all};
	const struct model *m = c->model;

	*ret = (struct heap_rows){.heaps = mem_alloc((m->image_count + 1) * sizeof(struct heap))};
	for (size_t i = 0; i < m->image_count; i++) {
		struct heap *h = &ret->heaps[ret->heap_count];

		if (!heap_is_recorded(&m->images[i]))
			continue;
		heap_replay(m, &m->images[i], &attribution, h);
		ret->heap_count++;
		for (size_t k = 0; k < h->line_count; k++)
			list_add(ret, (struct heap_row){h, &h->lines[k]});
	}
	if (!ret->heap_count)
		table_lacks(table, "no allocations were recorded: record with --memory=all, python or native");
}

static void heap_rows_done(struct heap_rows *r)
{
	array_free(one, r->heaps, r->heap_count, heap_done(one));
	free(r->items);
}

static void line_cells(const struct heap_line *l, struct table *table)
{
	SCOPED(buffer) place = {0};

	table_cells(table, code_line_place(l->line, &place) ? place.data : "?", l->line->function);
}

PLACE_COMPARATOR(by_peak, struct heap_row,
		 order_of(b->line->values.peak, a->line->values.peak) ?:
		 order_of(b->line->values.allocated, a->line->values.allocated))

void report_mem_alloc_sum(const struct report_context *c, struct table *table)
{
	SCOPED(heap_rows) rows;
	SCOPED_MEMORY size_t *order = NULL;

	table_has(table, COL_PID, COL_SHARE_OF_PEAK_PERCENT, COL_IN_USE_AT_PEAK_MB, COL_GROWTH_MB, COL_NOT_FREED_MB,
		  COL_ALLOCATED_MB, COL_ALLOCATIONS, COL_SAMPLES, COL_LINE, COL_FUNCTION);
	heap_rows_gather(c, &rows, table);
	order = places_in_order(rows.count, by_peak, rows.items);
	for (size_t i = 0; i < rows.count; i++) {
		const struct heap_row *r = &rows.items[order[i]];
		const struct heap_values *v = &r->line->values;

		table_cells(table, r->heap->image->pid, share_percent((double)v->peak, (double)r->heap->peak), v->peak,
			    heap_growth(v), v->in_use, v->allocated, v->allocations, v->samples);
		line_cells(r->line, table);
	}
}

/* ---- what grows from step to step ---- */

PLACE_COMPARATOR(by_growth, struct heap_row,
		 order_of(heap_growth(&b->line->values), heap_growth(&a->line->values)) ?:
		 order_of(b->line->values.allocated, a->line->values.allocated))

void report_mem_leaks(const struct report_context *c, struct table *table)
{
	SCOPED(heap_rows) rows;
	SCOPED_MEMORY size_t *order = NULL;

	table_has(table, COL_PID, COL_GROWTH_MB, COL_PER_STEP_MB, COL_STEPS, COL_GROWING_PERCENT, COL_NOT_FREED_MB,
		  COL_LINE, COL_FUNCTION, COL_STEP);
	heap_rows_gather(c, &rows, table);
	order = places_in_order(rows.count, by_growth, rows.items);
	for (size_t i = 0; i < rows.count; i++) {
		const struct heap_row *r = &rows.items[order[i]];
		const struct heap *h = r->heap;

		if (!heap_line_grows(h, r->line))
			continue;
		table_cells(table, h->image->pid, heap_growth(&r->line->values),
			    (double)heap_growth(&r->line->values) / (double)h->instances, h->instances,
			    100.0 * r->line->values.grown / (double)(h->steps - 1), r->line->values.in_use);
		line_cells(r->line, table);
		table_text(table, h->step_name ? h->step_name : "(equal parts of the run)");
	}
}
