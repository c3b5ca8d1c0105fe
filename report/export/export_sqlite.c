/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite: the database that `nsys export` would have made of the same run. No journal is needed: the file is discarded
 * if it cannot be completed. */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/nsys/nsys_rows.h"

static const char setup[] = "PRAGMA page_size=8192;PRAGMA journal_mode=OFF;PRAGMA synchronous=OFF;"
			    "PRAGMA locking_mode=EXCLUSIVE;PRAGMA cache_size=-32768;BEGIN;";

/* Rows inserted by one statement: nearly twice as fast as one by one. */
enum { BATCH = 32 };

struct insertion {
	sqlite3_stmt *one, *batch; /* insert one row, BATCH rows; `batch` of tables of numbers only */
	int64_t *waiting;	   /* rows of the next batch */
	size_t count;		   /* number of rows in it */
};

struct sqlite_output {
	struct nsys_output output;
	sqlite3 *db;
	struct insertion insertions[NSYS_TABLES];
	char why[256]; /* of the first failure */
};

static void note_failure(struct sqlite_output *s, int code)
{
	if (s->output.failed)
		return;
	s->output.failed = code;
	snprintf(s->why, sizeof(s->why), "%s", s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(code));
}

static void execute(struct sqlite_output *s, const char *sql)
{
	int code = s->output.failed ? SQLITE_OK : sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	if (code)
		note_failure(s, code);
}

static sqlite3_stmt *prepare_insert(struct sqlite_output *s, enum nsys_table table, int rows)
{
	struct buffer sql = {0};
	sqlite3_stmt *ret = NULL;
	int code = SQLITE_OK;

	buffer_print(&sql, "INSERT INTO %s VALUES", nsys_schemas[table].name);
	for (int row = 0; row < rows; row++) {
		buffer_text(&sql, row ? ",(?" : "(?");
		for (size_t i = 1; i < nsys_schemas[table].count; i++)
			buffer_text(&sql, ",?");
		buffer_text(&sql, ")");
	}
	if (!s->output.failed)
		code = sqlite3_prepare_v3(s->db, sql.data, -1, SQLITE_PREPARE_PERSISTENT, &ret, NULL);
	if (code)
		note_failure(s, code);
	buffer_done(&sql);
	return ret;
}

static void begin_table(struct nsys_output *o, enum nsys_table table)
{
	struct sqlite_output *s = (struct sqlite_output *)o;
	const struct nsys_schema *schema = &nsys_schemas[table];
	bool has_text = false;
	struct buffer sql = {0};

	buffer_text(&sql, "CREATE TABLE ");
	nsys_declare(schema, &sql);
	execute(s, buffer_string(&sql));
	buffer_done(&sql);
	for (size_t i = 0; i < schema->count; i++)
		has_text |= schema->columns[i].type != NSYS_INTEGER;
	s->insertions[table].one = prepare_insert(s, table, 1);
	if (has_text)
		return;
	s->insertions[table].batch = prepare_insert(s, table, BATCH);
	s->insertions[table].waiting = mem_alloc(BATCH * schema->count * sizeof(int64_t));
}

static void bind(sqlite3_stmt *insert, const struct nsys_schema *schema, const int64_t *values)
{
	for (size_t i = 0; i < schema->count; i++)
		if (values[i] == NSYS_NULL)
			sqlite3_bind_null(insert, (int)i + 1);
		else if (schema->columns[i].type == NSYS_TEXT)
			sqlite3_bind_text(insert, (int)i + 1, nsys_text_of(values[i]), -1, SQLITE_STATIC);
		else if (schema->columns[i].type == NSYS_REAL)
			sqlite3_bind_double(insert, (int)i + 1, nsys_real_of(values[i]));
		else
			sqlite3_bind_int64(insert, (int)i + 1, values[i]);
}

static void step(struct sqlite_output *s, sqlite3_stmt *insert)
{
	int code = sqlite3_step(insert);

	if (code != SQLITE_DONE)
		note_failure(s, code);
	sqlite3_reset(insert);
}

static void insert_row(struct sqlite_output *s, enum nsys_table table, const int64_t *values)
{
	if (s->output.failed)
		return;
	bind(s->insertions[table].one, &nsys_schemas[table], values);
	step(s, s->insertions[table].one);
}

static void insert_batch(struct sqlite_output *s, enum nsys_table table)
{
	struct insertion *t = &s->insertions[table];
	size_t count = BATCH * nsys_schemas[table].count;

	for (size_t i = 0; i < count; i++)
		if (t->waiting[i] == NSYS_NULL)
			sqlite3_bind_null(t->batch, (int)i + 1);
		else
			sqlite3_bind_int64(t->batch, (int)i + 1, t->waiting[i]);
	step(s, t->batch);
	t->count = 0;
}

static void take_row(struct nsys_output *o, enum nsys_table table, const int64_t *values)
{
	struct sqlite_output *s = (struct sqlite_output *)o;
	struct insertion *t = &s->insertions[table];
	size_t columns = nsys_schemas[table].count;

	if (!t->waiting) {
		insert_row(s, table, values);
		return;
	}
	memcpy(t->waiting + t->count * columns, values, columns * sizeof(*values));
	if (++t->count == BATCH)
		insert_batch(s, table);
}

/* Inserts the rows of a last batch, which is not full. */
static void finish_table(struct sqlite_output *s, enum nsys_table table)
{
	struct insertion *t = &s->insertions[table];

	for (size_t i = 0; i < t->count; i++)
		insert_row(s, table, t->waiting + i * nsys_schemas[table].count);
	sqlite3_finalize(t->one);
	sqlite3_finalize(t->batch);
	free(t->waiting);
}

/* On what readers join and group by; made at the end, where it is quicker than row by row. */
static void add_indexes(struct sqlite_output *s)
{
	static const struct {
		enum nsys_table table;
		const char *column;
	} indexes[] = {
		{NSYS_KERNEL, "shortName"},	{NSYS_KERNEL, "correlationId"}, {NSYS_MEMCPY, "correlationId"},
		{NSYS_MEMSET, "correlationId"}, {NSYS_RUNTIME, "nameId"},	{NSYS_RUNTIME, "correlationId"},
		{NSYS_OSRT, "nameId"},		{NSYS_NVTX, "textId"},
	};

	for (size_t i = 0; i < sizeof(indexes) / sizeof(*indexes); i++) {
		const char *table = nsys_schemas[indexes[i].table].name, *column = indexes[i].column;
		struct buffer sql = {0};

		buffer_print(&sql, "CREATE INDEX %s_%s ON %s (%s)", table, column, table, column);
		if (s->insertions[indexes[i].table].one)
			execute(s, buffer_string(&sql));
		buffer_done(&sql);
	}
}

int export_sqlite(struct export *x, struct err *err)
{
	struct sqlite_output s = {.output = {.begin = begin_table, .row = take_row, .tables = NSYS_ALL_TABLES}};
	struct aggregate strings = {0};
	int code = sqlite3_open_v2(x->path, &s.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	if (code)
		note_failure(&s, code);
	execute(&s, setup);
	if (!s.output.failed)
		nsys_rows(x->context, &strings, &s.output);
	for (int i = 0; i < NSYS_TABLES; i++)
		finish_table(&s, (enum nsys_table)i);
	add_indexes(&s);
	execute(&s, "COMMIT");
	if (sqlite3_close(s.db))
		note_failure(&s, SQLITE_ERROR);
	aggregate_done(&strings);
	return s.output.failed ? err_set(err, -EIO, "sqlite: %s", s.why) : 0;
}
