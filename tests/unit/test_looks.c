/* SPDX-License-Identifier: Apache-2.0 */
/* What threads wait for that sleep and look in turn. */
#include "report/causes/causes.h"
#include "report/causes/saving.h"
#include "rule_fixture.h"

static struct writer_thread worker;
static uint16_t f_sleep, f_stat, f_create, f_yield;

static void begin_threads(void)
{
	const uint32_t at[] = {1};

	writer_init(&w, 1, 10, 1, BEGIN);
	f_sleep = writer_function(&w, TF_GROUP_OSRT, "clock_nanosleep");
	f_stat = writer_function(&w, TF_GROUP_OSRT, "stat64");
	f_create = writer_function(&w, TF_GROUP_OSRT, "pthread_create");
	f_yield = writer_function(&w, TF_GROUP_OSRT, "sched_yield");
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	writer_thread(&w, &worker, 11, "worker", 4 * TF_PAGE);
	writer_page(&worker)->start_ticks = BEGIN;
	writer_page(&worker)->end_ticks = BEGIN + 290 * MS;
	writer_python_code(&worker, 1, 7, "/home/u/job.py", "make");
	writer_python_stack(&worker, 1, at, 1);
}

TestSuite(looks, .init = begin_threads, .fini = teardown);

static void sleep_at_line(uint64_t end_us, uint64_t us)
{
	const uint64_t stack[] = {tf_arg(TF_ARG_STACK, 0, 1)};

	writer_call(&worker, f_sleep, BEGIN + end_us * US, us * US, stack, 1);
}

/* What the run of so many ms saves without the line. */
static struct saving saving_without(const char *text, uint64_t run_ms)
{
	struct saving saving;
	struct edit edit;
	struct causality *s;
	struct err err;

	open_model(run_ms * MS);
	s = causes_find(&context);
	cr_assert_not_null(s);
	edit_init(&edit, s);
	cr_assert_eq(edit_parse(s, text, &edit, &err), 0, "%s", err.text);
	saving_find(s, &edit, &saving);
	edit_done(&edit);
	causes_free(s);
	return saving;
}

/* In ms. */
static uint64_t saved_without(const char *text, uint64_t run_ms)
{
	return saving_without(text, run_ms).saved_ns / MS;
}

/* The main thread sleeps so often, until 105 ms, with 1 ms between two sleeps, then works until 300 ms; it may ask for
 * a file before each sleep. Returns what the run saves without the line of
 * the worker. */
static uint64_t saved_of_sleeper(uint64_t sleeps, bool looks)
{
	uint64_t each_ms = 105 / sleeps;

	for (uint64_t i = 0; i < sleeps; i++) {
		if (looks)
			writer_call(&host, f_stat, BEGIN + (i * each_ms + 1) * MS - 10 * US, 2 * US, NULL, 0);
		writer_call(&host, f_sleep, BEGIN + (i + 1) * each_ms * MS, (each_ms - 1) * MS, NULL, 0);
	}
	writer_call(&host, f_stat, BEGIN + 299 * MS, 2 * US, NULL, 0);
	return saved_without("line~job.py:7=0", 300);
}

Test(looks, who_sleeps_and_looks_waits_for_the_one_that_does_something_in_the_last_sleep)
{
	sleep_at_line(95000, 90000);
	sleep_at_line(280000, 185000 - 100);
	cr_expect_eq(saved_of_sleeper(5, true), 90);
}

Test(looks, who_only_sleeps_waits_for_nobody)
{
	sleep_at_line(95000, 90000);
	cr_expect_eq(saved_of_sleeper(5, false), 0);
}

Test(looks, many_short_sleeps_look_at_memory)
{
	sleep_at_line(101000, 99000);
	sleep_at_line(280000, 179000 - 100);
	cr_expect_eq(saved_of_sleeper(15, false), 99);
}

