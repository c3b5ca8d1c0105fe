/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "report/answers/diff/diff.h"
#include "report/answers/diff/student.h"
#include "captured.h"

CAPTURED_SUITE(diff);

enum { STEPS = 40, KERNELS = 12, SIDE = 5, SLOWER = 7 };

/* The durations of the kernels are 100 (1 + i % 4) us. */
static double planted_factor(double change)
{
	double all = 0;

	for (int i = 1; i <= KERNELS; i++)
		all += 1 + i % 4;
	return 1 + change * all / (1 + SLOWER % 4);
}

static void gather_steps(const struct writer_steps *s, const char *over, struct gathered *ret)
{
	struct report_context context = {.model = &model};
	struct err err;

	capture_steps(directory, s);
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	cr_assert_eq(gather(&context, DIFF_KERNEL, over, ret, &err), 0, "%s", err.text);
	symbols_free(context.symbols);
	model_done(&model);
	model = (struct model){0};
}

/* The seeds are the same in each run, so the outcomes are, too. */
static int pairs_to_compare(void)
{
	return getenv("PILLION_TESTS_LONG") ? 100 : 20;
}

/* What became of pairs of sides. */
struct outcome {
	int verdicts[3], lines;
};

/* Compares that many pairs of `runs` captures on each side; `change`: of the sum, by one kernel on the second side. */
static struct outcome compare(int pairs, size_t runs, const struct writer_steps *like, double change)
{
	static uint64_t seed;
	struct outcome o = {{0}, 0};

	for (int n = 0; n < pairs; n++) {
		struct gathered captures[2 * SIDE];
		struct diff d = {DIFF_KERNEL, .gate = 0.03, .captures = captures, .before = runs, .after = runs};
		struct buffer reason = {0};

		for (size_t k = 0; k < 2 * runs; k++) {
			struct writer_steps s = *like;

			s.seed = ++seed;
			s.slower = k >= runs && change > 0 ? SLOWER : 0;
			s.factor = planted_factor(change);
			gather_steps(&s, "step", &captures[k]);
		}
		diff_compare(&d);
		diff_reason(&d, &reason);
		o.verdicts[d.judgement.verdict]++;
		o.lines += strstr(reason.data, "layer07 (/home/user/train.py:70)") != NULL;
		buffer_done(&reason);
		diff_done(&d);
		for (size_t k = 0; k < 2 * runs; k++)
			gathered_done(&captures[k]);
	}
	cr_log_info("run %.2f row %.2f, %zu runs, %+.0f %%: not worse %d, worse %d, cannot judge %d, line %d\n",
		    like->run_deviation, like->row_deviation, runs, 100 * change, o.verdicts[DIFF_NOT_WORSE],
		    o.verdicts[DIFF_WORSE], o.verdicts[DIFF_UNCLEAR], o.lines);
	return o;
}

static struct writer_steps noise(double run, double row)
{
	return (struct writer_steps){
		.steps = STEPS, .kernels = KERNELS, .run_deviation = run, .row_deviation = row, .step_deviation = 0.05};
}

Test(diff, pairs_without_a_change_are_not_reported_worse)
{
	static const double deviations[] = {0.01, 0.03, 0.1};
	const int pairs = pairs_to_compare();

	for (size_t i = 0; i < 3; i++)
		for (size_t runs = 1; runs <= SIDE; runs += 2)
			for (int is_row = 0; is_row < 2; is_row++) {
				struct writer_steps s = noise(is_row ? 0 : deviations[i], is_row ? deviations[i] : 0);
				struct outcome o = compare(pairs, runs, &s, 0);

				cr_expect_leq(o.verdicts[DIFF_WORSE], pairs / 50);
				if (!i)
					cr_expect_leq(o.verdicts[DIFF_UNCLEAR], pairs / 5);
			}
}

Test(diff, a_change_of_five_percent_is_found_with_its_line)
{
	const int pairs = pairs_to_compare();

	for (size_t runs = 1; runs <= SIDE; runs += 2)
		for (int is_row = 0; is_row < 2; is_row++) {
			struct writer_steps s = noise(is_row ? 0 : 0.01, is_row ? 0.01 : 0);
			struct outcome o = compare(pairs, runs, &s, 0.05);

			cr_expect_geq(o.verdicts[DIFF_WORSE], pairs * 95 / 100);
			cr_expect_geq(o.lines, pairs * 95 / 100);
		}
}

