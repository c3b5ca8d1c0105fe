/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for names that a program registers once and refers to for its whole life (NVTX strings and domains,
 * kernels). It comes from mmap and is never released. Any thread. The contents survive a fork, unlike the trace's
 * own tables. */
#pragma once

#include <stddef.h>

/* Returns zeroed memory, aligned to 16; at most NAMES_BYTES. NULL: out of memory. */
enum { NAMES_BYTES = 16384 };
void *names_take(size_t size);
