/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of Nsight Systems' SQLite export, schema 3.0, and inserting rows into them. A table is created with its
 * first row: `nsys stats` skips reports whose tables do not exist. */
#ifndef PILLION_NSYS_TABLES_H
#define PILLION_NSYS_TABLES_H

#include <sqlite3.h>

#include "report/base/aggregate.h"

enum nsys_table {
	NSYS_META,
	NSYS_STRINGS,
	NSYS_START_TIME,
	NSYS_ANALYSIS,
	NSYS_GPU,
	NSYS_PROCESSES,
	NSYS_THREADS,
	NSYS_OSRT,
	NSYS_OSRT_STACKS,
	NSYS_RUNTIME,
	NSYS_CUDA_STACKS,
	NSYS_SAMPLE,
	NSYS_SAMPLE_STACKS,
	NSYS_NVTX,
	NSYS_NVTX_DEVICE,
	NSYS_NVTX_STREAM,
	NSYS_CUBLAS,
	NSYS_CUDNN,
	NSYS_KERNEL,
	NSYS_MEMCPY,
	NSYS_MEMSET,
	NSYS_GRAPH,
	NSYS_GRAPH_NODE,
	NSYS_SYNC,
	NSYS_MEMORY,
	NSYS_MPI_RANKS,
	NSYS_MPI_P2P,
	NSYS_MPI_COLLECTIVE,
	NSYS_MPI_WAIT,
	NSYS_MPI_OTHER,
	NSYS_TABLES
};

/* Represents NULL among the values of a row. */
#define NSYS_NULL INT64_MIN

/* Rows inserted by one statement: nearly twice as fast as one by one. */
enum { NSYS_BATCH = 32 };

struct nsys_rows {
	sqlite3_stmt *one, *batch; /* insert one row, NSYS_BATCH rows */
	int64_t *waiting;          /* rows of the next batch */
	size_t count;              /* number of rows in it */
};

struct nsys {
	sqlite3 *db;
	struct nsys_rows tables[NSYS_TABLES];
	struct aggregate strings; /* rows are ids of StringIds, from 1 */
	int code;            /* of the first failure */
	char why[256];
};

int nsys_open(struct nsys *n, const char *path, struct err *err);

/* Ends the transaction. 0, or -EIO if anything failed since it was opened. */
int nsys_close(struct nsys *n, struct err *err);

/* The statement that inserts a row into a table, for binding values; NULL after a failure. Bindings of the previous
 * row remain. */
sqlite3_stmt *nsys_insert(struct nsys *n, enum nsys_table table);
void nsys_bind(sqlite3_stmt *insert, int first_column, const int64_t *values, size_t count);
void nsys_step(struct nsys *n, sqlite3_stmt *insert);

/* Adds a row of numbers; the remaining columns are NULL. It may be inserted later than rows by nsys_step. */
void nsys_row(struct nsys *n, enum nsys_table table, const int64_t *values, size_t count);

/* The id of a text in StringIds. The text is made safe for a terminal. */
int64_t nsys_string(struct nsys *n, const char *text);
void nsys_bind_text(sqlite3_stmt *insert, int column, const char *text);

#endif
