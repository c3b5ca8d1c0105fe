/* SPDX-License-Identifier: Apache-2.0 */
/* What a wait for a lock, a condition, a semaphore, a barrier or a futex has in the trace: the address, the owner of a
 * mutex, and with --wakes the thread that ended the wait (runtime/recorder/record/wake.h). */
#pragma once

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>

#include "preload/hook/call.h"
#include "runtime/recorder/record/wake.h"

/* What processes share is not noted: a thread of another one, which writes its notes elsewhere, may end the wait. The
 * fields are those of glibc (sem_t since 2.21, the others since 2.25); elsewhere, a waker may be missing or wrong. */
static inline bool wait_is_shared_mutex(const pthread_mutex_t *m)
{
	return m->__data.__kind & 128;
}

static inline bool wait_is_shared_condition(const pthread_cond_t *c)
{
	return c->__data.__wrefs & 1;
}

static inline bool wait_is_shared_semaphore(const sem_t *s)
{
	return ((const int *)s)[2] != 0;
}

static inline bool wait_is_shared_barrier(const pthread_barrier_t *b)
{
	return ((const int *)b)[3] != 0;
}

/* The calling thread is about to end a wait, if there is one. */
__attribute__((noinline)) ALIGNS_STACK void wait_note_attached(const void *address, enum wake_kind kind);
#define WAIT_NOTE(address, is_shared, kind)                                                                            \
	do {                                                                                                           \
		if (__builtin_expect(wake_is_on, 0) && __builtin_expect(wake_is_waited(address), 0) && !(is_shared))   \
			wait_note_attached((const void *)(address), (kind));                                           \
	} while (0)

/* The calling thread is about to wait. True: wake_waited() is due after it. */
__attribute__((noinline)) bool wait_begin_attached(const void *address);
static inline bool wait_begin(const void *address)
{
	return __builtin_expect(wake_is_on, 0) && wait_begin_attached(address);
}

/* When the thread arrived at a barrier; 0: this is not to be known. */
__attribute__((noinline)) uint64_t wait_arrived_attached(const void *barrier);
static inline uint64_t wait_arrived(const void *barrier)
{
	return __builtin_expect(wake_is_on, 0) ? wait_arrived_attached(barrier) : 0;
}

/* The calling thread has got a semaphore without waiting: its post woke no other thread. */
static inline void wait_taken(const void *semaphore)
{
	if (__builtin_expect(wake_is_on, 0) && wake_is_waited(semaphore))
		wake_take(semaphore, 0);
}

static inline struct wake wait_released(const struct call *e, int result, const void *lock, bool by_writer)
{
	return wake_is_on && !result ? wake_released(lock, e->start, by_writer) : (struct wake){0};
}

/* After a wait for which wait_begin() was true. */
static inline struct wake wait_end(const void *address, uint64_t start, long result)
{
	wake_waited(address);
	return result ? (struct wake){0} : wake_take(address, start);
}

static inline bool wait_is_wake(long operation)
{
	operation &= FUTEX_CMD_MASK;
	return operation == FUTEX_WAKE || operation == FUTEX_WAKE_BITSET;
}

static inline bool wait_is_wait(long operation)
{
	operation &= FUTEX_CMD_MASK;
	return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
}

/* Records a wait. `holder`: 0 if not known. `error`: 0 if it succeeded. */
__attribute__((noinline, cold)) void wait_record(const struct call *e, unsigned function, const void *lock,
						 uint32_t holder, struct wake wake, int error);

/* The same for a futex, with its operation. */
__attribute__((noinline, cold)) void wait_record_value(const struct call *e, unsigned function, const void *lock,
						 uint64_t value, struct wake wake, int error);
