/* SPDX-License-Identifier: Apache-2.0 */
#include "report/query/query_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* idxNum: the column whose order is used, and how. */
enum { INDEX_COLUMN = 0xff, INDEX_EQUAL = 0x100, INDEX_FROM = 0x200, INDEX_TO = 0x400, INDEX_ORDER = 0x800,
       INDEX_DESCENDING = 0x1000, INDEX_KEY = 0x2000 };

/* Guesses for the planner: tables are made when a statement is executed, so their sizes are not known before. */
enum { ROWS = 1000000, ROWS_OF_RANGE = ROWS / 4, ROWS_OF_VALUE = 100 };

/* SQL ignores case, so nsys's table PROCESSES and the report `processes` are one table. It has the columns of nsys's
 * table, then those columns of the report that nsys's table lacks. Both have the same rows in the same order. */
struct query_source {
	struct store *store;
	int number; /* of nsys_schemas; from NSYS_TABLES: of report_list */
};

struct query_table {
	sqlite3_vtab base;
	const struct query_source *source;
};

struct query_cursor {
	sqlite3_vtab_cursor base;
	const struct stored *rows;   /* NULL: a report */
	const struct table *report;
	const uint32_t *order;	     /* NULL: as they are */
	size_t at, end;		     /* places in the order, or rows */
	bool is_descending;	     /* from end - 1 to at */
};

static const struct query_source *source_of(sqlite3_vtab *table)
{
	return ((struct query_table *)table)->source;
}

static bool is_report(const struct query_source *s)
{
	return s->number >= NSYS_TABLES;
}

/* ---- declaration ---- */

static bool is_real(enum column_type type)
{
	return type == COLUMN_NS_MEAN || type == COLUMN_PERCENT || type == COLUMN_MB || type == COLUMN_REAL;
}

