/* SPDX-License-Identifier: Apache-2.0 */
/* A part of trace_format.h: the table of API groups. Every list of groups is derived from it: the words and the help
 * of --trace, the recorder's masks, symbol lookup, reports, timelines and their colours. Macros only: assembly includes
 * it.
 *
 * G(number, NAME, word, set, category, title, hue, saturation, prefix, none, form, report, alias, X)
 *   number      in the trace, TF_GROUP_<NAME>
 *   word, set   of --trace: recorded by DEFAULT, on request (MORE), or with another group of the same word (SAME)
 *   category    in timelines; title, hue, saturation (%): what the HTML page shows
 *   prefix      all symbols begin with it, after any underscores
 *   none        the result of a call that no library implements: not initialised, or the library's nearest error
 *   form        of the report of calls and their shapes: SHAPES; FLOPS adds the work done; MESSAGES adds rates by
 *               device time, MESSAGES_BY_CALL by the call's time. NO_REPORT: the group is not a library. A library has
 *               its rows, HOOK_<NAME> and SHAPES_<NAME>, in preload/library/hook_<word>.h.
 *   report      its name; alias: nsys's name of it
 * The order is that of words, reports and rows. X is passed through. */
#ifndef PILLION_TRACE_GROUPS_H
#define PILLION_TRACE_GROUPS_H

#define TF_GROUPS(G, X)                                                                                                \
	G(1, CUDA, cuda, DEFAULT, cuda_runtime, "CUDA runtime", 142, 36, "cu", 0, NO_REPORT, , , X)                    \
	G(2, CUDA_DRIVER, cuda, SAME, cuda_driver, "CUDA driver", 96, 26, "cu", 0, NO_REPORT, , , X)                   \
	G(3, NVTX, nvtx, DEFAULT, nvtx, "NVTX", 268, 36, "nvtx", 0, NO_REPORT, , , X)                                  \
	G(0, OSRT, osrt, DEFAULT, osrt, "OS call", 214, 16, "", 0, NO_REPORT, , , X)                                   \
	G(4, CUBLAS, cublas, DEFAULT, cublas, "cuBLAS", 176, 40, "cublas", 1, FLOPS, blas_sum, "cublas_sum", X)        \
	G(5, CUDNN, cudnn, DEFAULT, cudnn, "cuDNN", 188, 44, "cudnn", 1001, SHAPES, cudnn_sum, "cudnnsum", X)          \
	G(6, CUSPARSE, cusparse, MORE, cusparse, "cuSPARSE", 164, 30, "cusparse", 1, SHAPES, cusparse_sum,             \
	  "cusparsesum", X)                                                                                            \
	G(7, CUSOLVER, cusolver, MORE, cusolver, "cuSOLVER", 158, 34, "cusolver", 1, SHAPES, cusolver_sum,             \
	  "cusolversum", X)                                                                                            \
	/* CUFFT_SETUP_FAILED, ncclSystemError, MPI_ERR_OTHER in Open MPI */                                           \
	G(10, CUFFT, cufft, MORE, cufft, "cuFFT", 150, 36, "cufft", 7, SHAPES, cufft_sum, "cufftsum", X)               \
	G(8, NCCL, nccl, MORE, nccl, "NCCL", 22, 55, "nccl", 2, MESSAGES, nccl_sum, "ncclsum", X)                      \
	G(9, MPI, mpi, MORE, mpi, "MPI", 46, 46, "MPI_", 16, MESSAGES_BY_CALL, mpi_sum, "mpisum", X)

/* TF_IF_LIBRARY_<form>(text): the text, if the group is a library. */
#define TF_IF_LIBRARY_NO_REPORT(...)
#define TF_IF_LIBRARY_SHAPES(...) __VA_ARGS__
#define TF_IF_LIBRARY_FLOPS(...) __VA_ARGS__
#define TF_IF_LIBRARY_MESSAGES(...) __VA_ARGS__
#define TF_IF_LIBRARY_MESSAGES_BY_CALL(...) __VA_ARGS__

#endif
