/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_api_sum, osrt_sum, osrt_short_sum: calls by function. */
#include <errno.h>
#include <string.h>

#include "report.h"

static const struct sums_shape shape = {
	.total = "Total Time (ns)", .count = "Num Calls", .type = COLUMN_NS, .names = {"Name"}, .has_percent = true};

static uint32_t function_row(struct scan *s, uint32_t range, const char *name)
{
	struct buffer key = {0};
	uint32_t row;

	scan_group(s, range, &key);
	buffer_text(&key, name);
	row = scan_row(s, &key);
	buffer_done(&key);
	return row;
}

/* more points to the groups' bits */
static void visit_call(struct scan *s, const struct event *e)
{
	const struct function *f = e->kind == TF_CALL ? trace_function(s->image->trace, e->id) : NULL;
	uint32_t range;
	const uint64_t *known;
	uint64_t a, row;

	if (!f || f->group >= TF_GROUP_COUNT || !(*(const uint32_t *)s->more & 1u << f->group))
		return;
	range = scan_range(s, event_start(e));
	a = (uint64_t)(s->image - s->context->model->images) << 32 | range;
	known = sums_recall(s->sums, a, e->id);
	row = known ? *known : function_row(s, range, f->name);
	if (!known)
		sums_remember(s->sums, a, e->id, (uint32_t)row);
	sums_add(s->sums, (uint32_t)row, axis_duration(s->axis, e->duration));
}

static int calls(const struct report_context *c, struct table *table, uint32_t groups)
{
	struct sums sums = {.totals_only = c->totals_only};

	scan_sums(&(struct scan){.context = c, .sums = &sums, .more = &groups}, visit_call);
	sums_table(c, &sums, &shape, table);
	sums_done(&sums);
	return 0;
}

int report_cuda_api_sum(const struct report_context *c, struct table *table, struct err *err)
{
	(void)err;
	return calls(c, table, 1u << TF_GROUP_CUDA | 1u << TF_GROUP_CUDA_DRIVER);
}

int report_osrt_sum(const struct report_context *c, struct table *table, struct err *err)
{
	(void)err;
	return calls(c, table, 1u << TF_GROUP_OSRT);
}

static void add_counters(struct scan *s, const struct trace_thread *thread)
{
	s->thread = thread;
	for (uint32_t i = 0; i < thread->counter_count; i++) {
		const struct function *f = trace_function(s->image->trace, i);
		struct tf_counter counter;

		memcpy(&counter, &thread->counters[i], sizeof(counter));
		if (f && f->group == TF_GROUP_OSRT && counter.calls)
			sums_add_total(s->sums, function_row(s, 0, f->name), counter.calls,
				       axis_duration(s->axis, counter.ticks));
	}
}

int report_osrt_short_sum(const struct report_context *c, struct table *table, struct err *err)
{
	struct sums_shape totals = shape;
	struct sums sums = {0};
	struct scan s = {.context = c, .sums = &sums};

	if (c->model->is_filtered)
		return err_set(err, -ENODATA, "calls below the threshold are counted, not timed: a filter does not apply");
	for (size_t i = 0; i < c->model->image_count; i++) {
		s.image = &c->model->images[i];
		s.axis = &c->model->machines[s.image->machine].axis;
		s.thread = NULL;
		for (size_t k = 0; s.image->trace && k < s.image->trace->thread_count; k++)
			add_counters(&s, &s.image->trace->threads[k]);
		for (size_t k = 0; !s.image->trace && k < s.image->short_count; k++)
			sums_add_total(&sums, function_row(&s, 0, s.image->shorts[k].name), s.image->shorts[k].calls,
				       axis_duration(s.axis, s.image->shorts[k].ticks));
	}
	totals.totals_only = true;
	sums_table(c, &sums, &totals, table);
	sums_done(&sums);
	return 0;
}
