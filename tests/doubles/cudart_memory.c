/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime double: memory. */
#include "cudart.h"

#include <string.h>

static cudaError_t pointer(CUresult result, const CUdeviceptr *address, void **ret_pointer)
{
	if (result == CUDA_SUCCESS)
		*ret_pointer = (void *)(uintptr_t)*address;
	return RT_ERROR(result);
}

static CUdeviceptr at(const void *pointer)
{
	return (CUdeviceptr)(uintptr_t)pointer;
}

/* ---- allocation ---- */

RT(cudaMalloc, v3020, (devPtr, size), void **devPtr, size_t size)
{
	CUdeviceptr address = 0;

	if (!devPtr)
		return cudaErrorInvalidValue;
	*devPtr = NULL;
	return size ? pointer(DRV(cuMemAlloc_v2)(&address, size), &address, devPtr) : cudaSuccess;
}

RT(cudaMallocManaged, v6000, (devPtr, size, flags), void **devPtr, size_t size, unsigned int flags)
{
	CUdeviceptr address = 0;

	if (!devPtr)
		return cudaErrorInvalidValue;
	return pointer(DRV(cuMemAllocManaged)(&address, size, flags), &address, devPtr);
}

RT(cudaMallocHost, v3020, (ptr, size), void **ptr, size_t size)
{
	return RT_ERROR(DRV(cuMemHostAlloc)(ptr, size, 0));
}

RT(cudaHostAlloc, v3020, (pHost, size, flags), void **pHost, size_t size, unsigned int flags)
{
	return RT_ERROR(DRV(cuMemHostAlloc)(pHost, size, flags));
}

RT(cudaMallocPitch, v3020, (devPtr, pitch, width, height), void **devPtr, size_t *pitch, size_t width,
	    size_t height)
{
	CUdeviceptr address = 0;

	if (!devPtr || !pitch)
		return cudaErrorInvalidValue;
	return pointer(DRV(cuMemAllocPitch_v2)(&address, pitch, width, height, 4), &address, devPtr);
}

RT(cudaMalloc3D, v3020, (pitchedDevPtr, extent), struct cudaPitchedPtr* pitchedDevPtr, struct cudaExtent extent)
{
	CUdeviceptr address = 0;
	CUresult result;

	if (!pitchedDevPtr)
		return cudaErrorInvalidValue;
	result = DRV(cuMemAllocPitch_v2)(&address, &pitchedDevPtr->pitch, extent.width, extent.height * extent.depth,
					 4);
	pitchedDevPtr->xsize = extent.width;
	pitchedDevPtr->ysize = extent.height;
	return pointer(result, &address, &pitchedDevPtr->ptr);
}

RT(cudaFree, v3020, (devPtr), void *devPtr)
{
	return RT_ERROR(DRV(cuMemFree_v2)(at(devPtr)));
}

RT(cudaFreeHost, v3020, (ptr), void *ptr)
{
	return RT_ERROR(DRV(cuMemFreeHost)(ptr));
}

RT(cudaHostRegister, v4000, (ptr, size, flags), void *ptr, size_t size, unsigned int flags)
{
	return RT_ERROR(DRV(cuMemHostRegister_v2)(ptr, size, flags));
}

RT(cudaHostUnregister, v4000, (ptr), void *ptr)
{
	return RT_ERROR(DRV(cuMemHostUnregister)(ptr));
}

RT(cudaHostGetDevicePointer, v3020, (pDevice, pHost, flags), void **pDevice, void *pHost, unsigned int flags)
{
	CUdeviceptr address = 0;

	return pointer(DRV(cuMemHostGetDevicePointer_v2)(&address, pHost, flags), &address, pDevice);
}

RT(cudaHostGetFlags, v3020, (pFlags, pHost), unsigned int *pFlags, void *pHost)
{
	return RT_ERROR(DRV(cuMemHostGetFlags)(pFlags, pHost));
}

RT(cudaMemGetInfo, v3020, (free, total), size_t *free, size_t *total)
{
	return RT_ERROR(DRV(cuMemGetInfo_v2)(free, total));
}

