/* SPDX-License-Identifier: Apache-2.0 */
/* parquetdir and arrow: a directory with a file for each of nsys's tables. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/export/columns.h"
#include "report/export/export.h"

struct table_file {
	int fd;
	void *file; /* NULL: the table has no row */
	struct columns rows;
};

struct columns_output {
	struct nsys_output output;
	const struct column_format *format;
	const char *directory;
	struct table_file tables[NSYS_TABLES];
	enum nsys_table failed_table;
};

/* ---- rows to columns ---- */

static void note_failure(struct columns_output *o, enum nsys_table table, int code)
{
	if (!code || o->output.failed)
		return;
	o->output.failed = code;
	o->failed_table = table;
}

static void write_rows(struct columns_output *o, enum nsys_table table)
{
	struct table_file *t = &o->tables[table];

	if (t->rows.rows)
		note_failure(o, table, o->format->add(t->file, &t->rows));
	for (size_t i = 0; i < t->rows.schema->count; i++) {
		buffer_clear(&t->rows.columns[i].bytes);
		t->rows.columns[i].null_count = 0;
	}
	t->rows.rows = 0;
}

static void begin_table(struct nsys_output *output, enum nsys_table table)
{
	struct columns_output *o = (struct columns_output *)output;
	struct table_file *t = &o->tables[table];
	const struct nsys_schema *schema = &nsys_schemas[table];
	SCOPED(buffer) path = {0};

	buffer_print(&path, "%s/%s%s", o->directory, schema->name, o->format->extension);
	t->fd = open(path.data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (t->fd < 0)
		note_failure(o, table, -errno);
	if (o->output.failed)
		return;
	t->file = o->format->open(t->fd, schema);
	t->rows.schema = schema;
	for (size_t i = 0; i < schema->count; i++) {
		struct column_values *c = &t->rows.columns[i];

		c->values = mem_alloc(COLUMNS_ROWS * sizeof(*c->values));
		if (schema->columns[i].type == NSYS_TEXT)
			c->nulls = mem_alloc(COLUMNS_ROWS);
	}
}

static void take_text(struct column_values *c, size_t row, const char *text)
{
	c->nulls[row] = !text;
	if (text)
		buffer_text(&c->bytes, text);
	c->values[row] = (int64_t)c->bytes.size;
}

static void take_row(struct nsys_output *output, enum nsys_table table, const int64_t *values)
{
	struct columns_output *o = (struct columns_output *)output;
	struct columns *rows = &o->tables[table].rows;
	size_t row = rows->rows++;
	bool is_full = rows->rows == COLUMNS_ROWS;

	for (size_t i = 0; i < rows->schema->count; i++) {
		struct column_values *c = &rows->columns[i];

		c->null_count += values[i] == NSYS_NULL;
		if (c->nulls)
			take_text(c, row, nsys_text_of(values[i]));
		else
			c->values[row] = values[i];
		is_full |= c->bytes.size >= COLUMNS_BYTES;
	}
	if (is_full)
		write_rows(o, table);
}

static void finish_table(struct columns_output *o, enum nsys_table table)
{
	struct table_file *t = &o->tables[table];

	if (!t->file)
		return;
	write_rows(o, table);
	note_failure(o, table, o->format->close(t->file));
	if (close(t->fd) < 0)
		note_failure(o, table, -errno);
	for (size_t i = 0; i < t->rows.schema->count; i++) {
		free(t->rows.columns[i].values);
		free(t->rows.columns[i].nulls);
		buffer_done(&t->rows.columns[i].bytes);
	}
}

static int export_as(struct export *x, const struct column_format *format, struct err *err)
{
	SCOPED_MEMORY struct columns_output *o = mem_alloc(sizeof(*o));
	SCOPED(aggregate) strings = {0};
	int code;

	o->output = (struct nsys_output){.begin = begin_table, .row = take_row, .tables = NSYS_ALL_TABLES};
	o->format = format;
	o->directory = x->path;
	nsys_rows(x->context, &strings, &o->output);
	for (int i = 0; i < NSYS_TABLES; i++)
		finish_table(o, (enum nsys_table)i);
	code = o->output.failed;
	if (code)
		err_set(err, code, "%s%s: %s", nsys_schemas[o->failed_table].name, format->extension, strerror(-code));
	return code;
}

int export_parquetdir(struct export *x, struct err *err)
{
	return export_as(x, &parquet_format, err);
}

int export_arrow(struct export *x, struct err *err)
{
	return export_as(x, &arrow_format, err);
}
