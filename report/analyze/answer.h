/* SPDX-License-Identifier: Apache-2.0 */
/* What a run says of itself, found once and told as tables: the findings of all rules, what to fix first, the roles
 * with the parts of their time, the critical path, the calls of threads that are in a role. */
#ifndef PILLION_ANSWER_H
#define PILLION_ANSWER_H

#include "report/analyze/fix_first.h"

struct answer {
	const struct report_context *context;
	struct rules rules;
	struct finding *found; /* of each rule, as in rule_list */
	struct costs *costs;
	struct fix_first first;
};

/* The context is borrowed until answer_done. */
void answer_find(const struct report_context *c, struct answer *ret);
void answer_done(struct answer *a);

/* A table may have no rows. Adding one is a row of the list and its function. */
struct answer_table {
	const char *name, *title;
	void (*fill)(struct answer *a, struct table *t);
};
extern const struct answer_table answer_tables[];
extern const size_t answer_table_count;

#endif
