/* SPDX-License-Identifier: Apache-2.0 */
/* For suites in which each test writes the trace of one process and reads its summary. Declare such a suite with
 * SUMMARIZED_SUITE(NAME); include this header in one file only. */
#ifndef PILLION_TEST_SUMMARIZED_H
#define PILLION_TEST_SUMMARIZED_H

#include "captured.h"
#include "report/answers/summary/summary.h"

#define MS 1000000ull
#define BEGIN (1000 * MS) /* of the process */

static struct report_context context = {.model = &model};
static struct buffer text; /* the last summary */

/* Saves the trace. `path`: what the summary calls the capture; NULL: it suggests no commands. */
static const char *summarize(struct writer *w, const char *path)
{
	writer_save(w, directory);
	writer_done(w);
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	buffer_clear(&text);
	summary_text(&context, path, NULL, 0, &text);
	return text.data;
}

/* Before the next trace of the same test. */
static inline void forget(void)
{
	symbols_free(context.symbols);
	context.symbols = NULL;
	model_done(&model);
	capture_remove(directory);
	capture_create(directory);
}

static void summarized_end(void)
{
	buffer_done(&text);
	symbols_free(context.symbols);
	captured_end();
}

#define SUMMARIZED_SUITE(name) TestSuite(name, .init = captured_begin, .fini = summarized_end)

#endif
