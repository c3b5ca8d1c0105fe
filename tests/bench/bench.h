/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the timed programs: a clock, and the median and minimum over many short slices. On a busy machine most
 * slices are undisturbed, so both figures are robust where a mean is not. */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t bench_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts. */
static inline double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof(values[0]), bench_compare);
	return values[count / 2];
}

/* Parses an integer from minimum to maximum; exits with status 2 if it is invalid. */
static inline long bench_number(const char *text, const char *name, long minimum, long maximum)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < minimum || value > maximum) {
		fprintf(stderr, "%s must be a number from %ld to %ld, not \"%s\"\n", name, minimum, maximum, text);
		exit(2);
	}
	return value;
}

#endif
