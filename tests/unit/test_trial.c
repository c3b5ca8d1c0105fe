/* SPDX-License-Identifier: Apache-2.0 */
/* How often the judgement on two commands is wrong, by durations with planted differences. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "report/answers/diff/trial.h"

enum { RUNS = 10, TRIALS = 1000 };

static uint64_t state;

/* The seeds are the same in each run, so the outcomes are, too. */
static double uniform(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* Shares of trials. */
struct outcome {
	double verdicts[3], faster, covered;
};

static struct outcome try_all(double change, double deviation, double gate)
{
	struct outcome o = {{0}, 0, 0};
	double times[2 * RUNS];

	state = 26;
	for (int n = 0; n < TRIALS; n++) {
		struct trial t = {.times = times, .runs = RUNS, .gate = gate};

		for (int i = 0; i < 2 * RUNS; i++)
			times[i] = 1e8 * (i < RUNS ? 1 : 1 + change) * exp(deviation * normal());
		trial_judge(&t);
		o.verdicts[t.verdict] += 1.0 / TRIALS;
		o.faster += (t.high < 1) / (double)TRIALS;
		o.covered += (t.low <= 1 + change && 1 + change <= t.high) / (double)TRIALS;
	}
	cr_log_info("%+.0f %%, gate %g, deviation %g: not slower %.3f, slower %.3f, cannot judge %.3f, faster %.3f, "
		    "covered %.3f\n", 100 * change, gate, deviation, o.verdicts[DIFF_NOT_WORSE],
		    o.verdicts[DIFF_WORSE], o.verdicts[DIFF_UNCLEAR], o.faster, o.covered);
	return o;
}

Test(trial, equal_commands_are_not_told_apart)
{
	static const double deviations[] = {0.01, 0.05};

	for (int i = 0; i < 2; i++) {
		struct outcome o = try_all(0, deviations[i], 0.03);

		cr_expect_leq(o.verdicts[DIFF_WORSE], 0.05);
		cr_expect_leq(o.faster, 0.05);
		cr_expect_geq(o.covered, 0.92);
	}
	cr_expect_geq(try_all(0, 0.01, 0.03).verdicts[DIFF_NOT_WORSE], 0.95);
}

Test(trial, gains_are_accepted_and_measured)
{
	static const double gains[] = {-0.02, -0.05, -0.20};

	for (int i = 0; i < 3; i++) {
		struct outcome o = try_all(gains[i], 0.01, 0.03);

		cr_expect_geq(o.verdicts[DIFF_NOT_WORSE], 0.95);
		cr_expect_geq(o.covered, 0.92);
		cr_expect_geq(o.faster, 0.9);
	}
}

Test(trial, slower_commands_are_not_accepted)
{
	static const double losses[] = {0.02, 0.05, 0.20};

	for (int i = 0; i < 3; i++) {
		double gate = losses[i] > 0.03 ? 0.03 : 0.01;
		struct outcome exact = try_all(losses[i], 0.01, gate), noisy = try_all(losses[i], 0.05, gate);

		cr_expect_leq(exact.verdicts[DIFF_NOT_WORSE], 0.05);
		cr_expect_leq(noisy.verdicts[DIFF_NOT_WORSE], 0.05);
		cr_expect_leq(noisy.faster, 0.05);
		cr_expect_geq(exact.verdicts[DIFF_WORSE], 0.9);
	}
}

Test(trial, reason_has_the_ratio_and_the_verdict)
{
	double times[] = {100, 101, 99, 50, 51, 49};
	struct trial t = {.times = times, .runs = 3, .gate = 0.03};
	struct buffer reason = {0};

	trial_judge(&t);
	trial_reason(&t, &reason);
	cr_expect_eq(t.verdict, DIFF_NOT_WORSE);
	cr_expect_str_eq(buffer_string(&reason), "B is 2.00 times as fast (1.93 to 2.07): B is faster");
	buffer_done(&reason);
}

static void reason_is(double ratio, double low, double high, enum diff_verdict verdict, const char *wanted)
{
	struct trial t = {.gate = 0.03, .verdict = verdict, .ratio = ratio, .low = low, .high = high};
	struct buffer reason = {0};

	trial_reason(&t, &reason);
	cr_expect_str_eq(buffer_string(&reason), wanted);
	buffer_done(&reason);
}

Test(trial, reason_has_as_many_decimals_as_the_interval)
{
	reason_is(1 / 6.0, 1 / 6.4, 1 / 5.6, DIFF_NOT_WORSE, "B is 6.0 times as fast (5.6 to 6.4): B is faster");
	reason_is(0.05, 0.04, 0.06, DIFF_NOT_WORSE, "B is 20 times as fast (17 to 25): B is faster");
	reason_is(2.1, 1.9, 2.3, DIFF_WORSE, "B takes 2.1 times as long (1.9 to 2.3): B is slower");
	reason_is(1.2, 1.004, 1.5, DIFF_WORSE, "B takes 1.200 times as long (1.004 to 1.500): B is slower");
	reason_is(1, 0.99, 1.01, DIFF_NOT_WORSE,
		  "B is 1.000 times as fast (0.990 to 1.010): B is not slower by 3 % or more");
	reason_is(1.01, 0.9, 1.1, DIFF_UNCLEAR, "B takes 1.01 times as long (0.90 to 1.10): cannot judge whether B is "
						"slower by 3 %; more runs (-n) narrow the interval");
}

/* B is not called "not slower by 3 % or more" beside an interval that has 1.04, nor slower beside one that has 1. */
Test(trial, verdict_is_supported_by_the_interval)
{
	double times[2 * RUNS];

	state = 5;
	for (int n = 0; n < 20 * TRIALS; n++) {
		struct trial t = {.times = times, .runs = 3 + (size_t)(n % 8), .gate = 0.03};
		double change = 0.1 * uniform() - 0.03, deviation = 0.05 * uniform();

		for (size_t i = 0; i < 2 * t.runs; i++)
			times[i] = 1e8 * (i < t.runs ? 1 : 1 + change) * exp(deviation * normal());
		trial_judge(&t);
		cr_assert(t.verdict != DIFF_NOT_WORSE || t.high < 1.03);
		cr_assert(t.verdict != DIFF_WORSE || (t.low > 1 && t.ratio >= 1.03));
		cr_assert(t.verdict != DIFF_UNCLEAR || t.high >= 1.03);
	}
}

Test(trial, slope_is_that_of_the_line)
{
	const double x[] = {0, 0, 10, 10}, y[] = {5, 5, 12, 12};
	struct slope s = slope_fit(x, y, 4);

	cr_expect_float_eq(s.slope, 0.7, 1e-9);
	cr_expect_float_eq(s.low, 0.7, 1e-9);
	cr_expect_float_eq(s.high, 0.7, 1e-9);
}

Test(trial, interval_of_a_slope_has_the_slope)
{
	double x[2 * RUNS], y[2 * RUNS], covered = 0;

	state = 7;
	for (int n = 0; n < TRIALS; n++) {
		struct slope s;

		for (int i = 0; i < 2 * RUNS; i++) {
			x[i] = i % 2 * 200.0;
			y[i] = 1000 + 0.25 * x[i] + 20 * normal();
		}
		s = slope_fit(x, y, 2 * RUNS);
		covered += (s.low <= 0.25 && 0.25 <= s.high) / (double)TRIALS;
	}
	cr_expect_geq(covered, 0.93);
	cr_expect_leq(covered, 0.97);
}

/* The residuals of 1, 3, 2, 4 are -0.3, 0.9, -0.9, 0.3; 4.302653 standard errors are 1.825461. */
Test(trial, interval_of_a_slope_follows_from_the_residuals)
{
	const double x[] = {1, 2, 3, 4}, y[] = {1, 3, 2, 4};
	struct slope s = slope_fit(x, y, 4);

	cr_expect_float_eq(s.slope, 0.8, 1e-9);
	cr_expect_float_eq(s.low, 0.8 - 1.825461, 1e-5);
	cr_expect_float_eq(s.high, 0.8 + 1.825461, 1e-5);
}

/* Runs that do not vary: the interval is 2.776445 * 0.001 * sqrt(2 / 3) to both sides, as a logarithm. */
Test(trial, verdict_turns_where_the_interval_meets_the_gate)
{
	static const struct {
		double ratio;
		enum diff_verdict verdict;
	} cases[] = {{0.5, DIFF_NOT_WORSE}, {1, DIFF_NOT_WORSE}, {1.0974, DIFF_NOT_WORSE}, {1.0976, DIFF_UNCLEAR},
		     {1.0999, DIFF_UNCLEAR}, {1.1001, DIFF_WORSE}, {2, DIFF_WORSE}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double b = cases[i].ratio, times[] = {1, 1, 1, b, b, b};
		struct trial t = {.times = times, .runs = 3, .gate = 0.1};

		trial_judge(&t);
		cr_expect_eq(t.verdict, cases[i].verdict, "%g", b);
		cr_expect_float_eq(t.ratio, b, 1e-9);
		cr_expect_float_eq(log(t.high / b), 0.00226696, 1e-7);
		cr_expect_float_eq(log(b / t.low), 0.00226696, 1e-7);
	}
}

/* ---- several rows ---- */

enum { ROWS_MOST = 8 };

/* Of each row the runs, three of each side, and what is expected of it. */
struct judged_row {
	double times[6];
	size_t group;
	double before, after;
	enum row_verdict verdict;
};

static struct judgement judge_made(const struct judged_row *made, size_t count, size_t runs, double variance,
				   double sampling, struct judged *rows)
{
	double variances[6], samplings[6];
	struct judgement ret;

	for (size_t i = 0; i < 6; i++) {
		variances[i] = variance;
		samplings[i] = sampling;
	}
	for (size_t i = 0; i < count; i++)
		rows[i] = (struct judged){.times = made[i].times, .variances = variances, .samplings = samplings,
					  .group = made[i].group};
	judge(rows, count, runs, runs, 0.03, &ret);
	for (size_t i = 0; i < count; i++) {
		cr_expect_eq(rows[i].verdict, made[i].verdict, "row %zu: %d", i, rows[i].verdict);
		cr_expect_float_eq(rows[i].before, made[i].before, 1e-9, "row %zu", i);
		cr_expect_float_eq(rows[i].after, made[i].after, 1e-9, "row %zu", i);
		rows[i].variances = rows[i].samplings = NULL;
	}
	return ret;
}

/* What a row of the group of a changed one lost or got counts, too, though it has few values. */
Test(judge, rows_of_several_runs)
{
	static const struct judged_row made[] = {
	    {{100, 100, 100, 110, 110, 110}, 0, 100, 110, ROW_SLOWER},
	    {{200, 200, 200, 180, 180, 180}, 1, 200, 180, ROW_FASTER},
	    {{300, 300, 300, 300, 300, 300}, 2, 300, 300, ROW_NOISE},
	    {{0, 0, 0, 5, 5, 5}, 3, 0, 5, ROW_NEW},
	    {{4, 4, 4, 0, 0, 0}, 4, 4, 0, ROW_VANISHED},
	    {{6, 6, 0, 0, 0, 0}, 0, 4, 0, ROW_FEW},
	    {{0, 0, 0, 0, 6, 6}, 5, 0, 4, ROW_FEW},
	    {{0, 6, 6, 0, 3, 3}, 1, 4, 2, ROW_NOISE},
	};
	struct judged rows[ROWS_MOST];
	struct judgement j = judge_made(made, 8, 3, 0, 0, rows);

	cr_expect_eq(j.compared, 3);
	cr_expect_float_eq(j.before, 612, 1e-9);
	cr_expect_float_eq(j.after, 601, 1e-9);
	cr_expect_float_eq(rows[0].change, log(1.1), 1e-9);
	cr_expect_float_eq(rows[1].change, log(0.9), 1e-9);
	cr_expect_float_eq(rows[2].noise, 0.005 * sqrt(2.0 / 3), 1e-9);
	cr_expect_lt(rows[7].noise, 0, "a run without it");
	/* + 10 - 20 + 5 - 4, - 4 of the group of the first row, - 2 of that of the second */
	cr_expect_float_eq(j.explained, -15.0 / 612, 1e-9);
}

/* A group is changed by a row that is slower, faster, new or gone, by each alone; by noise it is not. */
Test(judge, each_change_of_a_row_is_one_of_its_group)
{
	static const struct {
		struct judged_row row;
		double explained;
	} cases[] = {
	    {{{100, 100, 100, 102.9, 102.9, 102.9}, 0, 100, 102.9, ROW_SLOWER}, 2.9 - 4},
	    {{{100, 100, 100, 95, 95, 95}, 0, 100, 95, ROW_FASTER}, -5 - 4},
	    {{{0, 0, 0, 5, 5, 5}, 0, 0, 5, ROW_NEW}, 5 - 4},
	    {{{5, 5, 5, 0, 0, 0}, 0, 5, 0, ROW_VANISHED}, -5 - 4},
	    {{{100, 100, 100, 100, 100, 100}, 0, 100, 100, ROW_NOISE}, 0},
	    {{{0, 5, 5, 0, 0, 0}, 0, 10 / 3.0, 0, ROW_FEW}, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct judged_row made[] = {cases[i].row, {{6, 6, 0, 0, 0, 0}, 0, 4, 0, ROW_FEW},
					    {{400, 400, 400, 400, 400, 400}, 1, 400, 400, ROW_NOISE}};
		struct judged rows[ROWS_MOST];
		struct judgement j = judge_made(made, 3, 3, 0, 0, rows);

		cr_expect_float_eq(j.explained, cases[i].explained / j.before, 1e-9, "case %zu: %g", i,
				   j.explained * j.before);
	}
}

/* Both commands by one row: 1.533206 standard errors of 4 degrees of freedom are 0.0012519. */
Test(judge, the_sum_of_several_runs_turns_at_the_gate)
{
	static const struct {
		double change;
		enum diff_verdict verdict;
	} cases[] = {{0.0282, DIFF_NOT_WORSE}, {0.0284, DIFF_UNCLEAR}, {0.02955, DIFF_UNCLEAR}, {0.0296, DIFF_WORSE}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		double b = exp(cases[i].change);
		struct judged_row made = {{1, 1, 1, b, b, b}, 0, 1, b, ROW_SLOWER};
		struct judged row;
		struct judgement j = judge_made(&made, 1, 3, 0, 0, &row);

		cr_expect_eq(j.verdict, cases[i].verdict, "%g", cases[i].change);
		cr_expect_float_eq(j.change, cases[i].change, 1e-9);
		cr_expect_float_eq(j.noise, 0.001 * sqrt(2.0 / 3), 1e-9);
		cr_expect_not(j.is_pair);
	}
}

/* Of a pair, a row is compared with at least three others; a row in noise of 0.015 that doubles is an outlier. */
Test(judge, a_row_of_a_pair_is_compared_with_the_others)
{
	for (size_t count = 3; count <= 6; count++) {
		struct judged_row made[6];
		struct judged rows[ROWS_MOST];
		struct judgement j;
		bool is_told = count > 3;

		for (size_t i = 0; i < count; i++)
			made[i] = (struct judged_row){{100, 100}, i, 100, 100, ROW_NOISE};
		made[1] = (struct judged_row){{100, 200}, 1, 100, 200, is_told ? ROW_SLOWER : ROW_NOISE};
		j = judge_made(made, count, 1, 1e-4, 0, rows);
		cr_expect(j.is_pair);
		cr_expect_eq(j.compared, count);
		cr_expect_eq(j.verdict, is_told ? DIFF_WORSE : DIFF_UNCLEAR, "%zu rows", count);
		cr_expect_float_eq(j.common, is_told ? 0 : log(2) / 3, 1e-9, "%zu rows", count);
		cr_expect_float_eq(j.explained, is_told ? 1.0 / (double)count : 0, 1e-9, "%zu rows", count);
	}
}

/* Five rows with a standard error of sqrt(0.005 * 0.005 + 2 * variance) = 0.015 each. */
Test(judge, the_noise_of_a_pair_is_without_that_of_samples)
{
	struct judged_row made[5];
	struct judged rows[ROWS_MOST];
	struct judgement j;

	for (size_t i = 0; i < 5; i++)
		made[i] = (struct judged_row){{100, 100}, i, 100, 100, ROW_NOISE};
	j = judge_made(made, 5, 1, 1e-4, 0, rows);
	cr_expect_float_eq(rows[0].noise, 0.015, 1e-9);
	cr_expect_float_eq(j.noise, sqrt(5 * 0.04 * 0.000225), 1e-9);
	cr_expect_eq(j.verdict, DIFF_NOT_WORSE);
	j = judge_made(made, 5, 1, 1e-4, 5e-5, rows);
	cr_expect_float_eq(j.noise, 0.005, 1e-9);
	for (size_t i = 0; i < 5; i++)
		made[i].verdict = ROW_FEW;
	j = judge_made(made, 5, 1, -1, 0, rows);
	cr_expect_eq(j.compared, 0);
	cr_expect_float_eq(j.noise, 0, 1e-9);
}

/* A thousandth of the sum is compared, less is not. */
Test(judge, a_row_takes_part_from_a_thousandth_on)
{
	for (int i = 0; i < 2; i++) {
		double others = 999 + i;
		struct judged_row made[] = {{{others, others}, 0, others, others, ROW_NOISE},
					    {{1, 1}, 1, 1, 1, ROW_NOISE}};
		struct judged rows[ROWS_MOST];

		cr_expect_eq(judge_made(made, 2, 1, 1e-4, 0, rows).compared, 2 - (size_t)i);
	}
}
