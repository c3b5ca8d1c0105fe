/* SPDX-License-Identifier: Apache-2.0 */
/* The real function behind a wrapper of a library that a process may hold several of (cudart 12 and 13, each with its own
 * callers): found for each place that calls. */
#ifndef PILLION_CALLER_H
#define PILLION_CALLER_H

#include <stdbool.h>
#include <stdint.h>

#include "../runtime/table.h"

extern struct table caller_known;
extern uint64_t caller_epoch; /* rises when libraries have been unloaded: what was learnt of addresses is void then */

/* What `function` (a row's id) means to the code at `caller`, found anew; NULL: nothing, no library has it. */
void *caller_resolve(unsigned function, uintptr_t caller);

/* Libraries may have been unloaded. */
void caller_unloaded(void);

/* The NUL-ended text at `text`, if it lies in a loaded library: its length, else -1. */
int64_t caller_text_length(const char *text);

static inline uint64_t caller_key(unsigned function, uintptr_t caller)
{
	return (uint64_t)function << 48 ^ caller ^ __atomic_load_n(&caller_epoch, __ATOMIC_RELAXED) << 56;
}

/* A few ns, but for a place's first call. */
static inline void *caller_real(unsigned function, void *caller)
{
	void *real = (void *)table_get(&caller_known, caller_key(function, (uintptr_t)caller));

	return __builtin_expect(real != NULL, 1) ? real : caller_resolve(function, (uintptr_t)caller);
}

#endif
