/* SPDX-License-Identifier: Apache-2.0 */
#include "nvtx_tree.h"

#include <stdlib.h>

struct making {
	struct nvtx_tree *tree;
	bool only_pushpop;
};

static void add(void *context, const struct nvtx_range *r)
{
	struct making *m = context;
	struct nvtx_tree *t = m->tree;

	if ((r->end_thread && r->end_thread != r->thread) || (m->only_pushpop && !r->is_pushpop))
		return;
	t->nodes = mem_grow(t->nodes, t->count, &t->capacity, sizeof(*t->nodes));
	t->nodes[t->count++] = (struct nvtx_node){
		.start = r->start,
		.end = r->end,
		.parent = NVTX_NO_PARENT,
		.domain = r->domain,
		.text = r->text,
		.is_pushpop = r->is_pushpop,
		.thread = r->thread,
	};
}

static int compare(const void *left, const void *right)
{
	const struct nvtx_node *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->end < b->end) - (a->end > b->end);
}

/* Those still open at a range's start are few: the depth of nesting, and start/end ranges that overlap. */
static void find_parents(struct nvtx_tree *t)
{
	size_t *open = mem_alloc((t->count + 1) * sizeof(*open)), count = 0;

	for (size_t i = 0; i < t->count; i++) {
		struct nvtx_node *n = &t->nodes[i];
		size_t kept = 0;
		uint64_t least = UINT64_MAX;

		for (size_t k = 0; k < count; k++) {
			const struct nvtx_node *o = &t->nodes[open[k]];

			if (o->thread != n->thread || o->end < n->start)
				continue;
			open[kept++] = open[k];
			if (o->end >= n->end && n->start - o->start + (o->end - n->end) <= least) {
				least = n->start - o->start + (o->end - n->end);
				n->parent = open[k];
			}
		}
		count = kept;
		open[count++] = i;
		if (n->parent == NVTX_NO_PARENT)
			continue;
		n->level = t->nodes[n->parent].level + 1;
		t->nodes[n->parent].children++;
	}
	free(open);
}

void nvtx_tree_make(struct nvtx_tree *t, const struct image *image, bool only_pushpop)
{
	struct making m = {t, only_pushpop};

	*t = (struct nvtx_tree){.image = image};
	if (!image->trace)
		return;
	nvtx_ranges(image, NULL, &m, add);
	if (!t->count)
		return;
	qsort(t->nodes, t->count, sizeof(*t->nodes), compare);
	find_parents(t);
	for (size_t i = 0; i < t->count; i++)
		spans_add(&t->spans, t->nodes[i].thread, t->nodes[i].start, t->nodes[i].end, i);
	spans_build(&t->spans);
}

void nvtx_tree_done(struct nvtx_tree *t)
{
	free(t->nodes);
	spans_done(&t->spans);
	*t = (struct nvtx_tree){0};
}

struct asking {
	const struct nvtx_tree *tree;
	void *context;
	void (*visit)(void *, size_t);
};

static void found(void *context, size_t span)
{
	const struct asking *a = context;

	a->visit(a->context, (size_t)a->tree->spans.items[span].value);
}

void nvtx_tree_around(const struct nvtx_tree *t, const struct trace_thread *thread, uint64_t start, uint64_t end, void *context,
		      void (*visit)(void *, size_t))
{
	spans_around(&t->spans, thread, start, end, &(struct asking){t, context, visit}, found);
}

void nvtx_tree_name(const struct nvtx_tree *t, size_t node, struct buffer *ret)
{
	const struct nvtx_node *n = &t->nodes[node];

	nvtx_name(t->image->trace, n->domain, n->text, ret);
}

void nvtx_tree_path(const struct nvtx_tree *t, size_t node, size_t first, struct buffer *ret)
{
	if (t->nodes[node].parent != NVTX_NO_PARENT)
		nvtx_tree_path(t, t->nodes[node].parent, first, ret);
	buffer_print(ret, ":%zu", node + 1 + first);
}
