/* SPDX-License-Identifier: Apache-2.0 */
/* A value needs a comma if another one precedes it in the same object or array. One flag is enough for any depth: it
 * is false after an opening bracket and after a name, and true after any value, of which a closing bracket is the
 * end. */
#include "report/base/table/json_writer.h"

#include <inttypes.h>
#include <string.h>

#include "report/base/text.h"

static void separate(struct json_writer *w)
{
	if (w->has_value)
		buffer_add(w->to, ",", 1);
	if (w->space)
		buffer_text(w->to, w->space);
	w->space = NULL;
	w->has_value = true;
}

void json_begin(struct json_writer *w, char bracket)
{
	separate(w);
	buffer_add(w->to, &bracket, 1);
	w->has_value = false;
}

void json_end(struct json_writer *w, char bracket)
{
	if (w->space)
		buffer_text(w->to, w->space);
	w->space = NULL;
	buffer_add(w->to, &bracket, 1);
	w->has_value = true;
}

void json_space(struct json_writer *w, const char *space)
{
	w->space = space;
}

void json_name(struct json_writer *w, const char *name)
{
	separate(w);
	json_add(w->to, name);
	buffer_add(w->to, ":", 1);
	w->has_value = false;
}

void json_string(struct json_writer *w, const char *text)
{
	separate(w);
	if (text)
		json_add(w->to, text);
	else
		buffer_text(w->to, "null");
}

void json_number(struct json_writer *w, uint64_t number)
{
	separate(w);
	buffer_print(w->to, "%" PRIu64, number);
}

void json_signed(struct json_writer *w, int64_t number)
{
	separate(w);
	buffer_print(w->to, "%" PRId64, number);
}

void json_null(struct json_writer *w)
{
	json_ready(w, "null");
}

void json_ready(struct json_writer *w, const char *json)
{
	separate(w);
	buffer_text(w->to, json);
}

void json_member_string(struct json_writer *w, const char *name, const char *text)
{
	json_name(w, name);
	json_string(w, text);
}

void json_member_number(struct json_writer *w, const char *name, uint64_t number)
{
	json_name(w, name);
	json_number(w, number);
}

/* Most texts consist of characters that need no escape: runs of those are copied at once. */
void json_add(struct buffer *b, const char *text)
{
	buffer_add(b, "\"", 1);
	while (*text) {
		const char *from = text;
		uint32_t code;

		while ((unsigned char)*text >= 0x20 && (unsigned char)*text < 0x7f && *text != '"' && *text != '\\')
			text++;
		buffer_add(b, from, (size_t)(text - from));
		if (!*text)
			break;
		code = text_next(&text);
		if (code == '"' || code == '\\')
			buffer_print(b, "\\%c", (char)code);
		else if (text_is_control(code))
			buffer_print(b, "\\u%04x", code);
		else
			text_add_code(b, code);
	}
	buffer_add(b, "\"", 1);
}
