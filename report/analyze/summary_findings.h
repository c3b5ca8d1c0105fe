/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the summary about what to fix: FIX FIRST, and findings beside it. */
#ifndef PILLION_SUMMARY_FINDINGS_H
#define PILLION_SUMMARY_FINDINGS_H

#include "report/analyze/fix_first.h"

enum { SUMMARY_FINDINGS = 4, SUMMARY_FINDINGS_SHOWN = 2 }; /* gathered; shown beside the first */

/* Fills in called_from of all, with one reading of the events. */
void summary_find_callers(const struct report_context *c, struct finding *found, size_t count,
			  struct fix_first *first);

void summary_first(const struct fix_first *first, struct buffer *out);

/* Findings beside the first one, if they cost as much as would be worth a first line. */
void summary_findings(const struct finding *found, size_t count, uint64_t wall_ns, const struct fix_first *first,
		      struct buffer *out);

#endif
