/* SPDX-License-Identifier: Apache-2.0 */
/* How a call of the CUDA runtime is recorded: all of them, however short. */
#ifndef PILLION_WRAP_CUDART_H
#define PILLION_WRAP_CUDART_H

/* With it the header declares the twins for a default stream per thread beside the plain functions, and leaves neither
 * renamed to the other. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda_runtime_api.h>

#include "../runtime/cupti.h"
#include "caller.h"
#include "hook.h"

/* What a call gives where no library has it: as on a machine without a GPU. */
#define CUDART_NONE cudaErrorNoDevice

/* The real `symbol` for whoever called the wrapper that this stands in. */
#define CUDART_REAL(symbol)                                                                                            \
	({                                                                                                             \
		static struct caller_place place_;                                                                     \
                                                                                                                       \
		caller_real(&place_, HOOK_##symbol, #symbol, __builtin_return_address(0));                                      \
	})

/* Times `call` into `result` and records it as its row says. HOOK_CURRENT is the row's id. */
#define CUDART_TIME(call, about, record)                                                                               \
	do {                                                                                                           \
		struct event event_;                                                                                   \
                                                                                                                       \
		cupti_follow(event_wanted(TF_GROUP_CUDA));                                                             \
		if (!event_wanted(TF_GROUP_CUDA) || !event_begin(&event_, HOOK_CURRENT)) {                             \
			result = call;                                                                                 \
		} else {                                                                                               \
			result = call;                                                                                 \
			if (event_end(&event_, HOOK_CURRENT, 0)) {                                                     \
				uint64_t words_[EVENT_ARGS];                                                           \
				unsigned count_ = 0;                                                                   \
                                                                                                                       \
				CUDART_RECORD_##record;                                                                \
				cudart_record(&event_, HOOK_CURRENT, CUDA_##about, result, words_, count_);            \
			}                                                                                              \
		}                                                                                                      \
	} while (0)

/* A launch that failed says which kernel it was, an allocation how much was asked for; copies and frees that failed are not
 * kept. */
#define CUDART_RECORD_NOTHING (void)0
#define CUDART_RECORD_STREAM(stream) words_[count_++] = tf_arg(TF_ARG_STREAM, 0, (uintptr_t)(stream))
#define CUDART_RECORD_BYTES(bytes) words_[count_++] = tf_arg(TF_ARG_BYTES, 0, (bytes))
#define CUDART_RECORD_LAUNCH(f, grid, block, shared, stream)                                                           \
	count_ = cudart_launch(words_, (uintptr_t)(f), &(grid), &(block), (shared), (uintptr_t)(stream))
#define CUDART_RECORD_CONFIGURED(c, f)                                                                                 \
	if (c)                                                                                                         \
	CUDART_RECORD_LAUNCH(f, (c)->gridDim, (c)->blockDim, (c)->dynamicSmemBytes, (c)->stream)
#define CUDART_RECORD_HANDED(f, stream) count_ = cudart_launch(words_, (uintptr_t)(f), NULL, NULL, 0, (uintptr_t)(stream))
#define CUDART_RECORD_COPY(kind, bytes)                                                                                \
	if (!result)                                                                                                   \
	words_[count_++] = tf_arg(TF_ARG_COPY, (unsigned)(kind), (bytes))
#define CUDART_RECORD_COPY_ASYNC(kind, bytes, stream)                                                                  \
	if (!result) {                                                                                                 \
		words_[count_++] = tf_arg(TF_ARG_COPY, (unsigned)(kind), (bytes));                                     \
		words_[count_++] = tf_arg(TF_ARG_STREAM, 0, (uintptr_t)(stream));                                      \
	}
#define CUDART_RECORD_ALLOC(memory, address, bytes)                                                                    \
	count_ = cudart_memory(words_, TF_MEMORY_##memory, result ? 0 : (uintptr_t)(address), (bytes))
#define CUDART_RECORD_FREE(memory, address)                                                                            \
	if (!result)                                                                                                   \
	count_ = cudart_memory(words_, TF_MEMORY_FREE | TF_MEMORY_##memory, (uintptr_t)(address), 0)
#define CUDART_RECORD_ARRAY(array, d, width, height, depth, levels)                                                    \
	if (!result)                                                                                                   \
	count_ = cudart_array(words_, (uintptr_t)(array), (d), (width), (height), (depth), (levels))
#define CUDART_RECORD_DEVICE(device)                                                                                   \
	if (!result)                                                                                                   \
	words_[count_++] = tf_arg(TF_ARG_DEVICE, 0, (unsigned)(device))
#define CUDART_RECORD_LEFT(left, total)                                                                                \
	if (!result && (left) <= (total)) {                                                                            \
		words_[count_++] = tf_arg(TF_ARG_LEFT, 0, (left));                                                     \
		words_[count_++] = tf_arg(TF_ARG_BYTES, 0, (total));                                                   \
	}

/* These fill in `words` and return how many. */
unsigned cudart_launch(uint64_t *words, uintptr_t function, const dim3 *grid, const dim3 *block, size_t shared, uintptr_t stream);
unsigned cudart_memory(uint64_t *words, unsigned memory, uintptr_t address, size_t bytes);
unsigned cudart_array(uint64_t *words, uintptr_t array, const struct cudaChannelFormatDesc *d, size_t width, size_t height,
		      size_t depth, unsigned levels);

/* Bytes of a copy whose width counts elements where an array takes part. */
size_t cudart_extent(struct cudaExtent e, cudaArray_const_t from, cudaArray_const_t to);
size_t cudart_total(const size_t *sizes, size_t count);

/* Adds the error, if there is one, and writes it all. */
void cudart_record(const struct event *e, unsigned function, unsigned about, cudaError_t result, uint64_t *words, unsigned count);

#endif
