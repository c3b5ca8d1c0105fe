/* SPDX-License-Identifier: Apache-2.0 */
/* query: SQL over a capture, without an export. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/verbs/verb.h"
#ifdef HAVE_SQLITE
#include "report/query/query_table.h"

/* The rows of a statement until the types of the columns are known. */
struct result_cell {
	int type; /* SQLITE_INTEGER ... */
	int64_t integer;
	double real;
	char *text; /* owned */
};

struct result {
	struct result_cell *cells;
	size_t count, capacity;
	size_t bytes;
};

/* A sort of 1e7 rows, which SQLite writes into a file in parts of this size, is merged once instead of twice. */
static const char SORT_MEMORY[] = "PRAGMA cache_size = -32768"; /* KiB */

/* Bytes of a result, and of SQLite itself, where the answer has a limit, too (--json-bytes). */
enum { RESULT_MOST = 64 << 20, MEMORY_MOST = 256 << 20 };

static struct sql_bounds bounds; /* of the connection */

static void take_cell(struct result *r, sqlite3_stmt *statement, int column)
{
	struct result_cell *cell = mem_new(r->cells, r->count, r->capacity, (struct result_cell){
						   .type = sqlite3_column_type(statement, column)});

	if (cell->type == SQLITE_INTEGER) {
		cell->integer = sqlite3_column_int64(statement, column);
		cell->real = (double)cell->integer;
	} else if (cell->type == SQLITE_FLOAT) {
		cell->real = sqlite3_column_double(statement, column);
	} else if (cell->type != SQLITE_NULL) {
		const char *text = (const char *)sqlite3_column_text(statement, column);

		cell->text = mem_copy_text(text ? text : "", text ? strlen(text) : 0);
		r->bytes += strlen(cell->text);
	}
	r->bytes += sizeof(*cell);
}

/* A column of integers, of numbers, or of texts. */
static enum column_type type_of_column(const struct result *r, size_t column, size_t columns)
{
	enum column_type type = COLUMN_SIGNED;

	for (size_t i = column; i < r->count; i += columns)
		if (r->cells[i].text)
			return COLUMN_TEXT;
		else if (r->cells[i].type == SQLITE_FLOAT)
			type = COLUMN_REAL;
	return type;
}

static void add_cell(struct table *table, enum column_type type, const struct result_cell *cell)
{
	char number[64];

	if (cell->type == SQLITE_NULL) {
		table_nothing(table);
	} else if (type == COLUMN_SIGNED) {
		table_number(table, (uint64_t)cell->integer);
	} else if (type == COLUMN_REAL) {
		table_real(table, cell->real);
	} else if (cell->text) {
		table_text(table, cell->text);
	} else {
		snprintf(number, sizeof(number), cell->type == SQLITE_FLOAT ? "%.15g" : "%.0f", cell->real);
		if (cell->type == SQLITE_INTEGER)
			snprintf(number, sizeof(number), "%lld", (long long)cell->integer);
		table_text(table, number);
	}
}

static void show_result(struct work *w, sqlite3_stmt *statement, const struct result *r)
{
	size_t columns = (size_t)sqlite3_column_count(statement);
	SCOPED(table) table = {.keeps_empty = true};

	for (size_t i = 0; i < columns; i++)
		table_column(&table, sqlite3_column_name(statement, (int)i), type_of_column(r, i, columns));
	for (size_t i = 0; i < r->count; i++)
		add_cell(&table, table.columns[i % columns].type, &r->cells[i]);
	work_table(w, "query", NULL, &table);
	if (w->emit.format == FORMAT_JSON)
		fputc('\n', w->emit.file);
}

static int refuse(struct work *w, sqlite3 *db, int code)
{
	progress_clear();
	if (code == SQLITE_INTERRUPT)
		say("the query takes longer than %" PRIu32 " s (--time-limit)", w->line->time_limit);
	else if (code == SQLITE_TOOBIG)
		say("a text or the result is too big: ask for less, such as by LIMIT and substr()");
	else if (code == SQLITE_AUTH && !strstr(sqlite3_errmsg(db), "function"))
		say("a capture is only read: SELECT is the only statement");
	else
		say("%s", sqlite3_errmsg(db));
	w->status = EXIT_UNUSABLE;
	return code;
}

/* Executes one statement. */
static int run_statement(struct work *w, sqlite3 *db, sqlite3_stmt *statement)
{
	int columns = sqlite3_column_count(statement), code;
	struct result r = {0};

	if (columns > TABLE_COLUMNS) {
		say("%d columns: at most %d can be shown; name those that you need", columns, TABLE_COLUMNS);
		w->status = EXIT_UNUSABLE;
		return SQLITE_TOOBIG;
	}
	fflush(w->emit.file); /* what earlier statements have shown */
	sql_bound_restart(&bounds);
	progress_begin("query", w->model.trace_bytes);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < columns; i++)
			take_cell(&r, statement, i);
		if (w->line->json_bytes && r.bytes > RESULT_MOST) {
			code = SQLITE_TOOBIG;
			break;
		}
	}
	sql_bound_end(&bounds);
	progress_clear();
	if (code != SQLITE_DONE)
		refuse(w, db, code);
	else if (columns)
		show_result(w, statement, &r);
	array_free(cell, r.cells, r.count, free(cell->text));
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Executes the statements of a text, to the first that fails. */
static int run_sql(struct work *w, sqlite3 *db, const char *sql)
{
	int code = SQLITE_OK;

	while (!code && *sql) {
		sqlite3_stmt *statement = NULL;

		code = sqlite3_prepare_v2(db, sql, -1, &statement, &sql);
		if (code)
			refuse(w, db, code);
		else if (statement)
			code = run_statement(w, db, statement);
		sqlite3_finalize(statement);
	}
	return code;
}

