/* SPDX-License-Identifier: Apache-2.0 */
/* The tool of run-time libraries that have OpenMP's own interface for tools: LLVM's, Intel's and NVIDIA's. */
#pragma once

#include "preload/openmp/openmp.h"

/* The library that calls the tool. */
extern uintptr_t ompt_library_start, ompt_library_end;

/* Whether a function belongs to that library, so that the tool records what it does. */
static inline bool ompt_records(const void *function)
{
	return (uintptr_t)function - __atomic_load_n(&ompt_library_start, __ATOMIC_RELAXED) <
	       __atomic_load_n(&ompt_library_end, __ATOMIC_RELAXED) -
		       __atomic_load_n(&ompt_library_start, __ATOMIC_RELAXED);
}
