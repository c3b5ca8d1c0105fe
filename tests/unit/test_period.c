/* SPDX-License-Identifier: Apache-2.0 */
/* Loops in sequences of calls, of which each is a letter and takes 10 ns; a dot is 10 ns without a call. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report/time/steps/period.h"
#include "report/time/steps/steps.h"

static struct looped_call *calls;
static size_t count, capacity;
static uint64_t now;
static struct period period;

static void add(const char *text)
{
	for (; *text; text++, now += 10)
		if (*text != '.') {
			calls = mem_grow(calls, count, &capacity, sizeof(*calls));
			calls[count++] = (struct looped_call){now, now + 10, (uint32_t)(unsigned char)*text};
		}
}

static void teardown(void)
{
	period_done(&period);
	free(calls);
	calls = NULL;
	count = capacity = 0;
	now = 0;
}

TestSuite(period, .fini = teardown);

static bool find(void)
{
	return period_find(calls, count, 256, NULL, now, &period);
}

/* The n-th step begins with this call, counted from the start. */
static void assert_step(size_t n, size_t call)
{
	cr_assert_lt(n, period.count);
	cr_expect_eq(period.firsts[n], call, "step %zu begins with call %u, not %zu", n, period.firsts[n], call);
}

Test(period, a_loop_begins_where_its_first_turn_does)
{
	add("xyz");
	for (int i = 0; i < 20; i++)
		add("abc");
	add("uvw");
	cr_assert(find());
	cr_expect_eq(period.count, 20);
	for (size_t i = 0; i < 20; i++)
		assert_step(i, 3 + 3 * i);
	cr_expect_eq(period.after, 63);
}

Test(period, calls_around_the_loop_may_look_like_those_in_it)
{
	add("bxay");
	for (int i = 0; i < 20; i++)
		add("abc");
	add("aub");
	cr_assert(find());
	cr_expect_eq(period.count, 20);
	assert_step(0, 4);
	assert_step(19, 4 + 57);
}

Test(period, an_inner_loop_is_a_part_of_the_step)
{
	add("xyz");
	for (int i = 0; i < 20; i++)
		add("a..bbbbc");
	cr_assert(find());
	cr_expect_eq(period.count, 20);
	assert_step(7, 3 + 7 * 6);
}

Test(period, an_inner_loop_may_have_any_number_of_turns)
{
	static const char *const turns[] = {"b", "bbb", "bb", "bbbb", "bbb"};
	size_t at = 3;

	add("xyz");
	for (size_t i = 0; i < 40; i++) {
		add("c");
		add(turns[i % 5]);
		add("de");
	}
	cr_assert(find());
	cr_expect_eq(period.count, 40);
	for (size_t i = 0; i < 40; i++) {
		assert_step(i, at);
		at += strlen(turns[i % 5]) + 3;
	}
}

Test(period, what_each_tenth_step_does_is_at_its_end)
{
	size_t at = 1;

	add("x");
	for (size_t i = 0; i < 60; i++) {
		add(i % 10 == 9 ? "abcr" : "abc");
		at += 3 + (i % 10 == 9);
	}
	cr_assert(find());
	cr_expect_eq(period.count, 60);
	assert_step(10, 1 + 31);
	assert_step(59, at - 4);
}

Test(period, epochs_are_around_the_steps)
{
	for (int epoch = 0; epoch < 3; epoch++) {
		for (int i = 0; i < 30; i++)
			add("abcd");
		add("v");
	}
	cr_assert(find());
	cr_expect_eq(period.count, 90);
	assert_step(30, 121);
}

Test(period, a_start_that_looks_for_files_is_no_loop)
{
	float importance[256];

	for (int i = 0; i < 256; i++)
		importance[i] = strchr("oscd", i) ? 0.15f : 1;
	for (int i = 0; i < 100; i++)
		add(i % 3 ? "ssor" : "dssorc");
	for (int i = 0; i < 40; i++)
		add("a.........b.........r.........");
	cr_assert(period_find(calls, count, 256, importance, now, &period));
	cr_expect_eq(period.count, 40);
}

Test(period, chance_is_no_loop)
{
	uint64_t seed = 7;

	for (int i = 0; i < 400; i++) {
		char text[2] = {(char)('A' + (seed >> 33) % 40)};

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		add(text);
	}
	cr_expect_not(find());
}

/* One call in each step, of which two take 40 times as long. */
static void loop_of_one_call(void)
{
	for (int i = 0; i < 100; i++)
		add(i % 50 == 10 ? "x........................................" : i % 2 ? "x..." : "x.....");
}

Test(period, a_step_may_have_one_call)
{
	add("abcdefg");
	loop_of_one_call();
	cr_assert(find());
	cr_expect(period.is_of_one);
	cr_expect_eq(period.count, 100);
	for (size_t i = 0; i < 100; i++)
		assert_step(i, 7 + i);
}

