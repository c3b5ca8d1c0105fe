/* SPDX-License-Identifier: Apache-2.0 */
#include "spans.h"

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

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end < b->end) - (a->end > b->end);
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
	size_t low = from, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->items[middle].thread <= s->items[from].thread)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static size_t thread_begin(const struct spans *s, const struct trace_thread *thread)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->items[middle].thread < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
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
	size_t from = thread_begin(s, thread);

	if (from < s->count && s->items[from].thread == thread)
		ask(&(struct asking){s, start, end, context, visit}, from, thread_end(s, from));
}

