/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/stacks/heap.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/nvtx/nvtx.h"
#include "report/read/merge.h"

static const struct code_line no_stack = {.function = "(not attributed)"};

struct heap_block {
	size_t stack; /* position in heap.stacks */
	uint64_t bytes;
	size_t next_free; /* of an unused one: the position of the next one + 1 */
};

struct point {
	uint64_t in_use, ns;
};

/* Passes on the points of the current part of the time that are to be shown. */
struct course {
	heap_watch *watch;
	void *context;
	uint64_t part_ns, part;
	struct point most, last;
	bool has_point;
};

struct heap_replay {
	const struct model *model;
	struct heap *heap;
	struct attribution *attribution; /* NULL: only the sum is needed */
	struct map addresses;		 /* address -> position in blocks + 1 */
	struct map stacks;		 /* stack id -> position + 1 */
	struct map lines;		 /* number of a line -> position + 1 */
	struct heap_block *blocks;
	size_t block_count, block_capacity, first_free;
	uint64_t in_use, event, first_ns, last_ns;
	uint64_t peak_event; /* of the first pass */
	size_t step;	     /* the next one to end */
	struct course *course; /* NULL: it is not needed */
};

bool heap_is_recorded(const struct image *image)
{
	return trace_bits(image->trace).kinds & 1u << TF_ALLOCATION;
}

uint64_t heap_weight(const struct event *e)
{
	return e->text ? (uint64_t)e->text << 10 : tf_arg_value(event_arg(e, TF_ARG_BYTES));
}

/* ---- stacks and lines ---- */

static size_t new_line(struct heap_replay *r, const struct code_line *line, bool is_users)
{
	struct heap *h = r->heap;
	uint64_t *known = map_put(&r->lines, line->number, 0, NULL);

	if (!*known) {
		mem_append(h->lines, h->line_count, h->line_capacity,
			   (struct heap_line){.line = line, .is_users = is_users});
		*known = h->line_count;
	}
	return *known - 1;
}

static size_t line_of(struct heap_replay *r, uint32_t stack)
{
	struct symbol_frame f;
	bool is_users;

	if (!attribution_stack(r->attribution, r->heap->image, stack, &f, &is_users))
		return new_line(r, &no_stack, false);
	symbols_name(r->attribution->symbols, &f);
	return new_line(r, f.line, is_users);
}

static size_t stack_of(struct heap_replay *r, uint32_t stack)
{
	struct heap *h = r->heap;
	uint64_t *known = map_put(&r->stacks, stack, 0, NULL);

	if (!*known) {
		mem_append(h->stacks, h->stack_count, h->stack_capacity,
			   (struct heap_stack){.stack = stack, .line = line_of(r, stack)});
		*known = h->stack_count;
		h->lines[h->stacks[h->stack_count - 1].line].is_kept |= !attribution_has_import(h->image, stack);
	}
	return *known - 1;
}

/* ---- blocks ---- */

static void change_in_use(struct heap_replay *r, const struct heap_block *b, bool is_free)
{
	uint64_t change = is_free ? 0 - b->bytes : b->bytes;

	r->in_use += change;
	if (r->attribution) {
		struct heap_stack *s = &r->heap->stacks[b->stack];

		s->values.in_use += change;
		r->heap->lines[s->line].values.in_use += change;
	}
}

static void heap_release(struct heap_replay *r, uint64_t address)
{
	const uint64_t *known = map_find(&r->addresses, address, 0);
	size_t place = known ? *known - 1 : 0;

	if (!known)
		return; /* allocated by the parent of a forked process, or lost */
	change_in_use(r, &r->blocks[place], true);
	map_remove(&r->addresses, address, 0);
	r->blocks[place].next_free = r->first_free;
	r->first_free = place + 1;
}

static size_t new_block(struct heap_replay *r)
{
	size_t place = r->first_free;

	if (place) {
		r->first_free = r->blocks[place - 1].next_free;
		return place - 1;
	}
	r->blocks = mem_grow(r->blocks, r->block_count, &r->block_capacity, sizeof(*r->blocks));
	return r->block_count++;
}

static void heap_values_add(struct heap_values *v, const struct event *e)
{
	uint64_t weight = heap_weight(e), size = tf_arg_value(event_arg(e, TF_ARG_BYTES));

	v->allocated += weight;
	v->allocations += size ? (weight + size / 2) / size : 1;
	v->samples++;
}

