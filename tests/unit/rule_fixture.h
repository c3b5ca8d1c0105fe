/* SPDX-License-Identifier: Apache-2.0 */
/* The process of the tests of rules: a thread that calls CUDA and the OS, and the records of its device. */
#ifndef PILLION_TEST_RULE_FIXTURE_H
#define PILLION_TEST_RULE_FIXTURE_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report/answers/rule.h"
#include "opened.h"

#define US 1000ull
#define MS 1000000ull
#define MB (1 << 20)
#define BEGIN (1000 * MS)

enum { KERNEL = 1, PAGED_IN, PINNED_IN, PAGED_OUT, HOST_SET, OTHER_DEVICE, GRAPH };

static struct writer w;
static struct writer_thread host, cupti;
static uint16_t f_launch, f_copy, f_copy_async, f_set, f_wait, f_free, f_malloc, f_read, f_gemm, f_futex,
	f_mmap, f_fsync, f_lock, f_poll, f_write;
static uint32_t next_id;
static struct model model;
static struct report_context context = {.model = &model};
static struct rules rules = {.context = &context};

static inline void works(void)
{
	static const struct tf_device_operation all[] = {
		{.kind = TF_DEVICE_KERNEL, .kernel = 1, .context = 1, .stream = 7},
		{.kind = TF_DEVICE_COPY, .copy = 1, .source = 1, .target = 3, .context = 1, .stream = 7},
		{.kind = TF_DEVICE_COPY, .copy = 1, .source = 2, .target = 3, .context = 1, .stream = 7},
		{.kind = TF_DEVICE_COPY, .copy = 2, .source = 3, .target = 1, .context = 1, .stream = 7},
		{.kind = TF_DEVICE_SET, .target = 2, .context = 1, .stream = 7},
		{.kind = TF_DEVICE_KERNEL, .kernel = 1, .device = 1, .context = 2, .stream = 8},
		{.kind = TF_DEVICE_GRAPH, .context = 1, .stream = 7, .graph = 3},
	};

	for (uint32_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		writer_blob(&cupti, TF_BLOB_DEVICE_OPERATION, i + 1, &all[i], sizeof(all[i]));
	writer_text(&cupti, TF_BLOB_KERNEL, 1, "_Z4stepPf");
}

static inline void begin(uint64_t nonce, uint32_t pid, bool has_source)
{
	writer_init(&w, nonce, pid, 1, BEGIN);
	f_launch = writer_function(&w, TF_GROUP_CUDA, "cudaLaunchKernel");
	f_copy = writer_function(&w, TF_GROUP_CUDA, "cudaMemcpy");
	f_copy_async = writer_function(&w, TF_GROUP_CUDA, "cudaMemcpyAsync");
	f_set = writer_function(&w, TF_GROUP_CUDA, "cudaMemset");
	f_wait = writer_function(&w, TF_GROUP_CUDA, "cudaStreamSynchronize");
	f_free = writer_function(&w, TF_GROUP_CUDA, "cudaFree");
	f_malloc = writer_function(&w, TF_GROUP_CUDA, "cudaMalloc");
	f_read = writer_function(&w, TF_GROUP_OSRT, "read");
	f_futex = writer_function(&w, TF_GROUP_OSRT, "futex");
	f_mmap = writer_function(&w, TF_GROUP_OSRT, "mmap");
	f_fsync = writer_function(&w, TF_GROUP_OSRT, "fsync");
	f_lock = writer_function(&w, TF_GROUP_OSRT, "pthread_mutex_lock");
	f_poll = writer_function(&w, TF_GROUP_OSRT, "poll");
	f_write = writer_function(&w, TF_GROUP_OSRT, "write");
	f_gemm = writer_function(&w, TF_GROUP_CUBLAS, "cublasGemmEx");
	writer_thread(&w, &host, pid, "main", 64 * TF_PAGE);
	writer_thread(&w, &cupti, pid + 1, "cupti", 64 * TF_PAGE);
	next_id = 0;
	if (has_source)
		writer_device_source(&cupti, TF_DEVICE_TIME_MONOTONIC, 130001, "libcupti.so.13");
	works();
}

static inline void setup(void)
{
	begin(1, 10, true);
	context.records_held = 0;
}

static inline void teardown(void)
{
	rules_done(&rules);
	symbols_free(context.symbols);
	context.symbols = NULL;
	model_done(&model);
	writer_done(&w);
}

static inline void call(uint16_t function, uint64_t at, uint64_t duration, uint64_t arg)
{
	writer_call(&host, function, BEGIN + at + duration, duration, &arg, arg ? 1 : 0);
}

/* Writes a call and its device work. Times are relative to the start of the process. */
static inline void work(uint16_t function, uint64_t at, uint64_t duration, uint64_t arg, uint32_t id, uint64_t start,
		 uint64_t length, uint64_t bytes)
{
	struct writer_device_call called = {10, ++next_id, BEGIN + at + 1, duration > 2 ? duration - 2 : 0, false};
	struct writer_device_record done = {id, next_id, BEGIN + start, length, bytes};

	call(function, at, duration, arg);
	writer_device_calls(&cupti, TF_DEVICE_TIME_MONOTONIC, &called, 1);
	writer_device(&cupti, TF_DEVICE_TIME_MONOTONIC, &done, 1);
}

static inline void kernel(uint64_t at, uint64_t duration, uint64_t start, uint64_t length)
{
	work(f_launch, at, duration, tf_arg(TF_ARG_LAUNCH, 0, 1), KERNEL, start, length, 0);
}

static inline void open_model(uint64_t end)
{
	writer_end(&w, TF_END_EXIT, 0, BEGIN + end);
	open_written(&model, &w);
	context.symbols = symbols_new(&model, false);
}

static inline enum verdict verdict_of(const char *name)
{
	struct finding f;
	enum verdict verdict;

	cr_assert_not_null(rule_find(name), "%s", name);
	rule_run(&rules, rule_find(name), &f);
	verdict = f.verdict;
	cr_assert_geq(table_rows(&f.table), 1);
	cr_assert_str_eq(f.table.cells[0].text, rule_find(name)->name);
	cr_assert(verdict == VERDICT_FOUND ? f.text.size > 0 : table_rows(&f.table) == 1, "%s: what it found", name);
	finding_done(&f);
	return verdict;
}

static inline void assert_verdict(const char *name, enum verdict wanted)
{
	static const char *const words[] = {"clean", "found", "could not check"};
	enum verdict got = verdict_of(name);

	cr_expect_eq(got, wanted, "%s: %s, wanted %s", name, words[got], words[wanted]);
}

/* Returns the number in row 0 of the column with that title. */
static inline uint64_t number(const char *name, const char *title, size_t row)
{
	struct finding f;
	uint64_t found = UINT64_MAX;

	rule_run(&rules, rule_find(name), &f);
	cr_assert_lt(row, table_rows(&f.table));
	for (size_t i = 0; i < f.table.column_count; i++)
		if (!strcmp(f.table.columns[i].title, title))
			found = f.table.cells[row * f.table.column_count + i].count;
	finding_done(&f);
	return found;
}

/* A device that is always busy: kernels of 1 ms, launched ahead. */
static inline void busy_device(uint64_t kernels)
{
	for (uint64_t i = 0; i < kernels; i++)
		kernel(i * 10 * US, 5 * US, 20 * US + i * MS, MS);
}

static inline void assert_words(const char *rule, const char *words)
{
	struct finding f;

	rule_run(&rules, rule_find(rule), &f);
	cr_expect_not_null(strstr(buffer_string(&f.text), words), "%s", buffer_string(&f.text));
	finding_done(&f);
}

#endif
