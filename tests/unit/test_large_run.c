/* SPDX-License-Identifier: Apache-2.0 */
/* A run with many events. */
#include <criterion/criterion.h>

#include "report/answers/summary/summary.h"
#include "report/causes/causes.h"
#include "report/causes/replay.h"
#include "report/names/symbol.h"
#include "captured.h"

CAPTURED_SUITE(large_run);

Test(large_run, the_summary_says_that_no_saving_is_known)
{
	struct report_context context = {.model = &model};
	struct buffer small = {0}, large = {0};
	struct writer_thread main_thread;
	struct writer w;

	writer_init(&w, 1, 10, 1, 1000000000);
	writer_thread(&w, &main_thread, 10, "main", 16 * TF_PAGE);
	writer_end(&w, TF_END_EXIT, 0, 1500000000);
	writer_save(&w, directory);
	writer_done(&w);
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	summary_text(&context, NULL, NULL, 0, &small);
	model.written_bytes = 513ull << 20;
	summary_text(&context, NULL, NULL, 0, &large);
	cr_assert_null(strstr(small.data, "\nnot known "), "%s", small.data);
	cr_assert_not_null(
		strstr(large.data, "\nnot known  what the rules find and a repair would save: more than 512 MB"), "%s",
		large.data);
	buffer_done(&small);
	buffer_done(&large);
	symbols_free(context.symbols);
}

/* The nodes of a run of that many calls of one thread; without an edit a replay ends when the run did. */
static size_t nodes_of(uint64_t calls)
{
	struct report_context context = {.model = &model};
	struct edit none = {0};
	struct causality *s;
	size_t count;

	capture_large(directory, calls, 1, 1);
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	s = causes_find(&context);
	cr_assert_not_null(s);
	count = s->graph.node_count;
	cr_expect_float_eq(replay_run(&s->graph, &none, NULL), (double)s->run_ns, 1);
	causes_free(s);
	symbols_free(context.symbols);
	return count;
}

Test(large_run, short_waits_of_unknown_cause_have_no_nodes)
{
	cr_expect_lt(nodes_of(400000), 20000);
}

Test(large_run, of_fewer_calls_each_wait_has_a_node)
{
	cr_expect_gt(nodes_of(90000), 20000);
}