static void declare_column(const struct column *c, struct buffer *ret)
{
	buffer_text(ret, "\"");
	for (const char *p = c->title; *p; p++)
		buffer_add(ret, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
	buffer_print(ret, "\" %s", c->type == COLUMN_TEXT ? "TEXT" : is_real(c->type) ? "REAL" : "INTEGER");
}

static void declare_report(const char *name, const struct table *t, struct buffer *ret)
{
	buffer_text(ret, name);
	if (!t->column_count) /* a report without data may have none, a table of SQL may not */
		buffer_text(ret, "(\"nothing was recorded\" TEXT");
	for (size_t i = 0; i < t->column_count; i++) {
		buffer_text(ret, i ? "," : "(");
		declare_column(&t->columns[i], ret);
	}
	buffer_text(ret, ")");
}

/* The report with the name of a table of nsys; NULL: there is none. */
static const struct report *namesake(int number)
{
	return array_find(report, report_list, report_count, !strcasecmp(report->name, nsys_schemas[number].name));
}

static const struct table *namesake_table(const struct query_source *s)
{
	const struct report *report = is_report(s) ? NULL : namesake(s->number);

	return report ? store_report(s->store, (size_t)(report - report_list)) : NULL;
}

static bool has_column(const struct nsys_schema *schema, const char *name)
{
	return array_find(column, schema->columns, schema->count, !strcasecmp(column->name, name)) != NULL;
}

/* The column of its namesake's table that is the `more`-th of those that a table of nsys lacks; column_count: there
 * are fewer. */
static size_t added_column(const struct nsys_schema *schema, const struct table *t, size_t more)
{
	size_t i = 0;

	while (i < t->column_count && (has_column(schema, t->columns[i].title) || more--))
		i++;
	return i;
}

static void declare_nsys(const struct query_source *s, struct buffer *ret)
{
	const struct nsys_schema *schema = &nsys_schemas[s->number];
	const struct table *t = namesake_table(s);
	size_t column;

	nsys_declare(schema, ret);
	if (!t)
		return;
	ret->size--; /* the bracket */
	for (size_t i = 0; (column = added_column(schema, t, i)) < t->column_count; i++) {
		buffer_text(ret, ",");
		declare_column(&t->columns[column], ret);
	}
	buffer_text(ret, ")");
}

static void declare(const struct query_source *s, struct buffer *ret)
{
	if (is_report(s))
		declare_report(report_list[s->number - NSYS_TABLES].name,
			       store_report(s->store, (size_t)(s->number - NSYS_TABLES)), ret);
	else
		declare_nsys(s, ret);
}

static int table_connect(sqlite3 *db, void *source, int count, const char *const *words, sqlite3_vtab **ret,
			 char **message)
{
	struct store *store = ((const struct query_source *)source)->store;
	SCOPED(buffer) sql = {0};
	int code;

	buffer_text(&sql, "CREATE TABLE ");
	declare(source, &sql);
	store->is_declaring = true;
	code = sqlite3_declare_vtab(db, sql.data);
	store->is_declaring = false;
	if (code)
		return code;
	*ret = sqlite3_malloc(sizeof(struct query_table));
	if (!*ret)
		return SQLITE_NOMEM;
	*(struct query_table *)*ret = (struct query_table){.source = source};
	return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

/* ---- plans ---- */

static int use_of(unsigned char operator)
{
	switch (operator) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return INDEX_EQUAL;
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
		return INDEX_FROM;
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return INDEX_TO;
	default:
		return 0;
	}
}

static bool is_sorted_column(const struct query_source *s, int column)
{
	return !is_report(s) && column >= 0 && (size_t)column < nsys_schemas[s->number].count &&
	       nsys_schemas[s->number].columns[column].type == NSYS_INTEGER;
}

/* The column with the narrowest constraints; -1: none. */
static int best_column(const struct query_source *s, const sqlite3_index_info *info, int *ret_uses)
{
	int best = -1;

	*ret_uses = 0;
	for (int i = 0; i < info->nConstraint; i++) {
		int column = info->aConstraint[i].iColumn, uses = 0;

		if (!info->aConstraint[i].usable || !is_sorted_column(s, column))
			continue;
		for (int k = i; k < info->nConstraint; k++)
			if (info->aConstraint[k].usable && info->aConstraint[k].iColumn == column)
				uses |= use_of(info->aConstraint[k].op);
		if (uses & INDEX_EQUAL)
			uses = INDEX_EQUAL;
		if (!uses || (*ret_uses & INDEX_EQUAL) || (uses != INDEX_EQUAL && uses <= *ret_uses))
			continue;
		best = column;
		*ret_uses = uses;
	}
	return best;
}

/* The values arrive in the order of these flags. SQLite checks each row again, so the bounds may be wide. */
static void take_arguments(sqlite3_index_info *info, int column, int uses)
{
	static const int flags[] = {INDEX_EQUAL, INDEX_FROM, INDEX_TO};
	int count = 0;

	for (size_t f = 0; f < sizeof(flags) / sizeof(*flags); f++)
		for (int i = 0; uses & flags[f] && i < info->nConstraint; i++)
			if (info->aConstraint[i].usable && info->aConstraint[i].iColumn == column &&
			    use_of(info->aConstraint[i].op) == flags[f]) {
				info->aConstraintUsage[i].argvIndex = ++count;
				break;
			}
}

static int table_plan(sqlite3_vtab *table, sqlite3_index_info *info)
{
	const struct query_source *s = source_of(table);
	int uses, column = best_column(s, info, &uses);
	bool is_key = column >= 0 && nsys_schemas[s->number].key &&
		      !strcmp(nsys_schemas[s->number].key, nsys_schemas[s->number].columns[column].name);

	info->estimatedRows = uses & INDEX_EQUAL ? is_key ? 1 : ROWS_OF_VALUE : uses ? ROWS_OF_RANGE : ROWS;
	if (is_report(s))
		info->estimatedRows = ROWS_OF_VALUE;
	take_arguments(info, column, uses);
	if (is_key && uses & INDEX_EQUAL)
		uses |= INDEX_KEY;
	if (info->nOrderBy == 1 && is_sorted_column(s, info->aOrderBy->iColumn) &&
	    (column < 0 || column == info->aOrderBy->iColumn)) {
		column = info->aOrderBy->iColumn;
		uses |= INDEX_ORDER | (info->aOrderBy->desc ? INDEX_DESCENDING : 0);
		info->orderByConsumed = 1;
	}
	info->idxNum = column < 0 ? 0 : column | uses;
	info->estimatedCost = (double)info->estimatedRows + 20;
	return SQLITE_OK;
}

/* ---- rows ---- */

static int rows_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret)
{
	*ret = sqlite3_malloc(sizeof(struct query_cursor));
	if (!*ret)
		return SQLITE_NOMEM;
	*(struct query_cursor *)*ret = (struct query_cursor){0};
	return SQLITE_OK;
}

