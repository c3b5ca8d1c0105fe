/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/path.h"

#include <stdlib.h>

#include "report/causes/replay.h"

struct path_adding {
	struct path *path;
	enum critical_kind kind;
	uint32_t actor;
};

static void add_row(void *context, uint32_t what, double ns)
{
	const struct path_adding *a = context;
	struct path *p = a->path;
	size_t place = map_place(&p->known, (uint64_t)what << 3 | a->kind, a->actor, p->rows, p->count, p->capacity,
				 (struct path_row){.kind = a->kind, .what = what, .actor = a->actor});

	p->rows[place].ns += ns;
	if (!(what & EDITABLE_OF_POOL) && a->kind <= CRITICAL_UNSEEN)
		p->by_what[what] += ns;
}

static void visit(void *context, enum critical_kind kind, uint32_t node, uint32_t what, double ns)
{
	struct path *p = context;
	const struct graph *g = &p->causes->graph;
	struct path_adding adding = {p, kind, g->nodes[node].actor};

	if (g->nodes[node].kind == NODE_START)
		add_row(&adding, EDITABLE_OF_POOL, ns);
	else
		editable_divide(&p->causes->editables, what, ns, &adding, add_row);
}

COMPARATOR(compare_rows, struct path_row,
	   (b->ns > a->ns) - (b->ns < a->ns) ?: order_of(a->what, b->what) ?: order_of(a->actor, b->actor))

void path_begin(struct causality *s, struct path *ret)
{
	*ret = (struct path){.causes = s, .by_what = mem_alloc((s->editables.count + 1) * sizeof(*ret->by_what))};
}

void path_add(struct path *p, uint32_t actor, uint64_t from_ns, uint64_t until_ns)
{
	const struct graph *g = &p->causes->graph;

	critical_walk(g, critical_node_at(g, actor, until_ns), from_ns, until_ns, visit, p);
}

void path_end(struct path *p)
{
	array_sort(p->rows, p->count, compare_rows);
}

void path_find(struct causality *s, uint64_t until_ns, struct path *ret)
{
	path_begin(s, ret);
	critical_walk(&s->graph, replay_last(&s->graph), 0, until_ns, visit, ret);
	path_end(ret);
}

void path_done(struct path *p)
{
	free(p->rows);
	free(p->by_what);
	map_done(&p->known);
	*p = (struct path){0};
}
