/* SPDX-License-Identifier: Apache-2.0 */
/* SQL over the tables in memory: what SQLite finds by an order of ours, and what it reads of reports. */
#include "report/query/query_table.h"
#include "rule_fixture.h"

static struct store store;
static sqlite3 *db;

/* Four OS calls of one thread: at 1, 5, 10 and 20 ms; they last 2, 1, 4 and 1 ms. */
static void begin_query(void)
{
	setup();
	call(f_read, 1 * MS, 2 * MS, tf_arg(TF_ARG_FD, 0, 3 | 4096 << 16));
	call(f_write, 5 * MS, 1 * MS, tf_arg(TF_ARG_FD, 0, 4 | 512 << 16));
	call(f_read, 10 * MS, 4 * MS, tf_arg(TF_ARG_FD, 0, 3 | 8192 << 16));
	call(f_poll, 20 * MS, 1 * MS, 0);
	open_model(30 * MS);
	store_open(&store, &context);
	cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
	cr_assert_eq(query_tables_add(db, &store), SQLITE_OK);
}

static void end_query(void)
{
	sqlite3_close(db);
	teardown();
}

TestSuite(query, .init = begin_query, .fini = end_query);

/* The values of a statement with "|" between columns and "; " between rows; or its error. Valid until the next call. */
static const char *answer(const char *sql)
{
	static char text[4096];
	sqlite3_stmt *statement;
	size_t used = 0;
	int code;

	text[0] = 0;
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL))
		return sqlite3_errmsg(db);
	while ((code = sqlite3_step(statement)) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const char *value = (const char *)sqlite3_column_text(statement, i);

			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 i ? "|" : used ? "; " : "", value ? value : "NULL");
			cr_assert_lt(used, sizeof(text));
		}
	cr_assert_eq(code, SQLITE_DONE, "%s", sqlite3_errmsg(db));
	sqlite3_finalize(statement);
	return text;
}

#define EXPECT_ANSWER(sql, wanted)                                                         \
	do {                                                                               \
		const char *answer_text = answer(sql);                                     \
                                                                                           \
		cr_expect_str_eq(answer_text, wanted, "%s: %s", sql, answer_text);         \
	} while (0)

/* Whether the plan of a statement says so. */
static bool plans(const char *sql, const char *words)
{
	char explain[512];

	snprintf(explain, sizeof(explain), "EXPLAIN QUERY PLAN %s", sql);
	return strstr(answer(explain), words);
}

Test(query, rows_are_those_of_the_export)
{
	EXPECT_ANSWER("SELECT start, \"end\" FROM OSRT_API",
		      "1000000|3000000; 5000000|6000000; 10000000|14000000; 20000000|21000000");
	EXPECT_ANSWER("SELECT value, returnValue, nestingLevel FROM OSRT_API JOIN StringIds ON nameId = id "
		      "ORDER BY start",
		      "read|4096|NULL; write|512|NULL; read|8192|NULL; poll|0|NULL");
	EXPECT_ANSWER("SELECT count(*) FROM OSRT_API", "4");
	EXPECT_ANSWER("SELECT rowid FROM OSRT_API", "1; 2; 3; 4");
	EXPECT_ANSWER("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY", "0");
}

