/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/where/stuck.h"

#include <stdlib.h>

struct stuck_node *stuck_new(size_t count)
{
	return mem_alloc((count + 1) * sizeof(struct stuck_node));
}

void stuck_wait(struct stuck_node *node)
{
	mem_append(node->waits, node->count, node->capacity, (struct stuck_wait){0});
}

void stuck_add(struct stuck_node *node, size_t waker)
{
	struct stuck_wait *w = &node->waits[node->count - 1];

	mem_append(w->wakers, w->count, w->capacity, waker);
}

/* All that can end the wait are stuck. */
static bool is_endless(const struct stuck_node *nodes, const struct stuck_wait *w)
{
	return !array_find(waker, w->wakers, w->count, !nodes[*waker].is);
}

static bool may_go_on(const struct stuck_node *nodes, const struct stuck_node *n)
{
	return !array_find(wait, n->waits, n->count, is_endless(nodes, wait));
}

/* Tarjan's search for strongly connected components. */
struct stuck_search {
	struct stuck_node *nodes;
	size_t *path, length;
	uint32_t visited, sets;
};

static void visit(struct stuck_search *s, size_t at);

static void visit_wakers(struct stuck_search *s, struct stuck_node *n)
{
	for (size_t i = 0; i < n->count; i++)
		for (size_t k = 0; k < n->waits[i].count && is_endless(s->nodes, &n->waits[i]); k++) {
			struct stuck_node *waker = &s->nodes[n->waits[i].wakers[k]];

			if (!waker->order)
				visit(s, n->waits[i].wakers[k]);
			n->low = waker->low < n->low ? waker->low : n->low;
		}
}

static bool waits_outside(const struct stuck_search *s, size_t first)
{
	for (size_t at = first; at < s->length; at++) {
		const struct stuck_node *n = &s->nodes[s->path[at]];

		for (size_t i = 0; i < n->count; i++)
			for (size_t k = 0; k < n->waits[i].count && is_endless(s->nodes, &n->waits[i]); k++)
				if (s->nodes[n->waits[i].wakers[k]].low == UINT32_MAX)
					return true;
	}
	return false;
}

/* `low` of a node whose component is complete is UINT32_MAX. */
static void visit(struct stuck_search *s, size_t at)
{
	struct stuck_node *n = &s->nodes[at];
	size_t first = s->length;
	uint32_t set;

	n->order = n->low = ++s->visited;
	s->path[s->length++] = at;
	visit_wakers(s, n);
	if (n->low != n->order)
		return;
	set = waits_outside(s, first) ? 0 : ++s->sets;
	for (size_t i = first; i < s->length; i++) {
		s->nodes[s->path[i]].set = set;
		s->nodes[s->path[i]].low = UINT32_MAX;
	}
	s->length = first;
}

uint32_t stuck_solve(struct stuck_node *nodes, size_t count)
{
	struct stuck_search s = {.nodes = nodes, .path = mem_alloc((count + 1) * sizeof(*s.path))};
	bool has_changed = true;

	for (size_t i = 0; i < count; i++)
		nodes[i].is = nodes[i].may_be;
	while (has_changed) {
		has_changed = false;
		for (size_t i = 0; i < count; i++)
			if (nodes[i].is && may_go_on(nodes, &nodes[i])) {
				nodes[i].is = false;
				has_changed = true;
			}
	}
	for (size_t i = 0; i < count; i++)
		if (nodes[i].is && !nodes[i].order)
			visit(&s, i);
	free(s.path);
	return s.sets;
}

void stuck_free(struct stuck_node *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		array_free(wait, nodes[i].waits, nodes[i].count, free(wait->wakers));
	}
	free(nodes);
}
