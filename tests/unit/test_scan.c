/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads and events a report visits, by which names their rows have, and what calls and sums add to them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "report/events/interval_tree.h"
#include "report/events/scan.h"
#include "opened.h"

enum { BEGIN = 1000 };

static struct writer w;
static struct model model;
static struct report_context context = {.model = &model};
static struct aggregate aggregate;
static size_t visited, calls;
static char tids[64]; /* of the visited threads, one character for each event */

/* Thread 10 has two calls with a stack and one without, thread 11 three of CUDA without, thread 12 one without, and a
 * range. */
static void setup(void)
{
	const uint64_t stack = tf_arg(TF_ARG_STACK, 0, 1);
	struct writer_thread t[3];
	uint16_t os, cuda;

	writer_init(&w, 1, 10, 1, BEGIN);
	os = writer_function(&w, TF_GROUP_OSRT, "read");
	cuda = writer_function(&w, TF_GROUP_CUDA, "cudaFree");
	for (uint32_t i = 0; i < 3; i++)
		writer_thread(&w, &t[i], 10 + i, "t", 2 * TF_PAGE);
	writer_call(&t[0], os, BEGIN + 100, 10, &stack, 1);
	writer_call(&t[0], os, BEGIN + 200, 20, &stack, 1);
	writer_call(&t[0], os, BEGIN + 300, 40, NULL, 0);
	for (uint64_t i = 1; i <= 3; i++)
		writer_call(&t[1], cuda, BEGIN + 100 * i, 5, NULL, 0);
	writer_text(&t[2], TF_BLOB_STRING, 1, "range");
	writer_event(&t[2], TF_PUSH, 0, BEGIN + 50, 1);
	writer_call(&t[2], os, BEGIN + 100, 80, NULL, 0);
	writer_event(&t[2], TF_POP, 0, BEGIN + 150, 0);
	open_written(&model, &w);
}

static void teardown(void)
{
	aggregate_done(&aggregate);
	model_done(&model);
	writer_done(&w);
}

TestSuite(scan, .init = setup, .fini = teardown);

static void visit(struct scan *s, const struct event *e)
{
	cr_assert_lt(visited + 1, sizeof(tids));
	tids[visited++] = (char)('0' + s->thread->tid - 10);
	calls += e->kind == TF_CALL;
}

static const char *threads_of(struct scan s)
{
	visited = calls = 0;
	memset(tids, 0, sizeof(tids));
	s.context = &context;
	scan_events(&s, visit);
	return tids;
}

static bool is_of_nothing(const char *file)
{
	return false;
}

Test(scan, threads_without_what_it_is_for_are_skipped)
{
	cr_expect_str_eq(threads_of((struct scan){0}), "000111222");
	cr_expect_eq(calls, 7);
	cr_expect_str_eq(threads_of((struct scan){.args = 1u << TF_ARG_STACK}), "000");
	cr_expect_str_eq(threads_of((struct scan){.groups = 1u << TF_GROUP_CUDA}), "111");
	cr_expect_str_eq(threads_of((struct scan){.groups = 1u << TF_GROUP_OSRT}), "000222");
	cr_expect_str_eq(threads_of((struct scan){.kinds = 1u << TF_PUSH}), "222");
	cr_expect_str_eq(threads_of((struct scan){.groups = 1u << TF_GROUP_OSRT, .kinds = 1u << TF_PUSH}), "222");
	cr_expect_str_eq(threads_of((struct scan){.groups = 1u << TF_GROUP_CUDA, .kinds = 1u << TF_PUSH}), "");
	cr_expect_str_eq(threads_of((struct scan){.args = 1u << TF_ARG_STACK, .kinds = 1u << TF_PUSH}), "");
	cr_expect_str_eq(threads_of((struct scan){.call_args = 1u << TF_ARG_STACK}), "0022",
			 "calls without are left out, other events are not");
	cr_expect_str_eq(threads_of((struct scan){.code = is_of_nothing}), "");
}

static void add(struct scan *s, const struct event *e)
{
	if (e->kind == TF_CALL)
		scan_add_call(s, e, e->id, scan_name_key, trace_function(s->image->trace, e->id));
}

/* "FIELD.FIELD count total least most; ..." in the order of the rows. */
static const char *rows_by(enum by by)
{
	static char text[512];
	struct scan s = {.context = &context, .aggregate = &aggregate};

	aggregate_done(&aggregate);
	aggregate = (struct aggregate){0};
	context.by = by;
	scan_aggregate(&s, add);
	aggregate_sort(&aggregate);
	*text = 0;
	array_each(const struct aggregate_row, r, aggregate.rows, aggregate.count)
		sprintf(text + strlen(text), "%s%s%s%s %llu %llu %llu %llu", *text ? "; " : "", aggregate_field(r, 0),
			by ? "." : "", by ? aggregate_field(r, 1) : "", (unsigned long long)r->count,
			(unsigned long long)r->total, (unsigned long long)r->least, (unsigned long long)r->most);
	return text;
}

