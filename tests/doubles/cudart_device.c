/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime double: devices, functions, occupancy, versions, driver entry points. */
#include "cudart.h"

#include <string.h>

RT_EARLY(cudaGetDeviceCount, v3020, (count), int *count)
{
	return RT_ERROR(DRV(cuDeviceGetCount)(count));
}

RT_EARLY(cudaDeviceGetAttribute, v5000, (value, attr, device), int *value, enum cudaDeviceAttr attr, int device)
{
	return RT_ERROR(DRV(cuDeviceGetAttribute)(value, (CUdevice_attribute)attr, device));
}

#if CUDART_MAJOR >= 13	/* the struct of CUDA 12 had other fields */
static int attribute(CUdevice_attribute name, int device)
{
	int value = 0;

	DRV(cuDeviceGetAttribute)(&value, name, device);
	return value;
}

RT_EARLY(cudaGetDeviceProperties, v12000, (prop, device), struct cudaDeviceProp *prop, int device)
{
	CUuuid uuid;
	CUresult result;

	if (!prop)
		return cudaErrorInvalidValue;
	memset(prop, 0, sizeof(*prop));
	result = DRV(cuDeviceGetName)(prop->name, sizeof(prop->name), device);
	if (result != CUDA_SUCCESS)
		return RT_ERROR(result);
	DRV(cuDeviceGetUuid_v2)(&uuid, device);
	memcpy(&prop->uuid, &uuid, sizeof(prop->uuid));
	DRV(cuDeviceTotalMem_v2)(&prop->totalGlobalMem, device);
	prop->sharedMemPerBlock = (size_t)attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, device);
	prop->sharedMemPerMultiprocessor = 233472;
	prop->regsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, device);
	prop->warpSize = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE, device);
	prop->maxThreadsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device);
	prop->maxThreadsDim[0] = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, device);
	prop->maxThreadsDim[1] = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, device);
	prop->maxThreadsDim[2] = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, device);
	prop->maxGridSize[0] = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, device);
	prop->maxGridSize[1] = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, device);
	prop->maxGridSize[2] = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, device);
	prop->major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
	prop->minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
	prop->multiProcessorCount = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
	prop->maxThreadsPerMultiProcessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, device);
	prop->l2CacheSize = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device);
	prop->memoryBusWidth = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, device);
	prop->pciBusID = attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, device);
	prop->canMapHostMemory = prop->concurrentKernels = prop->unifiedAddressing = 1;
	prop->streamPrioritiesSupported = prop->managedMemory = prop->cooperativeLaunch = 1;
	prop->asyncEngineCount = 2;
	return cudaSuccess;
}
#endif

RT_EARLY(cudaDeviceGetPCIBusId, v4010, (pciBusId, len, device), char *pciBusId, int len, int device)
{
	return RT_ERROR(DRV(cuDeviceGetPCIBusId)(pciBusId, len, device));
}

RT_EARLY(cudaDeviceCanAccessPeer, v4000, (canAccessPeer, device, peerDevice), int *canAccessPeer, int device,
	    int peerDevice)
{
	return RT_ERROR(DRV(cuDeviceCanAccessPeer)(canAccessPeer, device, peerDevice));
}

RT(cudaDeviceEnablePeerAccess, v4000, (peerDevice, flags), int peerDevice, unsigned int flags)
{
	return RT_ERROR(DRV(cuCtxEnablePeerAccess)(simrt_primary(peerDevice), flags));
}

RT(cudaDeviceDisablePeerAccess, v4000, (peerDevice), int peerDevice)
{
	return RT_ERROR(DRV(cuCtxDisablePeerAccess)(simrt_primary(peerDevice)));
}

RT_EARLY(cudaSetDeviceFlags, v3020, (flags), unsigned int flags)
{
	(void)flags;
	return cudaSuccess;
}

RT_EARLY(cudaGetDeviceFlags, v7000, (flags), unsigned int *flags)
{
	*flags = 0;
	return cudaSuccess;
}

RT(cudaInitDevice, v12000, (device, deviceFlags, flags), int device, unsigned int deviceFlags, unsigned int flags)
{
	RT_UNUSED(&deviceFlags, &flags);
	return simrt_primary(device) ? cudaSuccess : cudaErrorInvalidDevice;
}

RT(cudaDeviceSetLimit, v3020, (limit, value), enum cudaLimit limit, size_t value)
{
	return RT_ERROR(DRV(cuCtxSetLimit)((CUlimit)limit, value));
}

RT(cudaDeviceGetLimit, v3020, (pValue, limit), size_t *pValue, enum cudaLimit limit)
{
	return RT_ERROR(DRV(cuCtxGetLimit)(pValue, (CUlimit)limit));
}

RT(cudaDeviceGetStreamPriorityRange, v5050, (leastPriority, greatestPriority), int *leastPriority,
	    int *greatestPriority)
{
	return RT_ERROR(DRV(cuCtxGetStreamPriorityRange)(leastPriority, greatestPriority));
}

RT(cudaDeviceSetCacheConfig, v3020, (cacheConfig), enum cudaFuncCache cacheConfig)
{
	(void)cacheConfig;
	return cudaSuccess;
}

RT_EARLY(cudaDriverGetVersion, v3020, (driverVersion), int *driverVersion)
{
	return RT_ERROR(DRV(cuDriverGetVersion)(driverVersion));
}

