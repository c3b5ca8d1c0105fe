/* SPDX-License-Identifier: Apache-2.0 */
/* The destination of an export: a file or a pipe, optionally gzipped. The first error is stored, further output is
 * discarded, and sink_close returns the error. */
#pragma once

#include <string.h>

#include "report/base/table/json_writer.h"

enum { SINK_BYTES = 1 << 16, SINK_NOWHERE = -1 };

struct sink {
	int fd; /* borrowed; SINK_NOWHERE: the bytes are only counted */
	char *bytes;
	size_t used;
	struct sink_gzip *gzip; /* NULL: not compressed */
	int error;              /* errno of the first failure */
	uint64_t written;       /* bytes written, compressed if gzipped */
};

/* -ENOTSUP if gzip is requested and this build has no zlib. */
int sink_open(struct sink *s, int fd, bool is_gzip, struct err *err);

/* 0, or -errno of the first failure since the sink was opened. */
int sink_close(struct sink *s);

/* For more than there is room for. */
void sink_add_pieces(struct sink *s, const void *data, size_t size);

static inline void sink_add(struct sink *s, const void *data, size_t size)
{
	if (size > SINK_BYTES - s->used) {
		sink_add_pieces(s, data, size);
		return;
	}
	memcpy(s->bytes + s->used, data, size);
	s->used += size;
}

/* Inline, because the length of a text in the source is known to the compiler. */
static inline void sink_text(struct sink *s, const char *text)
{
	sink_add(s, text, strlen(text));
}

void sink_number(struct sink *s, uint64_t number);

/* Nanoseconds as microseconds with three decimals. */
void sink_us(struct sink *s, int64_t ns);

/* A JSON string with its quotes. */
void sink_json(struct sink *s, const char *text);
