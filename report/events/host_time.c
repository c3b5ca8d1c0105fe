/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/host_time.h"

#include <stdlib.h>
#include <string.h>

/* Calls are written in the order of their ends, inner ones first: this many are held until their outer call has been
 * read. */
enum { HELD = 8192 };

struct holding {
	struct host_span *held;
	size_t count;
	uint64_t visited_to; /* everything before it has been visited */
	void *context;
	void (*visit)(void *, const struct host_span *);
};

static bool is_looked_through(const struct function *f)
{
	switch (f->group) {
	case TF_GROUP_OSRT:
	case TF_GROUP_CUDA:
	case TF_GROUP_CUDA_DRIVER:
	case TF_GROUP_MPI:
	case TF_GROUP_OPENMP:
		return false;
	default:
		return true;
	}
}

static void visit_held_spans(struct holding *h, size_t count)
{
	for (size_t i = 0; i < count; i++)
		h->visit(h->context, &h->held[i]);
	if (count)
		h->visited_to = h->held[count - 1].end;
	h->count -= count;
	memmove(h->held, h->held + count, h->count * sizeof(*h->held));
}

static void hold_span(struct holding *h, struct host_span span)
{
	span.start = larger_of(span.start, h->visited_to);
	while (h->count && h->held[h->count - 1].start >= span.start)
		h->count--;
	/* A signal handler's call may extend beyond the end of the previous one. */
	if (h->count && h->held[h->count - 1].end > span.start)
		span.start = h->held[h->count - 1].end;
	if (span.start >= span.end)
		return;
	if (h->count == HELD)
		visit_held_spans(h, HELD / 2);
	h->held[h->count++] = span;
}

void host_time(const struct model *m, const struct image *image, const struct trace_thread *thread, uint64_t from,
	       uint64_t to, void *context, void (*visit)(void *context, const struct host_span *))
{
	const struct clock_map *clock = &m->machines[image->machine].clock;
	struct holding h = {.held = mem_alloc(HELD * sizeof(*h.held)), .context = context, .visit = visit};
	uint64_t last = clock_map_tick_at(clock, to), late = thread->longest_ticks + 2 * TF_TIME_BEHIND;
	struct cursor cursor;
	struct event e;

	cursor_init(&cursor, image->trace, thread);
	cursor_skip_to(&cursor, clock_map_tick_at(clock, from));
	/* A call that ends later than that began after `to`. */
	while (cursor_next(&cursor, &e) && (e.ticks <= last || e.ticks - last <= late)) {
		const struct function *f = event_function(image->trace, &e);
		struct host_span span;

		if (!f || is_looked_through(f))
			continue;
		span.end = clock_map_ns(clock, e.ticks);
		span.start = span.end - clock_map_duration(clock, e.duration);
		if (span.end <= from || span.start >= to)
			continue;
		span.function = e.id;
		span.stack = event_stack(&e);
		hold_span(&h, span);
	}
	visit_held_spans(&h, h.count);
	free(h.held);
}
