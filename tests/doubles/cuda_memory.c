/* SPDX-License-Identifier: Apache-2.0 */
/* The driver double: allocation, pools, mapped memory, pointer queries. */
#include "cuda_entry.h"

#include <string.h>

#define PITCH_BYTES 512u

static CUresult alloc(enum sim_place place, size_t bytes, unsigned flags, void *ret_pointer)
{
	uintptr_t address = 0;
	CUresult result;

	if (!ret_pointer)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_alloc(place, bytes, flags, NULL, NULL, &address);
	if (result == CUDA_SUCCESS)
		memcpy(ret_pointer, &address, sizeof(address));
	return result;
}

ENTRY(cuMemGetInfo_v2, 3020, (free, total), size_t *free, size_t *total)
{
	const struct sim_device *device;

	if (!sim_context_current())
		return CUDA_ERROR_INVALID_CONTEXT;
	device = sim_device(sim_context_current()->device);
	if (free)
		*free = device->total_bytes - device->used_bytes;
	if (total)
		*total = device->total_bytes;
	return CUDA_SUCCESS;
}

ENTRY(cuMemAlloc_v2, 3020, (dptr, bytesize), CUdeviceptr *dptr, size_t bytesize)
{
	return alloc(SIM_DEVICE, bytesize, 0, dptr);
}

