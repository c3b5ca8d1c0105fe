/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_gemm N: N products of cuBLAS, whose kernels are launched by a CUDA runtime inside the library. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

/* Declared as in cublas_v2.h, which not every toolkit includes. */
int cublasCreate_v2(void **handle);
int cublasDestroy_v2(void *handle);
int cublasSgemm_v2(void *handle, int transa, int transb, int m, int n, int k, const float *alpha, const float *a,
		   int lda, const float *b, int ldb, const float *beta, float *c, int ldc);

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
		if (cublasSgemm_v2(blas, 0, 0, 32, 32, 32, &one, x, 32, x + 1024, 32, &one, x + 2048, 32))
			return 1;
	cudaDeviceSynchronize();
	cublasDestroy_v2(blas);
	return cudaFree(x) != cudaSuccess;
}
