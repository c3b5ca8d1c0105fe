/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names/code_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/table/emit.h"
#include "report/base/table/name.h"
#include "report/base/text.h"

/* The key is the number, then both texts, each with a NUL; the object has their addresses. */
const struct code_line *code_lines_of(struct code_lines *l, const char *function, const char *file, uint32_t line)
{
	SCOPED(buffer) key = {0};
	size_t before = l->keys.count;
	const char *text;
	uint32_t number;

	line = file ? line : 0;
	buffer_add(&key, &line, sizeof(line));
	text_escape(&key, function, "");
	buffer_add(&key, "", 1);
	if (file) {
		text_escape(&key, file, "");
		buffer_add(&key, "", 1);
	}
	number = interner_number(&l->keys, key.data, key.size);
	if (l->keys.count > before) {
		text = l->keys.items[number].text + sizeof(line);
		l->items = mem_grow(l->items, number, &l->capacity, sizeof(struct code_line *));
		l->items[number] = mem_alloc(sizeof(struct code_line));
		*l->items[number] = (struct code_line){text, file ? text + strlen(text) + 1 : NULL, line, number + 1};
	}
	return l->items[number];
}

void code_lines_done(struct code_lines *l)
{
	array_free(item, l->items, l->keys.count, free(*item));
	interner_done(&l->keys);
}

void code_line_text(const struct code_line *l, struct buffer *ret)
{
	if (!l)
		return;
	buffer_text(ret, l->function);
	if (l->file)
		buffer_print(ret, " (%s:%u)", l->file, l->line);
}

void code_line_short(const struct code_line *l, struct buffer *ret)
{
	if (!l)
		return;
	if (l->file)
		buffer_print(ret, "%s:%u ", code_line_file(l->file), l->line);
	name_brief(ret, strcmp(l->function, CODE_LINE_UNKNOWN) ? l->function : CODE_LINE_NO_NAMES);
}

void code_line_cell(const struct code_line *l, const char *none, struct table *table)
{
	SCOPED(buffer) text = {0};

	code_line_text(l, &text);
	if (l || none)
		table_text(table, l ? text.data : none);
	else
		table_nothing(table);
}

bool code_line_is_nameless(const struct code_line *l)
{
	return !l->file && *l->function == '[';
}

bool code_line_is_same_place(const struct code_line *a, const struct code_line *b)
{
	return a == b || (a && b && a->line && a->line == b->line && !strcmp(a->file, b->file));
}

bool code_line_place(const struct code_line *l, struct buffer *ret)
{
	if (!l || !l->file)
		return false;
	buffer_print(ret, "%s:%u", l->file, l->line);
	return true;
}

bool code_line_is_at(const char *file, uint32_t line, const char *place)
{
	const char *colon = strrchr(place, ':');
	size_t length = colon ? (size_t)(colon - place) : 0, size = file ? strlen(file) : 0;
	char number[16];

	snprintf(number, sizeof(number), "%u", line);
	return file && colon && !strcmp(colon + 1, number) && size >= length &&
	       !strncmp(file + size - length, place, length) && (size == length || file[size - length - 1] == '/');
}

const char *code_line_file(const char *file)
{
	const char *path = text_path(file), *slash = path == file ? strrchr(file, '/') : NULL;

	return slash ? slash + 1 : path;
}
