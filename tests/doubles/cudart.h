/* SPDX-License-Identifier: Apache-2.0 */
/* Macros that define an entry point of the runtime double, and the declarations that its files share.
 *
 *	RT(cudaMalloc, v3020, (devPtr, size), void **devPtr, size_t size)
 *	{
 *		...
 *	}
 *
 * exports the name (checked against cuda_runtime_api.h) and reports the call to tools with its CUPTI id and the
 * parameter struct of that version. RT_STREAM also defines the variant for per-thread default streams: the body's first
 * parameter is is_per_thread. RT_EARLY needs no context, RT_VOID has no parameters.
 * The driver's functions are found as the real runtime finds them: dlopen, one dlsym of cuGetProcAddress_v2, and all
 * others through that function. CUDART_DRIVER has one row per function. */
#ifndef CUDART_H
#define CUDART_H

#define __CUDA_API_VERSION_INTERNAL
#include "simgpu.h"

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <cudaProfiler.h>
#include <cupti_callbacks.h>
#include <cupti_runtime_cbid.h>
#include <generated_cuda_runtime_api_meta.h>

#include "cuda_13020.h"
#include "cudart_driver.h"

#define RT_FUNCTION(base, suffix, version) __typeof__(base##suffix) *base##suffix;
#define RT_FUNCTIONS(base, suffix, version, twin, twin_version) \
	__typeof__(base##suffix) *base##suffix; \
	__typeof__(base##suffix##twin) *base##suffix##twin;
struct simrt_driver { CUDART_DRIVER(RT_FUNCTION, RT_FUNCTIONS) };
extern struct simrt_driver simrt_driver __attribute__((visibility("hidden")));
#define DRV(name) simrt_driver.name
#define DRV_OF(name, twin) (is_per_thread ? simrt_driver.name##twin : simrt_driver.name)

#define RT_ARGS(...) __VA_ARGS__
#define RT_ERROR(result) ((cudaError_t)(result))	/* the numbers are the same since CUDA 10.1 */

/* Initialises the driver if necessary, and the calling thread's context if the call needs one. */
cudaError_t simrt_enter(struct sim_api *api, unsigned cbid, const char *name, const void *params,
			const cudaError_t *result, bool needs_context) __attribute__((visibility("hidden")));
/* Stores an error for cudaGetLastError, and returns it. */
cudaError_t simrt_leave(struct sim_api *api, cudaError_t result) __attribute__((visibility("hidden")));

/* Returns the driver's handle of the object registered under a host address; NULL: there is none. */
CUfunction simrt_function(const void *host) __attribute__((visibility("hidden")));
CUdeviceptr simrt_variable(const void *host, size_t *ret_bytes) __attribute__((visibility("hidden")));
CUcontext simrt_primary(int device) __attribute__((visibility("hidden")));

#define RT_EXPORT(sym, since, needs_context, call, args, ...) \
	cudaError_t CUDARTAPI sym(__VA_ARGS__) \
	{ \
		sym##_##since##_params params = { RT_ARGS args }; \
		struct sim_api api; \
		cudaError_t result = cudaSuccess; \
		\
		result = simrt_enter(&api, CUPTI_RUNTIME_TRACE_CBID_##sym##_##since, #sym, &params, &result, \
				     needs_context); \
		if (result == cudaSuccess) \
			result = call; \
		return simrt_leave(&api, result); \
	}

#define RT(sym, since, args, ...) \
	static cudaError_t do_##sym(__VA_ARGS__); \
	RT_EXPORT(sym, since, true, do_##sym args, args, __VA_ARGS__) \
	static cudaError_t do_##sym(__VA_ARGS__)

#define RT_EARLY(sym, since, args, ...) \
	static cudaError_t do_##sym(__VA_ARGS__); \
	RT_EXPORT(sym, since, false, do_##sym args, args, __VA_ARGS__) \
	static cudaError_t do_##sym(__VA_ARGS__)

#define RT_STREAM(sym, since, suffix, since_twin, args, ...) \
	static cudaError_t do_##sym(bool is_per_thread, __VA_ARGS__); \
	RT_EXPORT(sym, since, true, do_##sym(false, RT_ARGS args), args, __VA_ARGS__) \
	RT_EXPORT(sym##suffix, since_twin, true, do_##sym(true, RT_ARGS args), args, __VA_ARGS__) \
	static cudaError_t do_##sym(bool is_per_thread, __VA_ARGS__)

#define RT_VOID_(sym, since, needs_context) \
	static cudaError_t do_##sym(void); \
	cudaError_t CUDARTAPI sym(void) \
	{ \
		struct sim_api api; \
		cudaError_t result = cudaSuccess; \
		\
		result = simrt_enter(&api, CUPTI_RUNTIME_TRACE_CBID_##sym##_##since, #sym, NULL, &result, \
				     needs_context); \
		if (result == cudaSuccess) \
			result = do_##sym(); \
		return simrt_leave(&api, result); \
	} \
	static cudaError_t do_##sym(void)
#define RT_VOID(sym, since) RT_VOID_(sym, since, true)
#define RT_VOID_EARLY(sym, since) RT_VOID_(sym, since, false)

#define RT_UNUSED(...) ((void)(sizeof((const void *[]){ __VA_ARGS__ })))

#endif
