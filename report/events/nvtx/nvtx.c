/* SPDX-License-Identifier: Apache-2.0 */
/* Builds NVTX ranges from pushes, pops, starts and ends. */
#include "report/events/nvtx/nvtx.h"

#include <stdlib.h>
#include <string.h>

#include "report/events/filter.h"
#include "report/events/nvtx/operator_text.h"

/* A domain has 11 bits in an event. */
enum { DOMAINS = 1 << 11, MANY_HOLES = 1 << 12 };

struct open_range {
	uint64_t start;
	uint32_t text, domain;
	uint32_t args_count;
	const uint64_t *args, *payload;
	const struct trace_thread *thread;
	size_t below; /* in the stack: position + 1 of the previous one of its domain; 0: none */
	bool is_hole; /* popped while a range of another domain above it is still open */
};

struct range_walk {
	const struct trace *trace;
	const struct tick_spans *shown;	   /* NULL: everything passes */
	const struct trace_thread *thread; /* the one being read */
	struct open_range *stack;          /* of one thread, with all domains */
	size_t depth, capacity, holes;
	size_t top[DOMAINS]; /* by domain: position + 1 of its last range in the stack */
	struct open_range *starts; /* open ranges; unused entries are listed in `spare` */
	size_t start_count, start_capacity;
	size_t *spare;
	size_t spare_count, spare_capacity;
	struct map by_id; /* range -> position in starts */
	/* (range, 0) -> ticks, (range, 1) -> thread, (range, 2) -> payload: ranges whose end was read before their
	 * start, because threads are read one after the other */
	struct map ends;
	void *context;
	void (*visit)(void *context, const struct nvtx_range *range);
};

static struct open_range open_range_of(const struct range_walk *w, const struct event *e)
{
	return (struct open_range){.start = e->ticks,
				   .text = e->text,
				   .domain = e->id,
				   .args_count = e->args_count,
				   .args = e->args,
				   .payload = e->payload,
				   .thread = w->thread};
}

static void close_range(struct range_walk *w, const struct open_range *o, uint64_t end, bool is_pushpop,
			const struct trace_thread *end_thread, const uint64_t *end_payload)
{
	end = larger_of(end, o->start);
	if (w->shown && !tick_spans_overlap(w->shown, o->start, end))
		return;
	w->visit(w->context, &(struct nvtx_range){
				 .start = o->start,
				 .end = end,
				 .domain = o->domain,
				 .text = o->text,
				 .is_pushpop = is_pushpop,
				 .is_unfinished = !end_thread,
				 .thread = o->thread,
				 .end_thread = end_thread,
				 .args = o->args,
				 .args_count = o->args_count,
				 .payload = o->payload,
				 .end_payload = end_payload,
			     });
}

static void nvtx_push_range(struct range_walk *w, struct open_range o)
{
	size_t *top = &w->top[o.domain % DOMAINS];

	o.below = *top;
	mem_append(w->stack, w->depth, w->capacity, o);
	*top = w->depth;
}

/* Alternating domains would otherwise leave more and more holes. */
static void close_holes(struct range_walk *w)
{
	size_t depth = w->depth;

	memset(w->top, 0, sizeof(w->top));
	w->depth = w->holes = 0;
	for (size_t i = 0; i < depth; i++)
		if (!w->stack[i].is_hole)
			nvtx_push_range(w, w->stack[i]);
}

static void nvtx_pop_range(struct range_walk *w, const struct event *e)
{
	size_t *top = &w->top[e->id % DOMAINS];
	struct open_range *o = *top ? &w->stack[*top - 1] : NULL;

	if (!o)
		return; /* counted by the reader */
	close_range(w, o, e->ticks, true, w->thread, e->payload);
	*top = o->below;
	o->is_hole = true;
	w->holes++;
	for (; w->depth && w->stack[w->depth - 1].is_hole; w->depth--)
		w->holes--;
	if (w->holes > MANY_HOLES && w->holes > w->depth / 2)
		close_holes(w);
}

static void range_start(struct range_walk *w, const struct event *e)
{
	uint64_t id = tf_arg_value(event_arg(e, TF_ARG_VALUE));
	const uint64_t *end = map_find(&w->ends, id, 0), *thread = map_find(&w->ends, id, 1),
		       *payload = map_find(&w->ends, id, 2);
	struct open_range start = open_range_of(w, e);
	uint64_t *place;
	bool is_new;

	if (end && thread && *end >= e->ticks) {
		close_range(w, &start, *end, false, (const struct trace_thread *)(uintptr_t)*thread,
			    payload ? (const uint64_t *)(uintptr_t)*payload : NULL);
		map_remove(&w->ends, id, 2);
		map_remove(&w->ends, id, 0);
		map_remove(&w->ends, id, 1);
		return;
	}
	place = map_put(&w->by_id, id, 0, &is_new);
	if (is_new && w->spare_count) {
		*place = w->spare[--w->spare_count];
	} else if (is_new) {
		w->starts = mem_grow(w->starts, w->start_count, &w->start_capacity, sizeof(*w->starts));
		*place = w->start_count++;
	}
	w->starts[*place] = start;
}

