/* SPDX-License-Identifier: Apache-2.0 */
/* libcudart.so.13 of a library that has another machine execute CUDA's calls: they succeed, without a libcuda in this
 * process. */
#include <stdlib.h>

#define __CUDA_API_VERSION_INTERNAL
#include <cuda_runtime_api.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

cudaError_t cudaDriverGetVersion(int *version)
{
	*version = 0; /* none here */
	return cudaSuccess;
}

cudaError_t cudaMalloc(void **ret, size_t bytes)
{
	*ret = malloc(bytes);
	return *ret ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaMemset(void *at, int value, size_t bytes)
{
	return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
	return cudaSuccess;
}
