/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of the rules, what to fix first, and where the time of the roles went. The summary, `pillion analyze`
 * and the page show them: as lines of text, as tables (answer_tables.h). */
#pragma once

#include "report/answers/fix_first.h"
#include "report/events/stacks/lines.h"

struct answer {
	struct report_context context; /* a copy */
	struct rules rules;
	const struct partition *partition; /* these two: of the rules */
	const struct roles *roles;
	struct finding *found; /* of the rules that were run, in their order */
	size_t found_count;
	struct fix_first first;
	struct costs *costs;
	bool has_events; /* false: --mode=profile, so that there are neither roles nor findings */
	bool is_large;	/* what needs all events is left to `pillion analyze` */
};

/* Without any rule. `most`: of them may be run. */
void answer_begin(const struct report_context *c, size_t most, struct answer *ret);

/* Runs a rule. The result is valid until answer_done(). */
struct finding *answer_run(struct answer *a, const struct rule *rule);

/* After the last rule: what each finding and what to fix would save, and from where their lines are reached. */
void answer_finish(struct answer *a, bool has_first);

/* All three, for the end of a run: pillion's own rules, none if there are so many events that the user would wait;
 * totals without --by. */
void answer_briefly(const struct report_context *c, struct answer *ret);

/* For the end of a run that died: nothing about where its time went, so that no event is read for that. */
void answer_end(const struct report_context *c, struct answer *ret);

/* As answer_briefly(), with all rules, in the order of rule_list. */
void answer_whole(const struct report_context *c, struct answer *ret);

void answer_done(struct answer *a);

/* The places of the findings: of what was found, the costliest first, then the others. The caller frees them. */
size_t *answer_order(const struct answer *a);

/* As lines_top(), of the threads that are in a role, with their calls in progress. */
void answer_lines(const struct answer *a, size_t wanted, struct lines *ret);

/* Sums the OS calls of the threads that are in a role: those of idle helpers would come first, and say nothing. */
void answer_calls(const struct answer *a, struct aggregate *ret);
