/* SPDX-License-Identifier: Apache-2.0 */
/* The first chunks of threads, TF_PAGE bytes each. They lie ready in areas of the trace file that are mapped as a
 * whole; one atomic add takes one, so that a thread attaches without a system call for its space. An area is unmapped
 * when all of its threads have ended. Under a guard (signals blocked). */
#ifndef PILLION_FIRST_CHUNK_H
#define PILLION_FIRST_CHUNK_H

#include <stdint.h>

enum { FIRST_CHUNK_AREAS = 128 };

struct first_chunk_area {
	void *at; /* NULL: there is none. Changed under process.growing */
	uint64_t offset;
	uint32_t count, live; /* live: first chunks that no thread has given back */
};

/* A first chunk of zeros and what first_chunk_release() has to know; NULL: none. */
void *first_chunk_take(uint64_t *ret_offset, uint32_t *ret_area);
void first_chunk_release(uint32_t area);

/* Cuts what the file has been lengthened by and nobody has taken, at the image's end. */
void first_chunk_trim(void);

#endif
