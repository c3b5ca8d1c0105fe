/* SPDX-License-Identifier: Apache-2.0 */
/* The types and values of CUDA's runtime and driver that the rows use, under CUDA's names. They are declared here so
 * that every build records CUDA, with NVIDIA's headers or without them; tests/abi compares them, and the prototypes
 * in the rows, with NVIDIA's headers. They are the same in all releases from 11.8 on. Of structures that are
 * passed by address, only the fields up to the last one that is read are declared. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The newest release of which all rows are known: wrap_cuGetProcAddress. */
enum { CUDA_NEWEST = 13050 };

enum { CUDA_STREAM_LEGACY = 1 }; /* cudaStreamLegacy, a handle */

#define CUDA_HANDLES(X)                                                                                                \
	X(cudaStream_t) X(cudaEvent_t) X(cudaGraph_t) X(cudaGraphExec_t) X(cudaMemPool_t) X(cudaMipmappedArray_t)      \
	X(CUarray) X(CUcontext) X(CUevent) X(CUexternalSemaphore) X(CUfunction) X(CUgraph) X(CUgraphExec)              \
	X(CUgraphNode) X(CUlinkState) X(CUmemoryPool) X(CUmipmappedArray) X(CUmodule) X(CUstream)
#define CUDA_HANDLE(name) typedef struct pillion_##name *name;
CUDA_HANDLES(CUDA_HANDLE)
#undef CUDA_HANDLE

/* Enumerations whose values are passed on as they are. */
#define CUDA_TAGGED_ENUMS(X) X(cudaFuncAttribute) X(cudaLimit) X(cudaStreamCaptureMode)
#define CUDA_ENUMS(X)                                                                                                  \
	X(CUfunction_attribute) X(CUgraphExecUpdateResult) X(CUjitInputType) X(CUjit_option) X(CUlimit)                \
	X(CUmemAllocationHandleType) X(CUmem_advise) X(CUstreamCaptureMode)
#define CUDA_TAGGED_ENUM(name) enum name { PILLION_##name };
#define CUDA_ENUM(name) typedef enum { PILLION_##name } name;
CUDA_TAGGED_ENUMS(CUDA_TAGGED_ENUM)
CUDA_ENUMS(CUDA_ENUM)
#undef CUDA_TAGGED_ENUM
#undef CUDA_ENUM

/* Structures whose addresses are passed on. */
struct cudaFuncAttributes;
struct cudaMemPoolProps;
#define CUDA_STRUCT(name) typedef struct pillion_##name name;
CUDA_STRUCT(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS)
CUDA_STRUCT(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS)
CUDA_STRUCT(CUDA_LAUNCH_PARAMS)
CUDA_STRUCT(CUarrayMapInfo)
CUDA_STRUCT(CUexecAffinityParam)
CUDA_STRUCT(CUmemAccessDesc)
CUDA_STRUCT(CUmemAllocationProp)
CUDA_STRUCT(CUmemPoolProps)
CUDA_STRUCT(CUstreamBatchMemOpParams)
#undef CUDA_STRUCT

/* ---- the runtime ---- */

typedef enum { cudaErrorNoDevice = 100 } cudaError_t;

typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef void (*cudaHostFn_t)(void *data);
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *data);

enum cudaMemcpyKind {
	cudaMemcpyHostToHost,
	cudaMemcpyHostToDevice,
	cudaMemcpyDeviceToHost,
	cudaMemcpyDeviceToDevice,
	cudaMemcpyDefault,
};

enum { cudaEnablePerThreadDefaultStream = 2 }; /* a flag of cudaGetDriverEntryPoint */

typedef struct dim3 {
	unsigned x, y, z;
} dim3;

struct cudaExtent {
	size_t width, height, depth;
};

struct cudaPos {
	size_t x, y, z;
};

struct cudaPitchedPtr {
	void *ptr;
	size_t pitch, xsize, ysize;
};

struct cudaChannelFormatDesc {
	int x, y, z, w; /* bits of each channel */
};

typedef struct cudaIpcMemHandle_st {
	char reserved[64];
} cudaIpcMemHandle_t;

typedef struct cudaLaunchConfig_st {
	dim3 gridDim, blockDim;
	size_t dynamicSmemBytes;
	cudaStream_t stream;
} cudaLaunchConfig_t;

struct cudaMemcpy3DParms {
	cudaArray_t srcArray;
	struct cudaPos srcPos;
	struct cudaPitchedPtr srcPtr;
	cudaArray_t dstArray;
	struct cudaPos dstPos;
	struct cudaPitchedPtr dstPtr;
	struct cudaExtent extent;
	enum cudaMemcpyKind kind;
};

struct cudaMemcpy3DPeerParms {
	cudaArray_t srcArray;
	struct cudaPos srcPos;
	struct cudaPitchedPtr srcPtr;
	int srcDevice;
	cudaArray_t dstArray;
	struct cudaPos dstPos;
	struct cudaPitchedPtr dstPtr;
	int dstDevice;
	struct cudaExtent extent;
};

/* ---- the driver ---- */

typedef enum { CUDA_ERROR_NO_DEVICE = 100 } CUresult;

typedef int CUdevice;
typedef unsigned long long CUdeviceptr, CUmemGenericAllocationHandle;
typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
typedef void (*CUhostFn)(void *data);
typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void *data);

typedef enum {
	CU_AD_FORMAT_UNSIGNED_INT8 = 0x01,
	CU_AD_FORMAT_UNSIGNED_INT32 = 0x03,
	CU_AD_FORMAT_SIGNED_INT8 = 0x08,
	CU_AD_FORMAT_SIGNED_INT32 = 0x0a,
	CU_AD_FORMAT_FLOAT = 0x20,
} CUarray_format;

typedef enum {
	CU_MEMORYTYPE_HOST = 1,
	CU_MEMORYTYPE_DEVICE = 2,
	CU_MEMORYTYPE_ARRAY = 3,
	CU_MEMORYTYPE_UNIFIED = 4,
} CUmemorytype;

typedef struct CUipcMemHandle_st {
	char reserved[64];
} CUipcMemHandle;

typedef struct CUlaunchConfig_st {
	unsigned gridDimX, gridDimY, gridDimZ;
	unsigned blockDimX, blockDimY, blockDimZ;
	unsigned sharedMemBytes;
	CUstream hStream;
} CUlaunchConfig;

typedef struct CUDA_ARRAY_DESCRIPTOR_st {
	size_t Width, Height;
	CUarray_format Format;
	unsigned NumChannels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct CUDA_ARRAY3D_DESCRIPTOR_st {
	size_t Width, Height, Depth;
	CUarray_format Format;
	unsigned NumChannels;
} CUDA_ARRAY3D_DESCRIPTOR;

typedef struct CUDA_MEMCPY2D_st {
	size_t srcXInBytes, srcY;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	size_t srcPitch;
	size_t dstXInBytes, dstY;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	size_t dstPitch;
	size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

typedef struct CUDA_MEMCPY3D_st {
	size_t srcXInBytes, srcY, srcZ, srcLOD;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	void *srcContext; /* reserved, but for CUDA_MEMCPY3D_PEER */
	size_t srcPitch, srcHeight;
	size_t dstXInBytes, dstY, dstZ, dstLOD;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	void *dstContext;
	size_t dstPitch, dstHeight;
	size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER;
