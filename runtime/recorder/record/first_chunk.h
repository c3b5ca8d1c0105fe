/* SPDX-License-Identifier: Apache-2.0 */
/* The first chunks of threads, TF_PAGE bytes each. They are allocated in advance, in areas of the trace file that
 * are mapped as a whole. One atomic add allocates a chunk, so that a thread attaches without a system call for its
 * space. An area is unmapped when all of its threads have ended. Under a guard (signals blocked). */
#pragma once

#include <stdint.h>

/* Returns a zeroed chunk and its area, for first_chunk_release(); NULL: failed. */
void *first_chunk_take(uint64_t *ret_offset, uint32_t *ret_area);
void first_chunk_release(uint32_t area);

/* At the end of the image: truncates the unused space at the end of the file. */
void first_chunk_trim(void);