Test(scan, rows_are_grouped)
{
	model.processes[0].rank = "3";
	cr_expect_str_eq(rows_by(BY_NOTHING), "read 4 150 10 80; cudaFree 3 15 5 5");
	cr_expect_str_eq(rows_by(BY_PROCESS), "10.read 4 150 10 80; 10.cudaFree 3 15 5 5");
	cr_expect_str_eq(rows_by(BY_THREAD), "12.read 1 80 80 80; 10.read 3 70 10 40; 11.cudaFree 3 15 5 5");
	cr_expect_str_eq(rows_by(BY_RANK), "3.read 4 150 10 80; 3.cudaFree 3 15 5 5");
	cr_expect_str_eq(rows_by(BY_HOST), "node1.read 4 150 10 80; node1.cudaFree 3 15 5 5");
	cr_expect_str_eq(rows_by(BY_RANGE), ".read 4 150 10 80; .cudaFree 3 15 5 5", "there is no capture range");
	context.by = BY_NOTHING;
}

static bool is_not_covered(struct scan *s, const void *of, struct buffer *fields)
{
	++*(int *)of;
	return false;
}

Test(scan, a_row_is_named_once)
{
	struct scan s = {.context = &context, .aggregate = &aggregate, .image = &model.images[0]};
	int asked = 0;

	cr_expect_eq(scan_row_of(&s, BEGIN, 1, is_not_covered, &asked), SCAN_NO_ROW);
	cr_expect_eq(scan_row_of(&s, BEGIN, 1, is_not_covered, &asked), SCAN_NO_ROW);
	cr_expect_eq(asked, 1);
	scan_row_of(&s, BEGIN, 2, is_not_covered, &asked);
	cr_expect_eq(asked, 2, "of another");
}

/* ---- intervals of threads ---- */

/* Notes the value of each visited interval as a letter. */
static void note_interval(void *of, size_t interval)
{
	const struct interval_tree *tree = of;

	tids[visited++] = (char)tree->items[interval].value;
}

Test(interval_tree, has_those_around_a_time_from_the_outermost_on)
{
	static const struct {
		size_t thread;
		uint64_t start, end;
		char value;
	} intervals[] = {{0, 10, 20, 'c'}, {2, 5, 15, 'p'}, {0, 0, 100, 'a'}, {0, 20, 20, 'd'},
			 {0, 50, 90, 'e'}, {0, 10, 50, 'b'}, {2, 15, 15, 'q'}, {0, 95, 99, 'f'}};
	static const struct {
		size_t thread;
		uint64_t start, end;
		const char *found;
	} cases[] = {
	    {0, 10, 20, "abc"}, {0, 10, 21, "ab"}, {0, 9, 20, "a"}, {0, 20, 20, "abcd"}, {0, 19, 20, "abc"},
	    {0, 20, 21, "ab"}, {0, 50, 50, "abe"}, {0, 50, 51, "ae"}, {0, 90, 91, "a"}, {0, 0, 100, "a"},
	    {0, 0, 101, ""}, {0, 101, 101, ""}, {0, 95, 99, "af"}, {0, 94, 99, "a"}, {1, 10, 10, ""},
	    {2, 5, 15, "p"}, {2, 4, 15, ""}, {2, 5, 16, ""}, {2, 15, 15, "pq"}, {3, 10, 10, ""},
	};
	static struct trace_thread threads[4];
	SCOPED(interval_tree) tree = {0};

	interval_tree_build(&tree);
	visited = 0;
	interval_tree_around(&tree, &threads[0], 0, 0, &tree, note_interval);
	cr_expect_eq(visited, 0, "an empty one has none");
	for (size_t i = 0; i < sizeof(intervals) / sizeof(*intervals); i++)
		interval_tree_add(&tree, &threads[intervals[i].thread], intervals[i].start, intervals[i].end,
				  (uint64_t)intervals[i].value);
	interval_tree_build(&tree);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		visited = 0;
		interval_tree_around(&tree, &threads[cases[i].thread], cases[i].start, cases[i].end, &tree,
				     note_interval);
		tids[visited] = 0;
		cr_expect_str_eq(tids, cases[i].found, "case %zu: %s", i, tids);
	}
}
