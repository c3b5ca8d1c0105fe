/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_api_trace: each CUDA call, ordered by start. */
#include "report/events/cuda/correlate.h"
#include "report/tables/sorted_rows.h"

struct cuda_row {
	struct sorted_event call;
	uint64_t correlation;
	uint32_t function, error;
};

static void call_add(struct scan *s, const struct event *e)
{
	const struct sorted_rows *rows = s->more;
	const struct function *f = event_function(s->image->trace, e);
	struct cuda_row *row;

	if (!f || !f->kind.cuda)
		return;
	row = sorted_rows_add_event(s, e);
	row->function = e->id;
	row->error = (uint32_t)tf_arg_value(event_arg(e, TF_ARG_RESULT));
	row->correlation = correlation_of(rows->data, e);
}

static void calls_collect(struct sorted_rows *rows)
{
	const struct report_context *c = rows->context;
	struct scan s = {.context = c, .more = rows};

	for (size_t i = 0; i < c->model->image_count; i++) {
		correlation_ids(c, &c->model->images[i], rows->data);
		s.image = &c->model->images[i];
		scan_image(&s, call_add);
		correlation_ids_done(rows->data);
	}
}

static void call_cells(struct sorted_rows *rows, const void *of, struct table *table)
{
	const struct cuda_row *row = of;
	const struct function *f = trace_function(row->call.image->trace, row->function);

	table_cells(table, model_since_origin(rows->context->model, row->call.sorted.key[0]), row->call.duration_ns,
		    f ? f->name : "", row->error, cell_if(row->correlation, row->correlation), row->call.image->pid,
		    row->call.thread->tid);
	table_nothing(table); /* priorities are not recorded */
	table_text(table, row->call.thread->name);
}

void report_cuda_api_trace(const struct report_context *c, struct table *table)
{
	static const struct row_report report = {
		{COL_START_NS, COL_DURATION_NS, COL_NAME, COL_RESULT, COL_NSYS_CORR_ID, COL_NSYS_PID, COL_NSYS_TID,
		 COL_T_PRI, COL_THREAD_NAME},
		sizeof(struct cuda_row), calls_collect, call_cells};

	struct correlation_ids ids = {0};

	report_rows(c, table, &report, &ids);
}
