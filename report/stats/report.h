/* SPDX-License-Identifier: Apache-2.0 */
/* Reports: each is one table. The list is in report_list.h; what several of them need is here. */
#ifndef PILLION_REPORT_H
#define PILLION_REPORT_H

#include "report/base/emit.h"
#include "report/derive/events/scan.h"
#include "report/stats/report_list.h"

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

/* ---- aggregate_table.c ---- */

struct aggregate_shape {
	const char *total, *count; /* titles, e.g. "Total Time (ns)", "Num Calls" */
	enum column_type type;	   /* COLUMN_NS or COLUMN_MB */
	const char *names[8];	   /* titles of the key's fields; NULL ends them */
	struct aggregate_more {
		const char *title;
		enum column_type type;
		/* `number`: the key's field after the named ones */
		void (*cell)(struct table *table, const struct aggregate_row *row, double number);
	} more[3]; /* columns after the names; those without a title are none */
	bool totals_only;	   /* no median, minimum, maximum, deviation */
	bool has_percent;
};

/* Sorts the sums and makes them the table. */
void aggregate_table(const struct report_context *context, struct aggregate *aggregate, const struct aggregate_shape *shape,
		struct table *table);

/* The --by column, if any; and its cell. */
void by_column(const struct report_context *context, struct table *table);
void by_cell(const struct report_context *context, struct table *table, const char *text);

/* report_cuda.c: a copy as the host call named it. scan.more: a bool for each image, true: leave it out. */
void host_copy_visit(struct scan *s, const struct event *e);

/* report_gpu.c: 0 if there was nothing to record, -ENODATA if it was not recorded. */
int device_none(const struct model *m, struct err *err);

/* report_ledger.c: one line of the ledger's totals. */
void ledger_line(const struct model *m, struct buffer *ret);

#endif
