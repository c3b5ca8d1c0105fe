/* SPDX-License-Identifier: Apache-2.0 */
/* hdf5_sum: calls of HDF5 by function, file and object. */

#include "report/read/operation.h"
#include "report/tables/report.h"

struct hdf5_call {
	const struct function *function;
	struct tf_operation operation;
};

static bool object_key(struct scan *s, const void *of, struct buffer *fields)
{
	const struct hdf5_call *c = of;
	SCOPED(buffer) file = {0}, path = {0};

	operation_object(s->image->trace, &c->operation, &file, &path);
	buffer_field(fields, c->function->name);
	buffer_field(fields, buffer_string(&file));
	buffer_field(fields, buffer_string(&path));
	return true;
}

static void visit_call(struct scan *s, const struct event *e)
{
	struct hdf5_call c = {0};
	uint64_t operation;
	uint32_t row;
	double bytes;

	c.function = scan_is_call(e) ? trace_function(s->image->trace, e->id) : NULL;
	if (!c.function || c.function->group != TF_GROUP_HDF5)
		return;
	operation_of(s->image->trace, e, &c.operation);
	operation = e->args_count ? tf_operation_id(event_arg(e, TF_ARG_OPERATION)) : 0;
	row = scan_row_of(s, event_start(e), (uint64_t)e->id << 48 | operation, object_key, &c);
	if (row == SCAN_NO_ROW)
		return;
	scan_add_to(s, e, row);
	if (s->aggregate->pass)
		return;
	bytes = operation_bytes(c.function, &c.operation) *
		(e->kind == TF_SUM ? (double)event_sum(e).count : 1);
	s->aggregate->rows[row].report_value += bytes < 1e15 ? (uint64_t)bytes : 0;
}

SUM_REPORT(hdf5_sum,
	   .shape = {.total = COL_TOTAL_TIME_NS, .count = COL_NUM_CALLS, .has_percent = true,
		     .names = {COL_NAME, COL_FILE, COL_OBJECT},
		     .more = {{COL_BYTES, sum_bytes_cell}, {COL_BANDWIDTH_GB_PER_S, sum_rate_cell}}},
	   .groups = 1u << TF_GROUP_HDF5, .visit = visit_call)
