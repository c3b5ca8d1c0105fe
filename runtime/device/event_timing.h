/* SPDX-License-Identifier: Apache-2.0 */
/* Device times without CUPTI: a CUDA event before each piece of work and one behind it, on the work's own stream.
 *
 * What is measured is from queue to queue: from when the stream had done all that came before until it had done the work. On
 * an idle stream that has the way of the launch to the device in it. The device's clock is met by an event on a stream of
 * ours, once per flush interval (event_pool.h).
 *
 * The functions are the driver's own, version 12 or later: contexts have numbers there that do not come again. None of them
 * waits for the device or initialises anything; the thread's context is another one only while events are made for a stream that
 * does not belong to it; what fails is not asked for again, and is the program's
 * error, which it finds for itself.
 * Any thread, no signal handler. errno is left alone. A forked child has no pairs. */
#ifndef PILLION_EVENT_TIMING_H
#define PILLION_EVENT_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/record/process.h"
#include "runtime/format/trace_format.h"

extern uint64_t event_timing_on; /* generation of the image where pairs are taken */

static inline bool event_timing_is_on(void)
{
	return __builtin_expect(event_timing_on != 0, 0) && event_timing_on == process.generation;
}

/* From now on. NULL, or why it cannot be. */
const char *event_timing_start(void);

struct event_timing {
	uint64_t number; /* correlation id, epoch above its 32 bits; 0: no pair */
	struct event_pool *pool;
	struct event_slot *slot;
	void *stream;
};

/* Before a call that asks for work on `stream`, as the call has it. Nothing is recorded on one that is being captured. A pair
 * whose call never returns is lost, and no more. */
void event_timing_begin(struct event_timing *ret, void *stream, bool is_per_thread);

/* After the call: fills in the work's device, context and stream. bytes: 0 for none. False: no pair. */
bool event_timing_end(const struct event_timing *p, struct tf_work *work, uint64_t bytes);

/* The call failed. */
void event_timing_drop(const struct event_timing *p);

/* Records of the pairs that the devices are through with, in this thread's window. is_last: the others are counted, and given
 * up. */
void event_timing_collect(bool is_last);

/* Around a call that may end contexts: this one, or (NULL) all of a device, or (< 0) of the current one. */
void event_timing_context_ends(void *context, int device);
void event_timing_context_ended(int device);

#endif
