/* SPDX-License-Identifier: Apache-2.0 */
/* Shows tables in a pager if they are longer than the terminal: $PILLION_PAGER, else $PAGER, else less. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Whether standard output is a terminal that somebody reads: mpirun gives one to each rank, even if its own output is a
 * file. */
bool pager_has_reader(void);

/* A temporary file that collects the output. NULL: standard output is not a terminal, the pager is "" or "cat", or
 * there is no file; then the caller writes to standard output. */
FILE *pager_begin(void);

/* Shows what was collected, in the pager if it does not fit on the terminal, and closes the file. 0, or the errno of
 * the first failure. */
int pager_end(FILE *file);
