/* SPDX-License-Identifier: Apache-2.0 */
/* The wrappers that the CUDA runtime's rows generate, calls that name kernels, the capture range's Start and Stop. */
#include "cuda_call.h"

enum { CUDA_LAYER = TF_GROUP_CUDA };
#define CUDA_NAMER NULL
#define CUDA_GRID(c) (c)->gridDim
#define CUDA_BLOCK(c) (c)->blockDim
#define CUDA_SHARED(c) (c)->dynamicSmemBytes
#define CUDA_STREAM(c) (c)->stream

/* What a call gives where no library has it: as on a machine without a GPU. */
#define CUDART_NONE cudaErrorNoDevice

static size_t element_of(const struct cudaChannelFormatDesc *d)
{
	return (size_t)(d->x + d->y + d->z + d->w) / 8;
}

/* Bytes of a copy whose width counts elements where an array takes part. */
static size_t extent(struct cudaExtent e, cudaArray_const_t from, cudaArray_const_t to)
{
	return e.width * e.height * e.depth * cuda_element(from ? from : to);
}

/* ---- the generated ones ---- */

#define CUDART_BODY(arguments, about, record)                                                                          \
	cudaError_t result;                                                                                            \
                                                                                                                       \
	if (HOOK_CURRENT == (int)HOOK_cudaDeviceReset)                                                                 \
		cupti_flush(); /* with the context go its records */                                                   \
	CUDA_TIME(real arguments, about, record);                                                                      \
	return result;

#define CUDART_ROW_TIMED(returns, symbol, parameters, arguments, about, record)                                        \
	ENTRY_TIMED(symbol, returns, symbol, parameters, arguments, CUDART_NONE, CUDART_BODY(arguments, about, record))
#define CUDART_ROW_WORDS(returns, symbol, parameters, arguments, about, record)                                        \
	ENTRY_WORDS(returns, symbol, parameters, arguments, CUDART_NONE, CUDART_BODY(arguments, about, record))
#define CUDART_ROW_OWN(returns, symbol, parameters, arguments, about, record) ENTRY_OWN(returns, symbol, parameters, arguments)
#define CUDART_ROW(kind, returns, symbol, parameters, arguments, about, record)                                        \
	CUDART_ROW_##kind(returns, symbol, parameters, arguments, about, record)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* what is old is recorded too */
HOOK_CUDART(CUDART_ROW)
#pragma GCC diagnostic pop

/* ---- calls that name kernels ---- */

void wrap___cudaRegisterFunction(void **binary, const char *function, char *device, const char *name, int limit, void *tid,
				 void *bid, void *block, void *grid, int *warp, struct entry from)
{
	void (*real)(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *) = from.real;

	cuda_name_know((uintptr_t)function, name);
	if (real)
		real(binary, function, device, name, limit, tid, bid, block, grid, warp);
}

/* `time` gives the result of the real call. __cudaGetKernel is of nvcc's own making, so it is not shown. */
#define HANDLE_OF_FUNCTION(symbol, time)                                                                               \
	cudaError_t wrap_##symbol(void **handle, const void *function, struct entry from)                              \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		cudaError_t (*real)(void **, const void *) = from.real, result;                                        \
                                                                                                                       \
		if (!real)                                                                                             \
			return CUDART_NONE;                                                                            \
		time;                                                                                                  \
		if (!result && handle)                                                                                 \
			cuda_name_know_as((uintptr_t)*handle, (uintptr_t)function);                                    \
		return result;                                                                                         \
	}
HANDLE_OF_FUNCTION(__cudaGetKernel, result = real(handle, function))
HANDLE_OF_FUNCTION(cudaGetKernel, CUDA_TIME(real(handle, function), OTHER, NOTHING))
HANDLE_OF_FUNCTION(cudaGetFuncBySymbol, CUDA_TIME(real(handle, function), OTHER, NOTHING))

cudaError_t wrap_cudaLibraryGetKernel(void **kernel, void *library, const char *name, struct entry from)
{
	enum { HOOK_CURRENT = HOOK_cudaLibraryGetKernel };
	cudaError_t (*real)(void **, void *, const char *) = from.real, result;

	if (!real)
		return CUDART_NONE;
	CUDA_TIME(real(kernel, library, name), OTHER, NOTHING);
	if (!result && kernel && name)
		cuda_name_know_copy((uintptr_t)*kernel, name);
	return result;
}

/* ---- the capture range ---- */

/* Also where recording is off just now, and where there is no CUDA: scripts call these wherever they run. */
static void move_range(void (*move)(struct tf_range_page *page, uint32_t pid, uint64_t ticks))
{
	int error = errno;

	if (process_gate.groups && event_enter() && process_range && process_range->mode == TF_RANGE_PROFILER_API) {
		struct thread_guard guard;

		thread_guard_enter(&thread_self, &guard);
		move(process_range, process.pid, clock_now());
		thread_guard_leave(&thread_self, &guard);
	}
	cupti_follow(event_wanted(TF_GROUP_CUDA));
	errno = error;
}

cudaError_t wrap_cudaProfilerStart(struct entry from)
{
	enum { HOOK_CURRENT = HOOK_cudaProfilerStart };
	cudaError_t (*real)(void) = from.real, result = CUDART_NONE;

	if (real)
		CUDA_TIME(real(), OTHER, NOTHING);
	move_range(range_start);
	return result;
}

cudaError_t wrap_cudaProfilerStop(struct entry from)
{
	enum { HOOK_CURRENT = HOOK_cudaProfilerStop };
	cudaError_t (*real)(void) = from.real, result = CUDART_NONE;

	if (real)
		CUDA_TIME(real(), OTHER, NOTHING);
	move_range(range_stop);
	return result;
}
