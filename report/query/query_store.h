/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a query in memory: nsys's tables, by column, and reports. A table is made when a statement needs it
 * first, and only with the columns that it needs. */
#pragma once

#include "report/tables/nsys/nsys_rows.h"
#include "report/tables/report.h"

/* The rows of one of nsys's tables. */
struct stored {
	uint64_t wanted, loaded; /* bits: columns that statements read, and that are here */
	bool is_loaded;
	size_t rows, capacity;
	int64_t *columns[NSYS_COLUMNS];	 /* as in nsys_rows.h; a text is the number of a row of `texts` */
	uint32_t *orders[NSYS_COLUMNS];	 /* the rows by the values of a column; NULL: not needed so far */
};

struct store {
	struct report_context context;
	struct nsys_output output;
	struct aggregate strings; /* StringIds */
	struct aggregate texts;	  /* of text columns */
	struct stored tables[NSYS_TABLES];
	bool has_all_strings;
	bool is_declaring; /* SQLite executes the declaration of a table, not a statement of the user */
	struct table **reports; /* by place in report_list; NULL: not made yet */
};

void store_open(struct store *s, const struct report_context *context);

/* A statement reads a column; column < 0: no value, but the number of rows. */
void store_want(struct store *s, enum nsys_table table, int column);

/* Makes the table, together with all others that are wanted. StringIds has the texts that these tables refer to;
 * with is_whole, all that any table refers to. Valid until the next store_want. */
const struct stored *store_table(struct store *s, enum nsys_table table, bool is_whole);

/* The rows in ascending order of an integer column that was wanted. NULL is the least. */
const uint32_t *store_order(struct store *s, enum nsys_table table, int column);

/* A value of a text column that is not NULL. */
const char *store_text(const struct store *s, int64_t value, size_t *ret_size);

/* The table of a report; a report without data has no rows. Owned by the store. */
const struct table *store_report(struct store *s, size_t place);
