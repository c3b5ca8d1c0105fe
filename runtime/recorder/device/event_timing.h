/* SPDX-License-Identifier: Apache-2.0 */
/* Device times without CUPTI: a CUDA event before each device operation and one after it, on the operation's stream.
 * Both are in a slot of their context's pool (event_pool.h, which also describes the states).
 *
 * The measured time begins when the stream has completed all earlier operations and ends when it has completed this
 * one. On an idle stream it includes the latency of the launch. The device's clock is read by an event on a stream of
 * ours, once per flush interval.
 *
 * The functions are the driver's own, version 12 or later, where a context's number is never reused. None of them waits
 * for the device or initialises anything. The thread's current context is changed only while events are created for a
 * stream of another context. Failed calls are not retried: the cause is an error of the program, which the program's
 * own calls will report.
 *
 * Any thread, no signal handler. errno is preserved. A forked child has no event timing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/recorder/record/process_state.h"
#include "runtime/shared/format/trace_format.h"

extern uint64_t event_timing_on; /* generation of the image in which operations are timed; 0: none */

static inline bool event_timing_is_on(void)
{
	return __builtin_expect(event_timing_on != 0, 0) && event_timing_on == process.generation;
}

/* Starts timing. Returns NULL, or the reason why it is not possible. */
const char *event_timing_start(void);
void event_timing_stop(void);

struct event_timing {
	uint64_t number; /* correlation id, with the epoch in the upper 32 bits; 0: not timed */
	struct event_pool *pool;
	struct event_slot *slot;
	void *stream;
};

/* To be called before a call that requests an operation on `stream`, as passed to the call. No event is recorded on
 * a stream that is being captured. If the call never returns, only its slot is lost. */
void event_timing_begin(struct event_timing *ret, void *stream, bool is_per_thread);

/* To be called after the call: fills in device, context and stream of the operation. bytes: 0 if none. False: not
 * timed. */
bool event_timing_end(const struct event_timing *p, struct tf_device_operation *operation, uint64_t bytes);

/* To be called instead if the call failed. */
void event_timing_drop(const struct event_timing *p);

/* Writes the records of completed operations into this thread's chunk. is_last: the others are counted as lost. */
void event_timing_collect(bool is_last);

/* Around a call that may destroy contexts: `context`, or (NULL) all of `device`, or (device < 0) the current one. */
void event_timing_context_ends(void *context, int device);
void event_timing_context_ended(int device);
