/* SPDX-License-Identifier: Apache-2.0 */
/* What repairs would save, by replays of the run (derive/causes). A bound is known first: the time on the run's
 * critical path of what is repaired. So most candidates need no replay. */
#ifndef PILLION_COSTS_H
#define PILLION_COSTS_H

#include "report/derive/causes/path.h"
#include "report/derive/causes/saving.h"
#include "report/analyze/role.h"

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

/* The kernel whose time matters most, at half of its time. False: there is none. */
bool costs_of_kernel(struct costs *k, uint64_t least_ns, struct saving *ret, uint32_t *ret_what, double *ret_ns);

/* The threads of a role (by their actors) with the same work each; *ret_most and *ret_mean: their work; *ret_actor:
 * the one with most of it. */
void costs_of_balance(struct costs *k, const struct partition *p, const struct roles *roles, const struct role *role,
		      uint64_t least_ns, struct saving *ret, uint64_t *ret_most, uint64_t *ret_mean,
		      const struct actor **ret_actor);

/* Which actor has most of the line's time on the critical path; NULL: none. */
const struct actor *costs_actor(struct costs *k, const char *line, const char *function);

struct causality *costs_causes(struct costs *k); /* NULL: nothing was recorded, or it was not replayed */

#endif
