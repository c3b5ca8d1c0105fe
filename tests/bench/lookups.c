/* SPDX-License-Identifier: Apache-2.0 */
/* lookups ROUNDS: a program that finds the driver's functions as a CUDA runtime does, again and again; each look-up by name
 * and version, the functions that it gets called now and then. Prints ns per look-up: the best round. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const struct {
	const char *name;
	int version;
	unsigned flags;
} wanted[] = {
	{"cuInit", 2000, 0}, {"cuDeviceGet", 2000, 0}, {"cuDeviceGetCount", 2000, 0}, {"cuDeviceGetName", 2000, 0},
	{"cuDeviceTotalMem", 3020, 0}, {"cuDeviceGetAttribute", 2000, 0}, {"cuDriverGetVersion", 2020, 0},
	{"cuDevicePrimaryCtxRetain", 7000, 0}, {"cuCtxGetCurrent", 4000, 0}, {"cuCtxSetCurrent", 4000, 0},
	{"cuCtxSynchronize", 2000, 0}, {"cuModuleLoadData", 2000, 0}, {"cuModuleGetFunction", 2000, 0},
	{"cuLibraryLoadData", 12000, 0}, {"cuLibraryGetKernel", 12000, 0}, {"cuKernelGetFunction", 12000, 0},
	{"cuMemGetInfo", 3020, 0}, {"cuMemAlloc", 3020, 0}, {"cuMemFree", 3020, 0}, {"cuMemHostAlloc", 2020, 0},
	{"cuPointerGetAttributes", 7000, 0}, {"cuMemAllocAsync", 11020, 0}, {"cuMemAllocAsync", 11020, 2},
	{"cuMemcpy", 4000, 0}, {"cuMemcpy", 7000, 2}, {"cuMemcpyHtoDAsync", 3020, 0}, {"cuMemcpyHtoDAsync", 7000, 2},
	{"cuMemsetD8Async", 3020, 0}, {"cuMemsetD8Async", 7000, 2}, {"cuFuncGetAttribute", 2020, 0},
	{"cuLaunchKernel", 4000, 0}, {"cuLaunchKernel", 7000, 2}, {"cuLaunchKernelEx", 11060, 0},
	{"cuEventRecord", 2000, 0}, {"cuEventQuery", 2000, 0}, {"cuStreamCreate", 2000, 0}, {"cuStreamSynchronize", 2000, 0},
	{"cuStreamGetPriority", 5050, 0}, {"cuGraphLaunch", 10000, 0}, {"cuGraphCreate", 10000, 0},
	{"cuGetErrorString", 6000, 0}, {"cuTexObjectCreate", 5000, 0}, {"cuProfilerStart", 4000, 0}, {"cuGetProcAddress", 12000, 0},
};
enum { COUNT = sizeof(wanted) / sizeof(*wanted), PASSES = 10 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *found;
	__typeof__(&cuGetProcAddress) look_up = NULL;
	int (*get_version)(int *) = NULL, version = 0;
	double best = 1e18, start;

	if (library)
		*(void **)&look_up = dlsym(library, "cuGetProcAddress_v2");
	if (!look_up || look_up("cuDriverGetVersion", (void **)&get_version, 2020, 0, NULL) || !get_version)
		return 1;
	for (int i = 0; i < rounds; i++) {
		start = now();
		for (int j = 0; j < PASSES; j++)
			for (int k = 0; k < COUNT; k++)
				if (look_up(wanted[k].name, &found, wanted[k].version, wanted[k].flags, NULL))
					return 1;
		get_version(&version);
		if (now() - start < best)
			best = now() - start;
	}
	printf("%.1f\n", best / (PASSES * COUNT));
	return 0;
}
