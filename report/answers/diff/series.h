/* SPDX-License-Identifier: Apache-2.0 */
/* Values in the order of time, such as the durations of a kernel. Memory is constant: consecutive values are summed in
 * at most SERIES_PARTS parts of equal length. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SERIES_PARTS = 32, SERIES_LEAST = 8 };

struct series {
	double sums[SERIES_PARTS];
	size_t parts;	  /* complete ones */
	uint64_t length;  /* values of a part */
	double open;	  /* the sum of the incomplete part */
	uint64_t in_open; /* its values */
	uint64_t count;
	double total;
	double sampled; /* sum of the squares of values that are samples: their number varies, too */
};

void series_add(struct series *s, double value);

/* The square of the relative standard error of the total as one of several runs; negative: there are less than
 * SERIES_LEAST parts. */
double series_variance(const struct series *s);

/* The part of it that samples make: a sample that another row of the run has got instead. */
double series_sampling(const struct series *s);
