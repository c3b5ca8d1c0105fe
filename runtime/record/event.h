/* SPDX-License-Identifier: Apache-2.0 */
/* Recording: from a hook to slots in the thread's window. Nothing here locks, allocates or (but to grow) enters the
 * kernel, and a signal handler may interrupt at any point and record itself. errno is left alone.
 *
 * A call:  if (!event_begin(&e, id)) return real();
 *          result = real();
 *          if (event_end(&e, id, threshold)) event_record(&e, id, backtrace, words, count);
 * Nothing is held across the real call: it may be cancelled, longjmp away or return twice.
 *
 * The way of nearly every call lies in the wrapper itself, and falls through all its branches; what is rare is out of line. For
 * after a system call the processor has forgotten branches and code: each jump and each line of code costs more than it does. */
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

struct event {
	uint64_t start, end;
	uint64_t previous; /* the call in progress around this one: we are in a handler or a callback */
	uintptr_t previous_frame;
	uintptr_t frame; /* of the wrapper: a stack is walked from there, not through us */
};

/* Does the user want this group, here and now? The whole cost of a deselected call. */
static inline bool event_wanted(unsigned group)
{
	return process_gate.groups & *process_gate.recording & 1u << group;
}

static inline bool event_enter(void)
{
	return __builtin_expect(thread_self.generation == process.generation, 1) || thread_enter(&thread_self);
}

/* After event_enter(). `frame`: the frame address of the wrapper, which lives until event_record(). */
static inline __attribute__((always_inline)) void event_begin_entered(struct event *e, unsigned function, uintptr_t frame)
{
	struct thread *t = &thread_self;
	uint64_t current;

	e->frame = frame;
	current = t->page->current;
	e->previous = 0;
	if (__builtin_expect(current != 0, 0)) {
		/* A call that lies deeper in the stack than we do was left by longjmp or cancellation. */
		e->previous = t->current_frame > e->frame ? current : 0;
		e->previous_frame = t->current_frame;
	}
	t->current_frame = e->frame;
	e->start = clock_now();
	__atomic_store_n(&t->page->current, (uint64_t)(function + 1) << TF_CURRENT_SHIFT | (e->start << 16 >> 16), __ATOMIC_RELAXED);
}

/* Always inline, so that the frame is the wrapper's. */
static inline __attribute__((always_inline)) bool event_begin(struct event *e, unsigned function)
{
	if (!event_enter())
		return false;
	event_begin_entered(e, function, (uintptr_t)__builtin_frame_address(0));
	return true;
}

/* Out of line: the call's counter has reached a number at which the image deserves a file of its own. */
__attribute__((noinline, cold)) void event_many_short(void);

/* True: the call lasted long enough to be recorded. Otherwise it has been counted. */
static inline __attribute__((always_inline)) bool event_end(struct event *e, unsigned function, uint64_t threshold)
{
	struct thread *t = &thread_self;
	struct tf_counter *counter;
	uint64_t end = clock_now(), duration = end - e->start, previous = e->previous;

	e->end = end;
	if (__builtin_expect(t->generation != process.generation, 0))
		return false; /* a forked child returned here, or our own code did */
	__atomic_store_n(&t->page->current, previous, __ATOMIC_RELAXED);
	if (__builtin_expect(previous != 0, 0))
		t->current_frame = e->previous_frame;
	if (duration >= threshold)
		return true;
	counter = &t->page->counters[function];
	counter->ticks += duration;
	if (__builtin_expect(++counter->calls == 256, 0))
		event_many_short();
	return false;
}

/* ---- slots: between event_next() and event_taken() this thread writes to its window ---- */

#define EVENT_BARRIER() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Where the next slot is. To be asked before all that taking it rests on: if nothing has been taken since (event_take), no
 * handler's record or new window came between. The window stays mapped until event_taken(), whoever takes another. */
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

/* Takes `size` bytes at `at`, if that is still where the next slot is. One instruction, so whole for a handler in this thread.
 * No other thread takes any: the bus lock would only make us wait until all earlier stores have reached the cache, fresh lines
 * of the window among them. */
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

/* Writes an event: two arguments at most, no TIME, room in the window. False: nothing was done, the slow way has to. */
static inline __attribute__((always_inline)) bool event_put(struct thread *t, uint64_t time, uint64_t first, const uint64_t *args, unsigned count)
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

/* As event_record(), for all that it does not do itself: long calls, stacks, a new window. */
__attribute__((noinline)) void event_record_slowly(const struct event *e, unsigned function, uint64_t backtrace, const uint64_t *args,
							 unsigned count);

/* Records a call that event_end() let through, with `count` (<= EVENT_ARGS) continuation slots, and with its stack if it
 * lasted `backtrace` ticks. */
static inline __attribute__((always_inline)) void event_record(const struct event *e, unsigned function, uint64_t backtrace,
							       const uint64_t *args, unsigned count)
{
	uint64_t duration = e->end - e->start; /* one below 0 is a huge one here */

	if (__builtin_expect(duration >= TF_DURATION_LONG, 0) || __builtin_expect(duration >= backtrace, 0) || __builtin_expect(count > 2, 0) ||
	    __builtin_expect(!event_put(&thread_self, e->end, tf_event(TF_CALL, function, e->end, duration), args, count), 0))
		event_record_slowly(e, function, backtrace, args, count);
}

/* An instant: PUSH, POP, MARK, RANGE_START, RANGE_END; `last` as trace_format.h has it. */
void event_instant(unsigned kind, unsigned id, uint64_t last, const uint64_t *args, unsigned count);

/* The id of these bytes in the trace, writing their definition (enum tf_blob_kind) if it is new. 0: no room. */
uint32_t event_intern(unsigned blob, const void *bytes, size_t size);

/* Writes a blob that is no interned definition. At most TF_BLOB_BYTES. False: no room; counted as lost. */
bool event_blob(unsigned blob, uint32_t id, const void *bytes, size_t size);
/* Likewise, of two parts, one after the other. */
bool event_blob_of_two(unsigned blob, uint32_t id, const void *bytes, size_t first, const void *more, size_t second);

#endif
