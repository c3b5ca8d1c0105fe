/* SPDX-License-Identifier: Apache-2.0 */
/* Calls functions of every library with distinct arguments, argv[1] rounds. Also built as a plugin, and with LOOK_UP
 * to call them by looked-up pointers only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../doubles/libraries.h"
#ifdef LOOK_UP
#include "library_looked_up.h"
#endif

#define AT(n) ((void *)(uintptr_t)(0x1000 + (n)))

static void *blas, *layouts[3], *product, *sparse[3], *communicator, *parts[2], *grown, *plan;
static int fft;

static void set_backend(void *descriptor, int name, void *child)
{
	cudnnBackendSetAttribute(descriptor, name, 15, 1, &child);
}

static void *backend(int kind)
{
	void *made = NULL;

	cudnnBackendCreateDescriptor(kind, &made);
	return made;
}

static void *backend_tensor(int64_t n, int64_t c, int64_t h, int64_t w)
{
	void *tensor = backend(17);
	int type = 2;

	cudnnBackendSetAttribute(tensor, 901, 1, 1, &type);
	cudnnBackendSetAttribute(tensor, 902, 3, 4, (int64_t[]){n, c, h, w});
	cudnnBackendFinalize(tensor);
	return tensor;
}

/* A plan's configuration's engine's graph's operation's tensors. */
static void make_plan(void)
{
	void *operation = backend(10), *graph = backend(15), *engine = backend(2), *configuration = backend(3);
	int64_t number = 7;

	plan = backend(5);
	set_backend(operation, 704, backend_tensor(8, 3, 224, 224));
	set_backend(operation, 703, backend_tensor(64, 3, 7, 7));
	set_backend(operation, 705, backend_tensor(8, 64, 112, 112));
	set_backend(graph, 801, operation);
	set_backend(engine, 1300, graph);
	cudnnBackendSetAttribute(engine, 1301, 3, 1, &number);
	set_backend(configuration, 300, engine);
	set_backend(plan, 401, configuration);
	cudnnBackendFinalize(plan);
}

static void make(void)
{
	int transposed = 1, batch = 5;
	nccl_id id;

	for (size_t i = 0; i < sizeof(id.internal); i++)
		id.internal[i] = (char)(i * 7);
	cublasCreate_v2(&blas);
	cublasSetMathMode(blas, 3);
	cublasLtMatrixLayoutCreate(&layouts[0], 2, 100, 300, 101);
	cublasLtMatrixLayoutCreate(&layouts[1], 2, 300, 200, 301);
	cublasLtMatrixLayoutCreate(&layouts[2], 2, 100, 200, 102);
	cublasLtMatrixLayoutSetAttribute(layouts[2], 5, &batch, sizeof(batch));
	cublasLtMatmulDescCreate(&product, 68, 0);
	cublasLtMatmulDescSetAttribute(product, 4, &transposed, sizeof(transposed));
	cudnnSetTensor4dDescriptor(AT(1), 0, 0, 16, 3, 32, 32);
	cudnnSetFilter4dDescriptor(AT(2), 0, 0, 8, 3, 5, 5);
	cudnnSetTensor4dDescriptor(AT(3), 0, 0, 16, 8, 28, 28);
	cudnnSetConvolution2dDescriptor(AT(4), 0, 1, 2, 3, 4, 5, 1, 0);
	make_plan();
	cusparseCreateCsr(&sparse[0], 1000, 500, 4321, AT(5), AT(6), AT(7), 2, 2, 0, 0);
	cusparseCreateDnMat(&sparse[1], 500, 64, 500, AT(8), 0, 1);
	cusparseCreateDnMat(&sparse[2], 1000, 64, 1000, AT(9), 0, 1);
	cufftPlanMany(&fft, 2, (int[]){256, 128}, NULL, 1, 0, NULL, 1, 0, 0x29, 10);
	ncclCommInitRank(&communicator, 8, id, getenv("RANK") ? atoi(getenv("RANK")) : 3);
	for (int color = 1; color <= 2; color++)
		ncclCommSplit(communicator, color, 0, &parts[color - 1], NULL);
	ncclCommGrow(communicator, 12, NULL, -1, &grown, NULL);
}

