/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/answers/rule.h"
#include "report/events/stacks/lines.h"
#include "report/events/stacks/source.h"
#include "report/names/attribution.h"
#include "opened.h"

static struct writer w;
static struct writer_thread t;
static struct model model;
static struct report_context context;
static struct lines lines;
static unsigned int nap, launch, tool, wait;

static void setup(void)
{
	writer_init(&w, 1, 10, 1, 1000);
	nap = writer_function(&w, TF_GROUP_OSRT, "nap");
	launch = writer_function(&w, TF_GROUP_CUDA, "launch");
	tool = writer_function(&w, TF_GROUP_NCCL, "tool");
	wait = writer_function(&w, TF_GROUP_CUDA, "cudaStreamSynchronize");
	writer_thread(&w, &t, 10, "main", 4 * TF_PAGE);
	writer_module(&t, 0x1000, 0x2000, 0, NULL, 0, "/a/one.so");
	context = (struct report_context){.model = &model};
}

static void teardown(void)
{
	lines_done(&lines);
	symbols_free(context.symbols);
	model_done(&model);
	writer_done(&w);
}

TestSuite(lines, .init = setup, .fini = teardown);

static void gather(void)
{
	open_written(&model, &w);
	context.symbols = symbols_new(&model, false);
	lines_gather(&context, NULL, NULL, &lines);
}

/* Each Python frame is at the first line of its code; one frame is of C code outside the interpreter. */
static void python_stack(uint32_t id, const uint32_t *codes, size_t count)
{
	uint64_t address = 0x1100;

	writer_blob(&t, TF_BLOB_STACK, id, &address, sizeof(address));
	writer_python_stack(&t, id, codes, count);
}

static void code(uint32_t id, uint32_t line, const char *file, const char *name)
{
	writer_python_code(&t, id, line, file, name);
}

static void call(unsigned int function, uint64_t end, uint64_t duration, uint32_t stack)
{
	uint64_t arg = tf_arg(TF_ARG_STACK, 0, stack);

	writer_call(&t, function, end, duration, &arg, stack ? 1 : 0);
}

static const uint64_t *values_of(const char *file, const char *line)
{
	for (size_t i = 0; i < lines.count; i++)
		if (!strcmp(lines_field(&context, &lines, i, 0), file) &&
		    !strcmp(lines_field(&context, &lines, i, 1), line))
			return lines.values[i].of;
	cr_assert_fail("no row of %s:%s", file, line);
	return NULL;
}

/* The system's part of a line of which the thread has 75 us of gaps, of which the kernel counted a part as waits. */
static uint64_t system_with_gaps(uint64_t delay_ns)
{
	code(1, 5, "/a/job.py", "work");
	python_stack(1, (const uint32_t[]){1}, 1);
	writer_sample(&t, 1000000, 10, 1);
	writer_sample(&t, 1050000, 10, 1); /* waited 40 us */
	writer_sample(&t, 1060000, 10, 1);
	writer_sample(&t, 1085000, 10, 1); /* within the call */
	call(nap, 1160000, 80000, 0);
	writer_sample(&t, 1175000, 10, 1); /* waited 25 us since 1060: 115 without 70 in the call and 20 of samples */
	writer_usage(&t, &(struct tf_usage){.ticks = 1200000, .cpu_ns = 50000, .delay_ns = delay_ns, .tid = 10});
	gather();
	return values_of("/a/job.py", "5")[LINE_SYSTEM];
}

/* Between two samples the thread computes, is in calls, or waits for a CPU. What was in a call is no wait. */
Test(lines, waits_for_a_cpu_are_of_the_system)
{
	cr_expect_eq(system_with_gaps(90000), 40000 + 10000 + 25000);
}

/* Calls that are not recorded, such as a futex by inline assembler, leave gaps, too. */
Test(lines, an_idle_thread_does_not_wait_for_a_cpu)
{
	cr_expect_eq(system_with_gaps(0), 10000);
}

