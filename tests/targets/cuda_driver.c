/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_driver LOOKUP [ROUNDS]: a driver API program that finds its functions by one of these look-ups:
 *   linked   by the linker (built with -DLINKED)
 *   dlsym    dlopen of libcuda and dlsym of each
 *   global   dlopen with RTLD_GLOBAL and dlsym(RTLD_DEFAULT)
 *   proc     cuGetProcAddress_v2 with the version that introduced each; twin: for per-thread default streams
 *   newer    the same with a version that does not exist yet
 *   self     cuGetProcAddress found through itself; old: cuGetProcAddress of CUDA 11
 *   entry    cudaGetDriverEntryPointByVersion of a shared libcudart
 * Prints what it computed. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver_functions.h"
#include "simgpu_kernel.h"

#define FUNCTIONS(X)                                                                                                   \
	DRIVER_BASICS(X)                                                                                               \
	X(cuLibraryLoadData, , 12000)                                                                                  \
	X(cuLibraryGetKernel, , 12000)                                                                                 \
	X(cuKernelGetFunction, , 12000)                                                                                \
	X(cuLibraryEnumerateKernels, , 12040)                                                                          \
	X(cuMemAllocAsync, , 11020)                                                                                    \
	X(cuMemFreeAsync, , 11020)                                                                                     \
	X(cuMemAllocManaged, , 6000)                                                                                   \
	X(cuMemHostAlloc, , 2020)                                                                                      \
	X(cuMemFreeHost, , 2000)                                                                                       \
	X(cuMemCreate, , 10020)                                                                                        \
	X(cuMemAddressReserve, , 10020)                                                                                \
	X(cuMemMap, , 10020)                                                                                           \
	X(cuMemUnmap, , 10020)                                                                                         \
	X(cuMemAddressFree, , 10020)                                                                                   \
	X(cuMemRelease, , 10020)                                                                                       \
	X(cuMemcpyHtoD, _v2, 3020)                                                                                     \
	X(cuMemcpyDtoH, _v2, 3020)                                                                                     \
	X(cuMemcpyDtoDAsync, _v2, 3020)                                                                                \
	X(cuMemsetD32, _v2, 3020)                                                                                      \
	X(cuMemcpy2DAsync, _v2, 3020)                                                                                  \
	X(cuStreamDestroy, _v2, 4000)                                                                                  \
	X(cuEventCreate, , 2000)                                                                                       \
	X(cuEventRecord, , 2000)                                                                                       \
	X(cuEventDestroy, _v2, 4000)                                                                                   \
	X(cuLaunchHostFunc, , 10000)                                                                                   \
	X(cuCtxSynchronize, , 2000)

static struct {
	FUNCTIONS(DRIVER_FIELD)
} d;

