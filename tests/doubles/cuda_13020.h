/* SPDX-License-Identifier: Apache-2.0 */
/* The declarations of CUDA 13.2 that the doubles implement, for builds with older headers. */
#ifndef CUDA_13020_H
#define CUDA_13020_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#if CUDA_VERSION < 13020
#if CUDA_VERSION < 12080
typedef struct CUmemcpyAttributes_st CUmemcpyAttributes;
#endif
struct cudaMemcpyAttributes;

enum {
	CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyWithAttributesAsync_v13020 = 554,
	CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyWithAttributesAsync_ptsz_v13020 = 555,
	CUPTI_DRIVER_TRACE_CBID_cuMemcpyWithAttributesAsync = 837,
	CUPTI_DRIVER_TRACE_CBID_cuMemcpyWithAttributesAsync_ptsz = 838,
};

typedef struct {
	void *dst;
	const void *src;
	size_t size;
	struct cudaMemcpyAttributes *attr;
	cudaStream_t stream;
} cudaMemcpyWithAttributesAsync_v13020_params, cudaMemcpyWithAttributesAsync_ptsz_v13020_params;

typedef struct {
	CUdeviceptr dst, src;
	size_t size;
	CUmemcpyAttributes *attr;
	CUstream hStream;
} cuMemcpyWithAttributesAsync_params, cuMemcpyWithAttributesAsync_ptsz_params;

cudaError_t CUDARTAPI cudaMemcpyWithAttributesAsync(void *dst, const void *src, size_t size,
						    struct cudaMemcpyAttributes *attr, cudaStream_t stream);
CUresult CUDAAPI cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes *attr,
					     CUstream hStream);
#endif

/* The headers declare these only where the default stream is one per thread. */
cudaError_t CUDARTAPI cudaMemcpyWithAttributesAsync_ptsz(void *dst, const void *src, size_t size,
							 struct cudaMemcpyAttributes *attr, cudaStream_t stream);
CUresult CUDAAPI cuMemcpyWithAttributesAsync_ptsz(CUdeviceptr dst, CUdeviceptr src, size_t size,
						  CUmemcpyAttributes *attr, CUstream hStream);

#endif
