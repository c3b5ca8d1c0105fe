/* SPDX-License-Identifier: Apache-2.0 */
/* Some functions of each library, with the parameters of NVIDIA's headers: handles as void *, enums as int. */
#ifndef LIBRARIES_H
#define LIBRARIES_H

#include <stddef.h>
#include <stdint.h>

typedef struct { float real, imaginary; } complex_float;
typedef struct { double real, imaginary; } complex_double;
typedef struct { char internal[128]; } nccl_id;

int cublasCreate_v2(void **handle);
int cublasSetMathMode(void *handle, int mode);
int cublasSgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const float *alpha, const float *a, int lda,
		   const float *b, int ldb, const float *beta, float *c, int ldc);
int cublasZgemm_v2_64(void *handle, int ta, int tb, int64_t m, int64_t n, int64_t k, const complex_double *alpha,
		      const complex_double *a, int64_t lda, const complex_double *b, int64_t ldb,
		      const complex_double *beta, complex_double *c, int64_t ldc);
int cublasGemmStridedBatchedEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha, const void *a,
			       int at, int lda, long long sa, const void *b, int bt, int ldb, long long sb,
			       const void *beta, void *c, int ct, int ldc, long long sc, int batch, int compute,
			       int algo);
int cublasLtMatrixLayoutCreate(void **layout, int type, uint64_t rows, uint64_t columns, int64_t ld);
int cublasLtMatrixLayoutSetAttribute(void *layout, int attribute, const void *value, size_t size);
int cublasLtMatmulDescCreate(void **descriptor, int compute, int scale);
int cublasLtMatmulDescSetAttribute(void *descriptor, int attribute, const void *value, size_t size);
int cublasLtMatmul(void *handle, void *descriptor, const void *alpha, const void *a, void *da, const void *b, void *db,
		   const void *beta, const void *c, void *dc, void *d, void *dd, const void *algo, void *space,
		   size_t size, void *stream);

int cudnnSetTensor4dDescriptor(void *tensor, int format, int type, int n, int c, int h, int w);
int cudnnSetFilter4dDescriptor(void *filter, int type, int format, int k, int c, int h, int w);
int cudnnSetConvolution2dDescriptor(void *convolution, int ph, int pw, int u, int v, int dh, int dw, int mode,
				    int type);
int cudnnConvolutionForward(void *handle, const void *alpha, void *dx, const void *x, void *dw, const void *w,
			    void *convolution, int algo, void *space, size_t size, const void *beta, void *dy, void *y);
int cudnnBatchNormalizationForwardTraining(void *handle, int mode, const void *alpha, const void *beta, void *dx,
					   const void *x, void *dy, void *y, void *db, const void *scale,
					   const void *bias, double factor, void *mean, void *variance, double epsilon,
					   void *save_mean, void *save_variance);
int cudnnBackendCreateDescriptor(int type, void **descriptor);
int cudnnBackendSetAttribute(void *descriptor, int name, int type, int64_t count, const void *elements);
int cudnnBackendFinalize(void *descriptor);
int cudnnBackendExecute(void *handle, void *plan, void *pack);

int cusparseCreateCsr(void **matrix, int64_t rows, int64_t columns, int64_t nonzeros, void *offsets, void *indices,
		      void *values, int ot, int it, int base, int type);
int cusparseCreateDnMat(void **matrix, int64_t rows, int64_t columns, int64_t ld, void *values, int type, int order);
int cusparseSpMM(void *handle, int oa, int ob, const void *alpha, void *a, void *b, const void *beta, void *c,
		 int compute, int algo, void *buffer);
int cusparseSpGEMM_estimateMemory(void *handle, int oa, int ob, const void *alpha, void *a, void *b, const void *beta,
				  void *c, int compute, int algo, void *descriptor, float fraction, size_t *size3,
				  void *buffer3, size_t *size2);

int cusolverDnSgetrf(void *handle, int m, int n, float *a, int lda, float *space, int *pivots, int *info);
int cusolverDnSsyevdx(void *handle, int job, int range, int uplo, int n, float *a, int lda, float vl, float vu, int il,
		      int iu, int *meig, float *w, float *work, int lwork, int *info);
int cusolverSpZcsrlsvqr(void *handle, int m, int nnz, void *descriptor, const complex_double *values, const int *rows,
			const int *columns, const complex_double *b, double tolerance, int reorder, complex_double *x,
			int *singular);

int cufftPlanMany(int *plan, int rank, int *n, int *in, int is, int id, int *on, int os, int od, int type, int batch);
int cufftExecC2C(int plan, void *in, void *out, int direction);

int ncclCommInitRank(void **comm, int ranks, nccl_id id, int rank);
int ncclCommSplit(void *comm, int color, int key, void **made, void *config);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm, void *stream);
int ncclAllGatherConfig(const void *send, void *receive, size_t count, int type, void *comm, void *stream,
			const void *config);
int ncclCommGrow(void *comm, int ranks, const nccl_id *id, int rank, void **made, void *config);
int ncclPutSignal(const void *local, size_t count, int type, int peer, void *window, size_t offset, int signal,
		  int context, unsigned flags, void *comm, void *stream);
int ncclSignal(int peer, int signal, int context, unsigned flags, void *comm, void *stream);
int ncclWaitSignal(int count, const void *descriptors, void *comm, void *stream);
int ncclSend(const void *send, size_t count, int type, int peer, void *comm, void *stream);

#endif
