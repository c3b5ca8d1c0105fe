/* SPDX-License-Identifier: Apache-2.0 */
/* What FIX FIRST says of a traced process, with the callers of its calls. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "report/answers/answer.h"
#include "fix_first_fixture.h"

TestSuite(fix_first, .init = begin, .fini = summarized_end);

/* In turn 50 ms in another function of save's, then 100 ms in flush. */
static const char *summary_of_calls(const char *call)
{
	const uint64_t flushes = tf_arg(TF_ARG_STACK, 0, 1), saves = tf_arg(TF_ARG_STACK, 0, 2);
	uint16_t f_call = writer_function(&w, TF_GROUP_OSRT, call),
		 f_open = writer_function(&w, TF_GROUP_OSRT, "open64");

	write_stacks();
	for (uint64_t ms = 150; ms <= 1050; ms += 150) {
		writer_call(&host, f_open, BEGIN + (ms - 100) * MS, 50 * MS, &saves, 1);
		writer_call(&host, f_call, BEGIN + ms * MS, 100 * MS, &flushes, 1);
	}
	return summary_after(1500, 450);
}

Test(fix_first, who_flushes_a_file_has_opened_it)
{
	const char *summary = summary_of_calls("fsync");

	cr_expect(strstr(summary, ": helpers.py:3 flush; a change there saves 315 ms to 1.05 s\n"
				  "           train.py:40       train  1.05 s\n"
				  "             helpers.py:9    save   1.05 s\n"
				  "               helpers.py:3  flush  700 ms\n"), "%s", summary);
}

Test(fix_first, a_sleep_costs_what_it_takes)
{
	const char *summary = summary_of_calls("usleep");

	cr_expect(strstr(summary, "helpers.py:3 flush, called from helpers.py:9; saves 485 to 740 ms\n"), "%s",
		  summary);
}

/* 360 ms in short reads by nobody knows which line, then 300 ms of sleep. */
Test(fix_first, what_may_save_nothing_comes_after_what_does)
{
	const uint64_t saves = tf_arg(TF_ARG_STACK, 0, 2);
	uint16_t f_read = writer_function(&w, TF_GROUP_OSRT, "read"),
		 f_sleep = writer_function(&w, TF_GROUP_OSRT, "usleep");
	const char *summary;

	write_stacks();
	writer_counter(&host, f_read, 0, (struct tf_counter){50000, 360 * MS});
	writer_call(&host, f_sleep, BEGIN + 900 * MS, 300 * MS, &saves, 1);
	summary = summary_after(1000, 600);
	cr_expect(strstr(summary, "FIX FIRST  train.py is blocked 30 % of the time in usleep"), "%s", summary);
}

/* 10 ms each of so many samples in an import, then of so many in a function. */
static const char *summary_of_import(uint64_t imports, uint64_t samples)
{
	uint64_t ms = 10 * (imports + samples);

	write_stacks();
	writer_python_code(&host, 4, 1176, "<frozen importlib._bootstrap>", "_find_and_load");
	writer_python_code(&host, 5, 1, "/home/u/dir/train.py", "<module>");
	writer_python_stack(&host, 4, (uint32_t[]){4, 5}, 2);
	for (uint64_t i = 1; i <= imports + samples; i++)
		writer_sample(&host, BEGIN + i * 10 * MS, 10000, i <= imports ? 4 : 3);
	return summary_after(ms, ms);
}

Test(fix_first, imports_come_after_what_carries_more)
{
	const char *summary = summary_of_import(40, 60);

	cr_expect(strstr(summary, "FIX FIRST  600 ms of 1.00 s at train.py:40 train; "), "%s", summary);
	cr_expect(strstr(summary, "imports modules"), "%s", summary);
}

Test(fix_first, imports_come_before_what_carries_less)
{
	const char *summary = summary_of_import(60, 40);

	cr_expect(strstr(summary, "FIX FIRST  process 10 imports modules"), "%s", summary);
}

