/* SPDX-License-Identifier: Apache-2.0 */
#include "report/answers/diff/judge.h"

#include <math.h>
#include <stdlib.h>

#include "report/answers/diff/student.h"
#include "report/base/util.h"

/* The probability of a false `worse` by the sum, of any false row, and of a false `not worse`. */
static const double alpha_sum = 0.005, alpha_rows = 0.005, alpha_not_worse = 0.1;

/* A row's standard deviation between runs is at least this, and that of the sum of several runs. */
static const double least_row = 0.005, least_sum = 0.001;

/* Where the others deviate as the variance within the runs makes expect, it adds these degrees of freedom. */
static const double known = 8;

/* Of the sum: a row takes part in the comparison of a pair from this share on. */
static const double least_share = 0.001;

/* Fewer rows do not show what all have in common. */
enum { LEAST_ROWS = 4 };

/* Fewer runs do not show how much a row varies between runs. */
enum { LEAST_RUNS = 6 };

struct judging {
	struct judged *rows;
	size_t count, before, after;
	double gate;
	bool is_by_others; /* rows are compared with the others, not with themselves in other runs */
	struct judgement *ret;
};

static double mean_of(const double *x, size_t count)
{
	return array_sum(one, x, count, *one) / (double)count;
}

/* ---- several runs ---- */

/* The difference of the mean logarithms of both sides, with its standard error. False: a value is not positive. */
static bool compare_runs(const struct judging *j, const double *x, double least, double *ret_change, double *ret_noise)
{
	size_t runs = j->before + j->after;
	double means[2] = {0}, squares = 0;

	for (size_t i = 0; i < runs; i++) {
		if (x[i] <= 0)
			return false;
		means[i >= j->before] += log(x[i]) / (double)(i < j->before ? j->before : j->after);
	}
	for (size_t i = 0; i < runs; i++)
		squares += pow(log(x[i]) - means[i >= j->before], 2);
	squares = fmax(squares / (double)(runs - 2), least * least);
	*ret_change = means[1] - means[0];
	*ret_noise = sqrt(squares * (1 / (double)j->before + 1 / (double)j->after));
	return true;
}

static bool is_compared(const struct judging *j, const struct judged *r)
{
	return r->noise >= 0 && r->before + r->after >= least_share * (j->ret->before + j->ret->after);
}

static void judge_rows_of_runs(struct judging *j)
{
	double freedom = (double)(j->before + j->after - 2);

	for (size_t i = 0; i < j->count; i++)
		if (!compare_runs(j, j->rows[i].times, least_row, &j->rows[i].change, &j->rows[i].noise))
			j->rows[i].noise = -1;
	j->ret->compared += array_sum(row, j->rows, j->count, is_compared(j, row));
	array_each(struct judged, r, j->rows, j->count) {
		if (is_compared(j, r) && student_tail(fabs(r->change) / r->noise, freedom) <
						 alpha_rows / 2 / (double)j->ret->compared)
			r->verdict = r->change > 0 ? ROW_SLOWER : ROW_FASTER;
	}
}

/* ---- few runs: each row is compared with the others ---- */

struct reference {
	double mean, weight; /* the weighted mean of the others' changes, the sum of their weights */
	double factor;	     /* by which the others' variances are larger than expected, at least 1 */
	size_t count;
};

static double weight_of(const struct judged *r)
{
	return 1 / (least_row * least_row + r->noise * r->noise);
}

/* Of the rows whose `taken` is false, without row `except`. */
static struct reference reference_of(const struct judging *j, const bool *taken, size_t except)
{
	struct reference f = {0};
	double squares = 0;

	for (size_t i = 0; i < j->count; i++) {
		const struct judged *r = &j->rows[i];

		if (taken[i] || i == except)
			continue;
		f.weight += weight_of(r);
		f.mean += weight_of(r) * r->change;
		f.count++;
	}
	f.mean = f.weight > 0 ? f.mean / f.weight : 0;
	for (size_t i = 0; i < j->count; i++)
		if (!taken[i] && i != except)
			squares += weight_of(&j->rows[i]) * pow(j->rows[i].change - f.mean, 2);
	f.factor = f.count > 1 ? fmax(1, squares / (double)(f.count - 1)) : 1;
	return f;
}

/* The row that deviates most from the others, with the probability of such a deviation. */
static size_t outlier_find(const struct judging *j, const bool *taken, double *ret_p)
{
	size_t worst = SIZE_MAX;

	*ret_p = 1;
	for (size_t i = 0; i < j->count; i++) {
		struct reference f;
		double t, p;

		if (taken[i])
			continue;
		f = reference_of(j, taken, i);
		if (f.count < LEAST_ROWS - 1)
			return SIZE_MAX;
		t = fabs(j->rows[i].change - f.mean) / sqrt(f.factor * (1 / weight_of(&j->rows[i]) + 1 / f.weight));
		p = 2 * student_tail(t, (double)(f.count - 1) + known / pow(f.factor, 4)) * (double)(f.count + 1);
		if (worst == SIZE_MAX || p < *ret_p) {
			worst = i;
			*ret_p = p;
		}
	}
	return worst;
}

/* The generalized test for outliers: as many as the last one that is significant, of at most a third of the rows, so
 * that several outliers do not hide each other. */
