/* SPDX-License-Identifier: Apache-2.0 */
/* vector_add.cu for machines without nvcc: the kernel is C code that the simulated device runs, launched as nvcc's
 * code does it. */
#include "cuda_stub.h"

static void vector_add_run(const unsigned *grid, const unsigned *block, void **params)
{
	float *weights = *(float **)params[0];
	const float *batch = *(const float **)params[1];
	int count = *(int *)params[2];

	for (unsigned i = 0; i < grid[0] * block[0] && (int)i < count; i++)
		weights[i] += batch[i];
}

static const struct simgpu_kernel kernels[] = {
	{ "_Z10vector_addPfPKfi", vector_add_run, 3, { sizeof(float *), sizeof(float *), sizeof(int) } },
};
CUDA_STUB_IMAGE(kernels);

static void vector_add(void) { }

__attribute__((constructor)) static void register_all(void)
{
	cuda_stub_begin();
	cuda_stub_kernel((const void *)(uintptr_t)vector_add, "_Z10vector_addPfPKfi");
	cuda_stub_end();
}

static void launch(float *weights, const float *batch, cudaStream_t stream);

#include "vector_add.cu"

static void launch(float *weights, const float *batch, cudaStream_t stream)
{
	static cudaKernel_t handle;
	int count = COUNT;
	void *args[] = { &weights, &batch, &count };

	cuda_stub_launch(&handle, (const void *)(uintptr_t)vector_add, (dim3){ COUNT / BLOCK, 1, 1 },
			 (dim3){ BLOCK, 1, 1 }, stream, args);
}
