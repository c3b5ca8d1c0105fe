/* SPDX-License-Identifier: Apache-2.0 */
/* A traced process of Python with three stacks, and the summary of what a test lets it call.
 * Include this header in one file of a program only. */
#ifndef PILLION_TEST_FIX_FIRST_FIXTURE_H
#define PILLION_TEST_FIX_FIRST_FIXTURE_H

#include "summarized.h"

static struct writer w;
static struct writer_thread host;

static void begin_again(void)
{
	if (context.symbols)
		forget();
	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/usr/bin/python3", "python3\0dir/train.py", 21);
}

static void begin(void)
{
	captured_begin();
	begin_again();
}

/* flush called by save, that by train. */
static void write_stacks(void)
{
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	writer_python_code(&host, 1, 3, "/home/u/dir/helpers.py", "flush");
	writer_python_code(&host, 2, 9, "/home/u/dir/helpers.py", "save");
	writer_python_code(&host, 3, 40, "/home/u/dir/train.py", "train");
	writer_python_stack(&host, 1, (uint32_t[]){1, 2, 3}, 3);
	writer_python_stack(&host, 2, (uint32_t[]){2, 3}, 2);
	writer_python_stack(&host, 3, (uint32_t[]){3}, 1);
}

static const char *summary_with_delay(uint64_t ms, uint64_t cpu_ms, uint64_t delay_ms)
{
	writer_usage(&host, &(struct tf_usage){BEGIN + ms * MS, cpu_ms * MS, delay_ms * MS, 10, 0, 0, 0});
	writer_usage(&host, &(struct tf_usage){BEGIN + ms * MS, cpu_ms * MS, TF_USAGE_UNKNOWN, 0, 0, 0, 0});
	writer_end(&w, TF_END_EXIT, 0, BEGIN + ms * MS);
	return summarize(&w, "x.pillion");
}

static const char *summary_after(uint64_t ms, uint64_t cpu_ms)
{
	return summary_with_delay(ms, cpu_ms, 0);
}

#endif
