/* SPDX-License-Identifier: Apache-2.0 */
/* The wrappers that the CUDA runtime's rows generate, and what they keep of a call. */
#include "wrap_cudart.h"

/* ---- what a call leaves ---- */

void cudart_record(const struct event *e, unsigned function, unsigned about, cudaError_t result, uint64_t *words, unsigned count)
{
	if (result)
		words[count++] = tf_arg(TF_ARG_RESULT, 0, (unsigned)result);
	event_record(e, function, process_cuda_backtrace[about], words, count);
	if (!result)
		cupti_succeeded();
}

unsigned cudart_memory(uint64_t *words, unsigned memory, uintptr_t address, size_t bytes)
{
	bool is_free = memory & TF_MEMORY_FREE;

	if (!process_options.cuda_memory_usage || (is_free && !address))
		return 0; /* cudaFree(NULL) is how programs start CUDA */
	words[0] = tf_arg(TF_ARG_MEMORY, memory, address);
	words[1] = tf_arg(TF_ARG_BYTES, 0, bytes);
	return is_free ? 1 : 2;
}

/* Bytes of an array's elements, for copies that count in elements. It outlives a fork, as arrays' addresses do. */
static struct table element_bytes;

unsigned cudart_array(uint64_t *words, uintptr_t array, const struct cudaChannelFormatDesc *d, size_t width, size_t height,
		      size_t depth, unsigned levels)
{
	size_t element = (size_t)(d->x + d->y + d->z + d->w) / 8, bytes = 0;

	table_set(&element_bytes, array, element);
	for (unsigned i = 0; i < levels && i < 32; i++) {
		size_t w = width >> i, h = height >> i, z = depth >> i;

		bytes += element * (w ? w : 1) * (h ? h : 1) * (z ? z : 1);
	}
	return cudart_memory(words, TF_MEMORY_DEVICE, array, bytes);
}

size_t cudart_extent(struct cudaExtent e, cudaArray_const_t from, cudaArray_const_t to)
{
	const void *array = from ? from : to;
	uint64_t element = array ? table_get(&element_bytes, (uintptr_t)array) : 1;

	return e.width * e.height * e.depth * (element ? element : 1);
}

size_t cudart_total(const size_t *sizes, size_t count)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += sizes[i];
	return total;
}

/* ---- the exported symbols ---- */

#define CUDART_BODY(name, symbol, arguments, about, record)                                                                  \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		__typeof__(&name) real = CUDART_REAL(symbol);                                           \
		cudaError_t result;                                                                                    \
                                                                                                                       \
		if (!real)                                                                                             \
			return CUDART_NONE;                                                                            \
		if (HOOK_CURRENT == (int)HOOK_cudaDeviceReset)                                                         \
			cupti_flush(); /* with the context go its records */                                           \
		CUDART_TIME(real arguments, about, record);                                                            \
		return result;                                                                                         \
	}

#define CUDART_EXPORT_TIMED(returns, symbol, parameters, arguments, about, record)                                     \
	HOOK_EXPORT returns symbol parameters CUDART_BODY(symbol, symbol, arguments, about, record)
/* Under a name of ours for the compiler, which knows another prototype, and the ABI's for the linker. */
#define CUDART_EXPORT_WORDS(returns, symbol, parameters, arguments, about, record)                                     \
	HOOK_EXPORT returns words_##symbol parameters __asm__(#symbol);                                                \
	HOOK_EXPORT returns words_##symbol parameters CUDART_BODY(words_##symbol, symbol, arguments, about, record)
#define CUDART_EXPORT_NAKED(returns, symbol, parameters, arguments, about, record)
#define CUDART_EXPORT(kind, returns, symbol, parameters, arguments, about, record)                                     \
	CUDART_EXPORT_##kind(returns, symbol, parameters, arguments, about, record)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* what is old is recorded too */
HOOK_CUDART(CUDART_EXPORT)
#pragma GCC diagnostic pop
