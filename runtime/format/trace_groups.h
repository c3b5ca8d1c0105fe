/* SPDX-License-Identifier: Apache-2.0 */
/* A part of trace_format.h: the table of API groups. Every list of groups is made of it: the words and the help of --trace, the
 * recorder's masks, look-ups, reports, timelines and their colours. Macros only: the assembler reads it, too.
 *
 * G(number, NAME, word, set, category, title, hue, saturation, prefix, none, form, report, alias, ...)
 *   number      in the trace, TF_GROUP_<NAME>
 *   word, set   of --trace: recorded by DEFAULT, on request (MORE), or together with another group of the same word (SAME)
 *   category    in timelines; title, hue, saturation (%): what the HTML page shows
 *   prefix      all symbols begin with it, behind any underscores
 *   none        what a call gives where no library has it: not initialised, or as near to it as the library has words for
 *   form        of the report with the calls and their shapes: SHAPES, with FLOPS; MESSAGES with rates by call (MESSAGES_BY_CALL) or by
 *               device time; NO_REPORT for what is no library. A library has rows in preload/library/hook_<library>.h, HOOK_<NAME>.
 * The order is that of words, reports and rows. What follows TF_GROUPS's first argument is handed on. */
#ifndef PILLION_TRACE_GROUPS_H
#define PILLION_TRACE_GROUPS_H

#define TF_GROUPS(G, ...)                                                                                              \
	G(1, CUDA, cuda, DEFAULT, cuda_runtime, "CUDA runtime", 142, 36, "cu", 0, NO_REPORT, , , __VA_ARGS__)          \
	G(2, CUDA_DRIVER, cuda, SAME, cuda_driver, "CUDA driver", 96, 26, "cu", 0, NO_REPORT, , , __VA_ARGS__)         \
	G(3, NVTX, nvtx, DEFAULT, nvtx, "NVTX", 268, 36, "nvtx", 0, NO_REPORT, , , __VA_ARGS__)                        \
	G(0, OSRT, osrt, DEFAULT, osrt, "OS call", 214, 16, "", 0, NO_REPORT, , , __VA_ARGS__)                         \
	G(4, CUBLAS, cublas, DEFAULT, cublas, "cuBLAS", 176, 40, "cublas", 1, FLOPS, blas_sum, "cublas_sum", __VA_ARGS__) \
	G(5, CUDNN, cudnn, DEFAULT, cudnn, "cuDNN", 188, 44, "cudnn", 1001, SHAPES, cudnn_sum, "cudnnsum", __VA_ARGS__) \
	G(6, CUSPARSE, cusparse, MORE, cusparse, "cuSPARSE", 164, 30, "cusparse", 1, SHAPES, cusparse_sum, "cusparsesum", \
	  __VA_ARGS__)                                                                                                 \
	G(7, CUSOLVER, cusolver, MORE, cusolver, "cuSOLVER", 158, 34, "cusolver", 1, SHAPES, cusolver_sum, "cusolversum", \
	  __VA_ARGS__)                                                                                                 \
	/* CUFFT_SETUP_FAILED, ncclSystemError, MPI_ERR_OTHER in Open MPI */                                          \
	G(10, CUFFT, cufft, MORE, cufft, "cuFFT", 150, 36, "cufft", 7, SHAPES, cufft_sum, "cufftsum", __VA_ARGS__)     \
	G(8, NCCL, nccl, MORE, nccl, "NCCL", 22, 55, "nccl", 2, MESSAGES, nccl_sum, "ncclsum", __VA_ARGS__)            \
	G(9, MPI, mpi, MORE, mpi, "MPI", 46, 46, "MPI_", 16, MESSAGES_BY_CALL, mpi_sum, "mpisum", __VA_ARGS__)

#endif
