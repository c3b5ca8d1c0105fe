/* SPDX-License-Identifier: Apache-2.0 */
/* The rare cases of call.h, which are not inlined into the wrapper. */
#include "preload/hook/call.h"

#include "runtime/recorder/record/profile/profile.h"
#include "runtime/recorder/record/short_sample.h"
#include "runtime/recorder/record/slow_down.h"
#include "runtime/recorder/record/thread/thread.h"
#include "runtime/recorder/record/traffic.h"
#include "runtime/recorder/stack/stack.h"

void call_begin_nested(struct call *e, uint64_t current)
{
	struct thread *t = &thread_self;

	/* A call whose frame is deeper in the stack than this one was left by longjmp or cancellation. */
	e->previous = t->current_frame > e->frame ? current : 0;
	e->previous_frame = t->current_frame;
	if (!e->previous)
		t->page->outer = 0;
	else if (!t->page->outer)
		t->page->outer = current;
}

void call_end_nested(const struct call *e)
{
	struct thread *t = &thread_self;

	t->current_frame = e->previous_frame;
	if (t->page->outer == e->previous)
		t->page->outer = 0;
}

/* What the thread has spent so far; 0: it has no page, like a child that a signal handler forked meanwhile. */
static uint64_t call_cost(const struct thread *t)
{
	return t->generation == process.generation && t->page ? t->page->slow_ticks : 0;
}

/* The time since the end of the call was spent here. What was measured within it, since `slow`, is a part of it. */
static void call_add_cost(struct thread *t, const struct call *e, uint64_t slow)
{
	if (t->generation == process.generation && t->page)
		t->page->slow_ticks = slow + (clock_now() - e->end);
}

static __attribute__((noinline)) void call_record_event(const struct call *e, unsigned function, uint64_t backtrace,
							const uint64_t *args, unsigned count)
{
	struct thread *t = &thread_self;
	uint64_t slots[3 + EVENT_ARGS], duration = e->end - e->start, slow = call_cost(t);
	unsigned n = 1;

	if ((int64_t)duration < 0)
		duration = 0; /* the clocks of two CPUs may differ by a few ticks */
	if (__builtin_expect(duration >= TF_DURATION_LONG, 0))
		slots[n++] = tf_arg(TF_ARG_LONG, 0, duration);
	if (__builtin_expect(slow_down_is_on, 0))
		backtrace = slow_down_backtrace;
	if (duration >= backtrace) {
		uint32_t stack = stack_take(t, e->frame);

		if (stack)
			slots[n++] = tf_arg(TF_ARG_STACK, 0, stack);
	}
	for (unsigned i = 0; i < count; i++)
		slots[n++] = args[i];
	slots[0] = tf_event(TF_CALL, function, e->end, duration < TF_DURATION_LONG ? duration : TF_DURATION_LONG);
	if (n > 3 || !event_put(t, e->end, slots[0], slots + 1, n - 1))
		event_put_slowly(t, e->end, slots, n);
	if (__builtin_expect(slow_down_is_on, 0))
		slow_down_call(t, function, slots, n);
	else
		call_add_cost(t, e, slow);
}

/* With --mode=profile each recorded call comes here, and is added to its row. An image without a trace file has no
 * rows: the call becomes an event. */
static __attribute__((noinline)) void call_add_to_profile(const struct call *e, unsigned function, const uint64_t *args,
							   unsigned count)
{
	struct thread *t = &thread_self;
	uint64_t backtrace = process_profile_backtrace[process_functions->list[function].group != TF_GROUP_OSRT];
	uint32_t stack = 0;

	if (!process.profile || (!thread_is_in_file(t) && t->page != t->apart)) {
		call_record_event(e, function, backtrace, args, count);
		return;
	}
	if (__builtin_expect(e->end - e->start >= backtrace, 0) && (int64_t)(e->end - e->start) > 0) {
		uint64_t slow = call_cost(t);

		stack = stack_take(t, e->frame);
		call_add_cost(t, e, slow);
	}
	profile_call(t, function, e->end - e->start, stack, args, count);
}

/* It only branches, so that neither case uses the stack of the other. */
void call_record_slowly(const struct call *e, unsigned function, uint64_t backtrace, const uint64_t *args,
			unsigned count)
{
	if (__builtin_expect(process_options.mode == MODE_PROFILE, 0))
		call_add_to_profile(e, function, args, count);
	else
		call_record_event(e, function, backtrace, args, count);
}

void call_record_words(const struct call *e, unsigned function, int error, uint64_t first, uint64_t second)
{
	uint64_t args[3];
	unsigned n = 0;

	if (first)
		args[n++] = first;
	if (second)
		args[n++] = second;
	if (error)
		args[n++] = tf_arg(TF_ARG_RESULT, 0, (unsigned)error);
	call_record(e, function, process_osrt_backtrace, args, n);
}

void call_count(unsigned function, uint64_t duration)
{
	struct tf_counter *counter = thread_counter(&thread_self, function);

	if (!counter) {
		thread_lose(&thread_self, 1);
		return;
	}
	counter->ticks += duration;
	counter->calls++;
}

void call_sample_short(const struct call *e, unsigned function)
{
	struct thread *t = &thread_self;
	struct tf_short_stack sampled = {
		.ticks = e->end - e->start, .function = function, .weight = process_options.osrt_short_sampling};
	uint64_t slow = call_cost(t);

	short_choose(t);
	/* An image that records little stays without a trace file. */
	if (!sampled.weight || !thread_is_in_file(t))
		return;
	sampled.stack = stack_take(t, e->frame);
	if (sampled.stack)
		event_blob(TF_BLOB_SHORT_STACK, t->number, &sampled, sizeof(sampled));
	call_add_cost(t, e, slow);
}

void call_many_short(unsigned function)
{
	if (!process.image || traffic_in_process(function))
		thread_finish_pending(&thread_self);
}