RT_EARLY(cudaRuntimeGetVersion, v3020, (runtimeVersion), int *runtimeVersion)
{
	*runtimeVersion = CUDART_MAJOR >= 13 ? 13000 : 12080;
	return cudaSuccess;
}

RT_VOID_EARLY(cudaProfilerStart, v4000)
{
	return RT_ERROR(DRV(cuProfilerStart)());
}

RT_VOID_EARLY(cudaProfilerStop, v4000)
{
	return RT_ERROR(DRV(cuProfilerStop)());
}

/* ---- functions ---- */

RT(cudaFuncGetAttributes, v3020, (attr, func), struct cudaFuncAttributes *attr, const void *func)
{
	if (!attr || !simrt_function(func))
		return cudaErrorInvalidDeviceFunction;
	memset(attr, 0, sizeof(*attr));
	attr->maxThreadsPerBlock = 1024;
	attr->numRegs = 32;
	attr->ptxVersion = attr->binaryVersion = 90;
	attr->maxDynamicSharedSizeBytes = 49152;
	return cudaSuccess;
}

RT(cudaFuncSetAttribute, v9000, (func, attr, value), const void *func, enum cudaFuncAttribute attr, int value)
{
	return RT_ERROR(DRV(cuFuncSetAttribute)(simrt_function(func), (CUfunction_attribute)attr, value));
}

RT(cudaFuncSetCacheConfig, v3020, (func, cacheConfig), const void *func, enum cudaFuncCache cacheConfig)
{
	return RT_ERROR(DRV(cuFuncSetCacheConfig)(simrt_function(func), (CUfunc_cache)cacheConfig));
}

RT(cudaFuncGetName, v12030, (name, func), const char **name, const void *func)
{
	CUfunction function = simrt_function(func);

	/* As documented, a pointer that is not a registered function is a handle. */
	return RT_ERROR(DRV(cuFuncGetName)(name, function ? function : (CUfunction)(uintptr_t)func));
}

RT(cudaGetFuncBySymbol, v11000, (functionPtr, symbolPtr), cudaFunction_t* functionPtr, const void* symbolPtr)
{
	if (!functionPtr)
		return cudaErrorInvalidValue;
	*functionPtr = (cudaFunction_t)simrt_function(symbolPtr);
	return *functionPtr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

RT(cudaGetKernel, v12000, (kernelPtr, entryFuncAddr), cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
	if (!kernelPtr)
		return cudaErrorInvalidValue;
	*kernelPtr = (cudaKernel_t)simrt_function(entryFuncAddr);	/* one object for both in this driver */
	return *kernelPtr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

RT(cudaOccupancyMaxActiveBlocksPerMultiprocessor, v6050, (numBlocks, func, blockSize, dynamicSMemSize),
	    int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize)
{
	return RT_ERROR(DRV(cuOccupancyMaxActiveBlocksPerMultiprocessor)(numBlocks, simrt_function(func), blockSize,
									dynamicSMemSize));
}

RT(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, v7000,
	    (numBlocks, func, blockSize, dynamicSMemSize, flags), int *numBlocks, const void *func, int blockSize,
	    size_t dynamicSMemSize, unsigned int flags)
{
	return RT_ERROR(DRV(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(
		numBlocks, simrt_function(func), blockSize, dynamicSMemSize, flags));
}

RT(cudaOccupancyAvailableDynamicSMemPerBlock, v10200, (dynamicSmemSize, func, numBlocks, blockSize),
	    size_t *dynamicSmemSize, const void *func, int numBlocks, int blockSize)
{
	return RT_ERROR(DRV(cuOccupancyAvailableDynamicSMemPerBlock)(dynamicSmemSize, simrt_function(func), numBlocks,
								    blockSize));
}

/* ---- look-up of driver functions ---- */

static cudaError_t entry_point(bool is_per_thread, const char *symbol, void **function, int version,
			       unsigned long long flags, enum cudaDriverEntryPointQueryResult *ret_status)
{
	CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	CUresult result;

	if (flags == cudaEnableDefault)
		flags = is_per_thread ? cudaEnablePerThreadDefaultStream : cudaEnableLegacyStream;
	result = DRV(cuGetProcAddress_v2)(symbol, function, version, flags, &status);
	if (ret_status)
		*ret_status = (enum cudaDriverEntryPointQueryResult)status;
	return RT_ERROR(result);
}

RT_STREAM(cudaGetDriverEntryPoint, v11030, _ptsz, v11030, (symbol, funcPtr, flags, driverStatus),
	    const char *symbol, void **funcPtr, unsigned long long flags,
	    enum cudaDriverEntryPointQueryResult *driverStatus)
{
	return entry_point(is_per_thread, symbol, funcPtr, CUDART_MAJOR >= 13 ? 13000 : 12080, flags, driverStatus);
}

RT_STREAM(cudaGetDriverEntryPointByVersion, v12050, _ptsz, v12050,
	    (symbol, funcPtr, cudaVersion, flags, driverStatus), const char *symbol, void **funcPtr,
	    unsigned int cudaVersion, unsigned long long flags, enum cudaDriverEntryPointQueryResult *driverStatus)
{
	return entry_point(is_per_thread, symbol, funcPtr, (int)cudaVersion, flags, driverStatus);
}
