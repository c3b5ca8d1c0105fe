/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_event_sum, mpi_event_trace: calls of MPI in nsys's columns. mpi_sum and its views have more. */
#include <inttypes.h>
#include <string.h>

#include "report/causes/mpi/mpi_call.h"
#include "report/tables/sorted_rows.h"

static const struct function *mpi_function(const struct scan *s, const struct event *e)
{
	const struct function *f = event_function(s->image->trace, e);

	return f && f->group == TF_GROUP_MPI ? f : NULL;
}

/* ---- mpi_event_sum ---- */

struct source_of {
	const struct function *function;
	enum mpi_call_class class;
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

	buffer_field(fields, sources[o->class]);
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

SUM_REPORT(mpi_event_sum, .shape = {.total = COL_TOTAL_TIME_NS, .count = COL_INSTANCES,
				    .names = {COL_SOURCE, COL_NAME}, .has_percent = true},
	   .groups = 1u << TF_GROUP_MPI, .visit = sum_visit)

/* ---- mpi_event_trace ---- */

struct mpi_row {
	struct sorted_event event;
	uint32_t function;
	struct mpi_call call;
};

static void call_add(struct scan *s, const struct event *e)
{
	const struct function *f = mpi_function(s, e);
	struct mpi_row *row;

	if (!f)
		return;
	row = sorted_rows_add_event(s, e);
	row->function = e->id;
	mpi_call_of(s->image->trace, e, f, &row->call);
}

static void calls_collect(struct sorted_rows *rows)
{
	scan_events(&(struct scan){.context = rows->context, .more = rows, .groups = 1u << TF_GROUP_MPI}, call_add);
}

static void known_cell(struct table *table, int64_t value)
{
	table_cells(table, cell_if(value != MPI_CALL_UNKNOWN, (uint64_t)value));
}

static void call_cells(struct sorted_rows *rows, const void *of, struct table *table)
{
	const struct mpi_row *row = of;
	uint64_t start_ns = model_since_origin(rows->context->model, row->event.sorted.key[0]);
	const struct function *f = trace_function(row->event.image->trace, row->function);
	bool is_collective = row->call.class == MPI_CLASS_COLLECTIVE;

	table_cells(table, start_ns, start_ns + row->event.duration_ns, row->event.duration_ns, f ? f->name : "",
		    row->event.image->pid, row->event.thread->tid);
	known_cell(table, row->call.tag);
	table_text(table, image_rank(row->event.image));
	known_cell(table, row->call.peer);
	known_cell(table, row->call.root);
	known_cell(table, is_collective ? MPI_CALL_UNKNOWN : row->call.bytes);
	known_cell(table, is_collective ? row->call.bytes : MPI_CALL_UNKNOWN);
	table_nothing(table); /* what a rank receives is not recorded apart */
}

void report_mpi_event_trace(const struct report_context *c, struct table *table)
{
	static const struct row_report report = {
		{COL_START_NS, COL_END_NS, COL_DURATION_NS, COL_EVENT, COL_NSYS_PID, COL_NSYS_TID, COL_TAG, COL_RANK,
		 COL_PEERRANK, COL_ROOTRANK, COL_SIZE, COL_COLLSENDSIZE, COL_COLLRECVSIZE},
		sizeof(struct mpi_row), calls_collect, call_cells};

	report_rows(c, table, &report, NULL);
}
