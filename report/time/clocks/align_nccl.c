/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives of NCCL communicators. The call only enqueues; the ranks meet in the kernel that it launches: for a
 * collective to which each rank contributes, and of which each receives the whole result, no kernel ends before all
 * have begun. The kernels of calls between ncclGroupStart and ncclGroupEnd are launched by ncclGroupEnd: all of them
 * count as one, which only widens the bounds. What is launched as part of a CUDA graph has no call of its own and is
 * skipped. Images that were recorded since the creation of the communicator without loss number their collectives
 * alike. */
#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/correlate.h"
#include "report/events/cuda/kernel.h"
#include "report/names/kernel_kind.h"
#include "report/read/operation.h"
#include "report/time/clocks/align.h"
#include "report/time/clocks/nccl_collective.h"

/* A communicator of an image, since its creation. */
struct member {
	int64_t id, rank; /* id 0: it has no collective yet */
	uint64_t collectives;
	uint32_t range; /* the capture range in which it was created */
};

/* A collective whose kernels are searched for. */
struct nccl_call {
	const struct trace_thread *thread;
	uint64_t from, to;   /* ticks of the call that launches the kernels */
	uint64_t start, end; /* ns of the clock map; end 0: none found */
	uint64_t number;
	int64_t id;
	uint32_t kind, function, stack;
	bool is_open; /* its group has not ended yet */
};

/* The state of a thread. */
struct nccl_thread {
	uint32_t depth; /* nesting depth of groups */
	size_t first_open; /* first one of the group in calls */
};

struct nccl_reader {
	struct align *align; /* NULL: all calls are wanted */
	const struct model *model;
	const struct image *image;
	const uint8_t *classes;
	struct map by_handle; /* member + 1 */
	struct member *members;
	size_t member_count, member_capacity;
	struct nccl_thread *places; /* by thread */
	bool keeps_calls;
	struct nccl_call *calls; /* by thread and time, once sorted */
	size_t call_count, call_capacity;
	struct map kernels; /* by device operation: 1 + whether it is a kernel of NCCL */
};

static uint8_t nccl_classify(const struct function *f)
{
	return f->group == TF_GROUP_NCCL ? f->kind.match : NCCL_NOTHING;
}

/* ---- calls ---- */

static void nccl_begin_call(struct nccl_reader *r, const struct event *e)
{
	struct tf_operation op;
	int64_t handle;

	if (!operation_of(r->image->trace, e, &op) || !operation_field(&op, TF_FIELD_COMMUNICATOR, &handle))
		return;
	mem_append(r->members, r->member_count, r->member_capacity,
		   (struct member){.rank = -1, .range = image_range(r->image, event_start(e))});
	*map_put(&r->by_handle, (uint64_t)handle, 0, NULL) = r->member_count;
}

static void nccl_keep_call(struct nccl_reader *r, const struct merge_event *e, const struct member *member,
			   uint32_t kind)
{
	struct nccl_thread *place = &r->places[e->thread - r->image->trace->threads];

	if (r->align && !align_wants(r->align, ALIGN_NCCL, (uint64_t)member->id, member->collectives))
		return;
	if (place->depth && place->first_open == SIZE_MAX)
		place->first_open = r->call_count;
	mem_append(r->calls, r->call_count, r->call_capacity,
		   (struct nccl_call){.thread = e->thread,
				      .from = event_start(&e->event),
				      .to = e->event.ticks,
				      .number = member->collectives,
				      .id = member->id,
				      .kind = kind,
				      .function = e->event.id,
				      .stack = (uint32_t)tf_arg_value(
					      event_arg(&e->event, TF_ARG_STACK)),
				      .is_open = place->depth});
}

static void nccl_collect_call(struct nccl_reader *r, const struct merge_event *e, uint32_t kind)
{
	int64_t handle, id, rank = -1, count = 0;
	struct tf_operation op;
	struct member *member;
	uint64_t *found;

	if (!operation_of(r->image->trace, &e->event, &op) || !operation_field(&op, TF_FIELD_COMMUNICATOR, &handle) ||
	    !operation_field(&op, TF_FIELD_COMMUNICATOR_ID, &id) || !id)
		return;
	found = map_find(&r->by_handle, (uint64_t)handle, 0);
	member = found ? &r->members[*found - 1] : NULL;
	if (!member || (member->id && member->id != id) ||
	    member->range != image_range(r->image, event_start(&e->event)))
		return;
	operation_field(&op, TF_FIELD_RANK, &rank);
	operation_field(&op, TF_FIELD_COUNT, &count);
	member->id = id;
	member->rank = rank;
	if (r->keeps_calls)
		nccl_keep_call(r, e, member, (uint32_t)count << 3 | kind);
	member->collectives++;
}

