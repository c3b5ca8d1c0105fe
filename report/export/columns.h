/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a table by column, and the file formats that store columns. */
#pragma once

#include "report/tables/nsys/nsys_rows.h"

enum {
	COLUMNS_ROWS = 1 << 17,	  /* rows that are written at a time */
	COLUMNS_BYTES = 64 << 20, /* or fewer, if their texts have so many bytes */
};

struct column_values {
	int64_t *values;       /* COLUMNS_ROWS; NSYS_NULL; for texts: the offset of the text's end in `bytes` */
	struct buffer bytes;   /* texts, one after the other, without terminators */
	uint8_t *nulls;	       /* of texts: whether it is NULL */
	size_t null_count;
};

struct columns {
	const struct nsys_schema *schema;
	struct column_values columns[NSYS_COLUMNS];
	size_t rows;
};

/* A file with one table. Functions return 0 or -errno. */
struct column_format {
	const char *extension;
	void *(*open)(int fd, const struct nsys_schema *schema); /* borrows fd */
	int (*add)(void *file, const struct columns *c); /* a group of rows */
	int (*close)(void *file); /* ends the file and frees `file`, also after a failure */
};

extern const struct column_format parquet_format, arrow_format;

/* Writes all bytes. 0 or -errno. */
int columns_write(int fd, const void *bytes, size_t size);

/* Appends `from` to `ret`, compressed by Zstandard. Only if columns_can_compress(). */
void columns_compress(const struct buffer *from, struct buffer *ret);
bool columns_can_compress(void);
