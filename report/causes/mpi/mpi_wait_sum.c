/* SPDX-License-Identifier: Apache-2.0 */
#include "report/causes/mpi/mpi_wait_sum.h"

#include <inttypes.h>

#include "report/names/attribution.h"

static const char *const kinds[MPI_WAIT_KINDS] = {
	[MPI_LATE_SENDER] = "late sender",
	[MPI_LATE_RECEIVER] = "late receiver",
	[MPI_LATE_IN_COLLECTIVE] = "wait at collective",
};

struct sum {
	struct scan scan;
	struct attribution attribution;
	struct map places; /* (image and function, stack) -> number + 1 of a line of code that calls a function */
	void *context;
	void (*more)(void *context, const struct mpi_wait *wait, uint32_t row);
};

static uint64_t place_of(struct sum *s, const struct mpi_side *side)
{
	uint64_t image = (uint64_t)(side->image - s->scan.context->model->images);
	uint64_t *place = map_put(&s->places, image << 32 | side->function, side->stack, NULL);

	if (!*place)
		*place = s->places.count;
	return *place;
}

static void add_side(struct sum *s, const struct mpi_side *side, struct buffer *key)
{
	const struct function *f = trace_function(side->image->trace, side->function);

	buffer_text(key, f ? f->name : "?");
	buffer_add(key, "", 1);
	attribution_text(&s->attribution, side->image, side->stack, "?", key);
	buffer_add(key, "", 1);
}

static uint32_t make_row(struct sum *s, const struct mpi_wait *w)
{
	SCOPED(buffer) key = {0};

	scan_group(&s->scan, 0, &key);
	buffer_text(&key, kinds[w->kind]);
	buffer_add(&key, "", 1);
	add_side(s, &w->waiting, &key);
	buffer_print(&key, "%" PRIu32, w->late.rank);
	buffer_add(&key, "", 1);
	add_side(s, &w->late, &key);
	return scan_row(&s->scan, &key);
}

static void add_wait(void *context, const struct mpi_wait *w)
{
	struct sum *s = context;
	uint64_t waiting = place_of(s, &w->waiting), late = place_of(s, &w->late) << 2 | w->kind;
	const uint64_t *known = aggregate_recall(s->scan.aggregate, waiting, late);
	uint32_t row;

	s->scan.image = w->waiting.image;
	row = known ? (uint32_t)*known : make_row(s, w);
	if (!known)
		aggregate_remember(s->scan.aggregate, waiting, late, row);
	aggregate_add(s->scan.aggregate, row, w->ns);
	if (s->more)
		s->more(s->context, w, row);
}

void mpi_wait_sum(const struct report_context *c, struct aggregate *ret, struct mpi_wait_counts *ret_counts,
		  void *context, void (*more)(void *context, const struct mpi_wait *wait, uint32_t row))
{
	struct sum s = {.scan = {.context = c, .aggregate = ret},
			.attribution = {.symbols = c->symbols},
			.context = context,
			.more = more};

	ret->totals_only = true;
	mpi_waits(c->model, &s, add_wait, NULL, NULL, ret_counts);
	attribution_done(&s.attribution);
	map_done(&s.places);
}
