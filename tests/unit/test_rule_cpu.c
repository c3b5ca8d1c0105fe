/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "rule_fixture.h"

TestSuite(rule_cpu, .init = setup, .fini = teardown);

/* Threads that use all cores for two seconds, with a sample every 10 ms. */
static void load_cores(long threads, long cores)
{
	struct writer_thread t;

	for (long i = 0; i < threads; i++) {
		writer_thread(&w, &t, 100 + (uint32_t)i, "busy", 64 * TF_PAGE);
		for (uint64_t at = 10 * MS; at < 2000 * MS; at += 10 * MS)
			writer_event(&t, TF_SAMPLE, 0, BEGIN + at, (uint64_t)(10000 * cores / threads));
	}
	open_model(2100 * MS);
	model.machines[0].is_this = true;
}

Test(rule_cpu, more_threads_than_cores)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	load_cores(cores + 3, cores);
	assert_verdict("cpu_oversubscribed", VERDICT_FOUND);
	cr_expect_eq(number("cpu_oversubscribed", "Threads", 0), (uint64_t)cores + 3);
	model.machines[0].is_this = false;
	assert_verdict("cpu_oversubscribed", VERDICT_UNCHECKED);
}

Test(rule_cpu, as_many_threads_as_cores)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	load_cores(cores, cores);
	assert_verdict("cpu_oversubscribed", VERDICT_CLEAN);
}

/* ---- OS calls ---- */

static void flushes(uint64_t count, uint64_t each)
{
	for (uint64_t i = 0; i < count; i++)
		call(f_fsync, i * 5 * MS, each, 0);
	open_model(100 * MS);
}

Test(rule_cpu, flushes_that_take_a_share_of_the_time)
{
	flushes(10, 2 * MS);
	assert_verdict("file_flush", VERDICT_FOUND);
	cr_expect_eq(number("file_flush", "Num Calls", 0), 10);
	cr_expect_eq(number("file_flush", "Total Time (ns)", 0), 20 * MS);
}

Test(rule_cpu, flushes_that_cost_little)
{
	flushes(10, 100 * US);
	assert_verdict("file_flush", VERDICT_CLEAN);
}

Test(rule_cpu, two_flushes_are_the_end_of_a_file)
{
	flushes(2, 5 * MS);
	assert_verdict("file_flush", VERDICT_CLEAN);
}

static void reads(uint64_t count, uint64_t bytes, uint64_t each)
{
	for (uint64_t i = 0; i < count; i++)
		call(f_read, i * 10 * US, each, tf_arg(TF_ARG_FD, 0, bytes << 16 | 3));
	open_model(100 * MS);
}

Test(rule_cpu, many_small_reads)
{
	reads(6000, 16, 2 * US);
	assert_verdict("small_io", VERDICT_FOUND);
	cr_expect_eq(number("small_io", "Num Calls", 0), 6000);
}

Test(rule_cpu, small_reads_below_the_threshold)
{
	struct writer_thread t;

	writer_thread_first(&w, &t, 12, 1, 4 * TF_PAGE);
	writer_counter(&t, f_read, 0, (struct tf_counter){50000, 20 * MS});
	call(f_read, 0, US, tf_arg(TF_ARG_FD, 0, 16 << 16 | 3));
	open_model(100 * MS);
	assert_verdict("small_io", VERDICT_FOUND);
	cr_expect_eq(number("small_io", "Num Calls", 0), 50001);
}

Test(rule_cpu, many_large_reads)
{
	reads(6000, 65536, 2 * US);
	assert_verdict("small_io", VERDICT_CLEAN);
}

Test(rule_cpu, few_small_reads)
{
	reads(400, 16, 9 * US);
	assert_verdict("small_io", VERDICT_CLEAN);
}

/* Threads that each wait for a lock for most of the time. */
static void lock_waits(uint32_t threads, uint64_t waits)
{
	for (uint32_t i = 0; i < threads; i++) {
		struct writer_thread t;

		writer_thread(&w, &t, 100 + i, "worker", 16 * TF_PAGE);
		for (uint64_t k = 0; k < waits; k++)
			writer_call(&t, f_lock, BEGIN + (k + 1) * MS, 900 * US, NULL, 0);
	}
	open_model(100 * MS);
}

Test(rule_cpu, threads_that_wait_for_a_lock)
{
	struct finding f;

	lock_waits(4, 50);
	assert_verdict("lock_convoy", VERDICT_FOUND);
	rule_run(&rules, rule_find("lock_convoy"), &f);
	cr_expect_eq(f.cost_ns, 45 * MS, "the mean of the threads");
	finding_done(&f);
}

Test(rule_cpu, a_lock_of_one_thread_is_no_convoy)
{
	lock_waits(1, 50);
	assert_verdict("lock_convoy", VERDICT_CLEAN);
}

Test(rule_cpu, locks_that_are_seldom_taken)
{
	lock_waits(4, 2);
	assert_verdict("lock_convoy", VERDICT_CLEAN);
}

/* ---- Python ---- */

static void call_of(uint16_t function, uint64_t at, uint64_t duration, uint32_t stack)
{
	call(function, at, duration, tf_arg(TF_ARG_STACK, 0, stack));
}

static void python_stacks(void)
{
	const uint32_t importing[] = {1, 2}, computing[] = {3}, loading[] = {4, 5};

	writer_python_code(&host, 1, 7, "<frozen importlib._bootstrap_external>", "FileLoader.get_data");
	writer_python_code(&host, 2, 1, "/home/u/train.py", "<module>");
	writer_python_code(&host, 3, 9, "/home/u/train.py", "step");
	writer_python_code(&host, 4, 99, "/usr/lib/python3/dist-packages/torch/utils/data/dataloader.py", "_next_data");
	writer_python_code(&host, 5, 12, "/home/u/train.py", "epoch");
	writer_python_stack(&host, 1, importing, 2);
	writer_python_stack(&host, 2, computing, 1);
	writer_python_stack(&host, 3, loading, 2);
}

