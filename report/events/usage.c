/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what the kernel accounted to threads and processes. */
#include "report/events/usage.h"

#include <stdlib.h>
#include <string.h>

struct usages {
	const struct model *model;
	/* by image (position in the model), then tid, then ticks */
	struct recorded {
		size_t image;
		struct tf_usage of;
	} *recorded;
	size_t recorded_count, recorded_capacity;
	struct usage_sampled *sampled; /* by pid, process_start, tid */
	size_t sampled_count, sampled_capacity;
};

/* False: the blob is too short. What a shorter one does not have is not known. */
static bool usage_of_blob(const struct trace *t, const struct blob *b, struct tf_usage *ret)
{
	size_t size;

	memset(ret, 0xff, sizeof(*ret));
	size = trace_blob(t, b, ret, sizeof(*ret));
	if (size < sizeof(*ret))
		ret->is_of_living = 0;
	if (size < TF_USAGE_SHORT_BYTES)
		ret->thread_tid = 0;
	if (size == TF_USAGE_SHORT_BYTES)
		ret->major_faults = 0;
	return size >= TF_USAGE_THREAD_BYTES;
}

static void usages_add(struct usages *u, size_t image, const struct tf_usage *of)
{
	mem_append(u->recorded, u->recorded_count, u->recorded_capacity, (struct recorded){image, *of});
}

static void usages_add_trace(struct usages *u, size_t image)
{
	const struct trace *t = u->model->images[image].trace;

	blobs_each(b, t, TF_BLOB_USAGE) {
		struct tf_usage of;

		if (!usage_of_blob(t, b, &of))
			continue;
		usages_add(u, image, &of);
		if (of.tid || !of.thread_tid)
			continue;
		of.tid = of.thread_tid;
		of.delay_ns = of.thread_delay_ns;
		of.peak_kb = 0;
		usages_add(u, image, &of);
	}
}

COMPARATOR(compare_recorded, struct recorded,
	   order_of(a->image, b->image) ?: order_of(a->of.tid, b->of.tid) ?: order_of(a->of.ticks, b->of.ticks))

/* What has gone was last seen in the round before, at `seen`; 0: not known. */
static void sampled_add(struct usages *u, struct map *known, const struct tf_usage_sample *s, uint64_t seen)
{
	/* A sample of a process that has gone has tid 0; so have those of the process, which are kept under it. */
	uint32_t tid = s->kind == TF_USAGE_PROCESS ? 0 : s->tid;
	size_t place = map_place(known, (uint64_t)s->pid << 32 | tid, s->process_start, u->sampled, u->sampled_count,
				 u->sampled_capacity,
				 (struct usage_sampled){.pid = s->pid, .tid = tid, .process_start = s->process_start,
							.first = *s, .last = *s});
	struct usage_sampled *p = &u->sampled[place];

	if (p->last.state == 'T' && s->ticks > p->last.ticks)
		p->stopped_ticks += s->ticks - p->last.ticks;
	p->is_gone = s->kind == TF_USAGE_GONE;
	p->peak_kb = s->resident_kb > p->peak_kb ? s->resident_kb : p->peak_kb;
	memcpy(p->name, s->name, sizeof(s->name));
	if (!p->is_gone)
		p->last = *s;
	else
		p->seen_ticks = !seen ? s->ticks : seen > p->last.ticks ? seen : p->last.ticks;
}

/* A process that has been stopped since has no later sample, nor has a thread that did nothing. */
static void sampled_finish(struct usage_sampled *p, uint64_t round)
{
	if (p->last.state == 'T' && round > p->last.ticks)
		p->stopped_ticks += round - p->last.ticks;
	if (!p->is_gone)
		p->seen_ticks = round > p->last.ticks ? round : p->last.ticks;
}

COMPARATOR(compare_sampled, struct usage_sampled,
	   order_of(a->pid, b->pid) ?: order_of(a->process_start, b->process_start) ?: order_of(a->tid, b->tid))

struct usages *usages_new(const struct model *m)
{
	struct usages *u = mem_alloc(sizeof(*u));
	SCOPED(map) known = {0};

	u->model = m;
	for (size_t i = 0; i < m->image_count; i++)
		usages_add_trace(u, i);
	array_sort(u->recorded, u->recorded_count, compare_recorded);
	for (size_t i = 0; i < m->usage_count; i++) {
		size_t from = u->sampled_count;
		uint64_t round = 0, before = 0;

		list_each(const struct tf_usage_sample, s, &m->usages[i]) {
			if (s->kind == TF_USAGE_ROUND) {
				before = round;
				round = s->ticks;
			} else if (s->kind <= TF_USAGE_GONE) {
				sampled_add(u, &known, s, before);
			}
		}
		for (size_t k = from; k < u->sampled_count; k++)
			sampled_finish(&u->sampled[k], round);
	}
	array_sort(u->sampled, u->sampled_count, compare_sampled);
	return u;
}

void usages_free(struct usages *u)
{
	if (!u)
		return;
	free(u->recorded);
	free(u->sampled);
	free(u);
}

static uint64_t usage_wide(uint32_t value)
{
	return value == UINT32_MAX ? TF_USAGE_UNKNOWN : value;
}

