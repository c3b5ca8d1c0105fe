/* SPDX-License-Identifier: Apache-2.0 */
/* The hook table: one row per intercepted function. Exports, ids, names and resolvers are derived from it. */
#ifndef PILLION_HOOK_TABLE_H
#define PILLION_HOOK_TABLE_H

#include "preload/libc/hook_libc.h"
#include "preload/library/hook_library.h"
#include "preload/cuda/hook_cuda.h"
#include "preload/cuda/hook_cudart.h"

#endif
