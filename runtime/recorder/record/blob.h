/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/shared/format/trace_format.h"

static inline unsigned blob_slots(size_t size)
{
	return 1 + (unsigned)((size + TF_DATA_BYTES - 1) / TF_DATA_BYTES);
}

/* Copies `count` bytes from offset `at` of the concatenation of two parts. */
static inline void blob_copy_parts(void *to, const unsigned char *p, size_t size, const unsigned char *more, size_t at,
			    size_t count)
{
	size_t here = at >= size ? 0 : size - at < count ? size - at : count;

	if (here)
		memcpy(to, p + at, here);
	if (count > here)
		memcpy((char *)to + here, more + (at + here - size), count - here);
}

/* Stores a blob into its blob_slots(first + second) slots, the first one last. It is the concatenation of two parts.
 * Inline, because it may run on the caller's stack. */
static inline __attribute__((always_inline)) void blob_store(uint64_t *at, unsigned blob, uint32_t id,
							     const void *bytes, size_t first, const void *more,
							     size_t second)
{
	const size_t size = first + second;
	unsigned slots = blob_slots(size);

	for (unsigned i = 1; i < slots; i++) {
		size_t left = size - (size_t)(i - 1) * TF_DATA_BYTES;
		uint64_t seven = 0;

		blob_copy_parts(&seven, bytes, first, more, size - left, left < TF_DATA_BYTES ? left : TF_DATA_BYTES);
		at[i] = TF_DATA | seven << 8;
	}
	__atomic_store_n(at, tf_blob(blob, (unsigned)size, id), __ATOMIC_RELEASE);
}

/* States in the head of a chunk that it has such a blob, before this is stored. */
static inline void blob_announce(struct tf_chunk *chunk, unsigned blob)
{
	if (chunk->kind == TF_CHUNK_SLOTS && !(chunk->blobs >> blob & 1))
		__atomic_fetch_or(&chunk->blobs, 1ull << blob, __ATOMIC_RELAXED);
}

/* Likewise, out of line: for --ring. */
__attribute__((cold)) void blob_store_apart(uint64_t *at, unsigned blob, uint32_t id, const void *bytes, size_t first,
					    const void *more, size_t second);
