/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a command B takes longer than a command A, from the durations of runs that were made in turn. The ratio and
 * its noise are those of judge.h with a single row; the verdict is what the interval of the ratio supports. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/answers/diff/judge.h"
#include "report/base/util.h"

/* Fewer runs of each command do not show how much they vary. */
enum { TRIAL_LEAST_RUNS = 3 };

struct trial {
	/* set by the caller */
	const double *times; /* ns, those of A first */
	size_t runs;	     /* of each command, at least TRIAL_LEAST_RUNS */
	double gate;	     /* slower is what takes longer by this part or more */
	/* filled in */
	/* Of B. Worse: longer by the gate or more, the interval above 1. Not worse: the interval below 1 + gate. */
	enum diff_verdict verdict;
	double ratio, low, high;   /* time of B / time of A, and the interval that has it with 95 % probability */
};

void trial_judge(struct trial *t);

/* "B is 6.0 times as fast (5.6 to 6.4): B is faster" */
void trial_reason(const struct trial *t, struct buffer *ret);

/* To four decimals, for tables. */
double trial_rounded(double ratio);

/* The straight line through points (x, y) by least squares. The interval of its slope has 95 % probability. */
struct slope {
	double slope, low, high;
};

/* `count` is at least 3, and x has two values at least. */
struct slope slope_fit(const double *x, const double *y, size_t count);