Test(lines, a_thread_waits_for_a_cpu_at_most_as_long_as_the_kernel_counts)
{
	cr_expect_eq(system_with_gaps(13000), 10000 + 13000);
}

Test(lines, waits_for_a_cpu_are_not_known_without_the_kernels_count)
{
	cr_expect_eq(system_with_gaps(TF_USAGE_UNKNOWN), 10000);
}

Test(lines, the_users_innermost_frame_is_charged)
{
	const uint32_t in_library[] = {1, 2, 3}, library_alone[] = {1};

	code(1, 7, "/usr/lib/python3.11/threading.py", "wait");
	code(2, 20, "/home/u/train.py", "step");
	code(3, 90, "/home/u/train.py", "main");
	python_stack(1, in_library, 3);
	python_stack(2, library_alone, 1);
	call(nap, 5000, 1000, 1);
	call(nap, 6000, 500, 2);
	call(nap, 7000, 300, 0);
	gather();
	cr_assert(lines.has_stacks);
	cr_assert_eq(values_of("/home/u/train.py", "20")[LINE_OS], 1000);
	cr_assert_eq(values_of("/usr/lib/python3.11/threading.py", "7")[LINE_OS], 500);
	cr_assert_eq(values_of("", "")[LINE_OS], 300);
	cr_assert_eq(lines.count, 3);
	for (size_t i = 0; i < lines.count; i++)
		cr_assert_eq(lines.values[i].is_users,
			     !strcmp(lines_field(&context, &lines, i, 0), "/home/u/train.py"));
}

Test(lines, the_recorders_python_code_is_never_charged)
{
	const uint32_t in_wrapper[] = {1, 2}, wrapper_alone[] = {1};

	code(1, 7, "<pillion>", "call");
	code(2, 20, "/home/u/train.py", "step");
	writer_python_stack(&t, 1, in_wrapper, 2);
	writer_python_stack(&t, 2, wrapper_alone, 1);
	call(nap, 5000, 1000, 1);
	call(nap, 6000, 500, 2);
	for (int is_all = 0; is_all < 2; is_all++) {
		context.lines_all = is_all;
		if (is_all) {
			lines_done(&lines);
			lines_gather(&context, NULL, NULL, &lines);
		} else {
			gather();
		}
		cr_assert_eq(lines.count, 2);
		cr_assert_eq(values_of("/home/u/train.py", "20")[LINE_OS], 1000);
		cr_assert_eq(values_of("", "")[LINE_OS], 500);
	}
}

Test(lines, with_lines_all_the_innermost_is_charged)
{
	const uint32_t in_library[] = {1, 2};

	code(1, 7, "/usr/lib/python3.11/threading.py", "wait");
	code(2, 20, "/home/u/train.py", "step");
	python_stack(1, in_library, 2);
	call(nap, 5000, 1000, 1);
	context.lines_all = true;
	gather();
	/* The C frame, whose position among the Python frames is unknown, comes first. */
	cr_assert_eq(lines.count, 1);
	cr_assert_str_eq(lines_field(&context, &lines, 0, 2), "[one.so]");
}

Test(lines, with_lines_all_a_stack_of_python_alone_is_charged_to_its_innermost_frame)
{
	const uint32_t in_library[] = {1, 2};

	code(1, 7, "/usr/lib/python3.11/threading.py", "wait");
	code(2, 20, "/home/u/train.py", "step");
	writer_python_stack(&t, 1, in_library, 2);
	call(nap, 5000, 1000, 1);
	context.lines_all = true;
	gather();
	cr_assert_eq(lines.count, 1);
	cr_assert_eq(values_of("/usr/lib/python3.11/threading.py", "7")[LINE_OS], 1000);
}

