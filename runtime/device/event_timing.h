/* SPDX-License-Identifier: Apache-2.0 */
/* Device times without CUPTI: a CUDA event before each piece of work and one after it, on the work's own stream. Both
 * lie in a slot of their context's pool (event_pool.h, which also has the states).
 *
 * What is measured lasts from when the stream had done all earlier work until it had done this. On an idle stream
 * that includes the launch's way to the device. The device's clock is read by an event on a stream of ours, once per
 * flush interval.
 *
 * The functions are the driver's own, version 12 or later, where a context's number is never reused. None of them
 * waits for the device or initialises anything. The thread's current context is changed only while events are made
 * for a stream of another context. What fails is not retried: it is the program's error, which the program will find
 * for itself.
 *
 * Any thread, no signal handler. errno is kept. A forked child has no event timing. */
#ifndef PILLION_EVENT_TIMING_H
#define PILLION_EVENT_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/process.h"
#include "runtime/format/trace_format.h"

extern uint64_t event_timing_on; /* generation of the image in which work is timed; 0: none */

static inline bool event_timing_is_on(void)
{
	return __builtin_expect(event_timing_on != 0, 0) && event_timing_on == process.generation;
}

/* Work is timed from now on. Returns NULL, or why that is not possible. */
const char *event_timing_start(void);
void event_timing_stop(void);

struct event_timing {
	uint64_t number; /* correlation id, epoch above its 32 bits; 0: the work is not timed */
	struct event_pool *pool;
	struct event_slot *slot;
	void *stream;
};

/* Before a call that requests work on `stream`, as the call has it. Nothing is recorded on a stream that is being
 * captured. If the call never returns, only its slot is lost. */
void event_timing_begin(struct event_timing *ret, void *stream, bool is_per_thread);

/* After the call: fills in the work's device, context and stream. bytes: 0 for none. False: the work is not timed. */
bool event_timing_end(const struct event_timing *p, struct tf_device_operation *work, uint64_t bytes);

/* The call failed. */
void event_timing_drop(const struct event_timing *p);

/* Writes records of the work that the devices have done, into this thread's chunk. is_last: other work is counted as
 * lost. */
void event_timing_collect(bool is_last);

/* Around a call that may destroy contexts: `context`, or (NULL) all of `device`, or (device < 0) the current one. */
void event_timing_context_ends(void *context, int device);
void event_timing_context_ended(int device);

#endif
