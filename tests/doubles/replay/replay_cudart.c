/* SPDX-License-Identifier: Apache-2.0 */
/* libcudart.so.13 of the replay: the calls that occur in recordings. Their arguments are ignored. */
#include "replay.h"

#define __CUDA_API_VERSION_INTERNAL
#include <cuda_runtime_api.h>
#include <cupti_runtime_cbid.h>

#define REPLAYED(name, version, ...) \
	cudaError_t name(__VA_ARGS__) \
	{ \
		replay_call(CUPTI_RUNTIME_TRACE_CBID_##name##_##version, #name); \
		return cudaSuccess; \
	}
#pragma GCC diagnostic ignored "-Wunused-parameter"

REPLAYED(cudaLaunchKernel, v7000, const void *function, dim3 grid, dim3 block, void **args, size_t shared,
	 cudaStream_t stream)
REPLAYED(cudaLaunchKernelExC, v11060, const cudaLaunchConfig_t *config, const void *function, void **args)
REPLAYED(cudaMemcpyAsync, v3020, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
	 cudaStream_t stream)
REPLAYED(cudaMemsetAsync, v3020, void *at, int value, size_t bytes, cudaStream_t stream)
REPLAYED(cudaDeviceSynchronize, v3020, void)
REPLAYED(cudaStreamWaitEvent, v3020, cudaStream_t stream, cudaEvent_t event, unsigned int flags)

/* Programs initialise CUDA with this call; recordings do not contain it. */
cudaError_t cudaFree(void *at)
{
	return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
	*version = CUDART_VERSION;
	return cudaSuccess;
}
