/* SPDX-License-Identifier: Apache-2.0 */
/* The driver double: modules, kernels, launches, occupancy. */
#include "cuda_entry.h"
#include "simgpu_kernel.h"

#include <stdlib.h>
#include <string.h>

/* Space for a __device__ variable of unknown size: untouched pages use no memory. */
#define GLOBAL_BYTES (16u << 20)

/* ---- modules and libraries ---- */

static CUresult module_load(const void *image, struct sim_module **ret_module)
{
	struct sim_module *module;

	if (!ret_module)
		return CUDA_ERROR_INVALID_VALUE;
	module = calloc(1, sizeof(*module));
	if (!module)
		return CUDA_ERROR_OUT_OF_MEMORY;
	module->image = sim_image_find(image);
	*ret_module = module;
	return CUDA_SUCCESS;
}

/* Machine code is not parsed: a module gets each function when it is first requested. */
static CUresult module_function(struct sim_module *module, const char *name, struct sim_function **ret_function)
{
	struct sim_function *function;

	if (!module || !name || !ret_function)
		return CUDA_ERROR_INVALID_VALUE;
	sim_lock();
	for (function = module->functions; function && strcmp(function->name, name) != 0; function = function->next)
		;
	if (!function) {
		function = calloc(1, sizeof(*function) + strlen(name) + 1);
		if (function) {
			strcpy(function->name, name);
			function->module = module;
			function->next = module->functions;
			module->functions = function;
		}
	}
	sim_unlock();
	*ret_function = function;
	return function ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult module_global(struct sim_module *module, const char *name, CUdeviceptr *dptr, size_t *bytes)
{
	struct sim_global *global;

	if (!module || !name)
		return CUDA_ERROR_INVALID_VALUE;
	for (global = module->globals; global && strcmp(global->name, name) != 0; global = global->next)
		;
	if (!global) {
		uintptr_t address;
		CUresult result = sim_alloc(SIM_DEVICE, GLOBAL_BYTES, SIM_ALLOC_QUIET, NULL, NULL, &address);

		if (result != CUDA_SUCCESS)
			return result;
		global = calloc(1, sizeof(*global) + strlen(name) + 1);
		if (!global)
			return CUDA_ERROR_OUT_OF_MEMORY;
		strcpy(global->name, name);
		global->address = address;
		global->bytes = GLOBAL_BYTES;
		global->next = module->globals;
		module->globals = global;
	}
	if (dptr)
		*dptr = global->address;
	if (bytes)
		*bytes = global->bytes;
	return CUDA_SUCCESS;
}

ENTRY(cuModuleLoadData, 2000, (module, image), CUmodule *module, const void *image)
{
	return image ? module_load(image, (struct sim_module **)module) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuModuleLoadDataEx, 2010, (module, image, numOptions, options, optionValues), CUmodule *module,
	    const void *image, unsigned int numOptions, CUjit_option *options, void **optionValues)
{
	UNUSED(&numOptions, options, optionValues);
	return image ? module_load(image, (struct sim_module **)module) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuModuleLoadFatBinary, 2000, (module, fatCubin), CUmodule *module, const void *fatCubin)
{
	return fatCubin ? module_load(fatCubin, (struct sim_module **)module) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuModuleLoad, 2000, (module, fname), CUmodule *module, const char *fname)
{
	return fname ? module_load(NULL, (struct sim_module **)module) : CUDA_ERROR_INVALID_VALUE;
}

/* Modules are never freed: graphs, records and the program may still use their function handles and names. */
ENTRY(cuModuleUnload, 2000, (hmod), CUmodule hmod)
{
	return hmod ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

ENTRY(cuModuleGetLoadingMode, 11070, (mode), CUmoduleLoadingMode *mode)
{
	if (!mode)
		return CUDA_ERROR_INVALID_VALUE;
	*mode = CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

ENTRY(cuModuleGetFunction, 2000, (hfunc, hmod, name), CUfunction *hfunc, CUmodule hmod, const char *name)
{
	return module_function((struct sim_module *)hmod, name, (struct sim_function **)hfunc);
}

ENTRY(cuModuleGetGlobal_v2, 3020, (dptr, bytes, hmod, name), CUdeviceptr *dptr, size_t *bytes, CUmodule hmod,
	    const char *name)
{
	return module_global((struct sim_module *)hmod, name, dptr, bytes);
}

ENTRY(cuLibraryLoadData, 12000,
	    (library, code, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues,
	     numLibraryOptions),
	    CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues,
	    unsigned int numJitOptions, CUlibraryOption *libraryOptions, void** libraryOptionValues,
	    unsigned int numLibraryOptions)
{
	UNUSED(jitOptions, jitOptionsValues, &numJitOptions, libraryOptions, libraryOptionValues, &numLibraryOptions);
	return code ? module_load(code, (struct sim_module **)library) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuLibraryUnload, 12000, (library), CUlibrary library)
{
	return library ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

ENTRY(cuLibraryGetKernel, 12000, (pKernel, library, name), CUkernel *pKernel, CUlibrary library, const char *name)
{
	return module_function((struct sim_module *)library, name, (struct sim_function **)pKernel);
}

ENTRY(cuLibraryEnumerateKernels, 12040, (kernels, numKernels, lib), CUkernel *kernels, unsigned int numKernels,
	    CUlibrary lib)
{
	struct sim_module *module = (struct sim_module *)lib;
	const struct simgpu_image *image = module ? module->image : NULL;

	if (!kernels || !module)
		return CUDA_ERROR_INVALID_VALUE;
	for (unsigned i = 0; image && i < numKernels && i < image->count; i++) {
		CUresult result = module_function(module, image->kernels[i].name, (struct sim_function **)&kernels[i]);

		if (result != CUDA_SUCCESS)
			return result;
	}
	return CUDA_SUCCESS;
}

ENTRY(cuLibraryGetModule, 12000, (pMod, library), CUmodule *pMod, CUlibrary library)
{
	if (!pMod || !library)
		return CUDA_ERROR_INVALID_VALUE;
	*pMod = (CUmodule)library;
	return CUDA_SUCCESS;
}

ENTRY(cuLibraryGetGlobal, 12000, (dptr, bytes, library, name), CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
	    const char *name)
{
	return module_global((struct sim_module *)library, name, dptr, bytes);
}

ENTRY(cuLibraryGetManaged, 12000, (dptr, bytes, library, name), CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
	    const char *name)
{
	return module_global((struct sim_module *)library, name, dptr, bytes);
}

ENTRY(cuKernelGetFunction, 12000, (pFunc, kernel), CUfunction *pFunc, CUkernel kernel)
{
	if (!pFunc || !kernel)
		return CUDA_ERROR_INVALID_VALUE;
	*pFunc = (CUfunction)kernel;
	return CUDA_SUCCESS;
}

ENTRY(cuKernelGetName, 12030, (name, hfunc), const char **name, CUkernel hfunc)
{
	if (!name || !hfunc)
		return CUDA_ERROR_INVALID_VALUE;
	*name = ((struct sim_function *)hfunc)->name;
	return CUDA_SUCCESS;
}

ENTRY(cuFuncGetName, 12030, (name, hfunc), const char **name, CUfunction hfunc)
{
	if (!name || !hfunc)
		return CUDA_ERROR_INVALID_VALUE;
	*name = ((struct sim_function *)hfunc)->name;
	return CUDA_SUCCESS;
}

ENTRY(cuFuncGetModule, 11000, (hmod, hfunc), CUmodule *hmod, CUfunction hfunc)
{
	if (!hmod || !hfunc)
		return CUDA_ERROR_INVALID_VALUE;
	*hmod = (CUmodule)((struct sim_function *)hfunc)->module;
	return CUDA_SUCCESS;
}

static CUresult function_attribute(int *value, CUfunction_attribute attribute)
{
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value = 1024;
		break;
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*value = 32;
		break;
	case CU_FUNC_ATTRIBUTE_PTX_VERSION:
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*value = 90;
		break;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*value = 49152;
		break;
	default:
		*value = 0;
	}
	return CUDA_SUCCESS;
}

ENTRY(cuFuncGetAttribute, 2020, (pi, attrib, hfunc), int *pi, CUfunction_attribute attrib, CUfunction hfunc)
{
	return hfunc ? function_attribute(pi, attrib) : CUDA_ERROR_INVALID_HANDLE;
}

ENTRY(cuFuncSetAttribute, 9000, (hfunc, attrib, value), CUfunction hfunc, CUfunction_attribute attrib, int value)
{
	UNUSED(&attrib, &value);
	return hfunc ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

ENTRY(cuFuncSetCacheConfig, 3000, (hfunc, config), CUfunction hfunc, CUfunc_cache config)
{
	UNUSED(&config);
	return hfunc ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

ENTRY(cuKernelGetAttribute, 12000, (pi, attrib, kernel, dev), int *pi, CUfunction_attribute attrib, CUkernel kernel,
	    CUdevice dev)
{
	return kernel && sim_device(dev) ? function_attribute(pi, attrib) : CUDA_ERROR_INVALID_HANDLE;
}

ENTRY(cuKernelSetAttribute, 12000, (attrib, val, kernel, dev), CUfunction_attribute attrib, int val,
	    CUkernel kernel, CUdevice dev)
{
	UNUSED(&attrib, &val);
	return kernel && sim_device(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- launches ---- */

static CUresult launch(struct sim_stream *stream, struct sim_work *work, void **params, void **extra)
{
	uint64_t threads = (uint64_t)work->kernel.block[0] * work->kernel.block[1] * work->kernel.block[2];
	const unsigned *grid = work->kernel.grid;
	CUresult result;

	if (!work->kernel.function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!threads || threads > 1024 || !grid[0] || !grid[1] || !grid[2] || grid[1] > 65535 || grid[2] > 65535)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_kernel_prepare(work, params, extra);
	if (result != CUDA_SUCCESS)
		return result;
	result = sim_queue(stream, work);
	sim_work_done(work);
	return result;
}

ENTRY_STREAM(cuLaunchKernel, 4000, _ptsz, 7000,
	    (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream,
	     kernelParams, extra),
	    CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
	    unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
	    void **kernelParams, void **extra)
{
	struct sim_work work = { .kind = SIM_KERNEL, .kernel = {
		.function = (struct sim_function *)f,
		.grid = { gridDimX, gridDimY, gridDimZ },
		.block = { blockDimX, blockDimY, blockDimZ },
		.shared_bytes = sharedMemBytes,
	} };
	STREAM_OR_RETURN(stream, hStream);

	return launch(stream, &work, kernelParams, extra);
}

ENTRY_STREAM(cuLaunchCooperativeKernel, 9000, _ptsz, 9000,
	    (f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream, kernelParams),
	    CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
	    unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
	    void **kernelParams)
{
	struct sim_work work = { .kind = SIM_KERNEL, .kernel = {
		.function = (struct sim_function *)f,
		.grid = { gridDimX, gridDimY, gridDimZ },
		.block = { blockDimX, blockDimY, blockDimZ },
		.shared_bytes = sharedMemBytes,
		.is_cooperative = true,
	} };
	STREAM_OR_RETURN(stream, hStream);

	return launch(stream, &work, kernelParams, NULL);
}

ENTRY_STREAM(cuLaunchKernelEx, 11060, _ptsz, 11060, (config, f, kernelParams, extra), const CUlaunchConfig *config,
	    CUfunction f, void **kernelParams, void **extra)
{
	struct sim_work work = { .kind = SIM_KERNEL, .kernel = { .function = (struct sim_function *)f } };

	if (!config)
		return CUDA_ERROR_INVALID_VALUE;
	STREAM_OR_RETURN(stream, config->hStream);
	memcpy(work.kernel.grid, &config->gridDimX, sizeof(work.kernel.grid));
	memcpy(work.kernel.block, &config->blockDimX, sizeof(work.kernel.block));
	work.kernel.shared_bytes = config->sharedMemBytes;
	for (unsigned i = 0; i < config->numAttrs; i++) {
		const CUlaunchAttribute *attribute = &config->attrs[i];

		if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
			work.kernel.is_cooperative = attribute->value.cooperative != 0;
		if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
			work.kernel.cluster[0] = attribute->value.clusterDim.x;
			work.kernel.cluster[1] = attribute->value.clusterDim.y;
			work.kernel.cluster[2] = attribute->value.clusterDim.z;
		}
	}
	return launch(stream, &work, kernelParams, extra);
}

ENTRY_STREAM(cuLaunchHostFunc, 10000, _ptsz, 10000, (hStream, fn, userData), CUstream hStream, CUhostFn fn,
	    void *userData)
{
	struct sim_work work = { .kind = SIM_HOST, .host = { .call = fn, .data = userData } };
	STREAM_OR_RETURN(stream, hStream);

	return fn ? sim_queue(stream, &work) : CUDA_ERROR_INVALID_VALUE;
}

/* ---- occupancy: limited only by 2048 threads and 32 blocks per multiprocessor ---- */

static int blocks_per_multiprocessor(int block_size)
{
	int blocks = block_size > 0 ? 2048 / block_size : 0;

	return blocks > 32 ? 32 : blocks;
}

ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, (numBlocks, func, blockSize, dynamicSMemSize),
	    int *numBlocks, CUfunction func, int blockSize, size_t dynamicSMemSize)
{
	UNUSED(func, &dynamicSMemSize);
	if (!numBlocks)
		return CUDA_ERROR_INVALID_VALUE;
	*numBlocks = blocks_per_multiprocessor(blockSize);
	return CUDA_SUCCESS;
}

ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000,
	    (numBlocks, func, blockSize, dynamicSMemSize, flags), int *numBlocks, CUfunction func, int blockSize,
	    size_t dynamicSMemSize, unsigned int flags)
{
	UNUSED(func, &dynamicSMemSize, &flags);
	if (!numBlocks)
		return CUDA_ERROR_INVALID_VALUE;
	*numBlocks = blocks_per_multiprocessor(blockSize);
	return CUDA_SUCCESS;
}

ENTRY(cuOccupancyMaxPotentialBlockSize, 6050,
	    (minGridSize, blockSize, func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit),
	    int *minGridSize, int *blockSize, CUfunction func, CUoccupancyB2DSize blockSizeToDynamicSMemSize,
	    size_t dynamicSMemSize, int blockSizeLimit)
{
	UNUSED(func, &blockSizeToDynamicSMemSize, &dynamicSMemSize);
	if (!minGridSize || !blockSize)
		return CUDA_ERROR_INVALID_VALUE;
	*blockSize = blockSizeLimit > 0 && blockSizeLimit < 1024 ? blockSizeLimit : 1024;
	*minGridSize = 80 * blocks_per_multiprocessor(*blockSize);
	return CUDA_SUCCESS;
}

ENTRY(cuOccupancyAvailableDynamicSMemPerBlock, 10020, (dynamicSmemSize, func, numBlocks, blockSize),
	    size_t *dynamicSmemSize, CUfunction func, int numBlocks, int blockSize)
{
	UNUSED(func, &numBlocks, &blockSize);
	if (!dynamicSmemSize)
		return CUDA_ERROR_INVALID_VALUE;
	*dynamicSmemSize = 49152;
	return CUDA_SUCCESS;
}

ENTRY(cuOccupancyMaxPotentialClusterSize, 11070, (clusterSize, func, config), int *clusterSize, CUfunction func,
	    const CUlaunchConfig *config)
{
	UNUSED(func, config);
	if (!clusterSize)
		return CUDA_ERROR_INVALID_VALUE;
	*clusterSize = 8;
	return CUDA_SUCCESS;
}

ENTRY(cuOccupancyMaxActiveClusters, 11070, (numClusters, func, config), int *numClusters, CUfunction func,
	    const CUlaunchConfig *config)
{
	UNUSED(func, config);
	if (!numClusters)
		return CUDA_ERROR_INVALID_VALUE;
	*numClusters = 80;
	return CUDA_SUCCESS;
}
