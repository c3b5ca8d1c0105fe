/* SPDX-License-Identifier: Apache-2.0 */
/* The directories of paths that calls are given. The trace describes each once, as descriptor 0xffff whose generation
 * is the directory's number, so that short calls can be counted by function and directory (traffic.h). */
#pragma once

#include <stdint.h>

/* The number of the directory of `path`, relative to the descriptor `at` (or AT_FDCWD). 0: not known. */
uint32_t directory_number(int at, const char *path, uint64_t from_ticks);

/* The working directory has changed: relative paths now mean others. */
void directory_changed(void);
