/* SPDX-License-Identifier: Apache-2.0 */
/* Texts are stored one after the other in large pieces of memory, because a capture may have millions of names. The
 * pieces are not moved, so that a text keeps its address. */
#include "report/base/interner.h"

#include <stdlib.h>
#include <string.h>

/* Keys of aggregates are texts that may be arrays of numbers: each text begins at a multiple of ALIGNMENT. */
enum { CHUNK = 1 << 16, ALIGNMENT = sizeof(uint64_t) };

static const char *keep(struct interner *n, const char *text, size_t size)
{
	size_t room = (size + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	char *place;

	if (!n->chunk || n->chunk_size - n->chunk_used < room) {
		size_t needed = sizeof(char *) + room, chunk_size = needed > CHUNK ? needed : CHUNK;
		char *chunk = mem_resize(NULL, chunk_size);

		memcpy(chunk, &n->chunk, sizeof(n->chunk));
		n->chunk = chunk;
		n->chunk_size = chunk_size;
		n->chunk_used = sizeof(n->chunk);
	}
	place = n->chunk + n->chunk_used;
	if (size)
		memcpy(place, text, size);
	place[size] = 0;
	n->chunk_used += room;
	return place;
}

uint32_t interner_number(struct interner *n, const char *text, size_t size)
{
	for (uint64_t hash = hash_bytes(text, size);; hash++) {
		uint64_t *place = map_put(&n->places, hash, 0, NULL);

		if (!*place) {
			list_add(n, (struct interned){keep(n, text, size), size});
			*place = n->count;
			return (uint32_t)*place - 1;
		}
		if (n->items[*place - 1].size == size && !memcmp(n->items[*place - 1].text, text, size))
			return (uint32_t)*place - 1;
	}
}

uint32_t interner_text_number(struct interner *n, const char *text)
{
	return interner_number(n, text, strlen(text));
}

const char *field_of_text(const char *text, size_t size, size_t i)
{
	const char *end = text + size;

	while (i-- && text < end)
		text += strlen(text) + 1;
	return text < end ? text : "";
}

const char *interner_field(const struct interner *n, size_t number, size_t i)
{
	return field_of_text(n->items[number].text, n->items[number].size, i);
}

void interner_done(struct interner *n)
{
	while (n->chunk) {
		char *chunk = n->chunk;

		memcpy(&n->chunk, chunk, sizeof(n->chunk));
		free(chunk);
	}
	free(n->items);
	map_done(&n->places);
	*n = (struct interner){0};
}