RT_STREAM(cudaMallocAsync, v11020, _ptsz, v11020, (devPtr, size, hStream), void **devPtr, size_t size,
	    cudaStream_t hStream)
{
	CUdeviceptr address = 0;

	if (!devPtr)
		return cudaErrorInvalidValue;
	return pointer(DRV_OF(cuMemAllocAsync, _ptsz)(&address, size, hStream), &address, devPtr);
}

RT_STREAM(cudaMallocFromPoolAsync, v11020, _ptsz, v11020, (ptr, size, memPool, stream), void **ptr, size_t size,
	    cudaMemPool_t memPool, cudaStream_t stream)
{
	CUdeviceptr address = 0;

	if (!ptr)
		return cudaErrorInvalidValue;
	return pointer(DRV_OF(cuMemAllocFromPoolAsync, _ptsz)(&address, size, memPool, stream), &address, ptr);
}

RT_STREAM(cudaFreeAsync, v11020, _ptsz, v11020, (devPtr, hStream), void *devPtr, cudaStream_t hStream)
{
	return RT_ERROR(DRV_OF(cuMemFreeAsync, _ptsz)(at(devPtr), hStream));
}

RT(cudaMemPoolCreate, v11020, (memPool, poolProps), cudaMemPool_t *memPool,
	    const struct cudaMemPoolProps *poolProps)
{
	return RT_ERROR(DRV(cuMemPoolCreate)(memPool, (const CUmemPoolProps *)poolProps));
}

RT(cudaMemPoolDestroy, v11020, (memPool), cudaMemPool_t memPool)
{
	return RT_ERROR(DRV(cuMemPoolDestroy)(memPool));
}

RT(cudaMemPoolTrimTo, v11020, (memPool, minBytesToKeep), cudaMemPool_t memPool, size_t minBytesToKeep)
{
	return RT_ERROR(DRV(cuMemPoolTrimTo)(memPool, minBytesToKeep));
}

RT(cudaMemPoolSetAttribute, v11020, (memPool, attr, value), cudaMemPool_t memPool, enum cudaMemPoolAttr attr,
	    void *value)
{
	return RT_ERROR(DRV(cuMemPoolSetAttribute)(memPool, (CUmemPool_attribute)attr, value));
}

RT(cudaMemPoolGetAttribute, v11020, (memPool, attr, value), cudaMemPool_t memPool, enum cudaMemPoolAttr attr,
	    void *value)
{
	return RT_ERROR(DRV(cuMemPoolGetAttribute)(memPool, (CUmemPool_attribute)attr, value));
}

RT(cudaDeviceGetDefaultMemPool, v11020, (memPool, device), cudaMemPool_t *memPool, int device)
{
	return RT_ERROR(DRV(cuDeviceGetDefaultMemPool)(memPool, device));
}

RT(cudaDeviceGetMemPool, v11020, (memPool, device), cudaMemPool_t *memPool, int device)
{
	return RT_ERROR(DRV(cuDeviceGetMemPool)(memPool, device));
}

RT(cudaDeviceSetMemPool, v11020, (device, memPool), int device, cudaMemPool_t memPool)
{
	return RT_ERROR(DRV(cuDeviceSetMemPool)(device, memPool));
}

/* ---- copies ---- */

static cudaError_t copy(bool is_per_thread, void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return RT_ERROR(DRV_OF(cuMemcpyHtoD_v2, _ptds)(at(dst), src, bytes));
	case cudaMemcpyDeviceToHost:
		return RT_ERROR(DRV_OF(cuMemcpyDtoH_v2, _ptds)(dst, at(src), bytes));
	case cudaMemcpyDeviceToDevice:
		return RT_ERROR(DRV_OF(cuMemcpyDtoD_v2, _ptds)(at(dst), at(src), bytes));
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return RT_ERROR(DRV_OF(cuMemcpy, _ptds)(at(dst), at(src), bytes));
	default:
		return cudaErrorInvalidMemcpyDirection;
	}
}

