/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU time that recording has cost: the time that the recorder measured in its slow paths, plus the number of calls
 * times the cost of a call that the launcher measured on this machine. docs/decisions/own-cost.md states the error. */
#pragma once

#include "report/read/job/model.h"

struct own_counts {
	uint64_t short_calls;
	uint64_t paths, signals; /* of these, calls that have a path, and those that signal a condition */
	uint64_t user_calls;	 /* and those that have not entered the kernel */
	uint64_t recorded;	     /* events of all kinds */
	uint64_t summed;	     /* calls in the sums of --mode=profile */
	uint64_t slow_ns;
	uint64_t threads; /* 0: without what the loader and the kernel do for an image and its threads */
};

struct own_cost {
	uint64_t short_calls, recorded; /* recorded: events of all kinds, and calls in sums */
	bool has_sums;
	double short_ns, recorded_ns;	/* of the above; 0 where the cost of a call is not known */
	double slow_ns;			/* slow paths: start, threads, chunks, files, stacks, samples */
	double load_ns;			/* outside of our code: mapping the library, and what forks copy of it */
	double error_ns;
	bool is_known;			/* the cost of a call is, in all of the images */
};

/* Adds what recording so much of an image has cost. Initialise `sum` with OWN_COST_NONE. */
#define OWN_COST_NONE ((struct own_cost){.is_known = true})
void own_cost_add(const struct model *m, const struct image *image, const struct own_counts *counts,
		  struct own_cost *sum);

/* Of the calls of a counter, those that have not entered the kernel: all or none. And the time that the calls of
 * `sum` take, with what counting them does: both readings of the clock lie partly within the duration of a call. */
uint64_t own_cost_user_calls(const struct model *m, const struct image *image, const struct tf_counter *sum);
uint64_t own_cost_with_calls(const struct model *m, const struct image *image, const struct tf_counter *sum);

/* Likewise of all short calls of a thread that poll. If such calls take POLLS_PERCENT of its CPU time, the rest is the
 * loop around them. */
enum { POLLS_PERCENT = 80 };
uint64_t own_cost_polls(const struct model *m, const struct image *image, const struct trace_thread *thread);

double own_cost_ns(const struct own_cost *c);

/* Appends what the sum consists of, and its error. */
void own_cost_detail(const struct own_cost *c, struct buffer *ret);

/* Appends "98.2 ms own overhead (+-9 %), 5.1 ms of the launcher". */
void own_cost_line(const struct model *m, const struct own_cost *c, struct buffer *ret);
