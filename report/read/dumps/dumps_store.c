/* SPDX-License-Identifier: Apache-2.0 */
#include "report/read/dumps/dumps_store.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#ifdef HAVE_SQLITE
#include <sqlite3.h>
#include <stdlib.h>

/* JSON is not typed: whatever has a number's place is cast to one. */
#define FIELD(name) "json_extract(e.value, '$." name "')"
#define TEXT_OF(name) "coalesce(" FIELD(name) ", '')"
#define NUMBER_OF(name) "cast(" FIELD(name) " AS INTEGER)"

/* Frames of Python's and PyTorch's own files and of C++ are not the user's code. */
#define IS_LIBRARY(file)                                                                                  \
	"(" file " LIKE '%/torch/%' OR " file " LIKE '%/site-packages/%' OR " file                        \
	" LIKE '%/dist-packages/%' OR " file " LIKE '%/lib/python3%' OR " file " LIKE '<frozen%' OR NOT (" file \
	" LIKE '%.py' OR " file " LIKE '<ipython%'))"

/* The status of a process group as the dump has it, by the group's number in that process. */
#define STATUS_OF(name)                                                                            \
	"coalesce(cast(json_extract(?1, '$.pg_status.\"' || min(pg) || '\"." name "') AS INTEGER), -1)"

/* Point-to-point calls, too, set the status of their group: then it says nothing about collectives. */
#define STATUS_OF_COLLECTIVES(name) "CASE WHEN max(p2p) THEN -1 ELSE " STATUS_OF(name) " END"

static const char schema[] =
	"CREATE TABLE dump(rank INTEGER PRIMARY KEY, file TEXT, version TEXT, first INTEGER);"
	"CREATE TABLE config(rank INTEGER, name TEXT, members TEXT, PRIMARY KEY(rank, name));"
	"CREATE TABLE call(grp TEXT, members TEXT, p2p INTEGER, seq INTEGER, pair TEXT, rank INTEGER, op TEXT,"
	" sizes TEXT, place TEXT, state INTEGER, pg INTEGER, PRIMARY KEY(grp, members, p2p, seq, pair, rank))"
	" WITHOUT ROWID;"
	"CREATE INDEX call_rank ON call(rank);"
	"CREATE TABLE position(grp TEXT, members TEXT, rank INTEGER, last INTEGER, done INTEGER,"
	" PRIMARY KEY(grp, members, rank)) WITHOUT ROWID;"
	"CREATE TABLE perf(comm TEXT, name TEXT, rank INTEGER, ranks INTEGER, op TEXT, size INTEGER, us INTEGER,"
	" bus REAL);"
	"BEGIN;";

/* ?1: the text, ?2: the rank, ?3: the file. In this order. */
static const char *const flight[] = {
	"INSERT INTO dump SELECT ?2, ?3, json_extract(?1, '$.version'), min(" NUMBER_OF("record_id") ")"
	" FROM json_each(?1, '$.entries') e WHERE e.type = 'object'",

	"INSERT OR IGNORE INTO config SELECT ?2, e.key, " FIELD("ranks") " FROM json_each(?1, '$.pg_config') e"
	" WHERE e.type = 'object' AND json_valid(" TEXT_OF("ranks") ") AND json_type(" FIELD("ranks") ") = 'array'",

	/* The last record of a number stands for the number: a group of coalesced calls has several. Members: as the
	 * configuration says; gloo does not give the only group of a job its name there. */
	"INSERT OR REPLACE INTO call"
	" SELECT name || CASE descr WHEN '' THEN '' ELSE ' (' || descr || ')' END,"
	"  coalesce((SELECT members FROM config WHERE rank = ?2 AND config.name = entry.name),"
	"   (SELECT max(members) FROM config WHERE rank = ?2 HAVING count(*) = 1), ''),"
	"  p2p, seq, CASE WHEN p2p THEN op ELSE '' END, ?2, op, sizes, place, state, pg"
	" FROM (SELECT coalesce(" FIELD("process_group[0]") ", " FIELD("pg_id") ", '') AS name,"
	"   " TEXT_OF("process_group[1]") " AS descr, coalesce(" FIELD("is_p2p") ", 0) = 1 AS p2p,"
	"   CASE WHEN " FIELD("is_p2p") " = 1 THEN " NUMBER_OF("p2p_seq_id")
	"    ELSE coalesce(" NUMBER_OF("collective_seq_id") ", " NUMBER_OF("seq_id") ") END AS seq,"
	"   " FIELD("profiling_name") " AS op,"
	"   substr(" TEXT_OF("input_sizes") ", 2, max(length(" TEXT_OF("input_sizes") ") - 2, 0))"
	"    || coalesce(' ' || " FIELD("input_dtypes[0]") ", '') AS sizes,"
	"   (SELECT json_extract(f.value, '$.filename') || ':' || json_extract(f.value, '$.line')"
	"     || coalesce(' ' || json_extract(f.value, '$.name'), '')"
	"    FROM json_each(e.value, '$.frames') f WHERE f.type = 'object'"
	"    ORDER BY " IS_LIBRARY("json_extract(f.value, '$.filename')") ", f.key LIMIT 1) AS place,"
	"   CASE " FIELD("state") " WHEN 'completed' THEN 2 WHEN 'started' THEN 1 ELSE 0 END AS state,"
	"   " NUMBER_OF("pg_id") " AS pg, " NUMBER_OF("record_id") " AS record"
	"  FROM json_each(?1, '$.entries') e WHERE e.type = 'object') entry"
	" WHERE seq IS NOT NULL AND op IS NOT NULL ORDER BY record",

	"INSERT INTO position SELECT grp, members, ?2,"
	"  max(max(CASE WHEN p2p THEN -1 ELSE seq END), " STATUS_OF_COLLECTIVES("last_enqueued_collective") "),"
	"  " STATUS_OF_COLLECTIVES("last_completed_collective")
	" FROM call WHERE rank = ?2 GROUP BY grp, members",

	/* gloo does not track a call's state, but that of its group. */
	("UPDATE call SET state = 2 WHERE rank = ?2 AND NOT p2p AND seq <= (SELECT done FROM position p"
	 " WHERE p.grp = call.grp AND p.members = call.members AND p.rank = ?2)"),
};