static cudaError_t copy_async(bool is_per_thread, void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind,
			      cudaStream_t stream)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return RT_ERROR(DRV_OF(cuMemcpyHtoDAsync_v2, _ptsz)(at(dst), src, bytes, stream));
	case cudaMemcpyDeviceToHost:
		return RT_ERROR(DRV_OF(cuMemcpyDtoHAsync_v2, _ptsz)(dst, at(src), bytes, stream));
	case cudaMemcpyDeviceToDevice:
		return RT_ERROR(DRV_OF(cuMemcpyDtoDAsync_v2, _ptsz)(at(dst), at(src), bytes, stream));
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return RT_ERROR(DRV_OF(cuMemcpyAsync, _ptsz)(at(dst), at(src), bytes, stream));
	default:
		return cudaErrorInvalidMemcpyDirection;
	}
}

RT_STREAM(cudaMemcpy, v3020, _ptds, v7000, (dst, src, count, kind), void *dst, const void *src, size_t count,
	    enum cudaMemcpyKind kind)
{
	return copy(is_per_thread, dst, src, count, kind);
}

RT_STREAM(cudaMemcpyAsync, v3020, _ptsz, v7000, (dst, src, count, kind, stream), void *dst, const void *src,
	    size_t count, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	return copy_async(is_per_thread, dst, src, count, kind, stream);
}

RT_STREAM(cudaMemcpyWithAttributesAsync, v13020, _ptsz, v13020, (dst, src, size, attr, stream), void *dst,
	    const void *src, size_t size, struct cudaMemcpyAttributes *attr, cudaStream_t stream)
{
	return RT_ERROR(DRV_OF(cuMemcpyAsync, _ptsz)(at(dst), at(src), size, stream));
}

RT(cudaMemcpyPeer, v4000, (dst, dstDevice, src, srcDevice, count), void *dst, int dstDevice, const void *src,
	    int srcDevice, size_t count)
{
	return RT_ERROR(DRV(cuMemcpyPeer)(at(dst), simrt_primary(dstDevice), at(src), simrt_primary(srcDevice), count));
}

RT(cudaMemcpyPeerAsync, v4000, (dst, dstDevice, src, srcDevice, count, stream), void *dst, int dstDevice,
	    const void *src, int srcDevice, size_t count, cudaStream_t stream)
{
	return RT_ERROR(DRV(cuMemcpyPeerAsync)(at(dst), simrt_primary(dstDevice), at(src), simrt_primary(srcDevice),
					      count, stream));
}

RT_STREAM(cudaMemcpyToSymbol, v3020, _ptds, v7000, (symbol, src, count, offset, kind), const void *symbol,
	    const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
	CUdeviceptr address = simrt_variable(symbol, NULL);

	if (!address)
		return cudaErrorInvalidSymbol;
	return copy(is_per_thread, (void *)(uintptr_t)(address + offset), src, count, kind);
}

RT_STREAM(cudaMemcpyFromSymbol, v3020, _ptds, v7000, (dst, symbol, count, offset, kind), void *dst,
	    const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind)
{
	CUdeviceptr address = simrt_variable(symbol, NULL);

	if (!address)
		return cudaErrorInvalidSymbol;
	return copy(is_per_thread, dst, (const void *)(uintptr_t)(address + offset), count, kind);
}

RT_STREAM(cudaMemcpyToSymbolAsync, v3020, _ptsz, v7000, (symbol, src, count, offset, kind, stream),
	    const void *symbol, const void *src, size_t count, size_t offset, enum cudaMemcpyKind kind,
	    cudaStream_t stream)
{
	CUdeviceptr address = simrt_variable(symbol, NULL);

	if (!address)
		return cudaErrorInvalidSymbol;
	return copy_async(is_per_thread, (void *)(uintptr_t)(address + offset), src, count, kind, stream);
}

RT_STREAM(cudaMemcpyFromSymbolAsync, v3020, _ptsz, v7000, (dst, symbol, count, offset, kind, stream), void *dst,
	    const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	CUdeviceptr address = simrt_variable(symbol, NULL);

	if (!address)
		return cudaErrorInvalidSymbol;
	return copy_async(is_per_thread, dst, (const void *)(uintptr_t)(address + offset), count, kind, stream);
}

