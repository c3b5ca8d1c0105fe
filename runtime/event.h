/* SPDX-License-Identifier: Apache-2.0 */
/* Recording: from a hook to slots in the thread's window. Nothing here locks, allocates or (but to grow) enters the
 * kernel, and a signal handler may interrupt at any point and record itself. errno is left alone.
 *
 * A call:  if (!event_begin(&e, id)) return real();
 *          result = real();
 *          if (event_end(&e, id, threshold)) event_record(&e, id, backtrace, words, count);
 * Nothing is held across the real call: it may be cancelled, longjmp away or return twice. */
#ifndef PILLION_EVENT_H
#define PILLION_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "process.h"
#include "thread.h"
#include "trace_format.h"

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

/* Always inline: the frame is to be the wrapper's, which is there until event_record(). */
static inline __attribute__((always_inline)) bool event_begin(struct event *e, unsigned function)
{
	struct thread *t = &thread_self;
	uint64_t current;

	if (!event_enter())
		return false;
	e->frame = (uintptr_t)__builtin_frame_address(0);
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
	return true;
}

/* Out of line: the call's counter has reached a number at which the image deserves a file of its own. */
void event_many_short(void);

/* True: the call lasted long enough to be recorded. Otherwise it has been counted. */
static inline bool event_end(struct event *e, unsigned function, uint64_t threshold)
{
	struct thread *t = &thread_self;
	struct tf_counter *counter;
	uint64_t duration;

	e->end = clock_now();
	if (__builtin_expect(t->generation != process.generation, 0))
		return false; /* a forked child returned here, or our own code did */
	__atomic_store_n(&t->page->current, e->previous, __ATOMIC_RELAXED);
	if (__builtin_expect(e->previous != 0, 0))
		t->current_frame = e->previous_frame;
	duration = e->end - e->start;
	if (duration >= threshold)
		return true;
	counter = &t->page->counters[function];
	counter->ticks += duration;
	if (__builtin_expect(++counter->calls == 256, 0))
		event_many_short();
	return false;
}

/* Records a call that event_end() let through, with `count` (<= EVENT_ARGS) continuation slots, and with its stack if it
 * lasted `backtrace` ticks. */
void event_record(const struct event *e, unsigned function, uint64_t backtrace, const uint64_t *args, unsigned count);

/* An instant: PUSH, POP, MARK, RANGE_START, RANGE_END; `last` as trace_format.h has it. */
void event_instant(unsigned kind, unsigned id, uint64_t last, const uint64_t *args, unsigned count);

/* The id of these bytes in the trace, writing their definition (enum tf_blob_kind) if it is new. 0: no room. */
uint32_t event_intern(unsigned blob, const void *bytes, size_t size);

/* Writes a blob that is no interned definition. At most TF_BLOB_BYTES. False: no room; counted as lost. */
bool event_blob(unsigned blob, uint32_t id, const void *bytes, size_t size);
/* Likewise, of two parts, one after the other. */
bool event_blob_of_two(unsigned blob, uint32_t id, const void *bytes, size_t first, const void *more, size_t second);

#endif
