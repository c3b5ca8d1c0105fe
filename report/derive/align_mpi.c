/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers and reductions of all ranks of an MPI job. Ranks that were recorded from MPI_Init on and without a loss are sure to
 * count alike. */
#include <stdlib.h>
#include <string.h>

#include "../read/operation.h"
#include "align.h"

enum { WORLD = 0x44000000 }; /* as trace_format.h says of TF_FIELD_COMMUNICATOR */
enum collective { NONE, BARRIER, ALLREDUCE };

struct rank {
	const struct image *image;
	const struct trace_thread *thread;
	uint64_t collectives;
};

struct ranks {
	struct rank *items;
	size_t count, capacity;
};

static enum collective collective_of(const struct trace *t, const struct event *e)
{
	const struct function *f = e->kind == TF_CALL && e->args_count ? trace_function(t, e->id) : NULL;
	enum collective kind = !f || f->group != TF_GROUP_MPI	   ? NONE
			       : !strcmp(f->name, "MPI_Barrier")   ? BARRIER
			       : !strcmp(f->name, "MPI_Allreduce") ? ALLREDUCE
								   : NONE;
	struct tf_operation op;
	int64_t communicator, count;

	if (!kind || !operation_of(t, e, &op) || !operation_field(&op, TF_FIELD_COMMUNICATOR, &communicator) || communicator != WORLD)
		return NONE;
	/* Of nothing it need not wait for anybody. */
	return kind == ALLREDUCE && (!operation_field(&op, TF_FIELD_COUNT, &count) || count <= 0) ? NONE : kind;
}

static bool begins_job(const struct trace *t, const struct event *e)
{
	const struct function *f = e->kind == TF_CALL ? trace_function(t, e->id) : NULL;

	return f && f->group == TF_GROUP_MPI && (!strcmp(f->name, "MPI_Init") || !strcmp(f->name, "MPI_Init_thread"));
}

/* The thread that did all of its rank's collectives; NULL: none, several, or something of it was lost. */
static const struct trace_thread *rank_thread(const struct trace *t, uint64_t *ret_count)
{
	const struct trace_thread *found = NULL;
	bool has_begin = false;

	for (size_t i = 0; t && i < t->thread_count; i++) {
		const struct trace_thread *thread = &t->threads[i];
		uint64_t count = 0;
		struct cursor cursor;
		struct event e;

		if (!(thread->args & 1u << TF_ARG_OPERATION))
			continue;
		cursor_init(&cursor, t, thread);
		while (cursor_next(&cursor, &e)) {
			has_begin |= begins_job(t, &e);
			count += collective_of(t, &e) != NONE;
		}
		if (count && (found || !thread->page || thread->page->lost || cursor.torn || cursor.broken))
			return NULL;
		if (count) {
			found = thread;
			*ret_count = count;
		}
	}
	return has_begin ? found : NULL;
}

void *align_mpi_join(struct align *a, const struct model *m)
{
	struct ranks *ranks = mem_alloc(sizeof(*ranks));

	for (size_t i = 0; i < m->image_count; i++) {
		struct rank r = {.image = &m->images[i]};
		const char *number = image_rank(r.image);

		r.thread = rank_thread(r.image->trace, &r.collectives);
		if (!r.thread)
			continue;
		ranks->items = mem_grow(ranks->items, ranks->count, &ranks->capacity, sizeof(r));
		ranks->items[ranks->count++] = r;
		align_join(a, ALIGN_MPI, &(struct align_rank){
			.image = r.image, .number = number[0] ? strtoll(number, NULL, 10) : -1, .meetings = r.collectives});
	}
	return ranks;
}

static void meet(struct align *a, const struct model *m, const struct rank *r)
{
	const struct axis *axis = &m->machines[r->image->machine].axis;
	struct align_meeting meeting = {0};
	struct cursor cursor;
	struct event e;

	cursor_init(&cursor, r->image->trace, r->thread);
	for (uint64_t number = 0; cursor_next(&cursor, &e);) {
		enum collective kind = collective_of(r->image->trace, &e);

		if (!kind || !align_wants(a, ALIGN_MPI, 0, meeting.number = number++))
			continue;
		meeting.kind = kind;
		meeting.enter = axis_ns(axis, event_start(&e));
		meeting.exit = axis_ns(axis, e.ticks);
		align_meet(a, ALIGN_MPI, 0, r->image, &meeting);
	}
}

void align_mpi_meet(struct align *a, const struct model *m, void *joined)
{
	struct ranks *ranks = joined;

	for (size_t i = 0; i < ranks->count; i++)
		meet(a, m, &ranks->items[i]);
	free(ranks->items);
	free(ranks);
}
