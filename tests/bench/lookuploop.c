/* SPDX-License-Identifier: Apache-2.0 */
/* lookuploop lookup ROUNDS: repeatedly finds the driver's functions as a CUDA runtime does, and calls one of them.
 * lookuploop call ROUNDS LIBRARY: calls cuLaunchKernel of a library (emptycuda.c), found by dlsym. lookuploop bound
 * ROUNDS: the same, bound by the linker. lookuploop deep ROUNDS: the same at a stack depth of 14. lookuploop gemm
 * ROUNDS: calls cublasSgemm, alternating between two sizes. lookuploop replay ROUNDS: calls cuGraphLaunch at a stack
 * depth of 14. lookuploop memset ROUNDS: likewise cuMemsetD8Async. lookuploop stream ROUNDS LIBRARY: cuLaunchKernel as
 * deep, on a stream that captures, with LIBRARY as the driver. Prints ns per call: median and best round. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const struct {
	const char *name;
	int version;
	unsigned flags;
} wanted[] = {
    {"cuInit", 2000, 0},
    {"cuDeviceGet", 2000, 0},
    {"cuDeviceGetCount", 2000, 0},
    {"cuDeviceGetName", 2000, 0},
    {"cuDeviceTotalMem", 3020, 0},
    {"cuDeviceGetAttribute", 2000, 0},
    {"cuDriverGetVersion", 2020, 0},
    {"cuDevicePrimaryCtxRetain", 7000, 0},
    {"cuCtxGetCurrent", 4000, 0},
    {"cuCtxSetCurrent", 4000, 0},
    {"cuCtxSynchronize", 2000, 0},
    {"cuModuleLoadData", 2000, 0},
    {"cuModuleGetFunction", 2000, 0},
    {"cuLibraryLoadData", 12000, 0},
    {"cuLibraryGetKernel", 12000, 0},
    {"cuKernelGetFunction", 12000, 0},
    {"cuMemGetInfo", 3020, 0},
    {"cuMemAlloc", 3020, 0},
    {"cuMemFree", 3020, 0},
    {"cuMemHostAlloc", 2020, 0},
    {"cuPointerGetAttributes", 7000, 0},
    {"cuMemAllocAsync", 11020, 0},
    {"cuMemAllocAsync", 11020, 2},
    {"cuMemcpy", 4000, 0},
    {"cuMemcpy", 7000, 2},
    {"cuMemcpyHtoDAsync", 3020, 0},
    {"cuMemcpyHtoDAsync", 7000, 2},
    {"cuMemsetD8Async", 3020, 0},
    {"cuMemsetD8Async", 7000, 2},
    {"cuFuncGetAttribute", 2020, 0},
    {"cuLaunchKernel", 4000, 0},
    {"cuLaunchKernel", 7000, 2},
    {"cuLaunchKernelEx", 11060, 0},
    {"cuEventRecord", 2000, 0},
    {"cuEventQuery", 2000, 0},
    {"cuStreamCreate", 2000, 0},
    {"cuStreamSynchronize", 2000, 0},
    {"cuStreamGetPriority", 5050, 0},
    {"cuGraphLaunch", 10000, 0},
    {"cuGraphCreate", 10000, 0},
    {"cuGetErrorString", 6000, 0},
    {"cuTexObjectCreate", 5000, 0},
    {"cuProfilerStart", 4000, 0},
    {"cuGetProcAddress", 12000, 0},
};
enum { COUNT = sizeof(wanted) / sizeof(*wanted), PASSES = 10, CALLS = 2000 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double ns[4096];
static int count;

static int compare(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static int tell(void)
{
	qsort(ns, (size_t)count, sizeof(*ns), compare);
	printf("median=%.2f min=%.2f\n", ns[count / 2], ns[0]);
	return 0;
}

static int look_up(int rounds)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *found;
	__typeof__(&cuGetProcAddress) ask = NULL;
	int (*get_version)(int *) = NULL, version = 0;

	if (library)
		*(void **)&ask = dlsym(library, "cuGetProcAddress_v2");
	if (!ask || ask("cuDriverGetVersion", (void **)&get_version, 2020, 0, NULL) || !get_version)
		return 1;
	for (count = 0; count < rounds; count++) {
		double start = now();

		for (int j = 0; j < PASSES; j++)
			for (int k = 0; k < COUNT; k++)
				if (ask(wanted[k].name, &found, wanted[k].version, wanted[k].flags, NULL))
					return 1;
		get_version(&version);
		ns[count] = (now() - start) / (PASSES * COUNT);
	}
	return tell();
}

static CUstream stream; /* of call() */

