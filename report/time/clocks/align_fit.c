/* SPDX-License-Identifier: Apache-2.0 */
/* Fits the offset and drift of one clock to the bounds from many meetings. */
#include <math.h>
#include <stdlib.h>

#include "report/time/clocks/align.h"

enum { DRIFT_FEWEST = 12 };
#define DRIFT_SPAN_NS 1e9
#define DRIFT_MOST 0.01 /* a larger drift cannot be that of a clock */

COMPARATOR(compare_bounds, struct align_bound, (a->at > b->at) - (a->at < b->at))

COMPARATOR(compare_doubles, double, (*a > *b) - (*a < *b))

/* Median of `at` or `ahead` over that many bounds. */
static double median(const double *first, size_t count, double *sorted)
{
	for (size_t i = 0; i < count; i++)
		sorted[i] = *(const double *)((const char *)first + i * sizeof(struct align_bound));
	qsort(sorted, count, sizeof(*sorted), compare_doubles);
	return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

/* Drift between the first and the last third. */
static double find_drift(struct align_bound *b, size_t count, double *sorted)
{
	size_t third = count / 3;
	const struct align_bound *last = b + count - third;
	double span, drift;

	if (count < DRIFT_FEWEST || b[count - 1].at - b[0].at < DRIFT_SPAN_NS)
		return 0;
	span = median(&last->at, third, sorted) - median(&b->at, third, sorted);
	if (span < DRIFT_SPAN_NS / 2)
		return 0;
	drift = (median(&last->ahead, third, sorted) - median(&b->ahead, third, sorted)) / span;
	for (size_t i = 0; i < count; i++) {
		b[i].ahead -= drift * b[i].at;
		b[i].least -= drift * b[i].at;
		b[i].most -= drift * b[i].at;
	}
	return drift;
}

struct align_fit align_fit(struct align_bound *bounds, size_t count)
{
	SCOPED_MEMORY double *sorted = mem_alloc(count * sizeof(*sorted));
	double least = -INFINITY, most = INFINITY;
	struct align_fit f = {.count = count};

	qsort(bounds, count, sizeof(*bounds), compare_bounds);
	f.drift = find_drift(bounds, count, sorted);
	f.offset = median(&bounds->ahead, count, sorted);
	for (size_t i = 0; i < count; i++) {
		least = fmax(least, bounds[i].least);
		most = fmin(most, bounds[i].most);
	}
	f.contradiction = f.drift > -DRIFT_MOST && f.drift < DRIFT_MOST ? fmax(0, least - most) : INFINITY;
	if (least > most) {
		f.offset = (least + most) / 2;
		f.error = least - most;
	} else {
		f.offset = fmin(fmax(f.offset, least), most);
		f.error = fmax(f.offset - least, most - f.offset);
	}
	return f;
}
