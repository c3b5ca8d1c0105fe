/* SPDX-License-Identifier: Apache-2.0 */
/* The wire format of Protocol Buffers (protobuf.dev, "Encoding"), as pprof and Perfetto use it. Each function appends
 * to a buffer. */
#pragma once

#include "report/base/varint.h"

/* A field with a number. */
void proto_number(struct buffer *b, unsigned int field, uint64_t value);
void proto_fixed64(struct buffer *b, unsigned int field, uint64_t value);
void proto_double(struct buffer *b, unsigned int field, double value);

/* A length-delimited field: a message, packed numbers or text. */
void proto_bytes(struct buffer *b, unsigned int field, const void *data, size_t size);
/* Bytes that are not UTF-8 become U+FFFD, because readers refuse them. */
void proto_text(struct buffer *b, unsigned int field, const char *text);
