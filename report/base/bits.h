/* SPDX-License-Identifier: Apache-2.0 */
/* A set of numbers as bits, initially zeroed. It grows when a bit is set. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "report/base/util.h"

struct bits {
	uint8_t *bytes;
	size_t size;
};

static inline void bits_set(struct bits *b, uint64_t i)
{
	if (i / 8 >= b->size) {
		size_t size = (size_t)(i / 8 + 1) * 2;

		b->bytes = mem_resize(b->bytes, size);
		memset(b->bytes + b->size, 0, size - b->size);
		b->size = size;
	}
	b->bytes[i / 8] |= (uint8_t)(1 << i % 8);
}

static inline bool bits_get(const struct bits *b, uint64_t i)
{
	return i / 8 < b->size && b->bytes[i / 8] >> i % 8 & 1;
}

static inline void bits_done(struct bits *b)
{
	free(b->bytes);
	*b = (struct bits){0};
}
