/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a capture's text files: fields separated by TAB, the first one a word, the others key=value. */
#pragma once

#include "report/base/util.h"

enum { INDEX_FIELDS = 24 };

struct index_field {
	const char *key;
	char *value; /* unescaped; may contain NULs, and is terminated by two more after its length */
	size_t length;
};

struct index_line {
	const char *name;
	struct index_field fields[INDEX_FIELDS];
	size_t count;
	char *text; /* what the fields point into */
};

/* Parses one line without its newline. Fields beyond INDEX_FIELDS are ignored. */
void index_parse(const char *line, size_t length, struct index_line *ret);
void index_line_done(struct index_line *l);

/* Appends "\tKEY=VALUE" to a line. */
void index_write_field(struct buffer *ret, const char *key, const char *value);

/* The field, or NULL. */
const struct index_field *index_find(const struct index_line *l, const char *key);

/* The text of the field, "" if there is none. */
const char *index_text(const struct index_line *l, const char *key);

/* The number of the field: decimal, or hexadecimal after 0x. 0 if there is none. */
uint64_t index_number(const struct index_line *l, const char *key);

/* A hexadecimal number without 0x: nonces and run ids, as in file names. */
uint64_t index_hex(const struct index_line *l, const char *key);
