/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_api_sum, osrt_sum, osrt_short_sum: calls by function; openmp_sum, which has none. */
#include <errno.h>
#include <string.h>

#include "report/derive/events/filter.h"
#include "report/stats/report.h"

static const struct sums_shape shape = {
	.total = "Total Time (ns)", .count = "Num Calls", .type = COLUMN_NS, .names = {"Name"}, .has_percent = true};

/* more points to the groups' bits */
static void visit_call(struct scan *s, const struct event *e)
{
	const struct function *f = e->kind == TF_CALL ? trace_function(s->image->trace, e->id) : NULL;

	if (f && f->group < TF_GROUP_COUNT && *(const uint32_t *)s->more & 1u << f->group)
		scan_add_call(s, e, e->id, scan_name_key, f);
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

/* Counters have no time, and so no range. */
static void add_short(struct scan *s, const char *name, uint64_t calls, uint64_t ticks)
{
	struct buffer key = {0};

	scan_group(s, 0, &key);
	buffer_text(&key, name);
	sums_add_total(s->sums, scan_row(s, &key), calls, axis_duration(s->axis, ticks));
	buffer_done(&key);
}

static void add_counters(struct scan *s, const struct trace_thread *thread)
{
	s->thread = thread;
	for (uint32_t i = 0; i < thread->counter_count; i++) {
		const struct function *f = trace_function(s->image->trace, i);
		struct tf_counter counter;

		memcpy(&counter, &thread->counters[i], sizeof(counter));
		if (f && f->group == TF_GROUP_OSRT && counter.calls)
			add_short(s, f->name, counter.calls, counter.ticks);
	}
}

int report_osrt_short_sum(const struct report_context *c, struct table *table, struct err *err)
{
	struct sums_shape totals = shape;
	struct sums sums = {0};
	struct scan s = {.context = c, .sums = &sums};

	if (filter_is_set(c->model))
		return err_set(err, -ENODATA, "calls below the threshold are counted, not timed: a filter does not apply");
	for (size_t i = 0; i < c->model->image_count; i++) {
		s.image = &c->model->images[i];
		s.axis = &c->model->machines[s.image->machine].axis;
		s.thread = NULL;
		for (size_t k = 0; s.image->trace && k < s.image->trace->thread_count; k++)
			add_counters(&s, &s.image->trace->threads[k]);
		for (size_t k = 0; !s.image->trace && k < s.image->short_count; k++)
			add_short(&s, s.image->shorts[k].name, s.image->shorts[k].calls, s.image->shorts[k].ticks);
	}
	totals.totals_only = true;
	sums_table(c, &sums, &totals, table);
	sums_done(&sums);
	return 0;
}

/* nsys's columns, so that what reads them finds them. */
int report_openmp_sum(const struct report_context *c, struct table *table, struct err *err)
{
	struct sums_shape empty = shape;
	struct sums none = {0};

	empty.count = "Count";
	sums_table(c, &none, &empty, table);
	return err_set(err, -ENODATA, "pillion does not record OpenMP");
}
