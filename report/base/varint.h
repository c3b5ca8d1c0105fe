/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of variable length (LEB128): 7 bits in each byte, the lowest first; all bytes but the last have bit 7 set.
 * Protocol Buffers, Thrift, Parquet and the page use them. */
#pragma once

#include "report/base/util.h"

static inline void buffer_varint(struct buffer *b, uint64_t number)
{
	uint8_t bytes[10];
	size_t size = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[size++] = (uint8_t)(number | 0x80);
	bytes[size++] = (uint8_t)number;
	buffer_add(b, bytes, size);
}

/* A signed number as an unsigned one that is small if the number is near 0: 2n, or -2n - 1. */
static inline uint64_t zigzag(int64_t number)
{
	return (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
}
