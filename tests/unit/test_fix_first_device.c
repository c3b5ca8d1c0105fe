/* SPDX-License-Identifier: Apache-2.0 */
/* What FIX FIRST says of a process that uses a device: its kernels, the waits for them and what they wait for. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "report/answers/answer.h"
#include "report/causes/price.h"
#include "fix_first_fixture.h"

TestSuite(fix_first_device, .init = begin, .fini = summarized_end);

/* A device waits while flush computes for train: the repair is that of the work, which is also done for save. */
Test(fix_first_device, what_a_device_waits_for_has_the_price_of_the_work)
{
	const uint64_t args[] = {tf_arg(TF_ARG_STACK, 0, 3), tf_arg(TF_ARG_LAUNCH, 0, 1)};
	const struct tf_device_operation step = {.kind = TF_DEVICE_KERNEL, .kernel = 1, .context = 1, .stream = 7};
	uint16_t f_launch = writer_function(&w, TF_GROUP_CUDA, "cudaLaunchKernel");
	struct writer_thread cupti;
	const char *summary;

	write_stacks();
	writer_thread(&w, &cupti, 11, "cupti", 4 * TF_PAGE);
	writer_device_source(&cupti, TF_DEVICE_TIME_MONOTONIC, 130001, "libcupti.so.13");
	writer_blob(&cupti, TF_BLOB_DEVICE_OPERATION, 1, &step, sizeof(step));
	writer_text(&cupti, TF_BLOB_KERNEL, 1, "step_kernel");
	for (uint32_t i = 0; i < 10; i++) {
		uint64_t at = BEGIN + i * 100 * MS;
		struct writer_device_call called = {10, i + 1, at + 1, MS - 2, false};
		struct writer_device_record done = {1, i + 1, at + 2 * MS, MS, 0};

		writer_call(&host, f_launch, at + MS, MS, args, 2);
		writer_device_calls(&cupti, TF_DEVICE_TIME_MONOTONIC, &called, 1);
		writer_device(&cupti, TF_DEVICE_TIME_MONOTONIC, &done, 1);
		for (uint64_t k = 1; k <= 9; k++)
			writer_sample(&host, at + k * 10 * MS, 10000, k % 3 ? 1 : 2);
	}
	summary = summary_after(1000, 900);
	cr_expect(strstr(summary, "FIX FIRST  540 ms of device time lost to host computing: helpers.py:3 flush; "
				  "a change there saves 200 ms to 1.00 s\n"
				  "           train.py:40       train  1.00 s\n"), "%s", summary);
}

/* So often: train launches a kernel, and wait polls for so long, on the CPU. */
static void poll_for_kernels(uint32_t times, uint64_t kernel_ms, uint64_t poll_ms)
{
	const uint64_t launches[] = {tf_arg(TF_ARG_STACK, 0, 3), tf_arg(TF_ARG_LAUNCH, 0, 1)},
		       waits = tf_arg(TF_ARG_STACK, 0, 4);
	const struct tf_device_operation step = {.kind = TF_DEVICE_KERNEL, .kernel = 1, .context = 1, .stream = 7};
	uint16_t f_launch = writer_function(&w, TF_GROUP_CUDA, "cudaLaunchKernel"),
		 f_sync = writer_function(&w, TF_GROUP_CUDA, "cudaStreamSynchronize");
	struct writer_thread cupti;

	write_stacks();
	writer_python_code(&host, 4, 20, "/home/u/dir/helpers.py", "wait");
	writer_python_stack(&host, 4, (uint32_t[]){4}, 1);
	writer_thread(&w, &cupti, 11, "cupti", 4 * TF_PAGE);
	writer_device_source(&cupti, TF_DEVICE_TIME_MONOTONIC, 130001, "libcupti.so.13");
	writer_blob(&cupti, TF_BLOB_DEVICE_OPERATION, 1, &step, sizeof(step));
	writer_text(&cupti, TF_BLOB_KERNEL, 1, "step_kernel");
	for (uint32_t i = 0; i < times; i++) {
		uint64_t at = BEGIN + i * (poll_ms + 20) * MS;
		struct writer_device_call called = {10, i + 1, at + 1, MS - 2, false};
		struct writer_device_record done = {1, i + 1, at + 2 * MS, kernel_ms * MS, 0};

		writer_call(&host, f_launch, at + MS, MS, launches, 2);
		writer_device_calls(&cupti, TF_DEVICE_TIME_MONOTONIC, &called, 1);
		writer_device(&cupti, TF_DEVICE_TIME_MONOTONIC, &done, 1);
		for (uint64_t ms = 10; ms <= poll_ms; ms += 10)
			writer_sample(&host, at + ms * MS, 10000, 4);
		writer_call(&host, f_sync, at + (poll_ms + 3) * MS, poll_ms * MS, &waits, 1);
	}
}

Test(fix_first_device, what_polls_for_a_device_waits_for_what_the_device_executes)
{
	const char *summary;

	poll_for_kernels(10, 80, 80);
	summary = summary_after(1000, 1000);
	cr_expect(strstr(summary, "FIX FIRST  the GPU executes step_kernel 80 % of the time, launched at "
				  "train.py:40 train"), "%s", summary);
	cr_expect(strstr(summary, " 80 % cudaStreamSynchronize helpers.py:20 wait"), "%s", summary);
	cr_expect_not(strstr(summary, "CPU helpers.py:20 wait"), "%s", summary);
}

