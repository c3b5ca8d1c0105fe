/* SPDX-License-Identifier: Apache-2.0 */
/* A line of source as everything after names knows it: a function at a line of a file. Equal lines of one report are
 * one object, so they are compared by address; text is made last, by the functions below. */
#pragma once

#include "report/base/interner.h"

struct table;

/* Valid UTF-8 without characters that a terminal interprets. */
struct code_line {
	const char *function; /* "[module]" for all addresses of a module without names */
	const char *file;     /* NULL: not known */
	uint32_t line;	      /* 0: not known, as without a file */
	uint32_t number; /* by which maps tell the lines of one report apart; not 0 */
};

struct code_lines {
	struct interner keys;
	struct code_line **items; /* by the number of the key */
	size_t capacity;
};

/* 0: of NULL, a line that is not known. */
static inline uint32_t code_line_number(const struct code_line *l)
{
	return l ? l->number : 0;
}

/* The line with these parts, which may be any text; `file` may be NULL. */
const struct code_line *code_lines_of(struct code_lines *l, const char *function, const char *file, uint32_t line);
void code_lines_done(struct code_lines *l);

/* ---- as text; of NULL, a line that is not known, nothing is appended ---- */

/* "function (file:line)"; without a file only the function. */
void code_line_text(const struct code_line *l, struct buffer *ret);

/* "job.py:42 store", as sentences name it; without a file only the function. */
void code_line_short(const struct code_line *l, struct buffer *ret);

/* Adds the text as a cell of a table; where nothing is known `none`, NULL: no value. */
void code_line_cell(const struct code_line *l, const char *none, struct table *table);

/* "file:line". False: there is none, and nothing is appended. */
bool code_line_place(const struct code_line *l, struct buffer *ret);

/* "[tar]": all code of a module of which no names are known. */
bool code_line_is_nameless(const struct code_line *l);

/* Whether causes at these lines are one: they have the same file and line, or are the same function without them. */
bool code_line_is_same_place(const struct code_line *a, const struct code_line *b);

/* Whether a line is of this "file:line", the file by its name or the end of its path. */
bool code_line_is_at(const char *file, uint32_t line, const char *place);

/* The file as sentences name it: from the working directory, without directories outside of it. */
const char *code_line_file(const char *file);

/* The function of what has no module: code that was compiled at run time. The second one for sentences. */
#define CODE_LINE_UNKNOWN "[unknown]"
#define CODE_LINE_NO_NAMES "code compiled at run time, which has no names"