static void end_group(struct nccl_reader *r, const struct merge_event *e)
{
	struct nccl_thread *place = &r->places[e->thread - r->image->trace->threads];

	if (!place->depth || --place->depth)
		return;
	for (size_t i = place->first_open; i < r->call_count; i++)
		if (r->calls[i].thread == e->thread && r->calls[i].is_open) {
			r->calls[i].from = event_start(&e->event);
			r->calls[i].to = e->event.ticks;
			r->calls[i].is_open = false;
		}
	place->first_open = SIZE_MAX;
}

static void nccl_read_calls(struct nccl_reader *r)
{
	const struct trace *t = r->image->trace;
	struct merge *g = merge_new_image(r->model, r->image);
	const struct merge_event *e;

	r->places = mem_alloc((t->thread_count + 1) * sizeof(*r->places));
	for (size_t i = 0; i < t->thread_count; i++)
		r->places[i].first_open = SIZE_MAX;
	while ((e = merge_next(g))) {
		uint8_t class = e->event.kind == TF_CALL && e->event.id < t->functions->count ? r->classes[e->event.id]
											      : NCCL_NOTHING;

		if (class >= NCCL_COLLECTIVE)
			nccl_collect_call(r, e, class - NCCL_COLLECTIVE);
		else if (class == NCCL_JOINS)
			nccl_begin_call(r, &e->event);
		else if (class == NCCL_GROUP_START)
			r->places[e->thread - t->threads].depth++;
		else if (class == NCCL_GROUP_END)
			end_group(r, e);
	}
	merge_free(g);
}

/* ---- kernels ---- */

COMPARATOR(compare_calls, struct nccl_call,
	   order_of((uintptr_t)a->thread, (uintptr_t)b->thread) ?: order_of(a->from, b->from)
	   ?: order_of(a->number, b->number))

static bool is_nccl_kernel(struct nccl_reader *r, uint32_t operation_id)
{
	const struct trace *t = r->image->trace;
	uint64_t *known = map_put(&r->kernels, operation_id, 0, NULL);
	SCOPED(buffer) name = {0};
	struct tf_device_operation operation;

	if (*known)
		return *known == 2;
	*known = 1;
	if (!device_operation(t, operation_id, &operation) || operation.kind != TF_DEVICE_KERNEL)
		return false;
	if (kernel_name(t, operation.kernel, KERNEL_MANGLED, &name) && kernel_is_of_nccl(name.data))
		*known = 2;
	return *known == 2;
}

static void nccl_add_kernel(const struct clock_map *clock, struct nccl_call *c, const struct device_record *record)
{
	uint64_t start = clock_map_monotonic(clock, record->start_ns),
		 end = clock_map_monotonic(clock, record->start_ns + record->duration_ns);

	c->start = !c->end || start < c->start ? start : c->start;
	c->end = end > c->end ? end : c->end;
}

/* Calls of one group have the same `from`. */
static void nccl_take_correlated(void *context, const struct correlated *k)
{
	struct nccl_reader *r = context;
	uint64_t start = k->thread ? event_start(&k->event) : 0;
	const struct nccl_call here = {.thread = k->thread, .from = start, .number = UINT64_MAX};
	size_t i = k->thread && k->record_count
			   ? first_place(at, 0, r->call_count, compare_calls(&r->calls[at], &here) <= 0)
			   : 0;
	uint64_t from = i ? r->calls[i - 1].from : 0;

	for (; i && r->calls[i - 1].thread == k->thread && r->calls[i - 1].from == from; i--)
		for (size_t n = 0;
		     n < k->record_count && k->event.ticks <= r->calls[i - 1].to && !r->calls[i - 1].is_open; n++)
			if (is_nccl_kernel(r, k->records[n].operation))
				nccl_add_kernel(&r->model->machines[r->image->machine].clock, &r->calls[i - 1],
						&k->records[n]);
}

/* ---- images ---- */

/* Whether all calls and all device records of the image were recorded. */
static bool is_whole(const struct image *image)
{
	const struct trace *t = image->trace;
	uint64_t lost = t->header.threads_lost + t->torn + t->orphans + t->broken + t->damaged_bytes + t->missing_bytes;
	SCOPED_MEMORY struct device_gap *gaps = NULL;

	for (size_t i = 0; i < t->thread_count; i++)
		lost += t->threads[i].page ? t->threads[i].page->lost : 1;
	blobs_each(b, t, TF_BLOB_DEVICE_LOST) {
		struct tf_device_lost more;

		if (trace_blob(t, b, &more, sizeof(more)) == sizeof(more))
			lost += more.dropped + more.timeless + more.unreadable;
	}
	lost += device_gaps(image, &gaps);
	return !lost;
}

