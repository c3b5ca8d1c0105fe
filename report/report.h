/* SPDX-License-Identifier: Apache-2.0 */
/* Reports: each is one table. The list is in report_list.h; what several of them need is here. */
#ifndef PILLION_REPORT_H
#define PILLION_REPORT_H

#include "emit.h"
#include "merge.h"
#include "report_list.h"
#include "sums.h"
#include "symbol.h"

enum by { BY_NOTHING, BY_PROCESS, BY_RANK, BY_HOST, BY_THREAD, BY_DEVICE, BY_RANGE, BY_COUNT };
extern const char *const by_names[BY_COUNT];

/* How kernels are named: "void add<float>(float*, int)", "add", "_Z3addIfEvPT_i". */
enum kernel_name { KERNEL_DEMANGLED, KERNEL_BASE, KERNEL_MANGLED };

struct report_context {
	const struct model *model;
	enum by by;
	struct symbols *symbols;
	enum kernel_name kernel_name;
	bool totals_only;   /* medians are not shown */
	bool lines_all;     /* see lines.h */
	const char *source; /* see source.h; NULL: not asked for */
};

enum {
	REPORT_DEFAULT = 1, /* in the set of `stats` without -r */
	REPORT_BY = 2,	    /* takes --by */
	REPORT_HIDDEN = 4,  /* a part of `info`, not listed */
	REPORT_DEVICE = 8,  /* has device times: says where from, takes --by device */
	REPORT_NAMES = 16,  /* takes :base and :mangled */
};

struct report {
	const char *name, *alias, *title;
	unsigned int flags;
	/* Fills the table. 0, or -ENODATA: could not look, err says why; rows that are there are good. */
	int (*run)(const struct report_context *context, struct table *table, struct err *err);
};

extern const struct report report_list[];
extern const size_t report_count;

/* By name or alias, or NULL. */
const struct report *report_find(const char *name);

#define REPORT_DECLARE(name, ...) int report_##name(const struct report_context *, struct table *, struct err *);
REPORTS(REPORT_DECLARE)
#undef REPORT_DECLARE

/* ---- scan.c: going through events ---- */

struct scan {
	const struct report_context *context;
	const struct image *image;
	const struct trace_thread *thread;
	const struct axis *axis;
	struct sums *sums;
	struct buffer device; /* name and number: a key of device work appends them with --by device */
	uint32_t args;	    /* bits of enum tf_arg_kind: threads without any of them are left out; 0: all are read */
	bool is_unfiltered; /* all device records, whatever filter.h says */
	void *more;    /* the report's own */
};

/* Calls visit for each event of each thread of s->image. */
void scan_image(struct scan *s, void (*visit)(struct scan *, const struct event *));

/* Likewise of each image. */
void scan_events(struct scan *s, void (*visit)(struct scan *, const struct event *));

/* What `classify` says of each function, by its id, so that names are looked at once. To be freed. */
uint8_t *scan_classes(const struct trace *t, uint8_t (*classify)(const struct function *));

/* Reads the events as often as exact medians need it. */
void scan_sums(struct scan *s, void (*visit)(struct scan *, const struct event *));

/* What tells rows of one image apart: with --by range the capture range of an event that began at that tick, with --by thread
 * the thread's number; else 0. */
uint32_t scan_range(const struct scan *s, uint64_t start_ticks);

/* Appends the --by column's field of a key: nothing without --by. */
void scan_group(const struct scan *s, uint32_t range, struct buffer *key);

/* Ends a key: two processes of one number stay two rows. */
uint32_t scan_row(const struct scan *s, struct buffer *key);

/* Both of that for most reports: the row of something that began at that tick. `key` appends its fields; it is asked once for
 * each `what` of an image and group, and is false for what the report is not about: then the row is SCAN_NO_ROW. */
enum { SCAN_NO_ROW = UINT32_MAX };
typedef bool scan_key(struct scan *s, const void *of, struct buffer *fields);
uint32_t scan_row_of(struct scan *s, uint64_t start_ticks, uint64_t what, scan_key *key, const void *of);

/* Adds a call's time to its row. */
void scan_add_call(struct scan *s, const struct event *e, uint64_t what, scan_key *key, const void *of);

/* A key: the name of a struct function. */
bool scan_name_key(struct scan *s, const void *function, struct buffer *fields);

/* ---- sums_table.c ---- */

struct sums_shape {
	const char *total, *count; /* titles, e.g. "Total Time (ns)", "Num Calls" */
	enum column_type type;	   /* COLUMN_NS or COLUMN_MB */
	const char *names[8];	   /* titles of the key's fields; NULL ends them */
	struct sums_more {
		const char *title;
		enum column_type type;
		/* `number`: the key's field after the named ones */
		void (*cell)(struct table *table, const struct sums_row *row, double number);
	} more[3]; /* columns after the names; those without a title are none */
	bool totals_only;	   /* no median, minimum, maximum, deviation */
	bool has_percent;
};

/* Sorts the sums and makes them the table. */
void sums_table(const struct report_context *context, struct sums *sums, const struct sums_shape *shape,
		struct table *table);

