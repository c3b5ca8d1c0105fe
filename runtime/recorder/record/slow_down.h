/* SPDX-License-Identifier: Apache-2.0 */
/* --slow-down: some calls take longer by a given time, so that it can be seen whether the run does, too
 * (`pillion whatif --delay`). The thread sleeps after the call was recorded. errno is preserved; signals are handled
 * meanwhile, and nothing is held. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "runtime/recorder/record/thread/thread_state.h"

/* With it, the recorder's own time on the pages of threads is that of the delays only, as they were: a sleep ends late
 * on a busy machine. */
extern bool slow_down_is_on HIDDEN;
extern uint64_t slow_down_backtrace HIDDEN; /* instead of the other thresholds for stacks, which are 0 then */

/* Once the names of the functions and the thresholds are known. Each call is then recorded, by the slow path. */
__attribute__((cold)) void slow_down_init(char *const *environment);

/* Whether calls are chosen by the frames of their stacks. slow_down_frame: the stack has a frame with this key.
 * is_python: it has Python frames. */
__attribute__((cold)) bool slow_down_needs_frames(void);
__attribute__((cold)) void slow_down_frame(uint32_t stack, uint64_t key, bool is_python);

/* Whether locks that are free are to be recorded, too. */
__attribute__((cold)) bool slow_down_needs_locks(void);

/* After a call was recorded in `count` slots: if it is one of those that take longer, returns when the time is over. */
__attribute__((cold)) void slow_down_call(struct thread *t, uint32_t function, const uint64_t *slots, unsigned count);
