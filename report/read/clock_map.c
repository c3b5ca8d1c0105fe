/* SPDX-License-Identifier: Apache-2.0 */
/* Converts ticks to time. The rate is that of CLOCK_MONOTONIC, which is never set; the offset is that of
 * CLOCK_REALTIME. */
#include "report/read/clock_map.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Over shorter distances the errors of two pairs make the rate too inaccurate. */
#define SPACING_NS 1000000000u
/* Below this distance a nominal rate, if there is one, is more accurate than a measured one for what lies outside. */
#define SHORT_NS 10000000u
/* 1 / the error of a nominal rate: the recorder measures it over 0.2 ms where no processor states it. */
#define NOMINAL_PART 1000

void clock_map_add(struct clock_map *map, const struct tf_clock_pair *pair)
{
	if (!pair->ticks || !pair->realtime_ns)
		return;
	mem_append(map->pairs, map->count, map->capacity, *pair);
}

COMPARATOR(compare_clock_pairs, struct tf_clock_pair, a->ticks < b->ticks ? -1 : a->ticks > b->ticks)

COMPARATOR(compare_offsets, int64_t, (*a > *b) - (*a < *b))

/* The median offset of the pairs; the largest difference from it is the stated error. */
static void find_offset(struct clock_map *map, double slope)
{
	SCOPED_MEMORY int64_t *offsets = mem_alloc(map->count * sizeof(*offsets));
	uint64_t reading = 0, spread = 0;

	for (size_t i = 0; i < map->count; i++) {
		offsets[i] = (int64_t)(map->pairs[i].realtime_ns - map->pairs[i].monotonic_ns);
		reading = larger_of(reading, map->pairs[i].error_ticks);
	}
	if (map->count) {
		qsort(offsets, map->count, sizeof(*offsets), compare_offsets);
		map->offset_ns = offsets[map->count / 2];
		spread = (uint64_t)map->offset_ns - (uint64_t)offsets[0];
		if ((uint64_t)offsets[map->count - 1] - (uint64_t)map->offset_ns > spread)
			spread = (uint64_t)offsets[map->count - 1] - (uint64_t)map->offset_ns;
	}
	map->error_ns = spread + (reading > 1e15 ? (uint64_t)1e15 : (uint64_t)((double)reading * slope));
}

/* Keeps the first and the last pair and pairs that are SPACING_NS apart, each later than the previous one on both
 * clocks. */
static void clock_map_thin(struct clock_map *map)
{
	size_t kept = 0;
	struct tf_clock_pair last;

	if (!map->count)
		return;
	last = map->pairs[map->count - 1];
	for (size_t i = 0; i < map->count; i++)
		if (!kept || (map->pairs[i].ticks > map->pairs[kept - 1].ticks &&
			      map->pairs[i].monotonic_ns > map->pairs[kept - 1].monotonic_ns &&
			      map->pairs[i].monotonic_ns - map->pairs[kept - 1].monotonic_ns >= SPACING_NS))
			map->pairs[kept++] = map->pairs[i];
	/* The last pair replaces the one before it if that is near, unless it is the first. */
	if (last.ticks > map->pairs[kept - 1].ticks && last.monotonic_ns > map->pairs[kept - 1].monotonic_ns) {
		if (kept > 1)
			map->pairs[kept - 1] = last;
		else
			map->pairs[kept++] = last;
	}
	map->count = kept;
}

static double whole_slope(struct clock_map *map)
{
	const struct tf_clock_pair *first = map->pairs, *last = map->count ? map->pairs + map->count - 1 : first;
	bool is_long = map->count > 1 && last->monotonic_ns - first->monotonic_ns >= SHORT_NS;

	map->rate_is_known = true;
	if (map->source == TF_CLOCK_MONOTONIC)
		return 1;
	if (map->hz >= 1000 && !is_long)
		return 1e9 / (double)map->hz;
	if (map->count > 1)
		return (double)(last->monotonic_ns - first->monotonic_ns) / (double)(last->ticks - first->ticks);
	map->rate_is_known = false;
	return 1;
}

/* The slope from pair i to the next one, which puts both where they were read; the nominal one if it is closer. */
static double inner_slope(const struct clock_map *map, size_t i, double nominal)
{
	const struct tf_clock_pair *a = &map->pairs[i], *b = a + 1;
	uint64_t ticks = b->ticks - a->ticks;

	if (map->hz >= 1000 && (a->error_ticks > ticks / NOMINAL_PART || b->error_ticks > ticks / NOMINAL_PART))
		return nominal;
	return (double)(b->monotonic_ns - a->monotonic_ns) / (double)ticks;
}

