/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/profile_proto.h"

#include <string.h>

uint32_t profile_proto_text(struct aggregate *known, const char *text, unsigned int field, struct buffer *out)
{
	size_t before = known->count;
	uint32_t number = aggregate_row(known, text, strlen(text) + 1);

	if (known->count > before)
		proto_text(out, field, text);
	return number;
}

void profile_proto_stack(const struct profile *p, size_t row, size_t first, struct buffer *ret)
{
	size_t count;
	const uint32_t *stack = profile_stack(p, row, &count);

	while (count > 0)
		buffer_varint(ret, first + stack[--count]);
}

void profile_proto_message(unsigned int field, struct buffer *message, struct buffer *out)
{
	proto_bytes(out, field, message->data, message->size);
	buffer_clear(message);
}
