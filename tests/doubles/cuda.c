/* SPDX-License-Identifier: Apache-2.0 */
/* The driver double, libcuda.so.1: initialisation, devices, contexts, errors, and how its functions are found. */
#include "cuda_entry.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(void);

	if (!library)
		return;
	*(void **)&initialize = dlsym(library, "InitializeInjection");
	if (initialize)
		sim_log("injected", ",\"result\":%d", initialize());
}

/* Loads the library that CUDA_INJECTION64_PATH names, as the driver does after its initialisation. Other threads wait;
 * the initialising thread may enter again recursively. */
static void inject_once(void)
{
	static __thread bool is_inside;
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (is_inside || getenv("PILLION_SIMGPU_UNTOLD"))
		return;
	is_inside = true;
	pthread_once(&once, inject);
	is_inside = false;
}

ENTRY_EARLY(cuInit, 2000, (Flags), unsigned int Flags)
{
	CUresult result = Flags ? CUDA_ERROR_INVALID_VALUE : sim_init();

	if (result == CUDA_SUCCESS)
		inject_once();
	if (result == CUDA_SUCCESS)
		sim_set_up();
	return result;
}

ENTRY_EARLY(cuDriverGetVersion, 2020, (driverVersion), int *driverVersion)
{
	if (!driverVersion)
		return CUDA_ERROR_INVALID_VALUE;
	*driverVersion = SIM_API_CUDA_VERSION;
	return CUDA_SUCCESS;
}

/* ---- finding functions ---- */

extern const struct cuda_entry *const __start_cuda_entries[], *const __stop_cuda_entries[];

/* True if the symbol is the name, apart from a suffix _vN, _ptsz or _ptds. */
static bool is_named(const char *symbol, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(symbol, name, length) != 0)
		return false;
	symbol += length;
	if (symbol[0] == '_' && symbol[1] == 'v')
		symbol += 2 + strspn(symbol + 2, "0123456789");
	return !*symbol || strcmp(symbol, "_ptsz") == 0 || strcmp(symbol, "_ptds") == 0;
}

/* With PILLION_SIMGPU_ALIASES, look-ups return addresses other than the exported ones: a real driver may have two
 * addresses for a function. */
