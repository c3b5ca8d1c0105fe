/* SPDX-License-Identifier: Apache-2.0 */
/* Profilers of NVIDIA that the user has put in front of the command, or that the command starts. They mark the
 * environment of each process that they profile. */
#pragma once

#include <stdbool.h>

/* Whether nsys or ncu profiles processes with this environment. Such a process has no CUPTI for us, and
 * CUDA_INJECTION64_PATH must not name our library there: ncu ends with an error if the variable names another library
 * (seen with 2025.3.1). Async-signal-safe. NULL: false. */
bool foreign_profiler_is_named(char *const *environment);
