/* SPDX-License-Identifier: Apache-2.0 */
/* libraries N: N calls of one library on one GPU, linked to it as its users' programs are. -DCUBLAS: products of 256
 * x 256 floats. -DCUDNN: softmax of 64 x 1000 floats. -DNCCL: sums over a communicator of one rank, 65536 floats.
 * The prototypes are declared here, so that only the library is needed, not its headers. */
#include <cuda_runtime_api.h>
#include <string.h>

#include "account.h"

enum { FLOATS = 1 << 18 };
static float *a, *b, *c;

#if defined(CUBLAS)
int cublasCreate_v2(void **handle);
int cublasDestroy_v2(void *handle);
int cublasSgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda,
		   const float *b, int ldb, const float *beta, float *c, int ldc);

static void work(int n)
{
	const float one = 1, zero = 0;
	void *handle;

	NEED(cublasCreate_v2(&handle));
	for (int i = 0; i < n; i++)
		NEED(cublasSgemm_v2(handle, 0, 0, 256, 256, 256, &one, a, 256, b, 256, &zero, c, 256));
	NEED(cudaDeviceSynchronize());
	NEED(cublasDestroy_v2(handle));
	said("call:cublasSgemm_v2", (unsigned)n, 0);
}
#elif defined(CUDNN)
int cudnnCreate(void **handle);
int cudnnDestroy(void *handle);
int cudnnCreateTensorDescriptor(void **descriptor);
int cudnnDestroyTensorDescriptor(void *descriptor);
int cudnnSetTensor4dDescriptor(void *descriptor, int format, int type, int n, int c, int h, int w);
int cudnnSoftmaxForward(void *handle, int algorithm, int mode, const void *alpha, void *x_descriptor, const void *x,
			const void *beta, void *y_descriptor, void *y);

static void work(int n)
{
	const float one = 1, zero = 0;
	void *handle, *tensor;

	NEED(cudnnCreate(&handle));
	NEED(cudnnCreateTensorDescriptor(&tensor));
	NEED(cudnnSetTensor4dDescriptor(tensor, 0, 0, 64, 1000, 1, 1)); /* NCHW, float */
	for (int i = 0; i < n; i++)
		NEED(cudnnSoftmaxForward(handle, 1, 1, &one, tensor, a, &zero, tensor, c));
	NEED(cudaDeviceSynchronize());
	NEED(cudnnDestroyTensorDescriptor(tensor));
	NEED(cudnnDestroy(handle));
	said("call:cudnnSoftmaxForward", (unsigned)n, 0);
}
#elif defined(NCCL)
int ncclCommInitAll(void **comm, int devices, const int *list);
int ncclCommDestroy(void *comm);
int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm, void *stream);

static void work(int n)
{
	const int device = 0;
	void *comm;

	NEED(ncclCommInitAll(&comm, 1, &device));
	for (int i = 0; i < n; i++)
		NEED(ncclAllReduce(a, b, 65536, 7, 0, comm, NULL)); /* float, sum */
	NEED(cudaDeviceSynchronize());
	NEED(ncclCommDestroy(comm));
	said("call:ncclAllReduce", (unsigned)n, 0);
}
#endif

int main(int argc, char **argv)
{
	NEED(cudaMalloc((void **)&a, FLOATS * sizeof(float)));
	NEED(cudaMalloc((void **)&b, FLOATS * sizeof(float)));
	NEED(cudaMalloc((void **)&c, FLOATS * sizeof(float)));
	NEED(cudaMemset(a, 0, FLOATS * sizeof(float)));
	NEED(cudaMemset(b, 0, FLOATS * sizeof(float)));
	work(argc > 1 ? atoi(argv[1]) : 1);
	return 0;
}