/* The row of that name; the caller frees the table. */
static size_t row_of(const struct table *t, const char *name)
{
	for (size_t i = 0; i < table_rows(t); i++)
		if (!strcmp(t->cells[i * t->column_count + 8].text, name))
			return i * t->column_count;
	cr_assert_fail("no row %s", name);
	return 0;
}

static void compare_two(const struct writer_steps *before, const struct writer_steps *after, struct diff *ret,
			struct gathered *captures, struct table *table)
{
	gather_steps(before, NULL, &captures[0]);
	gather_steps(after, NULL, &captures[1]);
	*ret = (struct diff){DIFF_KERNEL, .gate = 0.03, .captures = captures, .before = 1, .after = 1};
	diff_compare(ret);
	*table = (struct table){0};
	diff_table(ret, table);
}

static void compared_done(struct diff *d, struct table *table)
{
	table_done(table);
	diff_done(d);
	for (size_t k = 0; k < 2; k++)
		gathered_done(&d->captures[k]);
}

Test(diff, renamed_new_and_vanished_kernels)
{
	struct writer_steps before = noise(0, 0), after = noise(0, 0);
	struct gathered captures[2];
	struct diff d;
	struct table table;
	size_t row;

	before.seed = 1;
	after.seed = 2;
	after.kernels = KERNELS + 1;
	after.renamed = 4;
	compare_two(&before, &after, &d, captures, &table);
	row = row_of(&table, "layer04_forward -> layer04_forward_v2");
	cr_expect_str_eq(table.cells[row + 7].text, "noise");
	cr_expect_eq(table.cells[row + 6].count, STEPS);
	row = row_of(&table, "layer13_forward");
	cr_expect_str_eq(table.cells[row + 7].text, "new");
	cr_expect(table.absent[row], "a new row has no change in percent");
	cr_expect_str_eq(table.cells[row + 9].text, "layer13 (/home/user/train.py:130)");
	cr_expect_eq(d.judgement.verdict, DIFF_WORSE, "the new kernel adds more than 3 %%");
	compared_done(&d, &table);
	compare_two(&after, &before, &d, captures, &table);
	row = row_of(&table, "layer13_forward");
	cr_expect_str_eq(table.cells[row + 7].text, "vanished");
	cr_expect_eq(d.judgement.verdict, DIFF_NOT_WORSE);
	compared_done(&d, &table);
}

Test(diff, a_step_is_compared_however_many_there_are)
{
	struct writer_steps before = noise(0, 0), after = noise(0, 0);
	struct gathered captures[2];
	struct diff d = {DIFF_KERNEL, .gate = 0.03, .captures = captures, .before = 1, .after = 1};

	before.seed = 3;
	after.seed = 4;
	after.steps = 2 * STEPS;
	gather_steps(&before, "step", &captures[0]);
	gather_steps(&after, "step", &captures[1]);
	diff_compare(&d);
	cr_expect_eq(d.judgement.verdict, DIFF_NOT_WORSE);
	cr_expect_float_eq(d.judgement.change, 0, 0.02);
	diff_done(&d);
	for (size_t k = 0; k < 2; k++)
		gathered_done(&captures[k]);
}

Test(diff, nothing_to_compare_is_not_judged)
{
	double times[] = {0, 0}, variances[] = {-1, -1}, samplings[] = {0, 0};
	struct judged row = {.times = times, .variances = variances, .samplings = samplings};
	struct judgement j;

	judge(&row, 1, 1, 1, 0.03, &j);
	cr_expect_eq(j.verdict, DIFF_UNCLEAR);
	judge(NULL, 0, 1, 1, 0.03, &j);
	cr_expect_eq(j.verdict, DIFF_UNCLEAR);
}