void clock_map_build(struct clock_map *map)
{
	double slope, scale;

	array_sort(map->pairs, map->count, compare_clock_pairs);
	find_offset(map, map->hz >= 1000 ? 1e9 / (double)map->hz : 1);
	clock_map_thin(map);
	slope = whole_slope(map);
	scale = slope * 4294967296.0;
	map->scale = scale < 1 ? 1 : scale > 1e18 ? (uint64_t)1e18 : (uint64_t)(scale + 0.5);
	free(map->slopes);
	map->slopes = mem_alloc((map->count + 1) * sizeof(*map->slopes));
	for (size_t i = 0; i < map->count; i++)
		map->slopes[i] = slope;
	for (size_t i = 0; map->source != TF_CLOCK_MONOTONIC && i + 1 < map->count; i++)
		map->slopes[i] = inner_slope(map, i, slope);
}

void clock_map_place(struct clock_map *map, const struct clock_offset *offset, uint64_t error_ns)
{
	map->offset = *offset;
	map->error_ns = error_ns;
}

uint64_t clock_offset_remove(const struct clock_offset *o, uint64_t realtime_ns)
{
	if (o->ahead_ns == 0 && o->drift == 0)
		return realtime_ns;
	return realtime_ns - (uint64_t)(int64_t)(o->ahead_ns + (double)(int64_t)(realtime_ns - o->since_ns) * o->drift);
}

uint64_t clock_map_realtime(const struct clock_map *map, uint64_t realtime_ns)
{
	return clock_offset_remove(&map->offset, realtime_ns);
}

uint64_t clock_map_monotonic(const struct clock_map *map, uint64_t monotonic_ns)
{
	return clock_map_realtime(map, monotonic_ns + (uint64_t)map->offset_ns);
}

static inline uint64_t pair_time(const struct clock_map *map, size_t i, size_t clock)
{
	uint64_t time;

	memcpy(&time, (const char *)&map->pairs[i] + clock, sizeof(time));
	return time;
}

/* The pair to extrapolate from: the last one that is not later on that clock, or the first. */
static inline size_t pair_before(const struct clock_map *map, size_t clock, uint64_t at)
{
	size_t *near = (size_t *)&map->near, low = __atomic_load_n(near, __ATOMIC_RELAXED), high = map->count;

	if (low < high && (!low || pair_time(map, low, clock) <= at) &&
	    (low + 1 == high || pair_time(map, low + 1, clock) > at))
		return low;
	for (low = 0; high - low > 1;) {
		size_t middle = low + (high - low) / 2;

		if (pair_time(map, middle, clock) <= at)
			low = middle;
		else
			high = middle;
	}
	__atomic_store_n(near, low, __ATOMIC_RELAXED);
	return low;
}

/* 0 if the result is outside of this boot. */
static uint64_t bounded_distance(double n)
{
	return n > 4e18 || n < -4e18 ? 0 : (uint64_t)(int64_t)n;
}

uint64_t clock_map_ns(const struct clock_map *map, uint64_t ticks)
{
	size_t i;

	if (!map->count)
		return ticks;
	i = pair_before(map, offsetof(struct tf_clock_pair, ticks), ticks);
	return clock_map_monotonic(map, map->pairs[i].monotonic_ns +
						bounded_distance((double)(int64_t)(ticks - map->pairs[i].ticks) *
								 map->slopes[i]));
}

uint64_t clock_map_ticks(const struct clock_map *map, uint64_t monotonic_ns)
{
	size_t i;

	if (!map->count || map->source == TF_CLOCK_MONOTONIC)
		return monotonic_ns;
	i = pair_before(map, offsetof(struct tf_clock_pair, monotonic_ns), monotonic_ns);
	if (map->slopes[i] <= 0)
		return map->pairs[i].ticks;
	return map->pairs[i].ticks +
	       bounded_distance((double)(int64_t)(monotonic_ns - map->pairs[i].monotonic_ns) / map->slopes[i]);
}

uint64_t clock_map_tick_at(const struct clock_map *map, uint64_t ns)
{
	const struct clock_offset *o = &map->offset;

	if (o->ahead_ns != 0 || o->drift != 0)
		ns = o->since_ns +
		     bounded_distance(((double)(int64_t)(ns - o->since_ns) + o->ahead_ns) / (1 - o->drift));
	return clock_map_ticks(map, ns - (uint64_t)map->offset_ns);
}

void clock_map_done(struct clock_map *map)
{
	free(map->pairs);
	free(map->slopes);
	*map = (struct clock_map){0};
}
