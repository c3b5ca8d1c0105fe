/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_launches, built by nvcc. With --default-stream per-thread every call is its _ptsz variant. */
#include <cuda_runtime.h>

__global__ void add(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] += 1;
}

__global__ void scale(float *x, float factor, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] *= factor;
}

static const void *address_of_add(void)
{
	return (const void *)add;
}

static const void *address_of_scale(void)
{
	return (const void *)scale;
}

static dim3 dim3_of(unsigned x)
{
	return dim3(x);
}

static void launch_add(unsigned grid, unsigned block, cudaStream_t stream, float *x, int n)
{
	add<<<grid, block, 0, stream>>>(x, n);
}

static void launch_scale(unsigned grid, unsigned block, cudaStream_t stream, float *x, float factor, int n)
{
	scale<<<grid, block, 0, stream>>>(x, factor, n);
}

#include "cuda_launches.h"

int main(int argc, char **argv)
{
	return run(argc, argv);
}
