/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime double: explicit launches, streams, events, waiting, capture. */
#include "cudart.h"

RT_STREAM(cudaLaunchKernelExC, v11060, _ptsz, v11060, (config, func, args), const cudaLaunchConfig_t *config,
	    const void *func, void **args)
{
	CUfunction function = simrt_function(func);
	CUlaunchConfig plan;

	if (!config || !function)
		return config ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidConfiguration;
	plan = (CUlaunchConfig){
		.gridDimX = config->gridDim.x, .gridDimY = config->gridDim.y, .gridDimZ = config->gridDim.z,
		.blockDimX = config->blockDim.x, .blockDimY = config->blockDim.y, .blockDimZ = config->blockDim.z,
		.sharedMemBytes = (unsigned)config->dynamicSmemBytes, .hStream = config->stream,
		.attrs = (CUlaunchAttribute *)config->attrs, .numAttrs = config->numAttrs,
	};
	return RT_ERROR(DRV_OF(cuLaunchKernelEx, _ptsz)(&plan, function, args, NULL));
}

RT_STREAM(cudaLaunchCooperativeKernel, v9000, _ptsz, v9000, (func, gridDim, blockDim, args, sharedMem, stream),
	    const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem, cudaStream_t stream)
{
	CUfunction function = simrt_function(func);

	if (!function)
		return cudaErrorInvalidDeviceFunction;
	return RT_ERROR(DRV_OF(cuLaunchCooperativeKernel, _ptsz)(function, gridDim.x, gridDim.y, gridDim.z, blockDim.x,
								blockDim.y, blockDim.z, (unsigned)sharedMem, stream,
								args));
}

RT_STREAM(cudaLaunchHostFunc, v10000, _ptsz, v10000, (stream, fn, userData), cudaStream_t stream, cudaHostFn_t fn,
	    void *userData)
{
	return RT_ERROR(DRV_OF(cuLaunchHostFunc, _ptsz)(stream, fn, userData));
}

/* ---- streams ---- */

RT(cudaStreamCreate, v3020, (pStream), cudaStream_t *pStream)
{
	return RT_ERROR(DRV(cuStreamCreate)(pStream, 0));
}

RT(cudaStreamCreateWithFlags, v5000, (pStream, flags), cudaStream_t *pStream, unsigned int flags)
{
	return RT_ERROR(DRV(cuStreamCreate)(pStream, flags));
}

RT(cudaStreamCreateWithPriority, v5050, (pStream, flags, priority), cudaStream_t *pStream, unsigned int flags,
	    int priority)
{
	return RT_ERROR(DRV(cuStreamCreateWithPriority)(pStream, flags, priority));
}

RT(cudaStreamDestroy, v5050, (stream), cudaStream_t stream)
{
	return RT_ERROR(DRV(cuStreamDestroy_v2)(stream));
}

RT_STREAM(cudaStreamSynchronize, v3020, _ptsz, v7000, (stream), cudaStream_t stream)
{
	return RT_ERROR(DRV_OF(cuStreamSynchronize, _ptsz)(stream));
}

RT_STREAM(cudaStreamQuery, v3020, _ptsz, v7000, (stream), cudaStream_t stream)
{
	return RT_ERROR(DRV_OF(cuStreamQuery, _ptsz)(stream));
}

RT_STREAM(cudaStreamWaitEvent, v3020, _ptsz, v7000, (stream, event, flags), cudaStream_t stream, cudaEvent_t event,
	    unsigned int flags)
{
	return RT_ERROR(DRV_OF(cuStreamWaitEvent, _ptsz)(stream, event, flags));
}

RT_STREAM(cudaStreamAddCallback, v5000, _ptsz, v7000, (stream, callback, userData, flags), cudaStream_t stream,
	    cudaStreamCallback_t callback, void *userData, unsigned int flags)
{
	/* The same type, except for the error's name. */
	CUstreamCallback same = (CUstreamCallback)(void (*)(void))callback;

	return RT_ERROR(DRV_OF(cuStreamAddCallback, _ptsz)(stream, same, userData, flags));
}

RT_STREAM(cudaStreamGetPriority, v5050, _ptsz, v7000, (hStream, priority), cudaStream_t hStream, int *priority)
{
	return RT_ERROR(DRV_OF(cuStreamGetPriority, _ptsz)(hStream, priority));
}

RT_STREAM(cudaStreamGetFlags, v5050, _ptsz, v7000, (hStream, flags), cudaStream_t hStream, unsigned int *flags)
{
	return RT_ERROR(DRV_OF(cuStreamGetFlags, _ptsz)(hStream, flags));
}

