/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "report/answers/fix_first.h"
#include "rule_fixture.h"

TestSuite(rule_python, .init = setup, .fini = teardown);

/* ---- Python ---- */

static void call_of(uint16_t function, uint64_t at, uint64_t duration, uint32_t stack)
{
	call(function, at, duration, tf_arg(TF_ARG_STACK, 0, stack));
}

static void python_stacks(void)
{
	const uint32_t importing[] = {1, 6, 2}, computing[] = {3}, loading[] = {4, 5};

	writer_python_code(&host, 1, 7, "<frozen importlib._bootstrap_external>", "FileLoader.get_data");
	writer_python_code(&host, 6, 7, "<frozen importlib._bootstrap>", "_find_and_load");
	writer_python_code(&host, 2, 1, "/home/u/train.py", "<module>");
	writer_python_code(&host, 3, 9, "/home/u/train.py", "step");
	writer_python_code(&host, 4, 99, "/usr/lib/python3/dist-packages/torch/utils/data/dataloader.py", "_next_data");
	writer_python_code(&host, 5, 12, "/home/u/train.py", "epoch");
	writer_python_stack(&host, 1, importing, 3);
	writer_python_stack(&host, 2, computing, 1);
	writer_python_stack(&host, 3, loading, 2);
}

Test(rule_python, imports_that_take_most_of_the_time)
{
	python_stacks();
	for (uint64_t i = 0; i < 6; i++)
		call_of(f_read, i * 10 * MS, 100 * US, 1);
	call_of(f_read, 60 * MS, 100 * US, 2);
	open_model(100 * MS);
	assert_verdict("import_heavy", VERDICT_FOUND);
	cr_expect_eq(number("import_heavy", "Total Time (ns)", 0), 50 * MS + 100 * US, "the time between them as well");
}

/* 80 ms in a module of the program's own that computes while it is imported. */
Test(rule_python, an_own_module_that_computes_when_imported)
{
	const uint32_t computing[] = {7, 6, 2};

	python_stacks();
	writer_python_code(&host, 7, 1, "/home/u/tables.py", "<module>");
	writer_python_stack(&host, 4, computing, 3);
	for (uint64_t i = 1; i <= 8; i++)
		writer_sample(&host, BEGIN + i * 10 * MS, 10000, 4);
	open_model(100 * MS);
	assert_verdict("import_heavy", VERDICT_FOUND);
	assert_words("import_heavy", "runs the code of its own modules while it imports them, for at least 80.0 ms");
}

Test(rule_python, imports_with_other_work_between_them)
{
	python_stacks();
	for (uint64_t i = 0; i < 6; i++) {
		call_of(f_read, i * 10 * MS, 100 * US, 1);
		call_of(f_read, i * 10 * MS + MS, 100 * US, 2);
	}
	open_model(100 * MS);
	assert_verdict("import_heavy", VERDICT_CLEAN);
}

/* py_compile reads and compiles files by the import system. */
Test(rule_python, files_that_are_compiled_are_not_imported)
{
	const uint32_t compiling[] = {1, 2, 3};

	writer_python_code(&host, 1, 7, "<frozen importlib._bootstrap_external>", "SourceLoader.source_to_code");
	writer_python_code(&host, 2, 9, "/usr/lib/python3.11/py_compile.py", "compile");
	writer_python_code(&host, 3, 1, "/home/u/build.py", "<module>");
	writer_python_stack(&host, 1, compiling, 3);
	for (uint64_t i = 0; i < 6; i++)
		call_of(f_read, i * 10 * MS, 100 * US, 1);
	open_model(100 * MS);
	assert_verdict("import_heavy", VERDICT_CLEAN);
}

/* Samples of 10 ms every 5 ms, in turn at two import statements. */
Test(rule_python, imports_take_no_longer_than_the_process)
{
	const uint32_t second[] = {1, 6, 3};

	python_stacks();
	writer_python_stack(&host, 4, second, 3);
	for (uint64_t i = 0; i < 20; i++)
		writer_sample(&host, BEGIN + i * 5 * MS, 10000, i % 2 ? 1 : 4);
	open_model(200 * MS);
	assert_verdict("import_heavy", VERDICT_FOUND);
	assert_words("import_heavy", ", 52.5 % of its time");
}

