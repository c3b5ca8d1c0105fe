/* SPDX-License-Identifier: Apache-2.0 */
/* Steps by the ranges of a trace. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "report/time/steps/steps.h"
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
	step_list_done(&steps);
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

/* ---- sums of --mode=profile ---- */

static struct step_sums sums;

/* A row of ranges; with TF_RANGES_IS_STEPS also the classes of their lengths. */
static void add_row(const char *text, unsigned flags, const uint64_t *lengths, size_t count, uint64_t overlaps)
{
	uint64_t numbers[TF_STEPS_NUMBERS] = {0}, slot = tf_ranges(0, flags, 10), bits;
	double squares = 0;

	writer_text(&thread, TF_BLOB_STRING, ++texts, text);
	numbers[TF_SUM_CALLS] = count;
	numbers[TF_SUM_LEAST] = ~0ull >> 8;
	for (size_t i = 0; i < count; i++) {
		numbers[TF_SUM_TOTAL] += lengths[i];
		if (lengths[i] < numbers[TF_SUM_LEAST])
			numbers[TF_SUM_LEAST] = lengths[i];
		if (lengths[i] > numbers[TF_SUM_MOST])
			numbers[TF_SUM_MOST] = lengths[i];
		numbers[TF_STEPS_CLASSES + tf_steps_class(lengths[i])]++;
		squares += (double)lengths[i] * (double)lengths[i];
	}
	memcpy(&bits, &squares, sizeof(bits));
	numbers[TF_SUM_SQUARES] = bits >> 8;
	numbers[TF_STEPS_OVERLAPS] = overlaps;
	writer_slot(&thread, slot);
	writer_slot(&thread, tf_arg(TF_ARG_VALUE, 0, texts));
	for (unsigned i = 0; i < tf_sum_numbers(slot); i++)
		writer_slot(&thread, TF_DATA | numbers[i] << 8);
}

static void add_steps(const char *text, uint64_t overlaps)
{
	const uint64_t lengths[] = {10 * MS, 11 * MS, 11 * MS, 11 * MS, 40 * MS};

	add_row(text, TF_RANGES_IS_STEPS, lengths, 5, overlaps);
}

static void find_sums(void)
{
	w.header.mode = TF_MODE_PROFILE;
	find_steps();
	steps_sum(&context, &sums);
}

Test(steps, a_class_has_the_lengths_from_its_least_one_on)
{
	for (unsigned i = 1; i < 4 * TF_STEPS_OCTAVES; i++) {
		cr_expect_eq(tf_steps_class(tf_steps_least(i)), i);
		cr_expect_eq(tf_steps_class(tf_steps_least(i) - 1), i - 1);
	}
	cr_expect_eq(tf_steps_class(0), 0);
	cr_expect_eq(tf_steps_class(UINT64_MAX), 4 * TF_STEPS_OCTAVES - 1);
}

Test(steps, sums_of_steps_have_a_median_by_classes)
{
	const struct step_sum *s;

	add_steps("step *", 0);
	add_row("step *", 0, &(uint64_t){83 * MS}, 1, 0);
	find_sums();
	cr_assert_eq(sums.count, 1);
	s = &sums.items[0];
	cr_expect_eq(s->source, STEPS_BY_RANGES);
	cr_expect_eq(s->tid, 10);
	cr_expect(s->count == 5 && s->total_ns == 83 * MS && s->least_ns == 10 * MS && s->most_ns == 40 * MS);
	cr_expect_float_eq(s->median_ns, 11e6, 11e6 / 4);
	cr_expect_float_eq(s->squares, 2063e12, 1e6);
	step_sums_done(&sums);
}

Test(steps, the_best_name_of_sums_is_taken)
{
	const uint64_t others[] = {100 * MS, 100 * MS, 100 * MS, 100 * MS, 100 * MS};

	add_row("forward", 0, others, 5, 0);
	add_steps("batch *", 0);
	add_steps("ProfilerStep#*", 0);
	find_sums();
	cr_assert_eq(sums.count, 1);
	cr_expect_eq(sums.items[0].source, STEPS_BY_PYTORCH);
	step_sums_done(&sums);
}

Test(steps, sums_of_steps_that_overlap_are_none)
{
	const uint64_t others[] = {100 * MS, 100 * MS, 100 * MS, 100 * MS, 100 * MS};

	add_steps("step *", 1);
	find_sums();
	cr_expect_eq(sums.count, 0);
	teardown();
	setup();
	add_steps("step *", 1);
	add_row("aten::mm, seq = 0", 0, others, 5, 0);
	add_row("forward", 0, others, 5, 0);
	find_sums();
	cr_assert_eq(sums.count, 1);
	cr_expect(sums.items[0].count == 5 && sums.items[0].total_ns == 500 * MS, "frequent ranges that cover much");
	cr_expect_eq(sums.items[0].median_ns, 0, "of which there are no classes");
	step_sums_done(&sums);
}

Test(steps, recorded_steps_have_the_same_sums)
{
	for (uint64_t i = 0; i < 10; i++)
		add_range("step", 20 * i * MS, (20 * i + 5 + i) * MS);
	find_steps();
	steps_sum(&context, &sums);
	cr_assert_eq(sums.count, 1);
	cr_expect(sums.items[0].count == 10 && sums.items[0].total_ns == 95 * MS);
	cr_expect(sums.items[0].least_ns == 5 * MS && sums.items[0].most_ns == 14 * MS);
	cr_expect_float_eq(sums.items[0].median_ns, 9.5e6, 1);
	step_sums_done(&sums);
}