RT_STREAM(cudaStreamGetId, v12000, _ptsz, v12000, (hStream, streamId), cudaStream_t hStream,
	    unsigned long long *streamId)
{
	return RT_ERROR(DRV_OF(cuStreamGetId, _ptsz)(hStream, streamId));
}

RT_STREAM(cudaStreamGetDevice, v12080, _ptsz, v12080, (hStream, device), cudaStream_t hStream, int *device)
{
	return RT_ERROR(DRV_OF(cuStreamGetDevice, _ptsz)(hStream, device));
}

RT_STREAM(cudaStreamAttachMemAsync, v6000, _ptsz, v7000, (stream, devPtr, length, flags), cudaStream_t stream,
	    void *devPtr, size_t length, unsigned int flags)
{
	return RT_ERROR(DRV_OF(cuStreamAttachMemAsync, _ptsz)(stream, (CUdeviceptr)(uintptr_t)devPtr, length, flags));
}

RT_VOID(cudaDeviceSynchronize, v3020)
{
	return RT_ERROR(DRV(cuCtxSynchronize)());
}

/* ---- events ---- */

RT(cudaEventCreate, v3020, (event), cudaEvent_t *event)
{
	return RT_ERROR(DRV(cuEventCreate)(event, 0));
}

RT(cudaEventCreateWithFlags, v3020, (event, flags), cudaEvent_t *event, unsigned int flags)
{
	return RT_ERROR(DRV(cuEventCreate)(event, flags));
}

RT_STREAM(cudaEventRecord, v3020, _ptsz, v7000, (event, stream), cudaEvent_t event, cudaStream_t stream)
{
	return RT_ERROR(DRV_OF(cuEventRecord, _ptsz)(event, stream));
}

RT_STREAM(cudaEventRecordWithFlags, v11010, _ptsz, v11010, (event, stream, flags), cudaEvent_t event,
	    cudaStream_t stream, unsigned int flags)
{
	return RT_ERROR(DRV_OF(cuEventRecordWithFlags, _ptsz)(event, stream, flags));
}

RT(cudaEventQuery, v3020, (event), cudaEvent_t event)
{
	return RT_ERROR(DRV(cuEventQuery)(event));
}

RT(cudaEventSynchronize, v3020, (event), cudaEvent_t event)
{
	return RT_ERROR(DRV(cuEventSynchronize)(event));
}

RT(cudaEventDestroy, v3020, (event), cudaEvent_t event)
{
	return RT_ERROR(DRV(cuEventDestroy_v2)(event));
}

RT(cudaEventElapsedTime, v12080, (ms, start, end), float *ms, cudaEvent_t start, cudaEvent_t end)
{
	return RT_ERROR(DRV(cuEventElapsedTime)(ms, start, end));
}

/* ---- capture ---- */

RT_STREAM(cudaStreamBeginCapture, v10000, _ptsz, v10000, (stream, mode), cudaStream_t stream,
	    enum cudaStreamCaptureMode mode)
{
	return RT_ERROR(DRV_OF(cuStreamBeginCapture_v2, _ptsz)(stream, (CUstreamCaptureMode)mode));
}

RT_STREAM(cudaStreamEndCapture, v10000, _ptsz, v10000, (stream, pGraph), cudaStream_t stream, cudaGraph_t *pGraph)
{
	return RT_ERROR(DRV_OF(cuStreamEndCapture, _ptsz)(stream, pGraph));
}

RT_STREAM(cudaStreamIsCapturing, v10000, _ptsz, v10000, (stream, pCaptureStatus), cudaStream_t stream,
	    enum cudaStreamCaptureStatus *pCaptureStatus)
{
	return RT_ERROR(DRV_OF(cuStreamIsCapturing, _ptsz)(stream, (CUstreamCaptureStatus *)pCaptureStatus));
}

#if CUDART_MAJOR >= 13	/* CUDA 12 has fewer parameters under this name */
RT_STREAM(cudaStreamGetCaptureInfo, v12030, _ptsz, v12030,
	    (stream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out),
	    cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out, unsigned long long *id_out,
	    cudaGraph_t *graph_out, const cudaGraphNode_t **dependencies_out, const cudaGraphEdgeData **edgeData_out,
	    size_t *numDependencies_out)
{
	return RT_ERROR(DRV_OF(cuStreamGetCaptureInfo_v3, _ptsz)(stream, (CUstreamCaptureStatus *)captureStatus_out,
								(cuuint64_t *)id_out, graph_out, dependencies_out,
								(const CUgraphEdgeData **)edgeData_out,
								numDependencies_out));
}
#endif

RT(cudaThreadExchangeStreamCaptureMode, v10010, (mode), enum cudaStreamCaptureMode *mode)
{
	return RT_ERROR(DRV(cuThreadExchangeStreamCaptureMode)((CUstreamCaptureMode *)mode));
}
