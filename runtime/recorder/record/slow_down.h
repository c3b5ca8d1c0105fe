/* SPDX-License-Identifier: Apache-2.0 */
/* --slow-down: calls of one function take longer by a given time, so that it can be seen whether the run does, too
 * (`pillion whatif --delay`). The thread sleeps after the call was recorded. errno is preserved; signals are handled
 * meanwhile, and nothing is held. */
#ifndef PILLION_SLOW_DOWN_H
#define PILLION_SLOW_DOWN_H

#include <stdint.h>

#include "runtime/shared/common/hot.h"

extern uint32_t slow_down_function HIDDEN; /* its id + 1; 0: none */
extern uint64_t slow_down_backtrace HIDDEN; /* instead of the other thresholds for stacks, which are 0 then */

/* Once the names of the functions and the thresholds are known. Each call is then recorded, by the slow path. */
__attribute__((cold)) void slow_down_init(void);

/* Returns when the time is over. */
__attribute__((cold)) void slow_down_wait(void);

#endif
