/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that print each call on one line: the function's name and all bits of its arguments. Lines that begin with
 * "- " are calls that describe something and compute nothing. */
#include "libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long bits(double value)
{
	unsigned long word;

	memcpy(&word, &value, sizeof(word));
	return word;
}

static void *next_handle(void)
{
	static char handles[64];
	static int used;

	return &handles[used++];
}

#define SAY(...) return printf(__VA_ARGS__) > 0 ? 0 : 1

int cublasCreate_v2(void **handle)
{
	*handle = next_handle();
	SAY("cublasCreate\n");
}

int cublasSetMathMode(void *handle, int mode)
{
	SAY("- cublasSetMathMode %d %d\n", handle != NULL, mode);
}

int cublasSgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda,
		   const float *b, int ldb, const float *beta, float *c, int ldc)
{
	if (m < 0)
		return 7; /* CUBLAS_STATUS_INVALID_VALUE */
	SAY("cublasSgemm %d %d %d %d %d %d %lx %p %d %p %d %lx %p %d\n", handle != NULL, ta, tb, m, n, k, bits(*alpha),
	    (void *)a, lda, (void *)b, ldb, bits(*beta), (void *)c, ldc);
}

int cublasZgemm_v2_64(void *handle, int ta, int tb, int64_t m, int64_t n, int64_t k, const complex_double *alpha,
		      const complex_double *a, int64_t lda, const complex_double *b, int64_t ldb,
		      const complex_double *beta, complex_double *c, int64_t ldc)
{
	SAY("cublasZgemm %d %d %d %ld %ld %ld %lx %p %ld %p %ld %lx %p %ld\n", handle != NULL, ta, tb, (long)m, (long)n,
	    (long)k, bits(alpha->imaginary), (void *)a, (long)lda, (void *)b, (long)ldb, bits(beta->real), (void *)c,
	    (long)ldc);
}

int cublasGemmStridedBatchedEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a,
			       int at, int lda, long long sa, const void *b, int bt, int ldb, long long sb,
			       const void *beta, void *c, int ct, int ldc, long long sc, int batch, int compute,
			       int algo)
{
	SAY("cublasGemmStridedBatchedEx %d %d %d %d %d %d %p %p %d %d %lld %p %d %d %lld %p %p %d %d %lld %d %d %d\n",
	    handle != NULL, ta, tb, m, n, k, alpha, a, at, lda, sa, b, bt, ldb, sb, beta, c, ct, ldc, sc, batch,
	    compute, algo);
}

int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld)
{
	*layout = next_handle();
	SAY("- cublasLtMatrixLayoutCreate %d %lu %lu %ld\n", type, (long)rows, (long)columns, (long)ld);
}

int cublasLtMatrixLayoutSetAttribute(void *layout, int attribute, const void *value, size_t size)
{
	SAY("- cublasLtMatrixLayoutSetAttribute %d %d %p %zu\n", layout != NULL, attribute, value, size);
}

int cublasLtMatmulDescCreate(void **descriptor, int compute, int scale)
{
	*descriptor = next_handle();
	SAY("- cublasLtMatmulDescCreate %d %d\n", compute, scale);
}

int cublasLtMatmulDescSetAttribute(void *descriptor, int attribute, const void *value, size_t size)
{
	SAY("- cublasLtMatmulDescSetAttribute %d %d %p %zu\n", descriptor != NULL, attribute, value, size);
}

int cublasLtMatmul(void *handle, void *descriptor, const void *alpha, const void *a, void *da, const void *b, void *db,
		   const void *beta, const void *c, void *dc, void *d, void *dd, const void *algo, void *space,
		   size_t size, void *stream)
{
	SAY("cublasLtMatmul %d %d %p %p %d %p %d %p %p %d %p %d %p %p %zu %p\n", handle != NULL, descriptor != NULL,
	    alpha, a, da != NULL, b, db != NULL, beta, c, dc != NULL, d, dd != NULL, algo, space, size, stream);
}

int cudnnSetTensor4dDescriptor(void *tensor, int format, int type, int n, int c, int h, int w)
{
	SAY("- cudnnSetTensor4dDescriptor %d %d %d %d %d %d %d\n", tensor != NULL, format, type, n, c, h, w);
}