Test(period, a_call_soon_after_the_only_one_is_of_the_same_step)
{
	for (int i = 0; i < 100; i++)
		add(i % 20 == 7 ? "xx........." : "x..........");
	cr_assert(find());
	cr_expect_eq(period.count, 100);
	assert_step(7, 7);
	assert_step(8, 9);
}

Test(period, calls_at_random_times_are_no_loop)
{
	uint64_t seed = 11;

	/* of a Poisson process: with the same chance in each 10 ns */
	for (int i = 0; i < 4000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		add((seed >> 33) % 20 ? "." : "x");
	}
	cr_expect_not(find());
}

/* What some steps call is called so often at the start that the start has most calls, but little of the time. */
Test(period, the_start_may_call_what_the_steps_call)
{
	for (int i = 0; i < 20; i++)
		add("fooscccosccco" "osocscoccsosoccsccosocsoccsocsocscooscsosocccsoosccocso");
	for (int i = 0; i < 300; i++)
		add(i % 3 ? "ow.............................c" : "fow............................c");
	cr_assert(find());
	cr_expect_eq(period.count, 300);
}

Test(period, nothing_is_no_loop)
{
	cr_expect_not(period_find(NULL, 0, 0, NULL, 0, &period));
	add("abcabc");
	cr_expect_not(find());
}

/* ---- marks ---- */

static struct step_series series;

static void steps(size_t n, uint64_t ns)
{
	for (size_t i = 0; i < n; i++) {
		/* within 2 % */
		uint64_t length = ns + ns * ((series.count * 7) % 5) / 200;

		step_add(&series, now, now + length);
		now += length;
	}
}

static void series_done(void)
{
	free(series.items);
	series = (struct step_series){0};
	now = 0;
}

TestSuite(marks, .fini = series_done);

Test(marks, warm_up_is_what_is_slower_at_the_beginning)
{
	steps(1, 9000);
	steps(2, 2000);
	steps(30, 1000);
	steps_mark(&series);
	for (size_t i = 0; i < series.count; i++) {
		cr_expect_eq(series.items[i].is_warmup, i < 3, "step %zu", i);
		cr_expect_not(series.items[i].is_slow);
		cr_expect_float_eq(series.items[i].change, 0, 0);
	}
}

Test(marks, a_slow_step_is_one_among_others)
{
	steps(20, 1000);
	steps(1, 3000);
	steps(20, 1000);
	steps_mark(&series);
	for (size_t i = 0; i < series.count; i++)
		cr_expect_eq(series.items[i].is_slow, i == 20, "step %zu", i);
}

Test(marks, a_change_stays)
{
	steps(25, 1000);
	steps(25, 1400);
	steps(25, 700);
	steps_mark(&series);
	for (size_t i = 0; i < series.count; i++) {
		cr_expect_eq(series.items[i].change > 0, i == 25 || i == 50, "step %zu", i);
		cr_expect_not(series.items[i].is_slow);
	}
	cr_expect_float_eq(series.items[25].change, 1.4, 0.03);
	cr_expect_float_eq(series.items[50].change, 0.5, 0.02);
	cr_expect_float_eq((double)series.items[30].usual_ns, 1400, 30);
}

Test(marks, noise_is_no_change)
{
	uint64_t seed = 1;

	for (size_t i = 0; i < 200; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		step_add(&series, now, now + 1000 + (seed >> 33) % 300);
		now += 2000;
	}
	steps_mark(&series);
	for (size_t i = 0; i < series.count; i++)
		cr_expect(series.items[i].change == 0 && !series.items[i].is_slow, "step %zu", i);
}

Test(marks, a_slow_step_is_known_once_when_others_have_followed)
{
	struct step_list list = {&series, 1, 1};
	const struct step_series *of = NULL;
	struct slow_step wanted = {2, 1000000, 0, 0};
	uint64_t known_ns;

	steps(3, 1000);
	steps(1, 5000); /* too early to be judged */
	steps(16, 1000);
	steps(1, 3000);
	steps(20, 1000);
	steps_mark(&series);
	known_ns = series.items[20 + STEPS_AFTER].end_ns;
	wanted.to_ns = known_ns - 1;
	cr_expect_null(steps_slow(&list, &wanted, &of));
	wanted.from_ns = wanted.to_ns++;
	cr_expect_eq(steps_slow(&list, &wanted, &of), &series.items[20]);
	cr_expect_eq(of, &series);
	wanted.factor = 3.5;
	cr_expect_null(steps_slow(&list, &wanted, &of));
	wanted.factor = 2;
	wanted.from_ns = wanted.to_ns;
	wanted.to_ns = UINT64_MAX;
	cr_expect_null(steps_slow(&list, &wanted, &of));
	wanted = (struct slow_step){2, 100, series.items[20].end_ns + 99, series.items[20].end_ns + 100};
	cr_expect_eq(steps_slow(&list, &wanted, &of), &series.items[20], "none has followed, but the time has passed");
}
