/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX ranges out of their pushes, pops, starts and ends. */
#include <stdlib.h>

#include "report.h"

struct open_push {
	uint64_t start;
	uint32_t text, domain;
};

struct walk {
	struct open_push *stack; /* of one thread, all domains */
	size_t depth, capacity;
	struct map starts; /* (range, 0) -> ticks, (range, 1) -> domain and text */
	struct map ends;   /* ranges whose end was read before their start: threads are read one after the other */
	void *context;
	void (*visit)(void *context, const struct nvtx_range *range);
};

static void pop(struct walk *w, const struct event *e)
{
	struct nvtx_range range;
	size_t i = w->depth;

	while (i > 0 && w->stack[i - 1].domain != e->id)
		i--;
	if (!i)
		return; /* counted by the reader */
	range = (struct nvtx_range){w->stack[i - 1].start, e->ticks, e->id, w->stack[i - 1].text, true, false};
	for (w->depth--; i <= w->depth; i++)
		w->stack[i - 1] = w->stack[i];
	w->visit(w->context, &range);
}

static void range_start(struct walk *w, const struct event *e)
{
	uint64_t id = tf_arg_value(event_arg(e, TF_ARG_VALUE));
	const uint64_t *end = map_find(&w->ends, id, 0);

	if (end && *end >= e->ticks) {
		w->visit(w->context, &(struct nvtx_range){e->ticks, *end, e->id, e->text, false, false});
		map_remove(&w->ends, id, 0);
		return;
	}
	*map_put(&w->starts, id, 0, NULL) = e->ticks;
	*map_put(&w->starts, id, 1, NULL) = (uint64_t)e->id << 32 | e->text;
}

static void range_end(struct walk *w, const struct event *e)
{
	uint64_t id = tf_arg_value(event_arg(e, TF_ARG_VALUE));
	const uint64_t *start = map_find(&w->starts, id, 0), *what = map_find(&w->starts, id, 1);

	if (!start || !what || *start > e->ticks) {
		*map_put(&w->ends, id, 0, NULL) = e->ticks;
		return;
	}
	w->visit(w->context,
		 &(struct nvtx_range){*start, e->ticks, (uint32_t)(*what >> 32), (uint32_t)*what, false, false});
	map_remove(&w->starts, id, 0);
	map_remove(&w->starts, id, 1);
}

static void walk_thread(struct walk *w, const struct trace *t, const struct trace_thread *thread, uint64_t last)
{
	const uint32_t kinds = 1u << TF_PUSH | 1u << TF_POP | 1u << TF_RANGE_START | 1u << TF_RANGE_END;
	struct cursor cursor;
	struct event e;

	if (!(thread->kinds & kinds))
		return;
	cursor_init(&cursor, t, thread);
	w->depth = 0;
	while (cursor_next(&cursor, &e)) {
		if (e.kind == TF_PUSH) {
			w->stack = mem_grow(w->stack, w->depth, &w->capacity, sizeof(*w->stack));
			w->stack[w->depth++] = (struct open_push){e.ticks, e.text, e.id};
		} else if (e.kind == TF_POP) {
			pop(w, &e);
		} else if (e.kind == TF_RANGE_START) {
			range_start(w, &e);
		} else if (e.kind == TF_RANGE_END) {
			range_end(w, &e);
		}
	}
	while (w->depth > 0) {
		const struct open_push *p = &w->stack[--w->depth];

		w->visit(w->context, &(struct nvtx_range){p->start, last > p->start ? last : p->start, p->domain,
							  p->text, true, true});
	}
}

static void end_starts(struct walk *w, uint64_t last, struct nvtx_counts *counts)
{
	for (size_t i = 0; i < w->starts.size; i++) {
		const struct map_slot *slot = &w->starts.slots[i];
		const uint64_t *what = slot->used && !slot->b ? map_find(&w->starts, slot->a, 1) : NULL;

		if (!what)
			continue;
		counts->unmatched_starts++;
		w->visit(w->context, &(struct nvtx_range){slot->value, last > slot->value ? last : slot->value,
							  (uint32_t)(*what >> 32), (uint32_t)*what, false, true});
	}
	counts->unmatched_ends += w->ends.count;
}

void nvtx_ranges(const struct image *image, struct nvtx_counts *counts, void *context,
		 void (*visit)(void *context, const struct nvtx_range *range))
{
	struct walk w = {.context = context, .visit = visit};
	struct nvtx_counts own = {0};
	uint64_t last = image_last_ticks(image);

	for (size_t i = 0; image->trace && i < image->trace->thread_count; i++)
		walk_thread(&w, image->trace, &image->trace->threads[i], last);
	end_starts(&w, last, counts ? counts : &own);
	free(w.stack);
	map_done(&w.starts);
	map_done(&w.ends);
}

void nvtx_name(const struct trace *t, uint32_t domain, uint32_t text, struct buffer *ret)
{
	const struct blob *name = trace_definition(t, TF_BLOB_DOMAIN, domain),
			  *words = trace_definition(t, TF_BLOB_STRING, text);

	if (domain && name)
		trace_text(t, name, ret);
	else if (domain)
		buffer_print(ret, "domain %u", domain);
	buffer_text(ret, ":");
	if (words)
		trace_text(t, words, ret);
	else
		buffer_print(ret, "(text %u lost)", text);
}
