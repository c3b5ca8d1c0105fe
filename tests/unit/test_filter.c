/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <string.h>

#include "report/events/nvtx/filter_nvtx.h"
#include "report/events/nvtx/nvtx.h"
#include "report/tables/report.h"
#include "opened.h"

enum { START = 1000000, STEP = 1000 };

static struct writer writer;
static struct model model;
static struct err err;

/* Ten calls of 100 ns that end at START, START + STEP and so on; the range "r" spans the fourth to the sixth, and an
 * operator the eighth and the ninth. */
static void setup(void)
{
	struct writer_thread t;
	uint16_t id;

	writer_init(&writer, 1, 10, 1, START);
	id = writer_function(&writer, TF_GROUP_OSRT, "read");
	writer_thread(&writer, &t, 10, "t", 2 * TF_PAGE);
	writer_text(&t, TF_BLOB_STRING, 1, "r");
	writer_text(&t, TF_BLOB_STRING, 2, "op, seq = 3, op_id = 7, sizes = [[2]]");
	for (unsigned int i = 1; i <= 10; i++) {
		if (i == 4 || i == 8)
			writer_event(&t, TF_PUSH, 0, START + i * STEP - 200, i / 4);
		writer_call(&t, id, START + i * STEP, 100, NULL, 0);
		if (i == 6 || i == 9)
			writer_event(&t, TF_POP, 0, START + i * STEP + 10, 0);
	}
	open_written(&model, &writer);
}

static void teardown(void)
{
	model_done(&model);
	writer_done(&writer);
}

TestSuite(filter, .init = setup, .fini = teardown);

static void count_event(struct scan *s, const struct event *e)
{
	*(unsigned int *)s->more += e->kind == TF_CALL;
}

static unsigned int calls(void)
{
	struct report_context c = {.model = &model};
	unsigned int count = 0;

	scan_events(&(struct scan){.context = &c, .more = &count}, count_event);
	return count;
}

static void count_range(void *context, const struct nvtx_range *r)
{
	++*(unsigned int *)context;
}

static unsigned int ranges(void)
{
	unsigned int count = 0;

	nvtx_ranges(&model.images[0], NULL, &count, count_range);
	return count;
}

static void assert_time(const char *spec, unsigned int wanted)
{
	cr_assert_eq(filter_time(&model, spec, &err), 0, "%s", err.text);
	cr_expect_eq(calls(), wanted, "%s: %u", spec, calls());
}

Test(filter, lets_all_through_unless_told) { cr_expect_eq(calls(), 10); }
Test(filter, takes_times_from_the_start_of_the_capture) { assert_time("3000/5000", 3); }
Test(filter, takes_units) { assert_time("3us/0.005ms", 3); }
Test(filter, keeps_a_call_that_overlaps_an_edge) { assert_time("2950/4950", 3); }
Test(filter, leaves_out_what_only_comes_near) { assert_time("3001/4899", 1); }
Test(filter, may_have_no_end) { assert_time("8us/", 3); }
Test(filter, may_have_no_start) { assert_time("/2us", 2); }
Test(filter, passes_what_both_filters_pass)
{
	cr_assert_eq(filter_time(&model, "5us/", &err), 0);
	assert_time("/6us", 2);
}

Test(filter, finds_a_range)
{
	cr_assert_eq(filter_nvtx(&model, "r", &err), 0, "%s", err.text);
	cr_expect_eq(filter_nvtx(&model, "r/-1", &err), 0, "%s", err.text);
	cr_expect_eq(calls(), 3);
	cr_expect_eq(ranges(), 1);
	cr_assert_eq(filter_time(&model, "8us/", &err), 0);
	cr_expect_eq(ranges(), 0);
}

Test(filter, finds_an_operator_by_its_name)
{
	cr_assert_eq(filter_nvtx(&model, "op/0", &err), 0, "%s", err.text);
	cr_expect_eq(calls(), 2);
	cr_expect_eq(filter_nvtx(&model, "op, seq = 3, op_id = 7, sizes = [[2]]", &err), 0, "%s", err.text);
	cr_expect_eq(calls(), 2);
	cr_expect_eq(filter_nvtx(&model, "op/1", &err), -ENODATA);
}

ParameterizedTestParameters(filter, refuses_what_is_no_time)
{
	static char specs[][16] = {"", "/", "5", "5/x", "x/5", "5h/6h", "5/4", "1/2/3", "-1/2", "5 /6"};

	return cr_make_param_array(char[16], specs, sizeof(specs) / sizeof(*specs));
}

