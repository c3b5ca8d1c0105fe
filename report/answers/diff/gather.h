/* SPDX-License-Identifier: Apache-2.0 */
/* The time of one capture by name, with what varies within the run. */
#pragma once

#include "report/answers/diff/series.h"
#include "report/events/scan.h"

enum diff_by { DIFF_AUTO, DIFF_KERNEL, DIFF_API, DIFF_LINE, DIFF_RANGE, DIFF_OP, DIFF_RANK, DIFF_BY_COUNT };
extern const char *const diff_by_names[DIFF_BY_COUNT];

/* The time of a row at a source line. */
struct gathered_line {
	uint32_t row, line; /* in `names` and in `lines` */
	uint64_t ns;
};

struct gathered {
	struct aggregate names; /* field 0: the name; field 1: what a renamed row has in common with the old one */
	struct series *series;	/* by row of names */
	size_t count, capacity;
	size_t steps; /* 0: the run is not divided into steps */
	struct aggregate lines;
	struct gathered_line *parts; /* of rows that have stacks, each pair of row and line once */
	size_t part_count;
	bool *is_foreign; /* by row: a line of the interpreter or of a library; NULL: there are no lines */
	struct whole_run {
		uint64_t wall_ns, cpu_ns; /* 0: not known, or only steps of the run are compared */
		uint64_t delay_ns;	  /* runnable without a CPU */
		bool is_sampled;
	} whole;
};

/* What captures of this kind are compared by if the user does not say it. */
enum diff_by gather_default(const struct model *m);

/* `over`: a range as for --filter-nvtx, whose instances are the steps; NULL: the whole run. 0, -EINVAL, or -ENODATA if
 * the capture has no such data. The caller frees *ret, also on failure. */
int gather(const struct report_context *context, enum diff_by by, const char *over, struct gathered *ret,
	   struct err *err);
void gathered_done(struct gathered *g);
