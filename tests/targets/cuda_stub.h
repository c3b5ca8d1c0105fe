/* SPDX-License-Identifier: Apache-2.0 */
/* The code that nvcc 13 generates around kernels, for C programs: registration before main, launches by __cudaGetKernel
 * and __cudaLaunchKernel, or by cudaLaunchKernel as with nvcc 12 (CUDA_STUB_LEGACY). Machine code is replaced by a
 * table that only the simulated GPU understands. */
#ifndef CUDA_STUB_H
#define CUDA_STUB_H

#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdlib.h>

#include "simgpu_kernel.h"

/* crt/host_runtime.h has these for C++ only. */
void **__cudaRegisterFatBinary(void *binary);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
			    uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
			       cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
				    cudaStream_t stream);

#define CUDA_STUB_IMAGE(table) \
	static const struct simgpu_image cuda_stub_image = { SIMGPU_IMAGE_MAGIC, sizeof(table) / sizeof(table[0]), \
							     table }

static const struct simgpu_image cuda_stub_image;
static void **cuda_stub_handle;

static void cuda_stub_unregister(void)
{
	__cudaUnregisterFatBinary(cuda_stub_handle);
}

static void cuda_stub_begin(void)
{
	static const struct { unsigned magic, version; const void *data; void *more; } wrapper = {
		0x466243b1, 1, &cuda_stub_image, NULL
	};

	cuda_stub_handle = __cudaRegisterFatBinary((void *)(uintptr_t)&wrapper);
}

static void cuda_stub_kernel(const void *host, const char *name)
{
	__cudaRegisterFunction(cuda_stub_handle, host, (char *)(uintptr_t)name, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static void cuda_stub_end(void)
{
	__cudaRegisterFatBinaryEnd(cuda_stub_handle);
	atexit(cuda_stub_unregister);
}

/* kernel<<<grid, block, 0, stream>>>(args...) */
static __attribute__((unused)) void cuda_stub_launch(cudaKernel_t *handle, const void *host, dim3 grid, dim3 block,
						     cudaStream_t stream, void **args)
{
	size_t shared;

	if (__cudaPushCallConfiguration(grid, block, 0, stream) != 0)
		return;
#ifdef CUDA_STUB_LEGACY
	(void)handle;
	if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == cudaSuccess)
		cudaLaunchKernel(host, grid, block, args, shared, stream);
#else
	if (!*handle && __cudaGetKernel(handle, host) != cudaSuccess)
		return;
	if (__cudaPopCallConfiguration(&grid, &block, &shared, &stream) != cudaSuccess)
		return;
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
	__cudaLaunchKernel_ptsz(*handle, grid, block, args, shared, stream);
#else
	__cudaLaunchKernel(*handle, grid, block, args, shared, stream);
#endif
#endif
}

#endif