int cudnnSetFilter4dDescriptor(void *filter, int type, int format, int k, int c, int h, int w)
{
	SAY("- cudnnSetFilter4dDescriptor %d %d %d %d %d %d %d\n", filter != NULL, type, format, k, c, h, w);
}

int cudnnSetConvolution2dDescriptor(void *convolution, int ph, int pw, int u, int v, int dh, int dw, int mode, int type)
{
	SAY("- cudnnSetConvolution2dDescriptor %d %d %d %d %d %d %d %d %d\n", convolution != NULL, ph, pw, u, v, dh, dw,
	    mode, type);
}

int cudnnConvolutionForward(void *handle, const void *alpha, void *dx, const void *x, void *dw, const void *w,
			    void *convolution, int algo, void *space, size_t size, const void *beta, void *dy, void *y)
{
	SAY("cudnnConvolutionForward %p %p %d %p %d %p %d %d %p %zu %p %d %p\n", handle, alpha, dx != NULL, x,
	    dw != NULL, w, convolution != NULL, algo, space, size, beta, dy != NULL, y);
}

int cudnnBatchNormalizationForwardTraining(void *handle, int mode, const void *alpha, const void *beta, void *dx,
					   const void *x, void *dy, void *y, void *db, const void *scale,
					   const void *bias, double factor, void *mean, void *variance, double epsilon,
					   void *save_mean, void *save_variance)
{
	SAY("cudnnBatchNormalizationForwardTraining %p %d %p %p %d %p %d %p %p %p %p %lx %p %p %lx %p %p\n", handle,
	    mode, alpha, beta, dx != NULL, x, dy != NULL, y, db, scale, bias, bits(factor), mean, variance,
	    bits(epsilon), save_mean, save_variance);
}

int cudnnBackendCreateDescriptor(int type, void **descriptor)
{
	*descriptor = next_handle();
	SAY("- cudnnBackendCreateDescriptor %d\n", type);
}

int cudnnBackendSetAttribute(void *descriptor, int name, int type, int64_t count, const void *elements)
{
	SAY("- cudnnBackendSetAttribute %d %d %d %ld %d\n", descriptor != NULL, name, type, (long)count,
	    elements != NULL);
}

int cudnnBackendFinalize(void *descriptor)
{
	SAY("cudnnBackendFinalize %d\n", descriptor != NULL);
}

int cudnnBackendExecute(void *handle, void *plan, void *pack)
{
	SAY("cudnnBackendExecute %p %d %p\n", handle, plan != NULL, pack);
}

int cusparseCreateCsr(void **matrix, int64_t rows, int64_t columns, int64_t nonzeros, void *offsets, void *indices,
		      void *values, int ot, int it, int base, int type)
{
	*matrix = next_handle();
	SAY("- cusparseCreateCsr %ld %ld %ld %p %p %p %d %d %d %d\n", (long)rows, (long)columns, (long)nonzeros,
	    offsets, indices, values, ot, it, base, type);
}

int cusparseCreateDnMat(void **matrix, int64_t rows, int64_t columns, int64_t ld, void *values, int type, int order)
{
	*matrix = next_handle();
	SAY("- cusparseCreateDnMat %ld %ld %ld %p %d %d\n", (long)rows, (long)columns, (long)ld, values, type, order);
}

int cusparseSpMM(void *handle, int oa, int ob, const void *alpha, void *a, void *b, const void *beta, void *c,
		 int compute, int algo, void *buffer)
{
	SAY("cusparseSpMM %p %d %d %p %d %d %p %d %d %d %p\n", handle, oa, ob, alpha, a != NULL, b != NULL, beta,
	    c != NULL, compute, algo, buffer);
}

int cusparseSpGEMM_estimateMemory(void *handle, int oa, int ob, const void *alpha, void *a, void *b, const void *beta,
				  void *c, int compute, int algo, void *descriptor, float fraction, size_t *size3,
				  void *buffer3, size_t *size2)
{
	SAY("cusparseSpGEMM_estimateMemory %p %d %d %p %d %d %p %d %d %d %p %lx %p %p %p\n", handle, oa, ob, alpha,
	    a != NULL, b != NULL, beta, c != NULL, compute, algo, descriptor, bits(fraction), (void *)size3, buffer3,
	    (void *)size2);
}

