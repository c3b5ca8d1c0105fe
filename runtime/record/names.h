/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of what a program names once and refers to for as long as it lives (NVTX strings and domains, kernels). From
 * mmap, never given back; any thread; they outlive a fork, unlike what the trace knows. */
#ifndef PILLION_NAMES_H
#define PILLION_NAMES_H

#include <stddef.h>

/* Zeroed room, a multiple of 16; NULL: out of memory. At most NAMES_BYTES. */
enum { NAMES_BYTES = 16384 };
void *names_take(size_t size);

#endif
