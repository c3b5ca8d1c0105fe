/* SPDX-License-Identifier: Apache-2.0 */
/* Finds each function of libraries.h as ctypes, JAX and TensorFlow do: by look-up in a library with local scope. */
#ifndef LIBRARY_LOOKED_UP_H
#define LIBRARY_LOOKED_UP_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *look_up(const char *name)
{
	static void *library;
	void *found;

	if (!library)
		library = dlopen(getenv("SIMLIBRARIES"), RTLD_NOW | RTLD_LOCAL);
	found = library ? dlsym(library, name) : NULL;
	if (!found) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return found;
}
#define LOOKED_UP(function) ((__typeof__(&function))look_up(#function))

#define cublasCreate_v2 LOOKED_UP(cublasCreate_v2)
#define cublasSetMathMode LOOKED_UP(cublasSetMathMode)
#define cublasSgemm_v2 LOOKED_UP(cublasSgemm_v2)
#define cublasZgemm_v2_64 LOOKED_UP(cublasZgemm_v2_64)
#define cublasGemmStridedBatchedEx LOOKED_UP(cublasGemmStridedBatchedEx)
#define cublasLtMatrixLayoutCreate LOOKED_UP(cublasLtMatrixLayoutCreate)
#define cublasLtMatrixLayoutSetAttribute LOOKED_UP(cublasLtMatrixLayoutSetAttribute)
#define cublasLtMatmulDescCreate LOOKED_UP(cublasLtMatmulDescCreate)
#define cublasLtMatmulDescSetAttribute LOOKED_UP(cublasLtMatmulDescSetAttribute)
#define cublasLtMatmul LOOKED_UP(cublasLtMatmul)
#define cudnnSetTensor4dDescriptor LOOKED_UP(cudnnSetTensor4dDescriptor)
#define cudnnSetFilter4dDescriptor LOOKED_UP(cudnnSetFilter4dDescriptor)
#define cudnnSetConvolution2dDescriptor LOOKED_UP(cudnnSetConvolution2dDescriptor)
#define cudnnConvolutionForward LOOKED_UP(cudnnConvolutionForward)
#define cudnnBatchNormalizationForwardTraining LOOKED_UP(cudnnBatchNormalizationForwardTraining)
#define cudnnBackendCreateDescriptor LOOKED_UP(cudnnBackendCreateDescriptor)
#define cudnnBackendSetAttribute LOOKED_UP(cudnnBackendSetAttribute)
#define cudnnBackendFinalize LOOKED_UP(cudnnBackendFinalize)
#define cudnnBackendExecute LOOKED_UP(cudnnBackendExecute)
#define cusparseCreateCsr LOOKED_UP(cusparseCreateCsr)
#define cusparseCreateDnMat LOOKED_UP(cusparseCreateDnMat)
#define cusparseSpMM LOOKED_UP(cusparseSpMM)
#define cusparseSpGEMM_estimateMemory LOOKED_UP(cusparseSpGEMM_estimateMemory)
#define cusolverDnSgetrf LOOKED_UP(cusolverDnSgetrf)
#define cusolverDnSsyevdx LOOKED_UP(cusolverDnSsyevdx)
#define cusolverSpZcsrlsvqr LOOKED_UP(cusolverSpZcsrlsvqr)
#define cufftPlanMany LOOKED_UP(cufftPlanMany)
#define cufftExecC2C LOOKED_UP(cufftExecC2C)
#define ncclCommInitRank LOOKED_UP(ncclCommInitRank)
#define ncclCommSplit LOOKED_UP(ncclCommSplit)
#define ncclGroupStart LOOKED_UP(ncclGroupStart)
#define ncclGroupEnd LOOKED_UP(ncclGroupEnd)
#define ncclAllReduce LOOKED_UP(ncclAllReduce)
#define ncclSend LOOKED_UP(ncclSend)
#define ncclAllGatherConfig LOOKED_UP(ncclAllGatherConfig)
#define ncclCommGrow LOOKED_UP(ncclCommGrow)
#define ncclPutSignal LOOKED_UP(ncclPutSignal)
#define ncclSignal LOOKED_UP(ncclSignal)
#define ncclWaitSignal LOOKED_UP(ncclWaitSignal)

#endif
