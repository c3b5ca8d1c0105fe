/* SPDX-License-Identifier: Apache-2.0 */
/* Going through the events of a model, and what is asked of them: how they are grouped, how their names are written. */
#ifndef PILLION_SCAN_H
#define PILLION_SCAN_H

#include "report/read/merge.h"
#include "report/base/aggregate.h"
#include "report/derive/symbols/symbol.h"

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

struct scan {
	const struct report_context *context;
	const struct image *image;
	const struct trace_thread *thread;
	const struct clock_map *clock;
	struct aggregate *aggregate;
	struct buffer device; /* name and number: a key of device work appends them with --by device */
	uint32_t args;	    /* bits of enum tf_arg_kind: threads without any of them are left out; 0: all are read */
	bool is_unfiltered; /* all device records, whatever filter.h says */
	/* for device_scan_image and _calls */
	const uint8_t *chunks; /* which of trace.windows are read; NULL: all */
	size_t chunk;		/* that the record stands in */
	void *more;    /* the report's own */
};

/* Calls visit for each event of each thread of s->image. */
void scan_image(struct scan *s, void (*visit)(struct scan *, const struct event *));

/* Likewise of each image. */
void scan_events(struct scan *s, void (*visit)(struct scan *, const struct event *));

/* What `classify` says of each function, by its id, so that names are looked at once. To be freed. */
uint8_t *scan_classes(const struct trace *t, uint8_t (*classify)(const struct function *));

/* Reads the events as often as exact medians need it. */
void scan_aggregate(struct scan *s, void (*visit)(struct scan *, const struct event *));

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

#endif
