/* SPDX-License-Identifier: Apache-2.0 */
/* The real function behind a wrapper of a library that a process may hold several of (cudart 12 and 13, each with its
 * own callers): found for each place that calls. */
#ifndef PILLION_CALLER_H
#define PILLION_CALLER_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/common/hot.h"

/* Another number after libraries have been unloaded: what was learnt of addresses is void then. All its bits change,
 * so that it can be part of a key. */
extern uint64_t caller_epoch HIDDEN;

/* Libraries may have been unloaded. */
void caller_unloaded(void);

/* The NUL-ended text at `text`, if it lies in a loaded library: its length, else -1. */
int64_t caller_text_length(const char *text);

static inline uint64_t caller_key(unsigned function, uintptr_t caller)
{
	return (uint64_t)function << 48 ^ caller ^ __atomic_load_n(&caller_epoch, __ATOMIC_RELAXED);
}

/* A wrapper's memory of one place that calls it, mostly the only one. The two words may be of different writes, by
 * threads that fill it at once; then they match nobody. */
struct caller_place {
	void *real;
	uint64_t check; /* key of the caller ^ real */
	uint64_t epoch;
};

/* What `symbol`, of number `function`, means to the code at `caller`; NULL: nothing, no library has it. A few ns, but
 * for a place's first call. */
void *caller_recall(struct caller_place *p, unsigned function, const char *symbol, uintptr_t caller);

/* What the place remembers, without a branch; NULL: not this caller. */
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

#endif
