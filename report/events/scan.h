/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the events of a model for a report. Rows are grouped and named as the options require. */
#pragma once

#include "report/base/share.h"
#include "report/base/table/aggregate.h"
#include "report/names/symbol.h"
#include "report/read/merge.h"

enum by { BY_NOTHING, BY_PROCESS, BY_RANK, BY_HOST, BY_THREAD, BY_DEVICE, BY_RANGE, BY_COUNT };
extern const char *const by_names[BY_COUNT];

/* Forms of a kernel's name: "void add<float>(float*, int)", "add", "_Z3addIfEvPT_i". */
enum kernel_name { KERNEL_DEMANGLED, KERNEL_BASE, KERNEL_MANGLED };

/* How pytorch_sum groups operators besides their names; the words of torch where it has them. */
enum operator_group { GROUP_SHAPE, GROUP_NAME, GROUP_STACK, GROUP_LINE, GROUP_MODULE, GROUP_PHASE, GROUP_COUNT };
enum row_sort {
	SORT_DEFAULT,
	SORT_CPU_TIME,
	SORT_CUDA_TIME,
	SORT_CPU_TIME_TOTAL,
	SORT_CUDA_TIME_TOTAL,
	SORT_SELF_CPU_TIME_TOTAL,
	SORT_SELF_CUDA_TIME_TOTAL,
	SORT_CUDA_MEMORY_USAGE,
	SORT_CPU_MEMORY_USAGE,
	SORT_SELF_CPU_MEMORY_USAGE,
	SORT_SELF_CUDA_MEMORY_USAGE,
	SORT_FLOPS,
	SORT_COUNT,
	SORT_CUMULATIVE, /* of python_import_sum only, as the next */
	SORT_TREE,
	SORTS
};

struct report_context {
	const struct model *model;
	enum by by;
	struct symbols *symbols;
	enum kernel_name kernel_name;
	bool kernel_ranges; /* the name of the innermost NVTX range of its launch is a part of a kernel's name */
	bool totals_only;   /* medians are not needed */
	bool has_asides;    /* a terminal leaves rows out: see table_aside() */
	bool lines_all;     /* see lines.h */
	bool is_inclusive;  /* likewise: the times with callees are needed */
	enum operator_group group;
	uint32_t group_depth; /* of GROUP_STACK: frames */
	enum row_sort sort;
	const struct texts *source_roots; /* the text of a source is shown only below these, and if it is as recorded;
					   * NULL: any */
	const char *source; /* see source.h; NULL: not requested */
	const struct dumps *dumps; /* files of other tools; NULL: none. See report/read/dumps/dumps.h */
	struct share *share; /* each reads the events of a part of the traces; NULL: this process reads all of them */
	size_t records_held; /* device records and calls held in memory at a time; 0: 2^20 */
};

static inline size_t scan_records_held(const struct report_context *c)
{
	return c->records_held ? c->records_held : 1u << 20;
}

struct scan {
	const struct report_context *context;
	const struct image *image;
	const struct trace_thread *thread;
	const struct clock_map *clock;
	struct aggregate *aggregate;
	/* name and number of the device: with --by device a key of a device record ends with them */
	struct buffer device;
	/* bits of enum tf_arg_kind: threads that have none of them are skipped; 0: no thread is skipped */
	uint32_t args;
	uint32_t groups; /* likewise bits of enum tf_group: threads without such calls are skipped */
	uint32_t kinds;	 /* likewise bits of enum tf_kind */
	uint32_t call_args; /* see struct cursor: calls without any of these are not visited */
	bool (*code)(const char *file); /* images without Python code of such a file are skipped; NULL: none is */
	bool is_unfiltered; /* all device records, whatever the filter is */
	/* for device_scan_image and _calls */
	const uint8_t *chunks; /* by trace.chunks: which are read; NULL: all */
	size_t chunk;		/* that holds the record */
	void *more;    /* private to the report */
};

/* Does this process read the events of the image? With stats --partial, another one may. */
bool scan_is_mine(const struct report_context *c, const struct image *image);

/* aggregate_next_pass, for what all parts have added. In the end part 0 has the whole. */
bool scan_next_pass(const struct report_context *c, struct aggregate *aggregate);

/* Calls visit for each event of each thread of s->image that passes the filter. */
void scan_image(struct scan *s, void (*visit)(struct scan *, const struct event *));

/* Likewise for each image that is this process's to read. */
void scan_events(struct scan *s, void (*visit)(struct scan *, const struct event *));

/* Reads the events as often as exact medians require. */
void scan_aggregate(struct scan *s, void (*visit)(struct scan *, const struct event *));

/* Likewise in several threads at a time. Each has a copy of *s with an aggregate of its own, and calls `read` with
 * cursors that each return a part of a thread's events: payloads are not found in them. `read` and the keys of its
 * rows must not change anything but *s. */
void scan_aggregate_parts(struct scan *s, void (*read)(struct scan *, struct cursor *));

/* The part of a key that separates rows of one image: with --by range the capture range of an event that began at
 * that tick, with --by thread the number of the thread; else 0. */
uint32_t scan_range(const struct scan *s, uint64_t start_ticks);

/* Appends the field of the --by column to a key; appends nothing without --by. */
void scan_group(const struct scan *s, uint32_t range, struct buffer *key);

/* Completes a key and returns its row. Two processes with the same pid have separate rows. */
uint32_t scan_row(const struct scan *s, struct buffer *key);

/* Both steps for most reports: the row of something that began at that tick. `key` appends the fields; it is called
 * once for each `what` of an image and group, and returns false for what the report does not cover: then the row is
 * SCAN_NO_ROW. */
enum { SCAN_NO_ROW = UINT32_MAX };
typedef bool scan_key(struct scan *s, const void *of, struct buffer *fields);
uint32_t scan_row_of(struct scan *s, uint64_t start_ticks, uint64_t what, scan_key *key, const void *of);

/* A call, or the sum of calls of --mode=profile. */
static inline bool scan_is_call(const struct event *e)
{
	return e->kind == TF_CALL || (e->kind == TF_SUM && !(e->text & (TF_SUM_IS_SAMPLE | TF_SUM_IS_SHORT)));
}

/* Adds the time of a call, or of those of a sum. */
void scan_add_to(struct scan *s, const struct event *e, uint32_t row);

/* Likewise, to its row. */
void scan_add_call(struct scan *s, const struct event *e, uint64_t what, scan_key *key, const void *of);

/* Appends the name of a struct function to a key. */
bool scan_name_key(struct scan *s, const void *function, struct buffer *fields);
