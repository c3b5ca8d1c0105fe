/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of nsys_rows. */
#pragma once

#include "report/tables/nsys/nsys_rows.h"
#include "report/time/profile.h"
#include "report/time/timeline/timeline.h"

/* Numbers of nsys, which nsys_constants names: the column eventClass, and those of DIAGNOSTIC_EVENT. */
enum {
	NSYS_CLASS_RUNTIME = 0,
	NSYS_CLASS_DRIVER = 1,
	NSYS_CLASS_OSRT = 27,
	NSYS_CLASS_CUDNN = 28,
	NSYS_CLASS_CUBLAS = 29,
	NSYS_CLASS_GRAPH_NODE = 77,
};
enum { NSYS_SEVERITY_INFO = 1, NSYS_SEVERITY_WARNING = 2, NSYS_SOURCE_ANALYSIS = 3, NSYS_TIMESTAMP_TARGET = 1 };

enum { NSYS_TEXTS = 4 }; /* text columns of a table at most */

struct nsys_operation {
	struct tf_device_operation operation;
	int64_t names[3]; /* by enum kernel_name: ids in StringIds */
};

/* The slots of functions, texts of NVTX and device operations have their ids in StringIds, and the places in
 * `operations` + 1. */
struct nsys_writer {
	struct nsys_output *output;
	struct timeline timeline;
	struct aggregate *strings;
	uint64_t begun;			/* bits: tables that exist */
	uint64_t with_texts;		/* bits: tables with text columns */
	struct buffer safe[NSYS_TEXTS]; /* texts of the row */
	const struct report_context *context;
	const struct model *model;
	uint64_t origin_ns;
	struct symbol_frame *frames;
	struct map thread_names, devices;
	struct map mpi_threads;	/* global ids of those that have a row in MPI_RANKS */
	struct map sources;	/* (process, source of its correlation ids) -> its number in the capture */
	int64_t next_chain, next_sample, correlation;
	/* of the program that is visited */
	const struct image *image;
	int64_t image_number; /* of its process, from 0 */
	int64_t global_pid, global_tid;
	struct map stacks; /* (stack, table) -> call chain */
	struct nsys_operation *operations;
	size_t operation_count, operation_capacity;
};

/* Whether rows of one of these tables are wanted; 1 << NSYS_OSRT and so on. */
static inline bool nsys_wants(const struct nsys_writer *w, uint64_t tables)
{
	return w->output->tables & tables;
}

#define NSYS_BIT(table) ((uint64_t)1 << (table))

/* Creates a table that has no row yet. */
void nsys_begin(struct nsys_writer *w, enum nsys_table table);

/* Adds a row; the remaining columns are NULL. */
void nsys_row(struct nsys_writer *w, enum nsys_table table, const int64_t *values, size_t count);

/* The id of a text in StringIds. */
int64_t nsys_string(struct nsys_writer *w, const char *text);

/* Adds the rows that are the same for every capture. */
void nsys_constants(struct nsys_writer *w);

/* Adds a row for an MPI call. */
void nsys_mpi_call(struct nsys_writer *w, const struct timeline_event *e);

/* Adds a row for a device operation, for another activity, and what follows all of them: the streams. */
void nsys_operation(struct nsys_writer *w, const struct timeline_event *e);
void nsys_activity(struct nsys_writer *w, const struct timeline_event *e);
void nsys_streams(struct nsys_writer *w);

/* The correlation number of a process as one that is unique in the capture, because nsys's rules join by it alone. */
int64_t nsys_correlation(struct nsys_writer *w, uint64_t number);

/* Adds a row for a device if this image is the first one to name it. */
void nsys_device(struct nsys_writer *w, const struct blob *name);

/* Adds a row for a range or a mark, and the rows of domains, categories and device names. */
void nsys_nvtx_event(struct nsys_writer *w, const struct timeline_event *e);
void nsys_nvtx_names(struct nsys_writer *w);

/* A common time in ns since the start of the capture. */
static inline int64_t nsys_time(const struct nsys_writer *w, uint64_t ns)
{
	return (int64_t)(ns - w->origin_ns);
}

/* The id in StringIds of the name of a function, or of a text of NVTX. */
int64_t nsys_text_id(struct nsys_writer *w, enum timeline_text kind, uint32_t number);
int64_t nsys_thread(const struct nsys_writer *w, uint32_t tid);
