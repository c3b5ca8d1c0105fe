/* SPDX-License-Identifier: Apache-2.0 */
#include "report/events/energy/energy_share.h"

#include <stddef.h>
#include <stdlib.h>

#include "report/base/external_sort.h"

/* Operations of one class in an interval between two samples. */
struct class_share {
	uint64_t sum_ns; /* of all of them */
	double joules;	 /* that one operation would have taken that ran from the first sample to the interval */
	double watts;	 /* of each operation in the interval */
};

struct energy_interval {
	struct class_share kernels, copies;
	uint64_t kernel_ns, busy_ns; /* in which a kernel ran, in which anything ran */
};

struct energy_shares {
	struct energy_share *items; /* by source; those that executed nothing have no intervals */
	size_t count;
	bool is_known; /* any has intervals */
	struct map devices; /* image and device -> place in items + 1, 0: none */
	struct map operations; /* image and operation -> device << 1 | whether it is a kernel, + 1; 0: neither */
};

static void shares_done(void *state)
{
	struct energy_shares *s = state;

	array_free(item, s->items, s->count, free(item->intervals));
	map_done(&s->devices);
	map_done(&s->operations);
}

static const struct attachment_kind shares_kind = {sizeof(struct energy_shares), shares_done};

/* ---- operations ---- */

struct energy_span {
	uint64_t start, end; /* the common time */
	uint32_t source;
	bool is_kernel;
};

static struct energy_share *share_of_device(struct energy_shares *s, const struct model *m, const struct image *image,
					    uint32_t device)
{
	bool is_new;
	uint64_t *place = map_put(&s->devices, (uint64_t)(image - m->images), device, &is_new);

	if (is_new) {
		const struct energy_source *source = energy_of_device(m, image, device);

		*place = source ? (uint64_t)(source - energies_of(m)->items) + 1 : 0;
	}
	return *place ? &s->items[*place - 1] : NULL;
}

/* The share of the device that executed an operation; NULL: it was not sampled. */
static struct energy_share *share_of(struct energy_shares *s, const struct model *m, const struct image *image,
				     uint32_t operation, bool *ret_is_kernel)
{
	bool is_new;
	uint64_t *known = map_put(&s->operations, (uint64_t)(image - m->images), operation, &is_new);
	struct tf_device_operation o;

	if (is_new && device_operation(image->trace, operation, &o))
		*known = ((uint64_t)o.device << 1 | (o.kind == TF_DEVICE_KERNEL || o.kind == TF_DEVICE_GRAPH)) + 1;
	if (!*known)
		return NULL;
	*ret_is_kernel = (*known - 1) & 1;
	return share_of_device(s, m, image, (uint32_t)((*known - 1) >> 1));
}

static void span_of(const struct model *m, const struct image *image, const struct device_record *r,
		    struct energy_span *ret)
{
	ret->start = clock_map_monotonic(&m->machines[image->machine].clock, r->start_ns);
	ret->end = ret->start + r->duration_ns < ret->start ? ret->start : ret->start + r->duration_ns;
}

struct energy_reader {
	struct energy_shares *shares;
	struct external_sort sort; /* of struct energy_span */
};

static void keep_record(struct scan *scan, const struct device_record *r)
{
	struct energy_reader *reading = scan->more;
	const struct model *m = scan->context->model;
	bool is_kernel;
	struct energy_share *share = share_of(reading->shares, m, scan->image, r->operation, &is_kernel);
	struct energy_span *span;

	if (!share || share->source->count < 2)
		return;
	span = external_sort_add(&reading->sort);
	span_of(m, scan->image, r, span);
	span->source = (uint32_t)(share - reading->shares->items);
	span->is_kernel = is_kernel;
}

COMPARATOR(spans_by_start, struct energy_span, order_of(a->start, b->start) ?: order_of(a->end, b->end))

/* ---- intervals ---- */

