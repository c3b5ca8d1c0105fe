/* SPDX-License-Identifier: Apache-2.0 */
#include "busy.h"

#include <stdlib.h>

size_t busy_stretch = 1u << 20;

enum { RECORD_BYTES = 48 }; /* of a trace, about: a call, its record, CUPTI's record of the call */

struct state {
	const struct report_context *report;
	const struct image *image;
	uint64_t low, high, first, last, count;
	bool is_measuring; /* the first time: all is counted, and kept while it is little */
	struct busy *items;
	size_t item_count, capacity;
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

static uint64_t start_of(const struct state *s, const struct device_record *r)
{
	return axis_monotonic(&s->report->model->machines[s->image->machine].axis, r->start_ns);
}

static void measure(struct state *s, uint64_t start)
{
	if (!s->count++ || start < s->first)
		s->first = start;
	if (start > s->last)
		s->last = start;
}

static struct busy *keep(struct state *s, const struct device_record *r)
{
	uint64_t start = start_of(s, r);
	struct busy *b;

	if (s->is_measuring)
		measure(s, start);
	if (s->is_measuring ? s->count >= busy_stretch : start < s->low || start - s->low >= s->high - s->low)
		return NULL;
	s->items = mem_grow(s->items, s->item_count, &s->capacity, sizeof(*s->items));
	b = &s->items[s->item_count++];
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

		if (!b || !k->thread)
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

static void load(struct state *s, size_t process, bool with_calls)
{
	const struct process *p = &s->report->model->processes[process];

	s->item_count = 0;
	for (size_t i = 0; i < p->image_count; i++) {
		struct scan scan = {.context = s->report, .more = s};

		scan.image = s->image = &s->report->model->images[p->first_image + i];
		if (!scan.image->trace)
			continue;
		if (!with_calls)
			device_scan_image(&scan, keep_record, NULL);
		else
			correlate_image(s->report, s->image, s, keep_correlated, NULL);
	}
}

static void tell(struct state *s, void *context, void (*visit)(void *, const struct busy *))
{
	if (s->item_count)
		qsort(s->items, s->item_count, sizeof(*s->items), by_start);
	for (size_t k = 0; k < s->item_count; k++)
		visit(context, &s->items[k]);
}

/* Matching calls for more than can be kept would be in vain. */
static bool may_be_few(const struct process *p, const struct model *m)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < p->image_count; i++)
		bytes += m->images[p->first_image + i].trace ? m->images[p->first_image + i].trace->bytes.size : 0;
	return bytes < RECORD_BYTES * (uint64_t)busy_stretch;
}

uint64_t busy_process(const struct report_context *c, size_t process, bool with_calls, void *context,
		      void (*visit)(void *context, const struct busy *))
{
	struct state s = {.report = c, .is_measuring = true};
	bool is_whole = !with_calls || may_be_few(&c->model->processes[process], c->model);
	uint64_t stretches, step;

	load(&s, process, with_calls && is_whole);
	s.is_measuring = false;
	stretches = s.count / busy_stretch + 1;
	step = (s.last - s.first) / stretches + 1;
	is_whole &= stretches == 1;
	if (is_whole)
		tell(&s, context, visit);
	for (uint64_t i = 0; !is_whole && i < stretches; i++) {
		s.low = s.first + i * step;
		s.high = s.low + step;
		load(&s, process, with_calls);
		tell(&s, context, visit);
	}
	free(s.items);
	map_done(&s.works);
	return s.count;
}