static int rows_close(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

/* A bound as an integer, rounded so that no row is lost. False: no number compares with the value like this. */
static bool integer_bound(sqlite3_value *value, bool is_upper, int64_t *ret)
{
	double real;

	switch (sqlite3_value_numeric_type(value)) {
	case SQLITE_INTEGER:
		*ret = sqlite3_value_int64(value);
		return true;
	case SQLITE_FLOAT:
		real = is_upper ? ceil(sqlite3_value_double(value)) : floor(sqlite3_value_double(value));
		*ret = real >= 9.2e18 ? INT64_MAX : real <= -9.2e18 ? INT64_MIN : (int64_t)real;
		return true;
	case SQLITE_NULL:
		return false;
	default: /* in SQL a text is greater than any number: SQLite compares */
		*ret = is_upper ? INT64_MAX : INT64_MIN;
		return true;
	}
}

/* Narrows the cursor to the rows whose values are in [from, to]. */
static void narrow(struct query_cursor *c, const struct query_source *s, int plan, int64_t from, int64_t to)
{
	int column = plan & INDEX_COLUMN;
	const int64_t *values = c->rows->columns[column];
	size_t count = c->rows->rows, place = (size_t)from - 1;

	/* Most keys count from 1, so a row is where its key says. */
	if (plan & INDEX_KEY && from == to && place < count && values[place] == from) {
		c->at = place;
		c->end = place + 1;
		return;
	}
	c->order = store_order(s->store, (enum nsys_table)s->number, column);
	c->at = first_place(at, 0, count, values[c->order[at]] < from);
	c->end = first_place(at, c->at, count, values[c->order[at]] <= to);
}

static int filter_rows(struct query_cursor *c, const struct query_source *s, int plan, int count,
		       sqlite3_value **values)
{
	int next = 0;
	int64_t from = INT64_MIN, to = INT64_MAX;
	bool is_possible = true, is_by_id = s->number == NSYS_STRINGS && plan & INDEX_EQUAL;

	c->rows = store_table(s->store, (enum nsys_table)s->number, s->number == NSYS_STRINGS && !is_by_id);
	c->order = NULL;
	c->at = 0;
	c->end = c->rows->rows;
	c->is_descending = plan & INDEX_DESCENDING;
	if (!plan)
		return SQLITE_OK;
	if (plan & INDEX_EQUAL && next < count) {
		is_possible &= integer_bound(values[next], false, &from) && integer_bound(values[next], true, &to);
		next++;
	}
	if (plan & INDEX_FROM && next < count)
		is_possible &= integer_bound(values[next++], false, &from);
	if (plan & INDEX_TO && next < count)
		is_possible &= integer_bound(values[next++], true, &to);
	if (is_possible)
		narrow(c, s, plan, from, to);
	else
		c->end = 0;
	return SQLITE_OK;
}

static int rows_filter(sqlite3_vtab_cursor *cursor, int plan, const char *name, int count, sqlite3_value **values)
{
	struct query_cursor *c = (struct query_cursor *)cursor;
	const struct query_source *s = source_of(cursor->pVtab);

	if (!is_report(s))
		return filter_rows(c, s, plan, count, values);
	c->report = store_report(s->store, (size_t)(s->number - NSYS_TABLES));
	c->at = 0;
	c->end = table_rows(c->report);
	return SQLITE_OK;
}

static int rows_next(sqlite3_vtab_cursor *cursor)
{
	struct query_cursor *c = (struct query_cursor *)cursor;

	if (c->is_descending)
		c->end--;
	else
		c->at++;
	return SQLITE_OK;
}

static int rows_eof(sqlite3_vtab_cursor *cursor)
{
	const struct query_cursor *c = (const struct query_cursor *)cursor;

	return c->at >= c->end;
}

static size_t rows_row(const struct query_cursor *c)
{
	size_t place = c->is_descending ? c->end - 1 : c->at;

	return c->order ? c->order[place] : place;
}

static void report_value(sqlite3_context *ret, const struct table *t, size_t at)
{
	enum column_type type = t->columns[at % t->column_count].type;

	if (t->absent[at])
		sqlite3_result_null(ret);
	else if (type == COLUMN_TEXT)
		sqlite3_result_text(ret, t->cells[at].text, -1, SQLITE_STATIC);
	else if (is_real(type))
		sqlite3_result_double(ret, t->cells[at].real);
	else
		sqlite3_result_int64(ret, (int64_t)t->cells[at].count);
}

static void added_value(sqlite3_context *ret, const struct query_source *s, size_t row, size_t column)
{
	const struct nsys_schema *schema = &nsys_schemas[s->number];
	const struct table *t = namesake_table(s);

	column = added_column(schema, t, column - schema->count);
	if (column < t->column_count && row < table_rows(t))
		report_value(ret, t, row * t->column_count + column);
}

static void text_result(sqlite3_context *ret, const struct store *s, int64_t value)
{
	size_t size;
	const char *text = store_text(s, value, &size);

	sqlite3_result_text(ret, text, (int)size, SQLITE_STATIC);
}

static int rows_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ret, int column)
{
	const struct query_cursor *c = (const struct query_cursor *)cursor;
	const struct query_source *s = source_of(cursor->pVtab);
	const struct nsys_column *schema;
	int64_t value;

	if (c->report) {
		report_value(ret, c->report, rows_row(c) * c->report->column_count + (size_t)column);
		return SQLITE_OK;
	}
	if ((size_t)column >= nsys_schemas[s->number].count) {
		added_value(ret, s, rows_row(c), (size_t)column);
		return SQLITE_OK;
	}
	schema = &nsys_schemas[s->number].columns[column];
	value = c->rows->columns[column] ? c->rows->columns[column][rows_row(c)] : NSYS_NULL;
	if (value == NSYS_NULL)
		sqlite3_result_null(ret);
	else if (schema->type == NSYS_TEXT)
		text_result(ret, s->store, value);
	else if (schema->type == NSYS_REAL)
		sqlite3_result_double(ret, nsys_real_of(value));
	else
		sqlite3_result_int64(ret, value);
	return SQLITE_OK;
}