static const char inspector[] =
	"INSERT INTO perf SELECT coalesce(json_extract(?1, '$.header.id'), ''),"
	" coalesce(json_extract(?1, '$.header.comm_name'), ''),"
	" json_extract(?1, '$.header.rank'), json_extract(?1, '$.header.n_ranks'),"
	" coalesce(json_extract(e.value, '$.coll'), json_extract(e.value, '$.p2p')),"
	" coalesce(json_extract(e.value, '$.coll_msg_size_bytes'), json_extract(e.value, '$.p2p_msg_size_bytes')),"
	" coalesce(json_extract(e.value, '$.coll_exec_time_us'), json_extract(e.value, '$.p2p_exec_time_us')),"
	" coalesce(json_extract(e.value, '$.coll_busbw_gbs'), json_extract(e.value, '$.p2p_busbw_gbs'))"
	" FROM json_each(?1) e WHERE e.key IN ('coll_perf', 'p2p_perf') AND e.type = 'object'"
	" AND typeof(json_extract(?1, '$.header.rank')) = 'integer'"
	" AND typeof(coalesce(json_extract(e.value, '$.coll'), json_extract(e.value, '$.p2p'))) = 'text'"
	" AND typeof(coalesce(json_extract(e.value, '$.coll_exec_time_us'),"
	"  json_extract(e.value, '$.p2p_exec_time_us'))) = 'integer'"
	" AND typeof(coalesce(json_extract(e.value, '$.coll_msg_size_bytes'),"
	"  json_extract(e.value, '$.p2p_msg_size_bytes'))) = 'integer'"
	/* Less than 12 days, so that sums of ns do not overflow. */
	" AND coalesce(json_extract(e.value, '$.coll_exec_time_us'),"
	"  json_extract(e.value, '$.p2p_exec_time_us')) BETWEEN 0 AND 1000000000000"
	" AND coalesce(json_extract(e.value, '$.coll_msg_size_bytes'),"
	"  json_extract(e.value, '$.p2p_msg_size_bytes')) >= 0"
	" AND json_extract(?1, '$.header.rank') BETWEEN 0 AND 4294967295";

static const char look[] =
	"SELECT json_type(?1, '$.entries') = 'array' OR json_type(?1, '$.pg_config') = 'object',"
	" json_type(?1, '$.header') = 'object'"
	"  AND coalesce(json_type(?1, '$.coll_perf'), json_type(?1, '$.p2p_perf')) = 'object',"
	" coalesce(json_extract(?1, '$.metadata.inspector_output_format_version'),"
	"  json_extract(?1, '$.version'), '')";

struct dumps_store {
	sqlite3 *db;
	sqlite3_stmt *valid, *look, *inspector;
};

