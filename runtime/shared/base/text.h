/* SPDX-License-Identifier: Apache-2.0 */
/* Bounded text, built without libc's stdio, which may allocate and lock. Text that does not fit is cut, and `cut` is
 * set. The text is always NUL-terminated. Any thread, any signal handler. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
	char *start, *at, *end; /* end: the last byte, reserved for the NUL */
	bool cut;
};

static inline struct text text_init(char *bytes, size_t size)
{
	bytes[0] = '\0';
	return (struct text){bytes, bytes, bytes + size - 1, false};
}

static inline void text_bytes(struct text *t, const char *bytes, size_t size)
{
	if (size > (size_t)(t->end - t->at)) {
		size = (size_t)(t->end - t->at);
		t->cut = true;
	}
	memcpy(t->at, bytes, size);
	t->at += size;
	*t->at = '\0';
}

static inline void text_add(struct text *t, const char *s)
{
	text_bytes(t, s, strlen(s));
}

static inline void text_char(struct text *t, char c)
{
	text_bytes(t, &c, 1);
}

static inline void text_number(struct text *t, uint64_t number)
{
	char digits[20];
	int n = sizeof(digits);

	do
		digits[--n] = (char)('0' + number % 10);
	while (number /= 10);
	text_bytes(t, digits + n, sizeof(digits) - (size_t)n);
}

static inline void text_signed(struct text *t, int64_t number)
{
	if (number < 0)
		text_char(t, '-');
	text_number(t, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

/* At least `width` digits. */
static inline void text_hex(struct text *t, uint64_t number, int width)
{
	for (int shift = 60; shift >= 0; shift -= 4)
		if (number >> shift || shift / 4 < width || !shift)
			text_char(t, "0123456789abcdef"[number >> shift & 15]);
}

/* Whether a shell takes the bytes as they are for a part of a word. */
static inline bool text_is_plain(const char *s, size_t size)
{
	for (; size; s++, size--)
		if ((unsigned char)*s <= 0x7f && !(*s >= 'a' && *s <= 'z') && !(*s >= 'A' && *s <= 'Z') &&
		    (!*s || !strchr("0123456789_./:@%+,=-", *s)))
			return false;
	return true;
}

/* As one word of a shell: in quotes if need be, and then 4 times as long at most, and 2 bytes. */
static inline void text_word(struct text *t, const char *s)
{
	if (*s && text_is_plain(s, strlen(s))) {
		text_add(t, s);
		return;
	}
	text_char(t, '\'');
	for (; *s; s++)
		if (*s == '\'')
			text_add(t, "'\\''");
		else
			text_char(t, *s);
	text_char(t, '\'');
}

static inline size_t text_length(const struct text *t)
{
	return (size_t)(t->at - t->start);
}