static void judge_rows_by_others(struct judging *j)
{
	SCOPED_MEMORY bool *taken = mem_alloc(j->count + 1);
	size_t *order = mem_alloc((j->count + 1) * sizeof(*order)), found = 0, tried = 0;
	struct reference rest;

	for (size_t i = 0; i < j->count; i++)
		taken[i] = !is_compared(j, &j->rows[i]);
	j->ret->compared += array_sum(item, taken, j->count, !*item);
	while (tried < j->ret->compared / 3) {
		double p;
		size_t at = outlier_find(j, taken, &p);

		if (at == SIZE_MAX)
			break;
		taken[at] = true;
		order[tried++] = at;
		if (p < alpha_rows)
			found = tried;
	}
	while (tried > found)
		taken[order[--tried]] = false;
	rest = reference_of(j, taken, SIZE_MAX);
	j->ret->common = rest.mean;
	for (size_t i = 0; i < found; i++)
		j->rows[order[i]].verdict = j->rows[order[i]].change > rest.mean ? ROW_SLOWER : ROW_FASTER;
	for (size_t i = 0; i < j->count; i++)
		if (j->rows[i].noise >= 0)
			j->rows[i].noise = sqrt(rest.factor / weight_of(&j->rows[i]));
	free(order);
}

/* The relative variance of the mean of one side; negative: not known. */
static double side_variance(const double *variances, const double *times, size_t runs)
{
	double sum = 0;

	for (size_t k = 0; k < runs; k++) {
		if (variances[k] < 0 || times[k] <= 0)
			return -1;
		sum += variances[k] / (double)(runs * runs);
	}
	return sum;
}

static void compare_with_others(struct judging *j)
{
	array_each(struct judged, r, j->rows, j->count) {
		double before = side_variance(r->variances, r->times, j->before),
		       after = side_variance(r->variances + j->before, r->times + j->before, j->after);

		if (r->before <= 0 || r->after <= 0)
			continue;
		r->change = log(r->after / r->before);
		if (before >= 0 && after >= 0)
			r->noise = sqrt(before + after);
	}
	judge_rows_by_others(j);
}

static void judge_pair(struct judging *j)
{
	struct judgement *ret = j->ret;
	double squares = 0;

	compare_with_others(j);
	array_each(const struct judged, r, j->rows, j->count) {
		double share = r->before / ret->before;

		/* The sum does not depend on which row gets a sample. */
		if (r->noise >= 0)
			squares += share * share * fmax(0, r->noise * r->noise - r->samplings[0] - r->samplings[1]);
	}
	ret->change = log(ret->after / ret->before);
	ret->noise = sqrt(squares);
	ret->verdict = exp(ret->change) - 1 + student_above(alpha_not_worse, 1e6) * ret->noise < j->gate
			       ? DIFF_NOT_WORSE
			       : DIFF_UNCLEAR;
}

/* ---- both ---- */

static void judge_runs(struct judging *j)
{
	size_t runs = j->before + j->after;
	SCOPED_MEMORY double *sums = mem_alloc(runs * sizeof(*sums));
	double freedom = (double)(runs - 2), limit = log1p(j->gate);
	struct judgement *ret = j->ret;

	for (size_t k = 0; k < runs; k++)
		sums[k] += array_sum(row, j->rows, j->count, row->times[k]);
	if (j->is_by_others)
		compare_with_others(j);
	else
		judge_rows_of_runs(j);
	ret->verdict = DIFF_UNCLEAR;
	if (compare_runs(j, sums, least_sum, &ret->change, &ret->noise)) {
		if (ret->change >= limit && student_tail(ret->change / ret->noise, freedom) < alpha_sum)
			ret->verdict = DIFF_WORSE;
		else if (ret->change + student_above(alpha_not_worse, freedom) * ret->noise < limit)
			ret->verdict = DIFF_NOT_WORSE;
	}
}

static void find_presence(struct judging *j)
{
	array_each(struct judged, r, j->rows, j->count) {
		bool is_known = true, is_in_all = true;

		r->before = mean_of(r->times, j->before);
		r->after = mean_of(r->times + j->before, j->after);
		r->change = 0;
		r->noise = -1;
		for (size_t k = 0; k < j->before + j->after; k++) {
			is_known &= r->times[k] <= 0 || r->variances[k] >= 0;
			is_in_all &= r->times[k] > 0 || (k < j->before ? r->before : r->after) <= 0;
		}
		if (r->before > 0 && r->after > 0)
			r->verdict = is_known || !j->is_by_others ? ROW_NOISE : ROW_FEW;
		else if (r->before > 0 || r->after > 0)
			r->verdict = !is_known || !is_in_all ? ROW_FEW : r->before > 0 ? ROW_VANISHED : ROW_NEW;
		j->ret->before += r->before;
		j->ret->after += r->after;
	}
}

/* Of a function with a row whose change is no noise, rows with few values count, too: its time may be spread over lines
 * with few samples. */
static double explained_by(const struct judging *j)
{
	SCOPED_MEMORY bool *changed = mem_alloc(j->count + 1);
	double sum = 0;

	for (size_t i = 0; i < j->count; i++)
		changed[j->rows[i].group] |= j->rows[i].verdict >= ROW_SLOWER;
	for (size_t i = 0; i < j->count; i++)
		if (j->rows[i].verdict >= ROW_SLOWER || (changed[j->rows[i].group] && j->rows[i].noise < 0))
			sum += j->rows[i].after * exp(-j->ret->common) - j->rows[i].before;
	return sum / j->ret->before;
}

void judge(struct judged *rows, size_t count, size_t before, size_t after, double gate, struct judgement *ret)
{
	struct judging j = {rows, count, before, after, gate, before + after < LEAST_RUNS, ret};

	*ret = (struct judgement){.verdict = DIFF_UNCLEAR, .is_pair = before + after == 2};
	find_presence(&j);
	if (ret->before <= 0 || ret->after <= 0)
		return;
	if (ret->is_pair)
		judge_pair(&j);
	else
		judge_runs(&j);
	ret->explained = explained_by(&j);
	if (ret->explained >= gate)
		ret->verdict = DIFF_WORSE;
}
