/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "rule_fixture.h"

TestSuite(rule_calls, .init = setup, .fini = teardown);

static void copy_back_and_wait(uint64_t at, uint32_t stack)
{
	uint64_t args[] = {tf_arg(TF_ARG_COPY, 2, 4), tf_arg(TF_ARG_STACK, 0, stack)};

	writer_call(&host, f_copy_async, BEGIN + at + 5 * US, 5 * US, args, stack ? 2 : 1);
	writer_call(&host, f_wait, BEGIN + at + 10 * US + MS, MS, args + 1, stack ? 1 : 0);
}

/* Steps with a kernel each that copy a number to the host, and wait. */
static void number_steps(uint64_t steps, uint32_t stack)
{
	for (uint64_t i = 0; i < steps; i++) {
		kernel(i * 3 * MS, 5 * US, i * 3 * MS + 20 * US, 2 * MS);
		copy_back_and_wait(i * 3 * MS + MS, stack);
	}
}

static void stack_of(uint32_t id, uint64_t innermost)
{
	const uint64_t addresses[] = {innermost, 0x1101};

	writer_blob(&host, TF_BLOB_STACK, id, addresses, sizeof(addresses));
}

static void modules(void)
{
	writer_module(&host, 0x1000, 0x2000, 0, NULL, 0, "/home/u/program");
	writer_module(&host, 0x3000, 0x4000, 0, NULL, 0, "/usr/lib/python3/dist-packages/torch/lib/libc10_cuda.so");
	writer_module(&host, 0x5000, 0x6000, 0, NULL, 0, "/usr/local/cuda/lib64/libcudart.so.12");
}

Test(rule_calls, waits_that_nobody_asked_for)
{
	modules();
	stack_of(1, 0x3101); /* called by a library */
	number_steps(6, 1);
	open_model(30 * MS);
	assert_verdict("implicit_sync", VERDICT_FOUND);
	cr_expect_eq(number("implicit_sync", "Num Calls", 0), 5, "the last one is after the last launch");
}

Test(rule_calls, waits_of_an_interpreter_without_a_stack)
{
	writer_command(&w, "/usr/bin/python3", "python3", 8);
	number_steps(6, 0);
	open_model(30 * MS);
	assert_verdict("implicit_sync", VERDICT_FOUND);
}

Test(rule_calls, waits_that_the_program_itself_calls)
{
	const uint64_t through[] = {0x5101, 0x1101};

	modules();
	stack_of(1, 0x1201);
	writer_blob(&host, TF_BLOB_STACK, 2, through, sizeof(through)); /* through the CUDA runtime */
	number_steps(6, 1);
	for (uint64_t i = 0; i < 6; i++) {
		copy_back_and_wait((20 + i * 3) * MS, 2);
		kernel((22 + i * 3) * MS, 5 * US, (22 + i * 3) * MS + 20 * US, MS / 2);
	}
	open_model(60 * MS);
	assert_verdict("implicit_sync", VERDICT_CLEAN);
}

Test(rule_calls, a_python_function_that_waits_was_asked_to)
{
	const uint32_t codes[] = {1, 2};

	modules();
	writer_python_code(&host, 1, 7, "/usr/lib/python3/dist-packages/torch/cuda/streams.py", "Stream.synchronize");
	writer_python_code(&host, 2, 9, "/home/u/train.py", "step");
	stack_of(1, 0x3101);
	writer_python_stack(&host, 1, codes, 2);
	number_steps(6, 1);
	open_model(30 * MS);
	assert_verdict("implicit_sync", VERDICT_CLEAN);
}

Test(rule_calls, waits_after_the_last_launch_delay_no_kernel)
{
	writer_command(&w, "/usr/bin/python3", "python3", 8);
	busy_device(20);
	for (uint64_t i = 0; i < 5; i++)
		copy_back_and_wait(MS + i * 2 * MS, 0);
	call(f_copy, 20 * MS, 5 * MS, tf_arg(TF_ARG_COPY, 2, 4));
	open_model(30 * MS);
	assert_verdict("implicit_sync", VERDICT_CLEAN);
}

Test(rule_calls, a_wait_alone_was_asked_for)
{
	for (uint64_t i = 0; i < 5; i++) {
		kernel(i * 3 * MS, 5 * US, i * 3 * MS + 20 * US, 2 * MS);
		call(f_wait, i * 3 * MS + MS, MS, 0);
	}
	open_model(30 * MS);
	assert_verdict("implicit_sync", VERDICT_CLEAN);
}