static void heap_allocate(struct heap_replay *r, const struct event *e)
{
	uint64_t address = tf_arg_value(event_arg(e, TF_ARG_VALUE));
	struct heap_block b = {.bytes = heap_weight(e)};
	size_t place;

	heap_release(r, address); /* its free was lost */
	if (r->attribution) {
		b.stack = stack_of(r, event_stack(e));
		heap_values_add(&r->heap->stacks[b.stack].values, e);
		heap_values_add(&r->heap->lines[r->heap->stacks[b.stack].line].values, e);
	}
	place = new_block(r);
	r->blocks[place] = b;
	*map_put(&r->addresses, address, 0, NULL) = place + 1;
	change_in_use(r, &b, false);
}

/* ---- steps ---- */

static void take_peak(struct heap_replay *r)
{
	struct heap *h = r->heap;

	for (size_t i = 0; i < h->stack_count; i++)
		h->stacks[i].values.peak = h->stacks[i].values.in_use;
	for (size_t i = 0; i < h->line_count; i++)
		h->lines[i].values.peak = h->lines[i].values.in_use;
}

static void begin_or_end(struct heap_values *v, size_t step)
{
	v->last = v->in_use;
	if (!step)
		v->first = v->in_use;
}

static void take_steps(struct heap_replay *r, uint64_t ns)
{
	struct heap *h = r->heap;

	for (; h->steps && r->step <= h->steps && ns > h->step_ns[r->step]; r->step++) {
		for (size_t i = 0; i < h->stack_count; i++)
			begin_or_end(&h->stacks[i].values, r->step);
		array_each(struct heap_line, l, h->lines, h->line_count) {
			begin_or_end(&l->values, r->step);
			l->values.grown += r->step > 1 && l->values.in_use > l->at_step;
			l->at_step = l->values.in_use;
		}
	}
}

/* ---- over time ---- */

static void course_flush(struct course *c)
{
	if (!c->has_point)
		return;
	if (c->most.ns != c->last.ns)
		c->watch(c->context, c->most.in_use, c->most.ns);
	c->watch(c->context, c->last.in_use, c->last.ns);
	c->has_point = false;
}

static void course_add(struct course *c, struct point p)
{
	uint64_t part = p.ns / c->part_ns;

	if (part != c->part)
		course_flush(c);
	c->part = part;
	c->last = p;
	if (!c->has_point || p.in_use > c->most.in_use)
		c->most = p;
	c->has_point = true;
}

static void heap_pass(struct heap_replay *r)
{
	struct merge *merge = merge_new_image(r->model, r->heap->image);
	const struct merge_event *g;

	while ((g = merge_next(merge)) != NULL) {
		r->event++;
		if (g->event.kind != TF_ALLOCATION && g->event.kind != TF_RELEASE)
			continue;
		take_steps(r, g->ns);
		if (g->event.kind == TF_ALLOCATION) {
			heap_allocate(r, &g->event);
			r->first_ns = r->first_ns ? r->first_ns : g->ns;
			r->last_ns = g->ns;
		} else {
			heap_release(r, tf_arg_value(event_arg(&g->event, TF_ARG_VALUE)));
		}
		if (r->course)
			course_add(r->course, (struct point){r->in_use, g->ns});
		if (!r->attribution && r->in_use > r->heap->peak) {
			r->heap->peak = r->in_use;
			r->heap->peak_ns = g->ns;
			r->peak_event = r->event;
		}
		if (r->attribution && r->event == r->peak_event)
			take_peak(r);
	}
	take_steps(r, UINT64_MAX);
	merge_free(merge);
	map_done(&r->addresses);
	free(r->blocks);
}

/* Ranges of one thread and name. */
struct step_candidate {
	uint64_t ticks, count;
	uint64_t *ends, first;
	size_t end_count, end_capacity;
	char *name;
};

struct candidates {
	const struct image *image;
	struct map known; /* thread, hash of the name -> position + 1 */
	struct step_candidate *items;
	size_t count, capacity;
};