static void compute(int i)
{
	float alpha = 1.5f, beta = 0.1f;
	complex_double one = {1, -0.3};

	cublasSgemm_v2(blas, 0, 1, 64, 32, 16, &alpha, AT(1), 65, AT(2), 33, &beta, AT(3), 66);
	cublasZgemm_v2_64(blas, 2, 0, 3000000000, 2, 1, &one, AT(1), 3000000001, AT(2), 5, &one, AT(3), 3000000002);
	cublasGemmStridedBatchedEx(blas, 0, 0, 10, 20, 30, AT(1), AT(2), 14, 40, 5000000000, AT(3), 14, 50, 6000, AT(4),
				   AT(5), 0, 60, 7000, 12, 68, -1);
	cublasLtMatmul(blas, product, AT(1), AT(2), layouts[0], AT(3), layouts[1], AT(4), AT(5), layouts[2], AT(6),
		       layouts[2], NULL, AT(7), 1 << 20, AT(8));
	cudnnConvolutionForward(AT(9), AT(10), AT(1), AT(11), AT(2), AT(12), AT(4), 6, AT(13), 99, AT(14), AT(3),
				AT(15));
	cudnnBatchNormalizationForwardTraining(AT(9), 1, AT(1), AT(2), AT(1), AT(4), AT(3), AT(6), AT(7), AT(8), AT(9),
					       0.1 + i, AT(10), AT(11), 1e-5, AT(12), AT(13));
	cudnnBackendExecute(AT(9), plan, AT(16));
	cusparseSpMM(AT(20), 0, 1, AT(1), sparse[0], sparse[1], AT(2), sparse[2], 0, 2, AT(3));
	cusparseSpGEMM_estimateMemory(AT(20), 0, 0, AT(1), sparse[0], sparse[0], AT(2), sparse[0], 0, 1, AT(3), 0.3f,
				      AT(4), AT(5), AT(6));
	cusolverDnSgetrf(AT(21), 77, 88, AT(1), 99, AT(2), AT(3), AT(4));
	cusolverDnSsyevdx(AT(21), 1, 2, 0, 55, AT(1), 56, -0.7f, 3.3f, 4, 5, AT(2), AT(3), AT(4), 66, AT(5));
	cusolverSpZcsrlsvqr(AT(22), 11, 22, AT(1), AT(2), AT(3), AT(4), AT(5), 1e-12, 2, AT(6), AT(7));
	cufftExecC2C(fft, AT(1), AT(2), -1);
	ncclGroupStart();
	ncclAllReduce(AT(1), AT(2), 1 << 20, 7, 0, communicator, AT(3));
	ncclSend(AT(1), 4096, 9, 5, communicator, AT(3));
	ncclAllReduce(AT(1), AT(2), 2048, 7, 2, parts[0], AT(3));
	ncclAllReduce(AT(1), AT(2), 2048, 7, 3, parts[1], AT(3));
	ncclGroupEnd();
	ncclAllGatherConfig(AT(1), AT(2), 512, 7, communicator, AT(3), AT(4));
	ncclPutSignal(AT(1), 8192, 7, 6, AT(2), 64, 1, 2, 0, communicator, AT(3));
	ncclSignal(2, 1, 2, 0, grown, AT(3));
	ncclWaitSignal(2, AT(4), grown, AT(3));
}

int library_calls(int rounds)
{
	make();
	for (int i = 0; i < rounds; i++)
		compute(i);
	printf("failed: %d\n", cublasSgemm_v2(blas, 0, 0, -1, 1, 1, NULL, NULL, 1, NULL, 1, NULL, NULL, 1));
	return 0;
}

#ifndef PLUGIN
int main(int argc, char **argv)
{
	return library_calls(argc > 1 ? atoi(argv[1]) : 1);
}
#endif