/* ---- what begins with a dot, as in sqlite3's shell ---- */

static bool run_dot(struct work *w, struct store *store, const char *line)
{
	size_t length = strcspn(line, " \t\n");
	SCOPED_MEMORY char *name = mem_copy_text(line + length, strlen(line + length));
	char *word = strtok(name, " \t\n;");
	SCOPED(buffer) out = {0};
	bool goes_on = true;

	if (length == 7 && !memcmp(line, ".tables", 7)) {
		query_tables_list(&out);
	} else if (length == 7 && !memcmp(line, ".schema", 7) && word) {
		if (query_table_declare(store, word, &out)) {
			buffer_text(&out, "\n");
		} else {
			say("no such table: %s; .tables lists them", word);
			w->status = EXIT_UNUSABLE;
		}
	} else if (length == 5 && (!memcmp(line, ".quit", 5) || !memcmp(line, ".exit", 5))) {
		goes_on = false;
	} else if (length == 5 && !memcmp(line, ".help", 5)) {
		buffer_text(&out, ".tables         the tables: those of Nsight Systems, then the reports of `stats`\n"
				  ".schema TABLE   its columns\n"
				  ".quit\n");
	} else {
		say("%.*s: .tables, .schema TABLE, .help or .quit", (int)length, line);
		w->status = EXIT_UNUSABLE;
	}
	work_text(w, "query", &out);
	return goes_on;
}

/* Reads statements from standard input; a terminal gets a prompt, and goes on after a statement that fails. */
static void run_input(struct work *w, sqlite3 *db, struct store *store)
{
	bool has_prompt = isatty(STDIN_FILENO), goes_on = true;
	SCOPED(buffer) sql = {0};
	SCOPED_MEMORY char *line = NULL;
	size_t room = 0;

	while (goes_on) {
		if (has_prompt)
			fputs(sql.size ? "    ...> " : "pillion> ", stderr);
		if (getline(&line, &room, stdin) < 0)
			break;
		if (!sql.size && *line == '.') {
			goes_on = run_dot(w, store, line);
			continue;
		}
		buffer_text(&sql, line);
		if (!sqlite3_complete(buffer_string(&sql)))
			continue;
		goes_on = !run_sql(w, db, sql.data) || has_prompt;
		fflush(w->emit.file);
		buffer_clear(&sql);
	}
	if (goes_on && sql.size)
		run_sql(w, db, sql.data);
}

/* Rather than the name of a capture: .tables, or words. */
static bool is_sql(const char *word)
{
	return (*word == '.' || strchr(word, ' ')) && access(word, F_OK);
}

static int run_query(const struct command_line *l)
{
	struct command_line reading = *l;
	const char *sql = NULL;
	static char *newest;
	static struct store store;
	static struct work w;
	sqlite3 *db = NULL;
	int status, code;

	if (!l->interactive && l->capture_count > 1 && access(l->captures[l->capture_count - 1], F_OK))
		sql = l->captures[--reading.capture_count];
	else if (!l->interactive && l->capture_count == 1 && is_sql(l->captures[0]) && (newest = newest_capture())) {
		say("%s", newest);
		sql = l->captures[0];
		reading.captures = &newest;
	}
	status = work_begin(&w, &reading);
	if (status)
		return status;
	store_open(&store, &w.context);
	code = sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, NULL);
	if (!code)
		code = sqlite3_exec(db, SORT_MEMORY, NULL, NULL, NULL);
	if (!code) {
		sql_bound(db, &bounds, l->time_limit == TIME_LIMIT_DEFAULT ? 0 : l->time_limit,
			  l->json_bytes ? MEMORY_MOST : 0);
		code = query_tables_add(db, &store);
	}
	if (code)
		refuse(&w, db, SQLITE_ERROR);
	else if (sql && *sql == '.')
		run_dot(&w, &store, sql);
	else if (sql)
		run_sql(&w, db, sql);
	else
		run_input(&w, db, &store);
	sqlite3_close(db);
	status = work_end(&w);
	return status;
}

#else
static int run_query(const struct command_line *l)
{
	(void)l;
	say("this build has no sqlite");
	return EXIT_UNUSABLE;
}
#endif

static void more_help(struct text *ret)
{
	text_add(ret, "\nSQL is one argument. Without it, statements are read from standard input. The\n"
		      "tables are those of the sqlite export (Nsight Systems' names) and the reports of\n"
		      "`stats`, with their titles as columns; '.tables' lists them, '.schema TABLE'\n"
		      "shows the columns. Times are in ns since the start of the run. The ids of\n"
		      "StringIds are those of one query.\n"
		      "\nExamples:\n"
		      "  pillion query r.pillion 'SELECT Name, \"Total Time (ns)\" FROM osrt_sum'\n"
		      "  pillion query r.pillion 'SELECT value, COUNT(*) FROM OSRT_API JOIN StringIds\n"
		      "      ON id = nameId GROUP BY nameId ORDER BY 2 DESC'\n");
}

const struct verb verb_query = {
	"query", "[OPTION]... CAPTURE... [SQL]", "SQL over a capture, without an export",
	VERB_QUERY, run_query, more_help,
};
