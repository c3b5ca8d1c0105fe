/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/interval_tree.h"

#include <stdlib.h>

void interval_tree_add(struct interval_tree *s, const struct trace_thread *thread, uint64_t start, uint64_t end,
		       uint64_t value)
{
	list_add(s, (struct interval){.thread = thread, .start = start, .end = end, .value = value});
}

void interval_tree_done(struct interval_tree *s)
{
	free(s->items);
	*s = (struct interval_tree){0};
}

COMPARATOR(compare_intervals, struct interval,
	   order_of((uintptr_t)a->thread, (uintptr_t)b->thread) ?: order_of(a->start, b->start)
	   ?: order_of(b->end, a->end))

/* The root of the tree over items[low, high) of one thread is the middle item. */
static uint64_t set_latest_end(struct interval_tree *s, size_t low, size_t high)
{
	size_t middle = low + (high - low) / 2;
	struct interval *n;
	uint64_t left, right;

	if (low == high)
		return 0;
	n = &s->items[middle];
	left = set_latest_end(s, low, middle);
	right = set_latest_end(s, middle + 1, high);
	n->last = n->end > left ? n->end : left;
	n->last = larger_of(n->last, right);
	return n->last;
}

static size_t thread_end(const struct interval_tree *s, size_t from)
{
	return first_place(i, from, s->count, s->items[i].thread <= s->items[from].thread);
}

void interval_tree_build(struct interval_tree *s)
{
	array_sort(s->items, s->count, compare_intervals);
	for (size_t from = 0, to; from < s->count; from = to) {
		to = thread_end(s, from);
		set_latest_end(s, from, to);
	}
}

struct interval_query {
	const struct interval_tree *intervals;
	uint64_t start, end;
	void *context;
	void (*visit)(void *, size_t);
};

static void visit_enclosing(const struct interval_query *a, size_t low, size_t high)
{
	size_t middle = low + (high - low) / 2;
	const struct interval *n;

	if (low == high)
		return;
	n = &a->intervals->items[middle];
	if (n->last < a->end)
		return;
	visit_enclosing(a, low, middle);
	if (n->start > a->start)
		return;
	if (n->end >= a->end)
		a->visit(a->context, middle);
	visit_enclosing(a, middle + 1, high);
}

void interval_tree_around(const struct interval_tree *s, const struct trace_thread *thread, uint64_t start,
			  uint64_t end, void *context, void (*visit)(void *, size_t))
{
	size_t from = first_place(i, 0, s->count, s->items[i].thread < thread);

	if (from < s->count && s->items[from].thread == thread)
		visit_enclosing(&(struct interval_query){s, start, end, context, visit}, from, thread_end(s, from));
}