static void *alias_of(void *function)
{
	enum { BYTES = 16, COUNT = 1024 };
	static unsigned char *code;
	static unsigned used;
	unsigned char *at;

	if (!getenv("PILLION_SIMGPU_ALIASES"))
		return function;
	if (!code)
		code =
		    mmap(NULL, BYTES * COUNT, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (at = code; at < code + used * BYTES; at += BYTES)
		if (!memcmp(at + 8, &function, sizeof(function)))
			return at;
	if (code == MAP_FAILED || used == COUNT)
		return function;
#if defined(__x86_64__)
	memcpy(at, "\xff\x25\x02\0\0\0\x90\x90", 8); /* jmp *2(%rip) */
#elif defined(__aarch64__)
	memcpy(at, "\x50\0\0\x58\0\x02\x1f\xd6", 8); /* ldr x16, 8; br x16 */
#endif
	memcpy(at + 8, &function, sizeof(function));
	__builtin___clear_cache((char *)at, (char *)at + BYTES);
	used++;
	return at;
}

/* Finds the newest entry that the requested version has; if per-thread default streams are requested, the per-thread
 * variant takes precedence. */
static CUdriverProcAddressQueryResult find(const char *name, int version, cuuint64_t flags, void **ret_function)
{
	bool wants_twin = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	const struct cuda_entry *best = NULL;
	bool is_known = false;

	for (const struct cuda_entry *const *at = __start_cuda_entries; at < __stop_cuda_entries; at++) {
		const struct cuda_entry *entry = *at;

		if (!is_named(entry->symbol, name) || (entry->is_per_thread && !wants_twin))
			continue;
		is_known = true;
		if (entry->version > version)
			continue;
		if (!best || entry->is_per_thread > best->is_per_thread ||
		    (entry->is_per_thread == best->is_per_thread && entry->version > best->version))
			best = entry;
	}
	*ret_function = NULL;
	if (best) {
		memcpy(ret_function, &best->function, sizeof(*ret_function));
		*ret_function = alias_of(*ret_function);
	}
	if (best)
		return CU_GET_PROC_ADDRESS_SUCCESS;
	return is_known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
}

/* Logged only on request: there are hundreds. */
static void log_lookup(const char *name, int version, cuuint64_t flags, const void *found)
{
	static int is_wanted = -1;

	if (is_wanted < 0)
		is_wanted = getenv("PILLION_SIMGPU_LOOKUPS") != NULL;
	if (is_wanted)
		sim_log("lookup", ",\"name\":\"%s\",\"version\":%d,\"flags\":%d,\"found\":%d", name, version,
			(int)flags, found != NULL);
}

ENTRY_QUIET(cuGetProcAddress_v2, 12000, (symbol, pfn, cudaVersion, flags, symbolStatus), const char *symbol,
	    void **pfn, int cudaVersion, cuuint64_t flags, CUdriverProcAddressQueryResult *symbolStatus)
{
	CUdriverProcAddressQueryResult status;

	if (!symbol || !pfn)
		return CUDA_ERROR_INVALID_VALUE;
	status = find(symbol, cudaVersion, flags, pfn);
	log_lookup(symbol, cudaVersion, flags, *pfn);
	if (symbolStatus)
		*symbolStatus = status;
	return CUDA_SUCCESS;	/* cuda.h documents a null pointer for a missing function */
}

ENTRY_QUIET(cuGetProcAddress, 11030, (symbol, pfn, cudaVersion, flags), const char *symbol, void **pfn,
	    int cudaVersion, cuuint64_t flags)
{
	bool found;

	if (!symbol || !pfn)
		return CUDA_ERROR_INVALID_VALUE;
	found = find(symbol, cudaVersion, flags, pfn) == CU_GET_PROC_ADDRESS_SUCCESS;
	log_lookup(symbol, cudaVersion, flags, *pfn);
	return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* The only table, for the other doubles. NVIDIA's own tables are intentionally not imitated. */
ENTRY_QUIET(cuGetExportTable, 3000, (ppExportTable, pExportTableId), const void **ppExportTable,
	    const CUuuid *pExportTableId)
{
	static const CUuuid ours = SIM_EXPORT_ID;

	if (!ppExportTable || !pExportTableId)
		return CUDA_ERROR_INVALID_VALUE;
	*ppExportTable = NULL;
	if (memcmp(pExportTableId, &ours, sizeof(ours)) != 0)
		return CUDA_ERROR_NOT_FOUND;
	*ppExportTable = sim_interface();
	return CUDA_SUCCESS;
}

/* ---- errors ---- */

#define ERRORS(X) \
	X(CUDA_SUCCESS, "no error") \
	X(CUDA_ERROR_INVALID_VALUE, "invalid argument") \
	X(CUDA_ERROR_OUT_OF_MEMORY, "out of memory") \
	X(CUDA_ERROR_NOT_INITIALIZED, "initialization error") \
	X(CUDA_ERROR_DEINITIALIZED, "driver shutting down") \
	X(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected") \
	X(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal") \
	X(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid") \
	X(CUDA_ERROR_INVALID_CONTEXT, "invalid device context") \
	X(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle") \
	X(CUDA_ERROR_ILLEGAL_STATE, "the operation cannot be performed in the present state") \
	X(CUDA_ERROR_NOT_FOUND, "named symbol not found") \
	X(CUDA_ERROR_NOT_READY, "device not ready") \
	X(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "part or all of the requested memory range is already mapped") \
	X(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "pointer does not correspond to a registered memory region") \
	X(CUDA_ERROR_NOT_SUPPORTED, "operation not supported") \
	X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "operation not permitted when stream is capturing") \
	X(CUDA_ERROR_UNKNOWN, "unknown error")

ENTRY_EARLY(cuGetErrorName, 6000, (error, pStr), CUresult error, const char **pStr)
{
	if (!pStr)
		return CUDA_ERROR_INVALID_VALUE;
	*pStr = NULL;
	switch (error) {
#define ERROR_NAME(code, text) case code: *pStr = #code; return CUDA_SUCCESS;
	ERRORS(ERROR_NAME)
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

ENTRY_EARLY(cuGetErrorString, 6000, (error, pStr), CUresult error, const char **pStr)
{
	if (!pStr)
		return CUDA_ERROR_INVALID_VALUE;
	*pStr = NULL;
	switch (error) {
#define ERROR_TEXT(code, text) case code: *pStr = text; return CUDA_SUCCESS;
	ERRORS(ERROR_TEXT)
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

/* ---- devices ---- */

ENTRY(cuDeviceGet, 2000, (device, ordinal), CUdevice *device, int ordinal)
{
	if (!device || !sim_device(ordinal))
		return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetCount, 2000, (count), int *count)
{
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = sim_device_count();
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetName, 2000, (name, len, dev), char *name, int len, CUdevice dev)
{
	if (!name || !sim_device(dev))
		return name ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	snprintf(name, (size_t)len, "%s", sim_device(dev)->name);
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetUuid_v2, 11040, (uuid, dev), CUuuid *uuid, CUdevice dev)
{
	const char *first = getenv("PILLION_SIMGPU_FIRST");

	if (!uuid || !sim_device(dev))
		return uuid ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	memcpy(uuid->bytes, "simulated-gpu-00", sizeof(uuid->bytes));
	uuid->bytes[15] = (char)('0' + (dev + (first ? atoi(first) : 0)) % 10);
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceTotalMem_v2, 3020, (bytes, dev), size_t *bytes, CUdevice dev)
{
	if (!bytes || !sim_device(dev))
		return bytes ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	*bytes = sim_device(dev)->total_bytes;
	return CUDA_SUCCESS;
}

static int capability(void)
{
	const char *text = getenv("PILLION_SIMGPU_CAPABILITY");

	return text ? atoi(text) : 90;
}

#define ATTRIBUTES(X) \
	X(MAX_THREADS_PER_BLOCK, 1024) X(MAX_BLOCK_DIM_X, 1024) X(MAX_BLOCK_DIM_Y, 1024) X(MAX_BLOCK_DIM_Z, 64) \
	X(MAX_GRID_DIM_X, 2147483647) X(MAX_GRID_DIM_Y, 65535) X(MAX_GRID_DIM_Z, 65535) \
	X(MAX_SHARED_MEMORY_PER_BLOCK, 49152) X(TOTAL_CONSTANT_MEMORY, 65536) X(WARP_SIZE, 32) \
	X(MAX_PITCH, 2147483647) X(MAX_REGISTERS_PER_BLOCK, 65536) X(CLOCK_RATE, 1500000) X(TEXTURE_ALIGNMENT, 512) \
	X(MULTIPROCESSOR_COUNT, 80) X(CAN_MAP_HOST_MEMORY, 1) X(CONCURRENT_KERNELS, 1) X(PCI_BUS_ID, 1 + dev) \
	X(MEMORY_CLOCK_RATE, 1600000) X(GLOBAL_MEMORY_BUS_WIDTH, 4096) X(L2_CACHE_SIZE, 41943040) \
	X(MAX_THREADS_PER_MULTIPROCESSOR, 2048) X(ASYNC_ENGINE_COUNT, 2) X(UNIFIED_ADDRESSING, 1) \
	X(COMPUTE_CAPABILITY_MAJOR, capability() / 10) X(COMPUTE_CAPABILITY_MINOR, capability() % 10) \
	X(STREAM_PRIORITIES_SUPPORTED, 1) \
	X(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472) X(MAX_REGISTERS_PER_MULTIPROCESSOR, 65536) \
	X(MANAGED_MEMORY, 1) X(CONCURRENT_MANAGED_ACCESS, 1) X(COOPERATIVE_LAUNCH, 1) \
	X(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448) X(HOST_REGISTER_SUPPORTED, 1) \
	X(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1) X(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1) \
	X(MAX_BLOCKS_PER_MULTIPROCESSOR, 32) X(MEMORY_POOLS_SUPPORTED, 1) X(RESERVED_SHARED_MEMORY_PER_BLOCK, 1024)

ENTRY(cuDeviceGetAttribute, 2000, (pi, attrib, dev), int *pi, CUdevice_attribute attrib, CUdevice dev)
{
	if (!pi || !sim_device(dev))
		return pi ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	*pi = 0;
	switch (attrib) {
#define ATTRIBUTE(name, value) case CU_DEVICE_ATTRIBUTE_##name: *pi = value; break;
	ATTRIBUTES(ATTRIBUTE)
	default:
		break;
	}
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetPCIBusId, 4010, (pciBusId, len, dev), char *pciBusId, int len, CUdevice dev)
{
	if (!pciBusId || !sim_device(dev))
		return pciBusId ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	snprintf(pciBusId, (size_t)len, "0000:%02X:00.0", 1 + (unsigned)dev);
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetByPCIBusId, 4010, (dev, pciBusId), CUdevice *dev, const char *pciBusId)
{
	unsigned bus;

	if (!dev || !pciBusId || sscanf(pciBusId, "%*x:%x:", &bus) != 1 || !sim_device((int)bus - 1))
		return CUDA_ERROR_INVALID_DEVICE;
	*dev = (int)bus - 1;
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceCanAccessPeer, 4000, (canAccessPeer, dev, peerDev), int *canAccessPeer, CUdevice dev,
	    CUdevice peerDev)
{
	if (!canAccessPeer || !sim_device(dev) || !sim_device(peerDev))
		return CUDA_ERROR_INVALID_DEVICE;
	*canAccessPeer = dev != peerDev;
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetP2PAttribute, 8000, (value, attrib, srcDevice, dstDevice), int* value,
	    CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice)
{
	UNUSED(&attrib);
	if (!value || !sim_device(srcDevice) || !sim_device(dstDevice))
		return CUDA_ERROR_INVALID_DEVICE;
	*value = 1;
	return CUDA_SUCCESS;
}

/* ---- contexts ---- */

static struct sim_context *context_of(CUcontext handle)
{
	struct sim_context *context = (struct sim_context *)handle;

	return context && sim_context_is(context) ? context : NULL;
}

ENTRY(cuDevicePrimaryCtxRetain, 7000, (pctx, dev), CUcontext *pctx, CUdevice dev)
{
	struct sim_device *device = sim_device(dev);

	if (!pctx || !device)
		return pctx ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	if (device->primary)
		device->primary->users++;
	else
		device->primary = sim_context_new(dev, true, 0);
	*pctx = (CUcontext)device->primary;
	return device->primary ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

ENTRY(cuDevicePrimaryCtxRelease_v2, 11000, (dev), CUdevice dev)
{
	struct sim_device *device = sim_device(dev);

	if (!device || !device->primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (--device->primary->users == 0) {
		sim_context_free(device->primary);
		device->primary = NULL;
	}
	return CUDA_SUCCESS;
}

ENTRY(cuDevicePrimaryCtxReset_v2, 11000, (dev), CUdevice dev)
{
	struct sim_device *device = sim_device(dev);

	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	if (device->primary)
		sim_context_free(device->primary);
	device->primary = NULL;
	return CUDA_SUCCESS;
}

ENTRY(cuDevicePrimaryCtxGetState, 7000, (dev, flags, active), CUdevice dev, unsigned int *flags, int *active)
{
	struct sim_device *device = sim_device(dev);

	if (!device || !flags || !active)
		return CUDA_ERROR_INVALID_VALUE;
	*flags = device->primary ? device->primary->flags : 0;
	*active = device->primary != NULL;
	return CUDA_SUCCESS;
}

ENTRY(cuDevicePrimaryCtxSetFlags_v2, 11000, (dev, flags), CUdevice dev, unsigned int flags)
{
	if (!sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	if (sim_device(dev)->primary)
		sim_device(dev)->primary->flags = flags;
	return CUDA_SUCCESS;
}

static CUresult context_create(CUcontext *ret_context, unsigned flags, CUdevice dev)
{
	struct sim_context *context;

	if (!ret_context || !sim_device(dev))
		return ret_context ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
	context = sim_context_new(dev, false, flags);
	if (!context)
		return CUDA_ERROR_OUT_OF_MEMORY;
	sim_context_set(context);
	*ret_context = (CUcontext)context;
	return CUDA_SUCCESS;
}

ENTRY(cuCtxCreate_v2, 3020, (pctx, flags, dev), CUcontext *pctx, unsigned int flags, CUdevice dev)
{
	return context_create(pctx, flags, dev);
}

ENTRY(cuCtxCreate_v4, 12050, (pctx, ctxCreateParams, flags, dev), CUcontext *pctx,
	    CUctxCreateParams *ctxCreateParams, unsigned int flags, CUdevice dev)
{
	UNUSED(ctxCreateParams);
	return context_create(pctx, flags, dev);
}

ENTRY(cuCtxDestroy_v2, 4000, (ctx), CUcontext ctx)
{
	if (!context_of(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_context_free(context_of(ctx));
	return CUDA_SUCCESS;
}

/* A push saves only one context: enough for a push and a pop around a call. */
static __thread struct sim_context *pushed[16];
static __thread unsigned pushed_count;

ENTRY(cuCtxPushCurrent_v2, 4000, (ctx), CUcontext ctx)
{
	if (!context_of(ctx) || pushed_count == sizeof(pushed) / sizeof(pushed[0]))
		return CUDA_ERROR_INVALID_CONTEXT;
	pushed[pushed_count++] = sim_context_current();
	sim_context_set(context_of(ctx));
	return CUDA_SUCCESS;
}

ENTRY(cuCtxPopCurrent_v2, 4000, (pctx), CUcontext *pctx)
{
	if (!sim_context_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (pctx)
		*pctx = (CUcontext)sim_context_current();
	sim_context_set(pushed_count ? pushed[--pushed_count] : NULL);
	return CUDA_SUCCESS;
}

ENTRY(cuCtxSetCurrent, 4000, (ctx), CUcontext ctx)
{
	if (ctx && !context_of(ctx))
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_context_set(context_of(ctx));
	return CUDA_SUCCESS;
}

ENTRY(cuCtxGetCurrent, 4000, (pctx), CUcontext *pctx)
{
	if (!pctx)
		return CUDA_ERROR_INVALID_VALUE;
	*pctx = (CUcontext)sim_context_current();
	return CUDA_SUCCESS;
}

ENTRY(cuCtxGetDevice, 2000, (device), CUdevice *device)
{
	if (!device || !sim_context_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	*device = sim_context_current()->device;
	return CUDA_SUCCESS;
}

ENTRY(cuCtxGetId, 12000, (ctx, ctxId), CUcontext ctx, unsigned long long *ctxId)
{
	const struct sim_context *context = ctx ? context_of(ctx) : sim_context_current();

	if (!ctxId || !context)
		return CUDA_ERROR_INVALID_CONTEXT;
	*ctxId = context->id;
	return CUDA_SUCCESS;
}

ENTRY(cuCtxGetApiVersion, 3020, (ctx, version), CUcontext ctx, unsigned int *version)
{
	if (!version || (ctx && !context_of(ctx)))
		return CUDA_ERROR_INVALID_CONTEXT;
	*version = 3020;
	return CUDA_SUCCESS;
}

ENTRY(cuCtxGetFlags, 7000, (flags), unsigned int *flags)
{
	if (!flags || !sim_context_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	*flags = sim_context_current()->flags;
	return CUDA_SUCCESS;
}

ENTRY(cuCtxGetStreamPriorityRange, 5050, (leastPriority, greatestPriority), int *leastPriority,
	    int *greatestPriority)
{
	if (leastPriority)
		*leastPriority = 0;
	if (greatestPriority)
		*greatestPriority = -5;
	return CUDA_SUCCESS;
}

ENTRY(cuCtxSetLimit, 3010, (limit, value), CUlimit limit, size_t value)
{
	UNUSED(&limit, &value);
	return sim_context_current() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

ENTRY(cuCtxGetLimit, 3010, (pvalue, limit), size_t *pvalue, CUlimit limit)
{
	UNUSED(&limit);
	if (!pvalue)
		return CUDA_ERROR_INVALID_VALUE;
	*pvalue = 1024;
	return CUDA_SUCCESS;
}

ENTRY(cuCtxGetCacheConfig, 3020, (pconfig), CUfunc_cache *pconfig)
{
	if (!pconfig)
		return CUDA_ERROR_INVALID_VALUE;
	*pconfig = CU_FUNC_CACHE_PREFER_NONE;
	return CUDA_SUCCESS;
}

ENTRY(cuCtxSetCacheConfig, 3020, (config), CUfunc_cache config)
{
	UNUSED(&config);
	return CUDA_SUCCESS;
}

ENTRY(cuCtxEnablePeerAccess, 4000, (peerContext, Flags), CUcontext peerContext, unsigned int Flags)
{
	UNUSED(&Flags);
	return context_of(peerContext) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

ENTRY(cuCtxDisablePeerAccess, 4000, (peerContext), CUcontext peerContext)
{
	return context_of(peerContext) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

ENTRY_VOID(cuProfilerStart, 4000)
{
	sim_log("profiler", ",\"on\":1");
	return CUDA_SUCCESS;
}

ENTRY_VOID(cuProfilerStop, 4000)
{
	sim_log("profiler", ",\"on\":0");
	return CUDA_SUCCESS;
}