Test(fix_first_device, what_polls_for_an_idle_device_has_the_cost)
{
	const char *summary;

	poll_for_kernels(10, 1, 80);
	summary = summary_after(1000, 1000);
	cr_expect(strstr(summary, " in 9 gaps: helpers.py:20 wait; saves "), "%s", summary);
	cr_expect(strstr(summary, "CPU helpers.py:20 wait"), "%s", summary);
}

/* The wait for 800 ms of a kernel could be made later, but the place that launches it comes first. */
Test(fix_first_device, a_place_is_worth_what_the_device_computes_for_it)
{
	const char *summary;

	poll_for_kernels(1, 800, 800);
	for (uint64_t ms = 820; ms <= 920; ms += 10)
		writer_sample(&host, BEGIN + ms * MS, 10000, 3);
	summary = summary_after(1000, 1000);
	cr_expect(strstr(summary, " at train.py:40 train; a change there saves "), "%s", summary);
	cr_expect_lt(strstr(summary, " at train.py:40 train; "), strstr(summary, "helpers.py:20 wait"), "%s", summary);
}

static uint16_t f_launched, f_waited;

static void write_device(struct writer_thread *cupti)
{
	const struct tf_device_operation often = {.kind = TF_DEVICE_KERNEL, .kernel = 1, .context = 1, .stream = 7};
	const struct tf_device_operation once = {.kind = TF_DEVICE_KERNEL, .kernel = 2, .context = 1, .stream = 7};

	f_launched = writer_function(&w, TF_GROUP_CUDA, "cudaLaunchKernel");
	f_waited = writer_function(&w, TF_GROUP_CUDA, "cudaDeviceSynchronize");
	write_stacks();
	writer_thread(&w, cupti, 11, "cupti", 4 * TF_PAGE);
	writer_device_source(cupti, TF_DEVICE_TIME_MONOTONIC, 130001, "libcupti.so.13");
	writer_blob(cupti, TF_BLOB_DEVICE_OPERATION, 1, &often, sizeof(often));
	writer_blob(cupti, TF_BLOB_DEVICE_OPERATION, 2, &once, sizeof(once));
	writer_text(cupti, TF_BLOB_KERNEL, 1, "often_kernel");
	writer_text(cupti, TF_BLOB_KERNEL, 2, "once_kernel");
}

/* Begins 1 ms after its launch, which takes 1 ms. */
static void launch(struct writer_thread *cupti, uint32_t number, uint64_t at, uint32_t stack, uint32_t operation,
		   uint64_t kernel_at, uint64_t kernel_ms)
{
	const uint64_t args[] = {tf_arg(TF_ARG_STACK, 0, stack), tf_arg(TF_ARG_LAUNCH, 0, operation)};
	struct writer_device_call called = {10, number, BEGIN + at * MS + 1, MS - 2, false};
	struct writer_device_record done = {operation, number, BEGIN + kernel_at * MS, kernel_ms * MS, 0};

	writer_call(&host, f_launched, BEGIN + (at + 1) * MS, MS, args, 2);
	writer_device_calls(cupti, TF_DEVICE_TIME_MONOTONIC, &called, 1);
	writer_device(cupti, TF_DEVICE_TIME_MONOTONIC, &done, 1);
}

/* In all, the kernel that two lines launch takes more than that of one line, but less at each of them. */
Test(fix_first_device, a_kernel_is_what_a_line_launches)
{
	const uint64_t waits = tf_arg(TF_ARG_STACK, 0, 3);
	struct writer_thread cupti;
	const char *summary;

	write_device(&cupti);
	launch(&cupti, 1, 0, 3, 1, 5, 250);
	launch(&cupti, 2, 1, 2, 1, 255, 300);
	launch(&cupti, 3, 2, 1, 2, 555, 400);
	writer_call(&host, f_waited, BEGIN + 956 * MS, 950 * MS, &waits, 1);
	summary = summary_after(1000, 20);
	cr_expect(strstr(summary, "FIX FIRST  the GPU executes once_kernel 40 % of the time, launched at helpers.py:3 "
				  "flush"), "%s", summary);
}

/* What the prices of the run tell of an edit, in ms. */
static uint64_t priced_ms(const char *edit)
{
	struct causality *s = causes_find(&context);
	struct saving asked;
	struct prices all;
	struct path path;
	struct err err;
	uint64_t ms = 0;

	cr_assert_not_null(s);
	path_find(s, UINT64_MAX, &path);
	prices_rank(s, &path, &all);
	for (size_t i = 0; i < all.count; i++)
		if (!strcmp(all.items[i].edit, edit))
			ms = all.items[i].saves.saved_ns / MS;
	cr_assert_eq(price_find(s, edit, &asked, &err), 0, "%s", err.text);
	cr_expect_eq(asked.saved_ns / MS, ms, "%s", edit);
	prices_done(&all);
	path_done(&path);
	causes_free(s);
	return ms;
}