/* ---- an aggregate function: rank_list(2), of 0, 1, 2 and 5: 0-2,5 ---- */

struct rank_list {
	int64_t *items;
	size_t count, capacity;
};

static void ranks_add(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct rank_list *r = sqlite3_aggregate_context(context, sizeof(*r));

	if (!r || sqlite3_value_type(values[0]) == SQLITE_NULL)
		return;
	list_add(r, sqlite3_value_int64(values[0]));
}

COMPARATOR(compare_ranks, int64_t, (*a > *b) - (*a < *b))

static void ranks_text(sqlite3_context *context)
{
	struct rank_list *r = sqlite3_aggregate_context(context, 0);
	SCOPED(buffer) text = {0};

	if (r && r->count)
		qsort(r->items, r->count, sizeof(*r->items), compare_ranks);
	for (size_t i = 0, end; r && i < r->count; i = end) {
		for (end = i + 1; end < r->count && (uint64_t)r->items[end] - (uint64_t)r->items[end - 1] <= 1;)
			end++;
		buffer_print(&text, "%s%lld", i ? "," : "", (long long)r->items[i]);
		if (r->items[end - 1] != r->items[i])
			buffer_print(&text, "-%lld", (long long)r->items[end - 1]);
	}
	if (text.size)
		sqlite3_result_text(context, text.data, (int)text.size, SQLITE_TRANSIENT);
	if (r)
		free(r->items);
}

/* ---- opening ---- */

static void close_store(struct dumps_store *s)
{
	sqlite3_finalize(s->valid);
	sqlite3_finalize(s->look);
	sqlite3_finalize(s->inspector);
	sqlite3_close(s->db);
	free(s);
}

struct dumps_store *dumps_store_new(struct err *err)
{
	struct dumps_store *s = mem_alloc(sizeof(*s));
	int code = sqlite3_open_v2(":memory:", &s->db, SQLITE_OPEN_READWRITE, NULL);

	code = code ? code : sqlite3_exec(s->db, schema, NULL, NULL, NULL);
	code = code ? code : sqlite3_create_function(s->db, "rank_list", 1, SQLITE_UTF8, NULL, NULL, ranks_add,
						     ranks_text);
	code = code ? code : sqlite3_prepare_v2(s->db, "SELECT json_valid(?1)", -1, &s->valid, NULL);
	code = code ? code : sqlite3_prepare_v2(s->db, look, -1, &s->look, NULL);
	code = code ? code : sqlite3_prepare_v2(s->db, inspector, -1, &s->inspector, NULL);
	if (!code)
		return s;
	err_set(err, -ENOTSUP, "this sqlite cannot read JSON: %s", sqlite3_errmsg(s->db));
	close_store(s);
	return NULL;
}

/* Executes a statement for a text, to its first row. */
static int run(sqlite3_stmt *statement, const char *text, size_t size)
{
	sqlite3_reset(statement);
	sqlite3_bind_text(statement, 1, text, (int)size, SQLITE_STATIC);
	return sqlite3_step(statement);
}

void dumps_store_look(struct dumps_store *s, const char *text, size_t size, struct store_facts *ret)
{
	*ret = (struct store_facts){0};
	if (size > INT_MAX || memchr(text, '\0', size))
		return;
	ret->is_json = run(s->valid, text, size) == SQLITE_ROW && sqlite3_column_int(s->valid, 0);
	if (ret->is_json && run(s->look, text, size) == SQLITE_ROW) {
		const char *version = (const char *)sqlite3_column_text(s->look, 2);

		ret->is_flight = sqlite3_column_int(s->look, 0);
		ret->is_inspector = sqlite3_column_int(s->look, 1);
		if (version)
			strncat(ret->version, version, sizeof(ret->version) - 1);
	}
	sqlite3_reset(s->valid);
	sqlite3_reset(s->look);
}

/* ---- adding ---- */

static int execute(struct dumps_store *s, const char *sql, const char *text, size_t size, const char *file,
		   uint64_t rank)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL);

	if (!code) {
		sqlite3_bind_text(statement, 1, text, (int)size, SQLITE_STATIC);
		sqlite3_bind_int64(statement, 2, (int64_t)rank);
		sqlite3_bind_text(statement, 3, file, -1, SQLITE_STATIC);
		code = sqlite3_step(statement) == SQLITE_DONE ? SQLITE_OK : sqlite3_errcode(s->db);
	}
	sqlite3_finalize(statement);
	return code;
}

