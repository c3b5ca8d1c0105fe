/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a look, before they are written to the file. */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "runtime/shared/outside/where.h"

struct where_buffer where_out;

void where_add(struct where_buffer *b, const void *bytes, size_t size)
{
	if (b->used + size > b->room) {
		size_t room = (b->used + size) * 2;
		char *more = realloc(b->bytes, room);

		if (!more) {
			b->is_cut = true;
			return;
		}
		b->bytes = more;
		b->room = room;
	}
	if (size)
		memcpy(b->bytes + b->used, bytes, size);
	b->used += size;
}

void where_add_text(struct where_buffer *b, const char *text)
{
	where_add(b, text, strlen(text));
}

void where_record(enum tf_where_kind kind, const void *head, size_t head_size, const void *bytes, size_t size)
{
	static const char zeros[8];
	struct tf_where_record record = {kind, (uint32_t)(head_size + size)};

	if (where_out.is_cut)
		return;
	where_add(&where_out, &record, sizeof(record));
	where_add(&where_out, head, head_size);
	where_add(&where_out, bytes, size);
	where_add(&where_out, zeros, -record.size & 7);
}

size_t where_copy(uint32_t pid, uint64_t address, void *ret, size_t size)
{
	struct iovec local = {ret, size}, remote = {(void *)(uintptr_t)address, size};
	ssize_t n = size ? process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0) : 0;

	return n > 0 ? (size_t)n : 0;
}
