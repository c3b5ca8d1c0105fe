/* SPDX-License-Identifier: Apache-2.0 */
/* The name of the part of a library or program that a capture has, because its file may be gone when a report is made:
 * BUILD-ID.object, or SIZE-MTIME.object of a file without one. The launcher writes it, the report reads it. It is the
 * file with holes in place of its code and data: what is left are its symbols and its debug information. */
#pragma once

#include "runtime/shared/base/text.h"

#define OBJECT_ENDING ".object"
enum { OBJECT_NAME_BYTES = 64 };

static inline void object_name(char ret[OBJECT_NAME_BYTES], const uint8_t *build_id, size_t length, uint64_t size,
			       uint64_t mtime_ns)
{
	struct text t = text_init(ret, OBJECT_NAME_BYTES);

	for (size_t i = 0; i < length && i < 20; i++)
		text_hex(&t, build_id[i], 2);
	if (!length) {
		text_hex(&t, size, 1);
		text_char(&t, '-');
		text_hex(&t, mtime_ns, 1);
	}
	text_add(&t, OBJECT_ENDING);
}
