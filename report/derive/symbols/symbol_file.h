/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a file has for its addresses: by elfutils (symbol_file_elfutils.c), or none in a build without it
 * (symbol_file_none.c). */
#ifndef PILLION_SYMBOL_FILE_H
#define PILLION_SYMBOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/base/util.h"

struct symbol_file;

/* Opens a file that a trace names, if it is the recorded build; a length of 0: any build. 0; -ESTALE: another build;
 * -ENOEXEC: not a regular file or not ELF; -ENOTSUP: no elfutils; else the error of open(2). */
int symbol_file_open(const char *path, const uint8_t *build_id, size_t length, struct symbol_file **ret);
void symbol_file_close(struct symbol_file *f);

/* A function at an address. name: mangled, or NULL: not known; file: of its source, NULL: not known. Borrowed. */
struct symbol_line {
	const char *name, *file;
	int line;
};

/* The most functions that are inlined into each other at one address. */
enum { SYMBOL_LINES = 64 };

/* The function whose symbol an address has, NULL if there is none; borrowed. */
const char *symbol_file_name(struct symbol_file *f, uint64_t address);

/* The functions that were inlined at an address, innermost first, then the one into which they were inlined. The name
 * of the latter is that of the debug information, which the symbol table has mangled in more cases (symbol_file_name).
 * Returns how many, at least one. */
size_t symbol_file_lines(struct symbol_file *f, uint64_t address, struct symbol_line ret[SYMBOL_LINES]);

/* The address in the file of the byte at that offset; false: it is not loaded. */
bool symbol_file_address(struct symbol_file *f, uint64_t offset, uint64_t *ret);

/* The first address of the function that has the address; false: not known. */
bool symbol_file_function(struct symbol_file *f, uint64_t address, uint64_t *ret);

/* For unwind_elfutils.c. */
struct Dwfl_Module *symbol_file_module(struct symbol_file *f);

#endif
