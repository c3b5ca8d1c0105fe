/* SPDX-License-Identifier: Apache-2.0 */
/* What wrap_signal.c does for other wrappers. */
#pragma once

#include <time.h>

/* Before the program uses an interval timer, or creates a timer on a clock: where it counts CPU time, -s auto takes no
 * samples from here on. */
void leave_interval_timer(int which);
void leave_clock(clockid_t clock);
