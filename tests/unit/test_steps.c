/* SPDX-License-Identifier: Apache-2.0 */
/* Steps by the ranges of a trace. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "report/derive/steps/steps.h"
#include "trace_writer.h"

#define MS 1000000ull
#define BEGIN (1000 * MS)

static struct writer w;
static struct writer_thread thread;
static struct model model;
static struct report_context context = {.model = &model};
static struct step_list steps;
static uint32_t texts;

static void setup(void)
{
	writer_init(&w, 1, 10, 1, BEGIN);
	writer_thread(&w, &thread, 10, "main", 64 * TF_PAGE);
	texts = 0;
}

static void teardown(void)
{
	steps_done(&steps);
	model_done(&model);
	writer_done(&w);
}

TestSuite(steps, .init = setup, .fini = teardown);

static void add_range(const char *text, uint64_t start, uint64_t end)
{
	uint32_t id = ++texts;

	writer_text(&thread, TF_BLOB_STRING, id, text);
	writer_event(&thread, TF_RANGE_START, 0, BEGIN + start, id);
	writer_slot(&thread, tf_arg(TF_ARG_VALUE, 0, id));
	writer_event(&thread, TF_RANGE_END, 0, BEGIN + end, 0);
	writer_slot(&thread, tf_arg(TF_ARG_VALUE, 0, id));
}

static void find_steps(void)
{
	struct err err;
	size_t size;
	const uint8_t *bytes;

	writer_end(&w, TF_END_EXIT, 0, BEGIN + 1000 * MS);
	bytes = writer_bytes(&w, &size);
	cr_assert_eq(model_open_bytes(&model, bytes, size, &err), 0, "%s", err.text);
	steps_find(&context, &steps);
}

/* emit_nvtx gives each range of record_function the number of an operator. */
Test(steps, an_optimizer_may_be_written_as_an_operator)
{
	char text[64];

	for (uint32_t i = 0; i < 10; i++) {
		snprintf(text, sizeof(text), "aten::mm, seq = %u, op_id = %u", i, 2 * i);
		add_range(text, 10 * i * MS, (10 * i + 8) * MS);
		snprintf(text, sizeof(text), "Optimizer.step#SGD.step, op_id = %u", 2 * i + 1);
		add_range(text, (10 * i + 8) * MS, (10 * i + 9) * MS);
	}
	find_steps();
	cr_assert_eq(steps.count, 1);
	cr_expect_eq(steps.items[0].source, STEPS_BY_OPTIMIZER);
	cr_expect_eq(steps.items[0].count, 9, "each step ends with the optimizer, and the first has no begin");
	cr_expect_eq(steps.items[0].items[0].end_ns - steps.items[0].items[0].start_ns, 10 * MS);
}

Test(steps, other_operators_are_no_steps)
{
	char text[64];

	for (uint32_t i = 0; i < 10; i++) {
		snprintf(text, sizeof(text), "aten::mm, seq = %u, op_id = %u", i, i);
		add_range(text, 10 * i * MS, (10 * i + 8) * MS);
	}
	find_steps();
	cr_expect_eq(steps.count, 0);
}
