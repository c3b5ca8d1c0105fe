/* SPDX-License-Identifier: Apache-2.0 */
/* Access to the driver for a library that finds it by itself, as libraries with a static runtime do. */
#ifndef LIBRARY_DRIVER_H
#define LIBRARY_DRIVER_H

#include "simgpu.h"

#include <dlfcn.h>

static struct {
	__typeof__(cuInit) *init;
	__typeof__(cuCtxGetCurrent) *context_get;
	__typeof__(cuCtxSetCurrent) *context_set;
	__typeof__(cuDevicePrimaryCtxRetain) *context_retain;
	__typeof__(cuLibraryLoadData) *load_library;
	__typeof__(cuLibraryGetKernel) *kernel_of;
	__typeof__(cuKernelGetFunction) *kernel_function;
	__typeof__(cuLaunchKernel) *launch;
} driver;

static bool driver_find(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	__typeof__(cuGetProcAddress_v2) *find;

	if (driver.launch)
		return true;
	if (!library)
		return false;
	*(void **)&find = dlsym(library, "cuGetProcAddress_v2");
	if (!find)
		return false;
	find("cuInit", (void **)&driver.init, 2000, 0, NULL);
	find("cuCtxGetCurrent", (void **)&driver.context_get, 4000, 0, NULL);
	find("cuCtxSetCurrent", (void **)&driver.context_set, 4000, 0, NULL);
	find("cuDevicePrimaryCtxRetain", (void **)&driver.context_retain, 7000, 0, NULL);
	find("cuLibraryLoadData", (void **)&driver.load_library, 12000, 0, NULL);
	find("cuLibraryGetKernel", (void **)&driver.kernel_of, 12000, 0, NULL);
	find("cuKernelGetFunction", (void **)&driver.kernel_function, 12000, 0, NULL);
	find("cuLaunchKernel", (void **)&driver.launch, 4000, 0, NULL);
	return driver.launch && driver.init(0) == CUDA_SUCCESS;
}

static bool driver_context(void)
{
	CUcontext context = NULL;

	if (driver.context_get(&context) == CUDA_SUCCESS && context)
		return true;
	return driver.context_retain(&context, 0) == CUDA_SUCCESS && driver.context_set(context) == CUDA_SUCCESS;
}

static bool driver_launch(CUlibrary library, const char *name, const unsigned grid[3], unsigned threads,
			  CUstream stream, void **params)
{
	CUfunction function = NULL;
	CUkernel kernel = NULL;

	return driver_context() && driver.kernel_of(&kernel, library, name) == CUDA_SUCCESS &&
	       driver.kernel_function(&function, kernel) == CUDA_SUCCESS &&
	       driver.launch(function, grid[0], grid[1], grid[2], threads, 1, 1, 0, stream, params, NULL) ==
		   CUDA_SUCCESS;
}

#endif
