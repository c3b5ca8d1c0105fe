/* SPDX-License-Identifier: Apache-2.0 */
/* Reports: each fills one table. report_list.h has the list; this header has what several of them need. */
#pragma once

#include "report/base/table/emit.h"
#include "report/events/nvtx/operator_text.h"
#include "report/events/scan.h"
#include "report/tables/report_list.h"

enum {
	REPORT_DEFAULT = 1, /* in the default set of `stats` */
	REPORT_BY = 2,	    /* takes --by */
	REPORT_HIDDEN = 4,  /* a part of `info`, not listed */
	REPORT_DEVICE = 8,  /* has device times: prints their source, takes --by device */
	REPORT_NAMES = 16,  /* takes the suffixes :base and :mangled */
	REPORT_RANGES = 128, /* and :nvtx-name */
	REPORT_ATTRIBUTED = 32, /* attributes device times to calls: states which of them are estimates */
	REPORT_DUMP = 256, /* of dumps, not of captures: in the default set where it has rows */
	REPORT_PEAK = 512, /* has shares of peak rates: states where these are from */
	REPORT_SUMS = 1024, /* reads the sums of --mode=profile, or needs no events */
	REPORT_SHARED = 64, /* reads events by scan_next_pass where scan_is_mine: stats --partial divides it */
};

struct report {
	const char *name, *alias, *title;
	unsigned int flags;
	/* Fills the table, or says by table_lacks why there is no data. */
	void (*run)(const struct report_context *context, struct table *table);
};

extern const struct report report_list[];
extern const size_t report_count;

/* False: it needs events, and the model has captures of --mode=profile. */
bool report_is_in(const struct report *report, const struct model *m);

/* The answer of all that needs events in a capture of --mode=profile. */
#define REPORT_NOT_IN_PROFILE "not recorded in profile mode"

/* Topics, and with what the names of their reports begin; the last one has the others. */
enum { REPORT_TOPICS = 9 };
extern const struct report_topic {
	const char *title, *names[8];
} report_topics[REPORT_TOPICS];

size_t report_topic(const struct report *report);

/* By name or alias; NULL: there is no such report. */
const struct report *report_find(const char *name);

#define REPORT_DECLARE(name, ...) void report_##name(const struct report_context *, struct table *);
REPORTS(REPORT_DECLARE)
#undef REPORT_DECLARE

/* report_line_profile.c: what --lines-of was asked for and could not record, and why. False: nothing. */
bool line_profile_lacks(const struct model *m, struct buffer *ret);

/* ---- aggregate_table.c ---- */

struct aggregate_shape {
	enum column_id total, count; /* e.g. COL_TOTAL_TIME_NS, COL_NUM_CALLS; the total is in ns or bytes */
	enum column_id names[8];     /* the fields of the key, terminated by COL_NONE */
	struct aggregate_more {
		enum column_id column;
		/* `number`: the field of the key after the named ones */
		void (*cell)(struct table *table, const struct aggregate_row *row, double number);
	} more[3]; /* additional columns after the names, terminated by COL_NONE */
	bool totals_only;	   /* omits median, minimum, maximum and deviation */
	bool has_percent;
};

/* A report that sums by a key: what it reads, and its columns. */
struct sum_report {
	struct aggregate_shape shape;
	uint32_t groups, args; /* see struct scan */
	/* Adds values to s->aggregate, as often as exact medians require. One of them: by event; by part of a thread,
	 * in several threads (scan_aggregate_parts); or all at once. */
	void (*visit)(struct scan *s, const struct event *);
	void (*read)(struct scan *s, struct cursor *);
	void (*pass)(struct scan *s);
	bool is_of_device; /* device_none is the answer if there are no rows */
};

/* data: s->more */
void report_sums(const struct report_context *c, struct table *table, const struct sum_report *report, void *data);

/* A report that needs nothing else: SUM_REPORT(osrt_sum, .shape = {...}, .groups = ...) */
#define SUM_REPORT(name, ...)                                                                                          \
	void report_##name(const struct report_context *c, struct table *table)                                        \
	{                                                                                                              \
		static const struct sum_report report = {__VA_ARGS__};                                                 \
                                                                                                                       \
		report_sums(c, table, &report, NULL);                                                                  \
	}

/* How many 10^9 bytes per second; empty if one of both is 0. */
void rate_cell(struct table *table, double bytes, uint64_t ns);

/* Cells of a sum whose rows have bytes as their report_value: the bytes, and how many of them a second of its time. */
void sum_bytes_cell(struct table *table, const struct aggregate_row *row, double number);
void sum_rate_cell(struct table *table, const struct aggregate_row *row, double number);

/* Four cells: median, minimum, maximum, deviation. */
void spread_cells(struct table *table, const struct aggregate_row *row);

/* Sorts the aggregate and fills the table with it. */
void aggregate_table(const struct report_context *context, struct aggregate *aggregate,
		     const struct aggregate_shape *shape, struct table *table);

/* The --by column, if there is one, and its cell. */
void by_column(const struct report_context *context, struct table *table);
void by_cell(const struct report_context *context, struct table *table, const char *text);
/* Its cell by a key that begins with it. Returns the number of the key's next field. */
size_t by_key_cell(const struct report_context *context, struct table *table, const struct aggregate_row *key);

/* report_nvtx_trace.c: columns for the numbers and sizes that PyTorch appends to an operator's name. */
void operator_columns(struct table *table);
void operator_cells(struct table *table, const struct operator_text *operator);

/* report_files.c: the report files without pipes and what else has no path. */
void file_paths_sum(const struct report_context *context, struct table *table);

/* report_gpu.c: cuda_gpu_kern_sum with graphs that were recorded as a whole beside the kernels. */
void gpu_work_sum(const struct report_context *context, struct table *table);

/* report_cuda.c: the bytes of a copy as the host call requested them. scan.more: by image, true: skip it. */
void host_copy_visit(struct scan *s, const struct event *e);

/* aggregate_table.c: of a table without rows of devices: whether they were not recorded, or there was nothing. */
void device_none(const struct model *m, struct table *table);

/* report_crashes.c: what the recorder wrote when a thread was about to end its process by a signal. */
struct crash {
	struct tf_crash what;
	const struct image *image;
	const struct trace_thread *thread; /* NULL: it has recorded nothing */
};
/* False: the process did not end so, or there was no record. */
bool crash_find(const struct model *m, const struct process *p, struct crash *ret);
/* Where a rank exited with the status that it has, or MPICH began to end the job. False: neither, or no record. */
bool exit_find(const struct model *m, const struct process *p, struct crash *ret);
/* Appends "exit 3 at job.c:7 check"; p NULL: a fatal error; line NULL: not known. */
void exit_print(const struct process *p, const struct code_line *line, struct buffer *out);
/* Appends "signal 11 (SIGSEGV, address 0x0)"; crash NULL: not known. */
void crash_signal(int signal, const struct crash *crash, struct buffer *ret);