Test(lines, a_finding_has_the_line_that_is_charged)
{
	const uint32_t in_library[] = {1, 2};
	struct rules rules = {.context = &context};
	struct finding f;

	code(1, 7, "/v/lib/python3.11/site-packages/torch/cuda/__init__.py", "synchronize");
	code(2, 20, "/home/u/train.py", "step");
	python_stack(1, in_library, 2);
	call(wait, 9000, 1000, 1);
	gather();
	cr_assert_eq(values_of("/home/u/train.py", "20")[LINE_CUDA], 1000);
	rule_run(&rules, rule_find("cuda_api_sync"), &f);
	cr_assert_str_eq(line_text(f.line), "step (/home/u/train.py:20)");
	finding_done(&f);
	rules_done(&rules);
}

Test(lines, no_moment_of_a_thread_counts_twice)
{
	const uint32_t user[] = {1};
	const uint64_t *v;

	code(1, 20, "/home/u/train.py", "step");
	python_stack(1, user, 1);
	/* launch encloses nap, which encloses a sample; another sample is outside of both. */
	writer_event(&t, TF_SAMPLE, 0, 10000, 1);
	writer_slot(&t, tf_arg(TF_ARG_STACK, 0, 1));
	writer_event(&t, TF_SAMPLE, 0, 30000, 2);
	writer_slot(&t, tf_arg(TF_ARG_STACK, 0, 1));
	call(nap, 40000, 15000, 1);
	call(launch, 50000, 30000, 1);
	call(tool, 60000, 45000, 1);
	gather();
	v = values_of("/home/u/train.py", "20");
	cr_assert_eq(v[LINE_TOTAL], 31000);
	cr_assert_eq(v[LINE_NATIVE] + v[LINE_PYTHON], 3000);
	cr_assert_eq(v[LINE_OS], 15000);
	cr_assert_eq(v[LINE_OFF_CPU], 13000);
	cr_assert_eq(v[LINE_CUDA], 30000);
	cr_assert_eq(v[LINE_SAMPLES], 2);
	cr_assert_eq(v[LINE_CALLS], 2);
}

Test(lines, many_samples_within_one_call_are_still_taken_off)
{
	const uint32_t user[] = {1};
	const uint64_t *v;

	code(1, 20, "/home/u/train.py", "step");
	python_stack(1, user, 1);
	for (uint64_t i = 0; i < 1000; i++)
		writer_event(&t, TF_SAMPLE, 0, 10000 + i * 1000, 1);
	call(nap, 2009000, 2000000, 1);
	gather();
	v = values_of("/home/u/train.py", "20");
	cr_assert_eq(v[LINE_OS], 2000000);
	cr_assert_eq(v[LINE_OFF_CPU], 1000000);
}

Test(lines, bytes_are_those_of_calls_that_succeeded)
{
	const uint32_t user[] = {1};
	const uint64_t good[] = {tf_arg(TF_ARG_STACK, 0, 1), tf_arg(TF_ARG_MEMORY, TF_MEMORY_DEVICE, 0x7000),
				 tf_arg(TF_ARG_BYTES, 0, 100)},
		       freed[] = {tf_arg(TF_ARG_STACK, 0, 1), tf_arg(TF_ARG_MEMORY, TF_MEMORY_FREE, 0x7000)},
		       failed[] = {tf_arg(TF_ARG_STACK, 0, 1), tf_arg(TF_ARG_MEMORY, TF_MEMORY_DEVICE, 0),
				   tf_arg(TF_ARG_BYTES, 0, 100), tf_arg(TF_ARG_RESULT, 0, 2)},
		       copy[] = {tf_arg(TF_ARG_STACK, 0, 1), tf_arg(TF_ARG_COPY, 1, 64)};
	const uint64_t *v;

	code(1, 20, "/home/u/train.py", "step");
	python_stack(1, user, 1);
	writer_call(&t, launch, 2000, 10, good, 3);
	writer_call(&t, launch, 3000, 10, freed, 2);
	writer_call(&t, launch, 4000, 10, failed, 4);
	writer_call(&t, launch, 5000, 10, copy, 2);
	gather();
	v = values_of("/home/u/train.py", "20");
	cr_assert_eq(v[LINE_ALLOCATED], 100);
	cr_assert_eq(v[LINE_COPIED], 64);
	cr_assert_eq(v[LINE_CALLS], 4);
}

