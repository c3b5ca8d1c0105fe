/* SPDX-License-Identifier: Apache-2.0 */
/* What FIX FIRST says of a team of OpenMP whose waits are not recorded: of what samples below its runtime tell. */
#include <criterion/criterion.h>
#include <string.h>

#include "summarized.h"

SUMMARIZED_SUITE(balance);

enum { SERIAL = 1, TEAM, POLL, OWN };

static struct writer w;
static struct writer_thread host, second;
static uint16_t f_sleep;

static void begin(void)
{
	const uint64_t serial[] = {0x1010}, team[] = {0x1020, 0x2010}, poll[] = {0x2020};

	writer_init(&w, 1, 10, 1, BEGIN);
	f_sleep = writer_function(&w, TF_GROUP_OSRT, "usleep");
	writer_command(&w, "/usr/bin/python3", "python3\0dir/train.py", 21);
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	writer_thread(&w, &second, 11, "main", 4 * TF_PAGE);
	writer_module(&host, 0x1000, 0x2000, 0, NULL, 0, "/home/u/dir/solver.so");
	writer_module(&host, 0x2000, 0x3000, 0, NULL, 0, "/usr/lib/libgomp.so.1");
	writer_python_code(&host, 1, 3, "/home/u/dir/train.py", "loop");
	writer_python_code(&host, 2, 9, "/home/u/dir/train.py", "step");
	writer_python_code(&host, 3, 20, "/home/u/dir/train.py", "serve");
	writer_python_stack(&host, SERIAL, (uint32_t[]){2}, 1);
	writer_blob(&host, TF_BLOB_STACK, SERIAL, serial, sizeof(serial));
	writer_python_stack(&host, TEAM, (uint32_t[]){1, 2}, 2);
	writer_blob(&host, TF_BLOB_STACK, TEAM, team, sizeof(team));
	writer_blob(&host, TF_BLOB_STACK, POLL, poll, sizeof(poll));
	writer_python_stack(&host, OWN, (uint32_t[]){3}, 1);
	writer_blob(&host, TF_BLOB_STACK, OWN, serial, sizeof(serial));
}

/* So many samples of 10 ms, of which the first are in one stack, and the others in another. The thread waited for a CPU
 * for as long as it says, spread over its time. */
static void compute(struct writer_thread *t, uint32_t tid, uint64_t first_ms, uint32_t first, uint64_t then_ms,
		    uint32_t then, uint64_t delay_ms)
{
	uint64_t cpu_ms = first_ms + then_ms, wall_ms = cpu_ms + delay_ms;

	for (uint64_t ms = 10; ms <= cpu_ms; ms += 10)
		writer_sample(t, BEGIN + ms * wall_ms / cpu_ms * MS, 10000, ms <= first_ms ? first : then);
	writer_usage(&host, &(struct tf_usage){BEGIN + 1000 * MS, cpu_ms * MS, delay_ms * MS, tid, 0, 0, 0});
	writer_page(t)->start_ticks = BEGIN + MS;
	writer_page(t)->end_ticks = BEGIN + 1000 * MS;
}

static const char *finish(void)
{
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 1000 * MS);
	return summarize(&w, NULL);
}

#define UNEQUAL "have unequal work"

/* 200 ms in series, then 800 and 200 ms; the one with less polls until the other one has ended. */
static const char *summary_of_team(uint64_t other_ms, uint64_t poll_ms, uint64_t delay_ms)
{
	begin();
	compute(&host, 10, 200, SERIAL, 800, TEAM, 0);
	compute(&second, 11, other_ms, TEAM, poll_ms, POLL, delay_ms);
	return finish();
}

Test(balance, a_team_waits_for_the_one_with_most_work)
{
	const char *summary = summary_of_team(200, 600, 0);

	/* at most the 300 ms above the mean, less the error of the samples */
	cr_expect(strstr(summary, "FIX FIRST  main and thread train.py main have unequal work: one has 800 ms, on "
				  "average they have 500 ms: train.py:3 loop, called from train.py:9; saves 243 to "
				  "300 ms if all had the same work\n"), "%s", summary);
}

