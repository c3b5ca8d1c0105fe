/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the types and values of preload/cuda/cuda_abi.h with those of NVIDIA's headers, which have the same names:
 * hence the namespace. */
#include <stddef.h>
#include <stdint.h>
#include <type_traits>

namespace ours {
#include "preload/cuda/cuda_abi.h"
}

#include <cuda.h>
#include <cuda_runtime_api.h>

#define SAME_VALUE(name) static_assert((int)ours::name == (int)::name, #name " has another value");
#define SAME_SIZE(type)                                                                                                \
	static_assert(sizeof(ours::type) == sizeof(::type) && alignof(ours::type) == alignof(::type),                  \
		      #type " has another size");
#define SAME_HANDLE(type)                                                                                              \
	static_assert(std::is_pointer<::type>::value && sizeof(ours::type) == sizeof(::type), #type " is no handle");
#define SAME_ENUM(type)                                                                                                \
	static_assert(std::is_enum<::type>::value && sizeof(ours::type) == sizeof(::type), #type " is no enumeration");
#define SAME_TYPE(type) static_assert(std::is_same<ours::type, ::type>::value, #type " is another type");
#define SAME_FIELD(type, field)                                                                                        \
	static_assert(offsetof(ours::type, field) == offsetof(::type, field) &&                                        \
			      sizeof(ours::type::field) == sizeof(::type::field),                                      \
		      #type "." #field " is elsewhere");

CUDA_HANDLES(SAME_HANDLE)
SAME_HANDLE(cudaArray_t)
SAME_HANDLE(cudaArray_const_t)
SAME_HANDLE(cudaHostFn_t)
SAME_HANDLE(cudaStreamCallback_t)
SAME_HANDLE(CUhostFn)
SAME_HANDLE(CUstreamCallback)
CUDA_TAGGED_ENUMS(SAME_ENUM)
CUDA_ENUMS(SAME_ENUM)
SAME_ENUM(cudaError_t)
SAME_ENUM(cudaMemcpyKind)
SAME_ENUM(CUresult)
SAME_ENUM(CUarray_format)
SAME_ENUM(CUmemorytype)
SAME_TYPE(CUdevice)
SAME_TYPE(CUdeviceptr)
SAME_TYPE(CUmemGenericAllocationHandle)
SAME_TYPE(cuuint32_t)
SAME_TYPE(cuuint64_t)

SAME_VALUE(cudaErrorNoDevice)
SAME_VALUE(cudaMemcpyHostToHost)
SAME_VALUE(cudaMemcpyHostToDevice)
SAME_VALUE(cudaMemcpyDeviceToHost)
SAME_VALUE(cudaMemcpyDeviceToDevice)
SAME_VALUE(cudaMemcpyDefault)
SAME_VALUE(cudaEnablePerThreadDefaultStream)
SAME_VALUE(CUDA_ERROR_NO_DEVICE)
SAME_VALUE(CU_AD_FORMAT_UNSIGNED_INT8)
SAME_VALUE(CU_AD_FORMAT_UNSIGNED_INT32)
SAME_VALUE(CU_AD_FORMAT_SIGNED_INT8)
SAME_VALUE(CU_AD_FORMAT_SIGNED_INT32)
SAME_VALUE(CU_AD_FORMAT_FLOAT)
SAME_VALUE(CU_MEMORYTYPE_HOST)
SAME_VALUE(CU_MEMORYTYPE_DEVICE)
SAME_VALUE(CU_MEMORYTYPE_ARRAY)
SAME_VALUE(CU_MEMORYTYPE_UNIFIED)

/* Passed by value. */
SAME_SIZE(dim3)
SAME_FIELD(dim3, x)
SAME_FIELD(dim3, y)
SAME_FIELD(dim3, z)
SAME_SIZE(cudaExtent)
SAME_FIELD(cudaExtent, width)
SAME_FIELD(cudaExtent, height)
SAME_FIELD(cudaExtent, depth)
SAME_SIZE(cudaPitchedPtr)
SAME_FIELD(cudaPitchedPtr, ptr)
SAME_FIELD(cudaPitchedPtr, pitch)
SAME_SIZE(cudaIpcMemHandle_t)
SAME_SIZE(CUipcMemHandle)

/* Passed by address. */
SAME_SIZE(cudaPos)
SAME_FIELD(cudaChannelFormatDesc, x)
SAME_FIELD(cudaChannelFormatDesc, y)
SAME_FIELD(cudaChannelFormatDesc, z)
SAME_FIELD(cudaChannelFormatDesc, w)
SAME_FIELD(cudaLaunchConfig_t, gridDim)
SAME_FIELD(cudaLaunchConfig_t, blockDim)
SAME_FIELD(cudaLaunchConfig_t, dynamicSmemBytes)
SAME_FIELD(cudaLaunchConfig_t, stream)
SAME_FIELD(cudaMemcpy3DParms, srcArray)
SAME_FIELD(cudaMemcpy3DParms, dstArray)
SAME_FIELD(cudaMemcpy3DParms, extent)
SAME_FIELD(cudaMemcpy3DParms, kind)
SAME_FIELD(cudaMemcpy3DPeerParms, srcArray)
SAME_FIELD(cudaMemcpy3DPeerParms, dstArray)
SAME_FIELD(cudaMemcpy3DPeerParms, extent)
SAME_FIELD(CUlaunchConfig, gridDimX)
SAME_FIELD(CUlaunchConfig, gridDimY)
SAME_FIELD(CUlaunchConfig, gridDimZ)
SAME_FIELD(CUlaunchConfig, blockDimX)
SAME_FIELD(CUlaunchConfig, blockDimY)
SAME_FIELD(CUlaunchConfig, blockDimZ)
SAME_FIELD(CUlaunchConfig, sharedMemBytes)
SAME_FIELD(CUlaunchConfig, hStream)
SAME_FIELD(CUDA_ARRAY_DESCRIPTOR, Width)
SAME_FIELD(CUDA_ARRAY_DESCRIPTOR, Height)
SAME_FIELD(CUDA_ARRAY_DESCRIPTOR, Format)
SAME_FIELD(CUDA_ARRAY_DESCRIPTOR, NumChannels)
SAME_FIELD(CUDA_ARRAY3D_DESCRIPTOR, Width)
SAME_FIELD(CUDA_ARRAY3D_DESCRIPTOR, Height)
SAME_FIELD(CUDA_ARRAY3D_DESCRIPTOR, Depth)
SAME_FIELD(CUDA_ARRAY3D_DESCRIPTOR, Format)
SAME_FIELD(CUDA_ARRAY3D_DESCRIPTOR, NumChannels)
SAME_FIELD(CUDA_MEMCPY2D, srcMemoryType)
SAME_FIELD(CUDA_MEMCPY2D, dstMemoryType)
SAME_FIELD(CUDA_MEMCPY2D, WidthInBytes)
SAME_FIELD(CUDA_MEMCPY2D, Height)
SAME_FIELD(CUDA_MEMCPY3D, srcMemoryType)
SAME_FIELD(CUDA_MEMCPY3D, dstMemoryType)
SAME_FIELD(CUDA_MEMCPY3D, WidthInBytes)
SAME_FIELD(CUDA_MEMCPY3D, Height)
SAME_FIELD(CUDA_MEMCPY3D, Depth)
SAME_FIELD(CUDA_MEMCPY3D_PEER, WidthInBytes)
SAME_FIELD(CUDA_MEMCPY3D_PEER, Height)
SAME_FIELD(CUDA_MEMCPY3D_PEER, Depth)
