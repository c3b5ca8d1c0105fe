/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the WORDS rows with the prototypes of NVIDIA's headers: a row with fewer words than a function takes would
 * lose arguments. check defines DECLARED, the list of those rows whose functions the headers declare. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/cuda/hook_cuda.h"
#include "preload/cuda/hook_cudart.h"

constexpr size_t sum()
{
	return 0;
}

template <class... More> constexpr size_t sum(size_t first, More... more)
{
	return first + sum(more...);
}

template <class Function> struct words;
template <class Returns, class... Arguments> struct words<Returns(Arguments...)> {
	static constexpr size_t count = sum((sizeof(Arguments) + 7) / 8 ...);
};

#define ROW_WORDS(returns, symbol, parameters) using row_##symbol = returns parameters;
#define ROW_TIMED(returns, symbol, parameters)
#define ROW_OWN(returns, symbol, parameters)
#define ROW(kind, returns, symbol, parameters, ...) ROW_##kind(returns, symbol, parameters)
HOOK_CUDART(ROW)
HOOK_CUDA(ROW)

#define ENOUGH(symbol)                                                                                                 \
	static_assert(words<row_##symbol>::count >= words<decltype(::symbol)>::count,                                  \
		      "the row of " #symbol " has too few words");
DECLARED(ENOUGH)