int cusolverDnSgetrf(void *handle, int m, int n, float *a, int lda, float *space, int *pivots, int *info)
{
	SAY("cusolverDnSgetrf %p %d %d %p %d %p %p %p\n", handle, m, n, (void *)a, lda, (void *)space, (void *)pivots,
	    (void *)info);
}

int cusolverDnSsyevdx(void *handle, int job, int range, int uplo, int n, float *a, int lda, float vl, float vu, int il,
		      int iu, int *meig, float *w, float *work, int lwork, int *info)
{
	SAY("cusolverDnSsyevdx %p %d %d %d %d %p %d %lx %lx %d %d %p %p %p %d %p\n", handle, job, range, uplo, n,
	    (void *)a, lda, bits(vl), bits(vu), il, iu, (void *)meig, (void *)w, (void *)work, lwork, (void *)info);
}

int cusolverSpZcsrlsvqr(void *handle, int m, int nnz, void *descriptor, const complex_double *values, const int *rows,
			const int *columns, const complex_double *b, double tolerance, int reorder, complex_double *x,
			int *singular)
{
	SAY("cusolverSpZcsrlsvqr %p %d %d %p %p %p %p %p %lx %d %p %p\n", handle, m, nnz, descriptor, (void *)values,
	    (void *)rows, (void *)columns, (void *)b, bits(tolerance), reorder, (void *)x, (void *)singular);
}

int cufftPlanMany(int *plan, int rank, int *n, int *in, int is, int id, int *on, int os, int od, int type, int batch)
{
	static int plans;

	*plan = ++plans;
	SAY("cufftPlanMany %d %d %d %d %d %d %d %d %d %d\n", rank, n[0], in != NULL, is, id, on != NULL, os, od, type,
	    batch);
}

int cufftExecC2C(int plan, void *in, void *out, int direction)
{
	SAY("cufftExecC2C %d %p %p %d\n", plan, in, out, direction);
}

int ncclCommInitRank(void **comm, int ranks, nccl_id id, int rank)
{
	unsigned sum = 0;

	for (size_t i = 0; i < sizeof(id.internal); i++)
		sum = sum * 31 + (unsigned char)id.internal[i];
	*comm = next_handle();
	printf("ncclCommInitRank %d %x %d\n", ranks, sum, rank);
	return getenv("SIMNCCL_IN_PROGRESS") ? 7 : 0;
}

int ncclCommSplit(void *comm, int color, int key, void **made, void *config)
{
	*made = next_handle();
	SAY("ncclCommSplit %d %d %d %p\n", comm != NULL, color, key, config);
}

int ncclGroupStart(void)
{
	SAY("ncclGroupStart\n");
}

int ncclGroupEnd(void)
{
	SAY("ncclGroupEnd\n");
}

int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm, void *stream)
{
	SAY("ncclAllReduce %p %p %zu %d %d %d %p\n", send, receive, count, type, op, comm != NULL, stream);
}

int ncclSend(const void *send, size_t count, int type, int peer, void *comm, void *stream)
{
	SAY("ncclSend %p %zu %d %d %d %p\n", send, count, type, peer, comm != NULL, stream);
}

int ncclAllGatherConfig(const void *send, void *receive, size_t count, int type, void *comm, void *stream,
			const void *config)
{
	SAY("ncclAllGatherConfig %p %p %zu %d %d %p %p\n", send, receive, count, type, comm != NULL, stream, config);
}

int ncclCommGrow(void *comm, int ranks, const nccl_id *id, int rank, void **made, void *config)
{
	*made = next_handle();
	SAY("ncclCommGrow %d %d %d %d %p\n", comm != NULL, ranks, id != NULL, rank, config);
}

int ncclPutSignal(const void *local, size_t count, int type, int peer, void *window, size_t offset, int signal,
		  int context, unsigned flags, void *comm, void *stream)
{
	SAY("ncclPutSignal %p %zu %d %d %p %zu %d %d %u %d %p\n", local, count, type, peer, window, offset, signal,
	    context, flags, comm != NULL, stream);
}

int ncclSignal(int peer, int signal, int context, unsigned flags, void *comm, void *stream)
{
	SAY("ncclSignal %d %d %d %u %d %p\n", peer, signal, context, flags, comm != NULL, stream);
}

int ncclWaitSignal(int count, const void *descriptors, void *comm, void *stream)
{
	SAY("ncclWaitSignal %d %p %d %p\n", count, descriptors, comm != NULL, stream);
}
