/* SPDX-License-Identifier: Apache-2.0 */
/* The one thing to fix first: the costliest of the findings of the rules and of what the partition of time tells. A
 * rule takes part by its finding's text, line and cost_ns (rule.h); nothing else is needed. */
#ifndef PILLION_FIX_FIRST_H
#define PILLION_FIX_FIRST_H

#include "report/analyze/role.h"
#include "report/analyze/rule.h"

struct fix_first_cause {
	struct buffer text;	   /* with the line; empty: nothing is worth FIX_PERCENT of the run */
	struct buffer line;	   /* as in struct finding */
	struct buffer called_from; /* of the line, see caller.h; the caller fills it in */
	uint64_t cost_ns;	   /* of the run's wall time */
};

struct fix_first {
	struct fix_first_cause first;
	struct fix_first_cause inside; /* if the cause is outside of the job: what to fix first within it */
	bool is_cpu; /* a thread computes, and no samples tell where */
};

enum { FIX_PERCENT = 2 };

/* `found` are the findings of the rules, the costliest first. */
void fix_first_find(const struct report_context *c, const struct roles *roles, const struct finding *found,
		    size_t count, struct fix_first *ret);
/* A finding's text with its line. */
void fix_first_words(const struct finding *f, struct buffer *ret);

void fix_first_done(struct fix_first *f);

#endif
