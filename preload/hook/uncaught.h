/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions that leave a Python program: what the interpreter writes of them is recorded when it is written, with the
 * stack of the thread, by which the report knows whether the program has caught it: docs/decisions/verdict.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/shared/common/hot.h"

/* Where the interpreter calls write(); NULL: not known yet. */
extern const void *uncaught_caller HIDDEN;

/* Reads `bytes` only if the interpreter writes them: other callers may pass what cannot be read. `frame`: as in
 * stack_take(). errno is preserved. */
__attribute__((cold)) ALIGNS_STACK void uncaught_write(const void *caller, uintptr_t frame, const char *bytes,
							size_t size);

/* Whether the call may be the interpreter's: it writes to its standard output or error first. */
static inline bool uncaught_may_be(const void *caller, int fd)
{
	return fd == 1 || fd == 2 || caller == uncaught_caller;
}