RT(cudaGetSymbolAddress, v3020, (devPtr, symbol), void **devPtr, const void *symbol)
{
	CUdeviceptr address = simrt_variable(symbol, NULL);

	return pointer(address ? CUDA_SUCCESS : (CUresult)cudaErrorInvalidSymbol, &address, devPtr);
}

RT(cudaGetSymbolSize, v3020, (size, symbol), size_t *size, const void *symbol)
{
	return simrt_variable(symbol, size) ? cudaSuccess : cudaErrorInvalidSymbol;
}

static CUDA_MEMCPY2D rows(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height)
{
	return (CUDA_MEMCPY2D){
		.srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = at(src), .srcPitch = src_pitch,
		.dstMemoryType = CU_MEMORYTYPE_UNIFIED, .dstDevice = at(dst), .dstPitch = dst_pitch,
		.WidthInBytes = width, .Height = height,
	};
}

RT_STREAM(cudaMemcpy2D, v3020, _ptds, v7000, (dst, dpitch, src, spitch, width, height, kind), void *dst,
	    size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY2D plan = rows(dst, dpitch, src, spitch, width, height);

	(void)kind;
	return RT_ERROR(DRV_OF(cuMemcpy2DUnaligned_v2, _ptds)(&plan));
}

RT_STREAM(cudaMemcpy2DAsync, v3020, _ptsz, v7000, (dst, dpitch, src, spitch, width, height, kind, stream),
	    void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
	    enum cudaMemcpyKind kind, cudaStream_t stream)
{
	CUDA_MEMCPY2D plan = rows(dst, dpitch, src, spitch, width, height);

	(void)kind;
	return RT_ERROR(DRV_OF(cuMemcpy2DAsync_v2, _ptsz)(&plan, stream));
}

void simrt_plan_3d(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *ret_plan)
{
	*ret_plan = (CUDA_MEMCPY3D){
		.srcMemoryType = p->srcArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
		.srcDevice = at(p->srcPtr.ptr), .srcPitch = p->srcPtr.pitch, .srcHeight = p->srcPtr.ysize,
		.srcXInBytes = p->srcPos.x, .srcY = p->srcPos.y, .srcZ = p->srcPos.z,
		.dstMemoryType = p->dstArray ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED,
		.dstDevice = at(p->dstPtr.ptr), .dstPitch = p->dstPtr.pitch, .dstHeight = p->dstPtr.ysize,
		.dstXInBytes = p->dstPos.x, .dstY = p->dstPos.y, .dstZ = p->dstPos.z,
		.WidthInBytes = p->extent.width, .Height = p->extent.height, .Depth = p->extent.depth,
	};
}

RT_STREAM(cudaMemcpy3D, v3020, _ptds, v7000, (p), const struct cudaMemcpy3DParms *p)
{
	CUDA_MEMCPY3D plan;

	simrt_plan_3d(p, &plan);
	return RT_ERROR(DRV_OF(cuMemcpy3D_v2, _ptds)(&plan));
}

RT_STREAM(cudaMemcpy3DAsync, v3020, _ptsz, v7000, (p, stream), const struct cudaMemcpy3DParms *p,
	    cudaStream_t stream)
{
	CUDA_MEMCPY3D plan;

	simrt_plan_3d(p, &plan);
	return RT_ERROR(DRV_OF(cuMemcpy3DAsync_v2, _ptsz)(&plan, stream));
}

/* ---- memsets ---- */

RT_STREAM(cudaMemset, v3020, _ptds, v7000, (devPtr, value, count), void *devPtr, int value, size_t count)
{
	return RT_ERROR(DRV_OF(cuMemsetD8_v2, _ptds)(at(devPtr), (unsigned char)value, count));
}

