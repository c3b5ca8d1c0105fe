/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the calls below the threshold by function and descriptor, so that the sums by file are complete: struct
 * tf_traffic in the thread's chunk, one for each pair that the thread uses. They survive the process however it ends.
 *
 * The first thread of an image that has no trace file has its counters in `process`, because they would fill the place
 * of the image in the range file. They are written when the image gets a trace file, at the latest after 256 calls of a
 * function, or ends; only SIGKILL loses them.
 *
 * The thread finds the counters of a pair by a hash table of their addresses. Where counters cannot be allocated, calls
 * are not counted here; as they are counted by function nevertheless, a reader knows how many. */
#pragma once

#include "runtime/recorder/record/descriptor.h"
#include "runtime/recorder/record/event.h"

static inline unsigned traffic_hash(unsigned function, int fd)
{
	return (unsigned)fd + function * 37;
}

static inline uint64_t traffic_key(unsigned function, int fd, uint16_t state)
{
	uint64_t key = (uint64_t)(unsigned)fd | (uint64_t)descriptor_generation(state) << 16;

	return TF_DATA | (key | (uint64_t)function << 32) << 8;
}

/* `amount`: the result of a call, 0 or less for no bytes. `counters`: the slots of a blob, whose lowest byte is their
 * tag. */
static inline __attribute__((always_inline)) void traffic_add(uint64_t *counters, uint64_t duration, int64_t amount)
{
	counters[1 + TF_TRAFFIC_CALLS] += 1 << 8;
	counters[1 + TF_TRAFFIC_TICKS] += duration << 8;
	counters[1 + TF_TRAFFIC_BYTES] += (uint64_t)(amount > 0 ? amount : 0) << 8;
}

/* The cases that traffic_count() does not handle. `state`: of the descriptor at the time of the call. */
__attribute__((noinline, cold)) void traffic_count_slowly(unsigned function, int fd, uint16_t state, uint64_t start,
							  uint64_t duration, int64_t amount);

/* Counts a call of the attached thread on `fd`. */
static inline __attribute__((always_inline)) void traffic_count(unsigned function, int fd, uint64_t start,
								uint64_t duration, int64_t amount)
{
	struct thread *t = &thread_self;
	uint64_t *counters = NULL;
	bool is_counted = false;
	uint32_t mask;
	uint16_t state;

	if (__builtin_expect((unsigned)fd >= PROCESS_DESCRIPTORS, 0))
		return;
	state = process.descriptors[fd];
	t->writing++; /* the chunk stays mapped, even if a handler replaces it */
	EVENT_BARRIER();
	mask = *(volatile uint32_t *)&t->traffic_mask;
	counters = (*(uint64_t **volatile *)&t->traffic)[traffic_hash(function, fd) & mask];
	if (__builtin_expect(counters != NULL, 1) && __builtin_expect(state & 1, 1) &&
	    __builtin_expect(counters[1 + TF_TRAFFIC_KEY] == traffic_key(function, fd, state), 1)) {
		traffic_add(counters, duration, amount);
		is_counted = true;
	}
	event_taken(t);
	if (__builtin_expect(!is_counted, 0))
		traffic_count_slowly(function, fd, state, start, duration, amount);
}

/* Does the function have counters in `process`? */
bool traffic_in_process(unsigned function);

/* At the end of the image: writes the counters in `process`, if they have room in the thread's chunk. Bytes of calls
 * that are not counted by function, such as the kernel's during calls of stdio, get room. */
void traffic_end(void);
