/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA driver's rows of the hook table: libcuda.so.1.
 *
 * X(kind, returns, symbol, parameters, arguments, about, record, since)
 *   as in hook_cudart.h; OWN bodies are in wrap_cuda.c.
 * symbol: the ABI's name, under which the function is exported and linked to.
 * since: the CUDA version from which on cuGetProcAddress returns this function for the name without _vN and _ptsz. If a
 *   name has a row, all of its later ABIs must have one, or a program that requests a later one would get the wrong
 *   wrapper.
 * CU_PTDS, CU_PTSZ: a row and its variant for per-thread default streams, which CUDA 7 introduced. CU_NODE: a call
 *   that adds a node to a graph.
 *
 * Prototypes that differ between the headers of 12 and 13, or that 11.8 lacks, are WORDS. */
#pragma once

#define CU_PTDS(X, kind, symbol, parameters, arguments, about, record, since)                                          \
	X(kind, CUresult, symbol, parameters, arguments, about, record, since)                                         \
	X(kind, CUresult, symbol##_ptds, parameters, arguments, about, record, since < 7000 ? 7000 : since)
#define CU_PTSZ(X, kind, symbol, parameters, arguments, about, record, since)                                          \
	X(kind, CUresult, symbol, parameters, arguments, about, record, since)                                         \
	X(kind, CUresult, symbol##_ptsz, parameters, arguments, about, record, since < 7000 ? 7000 : since)

#define CU_NODE(X, symbol, since)                                                                                      \
	X(WORDS, CUresult, symbol, (void *node, void *graph, void *c, size_t d, void *e, void *f),                     \
		(node, graph, c, d, e, f), KERNEL, NODE(graph, node), since)

#define HOOK_CUDA(X)                                                                                                   \
	HOOK_CUDA_LAUNCH(X)                                                                                            \
	HOOK_CUDA_MEMORY(X)                                                                                            \
	HOOK_CUDA_COPY(X)                                                                                              \
	HOOK_CUDA_SET(X)                                                                                               \
	HOOK_CUDA_STREAM(X)                                                                                            \
	HOOK_CUDA_GRAPH(X)                                                                                             \
	HOOK_CUDA_OTHER(X)

#define HOOK_CUDA_LAUNCH(X)                                                                                            \
	CU_PTSZ(X, TIMED, cuLaunchKernel,                                                                              \
		(CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ, unsigned blockDimX,            \
		  unsigned blockDimY, unsigned blockDimZ, unsigned sharedMemBytes, CUstream hStream,                   \
		  void **kernelParams, void **extra),                                                                  \
		(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream,            \
		  kernelParams, extra), KERNEL,                                                                        \
		LAUNCH(f, dim(gridDimX, gridDimY, gridDimZ), dim(blockDimX, blockDimY, blockDimZ), sharedMemBytes,     \
		  hStream), 4000)                                                                                      \
	CU_PTSZ(X, TIMED, cuLaunchKernelEx,                                                                            \
		(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra),                       \
		(config, f, kernelParams, extra), KERNEL, CONFIGURED(config, f), 11060)                                \
	CU_PTSZ(X, TIMED, cuLaunchCooperativeKernel,                                                                   \
		(CUfunction f, unsigned gridDimX, unsigned gridDimY, unsigned gridDimZ, unsigned blockDimX,            \
		  unsigned blockDimY, unsigned blockDimZ, unsigned sharedMemBytes, CUstream hStream,                   \
		  void **kernelParams),                                                                                \
		(f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream,            \
		  kernelParams), KERNEL,                                                                               \
		LAUNCH(f, dim(gridDimX, gridDimY, gridDimZ), dim(blockDimX, blockDimY, blockDimZ), sharedMemBytes,     \
		  hStream), 9000)                                                                                      \
	X(TIMED, CUresult, cuLaunchCooperativeKernelMultiDevice,                                                       \
		(CUDA_LAUNCH_PARAMS *launchParamsList, unsigned numDevices, unsigned flags),                           \
		(launchParamsList, numDevices, flags), KERNEL, NOTHING, 9000)                                          \
	X(TIMED, CUresult, cuLaunch, (CUfunction f), (f), KERNEL, LAUNCH(f, dim(1, 1, 1), dim(0, 0, 0), 0, NULL),      \
		2000)                                                                                                  \
	X(TIMED, CUresult, cuLaunchGrid, (CUfunction f, int grid_width, int grid_height),                              \
		(f, grid_width, grid_height), KERNEL,                                                                  \
		LAUNCH(f, dim(grid_width, grid_height, 1), dim(0, 0, 0), 0, NULL), 2000)                               \
	X(TIMED, CUresult, cuLaunchGridAsync, (CUfunction f, int grid_width, int grid_height, CUstream hStream),       \
		(f, grid_width, grid_height, hStream), KERNEL,                                                         \
		LAUNCH(f, dim(grid_width, grid_height, 1), dim(0, 0, 0), 0, hStream), 2000)                            \
	CU_PTSZ(X, TIMED, cuGraphLaunch, (CUgraphExec hGraph, CUstream hStream), (hGraph, hStream), KERNEL,            \
		GRAPH(hGraph, hStream), 10000)                                                                         \
	CU_PTSZ(X, TIMED, cuLaunchHostFunc, (CUstream hStream, CUhostFn fn, void *userData), (hStream, fn, userData),  \
		KERNEL, HOST(fn, hStream), 10000)                                                                      \
	CU_PTSZ(X, WORDS, cuLaunchHostFunc_v2, (void *hStream, void *fn, void *userData, size_t syncMode),             \
		(hStream, fn, userData, syncMode), KERNEL, HOST(fn, hStream), 13010)                                   \
	/* registration and lookup of kernels, and launches */                                                         \
	X(OWN, CUresult, cuModuleGetFunction, (void **hfunc, void *hmod, const char *name), (hfunc, hmod, name),       \
		OTHER, NOTHING, 2000)                                                                                  \
	X(OWN, CUresult, cuLibraryGetKernel, (void **pKernel, void *library, const char *name),                        \
		(pKernel, library, name), OTHER, NOTHING, 12000)                                                       \
	X(OWN, CUresult, cuKernelGetFunction, (void **pFunc, void *kernel), (pFunc, kernel), OTHER, NOTHING, 12000)    \
	X(TIMED, CUresult, cuModuleLoad, (CUmodule *module, const char *fname), (module, fname), OTHER, NOTHING, 2000) \
	X(TIMED, CUresult, cuModuleLoadData, (CUmodule *module, const void *image), (module, image), OTHER, NOTHING,   \
		2000)                                                                                                  \
	X(TIMED, CUresult, cuModuleLoadDataEx,                                                                         \
		(CUmodule *module, const void *image, unsigned numOptions, CUjit_option *options,                      \
		  void **optionValues), (module, image, numOptions, options, optionValues), OTHER, NOTHING, 2010)      \
	X(TIMED, CUresult, cuModuleLoadFatBinary, (CUmodule *module, const void *fatCubin), (module, fatCubin),        \
		OTHER, NOTHING, 2000)                                                                                  \
	X(TIMED, CUresult, cuModuleUnload, (CUmodule hmod), (hmod), OTHER, NOTHING, 2000)                              \
	X(WORDS, CUresult, cuLibraryLoadData,                                                                          \
		(void *library, void *code, void *jitOptions, void *jitOptionsValues, size_t numJitOptions,            \
		  void *libraryOptions, void *libraryOptionValues, size_t numLibraryOptions),                          \
		(library, code, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues,      \
		  numLibraryOptions), OTHER, NOTHING, 12000)                                                           \
	X(WORDS, CUresult, cuLibraryLoadFromFile,                                                                      \
		(void *library, void *fileName, void *jitOptions, void *jitOptionsValues, size_t numJitOptions,        \
		  void *libraryOptions, void *libraryOptionValues, size_t numLibraryOptions),                          \
		(library, fileName, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues,  \
		  numLibraryOptions), OTHER, NOTHING, 12000)                                                           \
	X(WORDS, CUresult, cuLibraryUnload, (void *library), (library), OTHER, NOTHING, 12000)                         \
	X(TIMED, CUresult, cuLinkCreate_v2,                                                                            \
		(unsigned numOptions, CUjit_option *options, void **optionValues, CUlinkState *stateOut),              \
		(numOptions, options, optionValues, stateOut), OTHER, NOTHING, 6050)                                   \
	X(TIMED, CUresult, cuLinkAddData_v2,                                                                           \
		(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,                    \
		  unsigned numOptions, CUjit_option *options, void **optionValues),                                    \
		(state, type, data, size, name, numOptions, options, optionValues), OTHER, NOTHING, 6050)              \
	X(TIMED, CUresult, cuLinkAddFile_v2,                                                                           \
		(CUlinkState state, CUjitInputType type, const char *path, unsigned numOptions,                        \
		  CUjit_option *options, void **optionValues),                                                         \
		(state, type, path, numOptions, options, optionValues), OTHER, NOTHING, 6050)                          \
	X(TIMED, CUresult, cuLinkComplete, (CUlinkState state, void **cubinOut, size_t *sizeOut),                      \
		(state, cubinOut, sizeOut), OTHER, NOTHING, 5050)                                                      \
	X(WORDS, CUresult, cuFuncLoad, (void *function), (function), OTHER, NOTHING, 12040)                            \
	X(TIMED, CUresult, cuFuncSetAttribute, (CUfunction hfunc, CUfunction_attribute attrib, int value),             \
		(hfunc, attrib, value), OTHER, NOTHING, 9000)

#define HOOK_CUDA_MEMORY(X)                                                                                            \
	X(TIMED, CUresult, cuMemAlloc_v2, (CUdeviceptr *dptr, size_t bytesize), (dptr, bytesize), MEMORY,              \
		ALLOC(DEVICE, *dptr, bytesize), 3020)                                                                  \
	X(TIMED, CUresult, cuMemAllocPitch_v2,                                                                         \
		(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes, size_t Height, unsigned ElementSizeBytes),    \
		(dptr, pPitch, WidthInBytes, Height, ElementSizeBytes), MEMORY,                                        \
		ALLOC(DEVICE, *dptr, (result ? WidthInBytes : *pPitch) * Height), 3020)                                \
	X(TIMED, CUresult, cuMemAllocManaged, (CUdeviceptr *dptr, size_t bytesize, unsigned flags),                    \
		(dptr, bytesize, flags), MEMORY, ALLOC(MANAGED, *dptr, bytesize), 6000)                                \
	X(TIMED, CUresult, cuMemAllocHost_v2, (void **pp, size_t bytesize), (pp, bytesize), MEMORY,                    \
		ALLOC(HOST, *pp, bytesize), 3020)                                                                      \
	X(TIMED, CUresult, cuMemHostAlloc, (void **pp, size_t bytesize, unsigned Flags), (pp, bytesize, Flags),        \
		MEMORY, ALLOC(HOST, *pp, bytesize), 2020)                                                              \
	X(TIMED, CUresult, cuMemHostRegister_v2, (void *p, size_t bytesize, unsigned Flags), (p, bytesize, Flags),     \
		MEMORY, ALLOC(HOST, p, bytesize), 6050)                                                                \
	X(TIMED, CUresult, cuMemHostUnregister, (void *p), (p), MEMORY, FREE(HOST, p), 4000)                           \
	X(TIMED, CUresult, cuMemFree_v2, (CUdeviceptr dptr), (dptr), MEMORY, FREE(DEVICE, dptr), 3020)                 \
	X(TIMED, CUresult, cuMemFreeHost, (void *p), (p), MEMORY, FREE(HOST, p), 2000)                                 \
	CU_PTSZ(X, TIMED, cuMemAllocAsync, (CUdeviceptr *dptr, size_t bytesize, CUstream hStream),                     \
		(dptr, bytesize, hStream), MEMORY, ALLOC(POOL, *dptr, bytesize), 11020)                                \
	CU_PTSZ(X, TIMED, cuMemAllocFromPoolAsync,                                                                     \
		(CUdeviceptr *dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream),                             \
		(dptr, bytesize, pool, hStream), MEMORY, ALLOC(POOL, *dptr, bytesize), 11020)                          \
	CU_PTSZ(X, TIMED, cuMemFreeAsync, (CUdeviceptr dptr, CUstream hStream), (dptr, hStream), MEMORY,               \
		FREE(POOL, dptr), 11020)                                                                               \
	X(TIMED, CUresult, cuMemPoolCreate, (CUmemoryPool *pool, const CUmemPoolProps *poolProps), (pool, poolProps),  \
		MEMORY, NOTHING, 11020)                                                                                \
	X(TIMED, CUresult, cuMemPoolDestroy, (CUmemoryPool pool), (pool), MEMORY, NOTHING, 11020)                      \
	X(TIMED, CUresult, cuMemPoolTrimTo, (CUmemoryPool pool, size_t minBytesToKeep), (pool, minBytesToKeep),        \
		MEMORY, NOTHING, 11020)                                                                                \
	/* virtual memory: the handle represents the bytes until it is released */                                     \
	X(TIMED, CUresult, cuMemCreate,                                                                                \
		(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,                   \
		  unsigned long long flags), (handle, size, prop, flags), MEMORY, ALLOC(DEVICE, *handle, size),        \
		10020)                                                                                                 \
	X(TIMED, CUresult, cuMemRelease, (CUmemGenericAllocationHandle handle), (handle), MEMORY,                      \
		FREE(DEVICE, handle), 10020)                                                                           \
	X(TIMED, CUresult, cuMemAddressReserve,                                                                        \
		(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr, unsigned long long flags),         \
		(ptr, size, alignment, addr, flags), MEMORY, BYTES(size), 10020)                                       \
	X(TIMED, CUresult, cuMemAddressFree, (CUdeviceptr ptr, size_t size), (ptr, size), MEMORY, BYTES(size), 10020)  \
	X(TIMED, CUresult, cuMemMap,                                                                                   \
		(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,                     \
		  unsigned long long flags), (ptr, size, offset, handle, flags), MEMORY, BYTES(size), 10020)           \
	X(TIMED, CUresult, cuMemUnmap, (CUdeviceptr ptr, size_t size), (ptr, size), MEMORY, BYTES(size), 10020)        \
	CU_PTSZ(X, TIMED, cuMemMapArrayAsync, (CUarrayMapInfo *mapInfoList, unsigned count, CUstream hStream),         \
		(mapInfoList, count, hStream), MEMORY, STREAM(hStream), 11010)                                         \
	X(TIMED, CUresult, cuMemSetAccess, (CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count),  \
		(ptr, size, desc, count), MEMORY, BYTES(size), 10020)                                                  \
	X(TIMED, CUresult, cuMemExportToShareableHandle,                                                               \
		(void *shareableHandle, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType handleType,     \
		  unsigned long long flags), (shareableHandle, handle, handleType, flags), MEMORY, NOTHING, 10020)     \
	X(TIMED, CUresult, cuMemImportFromShareableHandle,                                                             \
		(CUmemGenericAllocationHandle *handle, void *osHandle, CUmemAllocationHandleType shHandleType),        \
		(handle, osHandle, shHandleType), MEMORY, NOTHING, 10020)                                              \
	X(TIMED, CUresult, cuArrayCreate_v2, (CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray),          \
		(pHandle, pAllocateArray), MEMORY,                                                                     \
		ARRAY(*pHandle, element_of(pAllocateArray->Format, pAllocateArray->NumChannels),                       \
		  pAllocateArray->Width, pAllocateArray->Height, 0, 1), 3020)                                          \
	X(TIMED, CUresult, cuArray3DCreate_v2, (CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray),      \
		(pHandle, pAllocateArray), MEMORY,                                                                     \
		ARRAY(*pHandle, element_of(pAllocateArray->Format, pAllocateArray->NumChannels),                       \
		  pAllocateArray->Width, pAllocateArray->Height, pAllocateArray->Depth, 1), 3020)                      \
	X(TIMED, CUresult, cuMipmappedArrayCreate,                                                                     \
		(CUmipmappedArray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pMipmappedArrayDesc,                        \
		  unsigned numMipmapLevels), (pHandle, pMipmappedArrayDesc, numMipmapLevels), MEMORY,                  \
		ARRAY(*pHandle, element_of(pMipmappedArrayDesc->Format, pMipmappedArrayDesc->NumChannels),             \
		  pMipmappedArrayDesc->Width, pMipmappedArrayDesc->Height, pMipmappedArrayDesc->Depth,                 \
		  numMipmapLevels), 5000)                                                                              \
	X(TIMED, CUresult, cuArrayDestroy, (CUarray hArray), (hArray), MEMORY, FREE(DEVICE, hArray), 2000)             \
	X(TIMED, CUresult, cuMipmappedArrayDestroy, (CUmipmappedArray hMipmappedArray), (hMipmappedArray), MEMORY,     \
		FREE(DEVICE, hMipmappedArray), 5000)                                                                   \
	X(TIMED, CUresult, cuIpcGetMemHandle, (CUipcMemHandle *pHandle, CUdeviceptr dptr), (pHandle, dptr), MEMORY,    \
		NOTHING, 4010)                                                                                         \
	X(TIMED, CUresult, cuIpcOpenMemHandle_v2, (CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned Flags),         \
		(pdptr, handle, Flags), MEMORY, NOTHING, 11000)                                                        \
	X(TIMED, CUresult, cuIpcCloseMemHandle, (CUdeviceptr dptr), (dptr), MEMORY, NOTHING, 4010)                     \
	X(TIMED, CUresult, cuMemGetInfo_v2, (size_t *free, size_t *total), (free, total), MEMORY,                      \
		LEFT(*free, *total), 3020)                                                                             \
	X(TIMED, CUresult, cuMemAdvise, (CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device),      \
		(devPtr, count, advice, device), MEMORY, BYTES(count), 8000)                                           \
	X(WORDS, CUresult, cuMemAdvise_v2, (CUdeviceptr devPtr, size_t count, size_t advice, uint64_t location),       \
		(devPtr, count, advice, location), MEMORY, BYTES(count), 12020)                                        \
	CU_PTSZ(X, TIMED, cuMemPrefetchAsync,                                                                          \
		(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream),                              \
		(devPtr, count, dstDevice, hStream), MEMORY, BYTES(count), 8000)                                       \
	CU_PTSZ(X, WORDS, cuMemPrefetchAsync_v2,                                                                       \
		(CUdeviceptr devPtr, size_t count, uint64_t location, size_t flags, void *hStream),                    \
		(devPtr, count, location, flags, hStream), MEMORY, BYTES(count), 12020)                                \
	CU_PTSZ(X, WORDS, cuMemPrefetchBatchAsync,                                                                     \
		(void *dptrs, const size_t *sizes, size_t count, void *prefetchLocs, void *prefetchLocIdxs,            \
		  size_t numPrefetchLocs, size_t flags, void *hStream),                                                \
		(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream), MEMORY,         \
		BYTES(cuda_total(sizes, count)), 13000)                                                                \
	CU_PTSZ(X, WORDS, cuMemDiscardBatchAsync,                                                                      \
		(void *dptrs, const size_t *sizes, size_t count, size_t flags, void *hStream),                         \
		(dptrs, sizes, count, flags, hStream), MEMORY, BYTES(cuda_total(sizes, count)), 13000)                 \
	CU_PTSZ(X, WORDS, cuMemDiscardAndPrefetchBatchAsync,                                                           \
		(void *dptrs, const size_t *sizes, size_t count, void *prefetchLocs, void *prefetchLocIdxs,            \
		  size_t numPrefetchLocs, size_t flags, void *hStream),                                                \
		(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream), MEMORY,         \
		BYTES(cuda_total(sizes, count)), 13000)

#define HOOK_CUDA_COPY(X)                                                                                              \
	CU_PTDS(X, TIMED, cuMemcpyHtoD_v2, (CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount),             \
		(dstDevice, srcHost, ByteCount), COPY, COPY(1, ByteCount), 3020)                                       \
	CU_PTDS(X, TIMED, cuMemcpyDtoH_v2, (void *dstHost, CUdeviceptr srcDevice, size_t ByteCount),                   \
		(dstHost, srcDevice, ByteCount), COPY, COPY(2, ByteCount), 3020)                                       \
	CU_PTDS(X, TIMED, cuMemcpyDtoD_v2, (CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount),           \
		(dstDevice, srcDevice, ByteCount), COPY, COPY(3, ByteCount), 3020)                                     \
	CU_PTDS(X, TIMED, cuMemcpyDtoA_v2,                                                                             \
		(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount),                         \
		(dstArray, dstOffset, srcDevice, ByteCount), COPY, COPY(3, ByteCount), 3020)                           \
	CU_PTDS(X, TIMED, cuMemcpyAtoD_v2,                                                                             \
		(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount),                         \
		(dstDevice, srcArray, srcOffset, ByteCount), COPY, COPY(3, ByteCount), 3020)                           \
	CU_PTDS(X, TIMED, cuMemcpyHtoA_v2,                                                                             \
		(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount),                           \
		(dstArray, dstOffset, srcHost, ByteCount), COPY, COPY(1, ByteCount), 3020)                             \
	CU_PTDS(X, TIMED, cuMemcpyAtoH_v2, (void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount),      \
		(dstHost, srcArray, srcOffset, ByteCount), COPY, COPY(2, ByteCount), 3020)                             \
	CU_PTDS(X, TIMED, cuMemcpyAtoA_v2,                                                                             \
		(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount),            \
		(dstArray, dstOffset, srcArray, srcOffset, ByteCount), COPY, COPY(3, ByteCount), 3020)                 \
	CU_PTDS(X, TIMED, cuMemcpy, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount), (dst, src, ByteCount),       \
		COPY, COPY(4, ByteCount), 4000)                                                                        \
	CU_PTDS(X, TIMED, cuMemcpyPeer,                                                                                \
		(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,             \
		  size_t ByteCount), (dstDevice, dstContext, srcDevice, srcContext, ByteCount), COPY,                  \
		COPY(3, ByteCount), 4000)                                                                              \
	CU_PTDS(X, TIMED, cuMemcpy2D_v2, (const CUDA_MEMCPY2D *pCopy), (pCopy), COPY,                                  \
		COPY(copy_kind(pCopy->srcMemoryType, pCopy->dstMemoryType), pCopy->WidthInBytes * pCopy->Height),      \
		3020)                                                                                                  \
	CU_PTDS(X, TIMED, cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *pCopy), (pCopy), COPY,                         \
		COPY(copy_kind(pCopy->srcMemoryType, pCopy->dstMemoryType), pCopy->WidthInBytes * pCopy->Height),      \
		3020)                                                                                                  \
	CU_PTDS(X, TIMED, cuMemcpy3D_v2, (const CUDA_MEMCPY3D *pCopy), (pCopy), COPY,                                  \
		COPY(copy_kind(pCopy->srcMemoryType, pCopy->dstMemoryType),                                            \
		  pCopy->WidthInBytes * pCopy->Height * pCopy->Depth), 3020)                                           \
	CU_PTDS(X, TIMED, cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER *pCopy), (pCopy), COPY,                            \
		COPY(3, pCopy->WidthInBytes * pCopy->Height * pCopy->Depth), 4000)                                     \
	CU_PTSZ(X, TIMED, cuMemcpyHtoDAsync_v2,                                                                        \
		(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream),                      \
		(dstDevice, srcHost, ByteCount, hStream), COPY, COPY_ASYNC(1, ByteCount, hStream), 3020)               \
	CU_PTSZ(X, TIMED, cuMemcpyDtoHAsync_v2,                                                                        \
		(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),                            \
		(dstHost, srcDevice, ByteCount, hStream), COPY, COPY_ASYNC(2, ByteCount, hStream), 3020)               \
	CU_PTSZ(X, TIMED, cuMemcpyDtoDAsync_v2,                                                                        \
		(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),                    \
		(dstDevice, srcDevice, ByteCount, hStream), COPY, COPY_ASYNC(3, ByteCount, hStream), 3020)             \
	CU_PTSZ(X, TIMED, cuMemcpyHtoAAsync_v2,                                                                        \
		(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount, CUstream hStream),         \
		(dstArray, dstOffset, srcHost, ByteCount, hStream), COPY, COPY_ASYNC(1, ByteCount, hStream), 3020)     \
	CU_PTSZ(X, TIMED, cuMemcpyAtoHAsync_v2,                                                                        \
		(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream),               \
		(dstHost, srcArray, srcOffset, ByteCount, hStream), COPY, COPY_ASYNC(2, ByteCount, hStream), 3020)     \
	CU_PTSZ(X, TIMED, cuMemcpyAsync, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream),       \
		(dst, src, ByteCount, hStream), COPY, COPY_ASYNC(4, ByteCount, hStream), 4000)                         \
	CU_PTSZ(X, TIMED, cuMemcpyPeerAsync,                                                                           \
		(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,             \
		  size_t ByteCount, CUstream hStream),                                                                 \
		(dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream), COPY,                              \
		COPY_ASYNC(3, ByteCount, hStream), 4000)                                                               \
	CU_PTSZ(X, TIMED, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *pCopy, CUstream hStream), (pCopy, hStream),        \
		COPY,                                                                                                  \
		COPY_ASYNC(copy_kind(pCopy->srcMemoryType, pCopy->dstMemoryType),                                      \
		  pCopy->WidthInBytes * pCopy->Height, hStream), 3020)                                                 \
	CU_PTSZ(X, TIMED, cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *pCopy, CUstream hStream), (pCopy, hStream),        \
		COPY,                                                                                                  \
		COPY_ASYNC(copy_kind(pCopy->srcMemoryType, pCopy->dstMemoryType),                                      \
		  pCopy->WidthInBytes * pCopy->Height * pCopy->Depth, hStream), 3020)                                  \
	CU_PTSZ(X, TIMED, cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream), (pCopy, hStream),  \
		COPY, COPY_ASYNC(3, pCopy->WidthInBytes * pCopy->Height * pCopy->Depth, hStream), 4000)                \
	CU_PTSZ(X, WORDS, cuMemcpyBatchAsync,                                                                          \
		(void *dsts, void *srcs, const size_t *sizes, size_t count, void *attrs, void *attrsIdxs,              \
		  size_t numAttrs, void *failIdx, void *hStream),                                                      \
		(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, hStream), COPY,                        \
		COPY_ASYNC(4, cuda_total(sizes, count), hStream), 12080)                                               \
	CU_PTSZ(X, WORDS, cuMemcpyBatchAsync_v2,                                                                       \
		(void *dsts, void *srcs, const size_t *sizes, size_t count, void *attrs, void *attrsIdxs,              \
		  size_t numAttrs, void *hStream), (dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream),    \
		COPY, COPY_ASYNC(4, cuda_total(sizes, count), hStream), 13000)                                         \
	CU_PTSZ(X, WORDS, cuMemcpy3DBatchAsync,                                                                        \
		(size_t numOps, void *opList, void *failIdx, size_t flags, void *hStream),                             \
		(numOps, opList, failIdx, flags, hStream), COPY, STREAM(hStream), 12080)                               \
	CU_PTSZ(X, WORDS, cuMemcpy3DBatchAsync_v2, (size_t numOps, void *opList, size_t flags, void *hStream),         \
		(numOps, opList, flags, hStream), COPY, STREAM(hStream), 13000)                                        \
	CU_PTSZ(X, WORDS, cuMemBatchDecompressAsync,                                                                   \
		(void *list, size_t count, size_t flags, void *failIdx, void *hStream),                                \
		(list, count, flags, failIdx, hStream), COPY, STREAM(hStream), 12060)                                  \
	CU_PTSZ(X, WORDS, cuMemcpyWithAttributesAsync,                                                                 \
		(CUdeviceptr dst, CUdeviceptr src, size_t size, void *attr, void *hStream),                            \
		(dst, src, size, attr, hStream), COPY, COPY_ASYNC(4, size, hStream), 13020)                            \
	CU_PTSZ(X, WORDS, cuMemcpy3DWithAttributesAsync, (void *op, size_t flags, void *hStream),                      \
		(op, flags, hStream), COPY, STREAM(hStream), 13020)

