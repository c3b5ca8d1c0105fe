/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a query as SQLite sees them: nsys's tables and all reports, by their names. Nothing is written into a
 * database: SQLite asks for rows. Constraints on an integer column (a time, an id) and an order by one are answered
 * from the sorted column. */
#pragma once

#include <sqlite3.h>

#include "report/base/sql_bounds.h"
#include "report/query/query_store.h"

/* Makes the tables available in a connection, and permits nothing but reading. The store is borrowed until the
 * connection is closed. 0 or SQLite's error. */
int query_tables_add(sqlite3 *db, struct store *store);

/* Appends a line for each table. */
void query_tables_list(struct buffer *ret);

/* Appends how the table was declared. False: there is none of that name. */
bool query_table_declare(struct store *store, const char *name, struct buffer *ret);
