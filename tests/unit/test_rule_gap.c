/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_fixture.h"

enum { STEP = 1, EPOCH, SAVE, PREPARE };

static void setup_stacks(void)
{
	static const char *const names[] = {"step", "epoch", "save", "prepare"};

	setup();
	for (uint32_t i = STEP; i <= PREPARE; i++) {
		writer_python_code(&host, i, 10 * i, "/home/u/train.py", names[i - 1]);
		writer_python_stack(&host, i, &i, 1);
	}
}

TestSuite(rule_gap, .init = setup_stacks, .fini = teardown);

/* A kernel of 1 ms that a call with that stack launches. */
static void kernel_at(uint64_t at, uint32_t stack)
{
	struct writer_device_call called = {10, ++next_id, BEGIN + at + 1, 5 * US - 2, false};
	struct writer_device_record done = {KERNEL, next_id, BEGIN + at + 10 * US, MS, 0};
	uint64_t args[] = {tf_arg(TF_ARG_STACK, 0, stack), tf_arg(TF_ARG_LAUNCH, 0, 1)};

	writer_call(&host, f_launch, BEGIN + at + 5 * US, 5 * US, args, 2);
	writer_device_calls(&cupti, TF_DEVICE_TIME_MONOTONIC, &called, 1);
	writer_device(&cupti, TF_DEVICE_TIME_MONOTONIC, &done, 1);
}

static void sample_at(uint64_t at, uint64_t length, uint32_t stack)
{
	writer_event(&host, TF_SAMPLE, 0, BEGIN + at, (uint32_t)(length / US));
	writer_slot(&host, tf_arg(TF_ARG_STACK, 0, stack));
}

static void assert_idle(uint64_t cost_ns, const char *line, const char *text)
{
	struct finding f;

	open_model(60 * MS);
	rule_run(&rules, rule_find("gpu_idle"), &f);
	cr_expect_eq(f.verdict, VERDICT_FOUND);
	cr_expect_eq(f.cost_ns, cost_ns, "%llu", (unsigned long long)f.cost_ns);
	cr_expect_str_eq(line_text(f.line), line);
	cr_expect_str_eq(buffer_string(&f.text), text);
	finding_done(&f);
}

Test(rule_gap, the_cost_is_that_of_the_line)
{
	for (uint64_t i = 0; i < 4; i++)
		kernel_at(i * 11 * MS, STEP);
	kernel_at(39 * MS, EPOCH);
	assert_idle(30 * MS, "step (/home/u/train.py:10)", "30.0 ms of device time lost to host computing");
}

Test(rule_gap, without_a_line_of_half_the_cost_it_is_that_of_all_gaps)
{
	kernel_at(0, STEP);
	kernel_at(5 * MS, STEP);
	kernel_at(11 * MS, EPOCH);
	kernel_at(16 * MS, SAVE);
	assert_idle(13 * MS, "", "13.0 ms of device time lost to host computing, in 3 gaps, of which 5.00 ms at "
				 "train.py:20 epoch");
}

Test(rule_gap, samples_tell_the_line_that_computes)
{
	kernel_at(0, STEP);
	sample_at(9 * MS, 8 * MS, PREPARE);
	kernel_at(11 * MS, STEP);
	sample_at(11 * MS + 500 * US, 10 * MS, SAVE); /* while the device works */
	sample_at(20 * MS, 7 * MS, PREPARE);
	sample_at(21 * MS, 1 * MS, SAVE);
	kernel_at(22 * MS, STEP);
	assert_idle(15 * MS, "prepare (/home/u/train.py:40)", "15.0 ms of device time lost to host computing");
}