#define HOOK_CUDA_SET(X)                                                                                               \
	CU_PTDS(X, TIMED, cuMemsetD8_v2, (CUdeviceptr dstDevice, unsigned char uc, size_t N), (dstDevice, uc, N),      \
		COPY, COPY(63, N), 3020)                                                                               \
	CU_PTDS(X, TIMED, cuMemsetD2D8_v2,                                                                             \
		(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height),               \
		(dstDevice, dstPitch, uc, Width, Height), COPY, COPY(63, Width * Height), 3020)                        \
	CU_PTSZ(X, TIMED, cuMemsetD8Async, (CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream),      \
		(dstDevice, uc, N, hStream), COPY, COPY_ASYNC(63, N, hStream), 3020)                                   \
	CU_PTSZ(X, TIMED, cuMemsetD2D8Async,                                                                           \
		(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,                \
		  CUstream hStream), (dstDevice, dstPitch, uc, Width, Height, hStream), COPY,                          \
		COPY_ASYNC(63, Width * Height, hStream), 3020)                                                         \
	CU_PTDS(X, TIMED, cuMemsetD16_v2, (CUdeviceptr dstDevice, unsigned short us, size_t N), (dstDevice, us, N),    \
		COPY, COPY(63, N * 2), 3020)                                                                           \
	CU_PTDS(X, TIMED, cuMemsetD2D16_v2,                                                                            \
		(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height),              \
		(dstDevice, dstPitch, us, Width, Height), COPY, COPY(63, Width * Height * 2), 3020)                    \
	CU_PTSZ(X, TIMED, cuMemsetD16Async, (CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream),    \
		(dstDevice, us, N, hStream), COPY, COPY_ASYNC(63, N * 2, hStream), 3020)                               \
	CU_PTSZ(X, TIMED, cuMemsetD2D16Async,                                                                          \
		(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height,               \
		  CUstream hStream), (dstDevice, dstPitch, us, Width, Height, hStream), COPY,                          \
		COPY_ASYNC(63, Width * Height * 2, hStream), 3020)                                                     \
	CU_PTDS(X, TIMED, cuMemsetD32_v2, (CUdeviceptr dstDevice, unsigned ui, size_t N), (dstDevice, ui, N), COPY,    \
		COPY(63, N * 4), 3020)                                                                                 \
	CU_PTDS(X, TIMED, cuMemsetD2D32_v2,                                                                            \
		(CUdeviceptr dstDevice, size_t dstPitch, unsigned ui, size_t Width, size_t Height),                    \
		(dstDevice, dstPitch, ui, Width, Height), COPY, COPY(63, Width * Height * 4), 3020)                    \
	CU_PTSZ(X, TIMED, cuMemsetD32Async, (CUdeviceptr dstDevice, unsigned ui, size_t N, CUstream hStream),          \
		(dstDevice, ui, N, hStream), COPY, COPY_ASYNC(63, N * 4, hStream), 3020)                               \
	CU_PTSZ(X, TIMED, cuMemsetD2D32Async,                                                                          \
		(CUdeviceptr dstDevice, size_t dstPitch, unsigned ui, size_t Width, size_t Height, CUstream hStream),  \
		(dstDevice, dstPitch, ui, Width, Height, hStream), COPY,                                               \
		COPY_ASYNC(63, Width * Height * 4, hStream), 3020)