/* By the sorted column, in which SQLite searches less, and without it: the results are the same. */
Test(query, bounds_select_rows)
{
	static const char *const cases[][2] = {
		{"start = 5000000", "5000000"},
		{"start = 5000001", ""},
		{"start >= 5000000", "5000000; 10000000; 20000000"},
		{"start > 5000000", "10000000; 20000000"},
		{"start <= 5000000", "1000000; 5000000"},
		{"start < 5000000", "1000000"},
		{"start BETWEEN 2000000 AND 10000000", "5000000; 10000000"},
		{"start > 1000000 AND start < 20000000", "5000000; 10000000"},
		{"start > 20000000", ""},
		{"start < 1000000", ""},
		{"start < 5000000.5", "1000000; 5000000"},
		{"start > 4999999.5", "5000000; 10000000; 20000000"},
		{"start = 5000000.5", ""},
		{"start < 1e300", "1000000; 5000000; 10000000; 20000000"},
		{"start > -1e300", "1000000; 5000000; 10000000; 20000000"},
		{"start > 1e300", ""},
		{"start = NULL", ""},
		{"start > NULL", ""},
		{"start < 'x'", "1000000; 5000000; 10000000; 20000000"},
		{"start > 'x'", ""},
		{"start >= 5000000 AND \"end\" < 20000000", "5000000; 10000000"},
		{"start IN (1000000, 20000000, 7)", "1000000; 20000000"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char sql[256];

		snprintf(sql, sizeof(sql), "SELECT start FROM OSRT_API WHERE %s", cases[i][0]);
		EXPECT_ANSWER(sql, cases[i][1]);
	}
}

Test(query, rows_in_order_need_no_sort)
{
	EXPECT_ANSWER("SELECT \"end\" FROM OSRT_API ORDER BY \"end\" DESC", "21000000; 14000000; 6000000; 3000000");
	EXPECT_ANSWER("SELECT start FROM OSRT_API WHERE start > 1000000 ORDER BY start DESC",
		      "20000000; 10000000; 5000000");
	EXPECT_ANSWER("SELECT start FROM OSRT_API WHERE start <= 10000000 ORDER BY start",
		      "1000000; 5000000; 10000000");
	EXPECT_ANSWER("SELECT returnValue FROM OSRT_API ORDER BY returnValue", "0; 512; 4096; 8192");
	EXPECT_ANSWER("SELECT \"end\" - start FROM OSRT_API ORDER BY \"end\" - start DESC",
		      "4000000; 2000000; 1000000; 1000000");
	cr_expect_not(plans("SELECT start FROM OSRT_API ORDER BY start DESC", "TEMP B-TREE"));
	cr_expect_not(plans("SELECT start FROM OSRT_API WHERE start > 7 ORDER BY start", "TEMP B-TREE"));
	cr_expect(plans("SELECT start FROM OSRT_API WHERE start > 7 ORDER BY \"end\"", "TEMP B-TREE"));
	cr_expect(plans("SELECT start FROM OSRT_API ORDER BY start, \"end\"", "TEMP B-TREE"));
	cr_expect(plans("SELECT Name FROM osrt_sum ORDER BY \"Total Time (ns)\"", "TEMP B-TREE"));
}

/* Of each byte of a value, and of its sign. */
Test(query, numbers_have_the_order_of_their_values)
{
	static const int64_t values[] = {300, -1, INT64_MIN, 0, 255, 256, -256, 70000, INT64_MAX, 1ll << 40, 1, 300};
	const size_t count = sizeof(values) / sizeof(*values);
	struct stored *t = &store.tables[NSYS_OSRT];
	const uint32_t *order;

	store_want(&store, NSYS_OSRT, 0);
	t->columns[0] = mem_alloc(sizeof(values));
	memcpy(t->columns[0], values, sizeof(values));
	t->rows = count;
	order = store_order(&store, NSYS_OSRT, 0);
	for (size_t i = 1; i < count; i++)
		cr_expect(values[order[i - 1]] < values[order[i]] ||
			  (values[order[i - 1]] == values[order[i]] && order[i - 1] < order[i]), "place %zu", i);
	cr_expect(order[0] == 2 && order[count - 1] == 8);
}

Test(query, keys_and_texts)
{
	EXPECT_ANSWER("SELECT value FROM StringIds WHERE id = (SELECT nameId FROM OSRT_API WHERE start = 5000000)",
		      "write");
	EXPECT_ANSWER("SELECT count(*) FROM StringIds WHERE id = 0 OR id = 100000", "0");
	EXPECT_ANSWER("SELECT id = (SELECT nameId FROM OSRT_API WHERE start = 20000000) FROM StringIds "
		      "WHERE value = 'poll'", "1");
}

/* A statement that reads more columns of a table than those before it. */
Test(query, a_table_is_made_again_with_more_columns)
{
	EXPECT_ANSWER("SELECT start FROM OSRT_API WHERE start = 1000000", "1000000");
	EXPECT_ANSWER("SELECT \"end\" FROM OSRT_API WHERE start = 1000000", "3000000");
	EXPECT_ANSWER("SELECT start, returnValue FROM OSRT_API ORDER BY \"end\" DESC LIMIT 1", "20000000|0");
}

Test(query, reports_are_tables)
{
	EXPECT_ANSWER("SELECT Name, \"Num Calls\", \"Total Time (ns)\", \"Avg (ns)\" FROM osrt_sum ORDER BY Name",
		      "poll|1|1000000|1000000.0; read|2|6000000|3000000.0; write|1|1000000|1000000.0");
	EXPECT_ANSWER("SELECT Name FROM osrt_sum WHERE \"Num Calls\" = 2", "read");
	EXPECT_ANSWER("SELECT count(*) FROM mpi_sum", "0");
	EXPECT_ANSWER("SELECT pid, PPID, Ended, \"Duration (ns)\" FROM processes", "10|1|exit 0|30000000");
}

Test(query, nothing_is_written)
{
	static const char *const statements[] = {
		"INSERT INTO OSRT_API(start) VALUES(1)", "CREATE TABLE t(a)", "DELETE FROM OSRT_API",
		"ATTACH 'x' AS x", "PRAGMA page_size", "SELECT load_extension('x')",
	};

	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
		sqlite3_stmt *statement = NULL;

		cr_expect_neq(sqlite3_prepare_v2(db, statements[i], -1, &statement, NULL), SQLITE_OK, "%s",
			      statements[i]);
		sqlite3_finalize(statement);
	}
}

