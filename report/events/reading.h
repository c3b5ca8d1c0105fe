/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a wait was for a thread that obtained input. */
#pragma once

#include "report/read/job/model.h"

/* Whether a thread of the process, or of a child process, was in calls that obtain input for at least half of the time
 * from `from` to `to` (CLOCK_REALTIME): a wait during that time was for input. */
bool reading_by_another(const struct model *m, size_t process, uint64_t from, uint64_t to);