#define HOOK_CUDA_STREAM(X)                                                                                            \
	X(TIMED, CUresult, cuStreamCreate, (CUstream *phStream, unsigned Flags), (phStream, Flags), OTHER, NOTHING,    \
		2000)                                                                                                  \
	X(TIMED, CUresult, cuStreamCreateWithPriority, (CUstream *phStream, unsigned flags, int priority),             \
		(phStream, flags, priority), OTHER, NOTHING, 5050)                                                     \
	X(TIMED, CUresult, cuStreamDestroy_v2, (CUstream hStream), (hStream), OTHER, NOTHING, 4000)                    \
	CU_PTSZ(X, TIMED, cuStreamQuery, (CUstream hStream), (hStream), OTHER, NOTHING, 2000)                          \
	CU_PTSZ(X, TIMED, cuStreamSynchronize, (CUstream hStream), (hStream), SYNC, STREAM(hStream), 2000)             \
	CU_PTSZ(X, TIMED, cuStreamWaitEvent, (CUstream hStream, CUevent hEvent, unsigned Flags),                       \
		(hStream, hEvent, Flags), OTHER, STREAM(hStream), 3020)                                                \
	CU_PTSZ(X, TIMED, cuStreamAttachMemAsync,                                                                      \
		(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned flags), (hStream, dptr, length, flags),   \
		OTHER, STREAM(hStream), 6000)                                                                          \
	CU_PTSZ(X, TIMED, cuStreamAddCallback,                                                                         \
		(CUstream hStream, CUstreamCallback callback, void *userData, unsigned flags),                         \
		(hStream, callback, userData, flags), OTHER, STREAM(hStream), 5000)                                    \
	CU_PTSZ(X, TIMED, cuStreamBeginCapture, (CUstream hStream), (hStream), OTHER, CAPTURE_BEGINS(hStream), 10000)  \
	CU_PTSZ(X, TIMED, cuStreamBeginCapture_v2, (CUstream hStream, CUstreamCaptureMode mode), (hStream, mode),      \
		OTHER, CAPTURE_BEGINS(hStream), 10010)                                                                 \
	CU_PTSZ(X, WORDS, cuStreamBeginCaptureToGraph,                                                                 \
		(void *hStream, void *hGraph, void *dependencies, void *dependencyData, size_t numDependencies,        \
		  size_t mode), (hStream, hGraph, dependencies, dependencyData, numDependencies, mode), OTHER,         \
		CAPTURE_BEGINS(hStream), 12030)                                                                        \
	CU_PTSZ(X, TIMED, cuStreamEndCapture, (CUstream hStream, CUgraph *phGraph), (hStream, phGraph), OTHER,         \
		CAPTURE_ENDS(hStream), 10000)                                                                          \
	CU_PTSZ(X, TIMED, cuStreamWaitValue32, (CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned flags),  \
		(stream, addr, value, flags), OTHER, STREAM(stream), 8000)                                             \
	CU_PTSZ(X, TIMED, cuStreamWaitValue32_v2,                                                                      \
		(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned flags), (stream, addr, value, flags),   \
		OTHER, STREAM(stream), 11070)                                                                          \
	CU_PTSZ(X, TIMED, cuStreamWaitValue64, (CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned flags),  \
		(stream, addr, value, flags), OTHER, STREAM(stream), 9000)                                             \
	CU_PTSZ(X, TIMED, cuStreamWaitValue64_v2,                                                                      \
		(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned flags), (stream, addr, value, flags),   \
		OTHER, STREAM(stream), 11070)                                                                          \
	CU_PTSZ(X, TIMED, cuStreamWriteValue32,                                                                        \
		(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned flags), (stream, addr, value, flags),   \
		OTHER, STREAM(stream), 8000)                                                                           \
	CU_PTSZ(X, TIMED, cuStreamWriteValue32_v2,                                                                     \
		(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned flags), (stream, addr, value, flags),   \
		OTHER, STREAM(stream), 11070)                                                                          \
	CU_PTSZ(X, TIMED, cuStreamWriteValue64,                                                                        \
		(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned flags), (stream, addr, value, flags),   \
		OTHER, STREAM(stream), 9000)                                                                           \
	CU_PTSZ(X, TIMED, cuStreamWriteValue64_v2,                                                                     \
		(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned flags), (stream, addr, value, flags),   \
		OTHER, STREAM(stream), 11070)                                                                          \
	CU_PTSZ(X, TIMED, cuStreamBatchMemOp,                                                                          \
		(CUstream stream, unsigned count, CUstreamBatchMemOpParams *paramArray, unsigned flags),               \
		(stream, count, paramArray, flags), OTHER, STREAM(stream), 8000)                                       \
	CU_PTSZ(X, TIMED, cuStreamBatchMemOp_v2,                                                                       \
		(CUstream stream, unsigned count, CUstreamBatchMemOpParams *paramArray, unsigned flags),               \
		(stream, count, paramArray, flags), OTHER, STREAM(stream), 11070)                                      \
	CU_PTSZ(X, TIMED, cuSignalExternalSemaphoresAsync,                                                             \
		(const CUexternalSemaphore *extSemArray, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray,     \
		  unsigned numExtSems, CUstream stream), (extSemArray, paramsArray, numExtSems, stream), OTHER,        \
		STREAM(stream), 10000)                                                                                 \
	CU_PTSZ(X, TIMED, cuWaitExternalSemaphoresAsync,                                                               \
		(const CUexternalSemaphore *extSemArray, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray,       \
		  unsigned numExtSems, CUstream stream), (extSemArray, paramsArray, numExtSems, stream), OTHER,        \
		STREAM(stream), 10000)                                                                                 \
	X(TIMED, CUresult, cuEventCreate, (CUevent *phEvent, unsigned Flags), (phEvent, Flags), OTHER, NOTHING, 2000)  \
	CU_PTSZ(X, TIMED, cuEventRecord, (CUevent hEvent, CUstream hStream), (hEvent, hStream), OTHER,                 \
		STREAM(hStream), 2000)                                                                                 \
	CU_PTSZ(X, TIMED, cuEventRecordWithFlags, (CUevent hEvent, CUstream hStream, unsigned flags),                  \
		(hEvent, hStream, flags), OTHER, STREAM(hStream), 11010)                                               \
	X(TIMED, CUresult, cuEventQuery, (CUevent hEvent), (hEvent), OTHER, NOTHING, 2000)                             \
	X(TIMED, CUresult, cuEventSynchronize, (CUevent hEvent), (hEvent), SYNC, NOTHING, 2000)                        \
	X(TIMED, CUresult, cuEventElapsedTime, (float *pMilliseconds, CUevent hStart, CUevent hEnd),                   \
		(pMilliseconds, hStart, hEnd), OTHER, NOTHING, 2000)                                                   \
	X(WORDS, CUresult, cuEventElapsedTime_v2, (void *pMilliseconds, void *hStart, void *hEnd),                     \
		(pMilliseconds, hStart, hEnd), OTHER, NOTHING, 12080)                                                  \
	X(TIMED, CUresult, cuEventDestroy_v2, (CUevent hEvent), (hEvent), OTHER, NOTHING, 4000)                        \
	X(TIMED, CUresult, cuCtxSynchronize, (void), (), SYNC, NOTHING, 2000)                                          \
	X(WORDS, CUresult, cuCtxSynchronize_v2, (void *ctx), (ctx), SYNC, NOTHING, 13000)

