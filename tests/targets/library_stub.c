/* SPDX-License-Identifier: Apache-2.0 */
/* Stubs that find the library's function of their own name when called and forward to it, as XLA's stubs do. */
#include "../doubles/libraries.h"

#include <dlfcn.h>
#include <stdlib.h>

static void *look_up(const char *name)
{
	return dlsym(dlopen(getenv("SIMLIBRARIES"), RTLD_NOW | RTLD_LOCAL), name);
}
#define FOUND(function) ((__typeof__(&function))look_up(#function))

int cublasCreate_v2(void **handle)
{
	return FOUND(cublasCreate_v2)(handle);
}

int cublasSgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda,
		   const float *b, int ldb, const float *beta, float *c, int ldc)
{
	return FOUND(cublasSgemm_v2)(handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

int cusparseSpGEMM_estimateMemory(void *handle, int oa, int ob, const void *alpha, void *a, void *b, const void *beta,
				  void *c, int compute, int algo, void *descriptor, float fraction, size_t *size3,
				  void *buffer3, size_t *size2)
{
	return FOUND(cusparseSpGEMM_estimateMemory)(handle, oa, ob, alpha, a, b, beta, c, compute, algo, descriptor,
						    fraction, size3, buffer3, size2);
}

int ncclCommInitRank(void **comm, int ranks, nccl_id id, int rank)
{
	return FOUND(ncclCommInitRank)(comm, ranks, id, rank);
}

int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm, void *stream)
{
	return FOUND(ncclAllReduce)(send, receive, count, type, op, comm, stream);
}