static void range_end(struct range_walk *w, const struct event *e)
{
	uint64_t id = tf_arg_value(event_arg(e, TF_ARG_VALUE));
	const uint64_t *place = map_find(&w->by_id, id, 0);

	if (!place || w->starts[*place].start > e->ticks) {
		*map_put(&w->ends, id, 0, NULL) = e->ticks;
		*map_put(&w->ends, id, 1, NULL) = (uintptr_t)w->thread;
		if (e->payload)
			*map_put(&w->ends, id, 2, NULL) = (uintptr_t)e->payload;
		return;
	}
	close_range(w, &w->starts[*place], e->ticks, false, w->thread, e->payload);
	mem_append(w->spare, w->spare_count, w->spare_capacity, *place);
	map_remove(&w->by_id, id, 0);
}

static bool has_ranges(const struct trace_thread *thread)
{
	return thread->kinds & (1u << TF_PUSH | 1u << TF_POP | 1u << TF_RANGE_START | 1u << TF_RANGE_END);
}

static void walk_thread(struct range_walk *w, const struct trace *t, const struct trace_thread *thread, uint64_t last)
{
	struct cursor cursor;
	struct event e;

	if (!has_ranges(thread))
		return;
	cursor_init(&cursor, t, thread);
	cursor_skip_to(&cursor, t->header.ring_ticks);
	cursor.shown = w->shown;
	w->depth = w->holes = 0;
	memset(w->top, 0, sizeof(w->top));
	w->thread = thread;
	while (cursor_next(&cursor, &e)) {
		if (e.kind == TF_PUSH) {
			nvtx_push_range(w, open_range_of(w, &e));
		} else if (e.kind == TF_POP) {
			nvtx_pop_range(w, &e);
		} else if (e.kind == TF_RANGE_START) {
			range_start(w, &e);
		} else if (e.kind == TF_RANGE_END) {
			range_end(w, &e);
		}
	}
	while (w->depth > 0)
		if (!w->stack[--w->depth].is_hole)
			close_range(w, &w->stack[w->depth], last, true, NULL, NULL);
}

static void end_starts(struct range_walk *w, uint64_t last, struct nvtx_counts *counts)
{
	array_each(const struct map_slot, slot, w->by_id.slots, w->by_id.size) {
		if (!slot->used)
			continue;
		counts->unmatched_starts++;
		close_range(w, &w->starts[slot->value], last, false, NULL, NULL);
	}
	counts->unmatched_ends += array_sum(one, w->ends.slots, w->ends.size, one->used && !one->b);
}

static void walk_image(const struct image *image, struct nvtx_counts *counts, void *context,
		       void (*visit)(void *context, const struct nvtx_range *range))
{
	struct range_walk w = {
		.trace = image->trace, .shown = filter_of(image->trace), .context = context, .visit = visit};
	struct nvtx_counts own = {0};
	uint64_t last = image_last_ticks(image);

	for (size_t i = 0; i < image->trace->thread_count; i++)
		walk_thread(&w, image->trace, &image->trace->threads[i], last);
	end_starts(&w, last, counts ? counts : &own);
	free(w.stack);
	free(w.starts);
	free(w.spare);
	map_done(&w.by_id);
	map_done(&w.ends);
}

/* Most images of a job with many processes have no ranges. */
void nvtx_ranges(const struct image *image, struct nvtx_counts *counts, void *context,
		 void (*visit)(void *context, const struct nvtx_range *range))
{
	const struct trace *t = image->trace;

	for (size_t i = 0; t && i < t->thread_count; i++)
		if (has_ranges(&t->threads[i])) {
			walk_image(image, counts, context, visit);
			return;
		}
}

void nvtx_sum_name(const struct trace *t, uint32_t domain, uint32_t text, struct buffer *ret)
{
	size_t from = ret->size;
	struct operator_text operator;

	nvtx_name(t, domain, text, ret);
	if (domain || !ret->data || !operator_text_parse(ret->data + from, &operator))
		return;
	ret->size = from + operator.name.length;
	ret->data[ret->size] = 0;
}

struct operator_search {
	const struct trace *trace;
	bool *ret_found;
};

static void range_check_operator(void *context, const struct nvtx_range *range)
{
	struct operator_search *search = context;
	struct operator_text operator;
	SCOPED(buffer) text = {0};

	if (*search->ret_found || range->domain)
		return;
	nvtx_name(search->trace, 0, range->text, &text);
	*search->ret_found = text.data && operator_text_parse(text.data, &operator);
}

bool nvtx_has_operators(const struct model *m)
{
	bool is_found = false;

	for (size_t i = 0; i < m->image_count && !is_found; i++)
		if (m->images[i].trace)
			nvtx_ranges(&m->images[i], NULL,
				    &(struct operator_search){m->images[i].trace, &is_found}, range_check_operator);
	return is_found;
}

void nvtx_name(const struct trace *t, uint32_t domain, uint32_t text, struct buffer *ret)
{
	if (domain && !trace_definition_text(t, TF_BLOB_DOMAIN, domain, ret))
		buffer_print(ret, "domain %u", domain);
	if (domain)
		buffer_text(ret, ":");
	if (!trace_definition_text(t, TF_BLOB_STRING, text, ret))
		buffer_print(ret, "(text %u lost)", text);
}
