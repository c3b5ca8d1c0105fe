/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime double, libcudart.so.12 and .so.13: access to the driver, contexts, errors, and the functions that nvcc's
 * stubs call. */
#include "cudart.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct simrt_driver simrt_driver;

enum { NOT_TRIED, TRYING, TRIED };

static struct {
	unsigned state, lock;
	cudaError_t result;
	const struct sim_interface *interface;	/* NULL: not the driver double */
	CUcontext primary[SIM_MAX_DEVICES];
	struct binary *binaries;
} rt;

static __thread cudaError_t last_error;
static __thread int current_device;

/* Held briefly and rarely contended; not a lock of libpthread, which a tracer would record. */
static void lock(void)
{
	while (__atomic_exchange_n(&rt.lock, 1, __ATOMIC_ACQUIRE))
		syscall(SYS_sched_yield);
}

static void unlock(void)
{
	__atomic_store_n(&rt.lock, 0, __ATOMIC_RELEASE);
}

/* ---- the driver ---- */

#define FETCH(base, suffix, version) \
	find(#base, (void **)&simrt_driver.base##suffix, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, NULL);
#define FETCH_BOTH(base, suffix, version, twin, twin_version) \
	FETCH(base, suffix, version) \
	find(#base, (void **)&simrt_driver.base##suffix##twin, twin_version, \
	     CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL);

static cudaError_t driver_find(void)
{
	static const CUuuid id = SIM_EXPORT_ID;
	__typeof__(cuGetProcAddress_v2) *find;
	const void *table = NULL;
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library)
		return cudaErrorInsufficientDriver;
	*(void **)&find = dlsym(library, "cuGetProcAddress_v2");
	if (!find)
		return cudaErrorInitializationError;
	CUDART_DRIVER(FETCH, FETCH_BOTH)
	if (!DRV(cuInit) || !DRV(cuDriverGetVersion))
		return cudaErrorInitializationError;
	if (DRV(cuGetExportTable) && DRV(cuGetExportTable)(&table, &id) == CUDA_SUCCESS)
		rt.interface = table;
	return cudaSuccess;
}

static cudaError_t driver_start(void)
{
	int version = 0;
	CUresult result = DRV(cuDriverGetVersion)(&version);

	if (result == CUDA_SUCCESS && version < CUDART_MAJOR * 1000)
		return cudaErrorInsufficientDriver;
	return RT_ERROR(DRV(cuInit)(0));
}

static void start(void)
{
	/* Driver calls made here are nested in an internal call, so that they are not attributed to the program. */
	rt.result = driver_find();
	if (rt.interface)
		rt.interface->nest(true);
	if (rt.result == cudaSuccess)
		rt.result = driver_start();
	if (rt.interface)
		rt.interface->nest(false);
}