/* Stacks of the import of a package, and of code of that package. */
static void package_stacks(void)
{
	const uint32_t importing[] = {3, 1, 2}, using[] = {5, 6};

	writer_python_code(&host, 1, 7, "<frozen importlib._bootstrap>", "_find_and_load");
	writer_python_code(&host, 2, 1, "/home/u/train.py", "<module>");
	writer_python_code(&host, 3, 9, "/usr/lib/python3/dist-packages/heavy/__init__.py", "<module>");
	writer_python_code(&host, 5, 9, "/usr/lib/python3/dist-packages/heavy/core.py", "fit");
	writer_python_code(&host, 6, 12, "/home/u/train.py", "epoch");
	writer_python_stack(&host, 1, importing, 3);
	writer_python_stack(&host, 2, using, 2);
}

/* 60 ms of imports, then 40 ms in which the package is used or not; with CPU samples or without. */
static void import_package(bool has_samples, bool is_used)
{
	package_stacks();
	for (uint64_t i = 0; i < 6; i++)
		call_of(f_read, i * 10 * MS, 100 * US, 1);
	call_of(f_read, 60 * MS, 100 * US, 2);
	for (uint64_t i = 0; has_samples && i < 3; i++)
		writer_sample(&host, BEGIN + 70 * MS + i * 10 * MS, 10000, is_used ? 2 : 3);
	open_model(100 * MS);
}

Test(rule_python, an_import_of_a_package_that_is_hardly_used)
{
	import_package(true, false);
	assert_verdict("import_heavy", VERDICT_FOUND);
	assert_words("import_heavy", ", and hardly uses heavy");
}

Test(rule_python, an_import_of_a_package_that_is_used)
{
	import_package(true, true);
	assert_verdict("import_heavy", VERDICT_CLEAN);
}

/* The import statement is in a module of the user's, which the program imports. */
Test(rule_python, an_import_by_an_own_module_of_a_package_that_is_used)
{
	const uint32_t importing[] = {3, 1, 4, 1, 2};

	package_stacks();
	writer_python_code(&host, 4, 1, "/home/u/common.py", "<module>");
	writer_python_stack(&host, 4, importing, 5);
	for (uint64_t i = 0; i < 6; i++)
		call_of(f_read, i * 10 * MS, 100 * US, 4);
	for (uint64_t i = 0; i < 3; i++)
		writer_sample(&host, BEGIN + 70 * MS + i * 10 * MS, 10000, 2);
	open_model(100 * MS);
	assert_verdict("import_heavy", VERDICT_CLEAN);
}

/* What the user's module does when it is imported can be put off. */
Test(rule_python, an_own_module_that_works_when_it_is_imported)
{
	const uint32_t working[] = {3, 4, 1, 2};

	package_stacks();
	writer_python_code(&host, 4, 1, "/home/u/common.py", "<module>");
	writer_python_stack(&host, 4, working, 4);
	for (uint64_t i = 0; i < 6; i++)
		call_of(f_read, i * 10 * MS, 100 * US, 4);
	open_model(100 * MS);
	assert_verdict("import_heavy", VERDICT_FOUND);
}

Test(rule_python, whether_a_package_is_used_needs_samples)
{
	import_package(false, false);
	assert_verdict("import_heavy", VERDICT_UNCHECKED);
}

/* A coroutine that calls a blocking function, or the loop's own wait. */
static void coroutine_in(const char *file, bool is_callback)
{
	const uint32_t stack[] = {1, is_callback ? 2 : 3};

	writer_python_code(&host, 1, 7, file, "fetch");
	writer_python_code(&host, 2, 80, "/usr/lib/python3.11/asyncio/events.py", "Handle._run");
	writer_python_code(&host, 3, 80, "/usr/lib/python3.11/selectors.py", "select");
	writer_python_stack(&host, 1, stack, 2);
	for (uint64_t i = 0; i < 8; i++)
		call_of(f_poll, i * 10 * MS, 9 * MS, 1);
	open_model(100 * MS);
}

static void coroutine(bool is_callback)
{
	coroutine_in("/home/u/crawl.py", is_callback);
}

Test(rule_python, a_loop_that_starts_threads)
{
	coroutine_in("/usr/lib/python3.11/concurrent/futures/thread.py", true);
	assert_verdict("blocked_loop", VERDICT_CLEAN);
}

/* It may wait for another thread of its own, and nothing of the program can be awaited instead. */
Test(rule_python, a_library_that_waits_in_its_own_loop)
{
	coroutine_in("/usr/lib/python3.11/threading.py", true);
	assert_verdict("blocked_loop", VERDICT_CLEAN);
}

Test(rule_python, a_coroutine_that_blocks_its_loop)
{
	coroutine(true);
	assert_verdict("blocked_loop", VERDICT_FOUND);
	cr_expect_eq(number("blocked_loop", "Total Time (ns)", 0), 72 * MS);
}

Test(rule_python, a_loop_that_waits)
{
	coroutine(false);
	assert_verdict("blocked_loop", VERDICT_CLEAN);
}

