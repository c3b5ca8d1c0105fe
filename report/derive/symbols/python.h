/* SPDX-License-Identifier: Apache-2.0 */
/* Python code: what a trace has of it (TF_BLOB_PYTHON_CODE), and its lines, out of the tables that CPython keeps for its own
 * tracebacks. */
#ifndef PILLION_PYTHON_H
#define PILLION_PYTHON_H

#include "report/read/reader.h"

/* The line of the instruction at `offset` (bytes) of code that begins at `first_line`; `version`: major << 8 | minor. 0: the table
 * gives it none. The table is untrusted: it is read to its end and no further. */
int64_t python_line(unsigned version, const uint8_t *table, size_t size, int64_t first_line, uint32_t offset);

/* Appends "function (file:line)" of the instruction at `offset`, or that the code could not be read. */
void python_describe(const struct trace *t, uint32_t code, uint32_t offset, struct buffer *ret);

/* Appends its file's name. False: it could not be read. */
bool python_file(const struct trace *t, uint32_t code, struct buffer *ret);

/* 0: not known. */
uint32_t python_first_line(const struct trace *t, uint32_t code);

#endif
