/* SPDX-License-Identifier: Apache-2.0 */
/* The time axis of one boot of one machine: from ticks of its clock to CLOCK_REALTIME, by which several machines are
 * placed side by side. All processes of a boot share one axis, so that their order is that of their clock. */
#ifndef PILLION_CLOCK_MAP_H
#define PILLION_CLOCK_MAP_H

#include "runtime/format/trace_format.h"
#include "report/base/util.h"

/* How far a machine's CLOCK_REALTIME is ahead of the common time: ahead_ns when it shows since_ns, and `drift` more with each of its ns.
 * Zeros: it is the common time. */
struct clock_offset {
	double ahead_ns, drift;
	uint64_t since_ns;
};

/* The common time when that clock shows realtime_ns. */
uint64_t clock_offset_remove(const struct clock_offset *o, uint64_t realtime_ns);

struct clock_map {
	uint32_t source; /* enum tf_clock */
	uint64_t hz;	/* nominal, 0 if nobody told */
	struct tf_clock_pair *pairs;
	size_t count, capacity;
	/* by clock_map_build */
	double *slopes;	    /* ns per tick from pair i to i + 1; the last one is for what lies behind */
	int64_t offset_ns;  /* CLOCK_REALTIME minus CLOCK_MONOTONIC */
	uint64_t scale;	    /* ns per tick, 32 bits behind the point */
	uint64_t error_ns;  /* how far CLOCK_REALTIME was off this axis at most, plus the pairs' own errors */
	bool rate_is_known; /* false: one tick is taken for one ns */
	struct clock_offset offset;
};

/* Ignores a pair that was not taken. */
void clock_map_add(struct clock_map *map, const struct tf_clock_pair *pair);
void clock_map_build(struct clock_map *map);

/* Places the machine among the others, to error_ns. */
void clock_map_place(struct clock_map *map, const struct clock_offset *offset, uint64_t error_ns);

/* The common time in ns, CLOCK_REALTIME of the machine that all are placed by, at that tick. */
uint64_t clock_map_ns(const struct clock_map *map, uint64_t ticks);

/* Likewise where this machine's CLOCK_MONOTONIC, or its CLOCK_REALTIME, stood there. */
uint64_t clock_map_monotonic(const struct clock_map *map, uint64_t monotonic_ns);
uint64_t clock_map_realtime(const struct clock_map *map, uint64_t realtime_ns);

/* The tick at that common time: the other way round. */
uint64_t clock_map_tick_at(const struct clock_map *map, uint64_t ns);

/* The tick at which CLOCK_MONOTONIC stood there. */
uint64_t clock_map_ticks(const struct clock_map *map, uint64_t monotonic_ns);

/* Nanoseconds that so many ticks last. */
static inline uint64_t clock_map_duration(const struct clock_map *map, uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks * map->scale + ((uint64_t)1 << 31)) >> 32);
}

void clock_map_done(struct clock_map *map);

#endif