/* The interval that contains the time; those before the first and behind the last point are the nearest one. */
static size_t interval_at(const struct energy_source *s, uint64_t ns)
{
	size_t behind = first_place(i, 0, s->count, s->points[i].ns <= ns);

	return !behind ? 0 : behind >= s->count ? s->count - 2 : behind - 1;
}

/* Adds [from, to) to a field of the intervals that it overlaps. */
static void time_add(struct energy_share *share, uint64_t from, uint64_t to, size_t field)
{
	const struct energy_point *p = share->source->points;
	size_t last = share->source->count - 1;

	for (size_t i = interval_at(share->source, from); i < last && p[i].ns < to; i++) {
		uint64_t start = from > p[i].ns ? from : p[i].ns, end = to < p[i + 1].ns ? to : p[i + 1].ns;

		if (end > start)
			*(uint64_t *)((char *)&share->intervals[i] + field) += end - start;
	}
}

/* Adds the part of a span that no earlier one has covered; *until is the end of those. */
static void time_cover(struct energy_share *share, const struct energy_span *s, uint64_t *until, size_t field)
{
	uint64_t from = s->start > *until ? s->start : *until;

	if (s->end <= from)
		return;
	time_add(share, from, s->end, field);
	*until = s->end;
}

struct until {
	uint64_t kernels, anything;
};

/* Spans are added in the order of their starts. */
static void span_add(struct energy_share *share, struct until *until, const struct energy_span *s)
{
	const struct energy_source *source = share->source;
	uint64_t first = source->points[0].ns, last = source->points[source->count - 1].ns;
	uint64_t from = s->start > first ? s->start : first, to = s->end < last ? s->end : last;

	if (!share->intervals)
		share->intervals = mem_alloc(source->count * sizeof(*share->intervals));
	share->operations++;
	share->outside_ns += s->end - s->start - (to > from ? to - from : 0);
	time_cover(share, s, &until->anything, offsetof(struct energy_interval, busy_ns));
	if (s->is_kernel)
		time_cover(share, s, &until->kernels, offsetof(struct energy_interval, kernel_ns));
	time_add(share, s->start, s->end,
		 s->is_kernel ? offsetof(struct energy_interval, kernels.sum_ns)
			      : offsetof(struct energy_interval, copies.sum_ns));
}

/* ---- energy ---- */

/* The power while nothing ran from one sample to the next; < 0: there was no such time. */
static double idle_watts(const struct energy_share *share)
{
	const struct energy_point *p = share->source->points;
	double joules = 0, seconds = 0;

	for (size_t i = 0; i + 1 < share->source->count; i++) {
		if (share->intervals[i].busy_ns)
			continue;
		joules += p[i + 1].joules - p[i].joules;
		seconds += (double)(p[i + 1].ns - p[i].ns) / 1e9;
	}
	return seconds > 0 ? joules / seconds : -1;
}

static void interval_divide(struct energy_share *share, size_t i, double at_idle)
{
	const struct energy_point *p = &share->source->points[i];
	struct energy_interval *interval = &share->intervals[i];
	double joules = p[1].joules - p[0].joules, ns = (double)(p[1].ns - p[0].ns), busy = (double)interval->busy_ns;
	double at_most = share->source->limit_watts; /* 0: not known */
	double idle = ns > busy ? joules * (ns - busy) / ns : 0, kernels = 0, copies;

	if (busy <= 0)
		idle = joules;
	else if (at_idle >= 0 && at_idle * (ns - busy) / 1e9 < idle)
		idle = at_idle * (ns - busy) / 1e9;
	if (busy > 0 && at_most > 0 && joules - idle > at_most * busy / 1e9)
		idle = joules - at_most * busy / 1e9;
	if (busy > 0)
		kernels = (joules - idle) * (double)interval->kernel_ns / busy;
	copies = joules - idle - kernels;
	share->idle += idle;
	share->kernels += kernels;
	share->copies += copies;
	share->busy_ns += interval->busy_ns;
	if (interval->kernels.sum_ns)
		interval->kernels.watts = kernels / ((double)interval->kernels.sum_ns / 1e9);
	if (interval->copies.sum_ns)
		interval->copies.watts = copies / ((double)interval->copies.sum_ns / 1e9);
}

