/* SPDX-License-Identifier: Apache-2.0 */
/* The driver functions that the runtime double uses, one row each. PLAIN: base name, suffix of the ABI name, requested
 * CUDA version; BOTH: also the suffix of the per-thread variant and the version requested for it. */
#ifndef CUDART_DRIVER_H
#define CUDART_DRIVER_H

#define CUDART_DRIVER(PLAIN, BOTH) \
	PLAIN(cuCtxDisablePeerAccess,, 4000) \
	PLAIN(cuCtxEnablePeerAccess,, 4000) \
	PLAIN(cuCtxGetCurrent,, 4000) \
	PLAIN(cuCtxGetLimit,, 3010) \
	PLAIN(cuCtxGetStreamPriorityRange,, 5050) \
	PLAIN(cuCtxSetCurrent,, 4000) \
	PLAIN(cuCtxSetLimit,, 3010) \
	PLAIN(cuCtxSynchronize,, 2000) \
	PLAIN(cuDeviceCanAccessPeer,, 4000) \
	PLAIN(cuDeviceGetAttribute,, 2000) \
	PLAIN(cuDeviceGetCount,, 2000) \
	PLAIN(cuDeviceGetDefaultMemPool,, 11020) \
	PLAIN(cuDeviceGetMemPool,, 11020) \
	PLAIN(cuDeviceGetName,, 2000) \
	PLAIN(cuDeviceGetPCIBusId,, 4010) \
	PLAIN(cuDeviceGetUuid, _v2, 11040) \
	PLAIN(cuDevicePrimaryCtxReset, _v2, 11000) \
	PLAIN(cuDevicePrimaryCtxRetain,, 7000) \
	PLAIN(cuDeviceSetMemPool,, 11020) \
	PLAIN(cuDeviceTotalMem, _v2, 3020) \
	PLAIN(cuDriverGetVersion,, 2020) \
	PLAIN(cuEventCreate,, 2000) \
	PLAIN(cuEventDestroy, _v2, 4000) \
	PLAIN(cuEventElapsedTime,, 2000) \
	PLAIN(cuEventQuery,, 2000) \
	PLAIN(cuEventSynchronize,, 2000) \
	PLAIN(cuFuncGetName,, 12030) \
	PLAIN(cuFuncSetAttribute,, 9000) \
	PLAIN(cuFuncSetCacheConfig,, 3000) \
	PLAIN(cuGetExportTable,, 3000) \
	PLAIN(cuGetProcAddress, _v2, 12000) \
	PLAIN(cuGraphAddChildGraphNode,, 10000) \
	PLAIN(cuGraphAddEmptyNode,, 10000) \
	PLAIN(cuGraphAddHostNode,, 10000) \
	PLAIN(cuGraphAddKernelNode, _v2, 12000) \
	PLAIN(cuGraphAddMemcpyNode,, 10000) \
	PLAIN(cuGraphAddMemsetNode,, 10000) \
	PLAIN(cuGraphClone,, 10000) \
	PLAIN(cuGraphConditionalHandleCreate,, 12030) \
	PLAIN(cuGraphCreate,, 10000) \
	PLAIN(cuGraphDestroy,, 10000) \
	PLAIN(cuGraphExecDestroy,, 10000) \
	PLAIN(cuGraphExecKernelNodeSetParams, _v2, 12000) \
	PLAIN(cuGraphExecUpdate, _v2, 12000) \
	PLAIN(cuGraphGetNodes,, 10000) \
	PLAIN(cuGraphGetRootNodes,, 10000) \
	PLAIN(cuGraphInstantiateWithFlags,, 11040) \
	PLAIN(cuGraphKernelNodeSetParams, _v2, 12000) \
	PLAIN(cuGraphNodeGetType,, 10000) \
	PLAIN(cuInit,, 2000) \
	PLAIN(cuKernelGetFunction,, 12000) \
	PLAIN(cuLibraryGetGlobal,, 12000) \
	PLAIN(cuLibraryGetKernel,, 12000) \
	PLAIN(cuLibraryLoadData,, 12000) \
	PLAIN(cuMemAdvise, _v2, 12020) \
	PLAIN(cuMemAllocManaged,, 6000) \
	PLAIN(cuMemAllocPitch, _v2, 3020) \
	PLAIN(cuMemAlloc, _v2, 3020) \
	PLAIN(cuMemFreeHost,, 2000) \
	PLAIN(cuMemFree, _v2, 3020) \
	PLAIN(cuMemGetInfo, _v2, 3020) \
	PLAIN(cuMemHostAlloc,, 2020) \
	PLAIN(cuMemHostGetDevicePointer, _v2, 3020) \
	PLAIN(cuMemHostGetFlags,, 2030) \
	PLAIN(cuMemHostRegister, _v2, 6050) \
	PLAIN(cuMemHostUnregister,, 4000) \
	PLAIN(cuMemPoolCreate,, 11020) \
	PLAIN(cuMemPoolDestroy,, 11020) \
	PLAIN(cuMemPoolGetAttribute,, 11020) \
	PLAIN(cuMemPoolSetAttribute,, 11020) \
	PLAIN(cuMemPoolTrimTo,, 11020) \
	PLAIN(cuMemcpyPeer,, 4000) \
	PLAIN(cuMemcpyPeerAsync,, 4000) \
	PLAIN(cuOccupancyAvailableDynamicSMemPerBlock,, 10020) \
	PLAIN(cuOccupancyMaxActiveBlocksPerMultiprocessor,, 6050) \
	PLAIN(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,, 7000) \
	PLAIN(cuPointerGetAttributes,, 7000) \
	PLAIN(cuProfilerStart,, 4000) \
	PLAIN(cuProfilerStop,, 4000) \
	PLAIN(cuStreamCreate,, 2000) \
	PLAIN(cuStreamCreateWithPriority,, 5050) \
	PLAIN(cuStreamDestroy, _v2, 4000) \
	PLAIN(cuThreadExchangeStreamCaptureMode,, 10010) \
	BOTH(cuEventRecord,, 2000, _ptsz, 7000) \
	BOTH(cuEventRecordWithFlags,, 11010, _ptsz, 11010) \
	BOTH(cuGraphLaunch,, 10000, _ptsz, 10000) \
	BOTH(cuGraphUpload,, 11010, _ptsz, 11010) \
	BOTH(cuLaunchCooperativeKernel,, 9000, _ptsz, 9000) \
	BOTH(cuLaunchHostFunc,, 10000, _ptsz, 10000) \
	BOTH(cuLaunchKernel,, 4000, _ptsz, 7000) \
	BOTH(cuLaunchKernelEx,, 11060, _ptsz, 11060) \
	BOTH(cuMemAllocAsync,, 11020, _ptsz, 11020) \
	BOTH(cuMemAllocFromPoolAsync,, 11020, _ptsz, 11020) \
	BOTH(cuMemFreeAsync,, 11020, _ptsz, 11020) \
	BOTH(cuMemPrefetchAsync, _v2, 12020, _ptsz, 12020) \
	BOTH(cuMemcpy,, 4000, _ptds, 7000) \
	BOTH(cuMemcpy2DAsync, _v2, 3020, _ptsz, 7000) \
	BOTH(cuMemcpy2DUnaligned, _v2, 3020, _ptds, 7000) \
	BOTH(cuMemcpy3DAsync, _v2, 3020, _ptsz, 7000) \
	BOTH(cuMemcpy3D, _v2, 3020, _ptds, 7000) \
	BOTH(cuMemcpyAsync,, 4000, _ptsz, 7000) \
	BOTH(cuMemcpyDtoDAsync, _v2, 3020, _ptsz, 7000) \
	BOTH(cuMemcpyDtoD, _v2, 3020, _ptds, 7000) \
	BOTH(cuMemcpyDtoHAsync, _v2, 3020, _ptsz, 7000) \
	BOTH(cuMemcpyDtoH, _v2, 3020, _ptds, 7000) \
	BOTH(cuMemcpyHtoDAsync, _v2, 3020, _ptsz, 7000) \
	BOTH(cuMemcpyHtoD, _v2, 3020, _ptds, 7000) \
	BOTH(cuMemsetD2D8Async,, 3020, _ptsz, 7000) \
	BOTH(cuMemsetD2D8, _v2, 3020, _ptds, 7000) \
	BOTH(cuMemsetD8Async,, 3020, _ptsz, 7000) \
	BOTH(cuMemsetD8, _v2, 3020, _ptds, 7000) \
	BOTH(cuStreamAddCallback,, 5000, _ptsz, 7000) \
	BOTH(cuStreamAttachMemAsync,, 6000, _ptsz, 7000) \
	BOTH(cuStreamBeginCapture, _v2, 10010, _ptsz, 10010) \
	BOTH(cuStreamEndCapture,, 10000, _ptsz, 10000) \
	BOTH(cuStreamGetCaptureInfo, _v3, 12030, _ptsz, 12030) \
	BOTH(cuStreamGetDevice,, 12080, _ptsz, 12080) \
	BOTH(cuStreamGetFlags,, 5050, _ptsz, 7000) \
	BOTH(cuStreamGetId,, 12000, _ptsz, 12000) \
	BOTH(cuStreamGetPriority,, 5050, _ptsz, 7000) \
	BOTH(cuStreamIsCapturing,, 10000, _ptsz, 10000) \
	BOTH(cuStreamQuery,, 2000, _ptsz, 7000) \
	BOTH(cuStreamSynchronize,, 2000, _ptsz, 7000) \
	BOTH(cuStreamWaitEvent,, 3020, _ptsz, 7000)

#endif