static int call(int rounds, __typeof__(&cuLaunchKernel) launch)
{
	for (count = 0; count < rounds; count++) {
		double start = now();

		for (int i = 0; i < CALLS; i++)
			if (launch(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL))
				return 1;
		ns[count] = (now() - start) / CALLS;
	}
	return tell();
}

int cublasSgemm_v2(void *h, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda,
		   const float *b, int ldb, const float *beta, float *c, int ldc);

static int multiply(int rounds)
{
	static float one = 1, place[1];

	for (count = 0; count < rounds; count++) {
		double start = now();

		for (int i = 0; i < CALLS; i++) {
			int m = i & 1 ? 512 : 384;

			if (cublasSgemm_v2(place, 0, 1, m, 1024, 256, &one, place, m, place, 1024, &one, place, m))
				return 1;
		}
		ns[count] = (now() - start) / CALLS;
	}
	return tell();
}

/* Work after the call prevents a tail call, so that each frame exists. */
__attribute__((noinline)) static int call_deep(int rounds, int frames)
{
	int status = frames ? call_deep(rounds, frames - 1) : call(rounds, cuLaunchKernel);

	__asm__ volatile("" : "+r"(status));
	return status;
}

__attribute__((noinline)) static int repeat_deep(int rounds, int frames, bool is_memset)
{
	int status = frames ? repeat_deep(rounds, frames - 1, is_memset) : 0;

	for (count = 0; !frames && count < rounds; count++) {
		double start = now();

		for (int i = 0; i < CALLS; i++)
			status |= is_memset ? cuMemsetD8Async((CUdeviceptr)ns, 0, 64, stream)
					    : cuGraphLaunch((CUgraphExec)ns, stream);
		ns[count] = (now() - start) / CALLS;
	}
	if (!frames)
		status |= tell();
	__asm__ volatile("" : "+r"(status));
	return status;
}

static int call_on_stream(int rounds, const char *driver)
{
	stream = (CUstream)ns;
	if (!dlopen(driver, RTLD_NOW) || cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED))
		return 1;
	return call_deep(rounds, 10);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1;
	void *library, *launch;

	if (rounds > (int)(sizeof(ns) / sizeof(*ns)))
		return 2;
	if (argc > 2 && argv[1][0] == 'l')
		return look_up(rounds);
	if (argc > 3 && argv[1][0] == 'c') {
		library = dlopen(argv[3], RTLD_NOW);
		launch = library ? dlsym(library, "cuLaunchKernel") : NULL;
		return launch ? call(rounds, (__typeof__(&cuLaunchKernel))launch) : 1;
	}
	if (argc > 2 && argv[1][0] == 'g')
		return multiply(rounds);
	if (argc > 2 && argv[1][0] == 'd')
		return call_deep(rounds, 10);
	if (argc > 2 && argv[1][0] == 'r')
		return repeat_deep(rounds, 10, false);
	if (argc > 2 && argv[1][0] == 'm')
		return repeat_deep(rounds, 10, true);
	if (argc > 3 && argv[1][0] == 's')
		return call_on_stream(rounds, argv[3]);
	return call(rounds, cuLaunchKernel);
}
