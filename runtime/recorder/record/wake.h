/* SPDX-License-Identifier: Apache-2.0 */
/* Who ended a wait (--wakes). A thread counts itself among those that wait at an address. A call that releases a lock,
 * or signals a condition, at whose address a thread waits, notes its own thread and the time just before the real call;
 * the waiter looks for the note after its wait. Without a waiter, a release costs two loads.
 *
 * Notes of another image are not here: what processes share has no waker (preload/hook/wait.h). A forked child has its
 * parent's notes, which are older than each of its waits. No lock, no allocation, no system call; a signal handler may
 * interrupt it at any point. If two threads write the same place at once, a note may be lost. A wait that is left by
 * cancellation or longjmp stays counted: later releases at the addresses of its bucket are noted, which costs them time
 * only. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/shared/common/hot.h"

/* The release of a mutex, a spin lock, or a rwlock by its writer is exclusive: until the waiter has read the note, no
 * other thread can release that lock. READER: the release of a rwlock by a reader. ONE and ALL: conditions, semaphores
 * and futexes, which wake one waiter or all of them. A barrier has notes of its own: wake_arrived(). */
enum wake_kind { WAKE_RELEASE, WAKE_READER, WAKE_ONE, WAKE_ALL };

/* What a waiter found. tid == 0: nothing. */
struct wake {
	uint64_t ticks;
	uint32_t tid;
};

extern bool wake_is_on HIDDEN;

/* Before threads record; without memory, no waker is noted. */
void wake_start(void);

enum { WAKE_BUCKETS = 1024 };
extern uint32_t *wake_waiting HIDDEN; /* by bucket; NULL unless wake_is_on */

/* Bits 6 to 15 of the address, mixed with those above. */
static inline uint32_t wake_bucket(const void *address)
{
	uint64_t at = (uintptr_t)address;

	return ((uint32_t)(at >> 6) ^ (uint32_t)(at >> 16) * 0x9e3779b1u >> 22) & (WAKE_BUCKETS - 1);
}

static inline bool wake_is_waited(const void *address)
{
	return __atomic_load_n(&wake_waiting[wake_bucket(address)], __ATOMIC_RELAXED);
}

/* Around a wait. */
static inline void wake_wait(const void *address)
{
	__atomic_fetch_add(&wake_waiting[wake_bucket(address)], 1, __ATOMIC_SEQ_CST);
}

static inline void wake_waited(const void *address)
{
	__atomic_fetch_sub(&wake_waiting[wake_bucket(address)], 1, __ATOMIC_RELEASE);
}

/* By a thread that is attached. */
void wake_note(const void *address, enum wake_kind kind);

/* The last release since `start`; with `by_writer`, that of a writer is preferred to those of readers, which may have
 * had the lock together with the waiter. */
struct wake wake_released(const void *address, uint64_t start, bool by_writer);

/* The oldest wake-up since `start` that nobody has taken yet; one that wakes a single waiter is taken. */
struct wake wake_take(const void *address, uint64_t start);

/* A barrier: each thread calls wake_arrived() before the real call and wake_left(), with its result, after it. The last
 * thread that arrived in the same round ended the wait. The first thread that leaves stores which thread arrived last,
 * because that thread may arrive for the next round at once. */
uint64_t wake_arrived(const void *address);
struct wake wake_left(const void *address, uint64_t arrived);

/* TF_ARG_WAKER for a wait that ended at `end`; 0: not known. */
uint64_t wake_arg(struct wake w, uint64_t end);