/* The report of the top lines is a prefix of the report of all lines. */
static void assert_top(size_t wanted)
{
	struct lines top;
	size_t *order = lines_order(&context, &lines), *top_order;

	lines_top(&context, wanted, NULL, &top);
	top_order = lines_order(&context, &top);
	cr_assert_geq(top.count, wanted);
	for (size_t i = 0; i < wanted; i++) {
		cr_assert(top.values[top_order[i]].is_users);
		for (size_t field = 0; field < 3; field++)
			cr_assert_str_eq(lines_field(&context, &top, top_order[i], field),
					 lines_field(&context, &lines, order[i], field));
		cr_assert_arr_eq(top.values[top_order[i]].of, lines.values[order[i]].of, sizeof(top.values->of));
	}
	free(order);
	free(top_order);
	lines_done(&top);
}

Test(lines, the_first_few_are_those_that_all_begin_with)
{
	code(1, 7, "/usr/lib/python3.11/threading.py", "wait");
	code(2, 20, "/home/u/train.py", "step");
	code(3, 20, "/home/u/train.py", "<genexpr>");
	code(4, 30, "/home/u/train.py", "load");
	code(5, 40, "/home/u/train.py", "seldom");
	for (uint32_t i = 1; i <= 5; i++)
		python_stack(i, &(const uint32_t){i}, 1);
	call(nap, 900000, 90000, 1); /* the largest, but in a library */
	call(nap, 910000, 3000, 2);  /* the sum of line 20 is the largest, by two functions */
	call(nap, 920000, 3500, 3);
	call(nap, 930000, 4000, 4);
	call(nap, 940000, 10, 5);
	call(nap, 990000, 20000, 0);
	gather();
	assert_top(1);
	assert_top(3);
	assert_top(4);
}

