/* SPDX-License-Identifier: Apache-2.0 */
/* Recording: into slots in the thread's chunk. Nothing here locks, allocates or (but to grow) enters the
 * kernel, and a signal handler may interrupt at any point and record itself. errno is left alone. */
#ifndef PILLION_EVENT_H
#define PILLION_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/common/clock.h"
#include "runtime/record/process.h"
#include "runtime/record/thread.h"
#include "runtime/format/trace_format.h"

enum { EVENT_ARGS = 6, EVENT_TEXT = 8192 };

/* Does the user want this group, here and now? The whole cost of a deselected call. */
static inline bool event_enabled(unsigned group)
{
	return process_gate.groups & *process_gate.recording & 1u << group;
}

/* ---- slots: between event_next() and event_taken() this thread writes to its chunk ---- */

#define EVENT_BARRIER() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Where the next slot is. To be asked before all that taking it rests on: if nothing has been taken since (event_take),
 * no handler's record or new chunk came between. The chunk stays mapped until event_taken(), whoever takes another. */
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

/* Can the reader not tell `time` by its low bits, from the event before it? */
static inline __attribute__((always_inline)) bool event_is_far(const struct thread *t, uint64_t time)
{
	return time - *(volatile const uint64_t *)&t->last_ticks + TF_TIME_BEHIND > TF_TIME_MASK;
}

/* Takes `size` bytes at `at`, if that is still where the next slot is. One instruction, so whole for a handler in this
 * thread. No other thread takes any: the bus lock would only make us wait until all earlier stores have reached the
 * cache, fresh lines of the chunk among them. */
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

/* Writes an event: two arguments at most, no TIME, room in the chunk. False: nothing was done, the slow way has to. */
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

/* Writes an event of `count` slots, whatever event_put() could not do itself. No room: the event is counted as lost. */
void event_put_slowly(struct thread *t, uint64_t time, const uint64_t *slots, unsigned count);

/* An instant: PUSH, POP, MARK, RANGE_START, RANGE_END; `last` as trace_format.h has it. */
void event_instant(unsigned kind, unsigned id, uint64_t last, const uint64_t *args, unsigned count);

/* The id of these bytes in the trace, writing their definition (enum tf_blob_kind) if it is new. 0: no room. */
uint32_t event_intern(unsigned blob, const void *bytes, size_t size);

/* Writes a blob that is no interned definition. At most TF_BLOB_BYTES. False: no room; counted as lost. */
bool event_blob(unsigned blob, uint32_t id, const void *bytes, size_t size);
/* Likewise, of two parts, one after the other. */
bool event_blob_of_two(unsigned blob, uint32_t id, const void *bytes, size_t first, const void *more, size_t second);

#endif
