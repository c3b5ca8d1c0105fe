/* SPDX-License-Identifier: Apache-2.0 */
/* Names that a capture has kept of its addresses, for when the files are gone or changed: names.symbols, written by
 * --keep-symbols. The lines have the form of those of an index:
 *   module  path=PATH build=BUILD-ID   the following frames belong to it; without a build id, size=N mtime_ns=N inode=N
 *   frame   at=0xADDRESS name=NAME file=FILE line=N
 * The frames of one address are the functions that were inlined there, innermost first, then the one that has the
 * symbol. Names are mangled; what is not known is missing. */
#pragma once

#include "report/names/symbol_file.h"

struct kept_line {
	uint64_t address, number; /* consecutive numbers: of one file */
	struct symbol_line line;  /* owned */
};

struct kept_module {
	char *path;
	struct symbol_build build;
	struct kept_line *lines;
	size_t count, capacity;
};

struct kept_symbols {
	struct kept_module *modules;
	size_t count, capacity;
	uint64_t next; /* number of the next line */
};

/* Adds the names of such a file. Lines that cannot be read are ignored. */
void kept_read(struct kept_symbols *k, const char *text);
void kept_done(struct kept_symbols *k);

/* The names of a file: of the same build id, or without one of the same path. NULL: there are none. Borrowed until the
 * next kept_read. */
const struct kept_module *kept_find(const struct kept_symbols *k, const char *path, const struct symbol_build *build);

/* Like symbol_file_name and symbol_file_lines. */
const char *kept_name(const struct kept_module *m, uint64_t address);
size_t kept_lines(const struct kept_module *m, uint64_t address, struct symbol_line ret[SYMBOL_LINES]);

/* Append a line of the file. */
void kept_write_module(struct buffer *ret, const char *path, const struct symbol_build *build);
void kept_write_line(struct buffer *ret, uint64_t address, const struct symbol_line *line);