Test(looks, what_was_done_in_other_sleeps_too_was_not_awaited)
{
	sleep_at_line(50000, 45000);
	sleep_at_line(95000, 44900);
	cr_expect_eq(saved_of_sleeper(5, true), 0);
}

/* The main thread creates the worker, which sleeps until then and ends, and sleeps itself until 105 ms. */
static void sleep_after_start(uint64_t until_ms)
{
	const uint32_t at[] = {2};
	const uint64_t stack[] = {tf_arg(TF_ARG_STACK, 0, 2)};

	writer_page(&worker)->start_ticks = BEGIN + MS;
	writer_page(&worker)->end_ticks = BEGIN + until_ms * MS;
	sleep_at_line(until_ms * 1000 - 100, until_ms * 1000 - 2000);
	writer_python_code(&host, 2, 9, "/home/u/job.py", "main");
	writer_python_stack(&host, 2, at, 1);
	writer_call(&host, f_create, BEGIN + MS, 100 * US, NULL, 0);
	writer_call(&host, f_sleep, BEGIN + 105 * MS, 103 * MS, stack, 1);
}

Test(looks, who_starts_a_thread_and_sleeps_until_it_has_ended_waits_for_it)
{
	sleep_after_start(42);
	cr_expect_eq(saved_without("line~job.py:9=0", 300), 63);
}

Test(looks, that_sleep_is_no_shorter_if_the_thread_is)
{
	sleep_after_start(42);
	cr_expect_eq(saved_without("line~job.py:7=0", 300), 0);
}

Test(looks, that_sleep_may_have_been_for_some_time_instead)
{
	struct saving saving;

	sleep_after_start(42);
	saving = saving_without("line~job.py:9=0", 300);
	cr_expect_gt(saving.high_ns, 103 * MS);
	cr_expect_lt(saving.low_ns, 63 * MS);
}

Test(looks, what_lives_on_after_the_sleep_was_not_awaited)
{
	sleep_after_start(142);
	cr_expect_eq(saved_without("line~job.py:9=0", 300), 103);
}

Test(looks, a_sleep_is_for_what_was_started_since_the_one_before)
{
	sleep_after_start(142);
	writer_call(&host, f_create, BEGIN + 106 * MS, 100 * US, NULL, 0);
	writer_call(&host, f_sleep, BEGIN + 205 * MS, 98 * MS, NULL, 0);
	cr_expect_eq(saved_without("line~job.py:9=0", 300), 103);
}

/* The main thread has 200 ms of CPU time, so many of them in sched_yield(), beside a worker that sleeps for 90 ms. */
static struct saving saving_beside_yields(uint64_t yields_ms, const char *text)
{
	sleep_at_line(95000, 90000);
	writer_counter(&host, f_yield, f_yield, (struct tf_counter){.calls = 1000, .ticks = yields_ms * MS});
	writer_usage(&host, &(struct tf_usage){BEGIN + 299 * MS, 200 * MS, 10 * MS, 10, 0, 0, 0});
	return saving_without(text, 300);
}

static uint64_t saved_beside_yields(uint64_t yields_ms)
{
	return saving_beside_yields(yields_ms, "line~job.py:7=0").saved_ns / MS;
}

Test(looks, who_yields_may_wait_for_some_time_instead)
{
	struct saving saving = saving_beside_yields(170, "line~job.py:7=0");

	cr_expect_eq(saving.low_ns, 0);
	cr_expect_geq(saving.high_ns, 90 * MS);
}

Test(looks, who_yields_may_not_wait_for_a_function)
{
	struct saving saving = saving_beside_yields(170, "function~make=0");

	cr_expect_eq(saving.low_ns, 0);
	cr_expect_geq(saving.high_ns, 90 * MS);
}

Test(looks, who_only_yields_goes_on_when_others_have_done_something)
{
	cr_expect_eq(saved_beside_yields(170), 90);
}

Test(looks, who_computes_between_its_yields_waits_for_nobody)
{
	cr_expect_eq(saved_beside_yields(120), 0);
}
