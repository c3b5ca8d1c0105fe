/* SPDX-License-Identifier: Apache-2.0 */
/* Reads events for a report, and groups its rows. */
#include "report/events/scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/parallel.h"
#include "report/events/filter.h"
#include "report/names/python.h"

const char *const by_names[BY_COUNT] = {"", "process", "rank", "host", "thread", "device", "range"};

/* Can the thread have what the scan is for? */
static bool scan_wants(const struct scan *s, const struct trace_thread *thread)
{
	bool only_has_calls = !(thread->kinds & ~(1u << TF_CALL));

	return (!s->args || thread->args & s->args) && (!s->groups || thread->groups & s->groups) &&
	       (!s->kinds || thread->kinds & s->kinds) &&
	       (!s->call_args || thread->args & s->call_args || !only_has_calls);
}

void scan_image(struct scan *s, void (*visit)(struct scan *, const struct event *))
{
	const struct trace *t = s->image->trace;

	s->clock = &s->context->model->machines[s->image->machine].clock;
	for (size_t k = 0; t && k < t->thread_count; k++) {
		struct cursor cursor;
		struct event event;

		s->thread = &t->threads[k];
		if (!scan_wants(s, s->thread))
			continue;
		filter_cursor_init(&cursor, t, s->thread);
		cursor.call_args = s->call_args;
		while (cursor_next(&cursor, &event))
			visit(s, &event);
	}
}

void scan_events(struct scan *s, void (*visit)(struct scan *, const struct event *))
{
	for (size_t i = 0; i < s->context->model->image_count; i++) {
		s->image = &s->context->model->images[i];
		if (scan_is_mine(s->context, s->image) && (!s->code || python_has_code(s->image->trace, s->code)))
			scan_image(s, visit);
	}
}

/* ---- passes, also of several processes ---- */

bool scan_is_mine(const struct report_context *c, const struct image *image)
{
	return !c->share || !image->trace || image->trace->owner == share_self(c->share);
}

static void join_theirs(void *whole, size_t from, struct buffer *theirs)
{
	struct bytes bytes = bytes_of(theirs);
	SCOPED(aggregate) part = {0};

	(void)from;
	if (aggregate_load(&part, &bytes))
		aggregate_join(whole, &part);
}

/* The ranges that all parts search next. */
static void take_ranges(struct aggregate *part, struct bytes *from)
{
	SCOPED(aggregate) whole = {0};

	if (aggregate_load(&whole, from))
		aggregate_split(&whole, part);
}

bool scan_next_pass(const struct report_context *c, struct aggregate *aggregate)
{
	SCOPED(aggregate) part = {0};
	SCOPED(buffer) message = {0};
	struct bytes from;
	bool again = false;

	if (!c->share)
		return aggregate_next_pass(aggregate);
	if (share_self(c->share))
		aggregate_save(aggregate, &message);
	share_gather(c->share, &message, join_theirs, aggregate);
	buffer_clear(&message);
	if (!share_self(c->share)) {
		again = aggregate_next_pass(aggregate);
		aggregate_split(aggregate, &part);
		buffer_number(&message, again);
		aggregate_save(&part, &message);
	}
	share_broadcast(c->share, &message);
	from = bytes_of(&message);
	if (share_failure(c->share))
		again = false;
	else if (share_self(c->share)) {
		again = bytes_number(&from);
		take_ranges(aggregate, &from);
	}
	return again;
}

void scan_aggregate(struct scan *s, void (*visit)(struct scan *, const struct event *))
{
	do
		scan_events(s, visit);
	while (scan_next_pass(s->context, s->aggregate));
}

/* ---- in several threads ---- */

enum { PART_CHUNKS = 16 };

struct scan_part {
	const struct image *image;
	const struct trace_thread *thread;
	size_t first, count; /* chunks of the thread */
};

struct scan_parts {
	const struct scan *scan;
	void (*read)(struct scan *, struct cursor *);
	struct scan_part *items;
	size_t count, capacity;
	size_t next; /* index of the next part that no worker has taken */
	struct aggregate aggregates[PARALLEL_MOST];
};

static void parts_add(struct scan_parts *l, const struct image *image, const struct trace_thread *thread)
{
	for (size_t i = 0; i < thread->chunk_count; i += PART_CHUNKS) {
		size_t left = thread->chunk_count - i;

		list_add(l, (struct scan_part){image, thread, i, left < PART_CHUNKS ? left : PART_CHUNKS});
	}
}