static void share_divide(struct energy_share *share)
{
	const struct energy_point *p = share->source->points;
	double at_idle = idle_watts(share);

	for (size_t i = 0; i + 1 < share->source->count; i++) {
		struct energy_interval *interval = &share->intervals[i];
		double seconds = (double)(p[i + 1].ns - p[i].ns) / 1e9;

		interval_divide(share, i, at_idle);
		interval[1].kernels.joules = interval->kernels.joules + interval->kernels.watts * seconds;
		interval[1].copies.joules = interval->copies.joules + interval->copies.watts * seconds;
	}
}

static void shares_read(const struct report_context *c, struct energy_shares *s)
{
	const struct energies *energies = energies_of(c->model);
	SCOPED_MEMORY struct until *until = mem_alloc((energies->count + 1) * sizeof(*until));
	struct energy_reader reading = {.shares = s};
	const struct energy_span *span;

	s->items = mem_alloc((energies->count + 1) * sizeof(*s->items));
	s->count = energies->count;
	for (size_t i = 0; i < s->count; i++)
		s->items[i].source = &energies->items[i];
	external_sort_init(&reading.sort, sizeof(struct energy_span), scan_records_held(c), spans_by_start);
	for (size_t i = 0; i < c->model->image_count && s->count; i++) {
		struct scan scan = {
			.context = c, .image = &c->model->images[i], .is_unfiltered = true, .more = &reading};

		if (scan.image->trace)
			device_scan_image(&scan, keep_record, NULL);
	}
	while ((span = external_sort_next(&reading.sort)))
		span_add(&s->items[span->source], &until[span->source], span);
	external_sort_done(&reading.sort);
	for (size_t i = 0; i < s->count; i++) {
		if (!s->items[i].intervals)
			continue;
		share_divide(&s->items[i]);
		s->is_known = true;
	}
}

static struct energy_shares *shares_of(const struct report_context *c)
{
	struct attachments *a = (struct attachments *)&c->model->attachments;
	struct energy_shares *s = attachment_find(a, &shares_kind);

	if (!s) {
		s = attachment_get(a, &shares_kind);
		shares_read(c, s);
	}
	return s;
}

const struct energy_share *energy_shares(const struct report_context *c, size_t *ret_count)
{
	const struct energy_shares *s = shares_of(c);

	*ret_count = s->count;
	return s->is_known ? s->items : NULL;
}

/* What one operation would have taken that ran from the first sample to that time. */
static double joules_until(const struct energy_share *share, bool is_kernel, uint64_t ns)
{
	const struct energy_source *source = share->source;
	size_t i = interval_at(source, ns);
	uint64_t from = source->points[i].ns, to = source->points[i + 1].ns;
	const struct class_share *class =
		is_kernel ? &share->intervals[i].kernels : &share->intervals[i].copies;

	ns = ns < from ? from : ns > to ? to : ns;
	return class->joules + class->watts * ((double)(ns - from) / 1e9);
}

double energy_of_record(const struct report_context *c, const struct image *image, const struct device_record *r)
{
	struct energy_shares *s = shares_of(c);
	const struct energy_share *share;
	struct energy_span span;
	bool is_kernel;
	double joules;

	if (!s->is_known)
		return 0;
	share = share_of(s, c->model, image, r->operation, &is_kernel);
	if (!share || !share->intervals)
		return 0;
	span_of(c->model, image, r, &span);
	joules = joules_until(share, is_kernel, span.end) - joules_until(share, is_kernel, span.start);
	return joules > 0 ? joules : 0; /* less than 0 by rounding */
}
