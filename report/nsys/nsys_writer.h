/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of nsys_rows. */
#ifndef PILLION_NSYS_WRITER_H
#define PILLION_NSYS_WRITER_H

#include "report/derive/device/correlate.h"
#include "report/derive/nvtx/nvtx_define.h"
#include "report/derive/time/profile.h"
#include "report/nsys/nsys_rows.h"

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

struct known_operation {
	struct tf_device_operation operation;
	int64_t names[3]; /* by enum kernel_name: ids in StringIds */
};

struct nsys_writer {
	struct nsys_output *output;
	struct aggregate *strings;
	uint64_t begun;			/* bits: tables that exist */
	uint64_t with_texts;		/* bits: tables with text columns */
	struct buffer safe[NSYS_TEXTS]; /* texts of the row */
	const struct report_context *context;
	const struct model *model;
	const struct image *image;
	const struct clock_map *clock;
	int64_t global_pid, global_tid;
	int64_t *functions; /* of the image: id in StringIds, 0: not looked up yet */
	struct map texts;   /* of the image: string -> id in StringIds */
	struct map stacks;  /* of the image: (stack, table) -> call chain */
	struct known_operation *operations; /* of the image */
	size_t operation_count, operation_capacity;
	struct map works_by_id;
	struct map thread_names, devices;
	struct map mpi_threads;	     /* global ids of those that have a row in MPI_RANKS */
	bool has_device_records;     /* of the image */
	struct correlation_ids ids;  /* likewise */
	struct nvtx_definitions nvtx; /* likewise */
	struct symbol_frame *frames;
	uint64_t origin_ns;
	struct map sources; /* (process, source of its correlation ids) -> its number in the capture */
	int64_t next_chain, next_sample, correlation;
	int64_t image_number; /* of its process, from 0 */
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
void nsys_mpi_call(struct nsys_writer *w, const struct event *e, const struct function *f, int64_t start, int64_t end,
		   int64_t name);

/* Adds the device records of the writer's image, and the NVTX names of its streams. */
void nsys_device_events(struct nsys_writer *w);

/* The correlation number of a process as one that is unique in the capture, because nsys's rules join by it alone. */
int64_t nsys_correlation(struct nsys_writer *w, uint64_t number);

/* Adds a row for a device if this image is the first one to name it. */
void nsys_device(struct nsys_writer *w, const struct blob *name);

/* Adds the ranges, marks, domains, categories and device names of the writer's image. */
void nsys_nvtx_ranges(struct nsys_writer *w);
void nsys_nvtx_mark(struct nsys_writer *w, const struct event *e);
void nsys_nvtx_names(struct nsys_writer *w);

/* Of the writer's image. */
int64_t nsys_time(const struct nsys_writer *w, uint64_t ticks);
int64_t nsys_text_id(struct nsys_writer *w, uint32_t string);
int64_t nsys_thread(const struct nsys_writer *w, uint32_t tid);

#endif
