/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the prototypes of the TIMED rows with those of NVIDIA's headers, whose types the rows have here. A row that
 * the headers lack does not compile either: it must be WORDS. */

/* With this macro the headers declare the variants for per-thread default streams beside the plain functions, and
 * rename neither to the other. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdint.h>

#include "preload/cuda/hook_cuda.h"
#include "preload/cuda/hook_cudart.h"

#define SAME_TIMED(returns, symbol, parameters)                                                                        \
	_Static_assert(__builtin_types_compatible_p(__typeof__(symbol), returns parameters),                           \
		       "the row of " #symbol " has another prototype");
#define SAME_WORDS(returns, symbol, parameters)
#define SAME_OWN(returns, symbol, parameters)
#define SAME(kind, returns, symbol, parameters, ...) SAME_##kind(returns, symbol, parameters)
HOOK_CUDART(SAME)
HOOK_CUDA(SAME)

/* Without __builtin_constant_p, clang does not fold the cast of a handle. */
_Static_assert(__builtin_constant_p((uintptr_t)cudaStreamLegacy) ? (uintptr_t)cudaStreamLegacy == 1 : 0,
	       "CUDA_STREAM_LEGACY");
