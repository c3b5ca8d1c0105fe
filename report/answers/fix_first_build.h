/* SPDX-License-Identifier: Apache-2.0 */
/* What finds the causes of fix_first.h. */
#pragma once

#include "report/answers/fix_first.h"
#include "report/answers/spine.h"
#include "report/names/own_stack.h"

struct choice {
	const struct report_context *context;
	struct costs *costs;
	const struct partition *partition;
	const struct roles *roles;
	struct own_stacks own;
	struct texts told; /* file:line where threads wait for each other: DEADLOCK tells that */
	uint64_t least_ns;
	uint64_t *team_worth_ns; /* by role: what equal work of its team of OpenMP would save; 0: nothing */
	struct fix_first *causes;
};

/* fix_first_list.c: `most` limits both ends of the interval, too. */
void fix_first_limit(struct saving *s, uint64_t most);
void fix_first_cause_done(struct fix_first_cause *cause);

/* Of causes at one line, one stays. Takes ownership of the cause. */
void fix_first_propose(struct choice *k, struct fix_first_cause *cause);

/* Whether a function of a library is one of those that a rule's repair removes: then it is in that price. */
bool fix_first_removes(const struct fix_first *all, const struct own_function *f);

/* spine_cause.c: the places where a role computes. False: no samples tell them. */
bool fix_first_spines(struct choice *k, const struct role *r);

/* What a sample of the role stands for, on average. */
uint64_t fix_first_sample_ns(const struct role *r);
const struct code_line *fix_first_place_line(const struct choice *k, const struct spine_frame *f);
void fix_first_add_frame(const struct choice *k, const struct spine_frame *f, uint64_t ns,
			 struct fix_first_cause *cause);

/* balance.c: work that the threads of a role share out unequally, if that costs the run something. */
void fix_first_balance(struct choice *k, const struct role *r);

/* repeats.c: adds what the process of the place does again and again, by its calls on files. */
void fix_first_repeats(struct choice *k, struct fix_first_cause *cause);

/* The role that waits for this one for half of its time, and the call in which it does, unless ret_call is NULL. NULL:
 * none is known. */
const struct role *fix_first_waiting(const struct choice *k, const struct role *r, const struct role_call **ret_call);

/* Likewise the callers of the calls at a cause's line. Where nobody knows how much of the calls could be saved, or the
 * rule says so, the price is that of a change of the outermost of them. */
void fix_first_callers(struct choice *k, struct fix_first_cause *cause);