static void ready(void)
{
	unsigned seen = NOT_TRIED;

	if (__atomic_load_n(&rt.state, __ATOMIC_ACQUIRE) == TRIED)
		return;
	if (__atomic_compare_exchange_n(&rt.state, &seen, TRYING, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
		start();
		__atomic_store_n(&rt.state, TRIED, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&rt.state, __ATOMIC_ACQUIRE) != TRIED)
		syscall(SYS_sched_yield);
}

CUcontext simrt_primary(int device)
{
	CUcontext made = NULL;

	if (device < 0 || device >= SIM_MAX_DEVICES)
		return NULL;
	if (!rt.primary[device] && DRV(cuDevicePrimaryCtxRetain)(&made, device) == CUDA_SUCCESS) {
		lock();
		rt.primary[device] = made;
		unlock();
	}
	return rt.primary[device];
}

static cudaError_t context_ready(void)
{
	CUcontext context = NULL;
	CUresult result = DRV(cuCtxGetCurrent)(&context);

	if (result != CUDA_SUCCESS || context)
		return RT_ERROR(result);
	context = simrt_primary(current_device);
	return context ? RT_ERROR(DRV(cuCtxSetCurrent)(context)) : cudaErrorInitializationError;
}

cudaError_t simrt_enter(struct sim_api *api, unsigned cbid, const char *name, const void *params,
			const cudaError_t *result, bool needs_context)
{
	ready();
	if (rt.interface) {
		CUresult entered = rt.interface->api_enter(api, SIM_RUNTIME, cbid, name, params, (const int *)result);

		if (entered != CUDA_SUCCESS)
			return RT_ERROR(entered);
	}
	if (rt.result != cudaSuccess)
		return rt.result;
	return needs_context ? context_ready() : cudaSuccess;
}

cudaError_t simrt_leave(struct sim_api *api, cudaError_t result)
{
	if (result != cudaSuccess)
		last_error = result;
	if (rt.interface)
		rt.interface->api_leave(api, result);
	return result;
}

/* ---- errors ---- */

/* Reported to tools as the real ones are, but their result does not set the last error. */
static cudaError_t last(unsigned cbid, const char *name, bool is_forgotten)
{
	cudaError_t result = last_error;
	struct sim_api api;

	ready();
	if (rt.interface)
		rt.interface->api_enter(&api, SIM_RUNTIME, cbid, name, NULL, (const int *)&result);
	if (is_forgotten)
		last_error = cudaSuccess;
	if (rt.interface)
		rt.interface->api_leave(&api, result);
	return result;
}

cudaError_t CUDARTAPI cudaGetLastError(void)
{
	return last(CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020, "cudaGetLastError", true);
}

cudaError_t CUDARTAPI cudaPeekAtLastError(void)
{
	return last(CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020, "cudaPeekAtLastError", false);
}

#define ERRORS(X) \
	X(cudaSuccess, "no error") \
	X(cudaErrorInvalidValue, "invalid argument") \
	X(cudaErrorMemoryAllocation, "out of memory") \
	X(cudaErrorInitializationError, "initialization error") \
	X(cudaErrorCudartUnloading, "driver shutting down") \
	X(cudaErrorInvalidConfiguration, "invalid configuration argument") \
	X(cudaErrorInvalidSymbol, "invalid device symbol") \
	X(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy") \
	X(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version") \
	X(cudaErrorMissingConfiguration, "__global__ function call is not configured") \
	X(cudaErrorInvalidDeviceFunction, "invalid device function") \
	X(cudaErrorNoDevice, "no CUDA-capable device is detected") \
	X(cudaErrorInvalidDevice, "invalid device ordinal") \
	X(cudaErrorDeviceUninitialized, "invalid device context") \
	X(cudaErrorInvalidResourceHandle, "invalid resource handle") \
	X(cudaErrorIllegalState, "the operation cannot be performed in the present state") \
	X(cudaErrorSymbolNotFound, "named symbol not found") \
	X(cudaErrorNotReady, "device not ready") \
	X(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped") \
	X(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region") \
	X(cudaErrorNotSupported, "operation not supported") \
	X(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing") \
	X(cudaErrorUnknown, "unknown error")

const char *CUDARTAPI cudaGetErrorName(cudaError_t error)
{
	switch (error) {
#define ERROR_NAME(code, text) case code: return #code;
	ERRORS(ERROR_NAME)
	default:
		return "unrecognized error code";
	}
}

const char *CUDARTAPI cudaGetErrorString(cudaError_t error)
{
	switch (error) {
#define ERROR_TEXT(code, text) case code: return text;
	ERRORS(ERROR_TEXT)
	default:
		return "unrecognized error code";
	}
}

/* ---- devices that calls go to ---- */

RT_EARLY(cudaSetDevice, v3020, (device), int device)
{
	CUcontext context;
	int count = 0;

	DRV(cuDeviceGetCount)(&count);
	if (device < 0 || device >= count)
		return cudaErrorInvalidDevice;
	context = simrt_primary(device);
	if (!context)
		return cudaErrorInitializationError;
	current_device = device;
	return RT_ERROR(DRV(cuCtxSetCurrent)(context));
}

RT_EARLY(cudaGetDevice, v3020, (device), int *device)
{
	if (!device)
		return cudaErrorInvalidValue;
	*device = current_device;
	return cudaSuccess;
}

RT_VOID_EARLY(cudaDeviceReset, v3020)
{
	CUresult result = DRV(cuDevicePrimaryCtxReset_v2)(current_device);

	rt.primary[current_device] = NULL;
	DRV(cuCtxSetCurrent)(NULL);
	return RT_ERROR(result);
}

/* ---- functions that nvcc's generated code calls: registration at load time, launches later ----
 * No C header declares them; the prototypes are those of crt/host_runtime.h. */

struct kernel {
	struct kernel *next;
	const void *host;
	CUkernel handle;
	char name[];
};

struct variable {
	struct variable *next;
	const void *host;
	size_t bytes;
	CUdeviceptr device;
	char name[];
};

struct binary {
	struct binary *next;
	const void *image;
	CUlibrary library;
	struct kernel *kernels;
	struct variable *variables;
};

void **CUDARTAPI __cudaRegisterFatBinary(void *fatCubin);
void CUDARTAPI __cudaRegisterFatBinaryEnd(void **handle);
void CUDARTAPI __cudaUnregisterFatBinary(void **handle);
char CUDARTAPI __cudaInitModule(void **handle);
void CUDARTAPI __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
				      int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp);
void CUDARTAPI __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size,
				 int constant, int global);
