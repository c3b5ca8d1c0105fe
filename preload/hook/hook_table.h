/* SPDX-License-Identifier: Apache-2.0 */
/* The hook table: one row per intercepted function. Exports, ids, names and resolvers are derived from it. */
#pragma once

#include "preload/libc/hook_libc.h"
#include "preload/library/hook_library.h"
#include "preload/cuda/hook_cuda.h"
#include "preload/cuda/hook_cudart.h"