/* A step that is compiled `times` times, each for 8 ms, and executed in between. */
static void compilations(size_t times)
{
	const uint32_t compiling[] = {1, 2}, running[] = {3};

	writer_python_code(&host, 1, 7, "/usr/lib/python3/dist-packages/jax/_src/compiler.py", "backend_compile");
	writer_python_code(&host, 2, 12, "/home/u/train.py", "main");
	writer_python_code(&host, 3, 13, "/home/u/train.py", "main");
	writer_python_stack(&host, 1, compiling, 2);
	writer_python_stack(&host, 2, running, 1);
	for (size_t i = 0; i < 10; i++) {
		call_of(f_futex, i * 10 * MS, 4 * MS, i < times ? 1 : 2);
		call_of(f_futex, i * 10 * MS + 4 * MS, 4 * MS, i < times ? 1 : 2);
		call_of(f_futex, i * 10 * MS + 8 * MS, 1 * MS, 2);
	}
	open_model(100 * MS);
}

Test(rule_python, a_step_that_is_compiled_for_each_shape)
{
	compilations(10);
	assert_verdict("recompilation", VERDICT_FOUND);
	cr_expect_eq(number("recompilation", "Total Time (ns)", 0), 80 * MS);
	assert_words("recompilation", "one line has code compiled 10 times, ");
}

/* The lines of the function that is traced are the innermost ones; what executes it is no part. */
Test(rule_python, the_trace_of_a_function_is_a_part_of_its_compilation)
{
	const uint32_t tracing[] = {5, 4, 2}, compiling[] = {1, 4, 2}, executing[] = {6, 4, 2};

	writer_python_code(&host, 1, 7, "/usr/lib/python3/dist-packages/jax/_src/compiler.py", "backend_compile");
	writer_python_code(&host, 2, 12, "/home/u/train.py", "main");
	writer_python_code(&host, 4, 70, "/usr/lib/python3/dist-packages/jax/_src/pjit.py", "cache_miss");
	writer_python_code(&host, 5, 3, "/home/u/train.py", "score");
	writer_python_code(&host, 6, 9, "/usr/lib/python3/dist-packages/jax/_src/interpreters/pxla.py", "__call__");
	writer_python_stack(&host, 1, tracing, 3);
	writer_python_stack(&host, 2, compiling, 3);
	writer_python_stack(&host, 3, executing, 3);
	for (size_t i = 0; i < 10; i++) {
		call_of(f_futex, i * 10 * MS, 1 * MS, 1);
		call_of(f_futex, i * 10 * MS + 2 * MS, 1 * MS, 1);
		call_of(f_futex, i * 10 * MS + 3 * MS, 4 * MS, 2);
		call_of(f_futex, i * 10 * MS + 7 * MS, 3 * MS, 3);
	}
	open_model(100 * MS);
	assert_verdict("recompilation", VERDICT_FOUND);
	cr_expect_eq(number("recompilation", "Total Time (ns)", 0), 70 * MS);
	assert_words("recompilation", "one line has code compiled 10 times, ");
}

Test(rule_python, of_the_compilations_one_stays)
{
	struct finding f;

	compilations(10);
	rule_run(&rules, rule_find("recompilation"), &f);
	fix_first_saving(NULL, &f, MS);
	cr_expect_eq(f.saves.saved_ns, 72 * MS);
	cr_expect_eq(f.saves.high_ns, 80 * MS);
	finding_done(&f);
}

Test(rule_python, a_step_that_is_compiled_once)
{
	compilations(1);
	assert_verdict("recompilation", VERDICT_CLEAN);
}

