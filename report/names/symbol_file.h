/* SPDX-License-Identifier: Apache-2.0 */
/* The names that a file has for its addresses: by elfutils (symbol_file_elfutils.c), or none in a build without it
 * (symbol_file_none.c). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/base/util.h"
#include "runtime/shared/format/trace_format.h"

struct symbol_file;

/* What identifies a file beside its path: its build id or, without one, what stat(2) told when it was recorded. */
struct symbol_build {
	uint8_t id[20];
	uint8_t id_length;
	struct tf_module_file file; /* all 0: not known; the inode 0: of another machine */
};

/* Opens a file that a trace names, if it is the recorded build; NULL: any. 0; -ESTALE: another build or file;
 * -ENOEXEC: not a regular file or not ELF; -ENOTSUP: no elfutils; else the error of open(2). */
int symbol_file_open(const char *path, const struct symbol_build *build, struct symbol_file **ret);
void symbol_file_close(struct symbol_file *f);

/* A function at an address. name: mangled, or NULL: not known; file: of its source, NULL: not known. Borrowed. */
struct symbol_line {
	const char *name, *file;
	int line;
	const char *compiler; /* with its options, of the innermost function; NULL: not known */
};

/* The most functions that are inlined into each other at one address. */
enum { SYMBOL_LINES = 64 };

/* The function whose symbol an address has, NULL if there is none; borrowed. */
const char *symbol_file_name(struct symbol_file *f, uint64_t address);

/* The functions that were inlined at an address, innermost first, then the one into which they were inlined. The name
 * of the latter is that of the debug information, which the symbol table has mangled in more cases (symbol_file_name).
 * Returns how many, at least one. */
size_t symbol_file_lines(struct symbol_file *f, uint64_t address, struct symbol_line ret[SYMBOL_LINES]);

/* The loop of CPython's interpreter, and whether a file has it. Reads no debug information. */
static inline bool symbol_is_evaluation(const char *name)
{
	return text_begins_with(name, "_PyEval_EvalFrameDefault");
}
bool symbol_file_is_interpreter(struct symbol_file *f);

/* The address in the file of the byte at that offset; false: it is not loaded. */
bool symbol_file_address(struct symbol_file *f, uint64_t offset, uint64_t *ret);

/* The first address of the function that has the address; false: not known. */
bool symbol_file_function(struct symbol_file *f, uint64_t address, uint64_t *ret);

/* For unwind_elfutils.c. The frames are those of .eh_frame, by the sorted table of .eh_frame_hdr; NULL: it has none. */
struct Dwfl_Module *symbol_file_module(struct symbol_file *f);
struct Dwarf_CFI_s *symbol_file_frames(struct symbol_file *f);
