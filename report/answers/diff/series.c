/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/diff/series.h"

/* The variance of the means of runs is at least this share of the variance of the parts of a run, however many parts a
 * run has: a disturbance may last for a whole run. */
static const double lasting = 1.0 / 16;

void series_add(struct series *s, double value)
{
	if (!s->length)
		s->length = 1;
	s->count++;
	s->total += value;
	s->open += value;
	if (++s->in_open < s->length)
		return;
	s->sums[s->parts++] = s->open;
	s->open = 0;
	s->in_open = 0;
	if (s->parts < SERIES_PARTS)
		return;
	for (size_t i = 0; i < SERIES_PARTS / 2; i++)
		s->sums[i] = s->sums[2 * i] + s->sums[2 * i + 1];
	s->parts = SERIES_PARTS / 2;
	s->length *= 2;
}

double series_sampling(const struct series *s)
{
	return s->total > 0 ? s->sampled / s->total / s->total : 0;
}

double series_variance(const struct series *s)
{
	double mean = 0, squares = 0;

	if (s->parts < SERIES_LEAST || s->total <= 0)
		return -1;
	for (size_t i = 0; i < s->parts; i++)
		mean += s->sums[i] / (double)s->parts;
	for (size_t i = 0; i < s->parts; i++)
		squares += (s->sums[i] - mean) * (s->sums[i] - mean) / (double)(s->parts - 1);
	if (mean <= 0)
		return -1;
	return squares / mean / mean * (1 / (double)s->parts + lasting) + series_sampling(s);
}
