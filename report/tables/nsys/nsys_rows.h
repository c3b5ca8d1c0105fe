/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that nsys's tables would have for the same run, for any consumer: a database, files, a query. Times are in
 * ns since the start of the capture. */
#pragma once

#include "report/base/table/aggregate.h"
#include "report/events/scan.h"
#include "report/tables/nsys/nsys_tables.h"

/* NULL among the values of a row. */
#define NSYS_NULL INT64_MIN

/* A value is an int64_t; one of a text column is the address of the text, one of a real column the bits of the
 * double. */
static inline int64_t nsys_text(const char *text)
{
	return text ? (int64_t)(intptr_t)text : NSYS_NULL;
}

static inline const char *nsys_text_of(int64_t value)
{
	return value == NSYS_NULL ? NULL : (const char *)(intptr_t)value;
}

static inline int64_t nsys_real(double real)
{
	int64_t ret;

	__builtin_memcpy(&ret, &real, sizeof(ret));
	return real != real ? NSYS_NULL : ret; /* as in SQL, where no number is NULL */
}

static inline double nsys_real_of(int64_t value)
{
	double ret;

	__builtin_memcpy(&ret, &value, sizeof(ret));
	return ret;
}

/* Who takes the rows. `begin` comes once for each table, before its first row. `row` has a value for each column of
 * the table; texts are safe for a terminal, and valid until it returns. Either may set `failed` to an error of its own;
 * then no more rows come. */
struct nsys_output {
	void (*begin)(struct nsys_output *o, enum nsys_table table);
	void (*row)(struct nsys_output *o, enum nsys_table table, const int64_t *values);
	uint64_t tables;  /* bits: the tables that are wanted */
	bool all_strings; /* StringIds has the texts of tables that are not wanted, too */
	int failed;
};

#define NSYS_ALL_TABLES (((uint64_t)1 << NSYS_TABLES) - 1)
_Static_assert(NSYS_TABLES < 64, "sets of tables are uint64_t");

/* Makes the rows. `strings` has the texts of StringIds, the id of a row is its number + 1; it may have texts already,
 * whose ids remain. StringIds has at least those that the rows of wanted tables refer to. All other ids do not depend
 * on what is wanted. Returns o->failed. */
int nsys_rows(const struct report_context *context, struct aggregate *strings, struct nsys_output *o);
