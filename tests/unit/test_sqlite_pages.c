/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite itself reads what sqlite_pages wrote. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/export/export.h"
#include "report/export/sqlite_pages.h"
#include "trace_writer.h"

enum { ROWS = 200000, TEXTS = 40 }; /* ROWS: so many that the trees have three levels */

static const int64_t numbers[] = {0,	  1,	      -1,	  127,	       128,	    -128,	  -129,
				  32767,  32768,      8388607,	  8388608,     INT32_MAX,   -2147483649ll, 1ll << 46,
				  1ll << 47, -(1ll << 47), -(1ll << 47) - 1, INT64_MAX, INT64_MIN + 1};

enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };

static char path[] = "/tmp/pillion-pages-XXXXXX";
static sqlite3 *db;

/* Lengths around those at which a text continues on another page. */
static size_t text_length(size_t i)
{
	return i < 30 ? 8140 + i : i * 3000;
}

static void schema_row(struct sqlite_tree *schema, int64_t rowid, const char *type, const char *name,
		       const char *table, uint32_t root, const char *sql)
{
	struct sqlite_record r = {0};

	sqlite_record_text(&r, type);
	sqlite_record_text(&r, name);
	sqlite_record_text(&r, table);
	sqlite_record_number(&r, root);
	sqlite_record_text(&r, sql);
	sqlite_tree_add_row(schema, rowid, &r);
	free(r.body);
}

static uint32_t write_rows(struct sqlite_file *f)
{
	struct sqlite_tree tree;
	struct sqlite_record r = {0};

	sqlite_tree_begin(&tree, f, false);
	for (int64_t i = 1; i <= ROWS; i++) {
		sqlite_record_clear(&r);
		sqlite_record_number(&r, numbers[i % NUMBERS]);
		if (i % 3)
			sqlite_record_real(&r, (double)i / 4);
		else
			sqlite_record_null(&r);
		sqlite_tree_add_row(&tree, i, &r);
	}
	free(r.body);
	return sqlite_tree_end(&tree);
}

/* Of the column `real`: NULL first. */
static uint32_t write_index(struct sqlite_file *f)
{
	struct sqlite_tree tree;
	struct sqlite_record r = {0};

	sqlite_tree_begin(&tree, f, true);
	for (int pass = 0; pass < 2; pass++) /* 0: rows without a number */
		for (int64_t i = 1; i <= ROWS; i++) {
			if ((i % 3 != 0) != pass)
				continue;
			sqlite_record_clear(&r);
			if (pass)
				sqlite_record_real(&r, (double)i / 4);
			else
				sqlite_record_null(&r);
			sqlite_record_number(&r, i);
			sqlite_tree_add_key(&tree, &r);
		}
	free(r.body);
	return sqlite_tree_end(&tree);
}

static uint32_t write_texts(struct sqlite_file *f)
{
	struct sqlite_tree tree;
	struct sqlite_record r = {0};
	char *text = malloc(TEXTS * 3000 + 1);

	sqlite_tree_begin(&tree, f, false);
	for (size_t i = 0; i < TEXTS; i++) {
		memset(text, 'a' + (int)i % 26, text_length(i));
		text[text_length(i)] = 0;
		sqlite_record_clear(&r);
		sqlite_record_text(&r, text);
		sqlite_tree_add_row(&tree, (int64_t)i * 1000000007, &r);
	}
	free(text);
	free(r.body);
	return sqlite_tree_end(&tree);
}

static void write_and_open(void)
{
	struct sqlite_file f;
	struct sqlite_tree schema, empty;
	struct err err;
	char comment[9000];
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(sqlite_file_open(&f, fd, &err), 0);
	sqlite_schema_begin(&schema, &f);
	schema_row(&schema, 1, "table", "t", "t", write_rows(&f), "CREATE TABLE t(number INTEGER, real REAL)");
	schema_row(&schema, 2, "index", "i", "t", write_index(&f), "CREATE INDEX i ON t(real)");
	/* The schema has more than one page then. */
	memset(comment, ' ', sizeof(comment));
	memcpy(comment, "CREATE TABLE texts", 18);
	strcpy(comment + 7500, "(text TEXT)");
	schema_row(&schema, 3, "table", "texts", "texts", write_texts(&f), comment);
	sqlite_tree_begin(&empty, &f, false);
	schema_row(&schema, 4, "table", "empty", "empty", sqlite_tree_end(&empty), "CREATE TABLE empty(a)");
	cr_assert_eq(sqlite_file_close(&f, &schema), 0);
	close(fd);
	cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
}

