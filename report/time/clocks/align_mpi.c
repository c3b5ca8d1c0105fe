/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers and reductions of all ranks of an MPI job. Ranks that were recorded since MPI_Init without loss number
 * their collectives alike. */
#include <stdlib.h>
#include <string.h>

#include "report/read/operation.h"
#include "report/time/clocks/align.h"

enum { WORLD = 0x44000000 }; /* as trace_format.h defines for TF_FIELD_COMMUNICATOR */
enum collective { NONE, BARRIER, ALLREDUCE };

struct mpi_rank_calls {
	const struct image *image;
	const struct trace_thread *thread; /* the thread that called all of its collectives */
	uint64_t collectives;
	uint32_t range; /* the capture range that began before MPI_Init: only within it all collectives are recorded */
};

struct mpi_ranks_calls {
	struct mpi_rank_calls *items;
	size_t count, capacity;
};

static enum collective collective_of(const struct trace *t, const struct event *e)
{
	const struct function *f = e->kind == TF_CALL && e->args_count ? trace_function(t, e->id) : NULL;
	enum collective kind = !f || f->group != TF_GROUP_MPI	   ? NONE
			       : f->kind.match == MPI_ALL_TO_ALL     ? BARRIER
			       : f->kind.match == MPI_ALL_TO_ALL + 1 ? ALLREDUCE
								   : NONE;
	struct tf_operation op;
	int64_t communicator, count;

	if (!kind || !operation_of(t, e, &op) || !operation_field(&op, TF_FIELD_COMMUNICATOR, &communicator) ||
	    communicator != WORLD)
		return NONE;
	/* With zero elements a rank need not wait for any other. */
	return kind == ALLREDUCE && (!operation_field(&op, TF_FIELD_COUNT, &count) || count <= 0) ? NONE : kind;
}

static bool may_collect(const struct trace_thread *thread)
{
	return thread->args & 1u << TF_ARG_OPERATION;
}

static bool find_begin(const struct model *m, struct mpi_rank_calls *r)
{
	const struct trace *t = r->image->trace;

	for (size_t i = 0; t && i < t->thread_count; i++) {
		struct cursor cursor;
		struct event e;

		cursor_init(&cursor, t, &t->threads[i]);
		while (may_collect(&t->threads[i]) && cursor_next(&cursor, &e))
			if (event_begins_mpi(t, &e)) {
				r->range = image_range(r->image, event_start(&e));
				return true;
			}
	}
	return false;
}

/* The next collective of the thread that counts as a meeting; false: there is none. */
static enum collective next_collective(const struct model *m, const struct mpi_rank_calls *r, struct cursor *cursor,
				       struct event *e)
{
	while (cursor_next(cursor, e)) {
		enum collective kind = collective_of(r->image->trace, e);

		if (kind && image_range(r->image, event_start(e)) == r->range)
			return kind;
	}
	return NONE;
}

/* False: there are none, several threads have some, or some were lost. */
static bool find_thread(const struct model *m, struct mpi_rank_calls *r)
{
	const struct trace *t = r->image->trace;

	array_each(const struct trace_thread, thread, t->threads, t->thread_count) {
		uint64_t count = 0;
		struct cursor cursor;
		struct event e;

		cursor_init(&cursor, t, thread);
		while (may_collect(thread) && next_collective(m, r, &cursor, &e))
			count++;
		if (count && (r->thread || !thread->page || thread->page->lost || cursor.torn || cursor.broken))
			return false;
		if (count) {
			r->thread = thread;
			r->collectives = count;
		}
	}
	return r->thread;
}

void *align_mpi_join(struct align *a, const struct model *m)
{
	struct mpi_ranks_calls *ranks = mem_alloc(sizeof(*ranks));

	for (size_t i = 0; i < m->image_count; i++) {
		struct mpi_rank_calls r = {.image = &m->images[i]};
		uint32_t number = rank_number(image_rank(r.image), NULL);

		if (!find_begin(m, &r) || !find_thread(m, &r))
			continue;
		list_add(ranks, r);
		align_join(a, ALIGN_MPI,
			   &(struct align_rank){.image = r.image,
						.number = number == RANK_NONE ? -1 : (int64_t)number,
						.meetings = r.collectives});
	}
	return ranks;
}

static void mpi_meet_rank(struct align *a, const struct model *m, const struct mpi_rank_calls *r)
{
	const struct clock_map *clock = &m->machines[r->image->machine].clock;
	struct align_meeting meeting;
	enum collective kind;
	struct cursor cursor;
	struct event e;

	cursor_init(&cursor, r->image->trace, r->thread);
	for (uint64_t number = 0; (kind = next_collective(m, r, &cursor, &e)); number++) {
		if (!align_wants(a, ALIGN_MPI, 0, number))
			continue;
		meeting.number = number;
		meeting.kind = kind;
		meeting.enter = clock_map_ns(clock, event_start(&e));
		meeting.exit = clock_map_ns(clock, e.ticks);
		align_meet(a, ALIGN_MPI, 0, r->image, &meeting);
	}
}

void align_mpi_meet(struct align *a, const struct model *m, void *joined)
{
	SCOPED_MEMORY struct mpi_ranks_calls *ranks = joined;

	for (size_t i = 0; i < ranks->count; i++)
		mpi_meet_rank(a, m, &ranks->items[i]);
	free(ranks->items);
}
