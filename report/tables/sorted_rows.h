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

/* The first member of a row that is of an event of a thread. */
struct sorted_event {
	struct sorted_row sorted; /* by start; of one time by image, then by thread */
	uint64_t duration_ns;
	const struct image *image;
	const struct trace_thread *thread;
};

/* For scan.more: a new row of that event. */
void *sorted_rows_add_event(struct scan *s, const struct event *e);

void report_rows(const struct report_context *c, struct table *table, const struct row_report *report, void *data);
