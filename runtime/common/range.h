/* SPDX-License-Identifier: Apache-2.0 */
/* The capture range of one launcher: a page that all processes of its run map. The launcher makes it; cudaProfilerStart
 * and Stop of any process move it. Used in the target: no allocation, no libc, bounded waiting.
 *
 * Changes are made under a lock of one bit in page->ended. Its holder may be killed, or be interrupted by a handler
 * that wants it too; so whoever waits gives up waiting after a while and goes on. */
#ifndef PILLION_RANGE_H
#define PILLION_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/common/options.h"
#include "runtime/format/trace_format.h"

/* Bits of page->ended. */
enum {
	RANGE_ENDED = 1,
	RANGE_LOCKED = 2,
	RANGE_HELD = 4, /* --delay is not over: Start is noted, nothing opens */
};

/* Values of page->shutdown. RANGE_STOP_IGNORED is --capture-range-end=none. */
enum { RANGE_GOES_ON = 0, RANGE_SHUTDOWN = 1, RANGE_STOP_IGNORED = 2 };

/* What a page of this run starts from. One that records all the time needs no page; making it does no harm. */
struct tf_range_page range_head(const struct options *o, uint64_t run, uint32_t clock);

/* Makes HOST.RUN.range in `directory`. 0 or -errno: nothing is left then. */
int range_make(const char *directory, const char *host, const struct tf_range_page *head);

/* What to map HOST.RUN.range of `directory` with, checked: NULL if it is not there or not this run's. */
struct tf_range_page *range_map(const char *directory, const char *host, uint64_t run);

/* cudaProfilerStart and Stop of process `pid`. */
void range_start(struct tf_range_page *page, uint32_t pid, uint64_t ticks);
void range_stop(struct tf_range_page *page, uint32_t pid, uint64_t ticks);

/* Of a process that may be inside several times over, *inside of them, which nobody else changes: `step` 1 begins one
 * more, -1 ends one. What is counted last is what the page has, in whatever order threads come. */
void range_step(struct tf_range_page *page, uint32_t pid, uint64_t ticks, uint32_t *inside, int step);

/* The launcher's. Opens regardless of who is inside (whole run: --delay, --duration). */
void range_open(struct tf_range_page *page, uint64_t ticks);
/* --delay is over: opens if somebody is inside. */
void range_release(struct tf_range_page *page, uint64_t ticks);
/* Closes for good. */
void range_end(struct tf_range_page *page, uint64_t ticks);
/* Takes out the members that is_alive() denies; the range closes when none is left. */
void range_drop_dead(struct tf_range_page *page, uint64_t ticks, bool (*is_alive)(uint32_t pid));

static inline bool range_has_ended(const struct tf_range_page *page)
{
	return __atomic_load_n(&page->ended, __ATOMIC_ACQUIRE) & RANGE_ENDED;
}

#endif
