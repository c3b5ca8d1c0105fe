/* SPDX-License-Identifier: Apache-2.0 */
#include "report/derive/events/spans.h"

#include <stdlib.h>

void spans_add(struct spans *s, const struct trace_thread *thread, uint64_t start, uint64_t end, uint64_t value)
{
	s->items = mem_grow(s->items, s->count, &s->capacity, sizeof(*s->items));
	s->items[s->count++] = (struct span){.thread = thread, .start = start, .end = end, .value = value};
}

void spans_done(struct spans *s)
{
	free(s->items);
	*s = (struct spans){0};
}

static int compare(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	return order_of((uintptr_t)a->thread, (uintptr_t)b->thread) ?: order_of(a->start, b->start) ?: order_of(b->end, a->end);
}

/* The search tree over items[low, high) of one thread has its root in the middle. */
static uint64_t set_last(struct spans *s, size_t low, size_t high)
{
	size_t middle = low + (high - low) / 2;
	struct span *n;
	uint64_t left, right;

	if (low == high)
		return 0;
	n = &s->items[middle];
	left = set_last(s, low, middle);
	right = set_last(s, middle + 1, high);
	n->last = n->end > left ? n->end : left;
	if (right > n->last)
		n->last = right;
	return n->last;
}

static size_t thread_end(const struct spans *s, size_t from)
{
	return first_place(i, from, s->count, s->items[i].thread <= s->items[from].thread);
}

void spans_build(struct spans *s)
{
	if (s->count)
		qsort(s->items, s->count, sizeof(*s->items), compare);
	for (size_t from = 0, to; from < s->count; from = to) {
		to = thread_end(s, from);
		set_last(s, from, to);
	}
}

struct asking {
	const struct spans *spans;
	uint64_t start, end;
	void *context;
	void (*visit)(void *, size_t);
};

static void ask(const struct asking *a, size_t low, size_t high)
{
	size_t middle = low + (high - low) / 2;
	const struct span *n;

	if (low == high)
		return;
	n = &a->spans->items[middle];
	if (n->last < a->end)
		return;
	ask(a, low, middle);
	if (n->start > a->start)
		return;
	if (n->end >= a->end)
		a->visit(a->context, middle);
	ask(a, middle + 1, high);
}

void spans_around(const struct spans *s, const struct trace_thread *thread, uint64_t start, uint64_t end, void *context,
		      void (*visit)(void *, size_t))
{
	size_t from = first_place(i, 0, s->count, s->items[i].thread < thread);

	if (from < s->count && s->items[from].thread == thread)
		ask(&(struct asking){s, start, end, context, visit}, from, thread_end(s, from));
}
