/* SPDX-License-Identifier: Apache-2.0 */
/* Macros that define an entry point of the driver double in one place:
 *
 *	ENTRY(cuMemAlloc_v2, 3020, (dptr, bytesize), CUdeviceptr *dptr, size_t bytesize)
 *	{
 *		...
 *	}
 *
 * exports the ABI name (checked against cuda.h), reports the call to tools with its CUPTI id and parameter struct
 * (checked against CUPTI's headers), and adds a row to the table that cuGetProcAddress searches: the name without its
 * _v2, from CUDA 3.2 on. ENTRY_STREAM also defines the variant for per-thread default streams: the body's first
 * parameter is is_per_thread. ENTRY_EARLY may be called before cuInit; ENTRY_VOID has no parameters. */
#ifndef CUDA_ENTRY_H
#define CUDA_ENTRY_H

#include "simgpu.h"

#include <cuda_runtime_api.h>
#include <cudaProfiler.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>

#include "cuda_13020.h"

struct cuda_entry {
	const char *symbol;
	void (*function)(void);
	int version;
	bool is_per_thread;
};

#define ENTRY_ARGS(...) __VA_ARGS__

/* The section contains pointers: compilers may pad larger objects, which would leave holes in the table. */
#define ENTRY_ROW(sym, since, per_thread) \
	static const struct cuda_entry row_##sym = { #sym, (void (*)(void))sym, since, per_thread }; \
	static const struct cuda_entry *const listed_##sym __attribute__((used, section("cuda_entries"))) = &row_##sym;

#define ENTRY_EXPORT(sym, ready, call, args, ...) \
	CUresult CUDAAPI sym(__VA_ARGS__) \
	{ \
		sym##_params params = { ENTRY_ARGS args }; \
		struct sim_api api; \
		CUresult result = CUDA_SUCCESS; \
		\
		result = sim_api_enter(&api, SIM_DRIVER, CUPTI_DRIVER_TRACE_CBID_##sym, #sym, &params, \
				       (const int *)&result); \
		if (result == CUDA_SUCCESS) \
			result = ready; \
		if (result == CUDA_SUCCESS) \
			result = call; \
		sim_api_leave(&api, result); \
		return result; \
	}

#define ENTRY(sym, since, args, ...) \
	static CUresult do_##sym(__VA_ARGS__); \
	ENTRY_EXPORT(sym, sim_ready_status(), do_##sym args, args, __VA_ARGS__) \
	ENTRY_ROW(sym, since, false) \
	static CUresult do_##sym(__VA_ARGS__)

#define ENTRY_EARLY(sym, since, args, ...) \
	static CUresult do_##sym(__VA_ARGS__); \
	ENTRY_EXPORT(sym, CUDA_SUCCESS, do_##sym args, args, __VA_ARGS__) \
	ENTRY_ROW(sym, since, false) \
	static CUresult do_##sym(__VA_ARGS__)

/* Not reported to tools and not logged: look-ups, which programs make hundreds of times before the first real call. */
#define ENTRY_QUIET(sym, since, args, ...) \
	ENTRY_ROW(sym, since, false) \
	CUresult CUDAAPI sym(__VA_ARGS__)

#define ENTRY_STREAM(sym, since, suffix, since_twin, args, ...) \
	static CUresult do_##sym(bool is_per_thread, __VA_ARGS__); \
	ENTRY_EXPORT(sym, sim_ready_status(), do_##sym(false, ENTRY_ARGS args), args, __VA_ARGS__) \
	ENTRY_EXPORT(sym##suffix, sim_ready_status(), do_##sym(true, ENTRY_ARGS args), args, __VA_ARGS__) \
	ENTRY_ROW(sym, since, false) \
	ENTRY_ROW(sym##suffix, since_twin, true) \
	static CUresult do_##sym(bool is_per_thread, __VA_ARGS__)

#define ENTRY_VOID(sym, since) \
	static CUresult do_##sym(void); \
	CUresult CUDAAPI sym(void) \
	{ \
		struct sim_api api; \
		CUresult result = CUDA_SUCCESS; \
		\
		result = sim_api_enter(&api, SIM_DRIVER, CUPTI_DRIVER_TRACE_CBID_##sym, #sym, NULL, \
				       (const int *)&result); \
		if (result == CUDA_SUCCESS) \
			result = sim_ready_status(); \
		if (result == CUDA_SUCCESS) \
			result = do_##sym(); \
		sim_api_leave(&api, result); \
		return result; \
	} \
	ENTRY_ROW(sym, since, false) \
	static CUresult do_##sym(void)

/* Bodies of calls that the double accepts and that have no effect. */
#define UNUSED(...) ((void)(sizeof((const void *[]){ __VA_ARGS__ })))

/* Gets the stream of a call, or returns the error from the caller. */
#define STREAM_OR_RETURN(name, handle) \
	struct sim_stream *name = sim_stream_find(handle, is_per_thread); \
	if (!name) \
		return sim_context_current() ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_CONTEXT

void cuda_copy_3d(const CUDA_MEMCPY3D *params, struct sim_copy *ret_copy);

#endif
