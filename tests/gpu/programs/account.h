/* SPDX-License-Identifier: Apache-2.0 */
/* A test program's own count of its operations: lines of "name count bytes", in the format of
 * tests/targets/cuda_launches.h. */
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline void said(const char *name, unsigned long long count, unsigned long long bytes)
{
	printf("%s %llu %llu\n", name, count, bytes);
	fflush(stdout);
}

static void need_at(int result, const char *what, int line)
{
	if (result == 0)
		return;
	fprintf(stderr, "line %d: %s gave %d\n", line, what, result);
	exit(1);
}
#define NEED(call) need_at((int)(call), #call, __LINE__)

static inline double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts. */
static inline double median_of(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), by_value);
	return values[count / 2];
}

#endif
