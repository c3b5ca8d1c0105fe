/* SPDX-License-Identifier: Apache-2.0 */
#include "report/names/frame.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/table/name.h"
#include "report/base/text.h"

static char *text_made_safe(const char *text)
{
	struct buffer b = {0};

	text_escape(&b, text, "");
	return b.data ? b.data : mem_copy_text("", 0);
}

/* The position of ":line)", or NULL. */
static const char *find_line(const char *text)
{
	const char *end = text + strlen(text), *at = end - 1;

	if (end == text || *at != ')')
		return NULL;
	while (at > text && isdigit((unsigned char)at[-1]))
		at--;
	return at < end - 1 && at > text && at[-1] == ':' ? at - 1 : NULL;
}

const char *frame_place(const char *text)
{
	return find_line(text) ? text_place(text, strlen(text)) : NULL;
}

void frame_split(const char *text, struct frame *ret)
{
	const char *line = find_line(text), *place = frame_place(text);
	char *part;

	*ret = (struct frame){0};
	if (!place) {
		ret->name = text_made_safe(text);
		return;
	}
	part = mem_copy_text(text, (size_t)(place - text));
	ret->name = text_made_safe(part);
	free(part);
	part = mem_copy_text(place + 2, (size_t)(line - place - 2));
	ret->file = text_made_safe(part);
	free(part);
	ret->line = (uint32_t)strtoul(line + 1, NULL, 10);
}

void frame_done(struct frame *f)
{
	free(f->name);
	free(f->file);
}

bool frame_is_at(const char *text, const char *place)
{
	size_t length = strlen(place);
	const char *line = find_line(text), *at;

	if (!line || strlen(text) < length + 2)
		return false;
	at = text + strlen(text) - 1 - length;
	return !strncmp(at, place, length) && strchr(place, ':') && (at[-1] == '(' || at[-1] == '/');
}

const char *frame_file(const char *file)
{
	const char *path = text_path(file), *slash = path == file ? strrchr(file, '/') : NULL;

	return slash ? slash + 1 : path;
}

void frame_short(const char *text, struct buffer *ret)
{
	struct frame parts;

	frame_split(text, &parts);
	if (parts.file)
		buffer_print(ret, "%s:%u ", frame_file(parts.file), parts.line);
	name_brief(ret, parts.name);
	frame_done(&parts);
}

void frame_function(const struct symbol_frame *f, const char *name, struct buffer *key)
{
	const char *offset = *f->module ? strstr(name, "+0x") : NULL;

	if (offset && !offset[3 + strspn(offset + 3, "0123456789abcdef")])
		buffer_print(key, "[%.*s]", (int)(offset - name), name);
	else if (!*f->module && !strncmp(name, "0x", 2))
		buffer_text(key, FRAME_UNKNOWN);
	else
		buffer_text(key, name);
}
