/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/stacks/samples.h"
#include "report/tables/report.h"
#include "report/tables/run/ledger_facts.h"
#include "report/time/profile.h"
#include "opened.h"

static struct writer w;
static struct writer_thread t;
static struct model model;
static struct report_context context = {.model = &model};
static struct table table;

static void setup(void)
{
	writer_init(&w, 1, 10, 1, 1000);
	writer_thread(&w, &t, 10, "main", 4 * TF_PAGE);
	writer_module(&t, 0x1000, 0x2000, 0, NULL, 0, "/a/one.so");
	writer_module(&t, 0x3000, 0x4000, 0, NULL, 0, "/a/two.so");
}

static void teardown(void)
{
	table_done(&table);
	symbols_free(context.symbols);
	model_done(&model);
	writer_done(&w);
}

TestSuite(samples, .init = setup, .fini = teardown);

static void open_model(void)
{
	open_written(&model, &w);
	context.symbols = symbols_new(&model, false);
}

static void stack(uint32_t id, const uint64_t *addresses, size_t count)
{
	writer_blob(&t, TF_BLOB_STACK, id, addresses, count * sizeof(*addresses));
}

static void sample(uint64_t time, uint64_t us, uint32_t id)
{
	writer_event(&t, TF_SAMPLE, 0, time, us);
	if (id)
		writer_slot(&t, tf_arg(TF_ARG_STACK, 0, id));
}

/* The row of a name in sample_sum: self ns, samples, cumulative ns. */
static void check_row(size_t row, const char *name, uint64_t self, uint64_t count, uint64_t all)
{
	const union cell *c = &table.cells[row * table.column_count];

	cr_assert_lt(row, table_rows(&table));
	cr_assert_str_eq(c[5].text, name);
	cr_assert_eq(c[1].count, self, "%s", name);
	cr_assert_eq(c[2].count, count, "%s", name);
	cr_assert_eq(c[4].count, all, "%s", name);
}

Test(samples, self_is_of_the_innermost_and_each_name_counts_once)
{
	const uint64_t deep[] = {0x1101, 0x3102, 0x3202, 0x1202}, flat[] = {0x3102};

	stack(1, deep, 4);
	stack(2, flat, 1);
	sample(2000, 4000, 1);
	sample(3000, 1000, 2);
	sample(4000, 2000, 1);
	sample(5000, 500, 0);
	open_model();
	report_sample_sum(&context, &table);
	cr_assert_null(table.lacks, "%s", table.lacks);
	cr_assert_eq(table_rows(&table), 3);
	check_row(0, "[one.so]", 6000000, 2, 6000000);
	check_row(1, "[two.so]", 1000000, 1, 7000000);
	check_row(2, "(stack lost)", 500000, 1, 500000);
	cr_assert_float_eq(table.cells[0].real, 80, 1e-9);
	cr_assert_eq(model.images[0].trace->threads[0].samples, 4);
	cr_assert_eq(model.images[0].trace->threads[0].sampled_us, 7500);
	cr_assert_eq(model.images[0].trace->threads[0].stackless_samples, 1);
}

Test(samples, a_profile_adds_up_to_them)
{
	const uint64_t flat[] = {0x3102};
	struct profile profile;
	struct err err;

	stack(2, flat, 1);
	sample(3000, 0xffffff, 2);
	sample(4000, 1, 2);
	sample(4001, 7, 0);
	open_model();
	cr_assert_eq(profile_make(&context, METRIC_CPU, &profile, &err), 0);
	cr_assert_eq(profile.total, (0xffffffull + 8) * 1000);
	cr_assert_eq(profile.aggregate.count, 2);
	profile_done(&profile);
}

Test(samples, none_make_no_rows_and_no_profile)
{
	struct profile profile;
	struct err err;

	open_model();
	report_sample_sum(&context, &table);
	cr_assert_null(table.lacks, "%s", table.lacks);
	cr_assert_eq(table_rows(&table), 0);
	cr_assert_lt(profile_make(&context, METRIC_CPU, &profile, &err), 0);
	profile_done(&profile);
}

Test(samples, of_a_stack_that_is_not_there_are_still_counted)
{

	sample(2000, 10, 77);
	open_model();
	report_sample_line_sum(&context, &table);
	cr_assert_null(table.lacks, "%s", table.lacks);
	cr_assert_eq(table_rows(&table), 1);
	cr_assert_str_eq(table.cells[6].text, "(stack lost)");
}

Test(samples, by_thread_each_has_its_own)
{
	struct writer_thread other;

	stack(1, (uint64_t[]){0x1101}, 1);
	sample(2000, 10, 1);
	writer_thread(&w, &other, 11, "other", 4 * TF_PAGE);
	writer_event(&other, TF_SAMPLE, 0, 2100, 30);
	writer_slot(&other, tf_arg(TF_ARG_STACK, 0, 1));
	open_model();
	context.by = BY_THREAD;
	report_find("sample_sum")->run(&context, &table);
	cr_assert_null(table.lacks, "%s", table.lacks);
	context.by = BY_NOTHING;
	cr_assert_eq(table_rows(&table), 2);
	cr_assert_eq(table.cells[0].count, 11);
	cr_assert_eq(table.cells[table.column_count].count, 10);
}