Test(balance, equal_work_is_what_computes)
{
	const char *summary = summary_of_team(700, 100, 0);

	cr_expect(strstr(summary, "FIX FIRST  1.00 s of 1.00 s") && !strstr(summary, UNEQUAL), "%s", summary);
}

/* With a schedule that gives work to whoever is free. */
Test(balance, who_had_no_cpu_has_done_less_and_waits_for_nobody)
{
	const char *summary = summary_of_team(200, 0, 799);

	cr_expect(!strstr(summary, UNEQUAL), "%s", summary);
}

/* It cannot take over the 300 ms above the mean in its 150 ms beside its own work. */
Test(balance, a_member_has_time_while_it_exists_only)
{
	const char *summary;

	begin();
	compute(&host, 10, 200, SERIAL, 800, TEAM, 0);
	compute(&second, 11, 200, TEAM, 0, POLL, 0);
	writer_page(&second)->end_ticks = BEGIN + 351 * MS;
	summary = finish();
	cr_expect(strstr(summary, "one has 800 ms, on average they have 500 ms: train.py:3 loop, called from "
				  "train.py:9; saves 108 to 192 ms if"), "%s", summary);
}

/* As one that reads what the other one computes with. */
Test(balance, recorded_waits_are_no_time_to_take_work_over)
{
	const char *summary;

	begin();
	compute(&host, 10, 200, SERIAL, 800, TEAM, 0);
	compute(&second, 11, 200, TEAM, 0, POLL, 0);
	writer_call(&second, f_sleep, BEGIN + 900 * MS, 649 * MS, NULL, 0);
	summary = finish();
	cr_expect(strstr(summary, "one has 800 ms, on average they have 500 ms: train.py:3 loop, called from "
				  "train.py:9; saves 108 to 192 ms if"), "%s", summary);
}

/* What the others take over may then be as long as it was. The times are with the waits for a CPU. */
Test(balance, where_others_hold_the_cpus_it_may_save_nothing)
{
	const char *summary;

	begin();
	compute(&host, 10, 0, SERIAL, 400, TEAM, 500);
	compute(&second, 11, 50, TEAM, 150, POLL, 250);
	summary = finish();
	cr_expect(strstr(summary, "one has 900 ms, on average they have 506 ms: train.py:3 loop, called from "
				  "train.py:9; saves at most 394 ms if"), "%s", summary);
}

/* A busy machine adds to what it saves, and is no reason to do it. */
Test(balance, a_difference_that_is_small_as_cpu_time_is_not_first)
{
	const char *summary;

	begin();
	compute(&host, 10, 0, SERIAL, 200, TEAM, 750);
	compute(&second, 11, 80, TEAM, 300, POLL, 0);
	summary = finish();
	cr_expect(strstr(summary, "FIX FIRST  1.00 s of 1.00 s pass through these;"), "%s", summary);
}

Test(balance, what_may_save_nothing_comes_after_a_hot_place)
{
	const char *summary;

	begin();
	compute(&host, 10, 240, SERIAL, 260, TEAM, 500);
	compute(&second, 11, 40, TEAM, 150, POLL, 250);
	summary = finish();
	cr_expect(strstr(summary, "FIX FIRST  1.00 s of 1.00 s at train.py:9 step;"), "%s", summary);
	cr_expect(strstr(summary, "one has 520 ms, on average they have 300 ms: train.py:3 loop, called from "
				  "train.py:9; saves at most 220 ms if"), "%s", summary);
}

Test(balance, what_main_does_alone_comes_before_a_little_of_a_team)
{
	const char *summary;

	begin();
	compute(&host, 10, 700, SERIAL, 300, TEAM, 0);
	compute(&second, 11, 50, TEAM, 250, POLL, 0);
	summary = finish();
	cr_expect(strstr(summary, "FIX FIRST  1.00 s of 1.00 s at train.py:9 step;"), "%s", summary);
	cr_expect(strstr(summary, "then       main and thread train.py main " UNEQUAL), "%s", summary);
}

Test(balance, threads_beside_a_team_are_none_of_it)
{
	const char *summary;

	begin();
	compute(&host, 10, 200, SERIAL, 800, TEAM, 0);
	compute(&second, 11, 200, TEAM, 600, OWN, 0);
	summary = finish();
	cr_expect(!strstr(summary, UNEQUAL), "%s", summary);
}
