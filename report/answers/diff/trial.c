/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/diff/trial.h"

#include <math.h>
#include <stdlib.h>

#include "report/answers/diff/student.h"

/* The probability that the value is above its interval, and that it is below. */
static const double alpha = 0.025;

void trial_judge(struct trial *t)
{
	double *unknown = mem_alloc(2 * t->runs * sizeof(*unknown)), width;
	struct judged row = {.times = t->times, .variances = unknown, .samplings = unknown};
	struct judgement judgement;

	for (size_t i = 0; i < 2 * t->runs; i++)
		unknown[i] = -1;
	judge(&row, 1, t->runs, t->runs, t->gate, &judgement);
	width = student_above(alpha, (double)(2 * t->runs - 2)) * judgement.noise;
	t->ratio = exp(judgement.change);
	t->low = exp(judgement.change - width);
	t->high = exp(judgement.change + width);
	if (t->low > 1 && t->ratio >= 1 + t->gate)
		t->verdict = DIFF_WORSE;
	else
		t->verdict = t->high < 1 + t->gate ? DIFF_NOT_WORSE : DIFF_UNCLEAR;
	free(unknown);
}

/* "6.0 times as fast (5.6 to 6.4)": the interval decides how many decimals there are, and no bound is rounded to 1. */
static void add_times(struct buffer *ret, double factor, double low, double high, const char *as)
{
	enum { MOST = 4 };
	double one = 0.5;
	int decimals = 0;

	while (decimals < MOST && (high - low < 6 * one || fabs(low - 1) <= one || fabs(high - 1) <= one)) {
		one /= 10;
		decimals++;
	}
	buffer_print(ret, "%.*f times as %s (%.*f to %.*f)", decimals, factor, as, decimals, low, decimals, high);
}

void trial_reason(const struct trial *t, struct buffer *ret)
{
	bool is_faster = t->ratio <= 1;

	buffer_text(ret, is_faster ? "B is " : "B takes ");
	if (is_faster)
		add_times(ret, 1 / t->ratio, 1 / t->high, 1 / t->low, "fast");
	else
		add_times(ret, t->ratio, t->low, t->high, "long");
	if (t->high < 1)
		buffer_text(ret, ": B is faster");
	else if (t->verdict == DIFF_WORSE)
		buffer_text(ret, ": B is slower");
	else if (t->verdict == DIFF_NOT_WORSE)
		buffer_print(ret, ": B is not slower by %g %% or more", 100 * t->gate);
	else
		buffer_print(ret, ": cannot judge whether B is slower by %g %%; more runs (-n) narrow the interval",
			     100 * t->gate);
}

double trial_rounded(double ratio)
{
	return rint(ratio * 1e4) / 1e4;
}

struct slope slope_fit(const double *x, const double *y, size_t count)
{
	double mean_x = 0, mean_y = 0, xx = 0, xy = 0, squares = 0, slope, width;

	for (size_t i = 0; i < count; i++) {
		mean_x += x[i] / (double)count;
		mean_y += y[i] / (double)count;
	}
	for (size_t i = 0; i < count; i++) {
		xx += (x[i] - mean_x) * (x[i] - mean_x);
		xy += (x[i] - mean_x) * (y[i] - mean_y);
	}
	slope = xy / xx;
	for (size_t i = 0; i < count; i++)
		squares += pow(y[i] - mean_y - slope * (x[i] - mean_x), 2);
	width = student_above(alpha, (double)(count - 2)) * sqrt(squares / (double)(count - 2) / xx);
	return (struct slope){slope, slope - width, slope + width};
}
