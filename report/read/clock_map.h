/* SPDX-License-Identifier: Apache-2.0 */
/* The clock map of one boot of one machine: converts ticks of its clock to CLOCK_REALTIME, and to the common time of
 * several machines. All processes of a boot share one clock map, so that the conversion keeps the order of
 * their events. */
#pragma once

#include "runtime/shared/format/trace_format.h"
#include "report/base/util.h"

/* How far a machine's CLOCK_REALTIME is ahead of the common time: ahead_ns when it shows since_ns, and `drift` more
 * for each ns after it. Zeros: it is the common time. */
struct clock_offset {
	double ahead_ns, drift;
	uint64_t since_ns;
};

/* The common time when that clock shows realtime_ns. */
uint64_t clock_offset_remove(const struct clock_offset *o, uint64_t realtime_ns);

struct clock_map {
	uint32_t source; /* enum tf_clock */
	uint64_t hz;	/* nominal, 0: not known */
	struct tf_clock_pair *pairs;
	size_t count, capacity;
	/* by clock_map_build */
	double *slopes;	    /* ns per tick from pair i to i + 1; the last one applies after the last pair */
	int64_t offset_ns;  /* CLOCK_REALTIME minus CLOCK_MONOTONIC */
	uint64_t scale;	    /* ns per tick, as a fixed-point number with 32 fractional bits */
	/* bound on the deviation of CLOCK_REALTIME from this map, including the errors of the pairs */
	uint64_t error_ns;
	bool rate_is_known; /* false: a tick is taken for a ns */
	struct clock_offset offset;
	size_t near; /* the pair of the last answer: what is asked next is near in time. Any thread sets it */
};

/* Ignores an empty pair. */
void clock_map_add(struct clock_map *map, const struct tf_clock_pair *pair);
void clock_map_build(struct clock_map *map);

/* Sets the machine's offset from the common time, with its error. */
void clock_map_place(struct clock_map *map, const struct clock_offset *offset, uint64_t error_ns);

/* The common time in ns at that tick. */
uint64_t clock_map_ns(const struct clock_map *map, uint64_t ticks);

/* Likewise at that time of this machine's CLOCK_MONOTONIC or CLOCK_REALTIME. */
uint64_t clock_map_monotonic(const struct clock_map *map, uint64_t monotonic_ns);
uint64_t clock_map_realtime(const struct clock_map *map, uint64_t realtime_ns);

/* The tick at that common time: the inverse of clock_map_ns. */
uint64_t clock_map_tick_at(const struct clock_map *map, uint64_t ns);

/* The tick at that time of CLOCK_MONOTONIC. */
uint64_t clock_map_ticks(const struct clock_map *map, uint64_t monotonic_ns);

/* The duration of that many ticks in ns. */
static inline uint64_t clock_map_duration(const struct clock_map *map, uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks * map->scale + ((uint64_t)1 << 31)) >> 32);
}

void clock_map_done(struct clock_map *map);
