/* SPDX-License-Identifier: Apache-2.0 */
#include "report/tables/python/operator_memory.h"

#include <stdlib.h>

#include "report/base/util.h"
#include "report/events/filter.h"
#include "report/read/merge.h"
#include "runtime/shared/format/trace_tensor.h"

struct block {
	uint64_t bytes;
	uint32_t owner;
};

struct owned_change {
	int64_t bytes;
	uint32_t owner;
	enum tensor_place place;
};

struct tensors {
	const struct tensor_visitor *visitor;
	struct block *blocks;
	struct map known; /* address, type and number of the device -> place in blocks + 1 */
	struct owned_change *changes;
	size_t block_count, block_capacity, change_count, change_capacity;
};

/* A block, or an address of 0, which says that they are recorded. */
static bool has_tensor(const struct image *image, bool is_block)
{
	const struct trace *t = image->trace;
	struct cursor c;
	struct event e;

	for (size_t i = 0; t && i < t->thread_count; i++) {
		if (!(t->threads[i].kinds & 1u << TF_TENSOR))
			continue;
		cursor_init(&c, t, &t->threads[i]);
		while (cursor_next(&c, &e))
			if (e.kind == TF_TENSOR && (tf_arg_value(event_arg(&e, TF_ARG_VALUE)) != 0) == is_block)
				return true;
	}
	return false;
}

bool tensors_are_recorded(const struct image *image)
{
	return has_tensor(image, true);
}

bool tensors_are_missing(const struct image *image)
{
	return has_tensor(image, false) && !has_tensor(image, true);
}

static void note_change(struct tensors *r, int64_t bytes, uint32_t owner, enum tensor_place place)
{
	mem_append(r->changes, r->change_count, r->change_capacity, (struct owned_change){bytes, owner, place});
}

static void allocate(struct tensors *r, struct tensor_change *c, uint64_t address, uint64_t device)
{
	uint64_t *place = map_put(&r->known, address, device, NULL);
	uint32_t owner = r->visitor->owner(r->visitor->context, c);

	if (*place) /* its free was not recorded */
		note_change(r, -(int64_t)r->blocks[*place - 1].bytes, r->blocks[*place - 1].owner, c->place);
	mem_append(r->blocks, r->block_count, r->block_capacity, (struct block){(uint64_t)c->bytes, owner});
	*place = r->block_count;
	note_change(r, c->bytes, owner, c->place);
}

static void release(struct tensors *r, struct tensor_change *c, uint64_t address, uint64_t device)
{
	const uint64_t *place = map_find(&r->known, address, device);

	if (place && *place) {
		const struct block *b = &r->blocks[*place - 1];

		c->bytes = -(int64_t)b->bytes;
		note_change(r, c->bytes, b->owner, c->place);
		map_remove(&r->known, address, device);
	}
	if (c->bytes)
		r->visitor->owner(r->visitor->context, c);
}

static void take_event(struct tensors *r, const struct image *image, const struct merge_event *g)
{
	const struct event *e = &g->event;
	uint64_t device = (uint64_t)e->id << 8 | (e->text & TF_TENSOR_DEVICE), address, bytes;
	uint64_t block = event_arg(e, TF_ARG_VALUE), large = event_arg(e, TF_ARG_BYTES);
	struct tensor_change c = {.thread = g->thread,
				  .ticks = e->ticks,
				  .place = e->id == TF_TENSOR_CPU ? TENSOR_CPU : TENSOR_DEVICE,
				  .is_shown = filter_shows(image->trace, e->ticks, e->ticks)};

	address = tf_arg_value(block);
	bytes = large ? tf_arg_value(large) : tf_tensor_short_size(e->text, block);
	c.bytes = e->text & TF_TENSOR_FREED ? -(int64_t)bytes : (int64_t)bytes;
	if (!address)
		return;
	if (e->text & TF_TENSOR_FREED)
		release(r, &c, address, device);
	else
		allocate(r, &c, address, device);
}

static void find_peak(struct tensors *r, enum tensor_place place)
{
	int64_t in_use = 0, most = 0;
	size_t end = 0;
	SCOPED(map) sums = {0};

	for (size_t i = 0; i < r->change_count; i++) {
		in_use += r->changes[i].place == place ? r->changes[i].bytes : 0;
		if (in_use > most) {
			most = in_use;
			end = i + 1;
		}
	}
	for (size_t i = 0; i < end; i++)
		if (r->changes[i].place == place)
			*map_put(&sums, r->changes[i].owner, 0, NULL) += (uint64_t)r->changes[i].bytes;
	for (size_t i = 0; i < sums.size; i++)
		if (sums.slots[i].used && sums.slots[i].value)
			r->visitor->peak(r->visitor->context, (uint32_t)sums.slots[i].a, place, sums.slots[i].value);
}

void tensors_replay(const struct model *m, const struct image *image, const struct tensor_visitor *v)
{
	struct tensors r = {.visitor = v};
	struct merge *merge = merge_new_image(m, image);
	const struct merge_event *g;

	while ((g = merge_next(merge)) != NULL)
		if (g->event.kind == TF_TENSOR)
			take_event(&r, image, g);
	merge_free(merge);
	for (enum tensor_place place = 0; place < TENSOR_PLACES; place++)
		find_peak(&r, place);
	map_done(&r.known);
	free(r.blocks);
	free(r.changes);
}
