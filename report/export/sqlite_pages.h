/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the pages of a SQLite database (sqlite.org/fileformat2.html) from entries that come in order.
 *
 * A table and an index are b-trees. An export adds rows by ascending rowid and sorts the keys of an index before it
 * adds them, so a page never changes once it is full: each level of a tree has one page in memory, and a full page is
 * appended to the file and announced to the level above. SQLite itself has to look for the place of each entry, and
 * executes its bytecode for each column; docs/decisions/sqlite-pages.md has what was tried. */
#pragma once

#include "report/base/table/sink.h"

enum {
	SQLITE_PAGE = 8192,
	SQLITE_LEVELS = 12, /* of a tree: a page has several entries at least */
	SQLITE_VALUES = 64  /* of a record, at most */
};

struct sqlite_file {
	struct sink out;
	uint32_t pages; /* appended; page 1 is written last */
};

/* The values of a row, or of a key of an index. */
struct sqlite_record {
	uint8_t types[SQLITE_VALUES * 10], *body;
	size_t types_size, body_size, capacity;
};

struct sqlite_tree {
	struct sqlite_file *file;
	bool is_index;
	size_t reserve;	    /* bytes that remain free in each page */
	int64_t last_rowid; /* of a table */
	struct sqlite_page *levels[SQLITE_LEVELS]; /* the page that is being filled of each; the first has the leaves */
};

void sqlite_record_clear(struct sqlite_record *r);
void sqlite_record_null(struct sqlite_record *r);
void sqlite_record_number(struct sqlite_record *r, int64_t number);
void sqlite_record_real(struct sqlite_record *r, double real);
void sqlite_record_text(struct sqlite_record *r, const char *text);

void sqlite_tree_begin(struct sqlite_tree *t, struct sqlite_file *file, bool is_index);
/* Rowids ascend. */
void sqlite_tree_add_row(struct sqlite_tree *t, int64_t rowid, const struct sqlite_record *r);
/* Keys ascend; the last value of a key is the rowid. A key has numbers only. */
void sqlite_tree_add_key(struct sqlite_tree *t, const struct sqlite_record *r);
/* Writes what is in memory, and returns the number of the root page. */
uint32_t sqlite_tree_end(struct sqlite_tree *t);

/* `fd` is borrowed, and is an empty file. */
int sqlite_file_open(struct sqlite_file *f, int fd, struct err *err);
/* `schema` has the rows of the table sqlite_schema; its root becomes page 1. Returns 0 or -errno. */
void sqlite_schema_begin(struct sqlite_tree *schema, struct sqlite_file *f);
int sqlite_file_close(struct sqlite_file *f, struct sqlite_tree *schema);
