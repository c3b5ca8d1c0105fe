/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite: the database that `nsys export` would have made of the same run. Each table is a tree of rows by rowid, and
 * has an index for its key and for the columns that readers join and group by. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/base/external_sort.h"
#include "report/export/export.h"
#include "report/export/sqlite_pages.h"
#include "report/tables/nsys/nsys_rows.h"

enum { KEYS_HELD = 1 << 18 }; /* in memory, of an index; others are in a file while they are sorted */

static const struct {
	enum nsys_table table;
	const char *column;
} indexes[] = {
	{NSYS_KERNEL, "shortName"},	{NSYS_KERNEL, "correlationId"}, {NSYS_MEMCPY, "correlationId"},
	{NSYS_MEMSET, "correlationId"}, {NSYS_RUNTIME, "nameId"},	{NSYS_RUNTIME, "correlationId"},
	{NSYS_OSRT, "nameId"},		{NSYS_NVTX, "textId"},
};

enum { INDEXES = sizeof(indexes) / sizeof(*indexes) };

/* An entry of an index. NULL, the least integer, comes before all numbers, as in SQLite. */
struct index_key {
	int64_t value, rowid;
};

struct sqlite_index {
	size_t column; /* of the table */
	struct external_sort keys;
};

struct sqlite_table {
	bool has_begun;
	uint32_t number; /* its place in the schema */
	struct sqlite_tree rows, key;
	bool has_key;	   /* an index of the primary key, which rows come in the order of */
	bool id_is_rowid; /* the primary key is an integer, the first column */
	int64_t rowid;	   /* of the last row */
};

struct sqlite_output {
	struct nsys_output output;
	struct sqlite_file file;
	struct sqlite_table tables[NSYS_TABLES];
	uint32_t table_count;
	struct sqlite_index indexes[INDEXES];
	struct sqlite_record record, key;
	struct sqlite_tree schema;
	int64_t schema_rows;
};

COMPARATOR(compare_keys, struct index_key,
	   (a->value > b->value) - (a->value < b->value) ?: (a->rowid > b->rowid) - (a->rowid < b->rowid))

static void add_number(struct sqlite_record *r, int64_t value)
{
	if (value == NSYS_NULL)
		sqlite_record_null(r);
	else
		sqlite_record_number(r, value);
}

/* ---- rows ---- */

static void begin_table(struct nsys_output *o, enum nsys_table table)
{
	struct sqlite_output *s = (struct sqlite_output *)o;
	struct sqlite_table *t = &s->tables[table];
	const char *key = nsys_schemas[table].key;

	t->has_begun = true;
	t->number = s->table_count++;
	t->has_key = key && strchr(key, ',');
	t->id_is_rowid = key && !t->has_key;
	sqlite_tree_begin(&t->rows, &s->file, false);
	sqlite_tree_begin(&t->key, &s->file, true);
	for (size_t i = 0; i < INDEXES; i++) {
		if (indexes[i].table != table)
			continue;
		while (strcmp(nsys_schemas[table].columns[s->indexes[i].column].name, indexes[i].column) != 0)
			s->indexes[i].column++;
		external_sort_init(&s->indexes[i].keys, sizeof(struct index_key), KEYS_HELD, compare_keys);
	}
}

static void add_value(struct sqlite_record *r, enum nsys_type type, int64_t value)
{
	if (value == NSYS_NULL)
		sqlite_record_null(r);
	else if (type == NSYS_TEXT)
		sqlite_record_text(r, nsys_text_of(value));
	else if (type == NSYS_REAL)
		sqlite_record_real(r, nsys_real_of(value));
	else
		sqlite_record_number(r, value);
}

/* The keys of all tables that have one are the columns id and stackDepth, the first and the last one. */
static void add_key(struct sqlite_output *s, struct sqlite_table *t, const int64_t *values, size_t columns)
{
	sqlite_record_clear(&s->key);
	add_number(&s->key, values[0]);
	add_number(&s->key, values[columns - 1]);
	add_number(&s->key, t->rowid);
	sqlite_tree_add_key(&t->key, &s->key);
}

