/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_event_sum, mpi_event_trace: calls of MPI in nsys's columns. mpi_sum and its views have more. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/derive/mpi/mpi_call.h"
#include "report/stats/report.h"

static const struct function *mpi_function(const struct scan *s, const struct event *e)
{
	const struct function *f = e->kind == TF_CALL ? trace_function(s->image->trace, e->id) : NULL;

	return f && f->group == TF_GROUP_MPI ? f : NULL;
}

/* ---- mpi_event_sum ---- */

struct source_of {
	const struct function *function;
	enum mpi_class class;
};

static bool source_key(struct scan *s, const void *of, struct buffer *fields)
{
	static const char *const sources[] = {
		[MPI_CLASS_P2P] = "P2P",
		[MPI_CLASS_COLLECTIVE] = "COLLECTIVES",
		[MPI_CLASS_WAIT] = "START_WAIT",
		[MPI_CLASS_OTHER] = "OTHER",
	};
	const struct source_of *o = of;

	buffer_text(fields, sources[o->class]);
	buffer_add(fields, "", 1);
	return scan_name_key(s, o->function, fields);
}

static void sum_visit(struct scan *s, const struct event *e)
{
	const struct function *f = mpi_function(s, e);
	struct source_of of = {.function = f};
	struct mpi_call call;

	if (!f)
		return;
	mpi_call_of(s->image->trace, e, f, &call);
	of.class = call.class;
	scan_add_call(s, e, e->id, source_key, &of);
}

int report_mpi_event_sum(const struct report_context *c, struct table *table, struct err *err)
{
	static const struct aggregate_shape shape = {.total = COL_TOTAL_TIME_NS,
						     .count = COL_INSTANCES,
						     .names = {COL_SOURCE, COL_NAME},
						     .has_percent = true};
	struct aggregate aggregate = {.totals_only = c->totals_only};
	struct scan s = {.context = c, .aggregate = &aggregate, .groups = 1u << TF_GROUP_MPI};

	(void)err;
	scan_aggregate(&s, sum_visit);
	aggregate_table(c, &aggregate, &shape, table);
	aggregate_done(&aggregate);
	return 0;
}

/* ---- mpi_event_trace ---- */

struct line {
	uint64_t start_ns, duration_ns;
	const struct image *image;
	const struct trace_thread *thread;
	uint32_t function;
	struct mpi_call call;
};

struct lines {
	struct line *items;
	size_t count, capacity;
};

static void trace_visit(struct scan *s, const struct event *e)
{
	struct lines *l = s->more;
	const struct function *f = mpi_function(s, e);
	struct line *line;

	if (!f)
		return;
	l->items = mem_grow(l->items, l->count, &l->capacity, sizeof(*l->items));
	line = &l->items[l->count++];
	*line = (struct line){.image = s->image, .thread = s->thread, .function = e->id};
	line->duration_ns = clock_map_duration(s->clock, e->duration);
	line->start_ns = clock_map_ns(s->clock, e->ticks) - line->duration_ns;
	mpi_call_of(s->image->trace, e, f, &line->call);
}

static int lines_by_start(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	return order_of(a->start_ns, b->start_ns) ?: order_of((uintptr_t)a->image, (uintptr_t)b->image) ?:
	       order_of((uintptr_t)a->thread, (uintptr_t)b->thread);
}

static void known_cell(struct table *table, int64_t value)
{
	table_number_if(table, value != MPI_CALL_UNKNOWN, (uint64_t)value);
}

static void trace_row(const struct model *m, struct table *table, const struct line *l)
{
	const struct function *f = trace_function(l->image->trace, l->function);
	bool is_collective = l->call.class == MPI_CLASS_COLLECTIVE;

	table_number(table, model_since_origin(m, l->start_ns));
	table_number(table, model_since_origin(m, l->start_ns) + l->duration_ns);
	table_number(table, l->duration_ns);
	table_text(table, f ? f->name : "");
	table_number(table, l->image->pid);
	table_number(table, l->thread->tid);
	known_cell(table, l->call.tag);
	table_text(table, image_rank(l->image));
	known_cell(table, l->call.peer);
	known_cell(table, l->call.root);
	known_cell(table, is_collective ? MPI_CALL_UNKNOWN : l->call.bytes);
	known_cell(table, is_collective ? l->call.bytes : MPI_CALL_UNKNOWN);
	table_nothing(table); /* what a rank receives is not recorded apart */
}

int report_mpi_event_trace(const struct report_context *c, struct table *table, struct err *err)
{
	struct lines l = {0};
	struct scan s = {.context = c, .more = &l, .groups = 1u << TF_GROUP_MPI};

	(void)err;
	table_has(table, COL_START_NS, COL_END_NS, COL_DURATION_NS, COL_EVENT, COL_NSYS_PID, COL_NSYS_TID, COL_TAG,
		  COL_RANK, COL_PEERRANK, COL_ROOTRANK, COL_SIZE, COL_COLLSENDSIZE, COL_COLLRECVSIZE);
	scan_events(&s, trace_visit);
	if (l.count)
		qsort(l.items, l.count, sizeof(*l.items), lines_by_start);
	for (size_t i = 0; i < l.count; i++)
		trace_row(c->model, table, &l.items[i]);
	free(l.items);
	return 0;
}
