/* SPDX-License-Identifier: Apache-2.0 */
/* The wrappers that the CUDA driver's rows generate, calls that name kernels, and the driver's own symbol lookup. */
#include "preload/cuda/cuda_call.h"
#include "preload/lookup/lookup.h"

enum { CUDA_LAYER = TF_GROUP_CUDA_DRIVER };
#define CUDA_GRID(c) dim((c)->gridDimX, (c)->gridDimY, (c)->gridDimZ)
#define CUDA_BLOCK(c) dim((c)->blockDimX, (c)->blockDimY, (c)->blockDimZ)
#define CUDA_SHARED(c) (c)->sharedMemBytes
#define CUDA_STREAM(c) (c)->hStream

/* The result of a call that no library defines: the same as on a machine without a GPU. */
#define CUDA_NONE CUDA_ERROR_NO_DEVICE

static dim3 dim(unsigned x, unsigned y, unsigned z)
{
	return (dim3){x, y, z};
}

static size_t element_of(CUarray_format format, unsigned channels)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return channels;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4ul * channels;
	default: /* 16 bits; compressed and video formats are rare and counted as such */
		return 2ul * channels;
	}
}

/* enum cudaMemcpyKind of a copy between these; arrays are on the device, unified addresses may be anywhere. */
static unsigned copy_kind(CUmemorytype from, CUmemorytype to)
{
	if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED)
		return cudaMemcpyDefault;
	return (from == CU_MEMORYTYPE_HOST ? 0 : 2) + (to == CU_MEMORYTYPE_HOST ? 0 : 1);
}

/* ---- the generated ones ---- */

HOOK_CUDA(CUDA_ROW)

/* ---- calls that name kernels ---- */

#define NAMED_HANDLE(symbol)                                                                                           \
	CUresult wrap_##symbol(void **handle, void *owner, const char *name, struct hook_entry from)                   \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		CUresult (*real)(void **, void *, const char *) = from.real, result;                                   \
                                                                                                                       \
		if (!real)                                                                                             \
			return CUDA_NONE;                                                                              \
		CUDA_TIME(real(handle, owner, name), OTHER, NOTHING);                                                  \
		if (!result && handle && name)                                                                         \
			cuda_name_know_copy((uintptr_t)*handle, name);                                                 \
		return result;                                                                                         \
	}
NAMED_HANDLE(cuModuleGetFunction)
NAMED_HANDLE(cuLibraryGetKernel)

CUresult wrap_cuKernelGetFunction(void **function, void *kernel, struct hook_entry from)
{
	enum { HOOK_CURRENT = HOOK_cuKernelGetFunction };
	CUresult (*real)(void **, void *) = from.real, result;

	if (!real)
		return CUDA_NONE;
	CUDA_TIME(real(function, kernel), OTHER, NOTHING);
	if (!result && function)
		cuda_name_know_as((uintptr_t)*function, (uintptr_t)kernel);
	return result;
}

/* ---- calls that destroy contexts, also while nothing is recorded ---- */

CUresult wrap_cuCtxDestroy_v2(void *context, struct hook_entry from)
{
	enum { HOOK_CURRENT = HOOK_cuCtxDestroy_v2 };
	CUresult (*real)(void *) = from.real, result = CUDA_NONE;

	cupti_context_ends(context, -1);
	if (real)
		CUDA_TIME(real(context), OTHER, NOTHING);
	cupti_context_ended(-1);
	return result;
}

#define ENDS_PRIMARY(symbol)                                                                                           \
	CUresult wrap_##symbol(CUdevice device, struct hook_entry from)                                                \
	{                                                                                                              \
		enum { HOOK_CURRENT = HOOK_##symbol };                                                                 \
		CUresult (*real)(CUdevice) = from.real, result = CUDA_NONE;                                            \
                                                                                                                       \
		cupti_context_ends(NULL, device);                                                                      \
		if (real)                                                                                              \
			CUDA_TIME(real(device), OTHER, NOTHING);                                                       \
		cupti_context_ended(device);                                                                           \
		return result;                                                                                         \
	}
ENDS_PRIMARY(cuDevicePrimaryCtxReset_v2)
ENDS_PRIMARY(cuDevicePrimaryCtxRelease_v2)

/* ---- the capture range ---- */

CUDA_MOVES_RANGE(CUresult, cuProfilerStart, CUDA_NONE, range_start)
CUDA_MOVES_RANGE(CUresult, cuProfilerStop, CUDA_NONE, range_stop)

/* ---- symbol lookups: cheap, hundreds of them when a program starts, and not recorded ---- */

typedef CUresult lookup_1(const char *, void **, int, uint64_t);
typedef CUresult lookup_2(const char *, void **, int, uint64_t, void *);

/* `older`: what the lookup returns for the newest version that our rows know, if a newer one was requested. */
static void *driver_trampoline(const char *name, int version, uint64_t flags, void *found, void *older,
			       struct hook_entry from)
{
	bool is_known = version <= CUDA_NEWEST || older == found;

	return lookup_driver_trampoline(name, !is_known ? 0 : version < CUDA_NEWEST ? version : CUDA_NEWEST, flags,
					found, from.real, from.caller);
}

CUresult wrap_cuGetProcAddress(const char *name, void **ret, int version, uint64_t flags, struct hook_entry from)
{
	lookup_1 *real = from.real;
	void *older = NULL;
	CUresult result = real ? real(name, ret, version, flags) : CUDA_NONE;

	if (result || !name || !ret || !*ret)
		return result;
	if (version > CUDA_NEWEST && real(name, &older, CUDA_NEWEST, flags))
		older = NULL;
	*ret = driver_trampoline(name, version, flags, *ret, older, from);
	return result;
}

CUresult wrap_cuGetProcAddress_v2(const char *name, void **ret, int version, uint64_t flags, void *status,
				  struct hook_entry from)
{
	lookup_2 *real = from.real;
	void *older = NULL;
	CUresult result = real ? real(name, ret, version, flags, status) : CUDA_NONE;

	if (result || !name || !ret || !*ret)
		return result;
	if (version > CUDA_NEWEST && real(name, &older, CUDA_NEWEST, flags, NULL))
		older = NULL;
	*ret = driver_trampoline(name, version, flags, *ret, older, from);
	return result;
}