/* Values of tables of the distribution. */
Test(diff, student)
{
	cr_expect_float_eq(student_above(0.025, 4), 2.776445, 1e-5);
	cr_expect_float_eq(student_above(0.005, 8), 3.355387, 1e-5);
	cr_expect_float_eq(student_above(0.1, 1e6), 1.281552, 1e-5);
	cr_expect_float_eq(student_tail(6.313752, 1), 0.05, 1e-6);
	cr_expect_float_eq(student_tail(-1, 3), 0.804498, 1e-5);
	cr_expect_float_eq(student_tail(0, 5), 0.5, 1e-12);
	cr_expect_float_eq(student_tail(1, 1), 0.25, 1e-12, "with one degree of freedom it is Cauchy's");
	for (double t = 0.25; t < 20; t *= 2) /* with two: 1/2 - t / (2 * sqrt(2 + t * t)) */
		cr_expect_float_eq(student_tail(t, 2), 0.5 - t / (2 * sqrt(2 + t * t)), 1e-12, "%g", t);
	cr_expect_float_eq(student_above(0.25, 1), 1, 1e-9);
	cr_expect_float_eq(student_above(0.025, 1), 12.706205, 1e-5);
	cr_expect_float_eq(student_above(0.05, 30), 1.697261, 1e-5);
}

Test(diff, a_series_keeps_its_sum_and_its_parts)
{
	struct series s = {0};

	for (int i = 0; i < 7; i++)
		series_add(&s, 1);
	cr_expect_lt(series_variance(&s), 0, "too few values");
	for (int i = 7; i < 1000; i++)
		series_add(&s, 1 + i % 2);
	cr_expect_float_eq(s.total, 7 + 496 + 497 * 2, 1e-9);
	cr_expect_eq(s.count, 1000);
	cr_expect_lt(series_variance(&s), 0.001);
	cr_expect_geq(s.parts, SERIES_PARTS / 2);
}

/* The mean of 1 to 8 is 4.5, their variance 6; an eighth of it and a sixteenth, which does not become less. */
Test(diff, the_variance_of_a_series_follows_from_its_parts)
{
	struct series s = {0}, zeros = {0}, sampled = {0}, joined = {0};

	for (int i = 1; i <= 8; i++) {
		cr_expect_eq(series_variance(&s), -1, "%d values are too few", i - 1);
		series_add(&s, i);
		series_add(&zeros, 0);
		series_add(&sampled, 2);
		sampled.sampled += 2 * 2;
	}
	cr_expect_float_eq(series_variance(&s), 6 / (4.5 * 4.5) * (1.0 / 8 + 1.0 / 16), 1e-12);
	cr_expect_eq(series_variance(&zeros), -1);
	cr_expect_eq(series_sampling(&zeros), 0);
	cr_expect_float_eq(series_sampling(&sampled), 32.0 / 16 / 16, 1e-12);
	cr_expect_float_eq(series_variance(&sampled), 0.125, 1e-12);
	for (int i = 1; i <= SERIES_PARTS + 3; i++) {
		series_add(&joined, i);
		cr_expect_eq((int)joined.parts, i < SERIES_PARTS ? i : SERIES_PARTS / 2 + (i - SERIES_PARTS) / 2, "%d",
			     i);
	}
	cr_expect_eq(joined.length, 2);
	cr_expect_eq(joined.in_open, 1);
	cr_expect_eq(joined.open, SERIES_PARTS + 3);
	for (size_t i = 0; i < joined.parts; i++)
		cr_expect_eq(joined.sums[i], 4 * (double)i + 3, "part %zu has two values", i);
}

/* ---- lines ---- */

enum { STEADY = 8, SAMPLE_NS = 4000000 };

/* Samples of a line. */
static void line_add(struct gathered *g, const char *function, int line, int samples)
{
	struct buffer key = {0};
	uint32_t row;

	buffer_print(&key, "%s (a.py:%d)", function, line);
	buffer_add(&key, "", 1);
	buffer_print(&key, "a.py %s", function);
	buffer_add(&key, "", 1);
	row = aggregate_row(&g->names, key.data, key.size);
	buffer_done(&key);
	g->series = mem_grow(g->series, row, &g->capacity, sizeof(*g->series));
	g->series[row] = (struct series){0};
	g->count = row + 1;
	for (int i = 0; i < samples; i++) {
		g->series[row].sampled += (double)SAMPLE_NS * SAMPLE_NS;
		series_add(&g->series[row], SAMPLE_NS);
	}
}

