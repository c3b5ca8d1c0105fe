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
