/* SPDX-License-Identifier: Apache-2.0 */
/* The cuBLAS double, libcublas.so.12 and .so.13: a library that finds the driver by itself, as libraries with a static
 * runtime do. Each product is one kernel launch; nothing is computed.
 * NVIDIA's cublas_v2.h is used if it is installed; otherwise the declarations below replace it. */
#include "library_driver.h"

#include <library_types.h>
#include <stdlib.h>

#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>
#else
typedef struct cublasContext *cublasHandle_t;
typedef enum { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_NOT_INITIALIZED = 1, CUBLAS_STATUS_ALLOC_FAILED = 3,
	       CUBLAS_STATUS_INVALID_VALUE = 7, CUBLAS_STATUS_EXECUTION_FAILED = 13 } cublasStatus_t;
typedef enum { CUBLAS_OP_N = 0 } cublasOperation_t;
typedef enum { CUBLAS_COMPUTE_32F = 68 } cublasComputeType_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1 } cublasGemmAlgo_t;

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, CUstream stream);
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, CUstream *stream);
cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
			      int k, const float *alpha, const float *A, int lda, const float *B, int ldb,
			      const float *beta, float *C, int ldc);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
			    int k, const void *alpha, const void *A, cudaDataType Atype, int lda, const void *B,
			    cudaDataType Btype, int ldb, const void *beta, void *C, cudaDataType Ctype, int ldc,
			    cublasComputeType_t computeType, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
					  int m, int n, int k, const void *alpha, const void *A, cudaDataType Atype,
					  int lda, long long strideA, const void *B, cudaDataType Btype, int ldb,
					  long long strideB, const void *beta, void *C, cudaDataType Ctype, int ldc,
					  long long strideC, int batchCount, cublasComputeType_t computeType,
					  cublasGemmAlgo_t algo);
#endif

#define TILE 64		/* rows and columns of the product per block */

struct cublasContext { CUstream stream; CUlibrary library; };

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
	static const char image[] = "simulated cublas image";
	struct cublasContext *made;

	if (!handle)
		return CUBLAS_STATUS_INVALID_VALUE;
	if (!driver_find() || !driver_context())
		return CUBLAS_STATUS_NOT_INITIALIZED;
	made = calloc(1, sizeof(*made));
	if (!made)
		return CUBLAS_STATUS_ALLOC_FAILED;
	driver.load_library(&made->library, image, NULL, NULL, 0, NULL, NULL, 0);
	*handle = made;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
	free(handle);
	return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
	(void)handle;
	*version = CUDART_MAJOR * 10000;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, CUstream stream)
{
	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	handle->stream = stream;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, CUstream *stream)
{
	if (!handle || !stream)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	*stream = handle->stream;
	return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t product(cublasHandle_t handle, const char *kernel_name, int m, int n, int k, int batches)
{
	const unsigned grid[] = {(unsigned)(m + TILE - 1) / TILE, (unsigned)(n + TILE - 1) / TILE, (unsigned)batches};

	if (!handle)
		return CUBLAS_STATUS_NOT_INITIALIZED;
	if (m <= 0 || n <= 0 || k <= 0 || batches <= 0)
		return m < 0 || n < 0 || k < 0 || batches < 0 ? CUBLAS_STATUS_INVALID_VALUE : CUBLAS_STATUS_SUCCESS;
	return driver_launch(handle->library, kernel_name, grid, 128, handle->stream, NULL)
		   ? CUBLAS_STATUS_SUCCESS
		   : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
			      int k, const float *alpha, const float *A, int lda, const float *B, int ldb,
			      const float *beta, float *C, int ldc)
{
	(void)transa, (void)transb, (void)alpha, (void)A, (void)lda, (void)B, (void)ldb, (void)beta, (void)C, (void)ldc;
	return product(handle, "simgpu_sgemm_64x64", m, n, k, 1);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
			    int k, const void *alpha, const void *A, cudaDataType Atype, int lda, const void *B,
			    cudaDataType Btype, int ldb, const void *beta, void *C, cudaDataType Ctype, int ldc,
			    cublasComputeType_t computeType, cublasGemmAlgo_t algo)
{
	(void)transa, (void)transb, (void)alpha, (void)A, (void)Atype, (void)lda, (void)B, (void)Btype, (void)ldb;
	(void)beta, (void)C, (void)Ctype, (void)ldc, (void)computeType, (void)algo;
	return product(handle, "simgpu_gemm_ex_64x64", m, n, k, 1);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
					  int m, int n, int k, const void *alpha, const void *A, cudaDataType Atype,
					  int lda, long long strideA, const void *B, cudaDataType Btype, int ldb,
					  long long strideB, const void *beta, void *C, cudaDataType Ctype, int ldc,
					  long long strideC, int batchCount, cublasComputeType_t computeType,
					  cublasGemmAlgo_t algo)
{
	(void)transa, (void)transb, (void)alpha, (void)A, (void)Atype, (void)lda, (void)strideA, (void)B, (void)Btype;
	(void)ldb, (void)strideB, (void)beta, (void)C, (void)Ctype, (void)ldc, (void)strideC, (void)computeType;
	(void)algo;
	return product(handle, "simgpu_gemm_strided_batched_64x64", m, n, k, batchCount);
}

/* ---- cuBLASLt: layouts and descriptors are what a product needs of them ---- */

struct layout { uint64_t rows, columns; };

cublasStatus_t cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld);
cublasStatus_t cublasLtMatrixLayoutDestroy(void *layout);
cublasStatus_t cublasLtMatmulDescCreate(void **descriptor, int compute, int scale);
cublasStatus_t cublasLtMatmulDescDestroy(void *descriptor);
cublasStatus_t cublasLtMatmul(void *handle, void *descriptor, const void *alpha, const void *a, void *of_a,
			      const void *b, void *of_b, const void *beta, const void *c, void *of_c, void *d,
			      void *of_d, const void *algorithm, void *workspace, size_t size, CUstream stream);

cublasStatus_t cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld)
{
	struct layout *made = calloc(1, sizeof(*made));

	(void)type, (void)ld;
	if (!made)
		return CUBLAS_STATUS_ALLOC_FAILED;
	*made = (struct layout){rows, columns};
	*layout = made;
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(void *layout)
{
	free(layout);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(void **descriptor, int compute, int scale)
{
	(void)compute, (void)scale;
	*descriptor = calloc(1, 1);
	return *descriptor ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasLtMatmulDescDestroy(void *descriptor)
{
	free(descriptor);
	return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(void *handle, void *descriptor, const void *alpha, const void *a, void *of_a,
			      const void *b, void *of_b, const void *beta, const void *c, void *of_c, void *d,
			      void *of_d, const void *algorithm, void *workspace, size_t size, CUstream stream)
{
	const struct layout *left = of_a, *result = of_d;

	(void)descriptor, (void)alpha, (void)a, (void)b, (void)of_b, (void)beta, (void)c, (void)of_c, (void)d;
	(void)algorithm, (void)workspace, (void)size, (void)stream;
	return product(handle, "simgpu_lt_sgemm_64x64", (int)result->rows, (int)result->columns, (int)left->columns, 1);
}
