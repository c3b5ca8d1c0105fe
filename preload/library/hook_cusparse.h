/* SPDX-License-Identifier: Apache-2.0 */
/* cuSPARSE: the generic functions, and the older ones that compute. See hook_library.h. */
#pragma once

#define CUSPARSE(X, name, words, shape) X(CALL, CUSPARSE, name, name, words, shape)
#define CUSPARSE_SDCZ(X, name, words, shape) LIBRARY_SDCZ(CUSPARSE, X, cusparse, name, words, shape)
/* A descriptor, and its variant for constant data. */
#define CUSPARSE_MADE(X, what, words, shape)                                                                           \
	X(NOTE, CUSPARSE, cusparseCreate##what, cusparseCreate##what, words, shape)                                    \
	X(NOTE, CUSPARSE, cusparseCreateConst##what, cusparseCreateConst##what, words, shape)

#define HOOK_CUSPARSE(X)                                                                                               \
	CUSPARSE(X, cusparseCreate, 1, NOTHING)                                                                        \
	CUSPARSE(X, cusparseDestroy, 1, NOTHING)                                                                       \
	CUSPARSE_MADE(X, SpVec, 8, SPARSE_VECTOR)                                                                      \
	CUSPARSE_MADE(X, DnVec, 4, DENSE_VECTOR)                                                                       \
	CUSPARSE_MADE(X, Csr, 11, SPARSE_ROWS)                                                                         \
	CUSPARSE_MADE(X, Csc, 11, SPARSE_ROWS)                                                                         \
	CUSPARSE_MADE(X, Bsr, 14, SPARSE_BLOCKS)                                                                       \
	CUSPARSE_MADE(X, Coo, 10, SPARSE_COORDINATES)                                                                  \
	CUSPARSE_MADE(X, BlockedEll, 10, SPARSE_ELL)                                                                   \
	CUSPARSE_MADE(X, SlicedEll, 13, SPARSE_SLICES)                                                                 \
	CUSPARSE_MADE(X, DnMat, 7, DENSE_MATRIX)                                                                       \
	CUSPARSE(X, cusparseAxpby, 5, SPARSE_AXPBY)                                                                    \
	CUSPARSE(X, cusparseGather, 3, SPARSE_GATHER)                                                                  \
	CUSPARSE(X, cusparseScatter, 3, SPARSE_GATHER)                                                                 \
	CUSPARSE(X, cusparseRot, 5, SPARSE_ROTATE)                                                                     \
	CUSPARSE(X, cusparseSpVV, 7, SPARSE_DOT)                                                                       \
	CUSPARSE(X, cusparseSparseToDense, 5, SPARSE_CONVERT)                                                          \
	CUSPARSE(X, cusparseDenseToSparse_analysis, 5, SPARSE_CONVERT)                                                 \
	CUSPARSE(X, cusparseDenseToSparse_convert, 5, SPARSE_CONVERT)                                                  \
	CUSPARSE(X, cusparseSpMV, 10, SPMV)                                                                            \
	CUSPARSE(X, cusparseSpMV_preprocess, 10, SPMV)                                                                 \
	CUSPARSE(X, cusparseSpSV_analysis, 10, SPSV)                                                                   \
	CUSPARSE(X, cusparseSpSV_solve, 9, SPSV)                                                                       \
	CUSPARSE(X, cusparseSpSM_analysis, 11, SPSM)                                                                   \
	CUSPARSE(X, cusparseSpSM_solve, 10, SPSM)                                                                      \
	CUSPARSE(X, cusparseSpMM_preprocess, 11, SPMM)                                                                 \
	CUSPARSE(X, cusparseSpMM, 11, SPMM)                                                                            \
	CUSPARSE(X, cusparseSpGEMM_workEstimation, 13, SPMM)                                                           \
	CUSPARSE(X, cusparseSpGEMM_compute, 13, SPMM)                                                                  \
	CUSPARSE(X, cusparseSpGEMM_copy, 11, SPMM)                                                                     \
	CUSPARSE(X, cusparseSpGEMMreuse_workEstimation, 10, SPGEMM_REUSE)                                              \
	CUSPARSE(X, cusparseSpGEMMreuse_nnz, 14, SPGEMM_REUSE)                                                         \
	CUSPARSE(X, cusparseSpGEMMreuse_copy, 10, SPGEMM_REUSE)                                                        \
	CUSPARSE(X, cusparseSpGEMMreuse_compute, 11, SPMM)                                                             \
	CUSPARSE(X, cusparseSDDMM_preprocess, 11, SPMM)                                                                \
	CUSPARSE(X, cusparseSDDMM, 11, SPMM)                                                                           \
	CUSPARSE(X, cusparseSpGEMM_estimateMemory, 14, SPMM)                                                           \
	CUSPARSE_SDCZ(X, gemvi, 14, SPARSE_GEMVI)                                                                      \
	CUSPARSE_SDCZ(X, bsrmv, 15, SPARSE_BSRMV)                                                                      \
	CUSPARSE_SDCZ(X, bsrmm, 19, SPARSE_BSRMM)                                                                      \
	CUSPARSE_SDCZ(X, bsrsv2_analysis, 13, SPARSE_BSRSV)                                                            \
	CUSPARSE_SDCZ(X, bsrsv2_solve, 16, SPARSE_BSRSV)                                                               \
	CUSPARSE_SDCZ(X, bsrsm2_analysis, 15, SPARSE_BSRSM)                                                            \
	CUSPARSE_SDCZ(X, bsrsm2_solve, 20, SPARSE_BSRSM)                                                               \
	CUSPARSE_SDCZ(X, csrilu02_analysis, 10, SPARSE_FACTOR)                                                         \
	CUSPARSE_SDCZ(X, csrilu02, 10, SPARSE_FACTOR)                                                                  \
	CUSPARSE_SDCZ(X, csric02_analysis, 10, SPARSE_FACTOR)                                                          \
	CUSPARSE_SDCZ(X, csric02, 10, SPARSE_FACTOR)                                                                   \
	CUSPARSE_SDCZ(X, gtsv2, 9, SPARSE_M_N)                                                                         \
	CUSPARSE_SDCZ(X, gtsv2_nopivot, 9, SPARSE_M_N)                                                                 \
	CUSPARSE_SDCZ(X, gtsv2StridedBatch, 9, SPARSE_BATCH)                                                           \
	CUSPARSE_SDCZ(X, gtsvInterleavedBatch, 9, SPARSE_INTERLEAVED)                                                  \
	CUSPARSE_SDCZ(X, gpsvInterleavedBatch, 11, SPARSE_INTERLEAVED_FIVE)                                            \
	CUSPARSE_SDCZ(X, csrgeam2, 20, SPARSE_M_N)                                                                     \
	CUSPARSE(X, cusparseXcoosortByRow, 8, SPARSE_SORT)                                                             \
	CUSPARSE(X, cusparseXcoosortByColumn, 8, SPARSE_SORT)                                                          \
	CUSPARSE(X, cusparseXcsrsort, 9, SPARSE_SORT)                                                                  \
	CUSPARSE(X, cusparseXcscsort, 9, SPARSE_SORT)                                                                  \
	CUSPARSE(X, cusparseXcoo2csr, 6, SPARSE_COMPRESS)                                                              \
	CUSPARSE(X, cusparseXcsr2coo, 6, SPARSE_COMPRESS)                                                              \
	CUSPARSE(X, cusparseCsr2cscEx2, 15, SPARSE_SORT)

#define SHAPES_CUSPARSE(S)                                                                                             \
	S(SPARSE_VECTOR, KEY_OUT(1), WIDE(N, 2), WIDE(NONZEROS, 3), ENUM(TYPE, 8))                                     \
	S(DENSE_VECTOR, KEY_OUT(1), WIDE(N, 2), ENUM(TYPE, 4))                                                         \
	S(SPARSE_ROWS, KEY_OUT(1), WIDE(M, 2), WIDE(N, 3), WIDE(NONZEROS, 4), ENUM(TYPE, 11))                          \
	S(SPARSE_BLOCKS, KEY_OUT(1), WIDE(M, 2), WIDE(N, 3), WIDE(NONZEROS, 4), WIDE(DIMENSION, 5),                    \
	  WIDE(DIMENSION, 6), ENUM(TYPE, 13))                                                                          \
	S(SPARSE_COORDINATES, KEY_OUT(1), WIDE(M, 2), WIDE(N, 3), WIDE(NONZEROS, 4), ENUM(TYPE, 10))                   \
	S(SPARSE_ELL, KEY_OUT(1), WIDE(M, 2), WIDE(N, 3), WIDE(DIMENSION, 4), ENUM(TYPE, 10))                          \
	S(SPARSE_SLICES, KEY_OUT(1), WIDE(M, 2), WIDE(N, 3), WIDE(NONZEROS, 4), ENUM(TYPE, 13))                        \
	S(DENSE_MATRIX, KEY_OUT(1), WIDE(M, 2), WIDE(N, 3), WIDE(LEADING, 4), ENUM(TYPE, 6))                           \
	S(SPARSE_AXPBY, KEY_NONE, OF(A, 3), OF(B, 5))                                                                  \
	S(SPARSE_GATHER, KEY_NONE, OF(A, 2), OF(B, 3))                                                                 \
	S(SPARSE_ROTATE, KEY_NONE, OF(A, 4), OF(B, 5))                                                                 \
	S(SPARSE_DOT, KEY_NONE, OF(A, 3), OF(B, 4), ENUM(COMPUTE, 6))                                                  \
	S(SPARSE_CONVERT, KEY_NONE, OF(A, 2), OF(B, 3), ENUM(ALGORITHM, 4))                                            \
	S(SPMV, KEY_NONE, ENUM_A(TRANSPOSE, 2), OF(A, 4), OF(B, 5), OF(C, 7), ENUM(COMPUTE, 8), ENUM(ALGORITHM, 9))    \
	S(SPSV, KEY_NONE, ENUM_A(TRANSPOSE, 2), OF(A, 4), OF(B, 5), OF(C, 6), ENUM(COMPUTE, 7), ENUM(ALGORITHM, 8))    \
	S(SPSM, KEY_NONE, ENUM_A(TRANSPOSE, 2), ENUM_B(TRANSPOSE, 3), OF(A, 5), OF(B, 6), OF(C, 7), ENUM(COMPUTE, 8),  \
	  ENUM(ALGORITHM, 9))                                                                                          \
	S(SPMM, KEY_NONE, ENUM_A(TRANSPOSE, 2), ENUM_B(TRANSPOSE, 3), OF(A, 5), OF(B, 6), OF(C, 8), ENUM(COMPUTE, 9),  \
	  ENUM(ALGORITHM, 10))                                                                                         \
	S(SPGEMM_REUSE, KEY_NONE, ENUM_A(TRANSPOSE, 2), ENUM_B(TRANSPOSE, 3), OF(A, 4), OF(B, 5), OF(C, 6),            \
	  ENUM(ALGORITHM, 7))                                                                                          \
	S(SPARSE_GEMVI, KEY_NONE, ENUM_A(TRANSPOSE, 2), INT(M, 3), INT(N, 4), INT_A(LEADING, 7), INT(NONZEROS, 8))     \
	S(SPARSE_BSRMV, KEY_NONE, ENUM_A(TRANSPOSE, 3), INT(M, 4), INT(N, 5), INT(NONZEROS, 6), INT(DIMENSION, 12))    \
	S(SPARSE_BSRMM, KEY_NONE, ENUM_A(TRANSPOSE, 3), ENUM_B(TRANSPOSE, 4), INT(M, 5), INT(N, 6), INT(K, 7),         \
	  INT(NONZEROS, 8), INT(DIMENSION, 14))                                                                        \
	S(SPARSE_BSRSV, KEY_NONE, ENUM_A(TRANSPOSE, 3), INT(M, 4), INT(NONZEROS, 5))                                   \
	S(SPARSE_BSRSM, KEY_NONE, ENUM_A(TRANSPOSE, 3), ENUM_B(TRANSPOSE, 4), INT(M, 5), INT(N, 6), INT(NONZEROS, 7))  \
	S(SPARSE_FACTOR, KEY_NONE, INT(M, 2), INT(NONZEROS, 3))                                                        \
	S(SPARSE_M_N, KEY_NONE, INT(M, 2), INT(N, 3))                                                                  \
	S(SPARSE_BATCH, KEY_NONE, INT(M, 2), INT(BATCH, 7))                                                            \
	S(SPARSE_INTERLEAVED, KEY_NONE, INT(M, 3), INT(BATCH, 8))                                                      \
	S(SPARSE_INTERLEAVED_FIVE, KEY_NONE, INT(M, 3), INT(BATCH, 10))                                                \
	S(SPARSE_SORT, KEY_NONE, INT(M, 2), INT(N, 3), INT(NONZEROS, 4))                                               \
	S(SPARSE_COMPRESS, KEY_NONE, INT(NONZEROS, 3), INT(M, 4))
