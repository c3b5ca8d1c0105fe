/* SPDX-License-Identifier: Apache-2.0 */
/* What repairs would save, by replays of the run (causes). A bound is known first: the time on the run's
 * critical path of what is repaired. So most candidates need no replay. */
#ifndef PILLION_COSTS_H
#define PILLION_COSTS_H

#include "report/answers/roles/role.h"
#include "report/causes/function.h"
#include "report/causes/path.h"

struct costs;

/* Never NULL; of a capture without a run, or without is_replayed, everything costs nothing. */
struct costs *costs_new(const struct report_context *c, bool is_replayed);
void costs_free(struct costs *k);

/* What of a line is repaired. COST_COMPUTING: it takes half of its time, because what computes cannot be removed; the
 * others are removed. COST_WAITS: what it waits for is awaited only at the last time. */
enum cost_of { COST_CALLS = 1, COST_COMPUTING = 2, COST_WAITS = 4 };

/* `line` as attribution_line() has it, "" for what has no line, of which `function` (may be NULL) tells the calls.
 * Nothing below `least_ns` is computed: then all are 0. */
void costs_of_line(struct costs *k, const char *line, const char *function, unsigned int of, uint64_t least_ns,
		   struct saving *ret);

/* The time on the critical path that passes through a function, which is not more than the run's; and what a
 * change of it saves, at most that. */
uint64_t costs_below(struct costs *k, struct own_stacks *own, uint32_t function, struct saving *ret_saves);

/* The kernel whose time matters most, at half of its time. False: there is none. */
bool costs_of_kernel(struct costs *k, uint64_t least_ns, struct saving *ret, uint32_t *ret_what, double *ret_ns);

struct balance {
	struct saving saves; /* if all had the same work; 0: nothing below the least was computed */
	uint64_t most_ns, mean_ns;
	const struct actor *actor; /* the one with most */
	/* Where it has most more than the mean, as attribution_line() has it; "" where others do not work at that line:
	 * then it is not their work that is shared out unequally there. Owned by the costs. */
	const char *line;
};

/* The threads of a role, by their actors. */
void costs_of_balance(struct costs *k, const struct partition *p, const struct roles *roles, const struct role *role,
		      uint64_t least_ns, struct balance *ret);

/* Which line made most calls of a function by their time on the critical path; "": not known. Owned by the costs. */
const char *costs_line_of_calls(struct costs *k, const char *function);

/* Which actor has most of the line's time on the critical path; NULL: none. */
const struct actor *costs_actor(struct costs *k, const char *line, const char *function);

struct causality *costs_causes(struct costs *k); /* NULL: nothing was recorded, or it was not replayed */

#endif