ParameterizedTest(char (*spec)[16], filter, refuses_what_is_no_time)
{
	cr_expect_eq(filter_time(&model, *spec, &err), -EINVAL, "%s", *spec);
	cr_expect_eq(calls(), 10);
}

Test(filter, tells_which_ranges_there_are)
{
	cr_expect_eq(filter_nvtx(&model, "s", &err), -ENODATA);
	cr_expect_not_null(strstr(err.text, "the capture has: r"), "%s", err.text);
	cr_expect_eq(filter_nvtx(&model, "r@other", &err), -ENODATA);
	cr_expect_eq(filter_nvtx(&model, "r/1", &err), -ENODATA);
	cr_expect_eq(filter_nvtx(&model, "r/-2", &err), -ENODATA);
	cr_expect_eq(filter_nvtx(&model, "r/-", &err), -EINVAL);
	cr_expect_eq(filter_nvtx(&model, "@d", &err), -EINVAL);
	cr_expect_eq(calls(), 10);
}

Test(filter, a_copy_restores_what_was_narrowed)
{
	struct filter copy;

	assert_time("3000/5000", 3);
	copy = filter_copy(&model);
	assert_time("5000/9000", 1);
	assert_time("6000/9000", 0);
	filter_restore(&model, &copy);
	cr_expect_eq(calls(), 3);
	assert_time("4000/5000", 2);
	filter_restore(&model, &(struct filter){0});
	cr_expect_eq(calls(), 10);
	cr_expect_not(filter_is_set(&model));
	filter_done(&copy);
}

Test(filter, intersects_lists_of_intervals)
{
	const uint64_t from = model.origin_ns;
	const struct time_interval odd[] = {
		{0, from + 950}, {from + 1950, from + 2050}, {from + 3950, from + 4050}, {from + 6950, UINT64_MAX}};

	filter_narrow(&model, odd, 4);
	cr_expect_eq(calls(), 7, "%u", calls());
	filter_narrow(&model, &(struct time_interval){from + 2000, from + 7000}, 1);
	cr_expect_eq(calls(), 3, "%u", calls());
}

/* A range that is cancelled hides what is between its begin and the next one's, or all after it; the first one of the
 * run, which begins with it, is not cancelled. */
Test(filter, leaves_out_cancelled_ranges)
{
	static const struct {
		uint64_t begin, next; /* after START; next 0: there is none */
		bool is_cancelled, is_next_cancelled;
		const char *time;
		unsigned int calls;
	} cases[] = {
	    {3 * STEP + 50, 5 * STEP + 50, false, false, NULL, 10},
	    {3 * STEP + 50, 5 * STEP + 50, true, false, NULL, 8},
	    {3 * STEP + 50, 5 * STEP + 50, false, true, NULL, 5},
	    {3 * STEP + 50, 5 * STEP + 50, true, true, NULL, 3},
	    /* the last moment of the call 5, and the one after it */
	    {3 * STEP + 50, 5 * STEP, true, false, NULL, 9},
	    {3 * STEP + 50, 5 * STEP + 1, true, false, NULL, 8},
	    /* the first moment of the call 4, and the one after it */
	    {4 * STEP - 100, 5 * STEP + 50, true, false, NULL, 8},
	    {4 * STEP - 99, 5 * STEP + 50, true, false, NULL, 9},
	    {3 * STEP + 50, 0, true, false, NULL, 3},
	    {0, 0, true, false, NULL, 0},
	    {3 * STEP + 50, 5 * STEP + 50, true, false, "3000/5000", 1},
	    {3 * STEP + 50, 5 * STEP + 50, true, false, "6000/8000", 3},
	    {3 * STEP + 50, 0, true, false, "5000/8000", 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tf_range items[] = {{.begin_ticks = START}, {.begin_ticks = START + cases[i].begin},
					   {.begin_ticks = START + cases[i].next}};
		bool cancelled[] = {false, cases[i].is_cancelled, cases[i].is_next_cancelled};
		struct ranges ranges = {.items = items, .is_cancelled = cancelled,
					.has_cancelled = cases[i].is_cancelled || cases[i].is_next_cancelled,
					.count = cases[i].next ? 3 : 2};

		if (i) {
			teardown();
			setup();
		}
		model.images[0].ranges = model.ranges = &ranges;
		model.ranges_count = 1;
		if (cases[i].time)
			cr_assert_eq(filter_time(&model, cases[i].time, &err), 0, "%s", err.text);
		filter_cancelled(&model);
		cr_expect_eq(calls(), cases[i].calls, "case %zu: %u", i, calls());
		model.ranges = NULL;
		model.ranges_count = 0;
	}
}
