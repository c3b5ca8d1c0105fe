/* SPDX-License-Identifier: Apache-2.0 */
/* How a wrapper records its call. Nothing here takes a lock or allocates, and the kernel is entered only to extend the
 * trace file. A signal handler may interrupt it at any point and record calls of its own. errno is preserved.
 *
 * A call:  if (!call_begin(&call, id)) return real();
 *          result = real();
 *          if (call_end(&call, id, threshold)) call_record(&call, id, backtrace, words, count);
 * Nothing is held across the real call: it may be cancelled, longjmp away or return twice.
 *
 * The common path is inlined into the wrapper and takes no branch; rare cases are out of line. After a system call the
 * branch predictor and the instruction cache are cold, so each jump and each additional cache line of code costs more
 * than the work itself. */
#pragma once

#include "runtime/recorder/record/event.h"

/* Whether the calling thread may record. Attaches the thread, and starts the recorder first if necessary. False: the
 * wrapper only forwards the call. */
__attribute__((cold)) bool hook_attach(struct thread *t);
static inline bool hook_attached(void)
{
	return __builtin_expect(thread_self.generation == process.generation, 1) || hook_attach(&thread_self);
}

struct call {
	uint64_t start, end;
	uint64_t previous; /* the enclosing call, if this one is made by a signal handler or a callback */
	uintptr_t previous_frame;
	uintptr_t frame; /* of the wrapper: stack walks start there */
};

/* The page has a call in progress when another one begins, and when that ends. */
__attribute__((noinline)) void call_begin_nested(struct call *e, uint64_t current);
__attribute__((noinline)) void call_end_nested(const struct call *e);

/* To be called after hook_attached(). `frame`: the frame address of the wrapper, which exists until call_record(). */
static inline __attribute__((always_inline)) void call_begin_attached(struct call *e, unsigned function,
								      uintptr_t frame)
{
	struct thread *t = &thread_self;
	uint64_t current;

	e->frame = frame;
	current = t->page->current;
	e->previous = 0;
	if (__builtin_expect(current != 0, 0))
		call_begin_nested(e, current);
	t->current_frame = e->frame;
	e->start = clock_now();
	__atomic_store_n(&t->page->current, (uint64_t)(function + 1) << TF_CURRENT_SHIFT | (e->start << 16 >> 16),
			 __ATOMIC_RELAXED);
}

/* Always inline, so that the frame is the wrapper's. */
static inline __attribute__((always_inline)) bool call_begin(struct call *e, unsigned function)
{
	if (!hook_attached())
		return false;
	call_begin_attached(e, function, (uintptr_t)__builtin_frame_address(0));
	return true;
}

/* Counts a short call of a function that has no counter on the thread's page yet. */
__attribute__((noinline)) void call_count(unsigned function, uint64_t duration);

/* Moves the thread's page into the image's trace file, which is created if there is none, because the counter of the
 * function has reached the required number of calls; not if the page is in the range file, where it survives the
 * process, unless the calls have other counters, which do not. */
__attribute__((noinline, cold)) void call_many_short(unsigned function);

/* LONG: it is to be recorded. SHORT: it was counted. IGNORED: this thread may not record it any more. */
enum call_length { CALL_IGNORED, CALL_SHORT, CALL_LONG };

static inline __attribute__((always_inline)) enum call_length call_finish(struct call *e, unsigned function,
									  uint64_t threshold)
{
	struct thread *t = &thread_self;
	struct tf_counter *counter;
	uint64_t end = clock_now(), duration = end - e->start, previous = e->previous;
	unsigned place;

	e->end = end;
	if (__builtin_expect(t->generation != process.generation, 0))
		return CALL_IGNORED; /* a forked child has returned, or the call was made by our own code */
	__atomic_store_n(&t->page->current, previous, __ATOMIC_RELAXED);
	if (__builtin_expect(previous != 0, 0))
		call_end_nested(e);
	if (duration >= threshold)
		return CALL_LONG;
	place = t->place[function];
	if (__builtin_expect(!place, 0)) {
		call_count(function, duration);
		return CALL_SHORT;
	}
	counter = &t->page->counters[place - 1];
	counter->ticks += duration;
	if (__builtin_expect(++counter->calls == 256, 0))
		call_many_short(function);
	return CALL_SHORT;
}

/* True: the call lasted long enough to be recorded. False: it was only counted. */
static inline __attribute__((always_inline)) bool call_end(struct call *e, unsigned function, uint64_t threshold)
{
	return call_finish(e, function, threshold) == CALL_LONG;
}

/* Records a call of the OS runtime as call_record() does, out of line: with up to two arguments (0: none) and its error
 * (0: it succeeded). */
__attribute__((noinline)) void call_record_words(const struct call *e, unsigned function, int error, uint64_t first,
						 uint64_t second);

/* Records the stack of a call that was counted, if such stacks are wanted. */
__attribute__((noinline, cold)) void call_sample_short(const struct call *e, unsigned function);

/* After a call for which call_finish() returned CALL_SHORT. */
static inline __attribute__((always_inline)) void call_count_down(const struct call *e, unsigned function)
{
	if (__builtin_expect(--thread_self.short_left == 0, 0))
		call_sample_short(e, function);
}

/* The rare cases of call_record(): long calls, stacks, a new chunk. */
__attribute__((noinline)) void call_record_slowly(const struct call *e, unsigned function, uint64_t backtrace,
						  const uint64_t *args, unsigned count);

/* Records a call for which call_end() returned true, with `count` (<= EVENT_ARGS) continuation slots, and with its
 * stack if it lasted at least `backtrace` ticks. */
static inline __attribute__((always_inline)) void call_record(const struct call *e, unsigned function,
							      uint64_t backtrace, const uint64_t *args, unsigned count)
{
	uint64_t duration = e->end - e->start; /* a negative difference becomes a large value */

	if (__builtin_expect(duration >= TF_DURATION_LONG, 0) || __builtin_expect(duration >= backtrace, 0) ||
	    __builtin_expect(count > 2, 0) ||
	    __builtin_expect(
		    !event_put(&thread_self, e->end, tf_event(TF_CALL, function, e->end, duration), args, count), 0))
		call_record_slowly(e, function, backtrace, args, count);
}
