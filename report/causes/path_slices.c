/* SPDX-License-Identifier: Apache-2.0 */
/* The critical path as stretches of time, for timelines. */

#include "report/causes/path.h"
#include "report/causes/replay.h"

struct slicing {
	struct causality *causes;
	struct path_slice *slices; /* the last one first */
	size_t count, capacity;
	double at_ns; /* where the next one ends */
};

struct largest {
	uint32_t what;
	double ns;
};

static void keep_largest(void *context, uint32_t what, double ns)
{
	struct largest *l = context;

	if (ns > l->ns)
		*l = (struct largest){what, ns};
}

/* Times as large as those of a damaged trace are rounded, so that the parts may add up to more than the end. */
static uint64_t whole_ns(double ns)
{
	return ns <= 0 ? 0 : ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
}

static void visit(void *context, enum critical_kind kind, uint32_t node, uint32_t what, double ns)
{
	struct slicing *k = context;
	const struct run_node *n = &k->causes->graph.nodes[node];
	struct path_slice *before = k->count ? &k->slices[k->count - 1] : NULL;
	uint64_t end_ns = before ? before->start_ns : whole_ns(k->at_ns);
	struct largest largest = {EDITABLE_OF_POOL, 0};

	if (n->kind != NODE_START)
		editable_divide(&k->causes->editables, what, ns, &largest, keep_largest);
	k->at_ns -= ns;
	if (before && before->kind == kind && before->what == largest.what && before->actor == n->actor) {
		before->start_ns = whole_ns(k->at_ns);
		return;
	}
	mem_append(k->slices, k->count, k->capacity, (struct path_slice){.start_ns = whole_ns(k->at_ns),
									 .end_ns = end_ns,
									 .kind = kind,
									 .what = largest.what,
									 .actor = n->actor});
}

size_t path_slices(struct causality *s, struct path_slice **ret)
{
	uint32_t last = replay_last(&s->graph);
	struct slicing k = {.causes = s};
	size_t count = 0;

	if (last != NODE_NONE) {
		k.at_ns = (double)s->graph.nodes[last].end_ns;
		critical_walk(&s->graph, last, 0, UINT64_MAX, visit, &k);
	}
	for (size_t i = 0; i < k.count / 2; i++) {
		struct path_slice other = k.slices[i];

		k.slices[i] = k.slices[k.count - 1 - i];
		k.slices[k.count - 1 - i] = other;
	}
	for (size_t i = 0; i < k.count; i++)
		if (k.slices[i].end_ns > k.slices[i].start_ns)
			k.slices[count++] = k.slices[i];
	*ret = k.slices;
	return count;
}
