/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/nvtx/nvtx_tree.h"

#include <stdlib.h>

struct tree_builder {
	struct nvtx_tree *tree;
	bool only_pushpop;
};

static uint32_t range_stack(const struct nvtx_range *r)
{
	for (uint32_t i = 0; i < r->args_count; i++)
		if (tf_arg_kind(r->args[i]) == TF_ARG_STACK)
			return (uint32_t)tf_arg_value(r->args[i]);
	return 0;
}

static void tree_add_range(void *context, const struct nvtx_range *r)
{
	struct tree_builder *m = context;
	struct nvtx_tree *t = m->tree;

	if ((r->end_thread && r->end_thread != r->thread) || (m->only_pushpop && !r->is_pushpop))
		return;
	mem_append(t->nodes, t->count, t->capacity, (struct nvtx_node){
				     .start = r->start,
				     .end = r->end,
				     .parent = NVTX_NO_PARENT,
				     .domain = r->domain,
				     .text = r->text,
				     .stack = range_stack(r),
				     .is_pushpop = r->is_pushpop,
				     .thread = r->thread,
			     });
}

COMPARATOR(compare_nodes, struct nvtx_node,
	   order_of((uintptr_t)a->thread, (uintptr_t)b->thread) ?: order_of(a->start, b->start)
	   ?: order_of(b->end, a->end))

/* The shorter one; if equal, the later one. */
static size_t tighter_node(const struct nvtx_tree *t, size_t a, size_t b)
{
	uint64_t x, y;

	if (a == NVTX_NO_PARENT || b == NVTX_NO_PARENT)
		return a == NVTX_NO_PARENT ? b : a;
	x = t->nodes[a].end - t->nodes[a].start;
	y = t->nodes[b].end - t->nodes[b].start;
	return x != y ? (x < y ? a : b) : (a > b ? a : b);
}

/* For nodes [from, to) of one thread, finds the shortest node that began before each one and ends after it. Nodes
 * that have begun are in a Fenwick tree by their ends, latest first, so each query reads O(log n) entries however
 * many are open. */
static void find_parents(struct nvtx_tree *t, size_t from, size_t to)
{
	size_t count = to - from, *best = mem_alloc((count + 1) * sizeof(*best));
	SCOPED_MEMORY uint64_t *ends = mem_alloc(count * sizeof(*ends));

	for (size_t i = 0; i < count; i++) {
		ends[i] = t->nodes[from + i].end;
		best[i + 1] = NVTX_NO_PARENT;
	}
	sort_numbers(ends, count);
	for (size_t i = from; i < to; i++) {
		struct nvtx_node *n = &t->nodes[i];
		size_t place = count - first_place(k, 0, count, ends[k] < n->end);

		for (size_t p = place; p; p &= p - 1)
			n->parent = tighter_node(t, n->parent, best[p]);
		for (size_t p = place; p <= count; p += p & -p)
			best[p] = tighter_node(t, best[p], i);
		if (n->parent == NVTX_NO_PARENT)
			continue;
		n->level = t->nodes[n->parent].level + 1;
		t->nodes[n->parent].children++;
	}
	free(best);
}

void nvtx_tree_make(struct nvtx_tree *t, const struct image *image, bool only_pushpop)
{
	struct tree_builder m = {t, only_pushpop};

	*t = (struct nvtx_tree){.image = image};
	if (!image->trace)
		return;
	nvtx_ranges(image, NULL, &m, tree_add_range);
	if (!t->count)
		return;
	qsort(t->nodes, t->count, sizeof(*t->nodes), compare_nodes);
	for (size_t from = 0, next; from < t->count; from = next) {
		next = first_place(i, from, t->count, t->nodes[i].thread <= t->nodes[from].thread);
		find_parents(t, from, next);
	}
	for (size_t i = 0; i < t->count; i++)
		interval_tree_add(&t->intervals, t->nodes[i].thread, t->nodes[i].start, t->nodes[i].end, i);
	interval_tree_build(&t->intervals);
}

void nvtx_tree_done(struct nvtx_tree *t)
{
	free(t->nodes);
	interval_tree_done(&t->intervals);
	*t = (struct nvtx_tree){0};
}

struct tree_query {
	const struct nvtx_tree *tree;
	void *context;
	void (*visit)(void *, size_t);
};

static void visit_found_node(void *context, size_t span)
{
	const struct tree_query *a = context;

	a->visit(a->context, (size_t)a->tree->intervals.items[span].value);
}

void nvtx_tree_around(const struct nvtx_tree *t, const struct trace_thread *thread, uint64_t start, uint64_t end,
		      void *context, void (*visit)(void *, size_t))
{
	interval_tree_around(&t->intervals, thread, start, end, &(struct tree_query){t, context, visit},
			     visit_found_node);
}

void nvtx_tree_name(const struct nvtx_tree *t, size_t node, struct buffer *ret)
{
	const struct nvtx_node *n = &t->nodes[node];

	nvtx_name(t->image->trace, n->domain, n->text, ret);
}

void nvtx_tree_sum_name(const struct nvtx_tree *t, size_t node, struct buffer *ret)
{
	const struct nvtx_node *n = &t->nodes[node];

	nvtx_sum_name(t->image->trace, n->domain, n->text, ret);
}

void nvtx_tree_path(const struct nvtx_tree *t, size_t node, size_t first, struct buffer *ret)
{
	size_t way[NVTX_TREE_LEVELS], count = 0;

	for (; node != NVTX_NO_PARENT && count < NVTX_TREE_LEVELS; node = t->nodes[node].parent)
		way[count++] = node;
	if (node != NVTX_NO_PARENT)
		buffer_text(ret, ":...");
	while (count)
		buffer_print(ret, ":%zu", way[--count] + 1 + first);
}
