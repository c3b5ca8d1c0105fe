/* SPDX-License-Identifier: Apache-2.0 */
/* A part of trace_format.h: the table of API groups. Everything that is generated for each group is derived from it:
 * the enum of groups, the words and the help of --trace, and the wrappers of libraries. How a group is shown is in
 * report/events/group.c. Macros only: assembly includes it.
 *
 * G(number, NAME, word, set, form, X)
 *   number      in the trace, TF_GROUP_<NAME>
 *   word, set   of --trace: recorded by DEFAULT, on request (MORE), or with another group of the same word (SAME)
 *   form        LIBRARY: its rows, HOOK_<NAME> and SHAPES_<NAME>, are in preload/library/hook_<word>.h; else OTHER
 * The order is that of words and rows. X is passed through. */
#pragma once

#define TF_GROUPS(G, X)                                                                                                \
	G(1, CUDA, cuda, DEFAULT, OTHER, X)                                                                            \
	G(2, CUDA_DRIVER, cuda, SAME, OTHER, X)                                                                        \
	G(3, NVTX, nvtx, DEFAULT, OTHER, X)                                                                            \
	G(0, OSRT, osrt, DEFAULT, OTHER, X)                                                                            \
	G(4, CUBLAS, cublas, DEFAULT, LIBRARY, X)                                                                      \
	G(5, CUDNN, cudnn, DEFAULT, LIBRARY, X)                                                                        \
	G(6, CUSPARSE, cusparse, MORE, LIBRARY, X)                                                                     \
	G(7, CUSOLVER, cusolver, MORE, LIBRARY, X)                                                                     \
	G(10, CUFFT, cufft, MORE, LIBRARY, X)                                                                          \
	G(8, NCCL, nccl, MORE, LIBRARY, X)                                                                             \
	G(9, MPI, mpi, MORE, LIBRARY, X)                                                                               \
	G(11, OPENMP, openmp, MORE, OTHER, X)                                                                          \
	G(12, HDF5, hdf5, MORE, LIBRARY, X)

/* TF_IF_LIBRARY_<form>(text): the text, if the group is a library. */
#define TF_IF_LIBRARY_OTHER(...)
#define TF_IF_LIBRARY_LIBRARY(...) __VA_ARGS__
