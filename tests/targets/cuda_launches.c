/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_launches for machines without nvcc: the code that nvcc would generate, written by hand.
 * If CUDA_API_PER_THREAD_DEFAULT_STREAM is defined, every call is its _ptsz variant. */
#include "cuda_stub.h"

static void add_run(const unsigned *grid, const unsigned *block, void **params)
{
	float *x = *(float **)params[0];
	int n = *(int *)params[1];

	for (unsigned i = 0; i < grid[0] * block[0] && (int)i < n; i++)
		x[i] += 1;
}

static void scale_run(const unsigned *grid, const unsigned *block, void **params)
{
	float *x = *(float **)params[0];
	float factor = *(float *)params[1];
	int n = *(int *)params[2];

	for (unsigned i = 0; i < grid[0] * block[0] && (int)i < n; i++)
		x[i] *= factor;
}

static const struct simgpu_kernel kernels[] = {
	{ "_Z3addPfi", add_run, 2, { sizeof(float *), sizeof(int) } },
	{ "_Z5scalePffi", scale_run, 3, { sizeof(float *), sizeof(float), sizeof(int) } },
};
CUDA_STUB_IMAGE(kernels);

/* Their addresses are what programs pass as the kernel. */
static void add(void) { }
static void scale(void) { }

#define ADD ((const void *)(uintptr_t)add)
#define SCALE ((const void *)(uintptr_t)scale)

static const void *address_of_add(void)
{
	return ADD;
}

static const void *address_of_scale(void)
{
	return SCALE;
}

__attribute__((constructor)) static void register_all(void)
{
	cuda_stub_begin();
	cuda_stub_kernel(ADD, "_Z3addPfi");
	cuda_stub_kernel(SCALE, "_Z5scalePffi");
	cuda_stub_end();
}

static dim3 dim3_of(unsigned x)
{
	return (dim3){ x, 1, 1 };
}

static void launch_add(unsigned grid, unsigned block, cudaStream_t stream, float *x, int n)
{
	static cudaKernel_t handle;
	void *args[] = { &x, &n };

	cuda_stub_launch(&handle, ADD, dim3_of(grid), dim3_of(block), stream, args);
}

static void launch_scale(unsigned grid, unsigned block, cudaStream_t stream, float *x, float factor, int n)
{
	static cudaKernel_t handle;
	void *args[] = { &x, &factor, &n };

	cuda_stub_launch(&handle, SCALE, dim3_of(grid), dim3_of(block), stream, args);
}

#include "cuda_launches.h"

int main(int argc, char **argv)
{
	return run(argc, argv);
}
