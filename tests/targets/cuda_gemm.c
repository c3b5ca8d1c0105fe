/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_gemm N [sizes]: N products of cuBLAS, whose kernels are launched by a CUDA runtime inside the library; sizes:
 * every second one of cuBLASLt, each of its own size, which is printed. */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Declared as in cublas_v2.h, which not every toolkit includes. */
int cublasCreate_v2(void **handle);
int cublasDestroy_v2(void *handle);
int cublasSgemm_v2(void *handle, int transa, int transb, int m, int n, int k, const float *alpha, const float *a,
		   int lda, const float *b, int ldb, const float *beta, float *c, int ldc);

int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld);
int cublasLtMatrixLayoutDestroy(void *layout);
int cublasLtMatmulDescCreate(void **descriptor, int compute, int scale);
int cublasLtMatmulDescDestroy(void *descriptor);
int cublasLtMatmul(void *handle, void *descriptor, const void *alpha, const void *a, void *of_a, const void *b,
		   void *of_b, const void *beta, const void *c, void *of_c, void *d, void *of_d, const void *algorithm,
		   void *workspace, size_t size, void *stream);

static int product_lt(void *blas, float *x, int m, int n, int k)
{
	const float one = 1;
	void *descriptor, *a, *b, *c;
	int failed;

	cublasLtMatmulDescCreate(&descriptor, 68, 0);
	cublasLtMatrixLayoutCreate(&a, 0, (uint64_t)m, (uint64_t)k, m);
	cublasLtMatrixLayoutCreate(&b, 0, (uint64_t)k, (uint64_t)n, k);
	cublasLtMatrixLayoutCreate(&c, 0, (uint64_t)m, (uint64_t)n, m);
	failed = cublasLtMatmul(blas, descriptor, &one, x, a, x, b, &one, x, c, x, c, NULL, NULL, 0, NULL);
	cublasLtMatrixLayoutDestroy(a);
	cublasLtMatrixLayoutDestroy(b);
	cublasLtMatrixLayoutDestroy(c);
	cublasLtMatmulDescDestroy(descriptor);
	return failed;
}

static int product_of(void *blas, float *x, int i)
{
	int m = 1 + i * 37 % 501, n = 1 + i * 53 % 307, k = 1 + i * 71 % 1009;
	const float one = 1;

	printf("%d %d %d\n", m, n, k);
	return i % 2 ? product_lt(blas, x, m, n, k)
		     : cublasSgemm_v2(blas, 0, 0, m, n, k, &one, x, m, x, k, &one, x, m);
}

int main(int argc, char **argv)
{
	const float one = 1;
	void *blas;
	float *x;

	if (cudaMalloc((void **)&x, 3 * 32 * 32 * sizeof(*x)) || cublasCreate_v2(&blas)) {
		fputs("no device\n", stderr);
		return 1;
	}
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1); i++)
		if (argc > 2 ? product_of(blas, x, i)
			     : cublasSgemm_v2(blas, 0, 0, 32, 32, 32, &one, x, 32, x + 1024, 32, &one, x + 2048, 32))
			return 1;
	cudaDeviceSynchronize();
	cublasDestroy_v2(blas);
	return cudaFree(x) != cudaSuccess;
}
