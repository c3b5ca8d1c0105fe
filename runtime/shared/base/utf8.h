/* SPDX-License-Identifier: Apache-2.0 */
/* Writes UTF-8. */
#pragma once

#include <stdint.h>

enum { UTF8_BYTES = 4 };

/* Writes a code point, at most UTF8_BYTES, without a terminator. Returns the number of bytes. */
static inline unsigned utf8_write(char *at, uint32_t code)
{
	unsigned size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	if (size == 1) {
		at[0] = (char)code;
		return size;
	}
	for (unsigned i = size - 1; i; i--, code >>= 6)
		at[i] = (char)(0x80 | (code & 0x3f));
	at[0] = (char)(0xf00u >> size | (code & 0x7fu >> size));
	return size;
}