/* This test program plays the user's program: its symbol table must not be read for a line that is not shown. */
__attribute__((noinline)) static uint64_t here(void)
{
	__asm__ volatile(""); /* keeps the compiler from merging calls of this function */
	return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static int find_self(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1;
}

Test(lines, only_what_is_shown_is_named)
{
	char path[4096] = "";
	uint64_t bias = 0, places[4];

	places[0] = here();
	places[1] = here();
	places[2] = here();
	places[3] = here();
	cr_assert_gt(readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
	dl_iterate_phdr(find_self, &bias);
	writer_module(&t, bias, bias + (16 << 20), bias, NULL, 0, path);
	writer_module(&t, 0x3000, 0x4000, 0, NULL, 0, "/usr/lib/libother.so");
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t stack[] = {0x3100 + i, places[i]};

		writer_blob(&t, TF_BLOB_STACK, i + 1, stack, sizeof(stack));
		call(nap, 10000 * (i + 1), 1000 + i, i + 1);
	}
	open_written(&model, &w);
	context.symbols = symbols_new(&model, true);
	lines_top(&context, 1, NULL, &lines);
	cr_assert_geq(lines.count, 1);
	cr_assert_not_null(strstr(lines_field(&context, &lines, 0, 0), "test_lines.c"));
	cr_assert_eq(lines.values[0].of[LINE_OS], 1003, "%" PRIu64, lines.values[0].of[LINE_OS]);
	cr_assert_eq(symbols_cost(context.symbols).files, 1); /* system libraries are not opened */
	cr_assert_eq(symbols_cost(context.symbols).names, 1);
}

/* Functions as nvcc makes them for a launch; each returns an address in its caller. */
#define FUNCTION(name, body)                                                                                           \
	static __attribute__((noinline)) uint64_t name(void)                                                           \
	{                                                                                                              \
		uint64_t address = body;                                                                               \
                                                                                                                       \
		__asm__ volatile("# " #name : "+r"(address));                                                          \
		return address;                                                                                        \
	}

#line 1 "/opt/cuda/targets/x86_64-linux/include/crt/device_functions.h"
FUNCTION(__cudaLaunchKernel_helper, here())
#line 1 "/tmp/gone.cudafe1.stub.c"
FUNCTION(__device_stub__Z3addPf, here())
#line 1 "kernel.cu"
FUNCTION(_Z3addPf, here())
#line 2 "kernel.cu"
FUNCTION(_Z3addPfi, here())
#line 3 "kernel.cu"
FUNCTION(__device_stub__add, here())
#line 4 "kernel.cu"
FUNCTION(_Z4stepv, here())
#line 389 "../tests/unit/test_lines.c"

Test(lines, launches_are_at_the_line_around_their_stubs)
{
	const uint64_t helper = __cudaLaunchKernel_helper(), stub = __device_stub__Z3addPf(), kernel = _Z3addPf(),
		       overload = _Z3addPfi(), clang = __device_stub__add(), step = _Z4stepv(),
		       stacks[][4] = {{helper, stub, kernel, step},
				      {helper, stub, step}, /* called by a jump */
				      {stub, overload, step}, /* of the same name: it launches */
				      {clang, step}, /* the kernel's name is the stub's */
				      {kernel, step}, /* not a launch */
				      {helper, stub}};
	static const uint32_t wanted[] = {4, 4, 2, 4, 1, 1};
	struct attribution a = {0};
	struct symbol_frame f;
	char path[4096] = "";
	uint64_t bias = 0;
	uint32_t line;
	bool is_users;

	cr_assert_gt(readlink("/proc/self/exe", path, sizeof(path) - 1), 0);
	dl_iterate_phdr(find_self, &bias);
	writer_module(&t, bias, bias + (16 << 20), bias, NULL, 0, path);
	for (uint32_t i = 0; i < 6; i++)
		writer_blob(&t, TF_BLOB_STACK, i + 1, stacks[i], (stacks[i][2] ? stacks[i][3] ? 4 : 3 : 2) * 8);
	open_written(&model, &w);
	context.symbols = a.symbols = symbols_new(&model, true);
	for (uint32_t i = 0; i < 6; i++) {
		cr_assert(attribution_stack(&a, model.images, i + 1, &f, &is_users));
		symbols_source(a.symbols, &f, &line);
		cr_expect_eq(line, wanted[i], "stack %u: line %u", i, line);
		cr_expect_eq(is_users, i != 5);
	}
	attribution_done(&a);
}

static void module_at(uint64_t start, const char *path)
{
	writer_module(&t, start, start + 0x1000, start, NULL, 0, path);
}

static void native_stack(uint32_t id, const uint64_t *addresses, size_t count)
{
	writer_blob(&t, TF_BLOB_STACK, id, addresses, count * sizeof(*addresses));
}

Test(lines, a_program_without_lines_is_charged_instead_of_a_library)
{
	const uint64_t system[] = {0x4100, 0x5100, 0x4200}, installed[] = {0x4100, 0x6100, 0x5100},
		       none[] = {0x4100, 0x4200};

	writer_command(&w, "/home/u/job", "job", 4);
	module_at(0x4000, "/usr/lib/libmpi.so");
	module_at(0x5000, "/home/u/job");
	module_at(0x6000, "/opt/mpi/lib/libmpi.so");
	native_stack(1, system, 3);
	native_stack(2, installed, 3);
	native_stack(3, none, 2);
	call(nap, 5000, 1000, 1);
	call(nap, 6000, 500, 2);
	call(nap, 9000, 2000, 3);
	gather();
	cr_assert_eq(lines.count, 2);
	for (size_t i = 0; i < lines.count; i++) {
		bool is_users = lines.values[i].is_users;

		cr_assert_str_eq(lines_field(&context, &lines, i, 2), is_users ? "[job]" : "[libmpi.so]");
		cr_assert_eq(lines.values[i].of[LINE_OS], is_users ? 1500 : 2000);
	}
	lines_done(&lines);
	lines_top(&context, 3, NULL, &lines);
	cr_assert_eq(lines.count, 1);
	cr_assert_str_eq(lines_field(&context, &lines, 0, 2), "[job]");
}

Test(lines, a_program_of_the_system_is_not_the_users)
{
	const uint64_t stack[] = {0x4100, 0x5100};

	writer_command(&w, "/usr/bin/tool", "tool", 5);
	module_at(0x4000, "/usr/lib/libc.so");
	module_at(0x5000, "/usr/bin/tool");
	native_stack(1, stack, 2);
	call(nap, 5000, 1000, 1);
	gather();
	cr_assert_eq(lines.count, 1);
	cr_assert_str_eq(lines_field(&context, &lines, 0, 2), "[tool]");
	cr_assert(!lines.values[0].is_users);
}

Test(lines, python_alone_opens_no_file)
{
	const uint32_t user[] = {1, 2};

	code(1, 7, "/usr/lib/python3.11/threading.py", "wait");
	code(2, 20, "/home/u/train.py", "step");
	python_stack(1, user, 2);
	call(nap, 5000, 1000, 1);
	open_written(&model, &w);
	context.symbols = symbols_new(&model, true);
	lines_top(&context, 3, NULL, &lines);
	cr_assert_str_eq(lines_field(&context, &lines, 0, 0), "/home/u/train.py");
	cr_assert_eq(symbols_cost(context.symbols).names, 0);
}

/* Returns the chosen file, or NULL. */
static const char *chosen(const char *named)
{
	struct err err;
	const char *file;

	context.source = named;
	return source_choose(&context, &lines, &file, &err) ? NULL : file;
}

Test(lines, a_source_is_named_by_the_end_of_its_path_if_that_is_one)
{
	const uint32_t one[] = {1}, two[] = {2}, three[] = {3};

	code(1, 1, "/a/util.py", "f");
	code(2, 1, "/b/util.py", "f");
	code(3, 1, "/a/train.py", "f");
	python_stack(1, one, 1);
	python_stack(2, two, 1);
	python_stack(3, three, 1);
	for (uint32_t i = 1; i <= 3; i++)
		call(nap, 1000 * (i + 4), 10, i);
	gather();
	cr_assert_str_eq(chosen("train.py"), "/a/train.py");
	cr_assert_str_eq(chosen("b/util.py"), "/b/util.py");
	cr_assert_str_eq(chosen("/a/util.py"), "/a/util.py");
	cr_assert_null(chosen("util.py"));
	cr_assert_null(chosen("ain.py"));
	cr_assert_null(chosen("/util.py"));
}

static void add_each(void *more, uint32_t row, const struct scan *s, const struct event *e, uint64_t ns)
{
	uint64_t *sums = more;

	cr_assert_lt(row, 8);
	cr_expect_eq(s->image, model.images);
	cr_expect_geq(e->ticks, 5000);
	sums[row] += ns;
}

Test(lines, each_part_of_a_total_is_told)
{
	const uint32_t one[] = {1}, two[] = {2};
	uint64_t sums[8] = {0};

	code(1, 7, "/home/u/train.py", "wait");
	code(2, 20, "/home/u/train.py", "step");
	python_stack(1, one, 1);
	python_stack(2, two, 1);
	call(nap, 6000, 1000, 1);
	call(nap, 8000, 500, 2);
	call(nap, 9000, 300, 1);
	open_written(&model, &w);
	context.symbols = symbols_new(&model, false);
	lines_gather(&context, add_each, sums, &lines);
	cr_assert_eq(lines.count, 2);
	for (size_t i = 0; i < lines.count; i++)
		cr_expect_eq(lines.values[i].of[LINE_TOTAL], sums[i]);
	cr_expect_eq(values_of("/home/u/train.py", "7")[LINE_TOTAL], 1300);
}