/* With lines that are the same in both captures. */
static void compare_lines(struct gathered captures[2], struct diff *ret)
{
	char name[16];

	for (int side = 0; side < 2; side++)
		for (int i = 0; i < STEADY; i++) {
			snprintf(name, sizeof(name), "steady%d", i);
			line_add(&captures[side], name, 100 + i, 60);
		}
	*ret = (struct diff){DIFF_LINE, .gate = 0.03, .captures = captures, .before = 1, .after = 1};
	diff_compare(ret);
}

static size_t row_named(const struct diff *d, const char *name)
{
	for (size_t i = 0; i < d->count; i++)
		if (!strcmp(d->rows[i].name, name))
			return i;
	return SIZE_MAX;
}

static void lines_compared(struct gathered captures[2], struct diff *d)
{
	diff_done(d);
	for (size_t i = 0; i < 2; i++)
		gathered_done(&captures[i]);
}

Test(diff, a_line_with_a_sample_does_not_hide_a_new_one)
{
	struct gathered captures[2] = {0};
	struct diff d;
	size_t row;

	line_add(&captures[0], "work", 18, 1);
	line_add(&captures[1], "work", 19, 30);
	line_add(&captures[1], "work", 20, 6);
	line_add(&captures[0], "work", 17, 30);
	line_add(&captures[1], "work", 17, 24);
	compare_lines(captures, &d);
	row = row_named(&d, "work (a.py:19)");
	cr_assert_neq(row, SIZE_MAX);
	cr_expect_eq(d.judged[row].verdict, ROW_NEW);
	cr_expect_eq(d.judgement.verdict, DIFF_WORSE);
	/* 30 and 6 samples more and one less, of 511; the change of line 17 is noise */
	cr_expect_float_eq(d.judgement.explained, 35.0 / 511, 0.01, "%g", d.judgement.explained);
	lines_compared(captures, &d);
}

Test(diff, a_line_that_has_moved_is_renamed)
{
	struct gathered captures[2] = {0};
	struct diff d;

	line_add(&captures[0], "work", 18, 40);
	line_add(&captures[1], "work", 21, 42);
	compare_lines(captures, &d);
	cr_expect_neq(row_named(&d, "work (a.py:18) -> work (a.py:21)"), SIZE_MAX);
	cr_expect_neq(d.judgement.verdict, DIFF_WORSE);
	lines_compared(captures, &d);
}

Test(diff, the_programs_lines_come_before_those_of_the_interpreter)
{
	struct gathered captures[2] = {0};
	struct diff d;
	struct table table = {0};
	struct buffer reason = {0};

	line_add(&captures[0], "eval", 1, 100);
	line_add(&captures[1], "eval", 1, 400);
	line_add(&captures[0], "work", 2, 100);
	line_add(&captures[1], "work", 2, 300);
	for (int side = 0; side < 2; side++) {
		captures[side].is_foreign = mem_alloc((STEADY + 2) * sizeof(*captures[side].is_foreign));
		captures[side].is_foreign[0] = true;
	}
	compare_lines(captures, &d);
	diff_table(&d, &table);
	diff_reason(&d, &reason);
	cr_expect_eq(d.judgement.verdict, DIFF_WORSE);
	cr_expect_lt(row_of(&table, "work (a.py:2)"), row_of(&table, "eval (a.py:1)"));
	cr_expect_not_null(strstr(reason.data, "The most is added by work (a.py:2)"), "%s", reason.data);
	buffer_done(&reason);
	table_done(&table);
	lines_compared(captures, &d);
}

/* ---- renamed kernels ---- */

static void kernel_add(struct gathered *g, const char *name, int launches)
{
	struct buffer key = {0};
	uint32_t row;

	buffer_add(&key, name, strlen(name) + 1);
	buffer_add(&key, name, strlen(name) + 1);
	row = aggregate_row(&g->names, key.data, key.size);
	buffer_done(&key);
	g->series = mem_grow(g->series, row, &g->capacity, sizeof(*g->series));
	g->series[row] = (struct series){0};
	g->count = row + 1;
	for (int i = 0; i < launches; i++)
		series_add(&g->series[row], 1000);
}

