/* SPDX-License-Identifier: Apache-2.0 */
/* The capture range of a run: a page that all its processes map. The launcher creates it; cudaProfilerStart and Stop of
 * any process change its state. Used in the target: no allocation, no libc, bounded waiting.
 *
 * Changes are made under a lock of one bit in page->ended. Its holder may be killed, or interrupted by a signal handler
 * that needs the lock too, so a waiter stops waiting after a while and proceeds. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/shared/common/options.h"
#include "runtime/shared/format/trace_format.h"

/* Bits of page->ended. */
enum {
	RANGE_ENDED = 1,
	RANGE_LOCKED = 2,
	RANGE_HELD = 4, /* --delay is not over: Start is stored, but no range begins */
	RANGE_KILLED = 32, /* the launcher has applied --kill; 8 and 16 are in trace_range.h */
	RANGE_ABORTS = 64, /* a rank waits for the launcher before it calls MPI_Abort */
	RANGE_ABORT_SAID = 128, /* the launcher has said why */
};

/* Values of page->shutdown. RANGE_STOP_IGNORED is --capture-range-end=none. */
enum { RANGE_GOES_ON = 0, RANGE_SHUTDOWN = 1, RANGE_STOP_IGNORED = 2 };

/* What exists of the file at first, and what processes map of it if they need no more: whole pages. */
enum { RANGE_FIRST_BYTES = 2 * TF_PAGE };

/* The initial page of a run. A run that is recorded as a whole needs no page; creating one does no harm. */
struct tf_range_page range_head(const struct options *o, uint64_t run, uint32_t clock);

/* The path of HOST.RUN.range in `directory`. False: it does not fit. */
bool range_path(char *ret, size_t size, const char *directory, const char *host, uint64_t run);

/* Creates HOST.RUN.range in `directory`. 0, or -errno, and then there is no file. */
int range_make(const char *directory, const char *host, const char *boot, const struct tf_clock_pair *now,
	       const struct tf_range_page *head);

/* Maps and checks HOST.RUN.range of `directory`. NULL: it does not exist or is not of this run. *ret_images: the
 * head of its part for images; NULL: it has none. */
struct tf_range_page *range_map(const char *directory, const char *host, uint64_t run, struct tf_images **ret_images);

/* Likewise with the whole table of ranges, of which a hole remains where range_allocate() was not called. */
struct tf_range_page *range_map_all(const char *directory, const char *host, uint64_t run);

/* Allocates the space of the whole table. 0 or -errno. */
int range_allocate(const char *directory, const char *host, uint64_t run);

/* cudaProfilerStart and Stop of process `pid`. */
void range_start(struct tf_range_page *page, uint32_t pid, uint64_t ticks);
void range_stop(struct tf_range_page *page, uint32_t pid, uint64_t ticks);

/* After a stop, without the lock: if it has ended the last range, and --kill applies then, waits until the launcher has
 * sent the signal. Otherwise the program could end first, or do what is not recorded any more. */
void range_await_kill(const struct tf_range_page *page);

/* Before MPI_Abort, after which mpirun may kill the launcher at once: asks it to say why the job ends, and waits, at
 * most for a second. */
void range_await_abort(struct tf_range_page *page);

/* For a process that may be inside nested or concurrent ranges: `step` 1 begins one more, -1 ends one. *inside is their
 * number; nothing else changes it. The page has the state after the last change, in any order of the threads. */
void range_step(struct tf_range_page *page, uint32_t pid, uint64_t ticks, uint32_t *inside, int step);

/* For the launcher. Opens the range regardless of the processes inside (whole run: --delay, --duration). */
void range_open(struct tf_range_page *page, uint64_t ticks);
/* --delay is over: opens the range if a process is inside. */
void range_release(struct tf_range_page *page, uint64_t ticks);
/* --kill has been applied, if it is to be. */
void range_killed(struct tf_range_page *page);
/* Whether a process waits in range_await_abort; it goes on when it was said. */
bool range_is_aborting(const struct tf_range_page *page);
void range_abort_said(struct tf_range_page *page);
/* Closes the range permanently. */
void range_end(struct tf_range_page *page, uint64_t ticks);
/* For `pillion start`, stop and cancel; the caller has mapped the whole table of ranges. A range is opened whatever
 * processes are inside, or closed for all of them. *ret_range: the number of the range, from 1. Returns 0; -EALREADY:
 * it is so already; or a reason why not: -EPERM: recording has ended for good, -EBUSY: --delay is not over, -ENOSPC:
 * the table is full. The end of a range is read from `now` after the word has changed, so that calls which have begun
 * meanwhile are in it. If a run that was to be recorded as a whole is stopped for the first time, its first range began
 * at first_ticks. */
int range_request_open(struct tf_range_page *page, uint64_t ticks, uint32_t *ret_range);
int range_request_close(struct tf_range_page *page, uint64_t (*now)(void), uint64_t first_ticks, bool is_cancelled,
			uint32_t *ret_range);

/* Removes the processes that are not alive; the range closes when none is left. */
void range_drop_dead(struct tf_range_page *page, uint64_t ticks, bool (*is_alive)(uint32_t pid));

static inline bool range_has_ended(const struct tf_range_page *page)
{
	return __atomic_load_n(&page->ended, __ATOMIC_ACQUIRE) & RANGE_ENDED;
}
