/* SPDX-License-Identifier: Apache-2.0 */
/* The wrappers that the CUDA runtime's rows generate, calls that name kernels, the capture range's Start and Stop. */
#include "runtime/common/loaded.h"
#include "preload/cuda/cuda_call.h"
#include "preload/lookup/lookup.h"

enum { CUDA_LAYER = TF_GROUP_CUDA };
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
	CUDA_TIME(real arguments, about, record);                                                                      \
	return result;

#define CUDART_ROW_TIMED(returns, symbol, parameters, arguments, about, record)                                        \
	ENTRY_TIMED(symbol, returns, symbol, parameters, arguments, CUDART_NONE, cuda_is_off(CUDA_LAYER),                       \
		    CUDART_BODY(arguments, about, record))
#define CUDART_ROW_WORDS(returns, symbol, parameters, arguments, about, record)                                        \
	ENTRY_WORDS(returns, symbol, parameters, arguments, CUDART_NONE, cuda_is_off(CUDA_LAYER),                       \
		    CUDART_BODY(arguments, about, record))
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

/* ---- the end of a context, also where nothing is recorded just now ---- */

cudaError_t wrap_cudaDeviceReset(struct entry from)
{
	enum { HOOK_CURRENT = HOOK_cudaDeviceReset };
	cudaError_t (*real)(void) = from.real, result = CUDART_NONE;

	cupti_context_ends(NULL, -1);
	if (real)
		CUDA_TIME(real(), OTHER, NOTHING);
	cupti_context_ended(-1);
	return result;
}

/* ---- the capture range ---- */

CUDA_MOVES_RANGE(cudaError_t, cudaProfilerStart, CUDART_NONE, range_start)
CUDA_MOVES_RANGE(cudaError_t, cudaProfilerStop, CUDART_NONE, range_stop)

/* ---- the driver's functions, by way of the runtime: cheap, and not recorded ---- */

static void replace(const char *name, int version, uint64_t flags, void **found, struct entry from)
{
	if (name && found && *found)
		*found = lookup_driver_trampoline(name, version <= CUDART_VERSION ? version : 0, flags, *found, NULL, from.caller);
}

/* The version asked for is then the runtime's own. */
static cudaError_t find(const char *name, void **ret, uint64_t flags, void *status, uint64_t twins, struct entry from)
{
	cudaError_t (*real)(const char *, void **, uint64_t, void *) = from.real, result;
	cudaError_t (*get_version)(int *);
	int version = 0;

	if (!real)
		return CUDART_NONE;
	result = real(name, ret, flags, status);
	get_version = result ? NULL : loaded_beside(from.real, "cudaRuntimeGetVersion");
	if (get_version && !get_version(&version))
		replace(name, version, flags ? flags : twins, ret, from);
	return result;
}

cudaError_t wrap_cudaGetDriverEntryPoint(const char *name, void **ret, uint64_t flags, void *status, struct entry from)
{
	return find(name, ret, flags, status, 0, from);
}

cudaError_t wrap_cudaGetDriverEntryPoint_ptsz(const char *name, void **ret, uint64_t flags, void *status, struct entry from)
{
	return find(name, ret, flags, status, cudaEnablePerThreadDefaultStream, from);
}

static cudaError_t find_by_version(const char *name, void **ret, unsigned version, uint64_t flags, void *status, uint64_t twins,
				   struct entry from)
{
	cudaError_t (*real)(const char *, void **, unsigned, uint64_t, void *) = from.real, result;

	if (!real)
		return CUDART_NONE;
	result = real(name, ret, version, flags, status);
	if (!result)
		replace(name, (int)version, flags ? flags : twins, ret, from);
	return result;
}

cudaError_t wrap_cudaGetDriverEntryPointByVersion(const char *name, void **ret, unsigned version, uint64_t flags, void *status,
						  struct entry from)
{
	return find_by_version(name, ret, version, flags, status, 0, from);
}

cudaError_t wrap_cudaGetDriverEntryPointByVersion_ptsz(const char *name, void **ret, unsigned version, uint64_t flags, void *status,
						       struct entry from)
{
	return find_by_version(name, ret, version, flags, status, cudaEnablePerThreadDefaultStream, from);
}