static const char *declaration(const char *table)
{
	static struct buffer text;

	buffer_clear(&text);
	return query_table_declare(&store, table, &text) ? buffer_string(&text) : "(none)";
}

Test(query, declarations)
{
	cr_expect_str_eq(declaration("OSRT_API"),
			 "OSRT_API(start INTEGER NOT NULL,end INTEGER NOT NULL,eventClass INTEGER NOT NULL,"
			 "globalTid INTEGER,nameId INTEGER NOT NULL,returnValue INTEGER NOT NULL,nestingLevel INTEGER,"
			 "callchainId INTEGER NOT NULL)");
	cr_expect_str_eq(declaration("nothing_of_this_name"), "(none)");
	cr_expect_str_eq(declaration("osrt_sum"),
			 "osrt_sum(\"Time (%)\" REAL,\"Total Time (ns)\" INTEGER,\"Num Calls\" INTEGER,"
			 "\"Avg (ns)\" REAL,\"Med (ns)\" REAL,\"Min (ns)\" INTEGER,\"Max (ns)\" INTEGER,"
			 "\"StdDev (ns)\" REAL,\"Name\" TEXT)");
	cr_expect(text_begins_with(declaration("PROCESSES"),
				   "PROCESSES(globalPid INTEGER,pid INTEGER,name TEXT,\"PPID\" INTEGER,\"Host\" TEXT"),
		  "those of nsys, then what the report `processes` adds: %s", declaration("PROCESSES"));
}

Test(query, each_table_is_listed_once)
{
	SCOPED(buffer) list = {0};

	query_tables_list(&list);
	cr_expect_not_null(strstr(list.data, "OSRT_API\n"));
	cr_expect_not_null(strstr(list.data, "\nosrt_sum\n"));
	cr_expect_not_null(strstr(list.data, "\nPROCESSES\n"));
	cr_expect_null(strstr(list.data, "\nprocesses\n"), "it is nsys's table with more columns");
}