Test(rule_cpu, imports_that_take_most_of_the_time)
{
	python_stacks();
	for (uint64_t i = 0; i < 6; i++)
		call_of(f_read, i * 10 * MS, 100 * US, 1);
	call_of(f_read, 60 * MS, 100 * US, 2);
	open_model(100 * MS);
	assert_verdict("import_heavy", VERDICT_FOUND);
	cr_expect_eq(number("import_heavy", "Total Time (ns)", 0), 50 * MS + 100 * US, "the time between them as well");
}

Test(rule_cpu, imports_with_other_work_between_them)
{
	python_stacks();
	for (uint64_t i = 0; i < 6; i++) {
		call_of(f_read, i * 10 * MS, 100 * US, 1);
		call_of(f_read, i * 10 * MS + MS, 100 * US, 2);
	}
	open_model(100 * MS);
	assert_verdict("import_heavy", VERDICT_CLEAN);
}

/* A loader whose main process waits `each` ns for each batch; with a worker if has_worker. */
static void loader(uint64_t each, bool has_worker)
{
	char directory[] = "/tmp/pillion-rule.XXXXXX";

	cr_assert_not_null(mkdtemp(directory));
	rmdir(directory);
	capture_create(directory);
	python_stacks();
	for (uint64_t i = 0; i < 10; i++)
		call_of(f_poll, i * 10 * MS, each, 3);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * MS);
	writer_save(&w, directory);
	writer_done(&w);
	writer_init(&w, 2, 20, has_worker ? 10 : 1, BEGIN + MS);
	w.header.via = TF_VIA_FORK;
	w.header.parent_nonce = has_worker ? 1 : 0;
	f_read = writer_function(&w, TF_GROUP_OSRT, "read");
	writer_thread(&w, &host, 20, "worker", 2 * TF_PAGE);
	call(f_read, 2 * MS, MS, 0);
	writer_save(&w, directory);
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	capture_remove(directory);
}

Test(rule_cpu, a_loader_whose_workers_are_slow)
{
	struct finding f;

	loader(8 * MS, true);
	assert_verdict("slow_loader", VERDICT_FOUND);
	rule_run(&rules, rule_find("slow_loader"), &f);
	cr_expect_eq(f.cost_ns, 80 * MS);
	cr_expect_str_eq(f.line.data, "epoch (/home/u/train.py:12)");
	finding_done(&f);
}

Test(rule_cpu, a_loader_that_keeps_up)
{
	loader(100 * US, true);
	assert_verdict("slow_loader", VERDICT_CLEAN);
}

Test(rule_cpu, a_loader_without_workers_waits_for_nobody)
{
	loader(8 * MS, false);
	assert_verdict("slow_loader", VERDICT_CLEAN);
}

/* ---- ranks ---- */

/* Ranks that each live 100 ms and are in MPI for that many of them; with a call of MPI unless it is 0. */
static void ranks(const uint64_t *in_mpi, size_t count)
{
	char directory[] = "/tmp/pillion-rule.XXXXXX";

	cr_assert_not_null(mkdtemp(directory));
	rmdir(directory);
	capture_create(directory);
	for (size_t i = 0; i < count; i++) {
		char variables[32];
		uint16_t f_barrier;

		writer_done(&w);
		writer_init(&w, i + 1, (uint32_t)(10 + i), 1, BEGIN);
		writer_variables(&w, variables,
				 (size_t)snprintf(variables, sizeof(variables), "RANK=%d", (int)i) + 1);
		f_barrier = writer_function(&w, TF_GROUP_MPI, "MPI_Barrier");
		writer_thread(&w, &host, (uint32_t)(10 + i), "main", 2 * TF_PAGE);
		if (in_mpi[i])
			writer_call(&host, f_barrier, BEGIN + 99 * MS, in_mpi[i] * MS, NULL, 0);
		else
			writer_event(&host, TF_MARK, 0, BEGIN + 99 * MS, 0);
		writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * MS);
		writer_save(&w, directory);
	}
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	capture_remove(directory);
}

#define RANKS(...) ranks((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

Test(rule_cpu, a_rank_that_the_others_wait_for)
{
	RANKS(50, 52, 5, 48);
	assert_verdict("straggling_rank", VERDICT_FOUND);
	cr_expect_eq(number("straggling_rank", "PID", 0), 12);
	cr_expect_eq(number("straggling_rank", "Lost (ns)", 0), 45 * MS);
	assert_verdict("idle_rank", VERDICT_CLEAN);
}

Test(rule_cpu, ranks_that_arrive_together)
{
	RANKS(20, 22, 18, 21);
	assert_verdict("straggling_rank", VERDICT_CLEAN);
	assert_verdict("idle_rank", VERDICT_CLEAN);
}

Test(rule_cpu, a_rank_without_work)
{
	RANKS(10, 9, 95, 12);
	assert_verdict("idle_rank", VERDICT_FOUND);
	cr_expect_eq(number("idle_rank", "PID", 0), 12);
	assert_verdict("straggling_rank", VERDICT_CLEAN);
}

Test(rule_cpu, ranks_without_mpi_and_a_single_rank_are_not_clean)
{
	RANKS(0, 0);
	assert_verdict("straggling_rank", VERDICT_UNCHECKED);
	teardown();
	setup();
	RANKS(50);
	assert_verdict("idle_rank", VERDICT_UNCHECKED);
}