Test(diff, a_renamed_kernel_is_the_one_spelt_most_alike)
{
	struct gathered captures[2] = {0};
	struct diff d = {DIFF_KERNEL, .gate = 0.03, .captures = captures, .before = 1, .after = 1};

	kernel_add(&captures[0], "gemm_forward_128x64", 20);
	kernel_add(&captures[1], "gemm_forward_128x65", 20);
	kernel_add(&captures[1], "gemm_forward_256x99", 20);
	diff_compare(&d);
	cr_expect_neq(row_named(&d, "gemm_forward_128x64 -> gemm_forward_128x65"), SIZE_MAX);
	lines_compared(captures, &d);
}

/* The first old kernel resembles both new ones, but less so than the second old kernel does. */
Test(diff, renamed_kernels_are_matched_from_the_most_alike_pair_on)
{
	struct gathered captures[2] = {0};
	struct diff d = {DIFF_KERNEL, .gate = 0.03, .captures = captures, .before = 1, .after = 1};

	kernel_add(&captures[0], "gemm_forward_0000", 20);
	kernel_add(&captures[0], "gemm_forward_0012", 20);
	kernel_add(&captures[1], "gemm_forward_0011", 20);
	kernel_add(&captures[1], "gemm_forward_9900", 20);
	diff_compare(&d);
	cr_expect_neq(row_named(&d, "gemm_forward_0012 -> gemm_forward_0011"), SIZE_MAX);
	cr_expect_neq(row_named(&d, "gemm_forward_0000 -> gemm_forward_9900"), SIZE_MAX);
	lines_compared(captures, &d);
}

/* Two kernels of one line: the line alone does not tell which has become which. */
Test(diff, renamed_kernels_of_one_line_are_those_spelt_most_alike)
{
	struct gathered captures[2] = {0};
	struct diff d = {DIFF_KERNEL, .gate = 0.03, .captures = captures, .before = 1, .after = 1};

	kernel_add(&captures[0], "copy_old", 20);
	kernel_add(&captures[1], "reduce_v2", 20);
	kernel_add(&captures[1], "copy_new", 20);
	for (size_t k = 0; k < 2; k++) {
		aggregate_row(&captures[k].lines, "train.py:5", sizeof("train.py:5"));
		captures[k].parts = calloc(2, sizeof(*captures[k].parts));
		captures[k].part_count = captures[k].count;
		for (uint32_t i = 0; i < captures[k].count; i++)
			captures[k].parts[i] = (struct gathered_line){i, 0, 20000};
	}
	diff_compare(&d);
	cr_expect_neq(row_named(&d, "copy_old -> copy_new"), SIZE_MAX);
	lines_compared(captures, &d);
}

/* ---- the whole run ---- */

enum { THREE = 3 };

/* Runs whose only call takes the same time on both sides. The caller ends them. */
static void compare_runs(enum diff_by by, bool is_sampled, uint64_t before_ns, uint64_t after_ns, struct diff *ret,
			 struct gathered captures[2 * THREE])
{
	for (size_t k = 0; k < 2 * THREE; k++) {
		uint64_t ns = (k < THREE ? before_ns : after_ns) + k % THREE;

		captures[k] = (struct gathered){0};
		captures[k].whole = (struct whole_run){.wall_ns = ns + 1000, .cpu_ns = ns, .is_sampled = is_sampled};
		kernel_add(&captures[k], "fflush", 20);
	}
	*ret = (struct diff){by, .gate = 0.03, .captures = captures, .before = THREE, .after = THREE};
	diff_compare(ret);
}

static enum diff_verdict verdict_of_runs(enum diff_by by, bool is_sampled, uint64_t before_ns, uint64_t after_ns)
{
	struct gathered captures[2 * THREE];
	enum diff_verdict verdict;
	struct diff d;

	compare_runs(by, is_sampled, before_ns, after_ns, &d, captures);
	verdict = d.judgement.verdict;
	diff_done(&d);
	for (size_t k = 0; k < 2 * THREE; k++)
		gathered_done(&captures[k]);
	return verdict;
}

