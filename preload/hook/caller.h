/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the real function for each call site of a wrapper. A process may contain several copies of one library, such as
 * cudart 12 and 13, each with its own callers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/shared/common/hot.h"

/* Changes when libraries have been unloaded, which invalidates all cached results. All its bits change, so that it can
 * be part of a key. */
extern uint64_t caller_epoch HIDDEN;

/* Called when libraries may have been unloaded. Any thread; errno is preserved. */
void caller_unloaded(void);

/* The length of the NUL-terminated text at `text` if it is within a loaded library, else -1. */
int64_t caller_text_length(const char *text);

/* Whether `text` is within a loaded library. A few ns if it is in the same segment as that of the previous call. */
bool caller_is_in_library(const char *text);

static inline uint64_t caller_key(unsigned function, uintptr_t caller)
{
	return (uint64_t)function << 48 ^ caller ^ __atomic_load_n(&caller_epoch, __ATOMIC_RELAXED);
}

/* A wrapper's cache for one call site, which is mostly the only one. If several threads write it at once, `real` and
 * `check` may be of different writes; they then match no caller. */
struct caller_place {
	void *real;
	uint64_t check; /* caller_key(0, caller) ^ real */
	uint64_t epoch;
};

/* The function to which `symbol`, with the number `function`, resolves for the code at `caller`; NULL: no library
 * defines it. Takes a few ns, except for the first call from a call site. */
void *caller_recall(struct caller_place *p, unsigned function, const char *symbol, uintptr_t caller);

/* The cached function, found without a branch; NULL: the cache is for another caller. */
static inline __attribute__((always_inline)) void *caller_known(const struct caller_place *p, const void *caller)
{
	uintptr_t real = (uintptr_t)__atomic_load_n(&p->real, __ATOMIC_RELAXED);
	uint64_t check = __atomic_load_n(&p->check, __ATOMIC_RELAXED) ^ real;

	return (void *)(real & -(uintptr_t)(check == caller_key(0, (uintptr_t)caller)));
}

static inline void *caller_real(struct caller_place *p, unsigned function, const char *symbol, void *caller)
{
	void *real = caller_known(p, caller);

	return __builtin_expect(real != NULL, 1) ? real : caller_recall(p, function, symbol, (uintptr_t)caller);
}
