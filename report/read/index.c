/* SPDX-License-Identifier: Apache-2.0 */
/* Parses index lines. */
#include "report/read/index.h"

#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Unescapes \xHH in place. Returns the new length. */
static size_t index_unescape(char *text, size_t length)
{
	size_t to = 0;

	for (size_t i = 0; i < length; i++) {
		if (text[i] == '\\' && length - i >= 4 && text[i + 1] == 'x' && hex_digit(text[i + 2]) >= 0 &&
		    hex_digit(text[i + 3]) >= 0) {
			text[to++] = (char)(hex_digit(text[i + 2]) << 4 | hex_digit(text[i + 3]));
			i += 3;
		} else {
			text[to++] = text[i];
		}
	}
	return to;
}

/* Copies a field to `at` and terminates it with two NULs, so that a list of items is terminated as well. */
static char *index_copy_field(char *at, const char *text, size_t length, struct index_field *field)
{
	const char *equal = memchr(text, '=', length);
	size_t key = equal ? (size_t)(equal - text) : length;

	memcpy(at, text, key);
	at[key] = 0;
	field->key = at;
	at += key + 1;
	field->value = at;
	field->length = 0;
	if (equal) {
		memcpy(at, equal + 1, length - key - 1);
		field->length = index_unescape(at, length - key - 1);
	}
	at[field->length] = at[field->length + 1] = 0;
	return at + field->length + 2;
}

void index_parse(const char *line, size_t length, struct index_line *ret)
{
	const char *end = line + length;
	struct index_field field;
	char *at;
	bool is_first = true;

	*ret = (struct index_line){0};
	at = ret->text = mem_alloc(length * 4 + 8);
	ret->name = at + length * 4 + 7;
	while (line < end) {
		const char *tab = memchr(line, '\t', (size_t)(end - line));
		size_t size = tab ? (size_t)(tab - line) : (size_t)(end - line);

		at = index_copy_field(at, line, size, &field);
		if (is_first)
			ret->name = field.key;
		else if (ret->count < INDEX_FIELDS)
			ret->fields[ret->count++] = field;
		is_first = false;
		line += size + 1;
	}
}

void index_line_done(struct index_line *l)
{
	free(l->text);
	*l = (struct index_line){0};
}

const struct index_field *index_find(const struct index_line *l, const char *key)
{
	return array_find(field, l->fields, l->count, !strcmp(field->key, key));
}

const char *index_text(const struct index_line *l, const char *key)
{
	const struct index_field *f = index_find(l, key);

	return f ? f->value : "";
}

uint64_t index_number(const struct index_line *l, const char *key)
{
	const char *text = index_text(l, key);

	if (text[0] == '-')
		return (uint64_t)strtoll(text, NULL, 10);
	return strtoull(text, NULL, text[0] == '0' && (text[1] | 0x20) == 'x' ? 16 : 10);
}

uint64_t index_hex(const struct index_line *l, const char *key)
{
	return strtoull(index_text(l, key), NULL, 16);
}

void index_write_field(struct buffer *ret, const char *key, const char *value)
{
	buffer_print(ret, "\t%s=", key);
	for (const char *at = value; *at; at++)
		if ((unsigned char)*at < ' ' || *at == '\\')
			buffer_print(ret, "\\x%02x", (unsigned char)*at);
		else
			buffer_add(ret, at, 1);
}