/* A line launches 600 ms of a kernel and twice 25 ms of another, which another line launches, too, as one whose name
 * begins like it. */
Test(fix_first_device, a_kernel_has_its_own_price_of_what_its_line_launches)
{
	const struct tf_device_operation longer = {.kind = TF_DEVICE_KERNEL, .kernel = 3, .context = 1, .stream = 7};
	const uint64_t waits = tf_arg(TF_ARG_STACK, 0, 3);
	struct writer_thread cupti;
	const char *summary;

	write_device(&cupti);
	writer_blob(&cupti, TF_BLOB_DEVICE_OPERATION, 3, &longer, sizeof(longer));
	writer_text(&cupti, TF_BLOB_KERNEL, 3, "often_kernel_of_another_kind");
	launch(&cupti, 1, 0, 3, 1, 10, 25);
	launch(&cupti, 2, 1, 3, 2, 35, 600);
	launch(&cupti, 3, 2, 3, 1, 635, 25);
	launch(&cupti, 4, 3, 2, 1, 660, 100);
	launch(&cupti, 5, 4, 3, 3, 760, 200);
	writer_call(&host, f_waited, BEGIN + 961 * MS, 950 * MS, &waits, 1);
	summary = summary_after(1000, 20);
	cr_expect(strstr(summary, "the GPU executes once_kernel 60 % of the time, launched at train.py:40 train; saves "
				  "280 to 635 ms if it took half of its time, or another kernel did its work"),
		  "%s", summary);
	cr_expect_eq(priced_ms("kernel~^once_kernel$@/home/u/dir/train.py:40=0"), 600);
	cr_expect_eq(priced_ms("kernel~^often_kernel$@/home/u/dir/train.py:40=0"), 50);
	cr_expect_eq(priced_ms("kernel~^often_kernel$@/home/u/dir/helpers.py:9=0"), 100);
}

/* Ten times, 86 ms of a kernel, for which the host waits for no reason before it computes for 11 ms. */
static const char *summary_of_kernel(const char *kernel)
{
	const struct tf_device_operation product = {.kind = TF_DEVICE_KERNEL, .kernel = 3, .context = 1, .stream = 7};
	const uint64_t waits = tf_arg(TF_ARG_STACK, 0, 1);
	struct writer_thread cupti;

	write_device(&cupti);
	writer_blob(&cupti, TF_BLOB_DEVICE_OPERATION, 3, &product, sizeof(product));
	writer_text(&cupti, TF_BLOB_KERNEL, 3, kernel);
	for (uint32_t i = 0; i < 10; i++) {
		launch(&cupti, i + 1, i * 100, 2, 3, i * 100 + 2, 86);
		writer_call(&host, f_waited, BEGIN + (i * 100 + 89) * MS, 87 * MS, &waits, 1);
		writer_sample(&host, BEGIN + (i * 100 + 100) * MS, 10000, 3);
	}
	return summary_after(1000, 420);
}

/* What a library of products computes is as fast as that can make it, so a needless wait of a quarter of it comes
 * first; other kernels may be fused. */
Test(fix_first_device, a_wait_comes_before_the_product_of_matrices_it_waits_for)
{
	const char *summary = summary_of_kernel("sm90_xmma_gemm_f32f32");

	cr_expect(strstr(summary, "FIX FIRST  train.py is blocked 57 % of the time in cudaDeviceSynchronize (10 calls)"
				  ": helpers.py:3 flush, called from helpers.py:9; saves "), "%s", summary);
}

Test(fix_first_device, a_kernel_that_may_be_fused_comes_before_a_wait_for_it)
{
	const char *summary = summary_of_kernel("softmax");

	cr_expect(strstr(summary, "FIX FIRST  the GPU executes softmax 86 % of the time, launched at helpers.py:9 "
				  "save, called from train.py:40; saves "), "%s", summary);
	cr_expect(strstr(summary, " if it took half of its time, or another kernel did its work\n"), "%s", summary);
}

/* Ten times, 59 ms of a kernel, for which the host waits before it computes for 40 ms. */
Test(fix_first_device, a_wait_for_a_device_that_could_be_later_comes_before_a_faster_kernel)
{
	const uint64_t waits = tf_arg(TF_ARG_STACK, 0, 1);
	struct writer_thread cupti;
	const char *summary;

	write_device(&cupti);
	for (uint32_t i = 0; i < 10; i++) {
		launch(&cupti, i + 1, i * 100, 2, 1, i * 100 + 2, 59);
		writer_call(&host, f_waited, BEGIN + (i * 100 + 62) * MS, 60 * MS, &waits, 1);
		for (uint64_t ms = 70; ms <= 100; ms += 10)
			writer_sample(&host, BEGIN + (i * 100 + ms) * MS, 10000, 3);
	}
	summary = summary_after(1000, 420);
	cr_expect(strstr(summary, "FIX FIRST  train.py is blocked 57 % of the time in cudaDeviceSynchronize (10 calls)"
				  ": helpers.py:3 flush, called from helpers.py:9; saves "), "%s", summary);
}
