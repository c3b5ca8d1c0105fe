/* SPDX-License-Identifier: Apache-2.0 */
/* What to change in a program that computes: rarely the innermost function, often one of its callers, which calls it
 * too often. Which one, no rule tells; so the callers through which its time passes are named, too.
 *
 * The drop of a function is its inclusive time less that of its heaviest callee below it; the place is the function
 * with the largest drop; the spine is the place with its callers through which SPINE_PERCENT of its time passes, the
 * nearest ones. Only functions of the program's own count (own_stack.h). docs/decisions/spine.md */
#pragma once

#include "report/names/own_stack.h"

enum { SPINE_PERCENT = 80, SPINE_FRAMES = 5, SPINES = 3 };

/* Time in a stack of struct own_stacks. */
struct spine_time {
	uint32_t stack;
	uint64_t ns;
};

struct spine_frame {
	uint32_t function, line; /* of the own stacks; the line that passes most of the place's time on */
	uint64_t ns, own_ns;	 /* inclusive; without other functions of the program */
	bool is_recursive;	 /* it calls itself, also through others */
	/* Of a caller of the place: the line at which it does most by itself, if that is as much as a change of the
	 * place saves at least; the time there; what that calls of a library, as of struct spine. Line 0: none. */
	uint32_t own_line, own_callee;
	uint64_t own_line_ns;
};

struct spine {
	struct spine_frame frames[SPINE_FRAMES]; /* the outermost first; the last one is the place */
	size_t count;
	uint64_t drop_ns;
	uint64_t algebra_ns; /* linear algebra below the outermost frame, if it is not in its ns */
	uint32_t callee; /* what most of the place's own time is in: a text of the own stacks; 0: nothing */
};

/* Of these times, the spines of the place with the largest drop, then of the next places that are in no spine before:
 * those that are not below the first one, then those that are; at most SPINES. Each ends where an earlier one begins.
 * None has a drop below `least_ns`. Drops that differ by less than their standard error, where a sample stands for
 * `sample_ns`, are equal: of these, that of the function with most time below it is the largest, rather one whose
 * time is not mostly a model's. What a model takes, and linear algebra, are no place, unless with_model; but a place
 * whose time is mostly theirs has the line of that. Returns how many. */
size_t spines_find(const struct own_stacks *own, const struct spine_time *times, size_t count, bool with_model,
		   uint64_t least_ns, uint64_t sample_ns, struct spine *ret);

/* Of calls with these times: the place is the function that makes most of them by time. False: there is none, and
 * nothing is filled in. */
bool spine_of_calls(const struct own_stacks *own, const struct spine_time *times, size_t count, struct spine *ret);
