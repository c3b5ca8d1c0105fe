/* SPDX-License-Identifier: Apache-2.0 */
/* What the summary says, before it is put into lines of text (summary.h) or tables (summary_tables.h). */
#ifndef PILLION_SUMMARY_GATHER_H
#define PILLION_SUMMARY_GATHER_H

#include "report/analyze/fix_first.h"
#include "report/analyze/summary_findings.h"

struct summary {
	struct report_context context; /* without --by, for totals */
	struct rules rules;
	const struct partition *partition; /* these two: of the rules */
	const struct roles *roles;
	struct finding found[SUMMARY_FINDINGS]; /* the costliest first */
	size_t found_count;
	struct fix_first first;
	struct costs *costs;
	bool is_large; /* rules are left to `pillion analyze` */
	bool has_lines; /* there are not too many events to attribute all to lines */
};

void summary_gather(const struct report_context *c, struct summary *ret);
void summary_free(struct summary *s);

/* Sums the OS calls of the threads that are in a role: those of idle helpers would come first, and say nothing. */
void summary_calls(const struct summary *s, struct aggregate *ret);

#endif