/* What two runs of the same length say of the wall time. */
static void expect_wall(size_t runs, uint64_t before_ns, uint64_t after_ns, const char *wanted)
{
	struct gathered captures[2 * THREE] = {0};
	struct diff d = {DIFF_API, .gate = 0.03, .captures = captures, .before = runs, .after = runs};
	struct table table = {0};

	for (size_t k = 0; k < 2 * runs; k++) {
		uint64_t ns = (k < runs ? before_ns : after_ns) + k % runs;

		captures[k].whole = (struct whole_run){.wall_ns = ns, .cpu_ns = ns};
		kernel_add(&captures[k], "fflush", 20);
	}
	diff_compare(&d);
	diff_table(&d, &table);
	cr_expect_str_eq(table.cells[row_of(&table, "wall time") + 7].text, wanted);
	lines_compared(captures, &d);
	for (size_t k = 2; k < 2 * runs; k++)
		gathered_done(&captures[k]);
	table_done(&table);
}

Test(diff, one_run_of_each_side_is_too_few)
{
	expect_wall(1, 100000000, 100000000, "too few");
	expect_wall(THREE, 100000000, 100000000, "noise");
	expect_wall(THREE, 900000000, 100000000, "faster");
	expect_wall(THREE, 100000000, 900000000, "slower");
}

Test(diff, a_run_without_cpu_time_has_only_a_wall_time)
{
	static const struct {
		uint64_t wall_ns, cpu_ns;
	} cases[] = {{5, 0}, {0, 1}, {1, 1}, {0, 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct gathered captures[2] = {0};
		struct diff d = {DIFF_API, .gate = 0.03, .captures = captures, .before = 1, .after = 1};

		captures[0].whole = (struct whole_run){.wall_ns = 1, .cpu_ns = 1};
		captures[1].whole = (struct whole_run){.wall_ns = cases[i].wall_ns, .cpu_ns = cases[i].cpu_ns};
		for (size_t k = 0; k < 2; k++)
			kernel_add(&captures[k], "fflush", 20);
		diff_compare(&d);
		cr_expect_eq(d.whole[WHOLE_WALL].is_known, cases[i].wall_ns > 0, "case %zu", i);
		cr_expect_eq(d.whole[WHOLE_CPU].is_known, cases[i].cpu_ns > 0, "case %zu", i);
		lines_compared(captures, &d);
	}
}

Test(diff, the_runs_cpu_time_counts_in_the_verdict)
{
	struct gathered captures[2 * THREE];
	struct table table = {0};
	struct buffer reason = {0};
	struct diff d;

	compare_runs(DIFF_API, false, 100000000, 900000000, &d, captures);
	diff_table(&d, &table);
	diff_reason(&d, &reason);
	cr_expect_eq(d.judgement.verdict, DIFF_WORSE);
	cr_expect_str_eq(table.cells[row_of(&table, "CPU time") + 7].text, "slower");
	cr_expect_str_eq(table.cells[row_of(&table, "wall time") + 7].text, "slower");
	cr_expect_not_null(strstr(reason.data, "CPU time +800.0 %"), "%s", reason.data);
	cr_expect_eq(strncmp(reason.data, "worse: wall time +", 18), 0, "%s", reason.data);
	cr_expect_null(strstr(reason.data, "The most is added by"), "%s", reason.data);
	buffer_done(&reason);
	table_done(&table);
	diff_done(&d);
	for (size_t k = 0; k < 2 * THREE; k++)
		gathered_done(&captures[k]);
}

Test(diff, cpu_time_without_samples_is_not_judged)
{
	cr_expect_eq(verdict_of_runs(DIFF_API, false, 100000000, 100000000), DIFF_UNCLEAR);
	cr_expect_eq(verdict_of_runs(DIFF_LINE, false, 100000000, 100000000), DIFF_UNCLEAR);
	cr_expect_eq(verdict_of_runs(DIFF_LINE, true, 100000000, 100000000), DIFF_NOT_WORSE);
	cr_expect_eq(verdict_of_runs(DIFF_KERNEL, false, 100000000, 100000000), DIFF_NOT_WORSE, "threads poll");
	cr_expect_eq(verdict_of_runs(DIFF_KERNEL, false, 100000000, 900000000), DIFF_WORSE);
}
