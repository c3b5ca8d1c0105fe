/* SPDX-License-Identifier: Apache-2.0 */
/* Python code objects recorded in a trace (TF_BLOB_PYTHON_CODE), and their lines, from the tables that CPython uses
 * for tracebacks. */
#pragma once

#include "report/read/reader.h"

/* The line of the instruction at `offset` (bytes) of code that begins at `first_line`; `version`: major << 8 |
 * minor. 0: it has no line. The table is untrusted: nothing is read beyond its end. */
int64_t python_line(unsigned version, const uint8_t *table, size_t size, int64_t first_line, uint32_t offset);

/* The line of the instruction at `offset`. Appends the name of the function and that of its file, or a remark that the
 * code could not be read and no file. */
uint32_t python_describe(const struct trace *t, uint32_t code, uint32_t offset, struct buffer *ret_function,
			 struct buffer *ret_file);

/* The same of code whose definition is given: the content of a TF_BLOB_PYTHON_CODE. */
uint32_t python_describe_code(const void *definition, size_t size, uint32_t offset, struct buffer *ret_function,
			      struct buffer *ret_file);

/* Appends the name of its file. False: it could not be read. */
bool python_file(const struct trace *t, uint32_t code, struct buffer *ret);
/* Whether preload/python/annotate.c compiled it: annotate.py names functions so that have the file of another one. */
bool python_is_recorders(const struct trace *t, uint32_t code);

/* Calls `visit` with the file and the function of each Python frame of a stack, the innermost first. The function has
 * the name of its class before its own, if the interpreter knows it: "FileLoader.get_data". */
typedef void python_frame_visit(void *context, const char *file, const char *function);
void python_frames(const struct trace *t, uint32_t stack, void *context, python_frame_visit *visit);

/* Whether `is_wanted` is true for the file of any Python frame of the stack. */
bool python_has_file(const struct trace *t, uint32_t stack, bool (*is_wanted)(const char *file));

/* Likewise for the file of any Python code that is in the trace, which may be NULL. */
bool python_has_code(const struct trace *t, bool (*is_wanted)(const char *file));
/* One that is true for any file. */
bool python_any_file(const char *file);

/* Whether a range of --python-calls=all is of an import or of a built-in function, whose time is in that of the
 * program's functions. `name`: of the range, with its domain. */
bool python_is_own_call(const char *name);

/* 0: not known. */
uint32_t python_first_line(const struct trace *t, uint32_t code);