static void close_and_remove(void)
{
	sqlite3_close(db);
	unlink(path);
}

TestSuite(sqlite_pages, .init = write_and_open, .fini = close_and_remove);

static sqlite3_stmt *query(const char *sql)
{
	sqlite3_stmt *ret = NULL;

	cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &ret, NULL), SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
	cr_assert_eq(sqlite3_step(ret), SQLITE_ROW);
	return ret;
}

Test(sqlite_pages, the_trees_are_in_order_and_complete)
{
	sqlite3_stmt *s = query("PRAGMA integrity_check");

	cr_assert_str_eq((const char *)sqlite3_column_text(s, 0), "ok");
	sqlite3_finalize(s);
	s = query("SELECT count(*) FROM empty");
	cr_assert_eq(sqlite3_column_int(s, 0), 0);
	sqlite3_finalize(s);
}

Test(sqlite_pages, numbers_of_each_size_reals_and_null_are_read_back)
{
	sqlite3_stmt *s = query("SELECT rowid, number, real FROM t ORDER BY rowid");

	for (int64_t i = 1; i <= ROWS; i++) {
		cr_assert_eq(sqlite3_column_int64(s, 0), i);
		cr_assert_eq(sqlite3_column_int64(s, 1), numbers[i % NUMBERS]);
		cr_assert_eq(sqlite3_column_type(s, 2), i % 3 ? SQLITE_FLOAT : SQLITE_NULL);
		cr_assert_eq(sqlite3_column_double(s, 2), i % 3 ? (double)i / 4 : 0);
		cr_assert_eq(sqlite3_step(s), i < ROWS ? SQLITE_ROW : SQLITE_DONE);
	}
	sqlite3_finalize(s);
}

Test(sqlite_pages, the_index_finds_each_row)
{
	sqlite3_stmt *s = query("SELECT count(*) FROM t AS a CROSS JOIN t AS b INDEXED BY i ON b.real = a.real "
				"WHERE a.rowid % 50 = 1 AND b.rowid = a.rowid");

	cr_assert_eq(sqlite3_column_int(s, 0), 2667); /* of the rows 1, 51, 101, ... two thirds have a number */
	sqlite3_finalize(s);
}

Test(sqlite_pages, long_texts_continue_on_other_pages)
{
	sqlite3_stmt *s = query("SELECT rowid, text FROM texts ORDER BY rowid");

	for (size_t i = 0; i < TEXTS; i++) {
		const char *text = (const char *)sqlite3_column_text(s, 1);

		cr_assert_eq(sqlite3_column_int64(s, 0), (int64_t)i * 1000000007);
		cr_assert_eq(strlen(text), text_length(i), "row %zu has %zu bytes", i, strlen(text));
		cr_assert_eq(strspn(text, (char[]){(char)('a' + (int)i % 26), 0}), text_length(i));
		sqlite3_step(s);
	}
	sqlite3_finalize(s);
}

/* Calls of one function have the same key, and are in the order of their rows. */
Test(sqlite_pages, the_indexes_of_an_export_are_in_order)
{
	char directory[] = "/tmp/pillion-pages-XXXXXX", *paths[] = {directory};
	struct model model;
	struct report_context context = {.model = &model};
	struct export x = {.context = &context};
	struct err err;
	sqlite3_stmt *s;

	cr_assert_not_null(mkdtemp(directory));
	capture_example(directory);
	cr_assert_eq(model_open(&model, paths, 1, &err), 0);
	context.symbols = symbols_new(&model, true);
	cr_assert_eq(export_write(&x, export_find("sqlite"), path, true, &err), 0, "%s", err.text);
	sqlite3_close(db);
	cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
	s = query("PRAGMA integrity_check");
	cr_expect_str_eq((const char *)sqlite3_column_text(s, 0), "ok");
	sqlite3_finalize(s);
	s = query("SELECT count(*) - count(DISTINCT nameId) FROM OSRT_API");
	cr_expect_gt(sqlite3_column_int(s, 0), 0, "there are equal keys");
	sqlite3_finalize(s);
	symbols_free(context.symbols);
	model_done(&model);
	capture_remove(directory);
}
