/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/stacks/nesting.h"

#include <stdlib.h>
#include <string.h>

enum { HELD = 8192 };

/* Visits the call at `at` and those inside it. */
static void visit_tree(struct nesting *n, size_t at)
{
	size_t first = at + 1 - n->calls[at].size;

	n->calls[at].outer = NESTING_OUTERMOST;
	for (size_t i = at + 1; i-- > first;) {
		const struct nested_call *call = &n->calls[i];
		size_t own_first = i + 1 - call->size;
		uint32_t mark = call->is_visited ? NESTING_OUTERMOST : n->visit(n->context, call);

		for (size_t k = i; k > own_first; k -= n->calls[k - 1].size)
			n->calls[k - 1].outer = mark;
	}
}

/* Visits the first trees, which have `count` calls, in order. */
static void visit_trees(struct nesting *n, size_t count)
{
	SCOPED_MEMORY bool *is_root = mem_alloc(count + 1);

	for (size_t at = count; at > 0; at -= n->calls[at - 1].size)
		is_root[at - 1] = true;
	for (size_t i = 0; i < count; i++)
		if (is_root[i])
			visit_tree(n, i);
}

/* Replaces the oldest half of the trees by one entry that only has their time. */
static void make_room(struct nesting *n)
{
	struct nested_call sum = n->calls[0];
	size_t count = n->count;

	/* At least two calls, so that there is room afterwards. */
	while (count > n->calls[count - 1].size + 1 && count > HELD / 2)
		count -= n->calls[count - 1].size;
	visit_trees(n, count);
	sum.end = n->calls[count - 1].end;
	sum.ns = sum.self_ns = 0;
	for (size_t at = count; at > 0; at -= n->calls[at - 1].size) {
		const struct nested_call *root = &n->calls[at - 1];

		sum.ns += root->ns;
		sum.start = root->start < sum.start ? root->start : sum.start;
		sum.end = root->end > sum.end ? root->end : sum.end;
	}
	sum.size = 1;
	sum.is_visited = true;
	n->calls[0] = sum;
	memmove(n->calls + 1, n->calls + count, (n->count - count) * sizeof(*n->calls));
	n->count -= count - 1;
}

static void end_thread(struct nesting *n)
{
	visit_trees(n, n->count);
	n->count = 0;
}

/* The time that the call shares with one before it, which began earlier. */
static uint64_t shared_ns(const struct nested_call *call, const struct nested_call *before)
{
	uint64_t ticks = before->end > call->start ? before->end - call->start : 0, length = call->end - call->start;

	return length ? (uint64_t)((double)call->ns * ((double)ticks / (double)length)) : 0;
}

void nesting_add(struct nesting *n, const struct nested_call *call)
{
	struct nested_call added = *call;
	size_t at, first;
	uint64_t inside = 0;

	if (n->count && n->calls[0].thread != call->thread)
		end_thread(n);
	if (!n->calls)
		n->calls = mem_alloc(HELD * sizeof(*n->calls));
	if (n->count == HELD)
		make_room(n);
	/* A signal handler's call may be written before the call that it interrupted, and begin after its end. */
	for (at = n->count; at && n->calls[at - 1].start >= call->end && call->end > call->start;)
		at -= n->calls[at - 1].size;
	for (first = at; first && n->calls[first - 1].start >= call->start; first -= n->calls[first - 1].size)
		inside += n->calls[first - 1].ns;
	if (first)
		inside += shared_ns(call, &n->calls[first - 1]);
	added.self_ns = call->ns > inside ? call->ns - inside : 0;
	added.size = (uint32_t)(at - first) + 1;
	added.is_visited = false;
	memmove(n->calls + at + 1, n->calls + at, (n->count - at) * sizeof(*n->calls));
	n->calls[at] = added;
	n->count++;
}

void nesting_done(struct nesting *n)
{
	end_thread(n);
	free(n->calls);
	n->calls = NULL;
}