/* "step 17" and "ProfilerStep#17" are instances of one step. */
static void add_range(void *context, const struct nvtx_range *range)
{
	struct candidates *all = context;
	SCOPED(buffer) name = {0};
	struct step_candidate *c;
	uint64_t *known;

	if (range->is_unfinished)
		return;
	nvtx_sum_name(all->image->trace, range->domain, range->text, &name);
	while (name.size && (isdigit((unsigned char)name.data[name.size - 1]) || name.data[name.size - 1] == ' '))
		name.data[--name.size] = '\0';
	known = map_put(&all->known, range->thread->number, hash_bytes(buffer_string(&name), name.size), NULL);
	if (!*known) {
		list_add(all, (struct step_candidate){
	     .first = range->start, .name = mem_copy_text(buffer_string(&name), name.size)});
		*known = all->count;
	}
	c = &all->items[*known - 1];
	c->ticks += range->end - range->start;
	c->first = range->start < c->first ? range->start : c->first;
	mem_append(c->ends, c->end_count, c->end_capacity, range->end);
}

static void steps_of_ranges(const struct model *model, struct heap *h)
{
	const struct clock_map *clock = &model->machines[h->image->machine].clock;
	struct candidates all = {.image = h->image};
	struct step_candidate *best = NULL;

	nvtx_ranges(h->image, NULL, &all, add_range);
	for (size_t i = 0; i < all.count; i++)
		if (all.items[i].end_count >= HEAP_LEAST_STEPS && (!best || all.items[i].ticks > best->ticks))
			best = &all.items[i];
	if (best) {
		sort_numbers(best->ends, best->end_count);
		h->steps = best->end_count < HEAP_STEPS ? best->end_count : HEAP_STEPS;
		h->step_ns[0] = clock_map_ns(clock, best->first);
		for (size_t i = 1; i <= h->steps; i++)
			h->step_ns[i] = clock_map_ns(clock, best->ends[best->end_count * i / h->steps - 1]);
		h->step_name = best->name;
		h->instances = best->end_count;
		best->name = NULL;
	}
	for (size_t i = 0; i < all.count; i++) {
		free(all.items[i].ends);
		free(all.items[i].name);
	}
	map_done(&all.known);
	free(all.items);
}

static void steps_of_time(struct heap *h, const struct heap_replay *first)
{
	uint64_t from = first->first_ns, length = first->last_ns - from;

	if ((h->peak_ns - from) * 3 >= length * 2)
		length = h->peak_ns - from;
	if (!length)
		return;
	h->steps = h->instances = HEAP_STEPS;
	for (size_t i = 0; i <= HEAP_STEPS; i++)
		h->step_ns[i] = from + length * i / HEAP_STEPS;
}

void heap_replay(const struct model *model, const struct image *image, struct attribution *attribution,
		 struct heap *ret)
{
	struct heap_replay first = {.model = model, .heap = ret}, second;

	*ret = (struct heap){.image = image};
	if (!heap_is_recorded(image))
		return;
	heap_pass(&first);
	steps_of_ranges(model, ret);
	if (!ret->steps)
		steps_of_time(ret, &first);
	second = (struct heap_replay){
		.model = model, .heap = ret, .attribution = attribution, .peak_event = first.peak_event};
	heap_pass(&second);
	map_done(&second.stacks);
	map_done(&second.lines);
}

void heap_over_time(const struct model *model, const struct image *image, heap_watch *watch, void *context)
{
	const struct clock_map *clock = &model->machines[image->machine].clock;
	struct heap h = {.image = image};
	struct course course = {.watch = watch, .context = context};
	struct heap_replay r = {.model = model, .heap = &h, .course = &course};
	uint64_t from = clock_map_ns(clock, image->start_ticks), to = clock_map_ns(clock, image_last_ticks(image));

	if (!heap_is_recorded(image))
		return;
	course.part_ns = to > from ? (to - from) / HEAP_POINTS + 1 : 1;
	heap_pass(&r);
	course_flush(&course);
}

uint64_t heap_growth(const struct heap_values *v)
{
	return v->last > v->first ? v->last - v->first : 0;
}

bool heap_line_grows(const struct heap *h, const struct heap_line *l)
{
	return l->is_kept && h->steps >= HEAP_LEAST_STEPS && heap_growth(&l->values) &&
	       l->values.grown * 4 >= (h->steps - 1) * 3;
}

void heap_done(struct heap *h)
{
	free(h->lines);
	free(h->stacks);
	free(h->step_name);
	*h = (struct heap){0};
}
