/* SPDX-License-Identifier: Apache-2.0 */
/* cuBLAS, cuBLASLt and cuBLASXt. hook_library.h explains kinds, words and shapes. Setters and getters have no row,
 * unless a later call cannot be interpreted without them. */
#pragma once

/* A function of cuBLAS 12 and later, which exists with int and with int64_t. Both are reported by the plain name. */
#define CUBLAS_ONE(X, name, suffix, words, shape) X(CALL, CUBLAS, name##suffix, name, words, shape)
#define CUBLAS_TWO(X, name, suffix, words, shape)                                                                      \
	X(CALL, CUBLAS, name##suffix, name, words, shape)                                                              \
	X(INT64_VARIANT, CUBLAS, name##suffix##_64, name, words, shape)
/* Likewise for the real types, the complex ones, all four. */
#define CUBLAS_SD(X, form, name, suffix, words, shape) LIBRARY_SD(CUBLAS_##form, X, cublas, name, suffix, words, shape)
#define CUBLAS_CZ(X, form, name, suffix, words, shape) LIBRARY_CZ(CUBLAS_##form, X, cublas, name, suffix, words, shape)
#define CUBLAS_SDCZ(X, form, name, suffix, words, shape)                                                               \
	LIBRARY_SDCZ(CUBLAS_##form, X, cublas, name, suffix, words, shape)
#define CUBLAS_XT_SDCZ(X, name, words, shape) LIBRARY_SDCZ(CUBLAS_ONE, X, cublasXt, name, , words, shape)
#define CUBLAS_XT_CZ(X, name, words, shape) LIBRARY_CZ(CUBLAS_ONE, X, cublasXt, name, , words, shape)

#define HOOK_CUBLAS(X)                                                                                                 \
	HOOK_CUBLAS_VECTOR(X) HOOK_CUBLAS_MATRIX_VECTOR(X) HOOK_CUBLAS_MATRIX(X) HOOK_CUBLAS_SOLVE(X) HOOK_CUBLAS_LT(X)

#define HOOK_CUBLAS_VECTOR(X)                                                                                          \
	X(CREATES_HANDLE, CUBLAS, cublasCreate_v2, cublasCreate, 1, CUBLAS_CREATE)				       \
	CUBLAS_ONE(X, cublasDestroy, _v2, 1, NOTHING)                                                                  \
	X(NOTE, CUBLAS, cublasSetMathMode, cublasSetMathMode, 2, MATH_MODE)                                            \
	CUBLAS_SD(X, TWO, nrm2, _v2, 5, VECTOR)                                                                        \
	CUBLAS_TWO(X, cublasScnrm2, _v2, 5, VECTOR)                                                                    \
	CUBLAS_TWO(X, cublasDznrm2, _v2, 5, VECTOR)                                                                    \
	CUBLAS_SD(X, TWO, asum, _v2, 5, VECTOR)                                                                        \
	CUBLAS_TWO(X, cublasScasum, _v2, 5, VECTOR)                                                                    \
	CUBLAS_TWO(X, cublasDzasum, _v2, 5, VECTOR)                                                                    \
	CUBLAS_SD(X, TWO, dot, _v2, 7, VECTOR)                                                                         \
	CUBLAS_CZ(X, TWO, dotu, _v2, 7, VECTOR)                                                                        \
	CUBLAS_CZ(X, TWO, dotc, _v2, 7, VECTOR)                                                                        \
	CUBLAS_SDCZ(X, TWO, scal, _v2, 5, VECTOR)                                                                      \
	CUBLAS_TWO(X, cublasCsscal, _v2, 5, VECTOR)                                                                    \
	CUBLAS_TWO(X, cublasZdscal, _v2, 5, VECTOR)                                                                    \
	CUBLAS_SDCZ(X, TWO, axpy, _v2, 7, VECTOR)                                                                      \
	CUBLAS_SDCZ(X, TWO, copy, _v2, 6, VECTOR)                                                                      \
	CUBLAS_SDCZ(X, TWO, swap, _v2, 6, VECTOR)                                                                      \
	CUBLAS_TWO(X, cublasIsamax, _v2, 5, VECTOR)                                                                    \
	CUBLAS_TWO(X, cublasIdamax, _v2, 5, VECTOR)                                                                    \
	CUBLAS_TWO(X, cublasIcamax, _v2, 5, VECTOR)                                                                    \
	CUBLAS_TWO(X, cublasIzamax, _v2, 5, VECTOR)                                                                    \
	CUBLAS_TWO(X, cublasIsamin, _v2, 5, VECTOR)                                                                    \
	CUBLAS_TWO(X, cublasIdamin, _v2, 5, VECTOR)                                                                    \
	CUBLAS_TWO(X, cublasIcamin, _v2, 5, VECTOR)                                                                    \
	CUBLAS_TWO(X, cublasIzamin, _v2, 5, VECTOR)                                                                    \
	CUBLAS_SDCZ(X, TWO, rot, _v2, 8, VECTOR)                                                                       \
	CUBLAS_TWO(X, cublasCsrot, _v2, 8, VECTOR)                                                                     \
	CUBLAS_TWO(X, cublasZdrot, _v2, 8, VECTOR)                                                                     \
	CUBLAS_SD(X, TWO, rotm, _v2, 7, VECTOR)                                                                        \
	CUBLAS_TWO(X, cublasNrm2Ex, , 8, VECTOR_EX)                                                                    \
	CUBLAS_TWO(X, cublasAsumEx, , 8, VECTOR_EX)                                                                    \
	CUBLAS_TWO(X, cublasDotEx, , 11, VECTOR_EX)                                                                    \
	CUBLAS_TWO(X, cublasDotcEx, , 11, VECTOR_EX)                                                                   \
	CUBLAS_TWO(X, cublasScalEx, , 8, SCALED_EX)                                                                    \
	CUBLAS_TWO(X, cublasAxpyEx, , 11, SCALED_EX)                                                                   \
	CUBLAS_TWO(X, cublasCopyEx, , 8, VECTOR_EX)                                                                    \
	CUBLAS_TWO(X, cublasSwapEx, , 8, VECTOR_EX)                                                                    \
	CUBLAS_TWO(X, cublasIamaxEx, , 6, VECTOR_EX)                                                                   \
	CUBLAS_TWO(X, cublasIaminEx, , 6, VECTOR_EX)                                                                   \
	CUBLAS_TWO(X, cublasRotEx, , 12, VECTOR_EX)                                                                    \
	CUBLAS_TWO(X, cublasRotmEx, , 11, VECTOR_EX)                                                                   \
	/* copies between host and device */                                                                           \
	CUBLAS_TWO(X, cublasSetVector, , 6, COPY_VECTOR)                                                               \
	CUBLAS_TWO(X, cublasGetVector, , 6, COPY_VECTOR)                                                               \
	CUBLAS_TWO(X, cublasSetMatrix, , 7, COPY_MATRIX)                                                               \
	CUBLAS_TWO(X, cublasGetMatrix, , 7, COPY_MATRIX)                                                               \
	CUBLAS_TWO(X, cublasSetVectorAsync, , 7, COPY_VECTOR)                                                          \
	CUBLAS_TWO(X, cublasGetVectorAsync, , 7, COPY_VECTOR)                                                          \
	CUBLAS_TWO(X, cublasSetMatrixAsync, , 8, COPY_MATRIX)                                                          \
	CUBLAS_TWO(X, cublasGetMatrixAsync, , 8, COPY_MATRIX)

#define HOOK_CUBLAS_MATRIX_VECTOR(X)                                                                                   \
	CUBLAS_SDCZ(X, TWO, gemv, _v2, 12, GEMV)                                                                       \
	CUBLAS_SDCZ(X, TWO, gemvBatched, , 13, GEMV_BATCHED)                                                           \
	CUBLAS_TWO(X, cublasHSHgemvBatched, , 13, GEMV_BATCHED)                                                        \
	CUBLAS_TWO(X, cublasHSSgemvBatched, , 13, GEMV_BATCHED)                                                        \
	CUBLAS_TWO(X, cublasTSTgemvBatched, , 13, GEMV_BATCHED)                                                        \
	CUBLAS_TWO(X, cublasTSSgemvBatched, , 13, GEMV_BATCHED)                                                        \
	CUBLAS_SDCZ(X, TWO, gemvStridedBatched, , 16, GEMV_STRIDED)                                                    \
	CUBLAS_TWO(X, cublasHSHgemvStridedBatched, , 16, GEMV_STRIDED)                                                 \
	CUBLAS_TWO(X, cublasHSSgemvStridedBatched, , 16, GEMV_STRIDED)                                                 \
	CUBLAS_TWO(X, cublasTSTgemvStridedBatched, , 16, GEMV_STRIDED)                                                 \
	CUBLAS_TWO(X, cublasTSSgemvStridedBatched, , 16, GEMV_STRIDED)                                                 \
	CUBLAS_SDCZ(X, TWO, gbmv, _v2, 14, GEMV_BANDED)                                                                \
	CUBLAS_SDCZ(X, TWO, trmv, _v2, 9, TRIANGLE_VECTOR)                                                             \
	CUBLAS_SDCZ(X, TWO, tbmv, _v2, 10, TRIANGLE_BANDED)                                                            \
	CUBLAS_SDCZ(X, TWO, tpmv, _v2, 8, TRIANGLE_VECTOR)                                                             \
	CUBLAS_SDCZ(X, TWO, trsv, _v2, 9, TRIANGLE_VECTOR)                                                             \
	CUBLAS_SDCZ(X, TWO, tpsv, _v2, 8, TRIANGLE_VECTOR)                                                             \
	CUBLAS_SDCZ(X, TWO, tbsv, _v2, 10, TRIANGLE_BANDED)                                                            \
	CUBLAS_SDCZ(X, TWO, symv, _v2, 11, SYMMETRIC_VECTOR)                                                           \
	CUBLAS_CZ(X, TWO, hemv, _v2, 11, SYMMETRIC_VECTOR)                                                             \
	CUBLAS_SD(X, TWO, sbmv, _v2, 12, SYMMETRIC_BANDED)                                                             \
	CUBLAS_CZ(X, TWO, hbmv, _v2, 12, SYMMETRIC_BANDED)                                                             \
	CUBLAS_SD(X, TWO, spmv, _v2, 10, SYMMETRIC_VECTOR)                                                             \
	CUBLAS_CZ(X, TWO, hpmv, _v2, 10, SYMMETRIC_VECTOR)                                                             \
	CUBLAS_SD(X, TWO, ger, _v2, 10, OUTER)                                                                         \
	CUBLAS_CZ(X, TWO, geru, _v2, 10, OUTER)                                                                        \
	CUBLAS_CZ(X, TWO, gerc, _v2, 10, OUTER)                                                                        \
	CUBLAS_SDCZ(X, TWO, syr, _v2, 8, SYMMETRIC_VECTOR)                                                             \
	CUBLAS_CZ(X, TWO, her, _v2, 8, SYMMETRIC_VECTOR)                                                               \
	CUBLAS_SD(X, TWO, spr, _v2, 7, SYMMETRIC_VECTOR)                                                               \
	CUBLAS_CZ(X, TWO, hpr, _v2, 7, SYMMETRIC_VECTOR)                                                               \
	CUBLAS_SDCZ(X, TWO, syr2, _v2, 10, SYMMETRIC_VECTOR)                                                           \
	CUBLAS_CZ(X, TWO, her2, _v2, 10, SYMMETRIC_VECTOR)                                                             \
	CUBLAS_SD(X, TWO, spr2, _v2, 9, SYMMETRIC_VECTOR)                                                              \
	CUBLAS_CZ(X, TWO, hpr2, _v2, 9, SYMMETRIC_VECTOR)

#define HOOK_CUBLAS_MATRIX(X)                                                                                          \
	CUBLAS_SDCZ(X, TWO, gemm, _v2, 14, GEMM)                                                                       \
	CUBLAS_TWO(X, cublasHgemm, , 14, GEMM)                                                                         \
	CUBLAS_CZ(X, TWO, gemm3m, , 14, GEMM)                                                                          \
	CUBLAS_TWO(X, cublasSgemmEx, , 17, GEMM_TYPED)                                                                 \
	CUBLAS_TWO(X, cublasCgemmEx, , 17, GEMM_TYPED)                                                                 \
	CUBLAS_TWO(X, cublasCgemm3mEx, , 17, GEMM_TYPED)                                                               \
	CUBLAS_TWO(X, cublasGemmEx, , 19, GEMM_EX)                                                                     \
	CUBLAS_SDCZ(X, TWO, gemmBatched, , 15, GEMM_BATCHED)                                                           \
	CUBLAS_TWO(X, cublasHgemmBatched, , 15, GEMM_BATCHED)                                                          \
	CUBLAS_TWO(X, cublasCgemm3mBatched, , 15, GEMM_BATCHED)                                                        \
	CUBLAS_SDCZ(X, TWO, gemmStridedBatched, , 18, GEMM_STRIDED)                                                    \
	CUBLAS_TWO(X, cublasHgemmStridedBatched, , 18, GEMM_STRIDED)                                                   \
	CUBLAS_TWO(X, cublasCgemm3mStridedBatched, , 18, GEMM_STRIDED)                                                 \
	CUBLAS_TWO(X, cublasGemmBatchedEx, , 20, GEMM_BATCHED_EX)                                                      \
	CUBLAS_TWO(X, cublasGemmStridedBatchedEx, , 23, GEMM_STRIDED_EX)                                               \
	CUBLAS_SD(X, TWO, gemmGroupedBatched, , 16, GEMM_GROUPED)                                                      \
	CUBLAS_TWO(X, cublasGemmGroupedBatchedEx, , 20, GEMM_GROUPED_EX)                                               \
	CUBLAS_ONE(X, cublasUint8gemmBias, , 18, GEMM_BIAS)                                                            \
	CUBLAS_SDCZ(X, TWO, syrk, _v2, 11, RANK_K)                                                                     \
	CUBLAS_CZ(X, TWO, herk, _v2, 11, RANK_K)                                                                       \
	CUBLAS_TWO(X, cublasCsyrkEx, , 13, RANK_K_TYPED)                                                               \
	CUBLAS_TWO(X, cublasCsyrk3mEx, , 13, RANK_K_TYPED)                                                             \
	CUBLAS_TWO(X, cublasCherkEx, , 13, RANK_K_TYPED)                                                               \
	CUBLAS_TWO(X, cublasCherk3mEx, , 13, RANK_K_TYPED)                                                             \
	CUBLAS_SDCZ(X, TWO, syr2k, _v2, 13, RANK_2K)                                                                   \
	CUBLAS_CZ(X, TWO, her2k, _v2, 13, RANK_2K)                                                                     \
	CUBLAS_SDCZ(X, TWO, syrkx, , 13, RANK_2K)                                                                      \
	CUBLAS_CZ(X, TWO, herkx, , 13, RANK_2K)                                                                        \
	CUBLAS_SDCZ(X, TWO, symm, _v2, 13, SYMM)                                                                       \
	CUBLAS_CZ(X, TWO, hemm, _v2, 13, SYMM)                                                                         \
	CUBLAS_SDCZ(X, TWO, trsm, _v2, 12, TRSM)                                                                       \
	CUBLAS_SDCZ(X, TWO, trsmBatched, , 13, TRSM_BATCHED)                                                           \
	CUBLAS_SDCZ(X, TWO, trmm, _v2, 14, TRSM)                                                                       \
	CUBLAS_SDCZ(X, TWO, geam, , 13, GEAM)                                                                          \
	CUBLAS_SDCZ(X, TWO, dgmm, , 10, DGMM)                                                                          \
	CUBLAS_XT_SDCZ(X, gemm, 14, XT_GEMM)                                                                           \
	CUBLAS_XT_SDCZ(X, syrk, 11, XT_RANK_K)                                                                         \
	CUBLAS_XT_CZ(X, herk, 11, XT_RANK_K)                                                                           \
	CUBLAS_XT_SDCZ(X, syr2k, 13, XT_RANK_K)                                                                        \
	CUBLAS_XT_CZ(X, her2k, 13, XT_RANK_K)                                                                          \
	CUBLAS_XT_SDCZ(X, syrkx, 13, XT_RANK_K)                                                                        \
	CUBLAS_XT_CZ(X, herkx, 13, XT_RANK_K)                                                                          \
	CUBLAS_XT_SDCZ(X, symm, 13, XT_SYMM)                                                                           \
	CUBLAS_XT_CZ(X, hemm, 13, XT_SYMM)                                                                             \
	CUBLAS_XT_SDCZ(X, spmm, 12, XT_SYMM)                                                                           \
	CUBLAS_XT_SDCZ(X, trsm, 12, XT_TRSM)                                                                           \
	CUBLAS_XT_SDCZ(X, trmm, 14, XT_TRSM)

#define HOOK_CUBLAS_SOLVE(X)                                                                                           \
	CUBLAS_SDCZ(X, ONE, getrfBatched, , 7, GETRF_BATCHED)                                                          \
	CUBLAS_SDCZ(X, ONE, getriBatched, , 9, GETRI_BATCHED)                                                          \
	CUBLAS_SDCZ(X, ONE, getrsBatched, , 11, GETRS_BATCHED)                                                         \
	CUBLAS_SDCZ(X, ONE, geqrfBatched, , 8, GEQRF_BATCHED)                                                          \
	CUBLAS_SDCZ(X, ONE, gelsBatched, , 12, GELS_BATCHED)                                                           \
	CUBLAS_SDCZ(X, ONE, matinvBatched, , 8, MATINV_BATCHED)                                                        \
	CUBLAS_SDCZ(X, ONE, tpttr, , 6, SYMMETRIC_VECTOR)                                                              \
	CUBLAS_SDCZ(X, ONE, trttp, , 6, SYMMETRIC_VECTOR)

#define HOOK_CUBLAS_LT(X)                                                                                              \
	CUBLAS_ONE(X, cublasLtMatmul, , 16, LT_MATMUL)                                                                 \
	CUBLAS_ONE(X, cublasLtMatrixTransform, , 11, LT_TRANSFORM)                                                     \
	CUBLAS_ONE(X, cublasLtMatmulAlgoGetHeuristic, , 10, LT_HEURISTIC)                                              \
	X(NOTE, CUBLAS, cublasLtMatrixLayoutCreate, cublasLtMatrixLayoutCreate, 5, LT_LAYOUT)                          \
	X(NOTE, CUBLAS, cublasLtMatrixLayoutInit_internal, cublasLtMatrixLayoutInit, 6, LT_LAYOUT_INIT)                \
	X(SET, CUBLAS, cublasLtMatrixLayoutSetAttribute, cublasLtMatrixLayoutSetAttribute, 4, library_set_lt_layout)   \
	X(NOTE, CUBLAS, cublasLtMatmulDescCreate, cublasLtMatmulDescCreate, 3, LT_DESCRIPTOR)                          \
	X(NOTE, CUBLAS, cublasLtMatmulDescInit_internal, cublasLtMatmulDescInit, 4, LT_DESCRIPTOR_INIT)                \
	X(SET, CUBLAS, cublasLtMatmulDescSetAttribute, cublasLtMatmulDescSetAttribute, 4, library_set_lt_descriptor)

#define SHAPES_CUBLAS(S)                                                                                               \
	S(CUBLAS_CREATE, KEY_OUT(1), ENUM(MODE, 0))                                                                    \
	S(MATH_MODE, KEY_AT(1), ENUM(MODE, 2))                                                                         \
	S(VECTOR, KEY_NONE, INT(N, 2))                                                                                 \
	S(VECTOR_EX, KEY_NONE, INT(N, 2), ENUM(TYPE, 4))                                                               \
	S(SCALED_EX, KEY_NONE, INT(N, 2), ENUM(TYPE, 6))                                                               \
	S(COPY_VECTOR, KEY_NONE, INT(N, 1), INT(ELEMENT, 2))                                                           \
	S(COPY_MATRIX, KEY_NONE, INT(M, 1), INT(N, 2), INT(ELEMENT, 3))                                                \
	S(GEMV, KEY_NONE, ENUM_A(TRANSPOSE, 2), INT(M, 3), INT(N, 4), INT_A(LEADING, 7), OF(NONE, 1))                  \
	S(GEMV_BATCHED, KEY_NONE, ENUM_A(TRANSPOSE, 2), INT(M, 3), INT(N, 4), INT_A(LEADING, 7), INT(BATCH, 13),       \
	  OF(NONE, 1))                                                                                                 \
	S(GEMV_STRIDED, KEY_NONE, ENUM_A(TRANSPOSE, 2), INT(M, 3), INT(N, 4), INT_A(LEADING, 7), INT(BATCH, 16),       \
	  WIDE_A(STRIDE, 8), WIDE_B(STRIDE, 11), WIDE_C(STRIDE, 15), OF(NONE, 1))                                      \
	S(GEMV_BANDED, KEY_NONE, ENUM_A(TRANSPOSE, 2), INT(M, 3), INT(N, 4), INT_A(LEADING, 9))                        \
	S(TRIANGLE_VECTOR, KEY_NONE, ENUM_A(TRANSPOSE, 3), INT(N, 5))                                                  \
	S(TRIANGLE_BANDED, KEY_NONE, ENUM_A(TRANSPOSE, 3), INT(N, 5), INT(K, 6))                                       \
	S(SYMMETRIC_VECTOR, KEY_NONE, INT(N, 3))                                                                       \
	S(SYMMETRIC_BANDED, KEY_NONE, INT(N, 3), INT(K, 4))                                                            \
	S(OUTER, KEY_NONE, INT(M, 2), INT(N, 3))                                                                       \
	S(GEMM, KEY_NONE, ENUM_A(TRANSPOSE, 2), ENUM_B(TRANSPOSE, 3), INT(M, 4), INT(N, 5), INT(K, 6),                 \
	  INT_A(LEADING, 9), INT_B(LEADING, 11), INT_C(LEADING, 14), OF(NONE, 1))                                      \
	S(GEMM_TYPED, KEY_NONE, ENUM_A(TRANSPOSE, 2), ENUM_B(TRANSPOSE, 3), INT(M, 4), INT(N, 5), INT(K, 6),           \
	  ENUM_A(TYPE, 9), INT_A(LEADING, 10), ENUM_B(TYPE, 12), INT_B(LEADING, 13), ENUM_C(TYPE, 16),                 \
	  INT_C(LEADING, 17), OF(NONE, 1))                                                                             \
	S(GEMM_EX, KEY_NONE, ENUM_A(TRANSPOSE, 2), ENUM_B(TRANSPOSE, 3), INT(M, 4), INT(N, 5), INT(K, 6),              \
	  ENUM_A(TYPE, 9), INT_A(LEADING, 10), ENUM_B(TYPE, 12), INT_B(LEADING, 13), ENUM_C(TYPE, 16),                 \
	  INT_C(LEADING, 17), ENUM(COMPUTE, 18), ENUM(ALGORITHM, 19), OF(NONE, 1))                                     \
	S(GEMM_BATCHED, KEY_NONE, ENUM_A(TRANSPOSE, 2), ENUM_B(TRANSPOSE, 3), INT(M, 4), INT(N, 5), INT(K, 6),         \
	  INT_A(LEADING, 9), INT_B(LEADING, 11), INT_C(LEADING, 14), INT(BATCH, 15), OF(NONE, 1))                      \
	S(GEMM_STRIDED, KEY_NONE, ENUM_A(TRANSPOSE, 2), ENUM_B(TRANSPOSE, 3), INT(M, 4), INT(N, 5), INT(K, 6),         \
	  INT_A(LEADING, 9), WIDE_A(STRIDE, 10), INT_B(LEADING, 12), WIDE_B(STRIDE, 13), INT_C(LEADING, 16),           \
	  WIDE_C(STRIDE, 17), INT(BATCH, 18), OF(NONE, 1))                                                             \
	S(GEMM_BATCHED_EX, KEY_NONE, ENUM_A(TRANSPOSE, 2), ENUM_B(TRANSPOSE, 3), INT(M, 4), INT(N, 5), INT(K, 6),      \
	  ENUM_A(TYPE, 9), INT_A(LEADING, 10), ENUM_B(TYPE, 12), INT_B(LEADING, 13), ENUM_C(TYPE, 16),                 \
	  INT_C(LEADING, 17), INT(BATCH, 18), ENUM(COMPUTE, 19), ENUM(ALGORITHM, 20), OF(NONE, 1))                     \
	S(GEMM_STRIDED_EX, KEY_NONE, ENUM_A(TRANSPOSE, 2), ENUM_B(TRANSPOSE, 3), INT(M, 4), INT(N, 5), INT(K, 6),      \
	  ENUM_A(TYPE, 9), INT_A(LEADING, 10), WIDE_A(STRIDE, 11), ENUM_B(TYPE, 13), INT_B(LEADING, 14),               \
	  WIDE_B(STRIDE, 15), ENUM_C(TYPE, 18), INT_C(LEADING, 19), WIDE_C(STRIDE, 20), INT(BATCH, 21),                \
	  ENUM(COMPUTE, 22), ENUM(ALGORITHM, 23), OF(NONE, 1))                                                         \
	S(GEMM_GROUPED, KEY_NONE, INT(GROUPS, 15))                                                                     \
	S(GEMM_GROUPED_EX, KEY_NONE, ENUM_A(TYPE, 9), ENUM_B(TYPE, 12), ENUM_C(TYPE, 16), INT(GROUPS, 18),             \
	  ENUM(COMPUTE, 20))                                                                                           \
	S(GEMM_BIAS, KEY_NONE, ENUM_A(TRANSPOSE, 2), ENUM_B(TRANSPOSE, 3), INT(M, 5), INT(N, 6), INT(K, 7),            \
	  INT_A(LEADING, 10), INT_B(LEADING, 13), INT_C(LEADING, 16))                                                  \
	S(RANK_K, KEY_NONE, ENUM_A(TRANSPOSE, 3), INT(N, 4), INT(K, 5), INT_A(LEADING, 8), INT_C(LEADING, 11),         \
	  OF(NONE, 1))                                                                                                 \
	S(RANK_K_TYPED, KEY_NONE, ENUM_A(TRANSPOSE, 3), INT(N, 4), INT(K, 5), ENUM_A(TYPE, 8), INT_A(LEADING, 9),      \
	  ENUM_C(TYPE, 12), INT_C(LEADING, 13), OF(NONE, 1))                                                           \
	S(RANK_2K, KEY_NONE, ENUM_A(TRANSPOSE, 3), INT(N, 4), INT(K, 5), INT_A(LEADING, 8), INT_B(LEADING, 10),        \
	  INT_C(LEADING, 13), OF(NONE, 1))                                                                             \
	S(SYMM, KEY_NONE, ENUM(MODE, 2), INT(M, 4), INT(N, 5), INT_A(LEADING, 8), INT_B(LEADING, 10),                  \
	  INT_C(LEADING, 13))                                                                                          \
	S(TRSM, KEY_NONE, ENUM(MODE, 2), ENUM_A(TRANSPOSE, 4), INT(M, 6), INT(N, 7), INT_A(LEADING, 10),               \
	  INT_B(LEADING, 12))                                                                                          \
	S(TRSM_BATCHED, KEY_NONE, ENUM(MODE, 2), ENUM_A(TRANSPOSE, 4), INT(M, 6), INT(N, 7), INT_A(LEADING, 10),       \
	  INT_B(LEADING, 12), INT(BATCH, 13))                                                                          \
	S(GEAM, KEY_NONE, ENUM_A(TRANSPOSE, 2), ENUM_B(TRANSPOSE, 3), INT(M, 4), INT(N, 5), INT_A(LEADING, 8),         \
	  INT_B(LEADING, 11), INT_C(LEADING, 13))                                                                      \
	S(DGMM, KEY_NONE, ENUM(MODE, 2), INT(M, 3), INT(N, 4), INT_A(LEADING, 6), INT_C(LEADING, 10))                  \
	/* the counts of cuBLASXt are size_t */                                                                        \
	S(XT_GEMM, KEY_NONE, ENUM_A(TRANSPOSE, 2), ENUM_B(TRANSPOSE, 3), WIDE(M, 4), WIDE(N, 5), WIDE(K, 6),           \
	  WIDE_A(LEADING, 9), WIDE_B(LEADING, 11), WIDE_C(LEADING, 14))                                                \
	S(XT_RANK_K, KEY_NONE, ENUM_A(TRANSPOSE, 3), WIDE(N, 4), WIDE(K, 5))                                           \
	S(XT_SYMM, KEY_NONE, ENUM(MODE, 2), WIDE(M, 4), WIDE(N, 5))                                                    \
	S(XT_TRSM, KEY_NONE, ENUM(MODE, 2), ENUM_A(TRANSPOSE, 4), WIDE(M, 6), WIDE(N, 7))                              \
	S(GETRF_BATCHED, KEY_NONE, INT(N, 2), INT_A(LEADING, 4), INT(BATCH, 7))                                        \
	S(GETRI_BATCHED, KEY_NONE, INT(N, 2), INT_A(LEADING, 4), INT_C(LEADING, 7), INT(BATCH, 9))                     \
	S(GETRS_BATCHED, KEY_NONE, ENUM_A(TRANSPOSE, 2), INT(M, 3), INT(N, 4), INT_A(LEADING, 6), INT_B(LEADING, 9),   \
	  INT(BATCH, 11))                                                                                              \
	S(GEQRF_BATCHED, KEY_NONE, INT(M, 2), INT(N, 3), INT_A(LEADING, 5), INT(BATCH, 8))                             \
	S(GELS_BATCHED, KEY_NONE, ENUM_A(TRANSPOSE, 2), INT(M, 3), INT(N, 4), INT(K, 5), INT_A(LEADING, 7),            \
	  INT_C(LEADING, 9), INT(BATCH, 12))                                                                           \
	S(MATINV_BATCHED, KEY_NONE, INT(N, 2), INT_A(LEADING, 4), INT(BATCH, 8))                                       \
	S(LT_MATMUL, KEY_NONE, OF(NONE, 2), OF(A, 5), OF(B, 7), OF(C, 10), OF(D, 12))                                  \
	S(LT_TRANSFORM, KEY_NONE, OF(A, 5), OF(B, 7), OF(C, 9))                                                        \
	S(LT_HEURISTIC, KEY_NONE, OF(NONE, 2), OF(A, 3), OF(B, 4), OF(C, 5), OF(D, 6))                                 \
	S(LT_LAYOUT, KEY_OUT(1), ENUM(TYPE, 2), WIDE(M, 3), WIDE(N, 4), WIDE(LEADING, 5))                              \
	S(LT_LAYOUT_INIT, KEY_AT(1), ENUM(TYPE, 3), WIDE(M, 4), WIDE(N, 5), WIDE(LEADING, 6))                          \
	S(LT_DESCRIPTOR, KEY_OUT(1), ENUM(COMPUTE, 2))                                                                 \
	S(LT_DESCRIPTOR_INIT, KEY_AT(1), ENUM(COMPUTE, 3))
