/* SPDX-License-Identifier: Apache-2.0 */
/* The summary's line about a crash. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "summarized.h"

SUMMARIZED_SUITE(crash);

/* A program whose thread has called abort() after 50 ms. */
static const char *summary_of_crash(uint32_t tid, const char *name)
{
	const struct tf_crash crash = {
		.ticks = BEGIN + 50 * MS, .tid = tid, .signal = SIGABRT, .code = SI_TKILL, .sender = 10, .stack = 1};
	struct writer_thread main, other;
	struct writer w;

	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/home/u/job", "job", 4);
	writer_thread(&w, &main, 10, "job", 4 * TF_PAGE);
	writer_event(&main, TF_MARK, 0, BEGIN, 0);
	writer_thread(&w, &other, 11, name, 4 * TF_PAGE);
	writer_python_code(&main, 1, 7, "/home/u/load.py", "parse");
	writer_python_stack(&main, 1, (const uint32_t[]){1}, 1);
	writer_blob(tid == 10 ? &main : &other, TF_BLOB_CRASH, tid == 10 ? 1 : 2, &crash, sizeof(crash));
	writer_end(&w, TF_END_ABORT, SIGABRT, BEGIN + 50 * MS);
	return summarize(&w, "x.pillion");
}

Test(crash, a_crash_names_the_thread_and_its_line)
{
	const char *summary = summary_of_crash(11, "loader");

	cr_expect(strstr(summary, "CRASH      signal 6 (SIGABRT) in thread loader: at load.py:7 parse; process 10 job, "
				  "after 50.0 ms\n"), "%s", summary);
	forget();
	summary = summary_of_crash(11, "");
	cr_expect(strstr(summary, " in thread 11: at "), "%s", summary);
	forget();
	summary = summary_of_crash(10, "loader");
	cr_expect(strstr(summary, " in main thread: at "), "%s", summary);
}
