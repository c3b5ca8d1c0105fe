/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON to a buffer: places the commas, and quotes and escapes texts.
 *
 *	struct json_writer w = {.to = &buffer};
 *
 *	json_begin(&w, '{');
 *	json_member_string(&w, "name", name);
 *	json_name(&w, "ids");
 *	json_begin(&w, '[');
 *	json_number(&w, 7);
 *	json_end(&w, ']');
 *	json_end(&w, '}');    gives {"name":"...","ids":[7]} */
#pragma once

#include "report/base/util.h"

struct json_writer {
	struct buffer *to;
	bool has_value;    /* one precedes in the same object or array: the next one needs a comma */
	const char *space; /* written once, after that comma; NULL: nothing */
};

/* An object { } or an array [ ]. */
void json_begin(struct json_writer *w, char bracket);
void json_end(struct json_writer *w, char bracket);

/* What comes next, a value or a name, follows that white space. */
void json_space(struct json_writer *w, const char *space);

/* The name of a member, whose value follows. */
void json_name(struct json_writer *w, const char *name);

/* ---- values ---- */

void json_string(struct json_writer *w, const char *text); /* NULL: null */
void json_number(struct json_writer *w, uint64_t number);
void json_signed(struct json_writer *w, int64_t number);
void json_null(struct json_writer *w);
/* JSON that was made elsewhere, as it is. */
void json_ready(struct json_writer *w, const char *json);

/* ---- a name and its value ---- */

void json_member_string(struct json_writer *w, const char *name, const char *text);
void json_member_number(struct json_writer *w, const char *name, uint64_t number);

/* Appends a JSON string with its quotes, without a comma. */
void json_add(struct buffer *b, const char *text);
