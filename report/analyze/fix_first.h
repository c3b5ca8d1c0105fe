/* SPDX-License-Identifier: Apache-2.0 */
/* The one thing to fix first: of the findings of the rules and of what the partition of time tells, what would save
 * most by a replay of the run (costs.h). A rule takes part by its finding's text, line and cost_ns (rule.h); nothing
 * else is needed. */
#ifndef PILLION_FIX_FIRST_H
#define PILLION_FIX_FIRST_H

#include "report/analyze/costs.h"
#include "report/analyze/role.h"
#include "report/analyze/rule.h"

struct fix_first_cause {
	struct buffer text;	   /* with the line; empty: nothing would save FIX_PERCENT of the run and FIX_NS */
	struct buffer line;	   /* as in struct finding */
	struct buffer called_from; /* of the line, see caller.h; the caller fills it in */
	const struct finding *finding; /* of the rule that found it; NULL: no rule did. Borrowed */
	const char *how;	   /* what saves so much, where it is not to remove the line's time; NULL: that */
	struct saving saves;	   /* of the run's wall time */
};

struct fix_first {
	struct fix_first_cause first;
	struct fix_first_cause inside; /* if the cause is outside of the job: what to fix first within it */
	bool is_cpu; /* a thread computes, and no samples tell where */
};

enum { FIX_PERCENT = 2, FIX_NS = 100000000 };

/* Nothing that saves less is printed. */
uint64_t fix_first_least(uint64_t wall_ns);

/* `found` are the findings of the rules. */
void fix_first_find(const struct report_context *c, struct costs *costs, const struct job_time *time,
		    const struct finding *found, size_t count, struct fix_first *ret);
/* A finding's text with its line. */
void fix_first_words(const struct finding *f, struct buffer *ret);

/* What the repair of a finding would save: its line's time and waits, at most its cost. What has no line costs what the
 * rule says. What is outside of the program, or saves a part that is not known, counts only if it takes half of the
 * run. */
void fix_first_saving(struct costs *costs, const struct finding *f, uint64_t least_ns, struct saving *ret);

void fix_first_done(struct fix_first *f);

#endif
