/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what another process of the same program has put into a buffer. The length of everything is checked. */
#pragma once

#include <string.h>

#include "report/base/util.h"

struct bytes {
	const uint8_t *at;
	size_t left;
	bool is_short; /* more was asked for than there is: everything read since then is zero */
};

static inline struct bytes bytes_of(const struct buffer *b)
{
	return (struct bytes){.at = (const uint8_t *)b->data, .left = b->size};
}

/* NULL for size 0, and if there are not that many bytes. */
static inline const uint8_t *bytes_take(struct bytes *b, size_t size)
{
	const uint8_t *at = b->at;

	b->is_short |= size > b->left;
	if (!size || b->is_short)
		return NULL;
	b->at += size;
	b->left -= size;
	return at;
}

static inline void bytes_read(struct bytes *b, void *ret, size_t size)
{
	const uint8_t *at = bytes_take(b, size);

	if (at)
		memcpy(ret, at, size);
	else if (size)
		memset(ret, 0, size);
}

static inline uint64_t bytes_number(struct bytes *b)
{
	uint64_t number;

	bytes_read(b, &number, sizeof(number));
	return number;
}

/* An allocated array of `count` elements; NULL if there is none, or not enough bytes. */
static inline void *bytes_array(struct bytes *b, size_t count, size_t element)
{
	const uint8_t *at;
	void *array;

	b->is_short |= count > b->left / element;
	at = b->is_short ? NULL : bytes_take(b, count * element);
	if (!at)
		return NULL;
	array = mem_alloc(count * element);
	memcpy(array, at, count * element);
	return array;
}

static inline void buffer_number(struct buffer *b, uint64_t number)
{
	buffer_add(b, &number, sizeof(number));
}

/* `array` may be NULL where count is 0. */
static inline void buffer_array(struct buffer *b, const void *array, size_t count, size_t element)
{
	if (count)
		buffer_add(b, array, count * element);
}
