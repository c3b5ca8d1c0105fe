/* SPDX-License-Identifier: Apache-2.0 */
/* driver LOOKUP N: a program that uses only the driver API. LOOKUP is how it finds libcuda's functions, N how often
 * each operation is repeated:
 *   linked  by the linker (built with -DLINKED and -lcuda)
 *   dlsym   dlopen and dlsym
 *   proc    cuGetProcAddress_v2, as static runtimes, Triton and XLA do
 * The kernel is PTX, which the driver compiles. -DSIMULATED: for the simulated GPU, which cannot compile PTX. */
#include <dlfcn.h>
#include <string.h>

#include "../../targets/driver_functions.h"
#include "account.h"
#ifdef SIMULATED
#include "simgpu_kernel.h"
#endif

#define FUNCTIONS(X)                                                                                                   \
	DRIVER_BASICS(X)                                                                                               \
	X(cuDeviceGet, , 2000)                                                                                         \
	X(cuMemcpyHtoDAsync, _v2, 3020)                                                                                \
	X(cuMemcpyDtoHAsync, _v2, 3020)

static struct {
	FUNCTIONS(DRIVER_FIELD)
} d;

#ifdef LINKED
static void find(const char *lookup)
{
	NEED(strcmp(lookup, "linked"));
	FUNCTIONS(DRIVER_LINK)
}
#else
static void *library;
static int (*get_address)(const char *, void **, int, cuuint64_t, void *);

static void *look_up(const char *lookup, const char *symbol, const char *name, int version)
{
	void *found = NULL;

	if (strcmp(lookup, "proc"))
		return dlsym(library, symbol);
	NEED(get_address(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
	return found;
}

#define LOOK(base, suffix, version)                                                                                    \
	d.base = (__typeof__(&base))look_up(lookup, #base #suffix, #base, version);                                    \
	NEED(!d.base);
static void find(const char *lookup)
{
	library = dlopen("libcuda.so.1", RTLD_NOW);
	NEED(!library);
	get_address = (int (*)(const char *, void **, int, cuuint64_t, void *))dlsym(library, "cuGetProcAddress_v2");
	NEED(!get_address);
	FUNCTIONS(LOOK)
}
#endif

#ifdef SIMULATED
static void add_one(const unsigned *grid, const unsigned *block, void **params)
{
	unsigned *x = *(unsigned **)params[0];

	for (unsigned i = 0; i < grid[0] * block[0]; i++)
		x[i]++;
}

static const struct simgpu_kernel kernels[] = {{"add_one", add_one, 1, {sizeof(unsigned *)}}};
static const struct simgpu_image image = {SIMGPU_IMAGE_MAGIC, 1, kernels};
#define IMAGE ((const void *)&image)
#else
static const char ptx[] =
	".version 7.5\n.target sm_75\n.address_size 64\n"
	".visible .entry add_one(.param .u64 p)\n{\n"
	"\t.reg .b32 %r<6>;\n\t.reg .b64 %rd<5>;\n"
	"\tld.param.u64 %rd1, [p];\n\tcvta.to.global.u64 %rd2, %rd1;\n"
	"\tmov.u32 %r1, %ctaid.x;\n\tmov.u32 %r2, %ntid.x;\n\tmov.u32 %r3, %tid.x;\n"
	"\tmad.lo.s32 %r4, %r1, %r2, %r3;\n\tmul.wide.u32 %rd3, %r4, 4;\n\tadd.s64 %rd4, %rd2, %rd3;\n"
	"\tld.global.u32 %r5, [%rd4];\n\tadd.u32 %r5, %r5, 1;\n\tst.global.u32 [%rd4], %r5;\n\tret;\n}\n";
#define IMAGE ((const void *)ptx)
#endif

enum { GRID = 16, BLOCK = 64, WORDS = GRID * BLOCK };

int main(int argc, char **argv)
{
	static unsigned words[WORDS];
	int n = argc > 2 ? atoi(argv[2]) : 1;
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUfunction function;
	CUstream stream;
	CUdeviceptr memory;
	void *args[] = {&memory};

	find(argc > 1 ? argv[1] : "");
	NEED(d.cuInit(0));
	NEED(d.cuDeviceGet(&device, 0));
	NEED(d.cuDevicePrimaryCtxRetain(&context, device));
	NEED(d.cuCtxSetCurrent(context));
	NEED(d.cuModuleLoadData(&module, IMAGE));
	NEED(d.cuModuleGetFunction(&function, module, "add_one"));
	NEED(d.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	NEED(d.cuMemAlloc(&memory, sizeof(words)));
	for (int i = 0; i < n; i++) {
		CUlaunchConfig config = {.gridDimX = GRID,
					 .gridDimY = 1,
					 .gridDimZ = 1,
					 .blockDimX = BLOCK,
					 .blockDimY = 1,
					 .blockDimZ = 1,
					 .hStream = stream};

		NEED(d.cuMemsetD8Async(memory, 0, sizeof(words), stream));
		NEED(d.cuMemcpyHtoDAsync(memory, words, sizeof(words), stream));
		NEED(d.cuLaunchKernel(function, GRID, 1, 1, BLOCK, 1, 1, 0, stream, args, NULL));
		NEED(d.cuLaunchKernelEx(&config, function, args, NULL));
		NEED(d.cuMemcpyDtoHAsync(words, memory, sizeof(words), stream));
		NEED(d.cuStreamSynchronize(stream));
	}
	NEED(d.cuMemFree(memory));
	for (int i = 0; i < WORDS; i++)
		NEED(words[i] != 2u * (unsigned)n);
	said("kernel:add_one", 2ull * (unsigned)n, 0);
	said("memcpy:HtoD", (unsigned)n, (unsigned)n * sizeof(words));
	said("memcpy:DtoH", (unsigned)n, (unsigned)n * sizeof(words));
	said("memset", (unsigned)n, (unsigned)n * sizeof(words));
	return 0;
}
