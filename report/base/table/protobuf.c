/* SPDX-License-Identifier: Apache-2.0 */
#include "report/base/table/protobuf.h"

#include <string.h>

#include "report/base/text.h"

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

static void add_tag(struct buffer *b, unsigned int field, unsigned int wire)
{
	buffer_varint(b, field << 3 | wire);
}

void proto_number(struct buffer *b, unsigned int field, uint64_t value)
{
	add_tag(b, field, WIRE_VARINT);
	buffer_varint(b, value);
}

void proto_fixed64(struct buffer *b, unsigned int field, uint64_t value)
{
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	add_tag(b, field, WIRE_FIXED64);
	buffer_add(b, bytes, sizeof(bytes));
}

void proto_double(struct buffer *b, unsigned int field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	proto_fixed64(b, field, bits);
}

void proto_bytes(struct buffer *b, unsigned int field, const void *data, size_t size)
{
	add_tag(b, field, WIRE_BYTES);
	buffer_varint(b, size);
	if (size)
		buffer_add(b, data, size);
}

void proto_text(struct buffer *b, unsigned int field, const char *text)
{
	SCOPED(buffer) utf8 = {0};

	while (*text)
		text_add_code(&utf8, text_next(&text));
	proto_bytes(b, field, utf8.data, utf8.size);
}