void CUDARTAPI __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
					size_t size, int constant, int global);
unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream);
cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernel, const void *host);
cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
					 cudaStream_t stream);
cudaError_t CUDARTAPI __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
					      size_t shared, cudaStream_t stream);

/* Does not search for a driver, like the real one: this runs before main, and there may be no driver. */
void **CUDARTAPI __cudaRegisterFatBinary(void *fatCubin)
{
	struct binary *binary = calloc(1, sizeof(*binary));

	if (!binary)
		return NULL;
	binary->image = fatCubin;
	lock();
	binary->next = rt.binaries;
	rt.binaries = binary;
	unlock();
	return (void **)binary;
}

void CUDARTAPI __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

char CUDARTAPI __cudaInitModule(void **handle)
{
	(void)handle;
	return 0;
}

void CUDARTAPI __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
				      int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp)
{
	struct binary *binary = (struct binary *)handle;
	struct kernel *kernel = calloc(1, sizeof(*kernel) + strlen(name) + 1);

	RT_UNUSED(device, &thread_limit, tid, bid, block, grid, warp);
	if (!binary || !kernel)
		return;
	kernel->host = host;
	strcpy(kernel->name, name);
	lock();
	kernel->next = binary->kernels;
	binary->kernels = kernel;
	unlock();
}

void CUDARTAPI __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size,
				 int constant, int global)
{
	struct binary *binary = (struct binary *)handle;
	struct variable *variable = calloc(1, sizeof(*variable) + strlen(name) + 1);

	RT_UNUSED(device, &ext, &constant, &global);
	if (!binary || !variable)
		return;
	variable->host = host;
	variable->bytes = size;
	strcpy(variable->name, name);
	lock();
	variable->next = binary->variables;
	binary->variables = variable;
	unlock();
}

/* Managed variables of a program stay null: no kernel runs that could use them. */
void CUDARTAPI __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
					size_t size, int constant, int global)
{
	__cudaRegisterVar(handle, (char *)host, device, name, ext, size, constant, global);
}

void CUDARTAPI __cudaUnregisterFatBinary(void **handle)
{
	struct binary *gone = (struct binary *)handle, **at;

	lock();
	for (at = &rt.binaries; *at && *at != gone; at = &(*at)->next)
		;
	if (*at)
		*at = gone->next;
	unlock();
	/* Not freed: a thread that outlives main may use handles in it. */
}

static bool library_ready(struct binary *binary)
{
	if (binary->library)
		return true;
	return DRV(cuLibraryLoadData)(&binary->library, binary->image, NULL, NULL, 0, NULL, NULL, 0) == CUDA_SUCCESS;
}

static struct kernel *kernel_find(const void *host, struct binary **ret_binary)
{
	struct kernel *kernel = NULL;
	struct binary *binary;

	lock();
	for (binary = rt.binaries; binary && !kernel; binary = binary->next) {
		for (kernel = binary->kernels; kernel && kernel->host != host; kernel = kernel->next)
			;
		*ret_binary = binary;
	}
	unlock();
	return kernel;
}

static CUkernel kernel_handle(const void *host)
{
	struct binary *binary = NULL;
	struct kernel *kernel = kernel_find(host, &binary);

	if (kernel && !kernel->handle && library_ready(binary))
		DRV(cuLibraryGetKernel)(&kernel->handle, binary->library, kernel->name);
	return kernel ? kernel->handle : NULL;
}