ENTRY(cuMemAllocPitch_v2, 3020, (dptr, pPitch, WidthInBytes, Height, ElementSizeBytes), CUdeviceptr *dptr,
	    size_t *pPitch, size_t WidthInBytes, size_t Height, unsigned int ElementSizeBytes)
{
	size_t pitch = (WidthInBytes + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES;

	UNUSED(&ElementSizeBytes);
	if (!pPitch)
		return CUDA_ERROR_INVALID_VALUE;
	*pPitch = pitch;
	return alloc(SIM_DEVICE, pitch * Height, 0, dptr);
}

ENTRY(cuMemFree_v2, 3020, (dptr), CUdeviceptr dptr)
{
	return dptr ? sim_free(dptr, NULL, false) : CUDA_SUCCESS;
}

ENTRY(cuMemGetAddressRange_v2, 3020, (pbase, psize, dptr), CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr)
{
	struct sim_allocation found;

	if (!sim_find(dptr, &found))
		return CUDA_ERROR_NOT_FOUND;
	if (pbase)
		*pbase = found.address;
	if (psize)
		*psize = found.bytes;
	return CUDA_SUCCESS;
}

ENTRY(cuMemAllocHost_v2, 3020, (pp, bytesize), void **pp, size_t bytesize)
{
	return alloc(SIM_PINNED, bytesize, 0, pp);
}

ENTRY(cuMemHostAlloc, 2020, (pp, bytesize, Flags), void **pp, size_t bytesize, unsigned int Flags)
{
	return alloc(SIM_PINNED, bytesize, Flags, pp);
}

ENTRY(cuMemFreeHost, 2000, (p), void *p)
{
	return p ? sim_free((uintptr_t)p, NULL, false) : CUDA_SUCCESS;
}

ENTRY(cuMemHostGetDevicePointer_v2, 3020, (pdptr, p, Flags), CUdeviceptr *pdptr, void *p, unsigned int Flags)
{
	struct sim_allocation found;

	if (!pdptr || Flags || !sim_find((uintptr_t)p, &found) || found.place != SIM_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	*pdptr = (CUdeviceptr)(uintptr_t)p;
	return CUDA_SUCCESS;
}

ENTRY(cuMemHostGetFlags, 2030, (pFlags, p), unsigned int *pFlags, void *p)
{
	struct sim_allocation found;

	if (!pFlags || !sim_find((uintptr_t)p, &found) || found.place != SIM_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	*pFlags = found.flags;
	return CUDA_SUCCESS;
}

ENTRY(cuMemHostRegister_v2, 6050, (p, bytesize, Flags), void *p, size_t bytesize, unsigned int Flags)
{
	return sim_register((uintptr_t)p, bytesize, Flags);
}

ENTRY(cuMemHostUnregister, 4000, (p), void *p)
{
	return sim_unregister((uintptr_t)p);
}

ENTRY(cuMemAllocManaged, 6000, (dptr, bytesize, flags), CUdeviceptr *dptr, size_t bytesize, unsigned int flags)
{
	return alloc(SIM_MANAGED, bytesize, flags, dptr);
}

/* ---- stream-ordered allocation ---- */

ENTRY_STREAM(cuMemAllocAsync, 11020, _ptsz, 11020, (dptr, bytesize, hStream), CUdeviceptr *dptr, size_t bytesize,
	    CUstream hStream)
{
	uintptr_t address = 0;
	CUresult result;
	STREAM_OR_RETURN(stream, hStream);

	if (!dptr)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_alloc(SIM_POOL, bytesize, 0, sim_device(stream->context->device)->pool, stream, &address);
	*dptr = address;
	return result;
}

ENTRY_STREAM(cuMemAllocFromPoolAsync, 11020, _ptsz, 11020, (dptr, bytesize, pool, hStream), CUdeviceptr *dptr,
	    size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
	uintptr_t address = 0;
	CUresult result;
	STREAM_OR_RETURN(stream, hStream);

	if (!dptr || !pool)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_alloc(SIM_POOL, bytesize, 0, (struct sim_pool *)pool, stream, &address);
	*dptr = address;
	return result;
}

ENTRY_STREAM(cuMemFreeAsync, 11020, _ptsz, 11020, (dptr, hStream), CUdeviceptr dptr, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	return dptr ? sim_free(dptr, stream, true) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuMemPoolCreate, 11020, (pool, poolProps), CUmemoryPool *pool, const CUmemPoolProps *poolProps)
{
	if (!pool || !poolProps || !sim_device(poolProps->location.id))
		return CUDA_ERROR_INVALID_VALUE;
	*pool = (CUmemoryPool)sim_pool_new(poolProps->location.id);
	return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

ENTRY(cuMemPoolDestroy, 11020, (pool), CUmemoryPool pool)
{
	return pool ? sim_pool_free((struct sim_pool *)pool) : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuMemPoolTrimTo, 11020, (pool, minBytesToKeep), CUmemoryPool pool, size_t minBytesToKeep)
{
	UNUSED(&minBytesToKeep);
	return pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuMemPoolSetAttribute, 11020, (pool, attr, value), CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	if (attr == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		((struct sim_pool *)pool)->threshold_bytes = *(cuuint64_t *)value;
	if (attr == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
		((struct sim_pool *)pool)->high_bytes = ((struct sim_pool *)pool)->used_bytes;
	return CUDA_SUCCESS;
}

ENTRY(cuMemPoolGetAttribute, 11020, (pool, attr, value), CUmemoryPool pool, CUmemPool_attribute attr, void *value)
{
	const struct sim_pool *from = (const struct sim_pool *)pool;

	if (!from || !value)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attr) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		*(cuuint64_t *)value = from->threshold_bytes;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		*(cuuint64_t *)value = from->used_bytes;
		break;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		*(cuuint64_t *)value = from->high_bytes;
		break;
	default:
		*(int *)value = 1;
	}
	return CUDA_SUCCESS;
}

ENTRY(cuMemPoolSetAccess, 11020, (pool, map, count), CUmemoryPool pool, const CUmemAccessDesc *map, size_t count)
{
	UNUSED(map, &count);
	return pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuDeviceGetDefaultMemPool, 11020, (pool_out, dev), CUmemoryPool *pool_out, CUdevice dev)
{
	if (!pool_out || !sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*pool_out = (CUmemoryPool)sim_device(dev)->default_pool;
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetMemPool, 11020, (pool, dev), CUmemoryPool *pool, CUdevice dev)
{
	if (!pool || !sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*pool = (CUmemoryPool)sim_device(dev)->pool;
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceSetMemPool, 11020, (dev, pool), CUdevice dev, CUmemoryPool pool)
{
	if (!pool || !sim_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	sim_device(dev)->pool = (struct sim_pool *)pool;
	return CUDA_SUCCESS;
}

/* ---- virtual memory management ---- */

ENTRY(cuMemAddressReserve, 10020, (ptr, size, alignment, addr, flags), CUdeviceptr *ptr, size_t size,
	    size_t alignment, CUdeviceptr addr, unsigned long long flags)
{
	uintptr_t address = 0;
	CUresult result;

	UNUSED(&alignment, &addr, &flags);
	if (!ptr || !size)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_reserve(&address, size);
	*ptr = address;
	return result;
}

ENTRY(cuMemAddressFree, 10020, (ptr, size), CUdeviceptr ptr, size_t size)
{
	return sim_unreserve(ptr, size);
}

ENTRY(cuMemCreate, 10020, (handle, size, prop, flags), CUmemGenericAllocationHandle *handle, size_t size,
	    const CUmemAllocationProp *prop, unsigned long long flags)
{
	uint64_t made = 0;
	CUresult result;

	if (!handle || !prop || flags)
		return CUDA_ERROR_INVALID_VALUE;
	result = sim_physical_new(size, prop->location.id, &made);
	*handle = made;
	return result;
}

ENTRY(cuMemRelease, 10020, (handle), CUmemGenericAllocationHandle handle)
{
	return sim_physical_free(handle);
}

ENTRY(cuMemMap, 10020, (ptr, size, offset, handle, flags), CUdeviceptr ptr, size_t size, size_t offset,
	    CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	return offset || flags ? CUDA_ERROR_NOT_SUPPORTED : sim_map(ptr, size, handle);
}

ENTRY(cuMemUnmap, 10020, (ptr, size), CUdeviceptr ptr, size_t size)
{
	return sim_unmap(ptr, size);
}

ENTRY(cuMemSetAccess, 10020, (ptr, size, desc, count), CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc,
	    size_t count)
{
	UNUSED(&size, desc, &count);
	return ptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuMemGetAllocationGranularity, 10020, (granularity, prop, option), size_t *granularity,
	    const CUmemAllocationProp *prop, CUmemAllocationGranularity_flags option)
{
	UNUSED(prop, &option);
	if (!granularity)
		return CUDA_ERROR_INVALID_VALUE;
	*granularity = 2u << 20;
	return CUDA_SUCCESS;
}

/* ---- pointers ---- */

static CUresult pointer_attribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct sim_allocation found;

	if (!sim_find(ptr, &found))
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(CUcontext *)data = (CUcontext)found.context;
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned *)data = found.place == SIM_PINNED ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		*(CUdeviceptr *)data = ptr;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)data = found.address;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)data = found.bytes;
		break;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*(unsigned long long *)data = found.id;
		break;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned *)data = found.place == SIM_MANAGED;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = found.device;
		break;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(unsigned *)data = 1;
		break;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
	return CUDA_SUCCESS;
}

ENTRY(cuPointerGetAttribute, 4000, (data, attribute, ptr), void *data, CUpointer_attribute attribute,
	    CUdeviceptr ptr)
{
	return data ? pointer_attribute(data, attribute, ptr) : CUDA_ERROR_INVALID_VALUE;
}

/* As documented, attributes of unknown pointers are null without an error. */
ENTRY(cuPointerGetAttributes, 7000, (numAttributes, attributes, data, ptr), unsigned int numAttributes,
	    CUpointer_attribute *attributes, void **data, CUdeviceptr ptr)
{
	for (unsigned i = 0; i < numAttributes; i++) {
		if (pointer_attribute(data[i], attributes[i], ptr) == CUDA_SUCCESS)
			continue;
		if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
			*(int *)data[i] = -2;
		else if (attributes[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
			 attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED)
			*(unsigned *)data[i] = 0;
		else
			*(CUdeviceptr *)data[i] = 0;
	}
	return CUDA_SUCCESS;
}

ENTRY(cuPointerSetAttribute, 6000, (value, attribute, ptr), const void *value, CUpointer_attribute attribute,
	    CUdeviceptr ptr)
{
	UNUSED(value, &attribute);
	return ptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

ENTRY(cuMemAdvise_v2, 12020, (devPtr, count, advice, location), CUdeviceptr devPtr, size_t count,
	    CUmem_advise advice, CUmemLocation location)
{
	UNUSED(&advice, &location);
	return devPtr && count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

ENTRY_STREAM(cuMemPrefetchAsync_v2, 12020, _ptsz, 12020, (devPtr, count, location, flags, hStream),
	    CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags, CUstream hStream)
{
	STREAM_OR_RETURN(stream, hStream);

	UNUSED(&location, &flags);
	return devPtr && count && stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
