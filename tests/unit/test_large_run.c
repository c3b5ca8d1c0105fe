/* SPDX-License-Identifier: Apache-2.0 */
/* The summary of a run with so many events that a replay would make its user wait. */
#include <criterion/criterion.h>

#include "report/answers/summary/summary.h"
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
	model.written_bytes = 257ull << 20;
	summary_text(&context, NULL, NULL, 0, &large);
	cr_assert_null(strstr(small.data, "\nnot known "), "%s", small.data);
	cr_assert_not_null(
		strstr(large.data, "\nnot known  what the rules find and a repair would save: more than 256 MB"), "%s",
		large.data);
	buffer_done(&small);
	buffer_done(&large);
	symbols_free(context.symbols);
}
