/* SPDX-License-Identifier: Apache-2.0 */
/* A k-way merge: a binary heap of threads by their next events. */
#include "report/read/merge.h"

#include <stdlib.h>

struct stream {
	struct cursor cursor;
	const struct clock_map *clock;
	struct merge_event next;
	uint64_t key; /* ns of the next event, at least that of the previous one */
};

/* Has a copy of the key, because thousands of streams do not fit into the CPU's caches. */
struct heap_entry {
	uint64_t key;
	uint32_t stream; /* in streams */
};

struct merge {
	struct stream *streams;
	size_t count, capacity;
	struct heap_entry *heap; /* the earliest first */
	size_t heap_count;
	struct merge_event current;
};

static bool is_before(const struct heap_entry *a, const struct heap_entry *b)
{
	return a->key != b->key ? a->key < b->key : a->stream < b->stream;
}

static bool stream_advance(struct stream *s)
{
	if (!cursor_next(&s->cursor, &s->next.event))
		return false;
	s->next.ns = clock_map_ns(s->clock, s->next.event.ticks);
	s->key = larger_of(s->key, s->next.ns);
	return true;
}

static void sift_down(struct merge *g, size_t at)
{
	struct heap_entry moved = g->heap[at];

	for (;;) {
		size_t child = at * 2 + 1;

		if (child >= g->heap_count)
			break;
		if (child + 1 < g->heap_count && is_before(&g->heap[child + 1], &g->heap[child]))
			child++;
		if (!is_before(&g->heap[child], &moved))
			break;
		g->heap[at] = g->heap[child];
		at = child;
	}
	g->heap[at] = moved;
}

static void add_threads(struct merge *g, const struct model *m, const struct image *image)
{
	for (size_t i = 0; image->trace && i < image->trace->thread_count; i++) {
		struct stream *s = mem_new(g->streams, g->count, g->capacity, (struct stream){
			.clock = &m->machines[image->machine].clock,
			.next = {.image = image, .thread = &image->trace->threads[i]},
		});

		cursor_init(&s->cursor, image->trace, s->next.thread);
	}
}

static struct merge *merge_started(struct merge *g)
{
	g->heap = mem_alloc(g->count * sizeof(*g->heap));
	for (size_t i = 0; i < g->count; i++)
		if (stream_advance(&g->streams[i]))
			g->heap[g->heap_count++] = (struct heap_entry){g->streams[i].key, (uint32_t)i};
	for (size_t i = g->heap_count / 2; i-- > 0;)
		sift_down(g, i);
	return g;
}

struct merge *merge_new(const struct model *m, size_t process)
{
	struct merge *g = mem_alloc(sizeof(*g));

	for (size_t i = 0; i < m->image_count; i++)
		if (process == SIZE_MAX || m->images[i].process == process)
			add_threads(g, m, &m->images[i]);
	return merge_started(g);
}

struct merge *merge_new_image(const struct model *m, const struct image *image)
{
	struct merge *g = mem_alloc(sizeof(*g));

	add_threads(g, m, image);
	return merge_started(g);
}

void merge_free(struct merge *g)
{
	if (!g)
		return;
	free(g->streams);
	free(g->heap);
	free(g);
}

const struct merge_event *merge_next(struct merge *g)
{
	struct stream *s;

	if (!g->heap_count)
		return NULL;
	s = &g->streams[g->heap[0].stream];
	g->current = s->next;
	if (stream_advance(s))
		g->heap[0].key = s->key;
	else
		g->heap[0] = g->heap[--g->heap_count];
	if (g->heap_count)
		sift_down(g, 0);
	return &g->current;
}