#define HOOK_CUDA_GRAPH(X)                                                                                             \
	X(TIMED, CUresult, cuGraphInstantiate,                                                                         \
		(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,                  \
		  size_t bufferSize), (phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize), OTHER,                \
		INSTANTIATED(phGraphExec, hGraph), 10000)                                                              \
	X(TIMED, CUresult, cuGraphInstantiate_v2,                                                                      \
		(CUgraphExec *phGraphExec, CUgraph hGraph, CUgraphNode *phErrorNode, char *logBuffer,                  \
		  size_t bufferSize), (phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize), OTHER,                \
		INSTANTIATED(phGraphExec, hGraph), 11000)                                                              \
	X(TIMED, CUresult, cuGraphInstantiateWithFlags,                                                                \
		(CUgraphExec *phGraphExec, CUgraph hGraph, unsigned long long flags), (phGraphExec, hGraph, flags),    \
		OTHER, INSTANTIATED_WITH(phGraphExec, hGraph, flags), 11040)                                           \
	CU_PTSZ(X, WORDS, cuGraphInstantiateWithParams, (void *phGraphExec, void *hGraph, void *instantiateParams),    \
		(phGraphExec, hGraph, instantiateParams), OTHER,                                                       \
		INSTANTIATED_WITH(phGraphExec, hGraph, *(uint64_t *)instantiateParams), 12000)                         \
	CU_PTSZ(X, TIMED, cuGraphUpload, (CUgraphExec hGraph, CUstream hStream), (hGraph, hStream), OTHER,             \
		STREAM(hStream), 11010)                                                                                \
	X(TIMED, CUresult, cuGraphExecUpdate,                                                                          \
		(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode *hErrorNode_out,                                  \
		  CUgraphExecUpdateResult *updateResult_out), (hGraphExec, hGraph, hErrorNode_out, updateResult_out),  \
		OTHER, UPDATED(hGraphExec, hGraph), 10020)                                                             \
	X(WORDS, CUresult, cuGraphExecUpdate_v2, (void *hGraphExec, void *hGraph, void *resultInfo),                   \
		(hGraphExec, hGraph, resultInfo), OTHER, UPDATED(hGraphExec, hGraph), 12000)                           \
	X(TIMED, CUresult, cuGraphExecDestroy, (CUgraphExec hGraphExec), (hGraphExec), OTHER, NOTHING, 10000)          \
	X(TIMED, CUresult, cuGraphDestroy, (CUgraph hGraph), (hGraph), OTHER, NOTHING, 10000)                          \
	X(WORDS, CUresult, cuGraphClone, (void *clone, void *graph), (clone, graph), OTHER,                            \
		CLONED(clone, graph), 10000)                                                                           \
	/* nodes of a graph, which are launched with it: stacks as for launches */                                     \
	CU_NODE(X, cuGraphAddKernelNode, 10000)                                                                        \
	CU_NODE(X, cuGraphAddKernelNode_v2, 12000)                                                                     \
	CU_NODE(X, cuGraphAddMemcpyNode, 10000)                                                                        \
	CU_NODE(X, cuGraphAddMemsetNode, 10000)                                                                        \
	CU_NODE(X, cuGraphAddHostNode, 10000)                                                                          \
	CU_NODE(X, cuGraphAddBatchMemOpNode, 11070)                                                                    \
	X(WORDS, CUresult, cuGraphAddChildGraphNode,                                                                   \
		(void *node, void *graph, void *dependencies, size_t count, void *child),                              \
		(node, graph, dependencies, count, child), KERNEL, CHILD(graph, node, child), 10000)                   \
	X(WORDS, CUresult, cuGraphAddNode,                                                                             \
		(void *node, void *graph, void *dependencies, size_t count, void *params),                             \
		(node, graph, dependencies, count, params), KERNEL, ANY_NODE(graph, node, params), 12020)              \
	X(WORDS, CUresult, cuGraphAddNode_v2,                                                                          \
		(void *node, void *graph, void *dependencies, void *edges, size_t count, void *params),                \
		(node, graph, dependencies, edges, count, params), KERNEL, ANY_NODE(graph, node, params), 12030)       \
	X(WORDS, CUresult, cuGraphAddNode_v3,                                                                          \
		(void *node, void *graph, void *dependencies, void *edges, size_t count, void *params),                \
		(node, graph, dependencies, edges, count, params), KERNEL, ANY_NODE(graph, node, params), 13040)

