/* SPDX-License-Identifier: Apache-2.0 */
/* The names of what is recorded of OpenMP, as the group's rows of the hook table: X(name). They are in the trace of a
 * process that has an object with these wrappers only. */
#pragma once

#include "preload/hook/hook.h"

/* TF_CONSTRUCT. omp_parallel: a region, by the thread that encountered it; omp_part: what one thread of the team did in
 * it until it arrived at its end. */
#define HOOK_OPENMP_CONSTRUCT(X)                                                                                       \
	X(omp_parallel) X(omp_part)                                                                                    \
	X(omp_loop) X(omp_sections) X(omp_single) X(omp_workshare) X(omp_taskloop) X(omp_masked)                       \
	X(omp_critical) X(omp_ordered) X(omp_task)

/* TF_CALL: the thread waits. omp_implicit_barrier: at the end of a region, for the rest of its team; omp_idle: a thread
 * of no team, for its next region. */
#define HOOK_OPENMP_WAIT(X)                                                                                            \
	X(omp_implicit_barrier) X(omp_idle) X(omp_barrier) X(omp_taskwait) X(omp_taskgroup)                            \
	X(omp_critical_wait) X(omp_lock_wait) X(omp_ordered_wait) X(omp_atomic_wait)

#define HOOK_OPENMP(X) HOOK_OPENMP_CONSTRUCT(X) HOOK_OPENMP_WAIT(X)

#define HOOK_ENUM_OPENMP(name) HOOK_##name,
enum { HOOK_OPENMP_BEFORE = HOOK_COUNT - 1, HOOK_OPENMP(HOOK_ENUM_OPENMP) HOOK_OPENMP_END };
#undef HOOK_ENUM_OPENMP
_Static_assert(HOOK_OPENMP_END < 1 << 11, "an id has 11 bits in a slot");