Test(rule_python, threads_that_wait_for_compile_workers_do_not_compile)
{
	const uint32_t waiting[] = {1, 2}, running[] = {3};

	writer_python_code(&host, 1, 76, "/v/site-packages/torch/_inductor/compile_worker/pool.py", "_recv_msg");
	writer_python_code(&host, 2, 1, "/v/lib/python3.12/threading.py", "run");
	writer_python_code(&host, 3, 9, "/home/u/train.py", "step");
	writer_python_stack(&host, 1, waiting, 2);
	writer_python_stack(&host, 2, running, 1);
	for (size_t i = 0; i < 10; i++) {
		call_of(f_read, i * 10 * MS, 8 * MS, 1);
		call_of(f_futex, i * 10 * MS + 8 * MS, 1 * MS, 2);
	}
	open_model(100 * MS);
	assert_verdict("recompilation", VERDICT_CLEAN);
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

Test(rule_python, a_loader_whose_workers_are_slow)
{
	struct finding f;

	loader(8 * MS, true);
	assert_verdict("slow_loader", VERDICT_FOUND);
	rule_run(&rules, rule_find("slow_loader"), &f);
	cr_expect_eq(f.cost_ns, 80 * MS);
	cr_expect_str_eq(line_text(f.line), "epoch (/home/u/train.py:12)");
	finding_done(&f);
}

Test(rule_python, a_loader_that_keeps_up)
{
	loader(100 * US, true);
	assert_verdict("slow_loader", VERDICT_CLEAN);
}

Test(rule_python, a_loader_without_workers_waits_for_nobody)
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

Test(rule_python, a_rank_that_the_others_wait_for)
{
	RANKS(50, 52, 5, 48);
	assert_verdict("straggling_rank", VERDICT_FOUND);
	cr_expect_eq(number("straggling_rank", "PID", 0), 12);
	cr_expect_eq(number("straggling_rank", "Lost (ns)", 0), 45 * MS);
	assert_verdict("idle_rank", VERDICT_CLEAN);
}

Test(rule_python, ranks_that_arrive_together)
{
	RANKS(20, 22, 18, 21);
	assert_verdict("straggling_rank", VERDICT_CLEAN);
	assert_verdict("idle_rank", VERDICT_CLEAN);
}

Test(rule_python, a_rank_without_work)
{
	RANKS(10, 9, 95, 12);
	assert_verdict("idle_rank", VERDICT_FOUND);
	cr_expect_eq(number("idle_rank", "PID", 0), 12);
	assert_verdict("straggling_rank", VERDICT_CLEAN);
}

Test(rule_python, one_of_two_ranks_that_waits_for_the_other)
{
	RANKS(85, 30);
	assert_verdict("straggling_rank", VERDICT_FOUND);
	assert_verdict("idle_rank", VERDICT_CLEAN);
}

/* Ranks without calls of MPI that wait in poll(): gloo, or MPI that is not traced. */
struct polling_rank {
	uint64_t ms, cpu_ms, delay_ms; /* in poll, on a CPU, waiting for one */
};

static void ranks_that_poll(const struct polling_rank *of, size_t count)
{
	char directory[] = "/tmp/pillion-rule.XXXXXX";

	cr_assert_not_null(mkdtemp(directory));
	rmdir(directory);
	capture_create(directory);
	for (size_t i = 0; i < count; i++) {
		char variables[32];

		writer_done(&w);
		writer_init(&w, i + 1, (uint32_t)(10 + i), 1, BEGIN);
		writer_variables(&w, variables,
				 (size_t)snprintf(variables, sizeof(variables), "RANK=%d", (int)i) + 1);
		f_poll = writer_function(&w, TF_GROUP_OSRT, "poll");
		writer_thread(&w, &host, (uint32_t)(10 + i), "main", 2 * TF_PAGE);
		writer_call(&host, f_poll, BEGIN + 99 * MS, of[i].ms * MS, NULL, 0);
		writer_usage(&host, &(struct tf_usage){BEGIN + 99 * MS, of[i].cpu_ms * MS, of[i].delay_ms * MS,
						       10 + (uint32_t)i, 0, 1, 1});
		writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * MS);
		writer_save(&w, directory);
	}
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	capture_remove(directory);
}

Test(rule_python, a_rank_that_others_wait_for_without_mpi)
{
	ranks_that_poll((const struct polling_rank[]){{60, 10, 0}, {2, 90, 0}}, 2);
	assert_verdict("straggling_rank", VERDICT_FOUND);
	cr_expect_eq(number("straggling_rank", "PID", 0), 11);
}

Test(rule_python, a_rank_with_more_to_compute_on_busy_cpus)
{
	ranks_that_poll((const struct polling_rank[]){{60, 10, 20}, {2, 30, 60}}, 2);
	assert_verdict("straggling_rank", VERDICT_FOUND);
}

Test(rule_python, a_rank_that_is_late_because_its_cpu_is_busy)
{
	ranks_that_poll((const struct polling_rank[]){{60, 30, 0}, {2, 30, 60}}, 2);
	assert_verdict("straggling_rank", VERDICT_CLEAN);
}

Test(rule_python, ranks_without_mpi_that_arrive_together)
{
	ranks_that_poll((const struct polling_rank[]){{20, 10, 0}, {22, 10, 0}}, 2);
	assert_verdict("straggling_rank", VERDICT_CLEAN);
}

Test(rule_python, ranks_without_mpi_and_a_single_rank_are_not_clean)
{
	RANKS(0, 0);
	assert_verdict("straggling_rank", VERDICT_UNCHECKED);
	teardown();
	setup();
	RANKS(50);
	assert_verdict("idle_rank", VERDICT_UNCHECKED);
}