/* 150 ms of opens in an import that computes for 400 ms: the line of both has the price of both. */
Test(fix_first, files_of_an_import_are_a_part_of_it)
{
	const uint64_t import = tf_arg(TF_ARG_STACK, 0, 4);
	uint16_t f_open = writer_function(&w, TF_GROUP_OSRT, "open64");
	const char *summary;

	write_stacks();
	writer_python_code(&host, 4, 1176, "<frozen importlib._bootstrap>", "_find_and_load");
	writer_python_code(&host, 5, 1, "/home/u/dir/train.py", "<module>");
	writer_python_stack(&host, 4, (uint32_t[]){4, 5}, 2);
	for (uint64_t i = 1; i <= 40; i++) {
		writer_sample(&host, BEGIN + i * 20 * MS, 10000, 4);
		if (i <= 15)
			writer_call(&host, f_open, BEGIN + (i * 20 + 10) * MS, 10 * MS, &import, 1);
	}
	summary = summary_after(6000, 400);
	cr_expect(!strstr(summary, "in open64 ("), "%s", summary);
}

/* What is imported is used: that it could be avoided is not said. */
Test(fix_first, an_import_has_the_name_of_what_it_imports)
{
	const char *package = "/v/lib/python3.11/site-packages/net/optim/__init__.py", *summary;

	write_stacks();
	writer_python_code(&host, 4, 1176, "<frozen importlib._bootstrap>", "_find_and_load");
	writer_python_code(&host, 5, 2, "/home/u/dir/train.py", "<module>");
	writer_python_code(&host, 6, 7, package, "<module>");
	writer_python_code(&host, 7, 70, package, "step");
	writer_python_stack(&host, 4, (uint32_t[]){4, 6, 4, 5}, 4);
	writer_python_stack(&host, 5, (uint32_t[]){7, 3}, 2);
	for (uint64_t i = 1; i <= 100; i++)
		writer_sample(&host, BEGIN + i * 10 * MS, 10000, i <= 60 ? 4 : 5);
	summary = summary_after(1000, 1000);
	cr_expect(strstr(summary, "FIX FIRST  400 ms of 1.00 s at train.py:40 train (optim.step)"), "%s", summary);
	cr_expect(strstr(summary, "600 ms of 1.00 s at train.py:2 <module> (imports net.optim); a change there saves "
				  "180 to 600 ms\n"), "%s", summary);
}

#define OPENBLAS "/v/lib/numpy.libs/libscipy_openblas64_-32a4.so"

/* train is in that module for so many samples of 10 ms, below multiply, and flushes for so many. */
static const char *summary_of_module(const char *module, uint64_t products, uint64_t flushes)
{
	const uint64_t native[] = {0x1010, 0x2010, 0x3010};
	uint64_t ms = 10 * (products + flushes);

	write_stacks();
	writer_module(&host, 0x1000, 0x2000, 0, NULL, 0, module);
	writer_module(&host, 0x2000, 0x3000, 0, NULL, 0, "/v/lib/numpy/_core/_umath.cpython-311-x86_64-linux-gnu.so");
	writer_module(&host, 0x3000, 0x4000, 0, NULL, 0, "/usr/lib/libpython3.11.so");
	writer_python_code(&host, 4, 20, "/home/u/dir/helpers.py", "multiply");
	writer_blob(&host, TF_BLOB_STACK, 4, native, sizeof(native));
	writer_python_stack(&host, 4, (uint32_t[]){4, 3}, 2);
	for (uint64_t i = 1; i <= products + flushes; i++)
		writer_sample(&host, BEGIN + i * 10 * MS, 10000, i <= products ? 4 : 1);
	return summary_after(ms, ms);
}

Test(fix_first, linear_algebra_is_no_place)
{
	const char *summary = summary_of_module(OPENBLAS, 70, 30);

	cr_expect(strstr(summary, "FIX FIRST  1.00 s of 1.00 s pass through these; linear algebra takes 70 % "
				  "of the CPU time; "), "%s", summary);
	cr_expect(strstr(summary, "             helpers.py:9    save   300 ms\n"
				  "               helpers.py:3  flush  300 ms\n"), "%s", summary);
}

/* A change of the place, flush, saves nothing of the rest. */
Test(fix_first, what_is_mostly_linear_algebra_is_told_of_the_outermost_function)
{
	for (uint64_t products = 40; products <= 70; products += 30) {
		bool is_mostly = products == 70;
		const struct fix_first_cause *cause;
		struct answer a;
		SCOPED(buffer) line = {0};

		summary_of_module(OPENBLAS, products, 100 - products);
		answer_briefly(&context, &a);
		cause = &a.first.items[0];
		code_line_text(cause->line, &line);
		cr_expect_eq(!strstr(buffer_string(&cause->text), " down to "), is_mostly, "%s", cause->text.data);
		cr_expect(text_has(buffer_string(&line), is_mostly ? "train.py:40" : "helpers.py:3"), "%s", line.data);
		/* 0.3 of what is beside it */
		cr_expect(cause->saves.low_ns >= (100 - products) * 29 / 10 * MS &&
			  cause->saves.low_ns <= (100 - products) * 31 / 10 * MS, "%" PRIu64, cause->saves.low_ns);
		answer_done(&a);
		begin_again();
	}
}