const struct model *usages_model(const struct usages *u)
{
	return u->model;
}

/* Of an image without a trace file. */
static struct usage_of usage_of_line(const struct image *image, uint32_t tid)
{
	const struct image_usage *u = &image->usage;
	struct usage_of of = {.ticks = image->end_ticks,
			      .cpu_ns = u->cpu_ns,
			      .delay_ns = TF_USAGE_UNKNOWN,
			      .read_bytes = TF_USAGE_UNKNOWN,
			      .written_bytes = TF_USAGE_UNKNOWN};

	if (!u->is_known || (tid && tid != image->pid))
		return (struct usage_of){.cpu_ns = TF_USAGE_UNKNOWN, .delay_ns = TF_USAGE_UNKNOWN};
	if (tid) {
		of.cpu_ns = u->thread_cpu_ns;
		of.delay_ns = u->delay_ns;
	} else {
		of.delay_ns = u->children_ns;
		of.peak_kb = u->peak_kb;
		of.minor_faults = u->minor_faults;
		of.major_faults = u->major_faults;
		of.block_ms = u->block_ms;
	}
	of.voluntary = u->voluntary;
	of.involuntary = u->involuntary;
	return of;
}

struct usage_of usages_recorded(const struct usages *u, const struct image *image, uint32_t tid, uint64_t from,
				uint64_t to)
{
	struct recorded wanted = {.image = (size_t)(image - u->model->images), .of = {.tid = tid, .ticks = to}};
	const struct recorded *r;
	size_t at;

	if (!image->trace)
		return usage_of_line(image, tid);
	/* The place after the last one at or before `to`. */
	at = first_place(i, 0, u->recorded_count, compare_recorded(&u->recorded[i], &wanted) <= 0);
	r = at ? &u->recorded[at - 1] : NULL;
	if (!r || r->image != wanted.image || r->of.tid != tid || r->of.ticks < from)
		return (struct usage_of){.cpu_ns = TF_USAGE_UNKNOWN, .delay_ns = TF_USAGE_UNKNOWN};
	return (struct usage_of){.ticks = r->of.ticks,
				 .cpu_ns = r->of.cpu_ns,
				 .delay_ns = r->of.delay_ns,
				 .peak_kb = r->of.peak_kb,
				 .voluntary = r->of.voluntary,
				 .involuntary = r->of.involuntary,
				 .minor_faults = usage_wide(r->of.minor_faults),
				 .major_faults = usage_wide(r->of.major_faults),
				 .block_ms = usage_wide(r->of.block_ms),
				 .read_bytes = tf_usage_bytes(r->of.read_bytes),
				 .written_bytes = tf_usage_bytes(r->of.written_bytes),
				 .is_of_living = r->of.is_of_living && trace_has_ended_threads(image->trace)};
}

/* The start of the image's process, 0 if it is not known. For a forked image in a range file, only an upper bound of
 * the start is known. The process is the last sampled process with this pid that started before the bound. If that
 * process was sampled before the image began, the pid was reused, and the process is not known. */
static uint64_t sampled_start(const struct usages *u, const struct image *image)
{
	struct usage_sampled last = {.pid = image->pid, .process_start = image->process_start, .tid = UINT32_MAX};
	const struct usage_sampled *s;
	size_t behind;

	if (!image->start_is_bound)
		return image->process_start;
	behind = first_place(i, 0, u->sampled_count, compare_sampled(&u->sampled[i], &last) <= 0);
	s = behind ? &u->sampled[behind - 1] : NULL;
	return s && s->pid == image->pid && s->first.ticks >= image->start_ticks ? s->process_start
										 : image->process_start;
}

static size_t sampled_place(const struct usages *u, const struct image *image, uint32_t tid)
{
	struct usage_sampled wanted = {.pid = image->pid, .process_start = sampled_start(u, image), .tid = tid};

	return first_place(i, 0, u->sampled_count, compare_sampled(&u->sampled[i], &wanted) < 0);
}

const struct usage_sampled *usages_sampled(const struct usages *u, const struct image *image, uint32_t tid)
{
	size_t at = sampled_place(u, image, tid);
	const struct usage_sampled *s = at < u->sampled_count ? &u->sampled[at] : NULL;

	return s && s->pid == image->pid && s->process_start == sampled_start(u, image) && s->tid == tid ? s : NULL;
}

const struct usage_sampled *usages_next(const struct usages *u, const struct image *image, size_t *at)
{
	size_t place = *at ? *at : sampled_place(u, image, 1);
	const struct usage_sampled *s = place < u->sampled_count ? &u->sampled[place] : NULL;

	*at = place + 1;
	return s && s->pid == image->pid && s->process_start == sampled_start(u, image) ? s : NULL;
}

void usage_complete(struct usage_of *of, const struct usage_sampled *s)
{
	if (!s)
		return;
	if (of->cpu_ns == TF_USAGE_UNKNOWN)
		of->cpu_ns = s->last.cpu_ns;
	if (of->delay_ns == TF_USAGE_UNKNOWN)
		of->delay_ns = s->last.delay_ns;
}
