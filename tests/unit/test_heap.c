/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/stacks/heap.h"
#include "opened.h"
#include "reported.h"

enum { MB = 1000000, MS = 1000000, BEGIN = 1000 * MS, INTERVAL_KB = 64 };

static struct writer w;
static struct writer_thread t;
static struct model model;
static struct symbols *symbols;
static struct heap heap;

static void setup(void)
{
	writer_init(&w, 1, 10, 1, BEGIN);
	writer_thread(&w, &t, 10, "main", 16 * TF_PAGE);
	writer_module(&t, 0x1000, 0x2000, 0, NULL, 0, "/a/one.so");
	writer_module(&t, 0x3000, 0x4000, 0, NULL, 0, "/a/two.so");
	writer_text(&t, TF_BLOB_STRING, 1, "step 1");
	writer_text(&t, TF_BLOB_STRING, 2, "step 22");
	writer_blob(&t, TF_BLOB_STACK, 1, &(uint64_t){0x1100}, sizeof(uint64_t));
	writer_blob(&t, TF_BLOB_STACK, 2, &(uint64_t){0x3200}, sizeof(uint64_t));
}

static void teardown(void)
{
	heap_done(&heap);
	symbols_free(symbols);
	model_done(&model);
	writer_done(&w);
	symbols = NULL;
}

TestSuite(heap, .init = setup, .fini = teardown);

static void replay(void)
{
	struct attribution a = {0};

	open_written(&model, &w);
	a.symbols = symbols = symbols_new(&model, false);
	cr_assert_eq(model.image_count, 1);
	heap_replay(&model, &model.images[0], &a, &heap);
	attribution_done(&a);
}

static void allocate(uint64_t time, uint64_t address, uint64_t bytes, uint32_t stack, uint64_t represents_kb)
{
	writer_event(&t, TF_ALLOCATION, TF_ALLOCATOR_MALLOC, time, represents_kb);
	writer_slot(&t, tf_arg(TF_ARG_VALUE, 0, address));
	writer_slot(&t, tf_arg(TF_ARG_BYTES, 0, bytes));
	if (stack)
		writer_slot(&t, tf_arg(TF_ARG_STACK, 0, stack));
}

static void release(uint64_t time, uint64_t address)
{
	writer_event(&t, TF_RELEASE, 0, time, 0);
	writer_slot(&t, tf_arg(TF_ARG_VALUE, 0, address));
}

static void range(uint64_t from, uint64_t to, uint32_t text)
{
	writer_event(&t, TF_PUSH, 0, from, text);
	writer_event(&t, TF_POP, 0, to, 0);
}

static const struct heap_line *line(const char *function)
{
	for (size_t i = 0; i < heap.line_count; i++)
		if (!strcmp(heap.lines[i].line->function, function))
			return &heap.lines[i];
	cr_assert_fail("no line of %s", function);
	return NULL;
}

Test(heap, an_image_without_allocations)
{
	writer_event(&t, TF_MARK, 0, BEGIN + MS, 1);
	replay();
	cr_expect(!heap_is_recorded(heap.image));
	cr_expect_eq(heap.line_count, 0);
}

Test(heap, what_is_in_use_at_the_peak_and_at_the_end)
{
	allocate(BEGIN + 1 * MS, 0x100000, 3 * MB, 1, 0);
	allocate(BEGIN + 2 * MS, 0x200000, 2 * MB, 2, 0);
	release(BEGIN + 3 * MS, 0x100000);
	allocate(BEGIN + 4 * MS, 0x100000, 1 * MB, 1, 0);
	release(BEGIN + 5 * MS, 0x999999); /* allocated before the record began */
	replay();
	cr_expect_eq(heap.peak, 5 * MB);
	cr_expect_eq(line("[one.so]")->values.peak, 3 * MB);
	cr_expect_eq(line("[one.so]")->values.in_use, 1 * MB);
	cr_expect_eq(line("[one.so]")->values.allocated, 4 * MB);
	cr_expect_eq(line("[one.so]")->values.allocations, 2);
	cr_expect_eq(line("[two.so]")->values.peak, 2 * MB);
	cr_expect_eq(line("[two.so]")->values.in_use, 2 * MB);
}

Test(heap, a_sample_represents_many_allocations)
{
	allocate(BEGIN + 1 * MS, 0x100000, 64, 1, INTERVAL_KB);
	allocate(BEGIN + 2 * MS, 0x200000, 64, 0, INTERVAL_KB);
	release(BEGIN + 3 * MS, 0x200000);
	replay();
	cr_expect_eq(line("[one.so]")->values.allocated, INTERVAL_KB * 1024);
	cr_expect_eq(line("[one.so]")->values.allocations, INTERVAL_KB * 1024 / 64);
	cr_expect_eq(line("[one.so]")->values.samples, 1);
	cr_expect_eq(line("(not attributed)")->values.in_use, 0);
}

Test(heap, a_lost_free_is_known_by_the_next_block_at_its_address)
{
	allocate(BEGIN + 1 * MS, 0x100000, 3 * MB, 1, 0);
	allocate(BEGIN + 2 * MS, 0x100000, 2 * MB, 2, 0);
	replay();
	cr_expect_eq(heap.peak, 3 * MB);
	cr_expect_eq(line("[one.so]")->values.in_use, 0);
	cr_expect_eq(line("[two.so]")->values.in_use, 2 * MB);
}