#define HOOK_CUDA_OTHER(X)                                                                                             \
	X(TIMED, CUresult, cuInit, (unsigned Flags), (Flags), OTHER, NOTHING, 2000)                                    \
	X(TIMED, CUresult, cuCtxCreate_v2, (CUcontext *pctx, unsigned flags, CUdevice dev), (pctx, flags, dev),        \
		OTHER, NOTHING, 3020)                                                                                  \
	X(TIMED, CUresult, cuCtxCreate_v3,                                                                             \
		(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams, unsigned flags, CUdevice dev),      \
		(pctx, paramsArray, numParams, flags, dev), OTHER, NOTHING, 11040)                                     \
	X(WORDS, CUresult, cuCtxCreate_v4, (void *pctx, void *ctxCreateParams, size_t flags, size_t dev),              \
		(pctx, ctxCreateParams, flags, dev), OTHER, NOTHING, 12050)                                            \
	X(OWN, CUresult, cuCtxDestroy_v2, (void *ctx), (ctx), OTHER, NOTHING, 4000)                                    \
	X(TIMED, CUresult, cuDevicePrimaryCtxRetain, (CUcontext *pctx, CUdevice dev), (pctx, dev), OTHER, NOTHING,     \
		7000)                                                                                                  \
	X(OWN, CUresult, cuDevicePrimaryCtxRelease_v2, (CUdevice dev), (dev), OTHER, NOTHING, 11000)                   \
	X(OWN, CUresult, cuDevicePrimaryCtxReset_v2, (CUdevice dev), (dev), OTHER, NOTHING, 11000)                     \
	X(TIMED, CUresult, cuCtxSetLimit, (CUlimit limit, size_t value), (limit, value), OTHER, NOTHING, 3010)         \
	X(TIMED, CUresult, cuCtxEnablePeerAccess, (CUcontext peerContext, unsigned Flags), (peerContext, Flags),       \
		OTHER, NOTHING, 4000)                                                                                  \
	X(TIMED, CUresult, cuCtxDisablePeerAccess, (CUcontext peerContext), (peerContext), OTHER, NOTHING, 4000)       \
	X(OWN, CUresult, cuProfilerStart, (void), (), OTHER, NOTHING, 4000)                                            \
	X(OWN, CUresult, cuProfilerStop, (void), (), OTHER, NOTHING, 4000)                                             \
	/* symbol lookups, which return trampolines */                                                                 \
	X(OWN, CUresult, cuGetProcAddress, (const char *symbol, void **pfn, int cudaVersion, uint64_t flags),          \
		(symbol, pfn, cudaVersion, flags), OTHER, NOTHING, 11030)                                              \
	X(OWN, CUresult, cuGetProcAddress_v2,                                                                          \
		(const char *symbol, void **pfn, int cudaVersion, uint64_t flags, void *symbolStatus),                 \
		(symbol, pfn, cudaVersion, flags, symbolStatus), OTHER, NOTHING, 12000)
