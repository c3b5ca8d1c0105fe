/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on a path are recorded and counted by its directory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "preload/hook/call.h"

/* Records a call that returned `result`, with its directory, if that is known, and its error (0: none). errno must be
 * the one that the call set. An image that records little stays without a trace file, which the descriptions of
 * directories would fill, so it has those of changes only. */
__attribute__((noinline)) void path_record(const struct call *e, unsigned function, int at, const char *path,
					   int64_t result, int error, bool is_change);

/* Counts a call below the threshold. */
__attribute__((noinline)) void path_count(const struct call *e, unsigned function, int at, const char *path,
					  int64_t result);
