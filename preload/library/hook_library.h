/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries' rows of the hook table. The libraries' headers are not needed.
 *
 * X(kind, group, symbol, name, words, shape)
 *   CALL                   the call is recorded
 *   INT64_VARIANT          likewise, for a function of 64-bit integers: it has the id and the name of the CALL row of
 *                          that name
 *   PMPI_ALIAS, PMPI_INT64_VARIANT  likewise, for MPI's second name of the function, PMPI_*, which libraries call: it
 *                          is recorded unless the call is made inside another call of MPI
 *   CREATES_HANDLE         a CALL that creates a handle: the fields of its shape become the handle's note, even if the
 *                          call is not recorded
 *   PMPI_CREATES_HANDLE    likewise, for a PMPI_ALIAS
 *   NOTE                   not recorded: its fields become part of a handle's note
 *   SET                    not recorded; `shape` names a struct library_body, which receives the words of each call
 *                          that succeeded
 *   OWN                    likewise, and the call is recorded; a body with `finish` receives those that failed, too
 * group: TF_GROUP_<group>. symbol: of the ABI. name: in reports. All functions return an int, 0 for success; those of
 * HDF5, which may return a handle, a negative one for failure.
 * words: the number of parameters, each of which takes a register or eight bytes of stack. It is one for a function
 * without parameters; that register is passed unchanged. Floating-point parameters do not count: they have eight
 * registers of their own, which every call passes, so their places in the prototype do not matter.
 * shape: the arguments that are recorded. S(name, key, parts...) beside the rows; parts are FIELD(field, position):
 * fields are those of enum tf_field, positions begin at 1; _A _B _C: of that operand. See library.h. */
#pragma once

/* Rows of functions whose names contain the type: real, complex, both. ROW(X, name, ...) is a macro of the library. */
#define LIBRARY_SD(ROW, X, prefix, name, ...) ROW(X, prefix##S##name, __VA_ARGS__) ROW(X, prefix##D##name, __VA_ARGS__)
#define LIBRARY_CZ(ROW, X, prefix, name, ...) ROW(X, prefix##C##name, __VA_ARGS__) ROW(X, prefix##Z##name, __VA_ARGS__)
#define LIBRARY_SDCZ(ROW, X, prefix, name, ...)                                                                        \
	LIBRARY_SD(ROW, X, prefix, name, __VA_ARGS__) LIBRARY_CZ(ROW, X, prefix, name, __VA_ARGS__)

#include "preload/library/hook_cublas.h"
#include "preload/library/hook_cudnn.h"
#include "preload/library/hook_cufft.h"
#include "preload/library/hook_cusolver.h"
#include "preload/library/hook_cusparse.h"
#include "preload/library/hook_hdf5.h"
#include "preload/library/hook_mpi.h"
#include "preload/library/hook_nccl.h"
#include "runtime/shared/format/trace_groups.h"

/* The rows and shapes of all groups that are libraries. */
#define ROWS_OF_GROUP(number, NAME, word, set, form, X) TF_IF_LIBRARY_##form(HOOK_##NAME(X))
#define SHAPES_OF_GROUP(number, NAME, word, set, form, S) TF_IF_LIBRARY_##form(SHAPES_##NAME(S))
#define HOOK_LIBRARY(X) TF_GROUPS(ROWS_OF_GROUP, X)
#define SHAPES_LIBRARY(S) TF_GROUPS(SHAPES_OF_GROUP, S) S(NOTHING, KEY_NONE)

/* The kinds that have an id of their own. */
#define LIBRARY_IF_RECORDED(kind, ...) LIBRARY_IF_RECORDED_##kind(__VA_ARGS__)
#define LIBRARY_IF_RECORDED_CALL(...) __VA_ARGS__
#define LIBRARY_IF_RECORDED_CREATES_HANDLE(...) __VA_ARGS__
#define LIBRARY_IF_RECORDED_OWN(...) __VA_ARGS__
#define LIBRARY_IF_RECORDED_INT64_VARIANT(...)
#define LIBRARY_IF_RECORDED_PMPI_ALIAS(...)
#define LIBRARY_IF_RECORDED_PMPI_INT64_VARIANT(...)
#define LIBRARY_IF_RECORDED_PMPI_CREATES_HANDLE(...)
#define LIBRARY_IF_RECORDED_NOTE(...)
#define LIBRARY_IF_RECORDED_SET(...)
