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
#include "runtime/format/trace_groups.h"

/* The rows and shapes of the groups that are libraries. */
#define LIBRARY_ROWS(number, NAME, word, set, category, title, hue, saturation, prefix, none, form, report, alias, X)  \
	LIBRARY_ROWS_##form(HOOK_##NAME, X)
#define LIBRARY_SHAPES(number, NAME, word, set, category, title, hue, saturation, prefix, none, form, report, alias, S) \
	LIBRARY_ROWS_##form(SHAPES_##NAME, S)
#define LIBRARY_ROWS_NO_REPORT(rows, X)
#define LIBRARY_ROWS_SHAPES(rows, X) rows(X)
#define LIBRARY_ROWS_FLOPS(rows, X) rows(X)
#define LIBRARY_ROWS_MESSAGES(rows, X) rows(X)
#define LIBRARY_ROWS_MESSAGES_BY_CALL(rows, X) rows(X)
#define HOOK_LIBRARY(X) TF_GROUPS(LIBRARY_ROWS, X)
#define SHAPES_LIBRARY(S) TF_GROUPS(LIBRARY_SHAPES, S) S(NOTHING, KEY_NONE)

/* The kinds that have an id. */
#define LIBRARY_IF_RECORDED(kind, ...) LIBRARY_IF_RECORDED_##kind(__VA_ARGS__)
#define LIBRARY_IF_RECORDED_CALL(...) __VA_ARGS__
#define LIBRARY_IF_RECORDED_MAKER(...) __VA_ARGS__
#define LIBRARY_IF_RECORDED_OWN(...) __VA_ARGS__
#define LIBRARY_IF_RECORDED_TWIN(...)
#define LIBRARY_IF_RECORDED_NOTE(...)
#define LIBRARY_IF_RECORDED_SET(...)

#endif
