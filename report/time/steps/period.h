/* SPDX-License-Identifier: Apache-2.0 */
/* The period of a thread: which of its calls begin a new step of its main loop. Nothing but the order of the calls is
 * known. A step may have inner loops, calls that are made only sometimes, and calls before and after the loop that look
 * like those in it. */
#pragma once

#include "report/base/util.h"

/* A call that is not inside of another one. */
struct looped_call {
	uint64_t start_ns, end_ns;
	uint32_t what; /* what is called, from where: from 0 on */
};

enum { PERIOD_STEPS = 4 }; /* fewer are no loop */

/* Steps that cover a smaller part of the lifetime of a thread are not those of its main loop. */
#define PERIOD_COVERED 0.2

struct period {
	uint32_t *firsts; /* the first call of each step */
	size_t count;	  /* of steps */
	uint32_t after;	  /* the call after the last step, or the number of calls */
	double coverage;  /* the part of the lifetime that regular steps cover */
	bool is_of_one;	  /* a step has no other call that all steps have */
};

/* The calls are in order of time; `whats` is above each of their `what`. `importance`: by what, from 0 to 1; NULL: all
 * are equal. False: there is no loop. The caller frees *ret with period_done. */
bool period_find(const struct looped_call *calls, size_t count, uint32_t whats, const float *importance,
		 uint64_t lifetime_ns, struct period *ret);
void period_done(struct period *p);
