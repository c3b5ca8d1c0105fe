/* SPDX-License-Identifier: Apache-2.0 */
/* --mode=profile: calls are summed in rows of the trace file, one for each function, stack, file or operation, size
 * and error, instead of being recorded one by one. A row (TF_SUM) is updated in place, so it survives the process
 * however it ends. The rows and the trace file are bounded: what has no row of its own is in a row "other" of its
 * function.
 *
 * An image that records so little that it has no trace file records events, see image.h.
 *
 * Each of the first threads has rows of its own, which it updates by plain stores; the others share rows and update
 * them atomically. The rows are in chunks of the first thread, without times. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/recorder/record/process_state.h"
#include "runtime/recorder/record/thread/thread_state.h"

/* Adds a call with these arguments to its row; `stack` 0: none. The thread's page is in the trace file. */
__attribute__((noinline)) void profile_call(struct thread *t, unsigned function, uint64_t duration, uint32_t stack,
					    const uint64_t *args, unsigned count);

/* Likewise a sample that stands for `us` of CPU time. `stack`: a TF_ARG_STACK; 0: none. */
__attribute__((noinline, cold)) void profile_sample(struct thread *t, uint64_t us, uint64_t stack);

/* Adds a call below the threshold, as the numbers of a struct tf_traffic, to the row of what its descriptor was in this
 * state. *entry becomes the address of that row, laid out as the slots of a TF_BLOB_TRAFFIC, to which the thread may
 * add further calls; NULL: each call comes here. */
__attribute__((noinline, cold)) void profile_short(struct thread *t, unsigned function, int fd, uint16_t state,
						   const uint64_t *numbers, uint64_t **entry);
