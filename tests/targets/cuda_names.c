/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_names WAY NAME...: launches a kernel of each name once. WAY:
 *   runtime   registered, as nvcc's programs do it
 *   legacy    the same, launched by cudaLaunchKernel
 *   module    cuModuleGetFunction
 *   library   cuLibraryGetKernel, launched by its handle
 *   function  the function of such a handle
 *   unnamed   the handles of a library's kernels, obtained without their names
 *   handle    the same, launched by the runtime */
#include <cuda.h>
#include <stdio.h>
#include <string.h>

#include "cuda_stub.h"

enum { MOST = 64 };

static struct simgpu_kernel kernels[MOST];
CUDA_STUB_IMAGE(kernels);
static const char hosts[MOST]; /* their addresses are what programs pass as the kernel */
static const dim3 grid = {2, 1, 1}, block = {32, 1, 1};

static void run(const unsigned *blocks, const unsigned *threads, void **params)
{
	(void)blocks, (void)threads, (void)params;
}

static int by_runtime(int count, char **names, int is_legacy)
{
	cudaKernel_t handles[MOST] = {NULL};

	cudaFree(NULL);
	cuda_stub_begin();
	for (int i = 0; i < count; i++)
		cuda_stub_kernel(&hosts[i], names[i]);
	cuda_stub_end();
	for (int i = 0; i < count; i++)
		if (is_legacy)
			cudaLaunchKernel(&hosts[i], grid, block, NULL, 0, NULL);
		else
			cuda_stub_launch(&handles[i], &hosts[i], grid, block, NULL, NULL);
	return cudaGetLastError() != cudaSuccess;
}

static int launch(void *function)
{
	return cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
}

static int by_driver(int count, char **names, const char *way)
{
	CUkernel handles[MOST];
	CUlibrary library;
	CUmodule module;
	CUfunction f;

	if (cudaFree(NULL) || cuModuleLoadData(&module, &cuda_stub_image) ||
	    cuLibraryLoadData(&library, &cuda_stub_image, NULL, NULL, 0, NULL, NULL, 0))
		return 1;
	if (!strcmp(way, "unnamed") || !strcmp(way, "handle")) {
		if (cuLibraryEnumerateKernels(handles, (unsigned)count, library))
			return 1;
		for (int i = 0; i < count; i++)
			if (*way == 'u')
				launch(handles[i]);
			else
				__cudaLaunchKernel((cudaKernel_t)handles[i], grid, block, NULL, 0, NULL);
		return cudaGetLastError() != cudaSuccess;
	}
	for (int i = 0; i < count; i++) {
		if (*way == 'm' ? cuModuleGetFunction(&f, module, names[i])
				: cuLibraryGetKernel(&handles[i], library, names[i]))
			return 1;
		if (*way == 'f' && cuKernelGetFunction(&f, handles[i]))
			return 1;
		if (launch(*way == 'l' ? (void *)handles[i] : (void *)f))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int count = argc - 2;

	if (count < 1 || count > MOST)
		return 2;
	for (int i = 0; i < MOST; i++)
		kernels[i] = (struct simgpu_kernel){.name = i < count ? argv[2 + i] : "", .run = run};
	if (!strcmp(argv[1], "runtime") || !strcmp(argv[1], "legacy") ? by_runtime(count, argv + 2, *argv[1] == 'l')
								      : by_driver(count, argv + 2, argv[1]))
		return puts("failed"), 1;
	return puts("done"), cudaDeviceSynchronize() != cudaSuccess;
}
