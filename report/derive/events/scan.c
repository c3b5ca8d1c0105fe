/* SPDX-License-Identifier: Apache-2.0 */
/* Reads events for a report, and groups its rows. */
#include "report/derive/events/scan.h"

#include <inttypes.h>
#include <string.h>

#include "report/derive/events/filter.h"

const char *const by_names[BY_COUNT] = {"", "process", "rank", "host", "thread", "device", "range"};

void scan_image(struct scan *s, void (*visit)(struct scan *, const struct event *))
{
	const struct trace *t = s->image->trace;

	s->clock = &s->context->model->machines[s->image->machine].clock;
	for (size_t k = 0; t && k < t->thread_count; k++) {
		struct cursor cursor;
		struct event event;

		s->thread = &t->threads[k];
		if (s->args && !(s->thread->args & s->args))
			continue;
		filter_cursor_init(&cursor, t, s->thread);
		while (cursor_next(&cursor, &event))
			visit(s, &event);
	}
}

void scan_events(struct scan *s, void (*visit)(struct scan *, const struct event *))
{
	for (size_t i = 0; i < s->context->model->image_count; i++) {
		s->image = &s->context->model->images[i];
		scan_image(s, visit);
	}
}

uint8_t *scan_classes(const struct trace *t, uint8_t (*classify)(const struct function *))
{
	uint8_t *classes = mem_alloc(t->functions->count + 1);

	for (uint32_t i = 0; i < t->functions->count; i++)
		classes[i] = classify(&t->functions->items[i]);
	return classes;
}

void scan_aggregate(struct scan *s, void (*visit)(struct scan *, const struct event *))
{
	do
		scan_events(s, visit);
	while (aggregate_next_pass(s->aggregate));
}

uint32_t scan_range(const struct scan *s, uint64_t start_ticks)
{
	if (s->context->by == BY_THREAD)
		return s->thread->number;
	return s->context->by == BY_RANGE ? model_range(s->context->model, s->image, start_ticks) : 0;
}

void scan_group(const struct scan *s, uint32_t range, struct buffer *key)
{
	const struct model *m = s->context->model;
	const struct process *p = &m->processes[s->image->process];

	switch (s->context->by) {
	case BY_PROCESS:
		buffer_print(key, "%" PRIu32, p->pid);
		break;
	case BY_RANK:
		buffer_text(key, p->rank);
		break;
	case BY_HOST:
		buffer_text(key, m->machines[s->image->machine].host);
		break;
	case BY_THREAD:
		/* An image without a trace recorded only the name of its first thread. */
		buffer_print(key, "%" PRIu32, s->thread ? s->thread->tid : p->pid);
		break;
	case BY_DEVICE:
		buffer_text(key, s->device.data ? s->device.data : "");
		break;
	case BY_RANGE:
		if (range)
			buffer_print(key, "%" PRIu32, range);
		break;
	default:
		return;
	}
	buffer_add(key, "", 1);
}

uint32_t scan_row(const struct scan *s, struct buffer *key)
{
	buffer_add(key, "", 1);
	if (s->context->by == BY_PROCESS || s->context->by == BY_THREAD)
		buffer_print(key, "%zu", s->image->process);
	return aggregate_row(s->aggregate, key->data, key->size);
}

uint32_t scan_row_of(struct scan *s, uint64_t start_ticks, uint64_t what, scan_key *key, const void *of)
{
	uint32_t range = scan_range(s, start_ticks), row = SCAN_NO_ROW;
	uint64_t place = (uint64_t)(s->image - s->context->model->images) << 32 | range;
	const uint64_t *known = aggregate_recall(s->aggregate, place, what);
	struct buffer fields = {0}, all = {0};

	if (known)
		return (uint32_t)*known;
	if (key(s, of, &fields)) {
		scan_group(s, range, &all);
		buffer_add(&all, fields.data, fields.size);
		row = scan_row(s, &all);
	}
	aggregate_remember(s->aggregate, place, what, row);
	buffer_done(&s->device);
	buffer_done(&fields);
	buffer_done(&all);
	return row;
}

void scan_add_call(struct scan *s, const struct event *e, uint64_t what, scan_key *key, const void *of)
{
	aggregate_add(s->aggregate, scan_row_of(s, event_start(e), what, key, of),
		      clock_map_duration(s->clock, e->duration));
}

bool scan_name_key(struct scan *s, const void *function, struct buffer *fields)
{
	(void)s;
	buffer_text(fields, ((const struct function *)function)->name);
	return true;
}