static uint64_t count_damaged(struct dumps_store *s, const char *text, size_t size)
{
	static const char sql[] = "SELECT count(*) FROM json_each(?1, '$.entries') e WHERE e.type <> 'object' OR "
				  FIELD("profiling_name") " IS NULL OR coalesce(" FIELD("collective_seq_id") ", "
				  FIELD("p2p_seq_id") ", " FIELD("seq_id") ") IS NULL";
	sqlite3_stmt *statement = NULL;
	uint64_t damaged = 0;

	if (!sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) && run(statement, text, size) == SQLITE_ROW)
		damaged = (uint64_t)sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return damaged;
}

int dumps_store_flight(struct dumps_store *s, const char *text, size_t size, const char *file, uint64_t rank,
		       uint64_t *ret_damaged, struct err *err)
{
	int code = 0;

	for (size_t i = 0; i < sizeof(flight) / sizeof(*flight) && !code; i++)
		code = execute(s, flight[i], text, size, file, rank);
	if (code)
		return err_set(err, -EINVAL, "damaged: %s", sqlite3_errmsg(s->db));
	*ret_damaged = count_damaged(s, text, size);
	return 0;
}

bool dumps_store_inspector(struct dumps_store *s, const char *text, size_t size)
{
	bool is_done = run(s->inspector, text, size) == SQLITE_DONE && sqlite3_changes(s->db) > 0;

	sqlite3_reset(s->inspector);
	return is_done;
}

/* ---- asking ---- */

bool dumps_store_find(struct dumps_store *s, const uint64_t *rank, struct buffer *file, struct buffer *version)
{
	sqlite3_stmt *statement = NULL;
	bool is_found;

	if (sqlite3_prepare_v2(s->db, "SELECT file, version FROM dump WHERE ?1 IS NULL OR rank = ?1 LIMIT 1", -1,
			       &statement, NULL))
		return false;
	if (rank)
		sqlite3_bind_int64(statement, 1, (int64_t)*rank);
	is_found = sqlite3_step(statement) == SQLITE_ROW;
	if (is_found) {
		const char *text = (const char *)sqlite3_column_text(statement, 1);

		buffer_text(file, (const char *)sqlite3_column_text(statement, 0));
		buffer_text(version, text ? text : "");
	}
	sqlite3_finalize(statement);
	return is_found;
}

static void add_cell(sqlite3_stmt *statement, int at, struct table *table)
{
	enum column_type type = table->columns[at].type;

	if (sqlite3_column_type(statement, at) == SQLITE_NULL)
		table_nothing(table);
	else if (type == COLUMN_TEXT)
		table_text(table, (const char *)sqlite3_column_text(statement, at));
	else if (type == COLUMN_NS_MEAN || type == COLUMN_REAL)
		table_real(table, sqlite3_column_double(statement, at));
	else
		table_number(table, (uint64_t)sqlite3_column_int64(statement, at));
}

int dumps_store_select(struct dumps_store *s, const char *sql, struct table *table, struct err *err)
{
	sqlite3_stmt *statement = NULL;
	int code = sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL);

	while (!code && (code = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < (int)table->column_count; i++)
			add_cell(statement, i, table);
		code = 0;
	}
	if (code && code != SQLITE_DONE)
		code = err_set(err, -EIO, "%s", sqlite3_errmsg(s->db));
	else
		code = 0;
	sqlite3_finalize(statement);
	return code;
}

#else
struct dumps_store *dumps_store_new(struct err *err)
{
	err_set(err, -ENOTSUP, "this build has no sqlite, which reads JSON");
	return NULL;
}

void dumps_store_look(struct dumps_store *s, const char *text, size_t size, struct store_facts *ret)
{
	*ret = (struct store_facts){0};
}

int dumps_store_flight(struct dumps_store *s, const char *text, size_t size, const char *file, uint64_t rank,
		       uint64_t *ret_damaged, struct err *err)
{
	return err_set(err, -ENOTSUP, "this build has no sqlite, which reads JSON");
}

bool dumps_store_inspector(struct dumps_store *s, const char *text, size_t size)
{
	return false;
}

bool dumps_store_find(struct dumps_store *s, const uint64_t *rank, struct buffer *file, struct buffer *version)
{
	return false;
}

int dumps_store_select(struct dumps_store *s, const char *sql, struct table *table, struct err *err)
{
	return err_set(err, -ENOTSUP, "this build has no sqlite, which reads JSON");
}
#endif