static int rows_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret)
{
	*ret = (sqlite3_int64)rows_row((const struct query_cursor *)cursor) + 1;
	return SQLITE_OK;
}

/* Without xCreate the tables exist without CREATE VIRTUAL TABLE. */
static const sqlite3_module module = {
	.iVersion = 1,
	.xConnect = table_connect,
	.xBestIndex = table_plan,
	.xDisconnect = table_disconnect,
	.xOpen = rows_open,
	.xClose = rows_close,
	.xFilter = rows_filter,
	.xNext = rows_next,
	.xEof = rows_eof,
	.xColumn = rows_column,
	.xRowid = rows_rowid,
};

/* ---- a connection ---- */

/* Notes which columns a statement reads. */
static void want_column(struct store *s, const char *table, const char *column)
{
	enum nsys_table t = nsys_table_find(table);

	if (t == NSYS_TABLES)
		return;
	for (size_t i = 0; i < nsys_schemas[t].count; i++)
		if (column && !sqlite3_stricmp(column, nsys_schemas[t].columns[i].name))
			store_want(s, t, (int)i);
}

static int authorize(void *context, int action, const char *first, const char *second, const char *database,
		     const char *trigger)
{
	struct store *store = context;

	if (store->is_declaring)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_READ:
		want_column(store, first, second);
		return SQLITE_OK;
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return sql_refuses(second) ? SQLITE_DENY : SQLITE_OK;
	default:
		return SQLITE_DENY;
	}
}

/* Whether a report is a table of its own. */
static bool is_listed(const struct report *report)
{
	return !(report->flags & REPORT_HIDDEN) && nsys_table_find(report->name) == NSYS_TABLES;
}

int query_tables_add(sqlite3 *db, struct store *store)
{
	int count = NSYS_TABLES + (int)report_count, code = SQLITE_OK;

	for (int i = 0; i < count && !code; i++) {
		struct query_source *s = mem_alloc(sizeof(*s));

		if (i >= NSYS_TABLES && !is_listed(&report_list[i - NSYS_TABLES])) {
			free(s);
			continue;
		}
		*s = (struct query_source){store, i};
		code = sqlite3_create_module_v2(
			db, i < NSYS_TABLES ? nsys_schemas[i].name : report_list[i - NSYS_TABLES].name, &module, s,
			free);
	}
	return code ? code : sqlite3_set_authorizer(db, authorize, store);
}

void query_tables_list(struct buffer *ret)
{
	for (int i = 0; i < NSYS_TABLES; i++)
		buffer_print(ret, "%s\n", nsys_schemas[i].name);
	for (size_t i = 0; i < report_count; i++)
		if (is_listed(&report_list[i]))
			buffer_print(ret, "%s\n", report_list[i].name);
}

bool query_table_declare(struct store *store, const char *name, struct buffer *ret)
{
	enum nsys_table table = nsys_table_find(name);
	const struct report *report = table == NSYS_TABLES ? report_find(name) : NULL;

	if (table == NSYS_TABLES && !report)
		return false;
	declare(&(struct query_source){store,
				       table == NSYS_TABLES ? NSYS_TABLES + (int)(report - report_list) : (int)table},
		ret);
	return true;
}
