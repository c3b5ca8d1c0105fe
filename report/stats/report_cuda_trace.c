/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_api_trace: each CUDA call, ordered by start. */
#include <stdlib.h>

#include "report/stats/report.h"
#include "report/derive/device/correlate.h"

struct line {
	uint64_t start_ns, duration_ns, correlation;
	const struct image *image;
	const struct trace_thread *thread;
	uint32_t function, error;
};

struct lines {
	struct correlation_ids ids;
	struct line *items;
	size_t count, capacity;
};

static void calls_collect(struct scan *s, const struct event *e)
{
	struct lines *l = s->more;
	const struct function *f = e->kind == TF_CALL ? trace_function(s->image->trace, e->id) : NULL;
	uint64_t duration = clock_map_duration(s->clock, e->duration);

	if (!f || (f->group != TF_GROUP_CUDA && f->group != TF_GROUP_CUDA_DRIVER))
		return;
	l->items = mem_grow(l->items, l->count, &l->capacity, sizeof(*l->items));
	l->items[l->count++] = (struct line){
		.start_ns = clock_map_ns(s->clock, e->ticks) - duration,
		.duration_ns = duration,
		.image = s->image,
		.thread = s->thread,
		.function = e->id,
		.error = (uint32_t)tf_arg_value(event_arg(e, TF_ARG_RESULT)),
		.correlation = correlation_of(&l->ids, e),
	};
}

static int calls_by_start(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	return order_of(a->start_ns, b->start_ns) ?: order_of((uintptr_t)a->image, (uintptr_t)b->image) ?:
	       order_of((uintptr_t)a->thread, (uintptr_t)b->thread);
}

static void cuda_trace_add_row(const struct model *m, struct table *table, const struct line *l)
{
	const struct function *f = trace_function(l->image->trace, l->function);

	table_number(table, model_since_origin(m, l->start_ns));
	table_number(table, l->duration_ns);
	table_text(table, f ? f->name : "");
	table_number(table, l->error);
	table_number_if(table, l->correlation, l->correlation);
	table_number(table, l->image->pid);
	table_number(table, l->thread->tid);
	table_nothing(table); /* priorities are not recorded */
	table_text(table, l->thread->name);
}

int report_cuda_api_trace(const struct report_context *c, struct table *table, struct err *err)
{
	struct lines l = {0};
	struct scan s = {.context = c, .more = &l};

	(void)err;
	table_has(table, COL_START_NS, COL_DURATION_NS, COL_NAME, COL_RESULT, COL_NSYS_CORR_ID, COL_NSYS_PID,
		  COL_NSYS_TID, COL_T_PRI, COL_THREAD_NAME);
	for (size_t i = 0; i < c->model->image_count; i++) {
		correlation_ids(c, &c->model->images[i], &l.ids);
		s.image = &c->model->images[i];
		scan_image(&s, calls_collect);
		correlation_ids_done(&l.ids);
	}
	if (l.count)
		qsort(l.items, l.count, sizeof(*l.items), calls_by_start);
	for (size_t i = 0; i < l.count; i++)
		cuda_trace_add_row(c->model, table, &l.items[i]);
	free(l.items);
	return 0;
}
