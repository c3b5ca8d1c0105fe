/* SPDX-License-Identifier: Apache-2.0 */
/* Recording of events as slots in the thread's chunk. Nothing here locks, allocates or, except to grow, enters the
 * kernel. A signal handler may interrupt it at any point and record events itself. errno is preserved. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/recorder/record/process_state.h"
#include "runtime/recorder/record/thread/thread_state.h"
#include "runtime/shared/common/clock.h"
#include "runtime/shared/format/trace_format.h"

enum { EVENT_ARGS = 6, EVENT_TEXT = 8192 };

/* Is this group selected, and is the capture range open? This is the whole cost of a deselected call. */
static inline bool event_enabled(unsigned group)
{
	return process_gate.groups & *process_gate.recording & 1u << group;
}

/* ---- slots: between event_next() and event_taken() this thread writes to its chunk ---- */

#define EVENT_BARRIER() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* The address of the next slot. To be read before everything that the allocation depends on: event_take() fails if a
 * handler has recorded an event or changed the chunk since. The chunk stays mapped until event_taken(), even if a
 * handler replaces it. */
static inline __attribute__((always_inline)) uint64_t event_next(struct thread *t)
{
	uint64_t at;

	t->writing++;
	EVENT_BARRIER();
	at = *(volatile uint64_t *)&t->next;
	EVENT_BARRIER();
	return at;
}

static inline __attribute__((always_inline)) bool event_has_room(const struct thread *t, uint64_t at, uint64_t size)
{
	return at + size <= *(volatile const uint64_t *)&t->limit;
}

/* Is `time` too far from the time of the event before for the reader to derive it from its low bits? */
static inline __attribute__((always_inline)) bool event_is_far(const struct thread *t, uint64_t time)
{
	return time - *(volatile const uint64_t *)&t->last_ticks + TF_TIME_BEHIND > TF_TIME_MASK;
}

/* Allocates `size` bytes at `at`, unless the next slot has moved. It is one instruction, hence atomic with respect
 * to handlers in this thread. No other thread allocates here, so there is no lock prefix: it would wait until all
 * earlier stores, some of them to cache lines not yet loaded, have completed. */
static inline __attribute__((always_inline)) bool event_take(struct thread *t, uint64_t at, uint64_t size)
{
#if defined(__x86_64__)
	bool is_taken;

	__asm__ volatile("cmpxchgq %3, %1" : "=@ccz"(is_taken), "+m"(t->next), "+a"(at) : "r"(at + size) : "memory");
	return is_taken;
#else
	return __atomic_compare_exchange_n(&t->next, &at, at + size, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

static inline __attribute__((always_inline)) void event_store(uint64_t *slot, uint64_t value)
{
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);
}

static inline __attribute__((always_inline)) void event_taken(struct thread *t)
{
	EVENT_BARRIER();
	t->writing--;
}

/* Writes an event of at most two arguments that needs no TIME slot and fits into the chunk. False: nothing was
 * written, and the caller must use the slow path. */
static inline __attribute__((always_inline)) bool event_put(struct thread *t, uint64_t time, uint64_t first,
							    const uint64_t *args, unsigned count)
{
	uint64_t size = TF_SLOT + count * TF_SLOT, at = event_next(t), *slots = (uint64_t *)at;

	if (__builtin_expect(!event_has_room(t, at, size), 0) || __builtin_expect(event_is_far(t, time), 0) ||
	    __builtin_expect(!event_take(t, at, size), 0)) {
		event_taken(t);
		return false;
	}
	if (count > 1)
		slots[2] = args[1];
	if (count)
		slots[1] = args[0];
	event_store(slots, first);
	t->last_ticks = time;
	event_taken(t);
	return true;
}

/* Writes an event of `count` slots in all cases that event_put() does not handle. If there is no room, the event is
 * counted as lost. */
void event_put_slowly(struct thread *t, uint64_t time, const uint64_t *slots, unsigned count);

/* Instants with more arguments are written out of line: with --mode=profile all of them. Then what is done instead,
 * profile_instant(); NULL: nothing. */
extern int event_args_most HIDDEN;
extern bool (*event_instead)(uint64_t now, uint64_t first, const uint64_t *args, unsigned count) HIDDEN;

void event_instant_slowly(uint64_t now, uint64_t first, const uint64_t *args, unsigned count);

/* Writes an instant: PUSH, POP, MARK, RANGE_START or RANGE_END; `last` is bits 40..63 of its slot. */
static inline __attribute__((always_inline)) void event_instant_here(unsigned kind, unsigned id, uint64_t last,
								     const uint64_t *args, unsigned count)
{
	uint64_t now = clock_now(), first = tf_event(kind, id, now, last);

	if (__builtin_expect((int)count > event_args_most || !event_put(&thread_self, now, first, args, count), 0))
		event_instant_slowly(now, first, args, count);
}
void event_instant(unsigned kind, unsigned id, uint64_t last, const uint64_t *args, unsigned count);

/* Returns the id of these bytes in the trace; writes their definition (enum tf_blob_kind) if they are new. 0: no
 * room. */
uint32_t event_intern(unsigned blob, const void *bytes, size_t size);

/* Writes a blob that is not an interned definition, of at most TF_BLOB_BYTES. False: no room; it is counted as lost. */
bool event_blob(unsigned blob, uint32_t id, const void *bytes, size_t size);
/* Writes a blob of `count` slots of data that the caller will change in place. Its address is stored in *place, unless
 * the thread has another chunk meanwhile. */
void event_blob_in_place(unsigned blob, uint32_t id, const uint64_t *data, unsigned count, uint64_t **place);
/* Like event_blob(), for the concatenation of two parts. */
bool event_blob_of_two(unsigned blob, uint32_t id, const void *bytes, size_t first, const void *more, size_t second);
