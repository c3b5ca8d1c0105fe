/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of export_sqlite. */
#ifndef PILLION_EXPORT_SQLITE_H
#define PILLION_EXPORT_SQLITE_H

#include "report/derive/device/correlate.h"
#include "report/export/export.h"
#include "report/export/nsys_tables.h"
#include "report/derive/nvtx/nvtx_define.h"

struct known_operation {
	struct tf_device_operation operation;
	int64_t names[3]; /* by enum kernel_name: ids in StringIds */
};

struct sqlite_writer {
	struct nsys nsys;
	struct export *x;
	const struct model *model;
	const struct image *image;
	const struct clock_map *clock;
	int64_t global_pid, global_tid;
	int64_t *functions;       /* of the image: id in StringIds, 0: not looked up yet */
	struct map texts;         /* of the image: string -> id in StringIds */
	struct map stacks;        /* of the image: (stack, table) -> call chain */
	struct known_operation *operations; /* of the image */
	size_t operation_count, operation_capacity;
	struct map works_by_id;
	struct map thread_names, devices;
	struct map mpi_threads; /* global ids of those that have a row in MPI_RANKS */
	bool has_device_records; /* of the image */
	struct correlation_ids ids; /* likewise */
	struct nvtx_definitions nvtx; /* likewise */
	struct symbol_frame *frames;
	uint64_t origin_ns;
	struct map sources; /* (process, source of its correlation ids) -> its number in the capture */
	int64_t next_chain, next_sample, correlation, first_domain;
};

/* Adds a row for an MPI call. */
void sqlite_mpi_call(struct sqlite_writer *w, const struct event *e, const struct function *f, int64_t start,
		     int64_t end, int64_t name);

/* Adds the device records of the writer's image, and the NVTX names of its streams. */
void sqlite_device_events(struct sqlite_writer *w);

/* The correlation number of a process as one that is unique in the capture, because nsys's rules join by it alone. */
int64_t sqlite_correlation(struct sqlite_writer *w, uint64_t number);

/* Adds a row for a device if this image is the first one to name it. */
void sqlite_device(struct sqlite_writer *w, const struct blob *name);

#endif
