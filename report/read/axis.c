/* SPDX-License-Identifier: Apache-2.0 */
/* From ticks to time. The shape comes from CLOCK_MONOTONIC, which is never set, the place from CLOCK_REALTIME. */
#include "report/read/axis.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Nearer pairs tell less about the rate than their own errors spoil. */
#define SPACING_NS 1000000000u
/* Below this span a nominal rate, if there is one, is better than a measured one. */
#define SHORT_NS 10000000u

void axis_add(struct axis *a, const struct tf_clock_pair *pair)
{
	if (!pair->ticks || !pair->realtime_ns)
		return;
	a->pairs = mem_grow(a->pairs, a->count, &a->capacity, sizeof(*a->pairs));
	a->pairs[a->count++] = *pair;
}

static int compare_pairs(const void *left, const void *right)
{
	const struct tf_clock_pair *a = left, *b = right;

	return a->ticks < b->ticks ? -1 : a->ticks > b->ticks;
}

static int compare_offsets(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* The offset that most pairs agree on; what the others differ by is the error that is stated. */
static void find_offset(struct axis *a, double slope)
{
	int64_t *offsets = mem_alloc(a->count * sizeof(*offsets));
	uint64_t reading = 0, spread = 0;

	for (size_t i = 0; i < a->count; i++) {
		offsets[i] = (int64_t)(a->pairs[i].realtime_ns - a->pairs[i].monotonic_ns);
		if (a->pairs[i].error_ticks > reading)
			reading = a->pairs[i].error_ticks;
	}
	if (a->count) {
		qsort(offsets, a->count, sizeof(*offsets), compare_offsets);
		a->offset_ns = offsets[a->count / 2];
		spread = (uint64_t)a->offset_ns - (uint64_t)offsets[0];
		if ((uint64_t)offsets[a->count - 1] - (uint64_t)a->offset_ns > spread)
			spread = (uint64_t)offsets[a->count - 1] - (uint64_t)a->offset_ns;
	}
	a->error_ns = spread + (reading > 1e15 ? (uint64_t)1e15 : (uint64_t)((double)reading * slope));
	free(offsets);
}

/* Keeps pairs that stand SPACING_NS apart, the first and the last, each later than the one before on both clocks. */
static void thin(struct axis *a)
{
	size_t kept = 0;
	struct tf_clock_pair last;

	if (!a->count)
		return;
	last = a->pairs[a->count - 1];
	for (size_t i = 0; i < a->count; i++)
		if (!kept || (a->pairs[i].ticks > a->pairs[kept - 1].ticks &&
			      a->pairs[i].monotonic_ns > a->pairs[kept - 1].monotonic_ns &&
			      a->pairs[i].monotonic_ns - a->pairs[kept - 1].monotonic_ns >= SPACING_NS))
			a->pairs[kept++] = a->pairs[i];
	/* The last one takes the place of a near one before it, except of the first. */
	if (last.ticks > a->pairs[kept - 1].ticks && last.monotonic_ns > a->pairs[kept - 1].monotonic_ns) {
		if (kept > 1)
			a->pairs[kept - 1] = last;
		else
			a->pairs[kept++] = last;
	}
	a->count = kept;
}

static double whole_slope(struct axis *a)
{
	const struct tf_clock_pair *first = a->pairs, *last = a->count ? a->pairs + a->count - 1 : first;
	bool is_long = a->count > 1 && last->monotonic_ns - first->monotonic_ns >= SHORT_NS;

	a->rate_is_known = true;
	if (a->clock == TF_CLOCK_MONOTONIC)
		return 1;
	if (a->hz >= 1000 && !is_long)
		return 1e9 / (double)a->hz;
	if (a->count > 1)
		return (double)(last->monotonic_ns - first->monotonic_ns) / (double)(last->ticks - first->ticks);
	a->rate_is_known = false;
	return 1;
}

void axis_build(struct axis *a)
{
	double slope, scale;

	if (a->count)
		qsort(a->pairs, a->count, sizeof(*a->pairs), compare_pairs);
	find_offset(a, a->hz >= 1000 ? 1e9 / (double)a->hz : 1);
	thin(a);
	slope = whole_slope(a);
	scale = slope * 4294967296.0;
	a->scale = scale < 1 ? 1 : scale > 1e18 ? (uint64_t)1e18 : (uint64_t)(scale + 0.5);
	free(a->slopes);
	a->slopes = mem_alloc((a->count + 1) * sizeof(*a->slopes));
	for (size_t i = 0; i < a->count; i++)
		a->slopes[i] = slope;
	if (a->clock == TF_CLOCK_MONOTONIC || a->count < 3)
		return;
	for (size_t i = 0; i + 1 < a->count; i++)
		a->slopes[i] = (double)(a->pairs[i + 1].monotonic_ns - a->pairs[i].monotonic_ns) /
			       (double)(a->pairs[i + 1].ticks - a->pairs[i].ticks);
}

void axis_place(struct axis *a, const struct clock_offset *offset, uint64_t error_ns)
{
	a->offset = *offset;
	a->error_ns = error_ns;
}

uint64_t clock_offset_remove(const struct clock_offset *o, uint64_t realtime_ns)
{
	if (o->ahead_ns == 0 && o->drift == 0)
		return realtime_ns;
	return realtime_ns - (uint64_t)(int64_t)(o->ahead_ns + (double)(int64_t)(realtime_ns - o->since_ns) * o->drift);
}

uint64_t axis_realtime(const struct axis *a, uint64_t realtime_ns)
{
	return clock_offset_remove(&a->offset, realtime_ns);
}

uint64_t axis_monotonic(const struct axis *a, uint64_t monotonic_ns)
{
	return axis_realtime(a, monotonic_ns + (uint64_t)a->offset_ns);
}

/* The pair from which to go on: the last one that is not later on that clock, or the first. */
static inline size_t pair_before(const struct axis *a, size_t clock, uint64_t at)
{
	size_t low = 0, high = a->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		uint64_t there;

		memcpy(&there, (const char *)&a->pairs[middle] + clock, sizeof(there));
		if (there <= at)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* 0 where it would be no time of this boot. */
static uint64_t distance(double n)
{
	return n > 4e18 || n < -4e18 ? 0 : (uint64_t)(int64_t)n;
}

uint64_t axis_ns(const struct axis *a, uint64_t ticks)
{
	size_t i;

	if (!a->count)
		return ticks;
	i = pair_before(a, offsetof(struct tf_clock_pair, ticks), ticks);
	return axis_monotonic(a, a->pairs[i].monotonic_ns + distance((double)(int64_t)(ticks - a->pairs[i].ticks) * a->slopes[i]));
}

uint64_t axis_ticks(const struct axis *a, uint64_t monotonic_ns)
{
	size_t i;

	if (!a->count || a->clock == TF_CLOCK_MONOTONIC)
		return monotonic_ns;
	i = pair_before(a, offsetof(struct tf_clock_pair, monotonic_ns), monotonic_ns);
	if (a->slopes[i] <= 0)
		return a->pairs[i].ticks;
	return a->pairs[i].ticks + distance((double)(int64_t)(monotonic_ns - a->pairs[i].monotonic_ns) / a->slopes[i]);
}

uint64_t axis_tick_at(const struct axis *a, uint64_t ns)
{
	const struct clock_offset *o = &a->offset;

	if (o->ahead_ns != 0 || o->drift != 0)
		ns = o->since_ns + distance(((double)(int64_t)(ns - o->since_ns) + o->ahead_ns) / (1 - o->drift));
	return axis_ticks(a, ns - (uint64_t)a->offset_ns);
}

void axis_done(struct axis *a)
{
	free(a->pairs);
	free(a->slopes);
	*a = (struct axis){0};
}