Test(fix_first, only_libraries_of_linear_algebra_are_that)
{
	static const char *const modules[] = {"/usr/bin/blastn", "/v/lib/libcublas.so.12", "/v/lib/libcublasLt.so.12",
					      "/v/bin/liblapack-bench"};

	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
		if (i == 3) /* which is the program */
			writer_command(&w, modules[i], "liblapack-bench", 16);
		cr_expect(!strstr(summary_of_module(modules[i], 70, 30), "linear algebra"), "%s", modules[i]);
		begin_again();
	}
	cr_expect(strstr(summary_of_module("/usr/lib/liblapack.so.3", 70, 30), "linear algebra takes 70 %"));
}

Test(fix_first, a_program_that_only_multiplies_has_the_line)
{
	const char *summary = summary_of_module(OPENBLAS, 100, 0);

	cr_expect(strstr(summary, "             helpers.py:20  multiply  1.00 s\n"), "%s", summary);
}

/* It ends when the other thread wakes it up, and the run ends with it: nobody knows of that. */
Test(fix_first, a_wait_without_a_known_end_hides_nothing)
{
	uint16_t f_wait = writer_function(&w, TF_GROUP_OSRT, "epoll_wait"),
		 f_join = writer_function(&w, TF_GROUP_OSRT, "sem_wait");
	struct writer_thread waits;
	const char *summary;

	write_stacks();
	writer_thread(&w, &waits, 11, "waits", 4 * TF_PAGE);
	writer_call(&waits, f_wait, BEGIN + 995 * MS, 990 * MS, NULL, 0);
	writer_page(&waits)->start_ticks = BEGIN + 5 * MS;
	writer_page(&waits)->end_ticks = BEGIN + 996 * MS;
	for (uint64_t i = 1; i <= 99; i++)
		writer_sample(&host, BEGIN + i * 10 * MS, 10000, 3);
	writer_call(&host, f_join, BEGIN + 996 * MS, 5 * MS, NULL, 0);
	summary = summary_after(1000, 990);
	cr_expect(strstr(summary, "FIX FIRST  9"), "%s", summary);
	cr_expect(strstr(summary, " ms of 1.00 s at train.py:40 train; a change there saves 2"), "%s", summary);
}

/* The line that computes waits, too, as for the threads of a library; of that wait nobody knows the end. */
Test(fix_first, a_wait_that_may_be_needed_has_not_the_price_of_what_computes)
{
	const uint64_t at[] = {tf_arg(TF_ARG_STACK, 0, 3)};
	uint16_t f_wait = writer_function(&w, TF_GROUP_OSRT, "pthread_cond_wait");
	const char *summary;

	write_stacks();
	for (uint64_t i = 1; i <= 40; i++)
		writer_sample(&host, BEGIN + i * 10 * MS, 10000, 3);
	writer_call(&host, f_wait, BEGIN + 900 * MS, 490 * MS, at, 1);
	summary = summary_after(1000, 410);
	cr_expect(strstr(summary, "FIX FIRST  900 ms of 1.00 s at train.py:40 train; "
				  "a change there saves 270 to 900 ms\n"), "%s", summary);
}

/* train computes for so long, and sleeps for the rest of a second at the same line. */
static const char *summary_of_sleep(uint64_t cpu_ms)
{
	const uint64_t at[] = {tf_arg(TF_ARG_STACK, 0, 3)};
	uint16_t f_sleep = writer_function(&w, TF_GROUP_OSRT, "usleep");

	write_stacks();
	for (uint64_t ms = 10; ms <= cpu_ms; ms += 10)
		writer_sample(&host, BEGIN + ms * MS, 10000, 3);
	writer_call(&host, f_sleep, BEGIN + 1000 * MS, (1000 - cpu_ms) * MS, at, 1);
	return summary_after(1000, cpu_ms);
}

Test(fix_first, a_lesser_wait_does_not_hide_what_its_line_computes)
{
	const char *summary = summary_of_sleep(800);

	cr_expect(strstr(summary, "FIX FIRST  1.00 s of 1.00 s at train.py:40 train; a change there saves "), "%s",
		  summary);
}