/* Decided by the definitions, of which there are few, not by the events. */
static bool uses_nccl(const struct trace *t)
{
	blobs_each(b, t, TF_BLOB_OPERATION) {
		struct tf_operation op = {0};

		trace_blob(t, b, &op, sizeof(op));
		if (memchr(op.fields, TF_FIELD_COMMUNICATOR_ID, sizeof(op.fields)))
			return true;
	}
	return false;
}

static void read_image(struct align *a, const struct model *m, const struct image *image, bool keeps_calls,
		       struct nccl_reader *ret)
{
	*ret = (struct nccl_reader){.align = a, .model = m, .image = image, .keeps_calls = keeps_calls};
	ret->classes = functions_classes(image->trace->functions, nccl_classify);
	if (keeps_calls || (uses_nccl(image->trace) && is_whole(image)))
		nccl_read_calls(ret);
}

static void nccl_reader_done(struct nccl_reader *r)
{
	free(r->members);
	free(r->places);
	free(r->calls);
	map_done(&r->by_handle);
	map_done(&r->kernels);
}

/* Returns which images take part, one byte for each. */
void *align_nccl_join(struct align *a, const struct model *m)
{
	uint8_t *joined = mem_alloc(m->image_count + 1);

	for (size_t i = 0; i < m->image_count; i++) {
		uint32_t rank = rank_number(image_rank(&m->images[i]), NULL);
		uint64_t error_ns;
		SCOPED(nccl_reader) r = {0};

		if (!m->images[i].trace)
			continue;
		read_image(a, m, &m->images[i], false, &r);
		error_ns = r.member_count ? device_source(m->images[i].trace).error_ns : 0;
		array_each(const struct member, member, r.members, r.member_count) {
			if (!member->collectives)
				continue;
			joined[i] = true;
			align_join(a, ALIGN_NCCL, &(struct align_rank){
				.image = &m->images[i],
				.team = (uint64_t)member->id,
				.number = member->rank >= 0 || rank == RANK_NONE ? member->rank : (int64_t)rank,
				.meetings = member->collectives,
				.error_ns = error_ns});
		}
	}
	return joined;
}

/* Reads the calls, and finds their kernels. */
static void read_collectives(struct align *a, const struct model *m, const struct image *image, struct nccl_reader *ret)
{
	const struct report_context context = {.model = m};

	read_image(a, m, image, true, ret);
	if (ret->call_count) {
		qsort(ret->calls, ret->call_count, sizeof(*ret->calls), compare_calls);
		correlate_image(&context, image, ret, nccl_take_correlated, NULL);
	}
}

void nccl_collectives(const struct model *m, const struct image *image, void *context, nccl_visit *visit)
{
	const struct clock_map *clock = &m->machines[image->machine].clock;
	SCOPED(nccl_reader) r = {0};

	if (!image->trace || !uses_nccl(image->trace) || !is_whole(image))
		return;
	read_collectives(NULL, m, image, &r);
	for (size_t i = 0; i < r.call_count; i++)
		visit(context, &(struct nccl_collective){.image = image,
							 .id = (uint64_t)r.calls[i].id,
							 .number = r.calls[i].number,
							 .called_ns = clock_map_ns(clock, r.calls[i].from),
							 .returned_ns = clock_map_ns(clock, r.calls[i].to),
							 .start_ns = r.calls[i].start,
							 .end_ns = r.calls[i].end,
							 .function = r.calls[i].function,
							 .stack = r.calls[i].stack});
}

static void nccl_meet_image(struct align *a, const struct model *m, const struct image *image)
{
	SCOPED(nccl_reader) r = {0};

	read_collectives(a, m, image, &r);
	for (size_t i = 0; i < r.call_count; i++)
		if (r.calls[i].end)
			align_meet(a, ALIGN_NCCL, (uint64_t)r.calls[i].id, image,
				   &(struct align_meeting){.number = r.calls[i].number,
							   .enter = r.calls[i].start,
							   .exit = r.calls[i].end,
							   .kind = r.calls[i].kind});
}

void align_nccl_meet(struct align *a, const struct model *m, void *joined)
{
	const uint8_t *is_joined = joined;

	for (size_t i = 0; i < m->image_count; i++)
		if (is_joined[i])
			nccl_meet_image(a, m, &m->images[i]);
	free(joined);
}
