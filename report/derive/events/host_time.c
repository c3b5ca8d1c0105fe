/* SPDX-License-Identifier: Apache-2.0 */
#include "report/derive/events/host_time.h"

#include <stdlib.h>
#include <string.h>

/* Calls are written in the order of their ends, inner ones first: that many are held until an outer one may come. */
enum { HELD = 8192 };

struct holding {
	struct host_span *held;
	size_t count;
	uint64_t told; /* all before it has been told of */
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
		return false;
	default:
		return true;
	}
}

static void tell(struct holding *h, size_t count)
{
	for (size_t i = 0; i < count; i++)
		h->visit(h->context, &h->held[i]);
	if (count)
		h->told = h->held[count - 1].end;
	h->count -= count;
	memmove(h->held, h->held + count, h->count * sizeof(*h->held));
}

static void hold(struct holding *h, struct host_span span)
{
	if (span.start < h->told)
		span.start = h->told;
	while (h->count && h->held[h->count - 1].start >= span.start)
		h->count--;
	/* A signal handler's call may reach over the end of the one before. */
	if (h->count && h->held[h->count - 1].end > span.start)
		span.start = h->held[h->count - 1].end;
	if (span.start >= span.end)
		return;
	if (h->count == HELD)
		tell(h, HELD / 2);
	h->held[h->count++] = span;
}

void host_time(const struct model *m, const struct image *image, const struct trace_thread *thread, uint64_t from, uint64_t to,
	       void *context, void (*visit)(void *context, const struct host_span *))
{
	const struct axis *axis = &m->machines[image->machine].axis;
	struct holding h = {.held = mem_alloc(HELD * sizeof(*h.held)), .context = context, .visit = visit};
	uint64_t last = axis_tick_at(axis, to), late = thread->longest_ticks + 2 * TF_TIME_BEHIND;
	struct cursor cursor;
	struct event e;

	cursor_init(&cursor, image->trace, thread);
	cursor_skip_to(&cursor, axis_tick_at(axis, from));
	/* One that ends later than that began after `to`. */
	while (cursor_next(&cursor, &e) && (e.ticks <= last || e.ticks - last <= late)) {
		const struct function *f = e.kind == TF_CALL ? trace_function(image->trace, e.id) : NULL;
		struct host_span span;

		if (!f || is_looked_through(f))
			continue;
		span.end = axis_ns(axis, e.ticks);
		span.start = span.end - axis_duration(axis, e.duration);
		if (span.end <= from || span.start >= to)
			continue;
		span.function = e.id;
		span.stack = e.args_count ? (uint32_t)tf_arg_value(event_arg(&e, TF_ARG_STACK)) : 0;
		hold(&h, span);
	}
	tell(&h, h.count);
	free(h.held);
}