Test(rule_calls, allocations_in_each_step)
{
	for (uint64_t i = 0; i < 40; i++) {
		call(f_malloc, i * MS, 50 * US, tf_arg(TF_ARG_MEMORY, TF_MEMORY_DEVICE, 0x1000 + i));
		kernel(i * MS + 100 * US, 5 * US, i * MS + 200 * US, 300 * US);
		call(f_free, i * MS + 600 * US, 50 * US,
		     tf_arg(TF_ARG_MEMORY, TF_MEMORY_DEVICE | TF_MEMORY_FREE, 0x1000 + i));
	}
	open_model(50 * MS);
	assert_verdict("alloc_churn", VERDICT_FOUND);
}

Test(rule_calls, allocations_from_a_pool_are_no_churn)
{
	for (uint64_t i = 0; i < 40; i++) {
		call(f_malloc, i * MS, 50 * US, tf_arg(TF_ARG_MEMORY, TF_MEMORY_POOL, 0x1000 + i));
		kernel(i * MS + 100 * US, 5 * US, i * MS + 200 * US, 300 * US);
	}
	open_model(50 * MS);
	assert_verdict("alloc_churn", VERDICT_CLEAN);
}

Test(rule_calls, large_pageable_copies)
{
	busy_device(2);
	work(f_copy_async, 3 * MS, 500 * US, tf_arg(TF_ARG_COPY, 1, MB), PAGED_IN, 3 * MS + 10 * US, 300 * US, MB);
	work(f_copy_async, 4 * MS, 500 * US, tf_arg(TF_ARG_COPY, 1, MB), PINNED_IN, 4 * MS + 10 * US, 300 * US, MB);
	open_model(10 * MS);
	assert_verdict("pageable_copies", VERDICT_FOUND);
	cr_expect_eq(number("pageable_copies", "Count", 0), 1);
	assert_verdict("unpinned_loader", VERDICT_CLEAN);
}

static void gemm(int64_t m, int64_t n, int64_t k, int64_t type, uint32_t id)
{
	struct tf_operation op = {.count = 4, .values = {m, n, k, type},
				  .fields = {TF_FIELD_M, TF_FIELD_N, TF_FIELD_K, TF_FIELD_TYPE | TF_ROLE_A}};

	writer_blob(&host, TF_BLOB_OPERATION, id, &op, sizeof(op) - (TF_OPERATION_FIELDS - 4) * sizeof(op.values[0]));
	call(f_gemm, id * MS, 10 * US, tf_arg(TF_ARG_OPERATION, 0, id));
}

Test(rule_calls, sizes_off_the_tensor_cores)
{
	gemm(4096, 4096, 50257, 2, 1); /* half precision: requires multiples of 8 */
	gemm(4096, 4096, 4096, 2, 2);
	gemm(4095, 17, 33, 0, 3); /* single precision, not TF32: never runs on tensor cores */
	open_model(10 * MS);
	assert_verdict("tensor_dims", VERDICT_FOUND);
	cr_expect_eq(number("tensor_dims", "Num Calls", 0), 1);
	cr_expect_eq(number("tensor_dims", "Multiple", 0), 8);
}

Test(rule_calls, sizes_on_the_tensor_cores)
{
	gemm(4096, 4096, 50264, 14, 1);
	open_model(10 * MS);
	assert_verdict("tensor_dims", VERDICT_CLEAN);
}

Test(rule_calls, batches_of_a_loader_that_does_not_pin)
{
	char directory[] = "/tmp/pillion-rule.XXXXXX";

	cr_assert_not_null(mkdtemp(directory));
	rmdir(directory);
	capture_create(directory);
	busy_device(2);
	for (uint64_t i = 0; i < 10; i++)
		work(f_copy_async, (3 + i) * MS, 500 * US, tf_arg(TF_ARG_COPY, 1, 1 << 16), PAGED_IN,
		     (3 + i) * MS + 10 * US, 30 * US, 1 << 16);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 20 * MS);
	writer_save(&w, directory);
	writer_done(&w);
	writer_init(&w, 2, 20, 10, BEGIN + MS);
	w.header.via = TF_VIA_FORK;
	w.header.parent_nonce = 1;
	f_read = writer_function(&w, TF_GROUP_OSRT, "read");
	writer_thread(&w, &host, 20, "worker", 2 * TF_PAGE);
	call(f_read, 2 * MS, MS, 0);
	writer_save(&w, directory);
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	assert_verdict("unpinned_loader", VERDICT_FOUND);
	capture_remove(directory);
}