/* The --by column, if any; and its cell. */
void by_column(const struct report_context *context, struct table *table);
void by_cell(const struct report_context *context, struct table *table, const char *text);

/* ---- nvtx.c ---- */

struct nvtx_range {
	uint64_t start, end; /* ticks */
	uint32_t domain, text;
	bool is_pushpop;
	bool is_unfinished; /* ends with its process */
	const struct trace_thread *thread, *end_thread; /* end_thread NULL: unfinished */
	const uint64_t *args;				/* ARG slots of its push or start */
	uint32_t args_count;
	const uint64_t *payload, *end_payload; /* as struct event has it: of its start, of its end */
};

struct nvtx_counts {
	uint64_t unmatched_starts, unmatched_ends;
};

/* All ranges of one image, in no order. `counts` may be NULL. */
void nvtx_ranges(const struct image *image, struct nvtx_counts *counts, void *context,
		 void (*visit)(void *context, const struct nvtx_range *range));

/* Appends "domain:text", or in the default domain just the text, as nsys does. */
void nvtx_name(const struct trace *t, uint32_t domain, uint32_t text, struct buffer *ret);

/* ---- device.c: what the devices did ---- */

struct device_record {
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t duration_ns;
	uint64_t bytes, address; /* 0: none */
	uint32_t work; /* id of a TF_BLOB_WORK */
	uint32_t correlation;
	uint16_t epoch; /* correlation ids are this one's own */
};

/* A call as the driver's tools saw it. */
struct device_call {
	uint64_t start_ns, duration_ns; /* CLOCK_MONOTONIC */
	uint32_t tid, correlation;
	uint16_t epoch;
	bool is_driver; /* the runtime may have recorded the same one */
	bool is_placed; /* its times were on another clock */
};

/* Where an image's device times come from. */
struct device_source {
	uint32_t version;
	uint16_t kind;	   /* enum tf_source */
	bool is_known;	   /* false: nothing recorded any */
	bool is_translated; /* times were on another clock, and placed on ours by the pairs: */
	uint64_t error_ns;
	char soname[256];
};
struct device_source device_source(const struct trace *t);

/* Times in which another tool had the source, and who: the library's path, "" the program itself. */
struct device_gap {
	uint64_t from, to; /* ticks */
	bool is_open;	   /* to the image's end */
	char path[512];
};

/* Those of an image in no order; *ret is to be freed. Returns how many. */
size_t device_gaps(const struct image *image, struct device_gap **ret);

/* Calls visit for each record of each image. Records that cannot be read are counted in *ret_broken, if it is not NULL. */
void device_scan(struct scan *s, void (*visit)(struct scan *, const struct device_record *), uint64_t *ret_broken);

/* Likewise of one image. */
void device_scan_image(struct scan *s, void (*visit)(struct scan *, const struct device_record *), uint64_t *ret_broken);

/* What a TF_WORK_OVERHEAD was spent on, by CUpti_ActivityOverheadKind >> 16: 0 the driver's compiling, else CUPTI's own. */
enum { DEVICE_OVERHEADS = 9 };
extern const char *const device_overheads[DEVICE_OVERHEADS];

/* Likewise what no device was busy with: waits, allocations, overhead, managed memory's traffic, compiling. */
void device_scan_more(struct scan *s, void (*visit)(struct scan *, const struct device_record *), uint64_t *ret_broken);

/* Likewise the calls that device records come from, of one image. Reports want correlate.h instead. */
void device_scan_calls(struct scan *s, void (*visit)(struct scan *, const struct device_call *), uint64_t *ret_broken);

/* False: the definition is lost. */
bool device_work(const struct trace *t, uint32_t id, struct tf_work *ret);

/* Appends "NVIDIA H200 (0)". */
void device_name(const struct trace *t, uint32_t device, struct buffer *ret);

/* Appends the kernel's name, or that of a copy, memset or graph. */
void device_operation(const struct report_context *c, const struct trace *t, const struct tf_work *work, struct buffer *ret);

/* report_cuda.c: a copy as the host call named it. scan.more: a bool for each image, true: leave it out. */
void host_copy_visit(struct scan *s, const struct event *e);

/* report_gpu.c: 0 if there was nothing to record, -ENODATA if it was not recorded. */
int device_none(const struct model *m, struct err *err);

/* One line on the sources of a model's device times. */
void device_remark(const struct model *m, struct buffer *ret);

/* ---- report_samples.c ---- */

/* The CPU time that a sample stands for. */
uint64_t sample_ns(const struct event *e);
bool has_samples(const struct model *m);

/* Appends the function of a frame; `name` is that of its text (frame.h). Where a module has no names its addresses say nothing:
 * they count as one, "[module]". */
void frame_function(const struct symbol_frame *f, const char *name, struct buffer *key);

/* ---- summary.c ---- */

/* At most 25 lines on the whole run. */
void summary_text(const struct report_context *context, struct buffer *ret);

/* One line of the ledger's totals. */
void ledger_line(const struct model *m, struct buffer *ret);

#endif
