/* SPDX-License-Identifier: Apache-2.0 */
#include "report/time/io_account.h"

#include <string.h>

#include "report/events/traffic.h"
#include "report/events/usage.h"

/* FEW: the bytes that libc and the loader may read for themselves: names of users, locales, the heads of libraries. */
enum { FEW = 65536, PERCENT = 100 };

/* What the calls of a function move, as the kernel counts it. UNKNOWN: not looked up yet. */
enum { MOVES_NOTHING, MOVES_READ, MOVES_WRITTEN, MOVES_SUBMITTED };

struct io_reading {
	bool of_living;
	struct io_account *account;
};

static unsigned moves_of(const struct trace *t, uint32_t function)
{
	const struct function *f = trace_function(t, function);

	if (!f || f->kind.does & FUNCTION_UNCOUNTED)
		return MOVES_NOTHING;
	switch (traffic_moves(f->kind.role, f->kind.traffic)) {
	case ROLE_READ:
		return MOVES_READ;
	case ROLE_WRITE:
		return MOVES_WRITTEN;
	case ROLE_SUBMIT:
		return MOVES_SUBMITTED;
	default:
		return MOVES_NOTHING;
	}
}

static void io_add(struct io_reading *r, unsigned moves, uint64_t bytes)
{
	if (moves == MOVES_READ)
		r->account->recorded[IO_READ] += bytes;
	else if (moves == MOVES_WRITTEN)
		r->account->recorded[IO_WRITTEN] += bytes;
	else if (moves == MOVES_SUBMITTED)
		r->account->submitted += bytes;
}

/* Whether the kernel's counts include the thread. */
static bool is_included(const struct io_reading *r, const struct trace_thread *thread)
{
	return !r->of_living || !thread->page || !thread->page->end_ticks;
}

static void read_calls(struct io_reading *r, const struct trace *t, const struct trace_thread *thread)
{
	struct cursor cursor;
	struct event e;

	cursor_init(&cursor, t, thread);
	while (cursor_next(&cursor, &e)) {
		uint64_t arg = e.kind == TF_CALL && e.args_count ? event_arg(&e, TF_ARG_FD) : 0, many;
		int64_t result = (int32_t)(tf_arg_value(arg) >> 16);

		if (e.kind == TF_SUM && scan_is_call(&e))
			io_add(r, moves_of(t, e.id), event_sum(&e).bytes);
		if (!arg || moves_of(t, e.id) == MOVES_NOTHING)
			continue;
		many = tf_arg_value(event_arg(&e, TF_ARG_BYTES));
		io_add(r, moves_of(t, e.id), many ? many : result > 0 ? (uint64_t)result : 0);
	}
}

struct image_reading {
	struct io_reading *reading;
	const struct trace *trace;
};

static void add_traffic(void *context, const struct traffic *traffic)
{
	struct image_reading *i = context;

	if (traffic->thread && !traffic_is_of_path(traffic) && is_included(i->reading, traffic->thread))
		io_add(i->reading, moves_of(i->trace, traffic->function), traffic->bytes);
}

static void read_image(struct io_reading *r, const struct trace *t)
{
	struct image_reading image = {r, t};

	for (size_t i = 0; i < t->thread_count; i++)
		if ((t->threads[i].args & 1u << TF_ARG_FD || t->threads[i].kinds & 1u << TF_SUM) &&
		    is_included(r, &t->threads[i]))
			read_calls(r, t, &t->threads[i]);
	traffic_each(t, add_traffic, &image);
}

/* Sums of --mode=profile are those of all threads, also of those that have ended. */
static bool is_comparable(const struct trace *t, bool of_living)
{
	return !(t->header.mode == TF_MODE_PROFILE && of_living && trace_has_ended_threads(t));
}

/* With a capture range, calls outside of it are not recorded; a ring has overwritten the earlier ones. */
static bool is_whole(const struct model *m, const struct image *image)
{
	if (image->trace && image->trace->header.ring_ticks)
		return false;
	return !model_has_capture_range(m, image->run);
}

struct io_account *io_accounts(const struct report_context *c)
{
	const struct model *m = c->model;
	struct io_account *all = mem_alloc((m->process_count + 1) * sizeof(*all));
	struct usages *usages = usages_new(m);
	struct io_reading r = {0};
	bool is_any = false;

	array_each(const struct image, image, m->images, m->image_count) {
		const struct usage_of of = usages_recorded(usages, image, 0, 0, UINT64_MAX);

		r.account = &all[image->process];
		is_any |= image->trace && image->trace->header.version_minor >= 8;
		if (image->via == TF_VIA_OBSERVED || !is_whole(m, image))
			continue;
		/* One that was killed may have values from an exec that failed. */
		if (!image->trace || image->end == TF_END_NONE || !of.ticks || of.read_bytes == TF_USAGE_UNKNOWN ||
		    !is_comparable(image->trace, of.is_of_living)) {
			r.account->unknown++;
			continue;
		}
		is_any = true;
		r.of_living = of.is_of_living;
		r.account->compared++;
		r.account->is_of_living |= of.is_of_living;
		r.account->kernel[IO_READ] += of.read_bytes;
		r.account->kernel[IO_WRITTEN] += of.written_bytes;
		read_image(&r, image->trace);
	}
	for (size_t i = 0; i < m->process_count && !is_any; i++)
		all[i] = (struct io_account){0};
	usages_free(usages);
	return all;
}

static uint64_t io_beyond(uint64_t bytes, uint64_t others)
{
	uint64_t beyond = bytes > others ? bytes - others : 0;

	return beyond > FEW && beyond > bytes / PERCENT ? beyond : 0;
}

uint64_t io_not_seen(const struct io_account *a, enum io_direction direction)
{
	return io_beyond(a->kernel[direction], a->recorded[direction]);
}

uint64_t io_not_counted(const struct io_account *a, enum io_direction direction)
{
	return io_beyond(a->recorded[direction], a->kernel[direction]);
}