static void parts_find(struct scan_parts *l)
{
	const struct model *m = l->scan->context->model;

	for (size_t i = 0; i < m->image_count; i++) {
		const struct trace *t = m->images[i].trace;

		if (!scan_is_mine(l->scan->context, &m->images[i]))
			continue;
		for (size_t k = 0; t && k < t->thread_count; k++)
			if (scan_wants(l->scan, &t->threads[k]))
				parts_add(l, &m->images[i], &t->threads[k]);
	}
}

static void read_parts(void *argument, size_t worker)
{
	struct scan_parts *l = argument;
	struct scan s = *l->scan;
	size_t i;

	s.aggregate = &l->aggregates[worker];
	while ((i = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED)) < l->count) {
		const struct scan_part *p = &l->items[i];
		struct cursor cursor;

		s.image = p->image;
		s.thread = p->thread;
		s.clock = &s.context->model->machines[p->image->machine].clock;
		filter_cursor_init(&cursor, p->image->trace, p->thread);
		cursor_restrict(&cursor, p->first, p->count);
		l->read(&s, &cursor);
	}
}

void scan_aggregate_parts(struct scan *s, void (*read)(struct scan *, struct cursor *))
{
	struct scan_parts l = {.scan = s, .read = read};
	size_t workers;

	parts_find(&l);
	workers = parallel_threads(l.count);
	do {
		for (size_t i = 0; i < workers; i++)
			aggregate_split(s->aggregate, &l.aggregates[i]);
		l.next = 0;
		parallel_run(workers, read_parts, &l);
		for (size_t i = 0; i < workers; i++)
			aggregate_join(s->aggregate, &l.aggregates[i]);
	} while (scan_next_pass(s->context, s->aggregate));
	for (size_t i = 0; i < workers; i++)
		aggregate_done(&l.aggregates[i]);
	free(l.items);
}

/* ---- rows ---- */

uint32_t scan_range(const struct scan *s, uint64_t start_ticks)
{
	if (s->context->by == BY_THREAD)
		return s->thread->number;
	return s->context->by == BY_RANGE ? image_range(s->image, start_ticks) : 0;
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

static uint32_t new_row(struct scan *s, uint32_t range, scan_key *key, const void *of)
{
	SCOPED(buffer) fields = {0}, all = {0};

	if (!key(s, of, &fields))
		return SCAN_NO_ROW;
	scan_group(s, range, &all);
	buffer_add(&all, fields.data, fields.size);
	return scan_row(s, &all);
}

uint32_t scan_row_of(struct scan *s, uint64_t start_ticks, uint64_t what, scan_key *key, const void *of)
{
	uint32_t range = scan_range(s, start_ticks), row;
	uint64_t place = (uint64_t)(s->image - s->context->model->images) << 32 | range;
	const uint64_t *known = aggregate_recall(s->aggregate, place, what);

	if (known)
		return (uint32_t)*known;
	row = new_row(s, range, key, of);
	aggregate_remember(s->aggregate, place, what, row);
	buffer_done(&s->device);
	return row;
}

void scan_add_to(struct scan *s, const struct event *e, uint32_t row)
{
	struct event_sum sum;
	double ns_per_tick;

	if (e->kind != TF_SUM && e->kind != TF_RANGES) {
		aggregate_add(s->aggregate, row, clock_map_duration(s->clock, e->duration));
		return;
	}
	sum = event_sum(e);
	if (!sum.count)
		return;
	ns_per_tick = sum.total ? (double)clock_map_duration(s->clock, sum.total) / (double)sum.total : 0;
	aggregate_add_sum(s->aggregate, row, sum.count, clock_map_duration(s->clock, sum.total),
			  clock_map_duration(s->clock, sum.least), clock_map_duration(s->clock, sum.most),
			  sum.squares * ns_per_tick * ns_per_tick);
}

void scan_add_call(struct scan *s, const struct event *e, uint64_t what, scan_key *key, const void *of)
{
	scan_add_to(s, e, scan_row_of(s, event_start(e), what, key, of));
}

bool scan_name_key(struct scan *s, const void *function, struct buffer *fields)
{
	(void)s;
	buffer_text(fields, ((const struct function *)function)->name);
	return true;
}