static void take_row(struct nsys_output *o, enum nsys_table table, const int64_t *values)
{
	struct sqlite_output *s = (struct sqlite_output *)o;
	struct sqlite_table *t = &s->tables[table];
	const struct nsys_schema *schema = &nsys_schemas[table];

	t->rowid = t->id_is_rowid ? values[0] : t->rowid + 1;
	sqlite_record_clear(&s->record);
	for (size_t i = 0; i < schema->count; i++)
		add_value(&s->record, schema->columns[i].type, i || !t->id_is_rowid ? values[i] : NSYS_NULL);
	sqlite_tree_add_row(&t->rows, t->rowid, &s->record);
	if (t->has_key)
		add_key(s, t, values, schema->count);
	for (size_t i = 0; i < INDEXES; i++)
		if (indexes[i].table == table)
			*(struct index_key *)external_sort_add(&s->indexes[i].keys) =
				(struct index_key){values[s->indexes[i].column], t->rowid};
	if (s->file.out.error)
		o->failed = -s->file.out.error;
}

/* ---- the schema ---- */

/* sql NULL: SQLite makes that index itself. */
static void schema_row(struct sqlite_output *s, const char *type, const char *name, const char *table, uint32_t root,
		       const char *sql)
{
	sqlite_record_clear(&s->record);
	sqlite_record_text(&s->record, type);
	sqlite_record_text(&s->record, name);
	sqlite_record_text(&s->record, table);
	sqlite_record_number(&s->record, root);
	if (sql)
		sqlite_record_text(&s->record, sql);
	else
		sqlite_record_null(&s->record);
	sqlite_tree_add_row(&s->schema, ++s->schema_rows, &s->record);
}

static void finish_table(struct sqlite_output *s, enum nsys_table table)
{
	struct sqlite_table *t = &s->tables[table];
	const char *name = nsys_schemas[table].name;
	SCOPED(buffer) sql = {0}, index = {0};

	buffer_text(&sql, "CREATE TABLE ");
	nsys_declare(&nsys_schemas[table], &sql);
	schema_row(s, "table", name, name, sqlite_tree_end(&t->rows), buffer_string(&sql));
	if (t->has_key) {
		buffer_print(&index, "sqlite_autoindex_%s_1", name);
		schema_row(s, "index", buffer_string(&index), name, sqlite_tree_end(&t->key), NULL);
	}
}

/* In the order in which the tables have begun. */
static void finish_tables(struct sqlite_output *s)
{
	for (uint32_t number = 0; number < s->table_count; number++)
		for (int i = 0; i < NSYS_TABLES; i++)
			if (s->tables[i].has_begun && s->tables[i].number == number)
				finish_table(s, (enum nsys_table)i);
}

static void finish_index(struct sqlite_output *s, size_t i)
{
	const char *table = nsys_schemas[indexes[i].table].name, *column = indexes[i].column;
	SCOPED(buffer) name = {0}, sql = {0};
	struct sqlite_tree tree;
	const struct index_key *k;

	sqlite_tree_begin(&tree, &s->file, true);
	while ((k = external_sort_next(&s->indexes[i].keys))) {
		sqlite_record_clear(&s->key);
		add_number(&s->key, k->value);
		add_number(&s->key, k->rowid);
		sqlite_tree_add_key(&tree, &s->key);
	}
	external_sort_done(&s->indexes[i].keys);
	buffer_print(&name, "%s_%s", table, column);
	buffer_print(&sql, "CREATE INDEX %s ON %s (%s)", buffer_string(&name), table, column);
	schema_row(s, "index", buffer_string(&name), table, sqlite_tree_end(&tree), buffer_string(&sql));
}

int export_sqlite(struct export *x, struct err *err)
{
	struct sqlite_output s = {.output = {.begin = begin_table, .row = take_row, .tables = NSYS_ALL_TABLES}};
	SCOPED(aggregate) strings = {0};
	int fd = open(x->path, O_WRONLY | O_CLOEXEC), code = fd < 0 ? -errno : sqlite_file_open(&s.file, fd, err);

	if (!code) {
		nsys_rows(x->context, &strings, &s.output);
		sqlite_schema_begin(&s.schema, &s.file);
		finish_tables(&s);
		for (size_t i = 0; i < INDEXES; i++)
			if (s.tables[indexes[i].table].has_begun)
				finish_index(&s, i);
		code = sqlite_file_close(&s.file, &s.schema);
	}
	if (fd >= 0 && close(fd) && !code)
		code = -errno;
	free(s.record.body);
	free(s.key.body);
	return code ? err_set(err, code, "sqlite: %s", strerror(-code)) : 0;
}