/* Ten steps. One line keeps a block in each of them, the other one frees it at the end of the step; at the end of the
 * program all is freed. */
static void ten_steps(void)
{
	uint64_t now = BEGIN;

	allocate(now + MS, 0x900000, 7 * MB, 2, 0);
	for (unsigned i = 0; i < 10; i++) {
		now += 10 * MS;
		writer_event(&t, TF_PUSH, 0, now, i % 2 + 1);
		allocate(now + 1 * MS, 0x100000 + i * 16, 1 * MB, 1, 0);
		allocate(now + 2 * MS, 0x800000, 5 * MB, 2, 0);
		release(now + 3 * MS, 0x800000);
		writer_event(&t, TF_POP, 0, now + 4 * MS, 0);
	}
	for (unsigned i = 0; i < 10; i++)
		release(now + (10 + i) * MS, 0x100000 + i * 16);
}

Test(heap, steps_are_the_ranges_of_one_name)
{
	ten_steps();
	replay();
	cr_assert_not_null(heap.step_name);
	cr_expect_str_eq(heap.step_name, "step");
	cr_expect_eq(heap.instances, 10);
	cr_expect_eq(heap.steps, 10);
	cr_expect_eq(heap_growth(&line("[one.so]")->values), 10 * MB);
	cr_expect_eq(line("[one.so]")->values.grown, 9);
	cr_expect_eq(line("[one.so]")->values.in_use, 0);
	cr_expect(heap_line_grows(&heap, line("[one.so]")));
	cr_expect_eq(heap_growth(&line("[two.so]")->values), 0);
	cr_expect(!heap_line_grows(&heap, line("[two.so]")));
}

Test(heap, without_ranges_steps_are_parts_of_the_time_until_the_peak)
{
	range(BEGIN + MS, BEGIN + 2 * MS, 1); /* one alone is no step */
	for (unsigned i = 0; i < 64; i++)
		allocate(BEGIN + (i + 10) * MS, 0x100000 + i * 16, 1 * MB, 1, 0);
	for (unsigned i = 0; i < 64; i++)
		release(BEGIN + (i + 80) * MS, 0x100000 + i * 16);
	allocate(BEGIN + 85 * MS, 0x900000, 10, 2, 0);
	replay();
	cr_expect_null(heap.step_name);
	cr_expect_eq(heap.steps, HEAP_STEPS);
	cr_expect_eq(heap.step_ns[HEAP_STEPS], heap.peak_ns);
	cr_expect_eq(line("[one.so]")->values.last, 64 * MB);
	cr_expect_eq(line("[one.so]")->values.grown, HEAP_STEPS - 1);
	cr_expect(heap_line_grows(&heap, line("[one.so]")));
	cr_expect(!heap_line_grows(&heap, line("[two.so]")));
}

static uint64_t seen, highest;

static void watch(void *context, uint64_t in_use, uint64_t ns)
{
	seen++;
	highest = in_use > highest ? in_use : highest;
}

Test(heap, over_time)
{
	allocate(BEGIN + 1 * MS, 0x100000, 3 * MB, 1, 0);
	allocate(BEGIN + 2 * MS, 0x200000, 2 * MB, 2, 0);
	release(BEGIN + 3 * MS, 0x100000);
	open_written(&model, &w);
	heap_over_time(&model, &model.images[0], watch, NULL);
	cr_expect_eq(seen, 3);
	cr_expect_eq(highest, 5 * MB);
}

/* The peak, 22 MB, is in the last step: ten blocks of one line, a short-lived one and an old one of the other. */
Test(heap, reports_by_line)
{
	struct report_context context = {.model = &model};

	ten_steps();
	allocate(BEGIN + 200 * MS, 0xa00000, 4 * MB, 2, 0);
	open_written(&model, &w);
	context.symbols = symbols = symbols_new(&model, false);
	EXPECT_REPORT(&context, "mem_alloc_sum",
		      "PID,Share of Peak (%),In Use At Peak (MB),Growth (MB),Not Freed (MB),Allocated (MB),Allocations,"
		      "Samples,Line,Function\n"
		      "10,54.5,12.000000,0.000000,11.000000,61.000000,12,12,?,[two.so]\n"
		      "10,45.5,10.000000,10.000000,0.000000,10.000000,10,10,?,[one.so]\n");
	EXPECT_REPORT(&context, "mem_leaks",
		      "PID,Growth (MB),Per Step (MB),Steps,Growing (%),Not Freed (MB),Line,Function,Step\n"
		      "10,10.000000,1.000000,10,100.0,0.000000,?,[one.so],step\n");
}

Test(heap, reports_without_allocations)
{
	struct report_context context = {.model = &model};

	writer_event(&t, TF_MARK, 0, BEGIN + MS, 1);
	open_written(&model, &w);
	context.symbols = symbols = symbols_new(&model, false);
	EXPECT_REPORT(&context, "mem_leaks",
		      "no allocations were recorded: record with --memory=all, python or native\n");
}