RT_STREAM(cudaMemsetAsync, v3020, _ptsz, v7000, (devPtr, value, count, stream), void *devPtr, int value,
	    size_t count, cudaStream_t stream)
{
	return RT_ERROR(DRV_OF(cuMemsetD8Async, _ptsz)(at(devPtr), (unsigned char)value, count, stream));
}

RT_STREAM(cudaMemset2D, v3020, _ptds, v7000, (devPtr, pitch, value, width, height), void *devPtr, size_t pitch,
	    int value, size_t width, size_t height)
{
	return RT_ERROR(DRV_OF(cuMemsetD2D8_v2, _ptds)(at(devPtr), pitch, (unsigned char)value, width, height));
}

RT_STREAM(cudaMemset2DAsync, v3020, _ptsz, v7000, (devPtr, pitch, value, width, height, stream), void *devPtr,
	    size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
	return RT_ERROR(DRV_OF(cuMemsetD2D8Async, _ptsz)(at(devPtr), pitch, (unsigned char)value, width, height,
							stream));
}

/* Slices are contiguous if the extent is as high as the memory; other cases are not simulated. */
RT_STREAM(cudaMemset3D, v3020, _ptds, v7000, (pitchedDevPtr, value, extent), struct cudaPitchedPtr pitchedDevPtr,
	    int value, struct cudaExtent extent)
{
	return RT_ERROR(DRV_OF(cuMemsetD2D8_v2, _ptds)(at(pitchedDevPtr.ptr), pitchedDevPtr.pitch,
						      (unsigned char)value, extent.width,
						      extent.height * extent.depth));
}

RT_STREAM(cudaMemset3DAsync, v3020, _ptsz, v7000, (pitchedDevPtr, value, extent, stream),
	    struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent, cudaStream_t stream)
{
	return RT_ERROR(DRV_OF(cuMemsetD2D8Async, _ptsz)(at(pitchedDevPtr.ptr), pitchedDevPtr.pitch,
							(unsigned char)value, extent.width,
							extent.height * extent.depth, stream));
}

/* ---- pointers ---- */

RT(cudaPointerGetAttributes, v4000, (attributes, ptr), struct cudaPointerAttributes *attributes, const void *ptr)
{
	unsigned type = 0, is_managed = 0;
	int device = -2;
	CUpointer_attribute wanted[] = { CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
					 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL };
	void *into[] = { &type, &is_managed, &device };
	CUresult result = DRV(cuPointerGetAttributes)(3, wanted, into, at(ptr));

	if (result != CUDA_SUCCESS || !attributes)
		return attributes ? RT_ERROR(result) : cudaErrorInvalidValue;
	memset(attributes, 0, sizeof(*attributes));
	attributes->type = is_managed ? cudaMemoryTypeManaged : type == CU_MEMORYTYPE_DEVICE ? cudaMemoryTypeDevice :
			   type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
	attributes->device = device;
	attributes->devicePointer = type ? (void *)(uintptr_t)ptr : NULL;
	attributes->hostPointer = type != CU_MEMORYTYPE_DEVICE || is_managed ? (void *)(uintptr_t)ptr : NULL;
	return cudaSuccess;
}

#if CUDART_MAJOR >= 13	/* CUDA 12 gives the location as a device number */
RT(cudaMemAdvise, v12020, (devPtr, count, advice, location), const void *devPtr, size_t count,
	    enum cudaMemoryAdvise advice, struct cudaMemLocation location)
{
	CUmemLocation where = { .type = (CUmemLocationType)location.type, .id = location.id };

	return RT_ERROR(DRV(cuMemAdvise_v2)(at(devPtr), count, (CUmem_advise)advice, where));
}

RT_STREAM(cudaMemPrefetchAsync, v12020, _ptsz, v12020, (devPtr, count, location, flags, stream), const void *devPtr,
	    size_t count, struct cudaMemLocation location, unsigned int flags, cudaStream_t stream)
{
	CUmemLocation where = { .type = (CUmemLocationType)location.type, .id = location.id };

	return RT_ERROR(DRV_OF(cuMemPrefetchAsync_v2, _ptsz)(at(devPtr), count, where, flags, stream));
}
#endif
