/* SPDX-License-Identifier: Apache-2.0 */
/* Reports with a row for each event: rows are collected in any order, sorted in files if there are many, and written
 * in order. */
#pragma once

#include "report/base/external_sort.h"
#include "report/tables/report.h"

/* The first member of a report's own row. */
struct sorted_row {
	uint64_t key[3]; /* rows are in ascending order of it; equal ones in the order in which they were added */
};

struct sorted_rows {
	const struct report_context *context;
	struct table *table;
	void *data; /* private to the report */
	struct external_sort sort;
};

struct row_report {
	enum column_id columns[24];
	size_t row_bytes;
	void (*collect)(struct sorted_rows *); /* calls sorted_rows_add; may add columns */
	void (*cells)(struct sorted_rows *, const void *row, struct table *);
};

/* A new row, zeroed but for its key. Borrowed until the next call. */
void *sorted_rows_add(struct sorted_rows *rows, uint64_t first, uint64_t second, uint64_t third);

/* For scan.more: the key of an event of a thread that starts then: events of one time are in the order of the images,
 * then of the threads. */
void *sorted_rows_add_event(struct scan *s, uint64_t start_ns);

void report_rows(const struct report_context *c, struct table *table, const struct row_report *report, void *data);