CUfunction simrt_function(const void *host)
{
	CUkernel kernel = kernel_handle(host);
	CUfunction function = NULL;

	if (!kernel)
		return NULL;
	return DRV(cuKernelGetFunction)(&function, kernel) == CUDA_SUCCESS ? function : NULL;
}

CUdeviceptr simrt_variable(const void *host, size_t *ret_bytes)
{
	struct variable *variable = NULL;
	struct binary *binary, *holder = NULL;

	lock();
	for (binary = rt.binaries; binary && !variable; binary = binary->next) {
		for (variable = binary->variables; variable && variable->host != host; variable = variable->next)
			;
		holder = binary;
	}
	unlock();
	if (!variable || !library_ready(holder))
		return 0;
	if (!variable->device)
		DRV(cuLibraryGetGlobal)(&variable->device, NULL, holder->library, variable->name);
	if (ret_bytes)
		*ret_bytes = variable->bytes;
	return variable->device;
}

struct configuration { dim3 grid, block; size_t shared; cudaStream_t stream; };
static __thread struct configuration configurations[8];
static __thread unsigned configuration_count;

unsigned CUDARTAPI __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream)
{
	if (configuration_count == sizeof(configurations) / sizeof(configurations[0]))
		return 1;
	configurations[configuration_count++] = (struct configuration){ grid, block, shared, stream };
	return 0;
}

cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	const struct configuration *top;

	if (!configuration_count)
		return cudaErrorMissingConfiguration;
	top = &configurations[--configuration_count];
	*grid = top->grid;
	*block = top->block;
	*shared = top->shared;
	*(cudaStream_t *)stream = top->stream;
	return cudaSuccess;
}

/* Not reported to tools: the real one has no CUPTI id. */
cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
	ready();
	if (rt.result == cudaSuccess) {
		if (rt.interface)
			rt.interface->nest(true);
		*kernel = (cudaKernel_t)kernel_handle(host);
		if (rt.interface)
			rt.interface->nest(false);
		if (*kernel)
			return cudaSuccess;
	}
	last_error = rt.result != cudaSuccess ? rt.result : cudaErrorInvalidDeviceFunction;
	return last_error;
}

static cudaError_t launch(bool is_per_thread, CUkernel kernel, dim3 grid, dim3 block, void **args, size_t shared,
			  cudaStream_t stream)
{
	CUfunction function = NULL;
	CUresult result;

	if (!kernel)
		return cudaErrorInvalidDeviceFunction;
	result = DRV(cuKernelGetFunction)(&function, kernel);
	if (result == CUDA_SUCCESS)
		result = DRV_OF(cuLaunchKernel, _ptsz)(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
						       (unsigned)shared, stream, args, NULL);
	return result == CUDA_ERROR_INVALID_VALUE ? cudaErrorInvalidConfiguration : RT_ERROR(result);
}

static cudaError_t stub_launch(bool is_per_thread, unsigned cbid, const char *name, cudaKernel_t kernel, dim3 grid,
			       dim3 block, void **args, size_t shared, cudaStream_t stream)
{
	cudaLaunchKernel_v7000_params params = { kernel, grid, block, args, shared, stream };
	cudaError_t result = cudaSuccess;
	struct sim_api api;

	result = simrt_enter(&api, cbid, name, &params, &result, true);
	if (result == cudaSuccess)
		result = launch(is_per_thread, (CUkernel)kernel, grid, block, args, shared, stream);
	return simrt_leave(&api, result);
}

cudaError_t CUDARTAPI __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
					 cudaStream_t stream)
{
	return stub_launch(false, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000, __func__, kernel, grid, block,
			   args, shared, stream);
}

cudaError_t CUDARTAPI __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
					      size_t shared, cudaStream_t stream)
{
	return stub_launch(true, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000, __func__, kernel, grid,
			   block, args, shared, stream);
}

RT_STREAM(cudaLaunchKernel, v7000, _ptsz, v7000, (func, gridDim, blockDim, args, sharedMem, stream),
	    const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem, cudaStream_t stream)
{
	return launch(is_per_thread, kernel_handle(func), gridDim, blockDim, args, sharedMem, stream);
}
