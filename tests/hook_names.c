/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the symbols of the hook table, a line each: what libpillion.so is to export. --libraries: "kind symbol
 * words" of the libraries' rows alone. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "preload/hook/hook_table.h"

#define ROW(kind, returns, symbol, ...) {#kind, #symbol, 0},
#define LIBRARY_ROW(kind, group, symbol, name, words, ...) {#kind, #symbol, words},

static const struct {
	const char *kind, *symbol;
	int words;
} rows[] = {
	HOOK_LIBC(ROW) HOOK_CUDART(ROW) HOOK_CUDA(ROW) HOOK_LIBRARY(LIBRARY_ROW)
	{"NAKED", "dlsym", 0}, /* no row: what it finds are rows */
};

/* Communicators of NCCL: their id is a structure, whose words differ between architectures. */
static bool is_by_value(const char *kind, const char *symbol)
{
	return !strcmp(kind, "OWN") && !strncmp(symbol, "nccl", strlen("nccl"));
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (argc < 2 && strcmp(rows[i].kind, "REAL") != 0 && strcmp(rows[i].kind, "RAW") != 0)
			puts(rows[i].symbol);
		else if (argc > 1 && rows[i].words && !is_by_value(rows[i].kind, rows[i].symbol))
			printf("%s %s %d\n", rows[i].kind, rows[i].symbol, rows[i].words);
	}
	return 0;
}
