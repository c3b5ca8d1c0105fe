/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of Nsight Systems' SQLite export: what a table is called and which columns it has. They were taken from a
 * file of nsys 2026.2, schema 3.25, and where that has none, from files of 2022.4, whose columns all exist. */
#pragma once

#include "report/base/util.h"

enum nsys_table {
	NSYS_EVENT_TYPES,
	NSYS_EVENT_CLASSES,
	NSYS_COPY_KINDS,
	NSYS_MEMORY_KINDS,
	NSYS_SYNC_TYPES,
	NSYS_SEVERITIES,
	NSYS_MEMORY_OPERATIONS,
	NSYS_MIGRATION_CAUSES,
	NSYS_LAUNCH_TYPES,
	NSYS_CACHE_CONFIGS,
	NSYS_SHARED_LIMITS,
	NSYS_STREAM_TYPES,
	NSYS_OVERHEAD_TYPES,
	NSYS_DIAGNOSTIC_SOURCES,
	NSYS_DIAGNOSTIC_TIMES,
	NSYS_THREAD_STATES,
	NSYS_META,
	NSYS_META_EXPORT,
	NSYS_META_CAPTURE,
	NSYS_STRINGS,
	NSYS_START_TIME,
	NSYS_SYSTEM,
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
	NSYS_PAYLOAD_SCHEMA,
	NSYS_PAYLOAD_ENTRY,
	NSYS_PAYLOAD_ENUM,
	NSYS_PAYLOAD_ENUM_ENTRY,
	NSYS_NVTX_DEVICE,
	NSYS_NVTX_STREAM,
	NSYS_STREAM,
	NSYS_CUBLAS,
	NSYS_CUDNN,
	NSYS_KERNEL,
	NSYS_MEMCPY,
	NSYS_MEMSET,
	NSYS_GRAPH,
	NSYS_GRAPH_NODE,
	NSYS_SYNC,
	NSYS_OVERHEAD,
	NSYS_DIAGNOSTIC,
	NSYS_MEMORY,
	NSYS_MPI_RANKS,
	NSYS_MPI_P2P,
	NSYS_MPI_COLLECTIVE,
	NSYS_MPI_WAIT,
	NSYS_MPI_OTHER,
	NSYS_COUNTER, /* this one and the next are our own */
	NSYS_COUNTER_VALUE,
	NSYS_TABLES
};

enum nsys_type { NSYS_INTEGER, NSYS_REAL, NSYS_TEXT };

struct nsys_column {
	const char *name;
	enum nsys_type type;
	bool is_required; /* NOT NULL */
};

enum { NSYS_COLUMNS = 48 }; /* a bound of nsys_schema.count */

struct nsys_schema {
	const char *name;
	const struct nsys_column *columns;
	size_t count;
	bool is_always; /* exists even if it has no rows; the others begin with their first row, because `nsys stats`
			 * skips reports whose tables do not exist */
	const char *key; /* names of the columns of the primary key, separated by commas; NULL: none */
};

extern const struct nsys_schema nsys_schemas[NSYS_TABLES];

/* By name, without regard to case as in SQL; NSYS_TABLES: there is none. */
enum nsys_table nsys_table_find(const char *name);

/* The table's name and its columns as in SQL's CREATE TABLE. */
void nsys_declare(const struct nsys_schema *schema, struct buffer *ret);