Test(fix_first, a_wait_comes_before_what_its_line_computes)
{
	const char *summary = summary_of_sleep(400);

	cr_expect(strstr(summary, "FIX FIRST  train.py is blocked 60 % of the time in usleep (1 call): train.py:40 "),
		  "%s", summary);
}

/* 900 ms of computing, of 20 s, for 19 s of which other programs held the CPUs: in the next run they may not. */
Test(fix_first, a_part_is_no_larger_than_its_whole)
{
	const struct fix_first_cause cause = {.is_bound = true, .whole_ns = 900,
					      .saves = {.saved_ns = 19000, .high_ns = 20000, .cost_ns = 20000}};
	SCOPED(buffer) whole = {0};
	struct saving told = fix_first_told(&cause, &whole);

	cr_expect_eq(told.high_ns, 900);
	cr_expect_eq(told.saved_ns, 900);
	cr_expect_eq(whole.size, 0);
}

/* A step of the program's own code, and so many of a model in train, of 10 ms each. */
static const char *summary_of_model(uint64_t own, uint64_t models)
{
	write_stacks();
	writer_python_code(&host, 4, 1751, "/p/site-packages/torch/nn/modules/module.py", "Module._call_impl");
	writer_python_code(&host, 5, 250, "/p/site-packages/torch/nn/modules/container.py", "Sequential.forward");
	writer_python_code(&host, 6, 44, "/home/u/dir/train.py", "train");
	writer_python_stack(&host, 4, (uint32_t[]){5, 4, 6}, 3);
	for (uint64_t i = 1; i <= own + models; i++)
		writer_sample(&host, BEGIN + i * 10 * MS, 10000, i <= own ? 3 : 4);
	return summary_after(1000, 1000);
}

Test(fix_first, the_model_is_the_place_of_a_job_that_does_nothing_else)
{
	const char *summary = summary_of_model(0, 99);

	cr_expect(strstr(summary, "1.00 s of 1.00 s at train.py:44 train (container.Sequential.forward); "), "%s",
		  summary);
}

Test(fix_first, what_else_a_job_does_is_the_place_beside_a_model)
{
	const char *summary = summary_of_model(40, 59);

	cr_expect(strstr(summary, " at train.py:40 train; the model itself takes 60 % "), "%s", summary);
	cr_expect(strstr(summary, "; a change there saves 121 ms to 1.00 s"), "%s", summary);
}

Test(fix_first, a_program_without_lines_has_no_line_that_takes_long)
{
	const struct code_line lines[] = {{.function = "[find]"}, {.function = "main", .file = "find.c", .line = 7}};
	static const char *const wanted[] = {"; all of it takes 5.00 us in all threads",
					     "; its line takes 5.00 us in all threads"};

	for (size_t i = 0; i < 2; i++) {
		SCOPED(buffer) whole = {0};

		fix_first_told(&(struct fix_first_cause){.line = &lines[i], .whole_ns = 1000,
							 .saves = {.saved_ns = 5000, .high_ns = 6000, .cost_ns = 5000}},
			       &whole);
		cr_assert_str_eq(whole.data, wanted[i]);
	}
}

Test(fix_first, where_the_user_computes_is_shown_however_little)
{
	const uint64_t flushes = tf_arg(TF_ARG_STACK, 0, 1), saves = tf_arg(TF_ARG_STACK, 0, 2);
	uint16_t f_sleep = writer_function(&w, TF_GROUP_OSRT, "usleep"),
		 f_flush = writer_function(&w, TF_GROUP_OSRT, "fsync"),
		 f_open = writer_function(&w, TF_GROUP_OSRT, "open64");
	const char *summary;

	write_stacks();
	for (uint64_t i = 1; i <= 3; i++)
		writer_sample(&host, BEGIN + i * 10 * MS, 10000, 3);
	writer_call(&host, f_sleep, BEGIN + 540 * MS, 500 * MS, &flushes, 1);
	writer_call(&host, f_flush, BEGIN + 850 * MS, 300 * MS, &saves, 1);
	writer_call(&host, f_open, BEGIN + 990 * MS, 130 * MS, &saves, 1);
	summary = summary_after(1000, 30);
	cr_expect(strstr(summary, " · 3 % CPU train.py:40 train · "), "%s", summary);
}
