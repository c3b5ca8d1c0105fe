/* SPDX-License-Identifier: Apache-2.0 */
/* cuSOLVER: dense (Dn), sparse (Sp), several devices (Mg). Functions that only return the size of a buffer
 * have no row. See hook_library.h. */
#pragma once

#define CUSOLVER(X, name, words, shape) X(CALL, CUSOLVER, name, name, words, shape)
#define CUSOLVER_SDCZ(X, name, words, shape) LIBRARY_SDCZ(CUSOLVER, X, cusolverDn, name, words, shape)
/* Functions whose names differ between real and complex types: symmetric or Hermitian, orthogonal or unitary. */
#define CUSOLVER_SD_CZ(X, real, complex, words, shape)                                                                 \
	LIBRARY_SD(CUSOLVER, X, cusolverDn, real, words, shape)                                                        \
	LIBRARY_CZ(CUSOLVER, X, cusolverDn, complex, words, shape)
#define CUSOLVER_SPARSE_SDCZ(X, name, words, shape) LIBRARY_SDCZ(CUSOLVER, X, cusolverSp, name, words, shape)
/* Iterative refinement: the precision of the problem, then that of the factors. */
#define CUSOLVER_REFINED(X, name, shape)                                                                               \
	CUSOLVER(X, cusolverDnZZ##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnZC##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnZK##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnZE##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnZY##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnCC##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnCE##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnCK##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnCY##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnDD##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnDS##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnDH##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnDB##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnDX##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnSS##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnSH##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnSB##name, 14, shape)                                                                     \
	CUSOLVER(X, cusolverDnSX##name, 14, shape)

#define HOOK_CUSOLVER(X) HOOK_CUSOLVER_DENSE(X) HOOK_CUSOLVER_GENERIC(X) HOOK_CUSOLVER_SPARSE(X)

#define HOOK_CUSOLVER_DENSE(X)                                                                                         \
	CUSOLVER(X, cusolverDnCreate, 1, NOTHING)                                                                      \
	CUSOLVER(X, cusolverDnDestroy, 1, NOTHING)                                                                     \
	CUSOLVER_SDCZ(X, potrf, 8, SOLVE_UPLO_N)                                                                       \
	CUSOLVER_SDCZ(X, potrs, 9, SOLVE_UPLO_N_RIGHT)                                                                 \
	CUSOLVER_SDCZ(X, potrfBatched, 7, SOLVE_POTRF_BATCHED)                                                         \
	CUSOLVER_SDCZ(X, potrsBatched, 10, SOLVE_POTRS_BATCHED)                                                        \
	CUSOLVER_SDCZ(X, potri, 8, SOLVE_UPLO_N)                                                                       \
	CUSOLVER_SDCZ(X, lauum, 8, SOLVE_UPLO_N)                                                                       \
	CUSOLVER_SDCZ(X, getrf, 8, SOLVE_M_N)                                                                          \
	CUSOLVER_SDCZ(X, laswp, 8, SOLVE_N)                                                                            \
	CUSOLVER_SDCZ(X, getrs, 10, SOLVE_TRANS_N_RIGHT)                                                               \
	CUSOLVER_SDCZ(X, geqrf, 9, SOLVE_M_N)                                                                          \
	CUSOLVER_SD_CZ(X, orgqr, ungqr, 10, SOLVE_M_N_K)                                                               \
	CUSOLVER_SD_CZ(X, ormqr, unmqr, 14, SOLVE_SIDE_TRANS_M_N_K)                                                    \
	CUSOLVER_SDCZ(X, sytrf, 9, SOLVE_UPLO_N)                                                                       \
	CUSOLVER_SDCZ(X, sytri, 9, SOLVE_UPLO_N)                                                                       \
	CUSOLVER_SDCZ(X, gebrd, 12, SOLVE_M_N)                                                                         \
	CUSOLVER_SD_CZ(X, orgbr, ungbr, 11, SOLVE_SIDE_M_N_K)                                                          \
	CUSOLVER_SD_CZ(X, sytrd, hetrd, 11, SOLVE_UPLO_N)                                                              \
	CUSOLVER_SD_CZ(X, orgtr, ungtr, 9, SOLVE_UPLO_N)                                                               \
	CUSOLVER_SD_CZ(X, ormtr, unmtr, 14, SOLVE_ORMTR)                                                               \
	CUSOLVER_SDCZ(X, gesvd, 16, SOLVE_GESVD)                                                                       \
	CUSOLVER_SDCZ(X, gesvdj, 16, SOLVE_GESVD)                                                                      \
	CUSOLVER_SDCZ(X, gesvdjBatched, 16, SOLVE_GESVDJ_BATCHED)                                                      \
	CUSOLVER_SDCZ(X, gesvdaStridedBatched, 21, SOLVE_GESVDA_BATCHED)                                               \
	CUSOLVER_SD_CZ(X, syevd, heevd, 10, SOLVE_JOB_UPLO_N)                                                          \
	CUSOLVER_SD_CZ(X, syevj, heevj, 11, SOLVE_JOB_UPLO_N)                                                          \
	CUSOLVER_SD_CZ(X, syevjBatched, heevjBatched, 12, SOLVE_SYEVJ_BATCHED)                                         \
	CUSOLVER_SD_CZ(X, sygvd, hegvd, 13, SOLVE_TYPE_JOB_UPLO_N)                                                     \
	CUSOLVER_SD_CZ(X, sygvj, hegvj, 14, SOLVE_TYPE_JOB_UPLO_N)                                                     \
	CUSOLVER_SD_CZ(X, syevdx, heevdx, 14, SOLVE_JOB_RANGE_UPLO_N)                                            \
	CUSOLVER_SD_CZ(X, sygvdx, hegvdx, 17, SOLVE_TYPE_JOB_RANGE_UPLO_N)                                       \
	CUSOLVER_REFINED(X, gesv, SOLVE_REFINED)                                                                       \
	CUSOLVER_REFINED(X, gels, SOLVE_REFINED_LEAST)                                                                 \
	CUSOLVER(X, cusolverDnIRSXgesv, 15, SOLVE_IRS)                                                                 \
	CUSOLVER(X, cusolverDnIRSXgels, 16, SOLVE_IRS_LEAST)

/* The same for any type and 64-bit sizes. */
#define HOOK_CUSOLVER_GENERIC(X)                                                                                       \
	CUSOLVER(X, cusolverDnXtrtri, 12, SOLVE_XTRTRI)                                                                \
	CUSOLVER(X, cusolverDnXsytrs, 16, SOLVE_XSYTRS)                                                                \
	CUSOLVER(X, cusolverDnXpotrf, 13, SOLVE_XPOTRF)                                                                \
	CUSOLVER(X, cusolverDnXpotrs, 12, SOLVE_XPOTRS)                                                                \
	CUSOLVER(X, cusolverDnXgeqrf, 15, SOLVE_XGETRF)                                                                \
	CUSOLVER(X, cusolverDnXgetrf, 14, SOLVE_XGETRF)                                                                \
	CUSOLVER(X, cusolverDnXgetrs, 13, SOLVE_XPOTRS)                                                                \
	CUSOLVER(X, cusolverDnXsyevd, 16, SOLVE_XSYEVD)                                                                \
	CUSOLVER(X, cusolverDnXsyevBatched, 17, SOLVE_XSYEV_BATCHED)                                                   \
	CUSOLVER(X, cusolverDnXsyevdx, 22, SOLVE_XSYEVDX)                                                              \
	CUSOLVER(X, cusolverDnXgeev, 22, SOLVE_XGEEV)                                                                  \
	CUSOLVER(X, cusolverDnXgesvd, 23, SOLVE_XGESVD)                                                                \
	CUSOLVER(X, cusolverDnXgesvdp, 24, SOLVE_XGESVD)                                                               \
	CUSOLVER(X, cusolverDnXgesvdr, 26, SOLVE_XGESVD)                                                               \
	CUSOLVER(X, cusolverDnXlarft, 19, SOLVE_XLARFT)                                                                \
	CUSOLVER(X, cusolverMgSyevd, 14, NOTHING)                                                                      \
	CUSOLVER(X, cusolverMgGetrf, 12, NOTHING)                                                                      \
	CUSOLVER(X, cusolverMgGetrs, 17, NOTHING)                                                                      \
	CUSOLVER(X, cusolverMgPotrf, 11, NOTHING)                                                                      \
	CUSOLVER(X, cusolverMgPotrs, 16, NOTHING)                                                                      \
	CUSOLVER(X, cusolverMgPotri, 11, NOTHING)

#define HOOK_CUSOLVER_SPARSE(X)                                                                                        \
	CUSOLVER(X, cusolverSpCreate, 1, NOTHING)                                                                      \
	CUSOLVER(X, cusolverSpDestroy, 1, NOTHING)                                                                     \
	CUSOLVER_SPARSE_SDCZ(X, csrlsvqr, 11, SOLVE_SPARSE)                                                     \
	CUSOLVER_SPARSE_SDCZ(X, csrlsvchol, 11, SOLVE_SPARSE)                                                   \
	CUSOLVER_SPARSE_SDCZ(X, csrlsvluHost, 11, SOLVE_SPARSE)                                                 \
	CUSOLVER_SPARSE_SDCZ(X, csrlsvqrHost, 11, SOLVE_SPARSE)                                                 \
	CUSOLVER_SPARSE_SDCZ(X, csrlsvcholHost, 11, SOLVE_SPARSE)                                               \
	CUSOLVER_SPARSE_SDCZ(X, csrlsqvqrHost, 13, SOLVE_SPARSE_LEAST)                                          \
	CUSOLVER_SPARSE_SDCZ(X, csrqrsvBatched, 13, SOLVE_SPARSE_BATCHED)                                        \
	CUSOLVER(X, cusolverSpXcsrqrAnalysisBatched, 8, SOLVE_SPARSE_LEAST)

#define SHAPES_CUSOLVER(S)                                                                                             \
	S(SOLVE_N, KEY_NONE, INT(N, 2), INT_A(LEADING, 4))                                                             \
	S(SOLVE_UPLO_N, KEY_NONE, INT(N, 3), INT_A(LEADING, 5))                                                        \
	S(SOLVE_UPLO_N_RIGHT, KEY_NONE, INT(N, 3), INT_B(N, 4), INT_A(LEADING, 6), INT_B(LEADING, 8))                  \
	S(SOLVE_POTRF_BATCHED, KEY_NONE, INT(N, 3), INT_A(LEADING, 5), INT(BATCH, 7))                                  \
	S(SOLVE_POTRS_BATCHED, KEY_NONE, INT(N, 3), INT_B(N, 4), INT_A(LEADING, 6), INT_B(LEADING, 8), INT(BATCH, 10)) \
	S(SOLVE_M_N, KEY_NONE, INT(M, 2), INT(N, 3), INT_A(LEADING, 5))                                                \
	S(SOLVE_TRANS_N_RIGHT, KEY_NONE, ENUM_A(TRANSPOSE, 2), INT(N, 3), INT_B(N, 4), INT_A(LEADING, 6),              \
	  INT_B(LEADING, 9))                                                                                           \
	S(SOLVE_M_N_K, KEY_NONE, INT(M, 2), INT(N, 3), INT(K, 4), INT_A(LEADING, 6))                                   \
	S(SOLVE_SIDE_M_N_K, KEY_NONE, INT(M, 3), INT(N, 4), INT(K, 5), INT_A(LEADING, 7))                              \
	S(SOLVE_SIDE_TRANS_M_N_K, KEY_NONE, ENUM_A(TRANSPOSE, 3), INT(M, 4), INT(N, 5), INT(K, 6), INT_A(LEADING, 8),  \
	  INT_C(LEADING, 11))                                                                                          \
	S(SOLVE_ORMTR, KEY_NONE, ENUM_A(TRANSPOSE, 4), INT(M, 5), INT(N, 6), INT_A(LEADING, 8), INT_C(LEADING, 11))    \
	S(SOLVE_GESVD, KEY_NONE, INT(M, 4), INT(N, 5), INT_A(LEADING, 7))                                              \
	S(SOLVE_GESVDJ_BATCHED, KEY_NONE, INT(M, 3), INT(N, 4), INT_A(LEADING, 6), INT(BATCH, 16))                     \
	S(SOLVE_GESVDA_BATCHED, KEY_NONE, INT(M, 4), INT(N, 5), INT_A(LEADING, 7), INT(BATCH, 21))                     \
	S(SOLVE_JOB_UPLO_N, KEY_NONE, INT(N, 4), INT_A(LEADING, 6))                                                    \
	S(SOLVE_SYEVJ_BATCHED, KEY_NONE, INT(N, 4), INT_A(LEADING, 6), INT(BATCH, 12))                                 \
	S(SOLVE_TYPE_JOB_UPLO_N, KEY_NONE, INT(N, 5), INT_A(LEADING, 7), INT_B(LEADING, 9))                            \
	S(SOLVE_JOB_RANGE_UPLO_N, KEY_NONE, INT(N, 5), INT_A(LEADING, 7))                                              \
	S(SOLVE_TYPE_JOB_RANGE_UPLO_N, KEY_NONE, INT(N, 6), INT_A(LEADING, 8), INT_B(LEADING, 10))                     \
	S(SOLVE_REFINED, KEY_NONE, INT(N, 2), INT_B(N, 3), INT_A(LEADING, 5))                                          \
	S(SOLVE_REFINED_LEAST, KEY_NONE, INT(M, 2), INT(N, 3), INT_B(N, 4), INT_A(LEADING, 6))                         \
	S(SOLVE_IRS, KEY_NONE, INT(N, 4), INT_B(N, 5))                                                                 \
	S(SOLVE_IRS_LEAST, KEY_NONE, INT(M, 4), INT(N, 5), INT_B(N, 6))                                                \
	S(SOLVE_XTRTRI, KEY_NONE, WIDE(N, 4), ENUM_A(TYPE, 5), WIDE_A(LEADING, 7))                                     \
	S(SOLVE_XSYTRS, KEY_NONE, WIDE(N, 3), WIDE_B(N, 4), ENUM_A(TYPE, 5), WIDE_A(LEADING, 7))                       \
	S(SOLVE_XPOTRF, KEY_NONE, WIDE(N, 4), ENUM_A(TYPE, 5), WIDE_A(LEADING, 7), ENUM(COMPUTE, 8))                   \
	S(SOLVE_XPOTRS, KEY_NONE, WIDE(N, 4), WIDE_B(N, 5), ENUM_A(TYPE, 6), WIDE_A(LEADING, 8))                       \
	S(SOLVE_XGETRF, KEY_NONE, WIDE(M, 3), WIDE(N, 4), ENUM_A(TYPE, 5), WIDE_A(LEADING, 7))                         \
	S(SOLVE_XSYEVD, KEY_NONE, WIDE(N, 5), ENUM_A(TYPE, 6), WIDE_A(LEADING, 8), ENUM(COMPUTE, 11))                  \
	S(SOLVE_XSYEV_BATCHED, KEY_NONE, WIDE(N, 5), ENUM_A(TYPE, 6), WIDE_A(LEADING, 8), ENUM(COMPUTE, 11),           \
	  WIDE(BATCH, 17))                                                                                             \
	S(SOLVE_XSYEVDX, KEY_NONE, WIDE(N, 6), ENUM_A(TYPE, 7), WIDE_A(LEADING, 9))                                    \
	S(SOLVE_XGEEV, KEY_NONE, WIDE(N, 5), ENUM_A(TYPE, 6), WIDE_A(LEADING, 8))                                      \
	S(SOLVE_XGESVD, KEY_NONE, WIDE(M, 5), WIDE(N, 6))                                                              \
	S(SOLVE_XLARFT, KEY_NONE, WIDE(N, 5), WIDE(K, 6))                                                              \
	S(SOLVE_SPARSE, KEY_NONE, INT(N, 2), INT(NONZEROS, 3))                                                         \
	S(SOLVE_SPARSE_LEAST, KEY_NONE, INT(M, 2), INT(N, 3), INT(NONZEROS, 4))                                        \
	S(SOLVE_SPARSE_BATCHED, KEY_NONE, INT(M, 2), INT(N, 3), INT(NONZEROS, 4), INT(BATCH, 11))
