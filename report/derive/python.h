/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of Python code, out of the tables that CPython keeps for its own tracebacks. */
#ifndef PILLION_PYTHON_H
#define PILLION_PYTHON_H

#include <stddef.h>
#include <stdint.h>

/* The line of the instruction at `offset` (bytes) of code that begins at `first_line`; `version`: major << 8 | minor. 0: the table
 * gives it none. The table is untrusted: it is read to its end and no further. */
int64_t python_line(unsigned version, const uint8_t *table, size_t size, int64_t first_line, uint32_t offset);

#endif
