/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verbs/mcp/json_reader.h"

#include <errno.h>
#include <string.h>

#ifdef HAVE_SQLITE
#include <sqlite3.h>
#include <stdlib.h>

struct json_reader {
	sqlite3 *db;
	sqlite3_stmt *valid, *type, *value, *each;
	const char *text;
};

struct json_reader *json_reader_new(struct err *err)
{
	static const char *const texts[] = {"SELECT json_valid(?1)", "SELECT json_type(?1, ?2)",
					    "SELECT json_extract(?1, ?2)", "SELECT type, atom FROM json_each(?1, ?2)"};
	struct json_reader *r = mem_alloc(sizeof(*r));
	sqlite3_stmt **const statements[] = {&r->valid, &r->type, &r->value, &r->each};
	int code = sqlite3_open_v2(":memory:", &r->db, SQLITE_OPEN_READWRITE, NULL);

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) && !code; i++)
		code = sqlite3_prepare_v2(r->db, texts[i], -1, statements[i], NULL);
	if (!code)
		return r;
	err_set(err, -ENOTSUP, "this sqlite cannot read JSON: %s", sqlite3_errmsg(r->db));
	json_reader_free(r);
	return NULL;
}

void json_reader_free(struct json_reader *r)
{
	if (!r)
		return;
	sqlite3_finalize(r->valid);
	sqlite3_finalize(r->type);
	sqlite3_finalize(r->value);
	sqlite3_finalize(r->each);
	sqlite3_close(r->db);
	free(r);
}

/* Executes a statement for the text and a path, to its first row. */
static bool run(struct json_reader *r, sqlite3_stmt *statement, const char *path)
{
	sqlite3_reset(statement);
	sqlite3_bind_text(statement, 1, r->text, -1, SQLITE_STATIC);
	if (path)
		sqlite3_bind_text(statement, 2, path, -1, SQLITE_TRANSIENT);
	return sqlite3_step(statement) == SQLITE_ROW;
}

bool json_read(struct json_reader *r, const char *text)
{
	r->text = text;
	return run(r, r->valid, NULL) && sqlite3_column_int(r->valid, 0);
}

static const char *first_column(sqlite3_stmt *statement, bool has_row)
{
	const char *text = has_row ? (const char *)sqlite3_column_text(statement, 0) : NULL;

	return text ? text : "";
}

const char *json_type(struct json_reader *r, const char *path)
{
	return first_column(r->type, run(r, r->type, path));
}

const char *json_text(struct json_reader *r, const char *path)
{
	return first_column(r->value, run(r, r->value, path));
}

int json_texts(struct json_reader *r, const char *path, struct texts *ret)
{
	bool has_row = !strcmp(json_type(r, path), "array");
	int code = has_row ? 0 : -EINVAL;

	for (has_row = has_row && run(r, r->each, path); has_row && !code;
	     has_row = sqlite3_step(r->each) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(r->each, 1);

		if (strcmp(first_column(r->each, true), "text") != 0)
			code = -EINVAL;
		else
			texts_add(ret, "%s", text ? text : "");
	}
	return code;
}

#else
struct json_reader *json_reader_new(struct err *err)
{
	err_set(err, -ENOTSUP, "this build has no sqlite, which reads JSON");
	return NULL;
}

void json_reader_free(struct json_reader *r)
{
}

bool json_read(struct json_reader *r, const char *text)
{
	return false;
}

const char *json_type(struct json_reader *r, const char *path)
{
	return "";
}

const char *json_text(struct json_reader *r, const char *path)
{
	return "";
}

int json_texts(struct json_reader *r, const char *path, struct texts *ret)
{
	return -EINVAL;
}
#endif
