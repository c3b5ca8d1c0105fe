/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_wait_sum: how long ranks waited in MPI until others began, and for whom. mpi_matrix: messages between ranks. */
#include <inttypes.h>

#include "report/causes/mpi/mpi_wait.h"
#include "report/names/attribution.h"
#include "report/read/operation.h"
#include "report/tables/report.h"

static const char *const kinds[MPI_WAIT_KINDS] = {
	[MPI_LATE_SENDER] = "late sender",
	[MPI_LATE_RECEIVER] = "late receiver",
	[MPI_LATE_IN_COLLECTIVE] = "wait at collective",
};

/* The fields of a key, after that of --by. Lines are "?" of calls without a stack. */
enum mpi_wait_field { WAIT_KIND, WAIT_NAME, WAIT_LINE, WAIT_RANK, WAIT_LATE_NAME, WAIT_LATE_LINE };

struct wait_sum {
	struct scan scan;
	struct attribution attribution;
	struct map places; /* (image and function, stack) -> number + 1 of a line of code that calls a function */
};

static uint64_t place_of(struct wait_sum *s, const struct mpi_side *side)
{
	uint64_t image = (uint64_t)(side->image - s->scan.context->model->images);
	uint64_t *place = map_put(&s->places, image << 32 | side->function, side->stack, NULL);

	if (!*place)
		*place = s->places.count;
	return *place;
}

static void add_side(struct wait_sum *s, const struct mpi_side *side, struct buffer *key)
{
	const struct function *f = trace_function(side->image->trace, side->function);

	buffer_print(key, "%s%c", f ? f->name : "?", 0);
	attribution_text(&s->attribution, side->image, side->stack, "?", key);
	buffer_add(key, "", 1);
}

static uint32_t make_row(struct wait_sum *s, const struct mpi_wait *w)
{
	SCOPED(buffer) key = {0};
	uint32_t row;

	scan_group(&s->scan, 0, &key);
	buffer_print(&key, "%s%c", kinds[w->kind], 0);
	add_side(s, &w->waiting, &key);
	buffer_print(&key, "%" PRIu32 "%c", w->late.rank, 0);
	add_side(s, &w->late, &key);
	row = scan_row(&s->scan, &key);
	s->scan.aggregate->rows[row].report_value = w->late.rank;
	return row;
}

static void add_wait(void *context, const struct mpi_wait *w)
{
	struct wait_sum *s = context;
	uint64_t waiting = place_of(s, &w->waiting), late = place_of(s, &w->late) << 2 | w->kind;
	const uint64_t *known = aggregate_recall(s->scan.aggregate, waiting, late);
	uint32_t row;

	s->scan.image = w->waiting.image;
	row = known ? (uint32_t)*known : make_row(s, w);
	if (!known)
		aggregate_remember(s->scan.aggregate, waiting, late, row);
	aggregate_add(s->scan.aggregate, row, w->ns);
}

void report_mpi_wait_sum(const struct report_context *c, struct table *table)
{
	SCOPED(aggregate) sum = {.totals_only = true};
	struct wait_sum s = {.scan = {.context = c, .aggregate = &sum}, .attribution = {.symbols = c->symbols}};
	struct mpi_wait_counts counts;
	double all;

	mpi_waits(c->model, &s, add_wait, NULL, NULL, &counts);
	attribution_done(&s.attribution);
	map_done(&s.places);
	by_column(c, table);
	table_has(table, COL_TIME_PERCENT, COL_TOTAL_WAIT_NS, COL_WAITS, COL_AVG_NS, COL_MAX_NS, COL_KIND, COL_NAME,
		  COL_LINE, COL_LATE_RANK, COL_LATE_NAME, COL_LATE_LINE);
	aggregate_sort(&sum);
	all = array_sum(row, sum.rows, sum.count, (double)row->total);
	array_each(const struct aggregate_row, r, sum.rows, sum.count) {
		size_t first = by_key_cell(c, table, r);

		table_cells(table, 100 * (double)r->total / all, r->total, r->count,
			    (double)r->total / (double)r->count, r->most, aggregate_field(r, first + WAIT_KIND),
			    aggregate_field(r, first + WAIT_NAME), aggregate_field(r, first + WAIT_LINE),
			    r->report_value, aggregate_field(r, first + WAIT_LATE_NAME),
			    aggregate_field(r, first + WAIT_LATE_LINE));
	}
	if (!counts.jobs)
		table_lacks(table, "calls of MPI were not matched: %s",
			    counts.reason ? counts.reason
					  : "there are not two ranks that were recorded since MPI_Init");
}

/* ---- messages between ranks ---- */

static bool matrix_key(struct scan *s, const void *of, struct buffer *fields)
{
	const struct tf_operation *op = of;
	int64_t peer;

	if (!operation_field(op, TF_FIELD_PEER, &peer) || peer < 0)
		return false;
	buffer_field(fields, s->context->model->processes[s->image->process].rank);
	buffer_print(fields, "%" PRId64, peer);
	buffer_add(fields, "", 1);
	if (!operation_value(op, TF_GROUP_MPI, TF_FIELD_COMMUNICATOR_OF_MPI, fields))
		operation_value(op, TF_GROUP_MPI, TF_FIELD_COMMUNICATOR, fields);
	buffer_add(fields, "", 1);
	return true;
}

static void matrix_visit(struct scan *s, const struct event *e)
{
	const struct function *f = event_function(s->image->trace, e);
	uint8_t class = f && f->group == TF_GROUP_MPI ? f->kind.match : MPI_NOTHING;
	struct tf_operation op;
	uint32_t row;
	double bytes;

	if ((class != MPI_SEND && class != MPI_SEND_LATER && class != MPI_SEND_AND_RECEIVE &&
	     class != MPI_SEND_AND_RECEIVE_LATER) ||
	    !operation_of(s->image->trace, e, &op))
		return;
	row = scan_row_of(s, event_start(e), tf_operation_id(event_arg(e, TF_ARG_OPERATION)), matrix_key, &op);
	bytes = operation_bytes(f, &op);
	if (row != SCAN_NO_ROW)
		aggregate_add_total(s->aggregate, row, 1, bytes < 1e15 ? (uint64_t)bytes : 0);
}

void report_mpi_matrix(const struct report_context *c, struct table *table)
{
	struct report_context whole = *c;
	SCOPED(aggregate) sum = {.totals_only = true};

	whole.by = BY_NOTHING;
	scan_events(&(struct scan){.context = &whole, .aggregate = &sum, .args = 1u << TF_ARG_OPERATION}, matrix_visit);
	table_has(table, COL_FROM_RANK, COL_TO_RANK, COL_COMMUNICATOR, COL_MESSAGES, COL_BYTES, COL_AVG_SIZE_BYTES);
	aggregate_sort(&sum);
	array_each(const struct aggregate_row, r, sum.rows, sum.count) {
		for (size_t field = 0; field < 3; field++)
			table_text(table, aggregate_field(r, field));
		table_cells(table, r->count, r->total, r->total / r->count);
	}
}
