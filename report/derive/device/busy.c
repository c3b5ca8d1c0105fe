/* SPDX-License-Identifier: Apache-2.0 */
#include "report/derive/device/busy.h"

#include "report/base/runs.h"

size_t busy_stretch = 1u << 20;

struct state {
	const struct report_context *report;
	const struct image *image;
	struct runs runs; /* of struct busy */
	uint64_t count;
	struct map works; /* image and id -> kind << 56 | device << 32 | context */
};

static void place(struct state *s, uint32_t id, struct busy *b)
{
	bool is_new;
	uint64_t *known = map_put(&s->works, (uint64_t)(s->image - s->report->model->images), id, &is_new);
	struct tf_work work;

	if (is_new)
		*known = device_work(s->image->trace, id, &work) ? (uint64_t)work.kind << 56 | (uint64_t)(work.device & 0xffffff) << 32 | work.context : 0;
	b->kind = (uint8_t)(*known >> 56);
	b->device = (uint32_t)(*known >> 32) & 0xffffff;
	b->context = (uint32_t)*known;
}

static struct busy *keep(struct state *s, const struct device_record *r)
{
	uint64_t start = axis_monotonic(&s->report->model->machines[s->image->machine].axis, r->start_ns);
	struct busy *b = runs_add(&s->runs);

	s->count++;
	*b = (struct busy){.start = start, .end = start + r->duration_ns, .image = s->image, .work = r->work};
	if (b->end < b->start)
		b->end = b->start;
	place(s, r->work, b);
	return b;
}

static void keep_record(struct scan *scan, const struct device_record *r)
{
	keep(scan->more, r);
}

static void keep_correlated(void *context, const struct correlated *k)
{
	struct state *s = context;
	const struct axis *axis = &s->report->model->machines[s->image->machine].axis;

	for (size_t i = 0; i < k->record_count; i++) {
		struct busy *b = keep(s, &k->records[i]);

		if (!k->thread)
			continue;
		b->thread = k->thread;
		b->call_end = axis_ns(axis, k->event.ticks);
		b->call_start = b->call_end - axis_duration(axis, k->event.duration);
		b->function = k->event.id;
		b->stack = k->event.args_count ? (uint32_t)tf_arg_value(event_arg(&k->event, TF_ARG_STACK)) : 0;
	}
}

static int by_start(const void *left, const void *right)
{
	const struct busy *a = left, *b = right;

	return order_of(a->start, b->start) ?: order_of(a->end, b->end);
}

uint64_t busy_process(const struct report_context *c, size_t process, bool with_calls, void *context,
		      void (*visit)(void *context, const struct busy *))
{
	const struct process *p = &c->model->processes[process];
	struct state s = {.report = c};
	const struct busy *b;

	runs_init(&s.runs, sizeof(struct busy), busy_stretch, by_start);
	for (size_t i = 0; i < p->image_count; i++) {
		struct scan scan = {.context = c, .image = &c->model->images[p->first_image + i], .more = &s};

		s.image = scan.image;
		if (!scan.image->trace)
			continue;
		if (with_calls)
			correlate_image(c, s.image, &s, keep_correlated, NULL);
		else
			device_scan_image(&scan, keep_record, NULL);
	}
	while ((b = runs_next(&s.runs)) != NULL)
		visit(context, b);
	runs_done(&s.runs);
	map_done(&s.works);
	return s.count;
}
