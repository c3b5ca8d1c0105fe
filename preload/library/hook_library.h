/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries' rows of the hook table: cuBLAS, cuDNN, cuSPARSE, cuSOLVER, cuFFT, NCCL, MPI. Their headers are not needed.
 *
 * X(kind, group, symbol, name, words, shape)
 *   CALL   the call is recorded
 *   TWIN   likewise, for a function of 64-bit integers: it has the id and the name of the CALL row of that name
 *   MAKER  a CALL that makes a handle: what its shape says of it is noted, also where nothing is recorded
 *   NOTE   not recorded: only noted
 *   SET    not recorded; in place of a shape a struct library_body, which is given the words of a call that succeeded
 *   OWN    likewise, and the call is recorded
 * group: TF_GROUP_<group>. symbol: the ABI's. name: as it is reported. All return an int, 0 for success.
 * words: how many parameters there are, each a register or eight bytes of stack wide. A function without any is given one,
 * which is passed on as it came. Floating ones are not counted: they have registers of their own, eight, which are passed on in
 * every call, so how they are mixed in the prototype does not matter.
 * shape: what is kept of the arguments. S(name, key, parts...) beside the rows; parts are FIELD(field, position), fields those of
 * enum tf_field, positions from 1; _A _B _C: of this operand. See library.h. */
#ifndef PILLION_HOOK_LIBRARY_H
#define PILLION_HOOK_LIBRARY_H

/* Rows of functions whose names tell the type: real, complex, both. ROW(X, name, ...) is the library's own. */
#define LIBRARY_SD(ROW, X, prefix, name, ...) ROW(X, prefix##S##name, __VA_ARGS__) ROW(X, prefix##D##name, __VA_ARGS__)
#define LIBRARY_CZ(ROW, X, prefix, name, ...) ROW(X, prefix##C##name, __VA_ARGS__) ROW(X, prefix##Z##name, __VA_ARGS__)
#define LIBRARY_SDCZ(ROW, X, prefix, name, ...)                                                                        \
	LIBRARY_SD(ROW, X, prefix, name, __VA_ARGS__) LIBRARY_CZ(ROW, X, prefix, name, __VA_ARGS__)

#include "preload/library/hook_cublas.h"
#include "preload/library/hook_cudnn.h"
#include "preload/library/hook_cufft.h"
#include "preload/library/hook_cusolver.h"
#include "preload/library/hook_cusparse.h"
#include "preload/library/hook_mpi.h"
#include "preload/library/hook_nccl.h"

#define HOOK_LIBRARY(X)                                                                                                \
	HOOK_CUBLAS(X) HOOK_CUDNN(X) HOOK_CUSPARSE(X) HOOK_CUSOLVER(X) HOOK_CUFFT(X) HOOK_NCCL(X) HOOK_MPI(X)
#define SHAPES_LIBRARY(S)                                                                                              \
	SHAPES_CUBLAS(S) SHAPES_CUDNN(S) SHAPES_CUSPARSE(S) SHAPES_CUSOLVER(S) SHAPES_CUFFT(S) SHAPES_NCCL(S) SHAPES_MPI(S) \
	S(NOTHING, KEY_NONE)

/* What a call gives where no library has it: not initialised, or as near to it as the library has words for. */
#define LIBRARY_NONE_CUBLAS 1
#define LIBRARY_NONE_CUDNN 1001
#define LIBRARY_NONE_CUSPARSE 1
#define LIBRARY_NONE_CUSOLVER 1
#define LIBRARY_NONE_CUFFT 7 /* CUFFT_SETUP_FAILED */
#define LIBRARY_NONE_NCCL 2  /* ncclSystemError */
#define LIBRARY_NONE_MPI 16  /* MPI_ERR_OTHER in Open MPI */

/* The kinds that have an id. */
#define LIBRARY_IF_RECORDED(kind, ...) LIBRARY_IF_RECORDED_##kind(__VA_ARGS__)
#define LIBRARY_IF_RECORDED_CALL(...) __VA_ARGS__
#define LIBRARY_IF_RECORDED_MAKER(...) __VA_ARGS__
#define LIBRARY_IF_RECORDED_OWN(...) __VA_ARGS__
#define LIBRARY_IF_RECORDED_TWIN(...)
#define LIBRARY_IF_RECORDED_NOTE(...)
#define LIBRARY_IF_RECORDED_SET(...)

#endif