/* What is missing of the CPU time that the kernel has counted, where so many samples of 10 ms were taken. */
static bool is_missing(uint64_t used_ms, unsigned samples)
{
	struct usages *usages;
	struct ledger_cpu cpu;

	for (unsigned i = 0; i < samples; i++)
		sample(1000 + i, 10000, 0);
	writer_usage(&t, &(struct tf_usage){2000, used_ms * 1000000, TF_USAGE_UNKNOWN, 0, 0, 0, 0});
	open_model();
	usages = usages_new(&model);
	ledger_compare_cpu(usages, &cpu);
	usages_free(usages);
	cr_assert_eq(cpu.samples, samples);
	cr_assert_eq(cpu.sampled_us, samples * 10000);
	cr_assert_eq(cpu.used_us, used_ms * 1000);
	return ledger_cpu_is_missing(&cpu);
}

Test(samples, of_all_cpu_time_miss_nothing)
{
	cr_assert_not(is_missing(1000, 99));
}

Test(samples, miss_what_chance_does_not_explain)
{
	cr_assert(is_missing(1000, 50));
}

Test(samples, are_few_of_a_short_run)
{
	cr_assert_not(is_missing(40, 1));
}

/* The CPU time of a thread whose samples stand for so much each. */
static uint64_t stepped_us(unsigned samples, uint32_t us)
{
	struct usages *usages;
	struct ledger_cpu cpu;

	for (unsigned i = 0; i < samples; i++)
		sample(1000 + i, us, 0);
	writer_usage(&t, &(struct tf_usage){2000, samples * us * 1000ull, TF_USAGE_UNKNOWN, 0, 0, 0, 0});
	open_model();
	usages = usages_new(&model);
	ledger_compare_cpu(usages, &cpu);
	usages_free(usages);
	return cpu.stepped_us;
}

Test(samples, are_in_step_where_each_stands_for_several_periods)
{
	cr_assert_eq(stepped_us(20, 40404), 20 * 40404);
}

Test(samples, are_not_in_step_where_each_stands_for_one)
{
	cr_assert_eq(stepped_us(20, 15000), 0);
}

Test(samples, are_too_few_to_be_in_step)
{
	cr_assert_eq(stepped_us(4, 90909), 0);
}

/* ---- why there are none ---- */

Test(samples, words_why_there_are_none)
{
	static const struct {
		const char *text;
		size_t processes;
		uint64_t last_ns;
		const char *words;
	} cases[] = {
	    {"the program uses CPU timers", 1, 0, "a process uses CPU timers: no CPU samples of it"},
	    {"the process has no timer", 1, 7, "a process has no timer: no CPU samples of it"},
	    {"from here on, the program uses CPU timers", 1, 1200000000,
	     "a process uses CPU timers: no CPU samples of it after 1.2 s"},
	    {"from here on, timers fail", 1, 0, "no CPU samples of a process: timers fail"},
	    {"from here on, timers fail", 1, 1, "no CPU samples of a process after 1e-09 s: timers fail"},
	    {"timers fail", 1, 1200000000, "no CPU samples of a process: timers fail"},
	    {"the program uses CPU timers", 2, 0,
	     "no CPU samples of a process (2 processes): the program uses CPU timers"},
	    {"from here on, the process fails", 3, 2500000000,
	     "no CPU samples of a process (3 processes) after 2.5 s: the process fails"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct unsampled_reason reason = {.text = (char *)cases[i].text, .processes = cases[i].processes,
						  .last_ns = cases[i].last_ns};
		SCOPED(buffer) words = {0};

		unsampled_words(&reason, &words);
		cr_expect_str_eq(buffer_string(&words), cases[i].words, "%s", buffer_string(&words));
	}
}

Test(samples, what_has_no_more_of_them_is_told_once_with_its_last)
{
	struct image images[3];
	struct model m;
	struct unsampled u;

	sample(3000, 1000, 0);
	sample(4000, 1000, 0);
	writer_text(&t, TF_BLOB_NOTE, 1, TF_NOTE_NO_SAMPLES " from here on, timers fail");
	open_model();
	/* a file that is missing, and another process, before it */
	images[0] = images[1] = images[2] = model.images[0];
	images[0].trace = images[1].trace = NULL;
	images[0].pid++;
	m = model;
	m.images = images;
	m.image_count = 3;
	unsampled_find(&m, &u);
	cr_assert_eq(u.count, 1);
	cr_expect_str_eq(u.items[0].text, "from here on, timers fail");
	cr_expect_eq(u.items[0].processes, 1);
	cr_expect_eq(u.items[0].first, &images[1]);
	cr_expect_eq(u.items[0].last_ns, 3000, "the sample at 4000, of a process that began at 1000");
	cr_expect_eq(samples_by_signals(&images[1]), 0);
	cr_expect_eq(samples_by_signals(&images[2]), 2);
	cr_expect_eq(samples_by_perf(&images[2]), 0);
	images[2].via = TF_VIA_OBSERVED;
	cr_expect_eq(samples_by_signals(&images[2]), 0);
	cr_expect_eq(samples_by_perf(&images[2]), 2);
	unsampled_done(&u);
}
