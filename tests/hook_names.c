/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the symbols of the hook table, a line each: what libpillion.so is to export. */
#include <stdio.h>
#include <string.h>

#include "../preload/hook_table.h"

#define ROW(kind, returns, symbol, ...) {#kind, #symbol},

static const struct {
	const char *kind, *symbol;
} rows[] = {HOOK_LIBC(ROW) HOOK_CUDART(ROW) HOOK_LIBRARY(ROW)};

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].kind, "REAL") != 0)
			puts(rows[i].symbol);
	return 0;
}