#define NEED(what)                                                                                                     \
	do {                                                                                                           \
		int code_ = (int)(what);                                                                               \
                                                                                                                       \
		if (code_) {                                                                                           \
			printf("%s gave %d\n", #what, code_);                                                          \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

#ifdef LINKED
static void find(const char *lookup)
{
	NEED(strcmp(lookup, "linked"));
	FUNCTIONS(DRIVER_LINK)
}
#else
static __typeof__(&cuGetProcAddress) look_up;
static CUresult (*look_up_old)(const char *, void **, int, cuuint64_t);
static int (*look_up_runtime)(const char *, void **, unsigned, unsigned long long, void *);
static void *library;
static bool is_newer;
static cuuint64_t flags;

static void *find_one(const char *name, const char *suffix, int version)
{
	CUdriverProcAddressQueryResult status;
	char symbol[80];
	void *found = NULL;

	if (flags && version < 7000)
		version = 7000;
	if (is_newer && strcmp(name, "cuCtxSynchronize")) /* that one takes a context now */
		version = 99000;
	if (look_up_runtime)
		NEED(look_up_runtime(name, &found, (unsigned)version, flags, NULL));
	else if (look_up_old)
		NEED(look_up_old(name, &found, version, flags));
	else if (look_up)
		NEED(look_up(name, &found, version, flags, &status));
	else
		found = dlsym(library, strcat(strcpy(symbol, name), suffix));
	if (!found) {
		printf("no %s\n", name);
		exit(1);
	}
	return found;
}

static void choose(const char *lookup)
{
	void *runtime;

	library = dlopen("libcuda.so.1", RTLD_NOW | (strcmp(lookup, "global") ? RTLD_LOCAL : RTLD_GLOBAL));
	NEED(!library);
	if (!strcmp(lookup, "dlsym"))
		return;
	if (!strcmp(lookup, "global")) {
		library = RTLD_DEFAULT;
		return;
	}
	if (!strcmp(lookup, "entry")) {
		runtime = dlopen("libcudart.so.13", RTLD_NOW);
		NEED(!runtime);
		*(void **)&look_up_runtime = dlsym(runtime, "cudaGetDriverEntryPointByVersion");
		return;
	}
	if (!strcmp(lookup, "old")) {
		*(void **)&look_up_old = dlsym(library, "cuGetProcAddress");
		return;
	}
	*(void **)&look_up = dlsym(library, "cuGetProcAddress_v2");
	if (!strcmp(lookup, "self"))
		NEED(look_up("cuGetProcAddress", (void **)&look_up, 12000, 0, NULL));
	flags = !strcmp(lookup, "twin") ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;
	is_newer = !strcmp(lookup, "newer");
}

#define FIND(base, suffix, version) *(void **)&d.base = find_one(#base, #suffix, version);
static void find(const char *lookup)
{
	choose(lookup);
	FUNCTIONS(FIND)
}
#endif

/* ---- what it does ---- */

static void add_run(const unsigned *grid, const unsigned *block, void **params)
{
	int *x = *(int **)params[0], more = *(int *)params[1];

	for (unsigned i = 0; i < grid[0] * block[0]; i++)
		x[i] += more;
}

static const struct simgpu_kernel kernels[] = {
	{"_Z3addPii", add_run, 2, {sizeof(int *), sizeof(int)}},
	{"_Z5add_nPii", add_run, 2, {sizeof(int *), sizeof(int)}},
	{"_Z5add_lPii", add_run, 2, {sizeof(int *), sizeof(int)}},
};
static const struct simgpu_image image = {SIMGPU_IMAGE_MAGIC, 3, kernels};
enum { N = 1024, BYTES = N * 4, CHUNK = 2 << 20 };

static void count(void *data)
{
	++*(int *)data;
}

static void launch_all(CUmodule module, CUlibrary loaded, CUstream stream, CUdeviceptr x)
{
	int one = 1;
	void *arguments[] = {&x, &one};
	CUlaunchConfig config = {
	    .gridDimX = 4, .gridDimY = 1, .gridDimZ = 1, .blockDimX = N / 4, .blockDimY = 1, .blockDimZ = 1};
	CUfunction f;
	CUkernel kernel;

	NEED(d.cuModuleGetFunction(&f, module, "_Z3addPii"));
	NEED(d.cuLaunchKernel(f, N / 256, 1, 1, 256, 1, 1, 0, stream, arguments, NULL));
	NEED(d.cuLibraryGetKernel(&kernel, loaded, "_Z5add_lPii"));
	NEED(d.cuKernelGetFunction(&f, kernel));
	config.hStream = stream;
	NEED(d.cuLaunchKernelEx(&config, f, arguments, NULL));
	/* A handle obtained without a name. */
	NEED(d.cuLibraryEnumerateKernels(&kernel, 1, loaded));
	NEED(d.cuLaunchKernel((CUfunction)kernel, N / 512, 1, 1, 512, 1, 1, 64, NULL, arguments, NULL));
}

static void use_memory(CUstream stream)
{
	CUmemAllocationProp property = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
					.location.type = CU_MEM_LOCATION_TYPE_DEVICE};
	CUmemGenericAllocationHandle handle;
	CUdeviceptr p;
	void *host;

	NEED(d.cuMemAllocAsync(&p, BYTES, stream));
	NEED(d.cuMemsetD8Async(p, 1, BYTES, stream));
	NEED(d.cuMemFreeAsync(p, stream));
	NEED(d.cuMemAllocManaged(&p, BYTES, CU_MEM_ATTACH_GLOBAL));
	NEED(d.cuMemFree(p));
	NEED(d.cuMemHostAlloc(&host, BYTES, 0));
	NEED(d.cuMemFreeHost(host));
	NEED(d.cuMemAddressReserve(&p, CHUNK, 0, 0, 0));
	NEED(d.cuMemCreate(&handle, CHUNK, &property, 0));
	NEED(d.cuMemMap(p, CHUNK, 0, handle, 0));
	NEED(d.cuMemUnmap(p, CHUNK));
	NEED(d.cuMemRelease(handle));
	NEED(d.cuMemAddressFree(p, CHUNK));
}

static int sum(CUmodule module, CUlibrary loaded, int *calls)
{
	CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			      .srcPitch = 64, .dstPitch = 64, .WidthInBytes = 64, .Height = BYTES / 64};
	int x[N], total = 0;
	CUdeviceptr a, b;
	CUstream stream;
	CUevent event;

	for (int i = 0; i < N; i++)
		x[i] = i;
	NEED(d.cuStreamCreate(&stream, 0));
	NEED(d.cuEventCreate(&event, 0));
	NEED(d.cuMemAlloc(&a, BYTES));
	NEED(d.cuMemAlloc(&b, BYTES));
	NEED(d.cuMemcpyHtoD(a, x, BYTES));
	NEED(d.cuMemsetD32(b, 7, N));
	launch_all(module, loaded, stream, a);
	NEED(d.cuEventRecord(event, stream));
	NEED(d.cuLaunchHostFunc(stream, count, calls));
	NEED(d.cuCtxSynchronize());
	NEED(d.cuMemcpyDtoDAsync(b, a, BYTES / 2, stream));
	rows.srcDevice = a;
	rows.dstDevice = b;
	NEED(d.cuMemcpy2DAsync(&rows, stream));
	NEED(d.cuStreamSynchronize(stream));
	NEED(d.cuMemcpyDtoH(x, b, BYTES));
	use_memory(stream);
	NEED(d.cuMemFree(a));
	NEED(d.cuMemFree(b));
	NEED(d.cuEventDestroy(event));
	NEED(d.cuStreamDestroy(stream));
	for (int i = 0; i < N; i++)
		total += x[i];
	return total;
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 1, total = 0, calls = 0;
	CUcontext context;
	CUmodule module;
	CUlibrary loaded;

	find(argc > 1 ? argv[1] : "linked");
	NEED(d.cuInit(0));
	NEED(d.cuDevicePrimaryCtxRetain(&context, 0));
	NEED(d.cuCtxSetCurrent(context));
	NEED(d.cuModuleLoadData(&module, &image));
	NEED(d.cuLibraryLoadData(&loaded, &image, NULL, NULL, 0, NULL, NULL, 0));
	for (int i = 0; i < rounds; i++)
		total += sum(module, loaded, &calls);
	printf("%d %d\n", total, calls);
	return 0;
}
