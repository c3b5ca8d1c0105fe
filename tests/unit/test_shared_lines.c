/* SPDX-License-Identifier: Apache-2.0 */
/* Unequal work of a program and of a thread that it has started. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "summarized.h"

SUMMARIZED_SUITE(shared_lines);

enum { STRETCH_MS = 20, MAIN_STRETCHES = 50, THREAD_STRETCHES = 20, RUN_MS = 1000, THREAD_MS = 400 };

static struct writer w;

/* Stretches with one sample each, all between other calls, so that none has enough samples for itself. */
static void compute(struct writer_thread *t, const uint16_t *functions, uint32_t count, uint32_t stack)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t end = BEGIN + (i + 1) * STRETCH_MS * MS;

		writer_sample(t, end - 10 * MS, STRETCH_MS * 1000, stack);
		writer_call(t, functions[i], end, 100000, NULL, 0);
	}
}

static void write_usage(struct writer_thread *t, uint32_t tid, uint64_t ms)
{
	writer_usage(t, &(struct tf_usage){BEGIN + RUN_MS * MS, ms * MS, 0, tid, 0, 0, 0});
}

/* The main thread computes for 1 s, the other one for 400 ms, and waits in a function of such a group. */
static const char *summary_with(enum tf_group group, const char *wait, uint32_t main_stack, uint32_t thread_stack)
{
	struct writer_thread host, other;
	uint16_t functions[MAIN_STRETCHES + THREAD_STRETCHES], f_wait;
	char name[32];

	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/usr/bin/python3", "python3\0dir/train.py", 21);
	for (uint32_t i = 0; i < MAIN_STRETCHES + THREAD_STRETCHES; i++) {
		snprintf(name, sizeof(name), "call_%" PRIu32, i);
		functions[i] = writer_function(&w, TF_GROUP_OSRT, name);
	}
	f_wait = writer_function(&w, group, wait);
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	writer_python_code(&host, 1, 3, "/home/u/dir/train.py", "train");
	writer_python_code(&host, 2, 20, "/home/u/dir/write.py", "write");
	writer_python_stack(&host, 1, (uint32_t[]){1}, 1);
	writer_python_stack(&host, 2, (uint32_t[]){2}, 1);
	compute(&host, functions, MAIN_STRETCHES, main_stack);
	write_usage(&host, 10, RUN_MS);
	writer_thread(&w, &other, 11, "writer", 4 * TF_PAGE);
	compute(&other, functions + MAIN_STRETCHES, THREAD_STRETCHES, thread_stack);
	writer_call(&other, f_wait, BEGIN + RUN_MS * MS, (RUN_MS - THREAD_MS) * MS, NULL, 0);
	write_usage(&other, 11, THREAD_MS);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + RUN_MS * MS);
	return summarize(&w, "x.pillion");
}

static const char *summary_of(uint32_t main_stack, uint32_t thread_stack)
{
	return summary_with(TF_GROUP_OSRT, "sem_wait", main_stack, thread_stack);
}

Test(shared_lines, a_program_shares_work_out_to_the_thread_that_does_the_same)
{
	const char *summary = summary_of(1, 1);

	cr_expect(strstr(summary, "main and thread writer have unequal work: one has 1.00 s, on average they have "
				  "700 ms: train.py:3 train; saves 280 to 635 ms"), "%s", summary);
}

Test(shared_lines, a_thread_that_does_other_things_has_no_work_of_the_program)
{
	const char *summary = summary_of(1, 2);

	cr_expect_null(strstr(summary, "unequal work"), "%s", summary);
	cr_expect(strstr(summary, "train.py:3 train"), "%s", summary);
}

/* The work of a loop is as much, however it is shared out: equal work saves the stated difference at most. */
Test(shared_lines, a_team_of_openmp_saves_no_more_than_the_difference)
{
	const char *summary = summary_with(TF_GROUP_OPENMP, "omp_implicit_barrier", 1, 1);

	cr_expect(strstr(summary, "main and thread writer have unequal work: one has 1.00 s, on average they have "
				  "700 ms: train.py:3 train; saves 280 to 300 ms"), "%s", summary);
}
