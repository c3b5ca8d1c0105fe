/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds for SQL of which the statement or the database is not ours: time, size of values, and no code or file besides
 * the database. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct sql_bounds {
	uint32_t seconds; /* 0: any */
	uint64_t end_ns;  /* CLOCK_MONOTONIC */
	bool has_expired; /* why a statement failed with SQLITE_INTERRUPT */
};

/* Sets the bounds of a connection, which borrows *b until it is closed. `memory`: bytes that SQLite may allocate; 0:
 * any. Views and triggers of a database are not executed. */
void sql_bound(sqlite3 *db, struct sql_bounds *b, uint32_t seconds, int64_t memory);

/* The time begins, or begins anew; it ends. A function of SQLite that takes a second longer ends the process. */
void sql_bound_restart(struct sql_bounds *b);
void sql_bound_end(const struct sql_bounds *b);

/* Whether a statement may not call this function: it loads code, or takes and returns addresses. */
bool sql_refuses(const char *function);
