/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_sum and its views: calls of MPI by function, and by peer, communicator, source line or message size. */
#include <inttypes.h>
#include <string.h>

#include "report/names/attribution.h"
#include "report/read/operation.h"
#include "report/tables/report.h"

struct mpi_operation {
	const struct function *function;
	const struct event *event;
	struct tf_operation operation;
};

/* One report. */
struct mpi_report {
	/* Appends the fields of the key; false: the report does not cover the call. */
	bool (*key)(struct scan *s, const struct mpi_operation *call, struct buffer *fields);
	/* the argument of a call, beside its function, that decides its row */
	enum tf_arg_kind by;
	struct aggregate_shape shape;
};

struct visit {
	const struct mpi_report *view;
	struct attribution attribution;
};

/* ---- keys ---- */

static bool function_key(struct scan *s, const struct mpi_operation *c, struct buffer *fields)
{
	(void)s;
	buffer_field(fields, c->function->name);
	return true;
}

/* MPI_COMM_WORLD and MPI_COMM_SELF are known in all ranks, and so is the number of a communicator that was made of
 * others; an intercommunicator is known by the handle of its process, which is an address in Open MPI. */
static void add_communicator(const struct mpi_operation *c, struct buffer *fields)
{
	if (!operation_value(&c->operation, TF_GROUP_MPI, TF_FIELD_COMMUNICATOR_OF_MPI, fields))
		operation_value(&c->operation, TF_GROUP_MPI, TF_FIELD_COMMUNICATOR, fields);
	buffer_field(fields, "");
}

/* The peer of a message, or the root of a collective. */
static bool peer_key(struct scan *s, const struct mpi_operation *c, struct buffer *fields)
{
	int64_t peer;

	if (!operation_field(&c->operation, TF_FIELD_PEER, &peer))
		return false;
	function_key(s, c, fields);
	buffer_print(fields, "%" PRId64, peer);
	buffer_field(fields, "");
	add_communicator(c, fields);
	return true;
}

static bool communicator_key(struct scan *s, const struct mpi_operation *c, struct buffer *fields)
{
	int64_t communicator;

	if (!operation_field(&c->operation, TF_FIELD_COMMUNICATOR, &communicator))
		return false;
	function_key(s, c, fields);
	add_communicator(c, fields);
	return true;
}

static bool line_key(struct scan *s, const struct mpi_operation *c, struct buffer *fields)
{
	struct visit *v = s->more;
	uint64_t stack = c->event->args_count ? event_arg(c->event, TF_ARG_STACK) : 0;

	function_key(s, c, fields);
	v->attribution.symbols = s->context->symbols;
	attribution_text(&v->attribution, s->image, (uint32_t)tf_arg_value(stack), "?", fields);
	buffer_field(fields, "");
	return true;
}

/* The largest power of two that is not above the size, so that 1024 stands for 1024 to 2047 bytes. */
static bool size_key(struct scan *s, const struct mpi_operation *c, struct buffer *fields)
{
	double bytes = operation_bytes(c->function, &c->operation);
	uint64_t least = 1;
	int64_t count;

	if (!operation_field(&c->operation, TF_FIELD_COUNT, &count) || bytes >= 9e18)
		return false;
	while (least * 2 <= (uint64_t)bytes)
		least *= 2;
	function_key(s, c, fields);
	buffer_print(fields, "%" PRIu64, bytes > 0 ? least : 0);
	buffer_field(fields, "");
	return true;
}

/* ---- reading ---- */

static bool call_key(struct scan *s, const void *of, struct buffer *fields)
{
	const struct visit *v = s->more;

	return v->view->key(s, of, fields);
}

static void mpi_visit_call(struct scan *s, const struct event *e)
{
	const struct visit *v = s->more;
	struct mpi_operation c = {.event = e};
	uint64_t by = 0;
	uint32_t row;

	c.function = scan_is_call(e) ? trace_function(s->image->trace, e->id) : NULL;
	if (!c.function || c.function->group != TF_GROUP_MPI)
		return;
	operation_of(s->image->trace, e, &c.operation);
	if (e->args_count && v->view->by)
		by = tf_arg_value(event_arg(e, v->view->by));
	row = scan_row_of(s, event_start(e), (uint64_t)e->id << 48 | by, call_key, &c);
	if (row == SCAN_NO_ROW)
		return;
	scan_add_to(s, e, row);
	if (!s->aggregate->pass) {
		double bytes = operation_bytes(c.function, &c.operation);

		bytes *= e->kind == TF_SUM ? (double)event_sum(e).count : 1;

		s->aggregate->rows[row].report_value += bytes < 1e15 ? (uint64_t)bytes : 0;
	}
}

static void mpi_view(const struct report_context *c, struct table *table, const struct mpi_report *view)
{
	SCOPED(aggregate) aggregate = {.totals_only = c->totals_only};
	struct visit v = {.view = view};

	scan_aggregate(&(struct scan){.context = c,
				      .aggregate = &aggregate,
				      .groups = 1u << TF_GROUP_MPI,
				      .more = &v},
		       mpi_visit_call);
	aggregate_table(c, &aggregate, &view->shape, table);
	attribution_done(&v.attribution);
}

/* ---- the reports ---- */

#define MPI_VIEW(report, key, by, ...)                                                                                 \
	void report_##report(const struct report_context *c, struct table *table)                                      \
	{                                                                                                              \
		static const struct mpi_report view = {                                                                \
			key,                                                                                           \
			by,                                                                                            \
			{.total = COL_TOTAL_TIME_NS,                                                                   \
			 .count = COL_NUM_CALLS,                                                                       \
			 .has_percent = true,                                                                          \
			 .names = {__VA_ARGS__},                                                                       \
			 .more = {{COL_BYTES, sum_bytes_cell},                                                         \
				  {COL_BANDWIDTH_GB_PER_S, sum_rate_cell}}}};                                          \
                                                                                                                       \
		mpi_view(c, table, &view);                                                                             \
	}

MPI_VIEW(mpi_sum, function_key, 0, COL_NAME)
MPI_VIEW(mpi_peer_sum, peer_key, TF_ARG_OPERATION, COL_NAME, COL_PEER, COL_COMMUNICATOR)
MPI_VIEW(mpi_comm_sum, communicator_key, TF_ARG_OPERATION, COL_NAME, COL_COMMUNICATOR)
MPI_VIEW(mpi_line_sum, line_key, TF_ARG_STACK, COL_NAME, COL_LINE)
MPI_VIEW(mpi_msg_size_sum, size_key, TF_ARG_OPERATION, COL_NAME, COL_LEAST_SIZE_BYTES)
