/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/correlate.h"
#include "report/events/nvtx/filter_nvtx.h"
#include "report/names/kernel_kind.h"
#include "report/tables/report.h"
#include "opened.h"

enum { ADD = 1, MULTIPLY = 2, EMPTY = 3, LOST = 4 };

static struct writer w;
static struct writer_thread thread, cupti;
static uint16_t launch_kernel;
static struct model model;
static struct report_context context = {.model = &model};

static void setup(void)
{
	writer_init(&w, 1, 10, 1, 1000);
	launch_kernel = writer_function(&w, TF_GROUP_CUDA, "cudaLaunchKernel");
	writer_thread(&w, &thread, 10, "main", 4 * TF_PAGE);
	writer_thread(&w, &cupti, 11, "cupti", 4 * TF_PAGE);
	writer_device_source(&cupti, TF_DEVICE_TIME_MONOTONIC, 24, "libcupti.so.12");
	writer_text(&thread, TF_BLOB_KERNEL, ADD, "_Z3addPfi");
	writer_text(&thread, TF_BLOB_KERNEL, MULTIPLY, "_Z8multiplyPf");
	writer_text(&thread, TF_BLOB_KERNEL, EMPTY, "");
}

static void teardown(void)
{
	model_done(&model);
	writer_done(&w);
	context.records_held = 0;
}

TestSuite(kernel, .init = setup, .fini = teardown);

static void launch(uint32_t id, uint32_t kernel)
{
	struct tf_launch l = {.kernel = kernel, .grid = {1, 1, 1}, .block = {32, 1, 1}, .function = 0xabc0 + id};

	writer_blob(&thread, TF_BLOB_LAUNCH, id, &l, sizeof(l));
}

static void work(uint32_t id, enum tf_device_operation_kind kind, uint32_t kernel, uint32_t graph)
{
	struct tf_device_operation one = {
		.kind = (uint8_t)kind, .kernel = kernel, .graph = graph, .grid = {1, 1, 1}, .block = {32, 1, 1}};

	writer_blob(&cupti, TF_BLOB_DEVICE_OPERATION, id, &one, sizeof(one));
}

/* Writes the n-th launch and its only device record. */
static void call(uint32_t n, uint32_t launch_id, uint32_t work_id)
{
	uint64_t start = 1000 + n * 1000;

	writer_call(&thread, launch_kernel, start + 100, 100, &(uint64_t){tf_arg(TF_ARG_LAUNCH, 0, launch_id)}, 1);
	writer_device_calls(&cupti, TF_DEVICE_TIME_MONOTONIC,
			    &(struct writer_device_call){10, n, start + 10, 80, false}, 1);
	writer_device(&cupti, TF_DEVICE_TIME_MONOTONIC, &(struct writer_device_record){work_id, n, start + 300, 50, 0},
		      1);
}

/* Returns the last column of a report, one row per line. */
static char *names(const char *report, enum kernel_name how)
{
	const struct report *r = report_find(report);
	struct table t = {0};
	struct buffer all = {0};

	context.kernel_name = how;
	r->run(&context, &t);
	cr_assert_null(t.lacks, "%s", t.lacks);
	for (size_t i = t.column_count - 1; i < t.cell_count; i += t.column_count)
		buffer_print(&all, "%s%s", all.size ? "; " : "", t.cells[i].text);
	table_done(&t);
	context.kernel_name = KERNEL_DEMANGLED;
	return all.data ? all.data : mem_copy_text("", 0);
}

static void assert_names(const char *report, enum kernel_name how, const char *wanted)
{
	char *got = names(report, how);

	cr_expect_str_eq(got, wanted, "%s: %s", report, got);
	free(got);
}

#define NAMELESS "(kernel without a name)"

Test(kernel, a_record_without_a_name_has_its_calls)
{
	launch(1, ADD);
	launch(2, MULTIPLY);
	work(1, TF_DEVICE_KERNEL, 0, 0);
	work(2, TF_DEVICE_KERNEL, ADD, 0);
	call(1, 1, 1);
	call(2, 2, 1); /* the same work, another kernel */
	call(3, 1, 2);
	call(4, 1, 1);
	open_written(&model, &w);
	assert_names("cuda_gpu_kern_sum", KERNEL_DEMANGLED, "add(float*, int); multiply(float*)");
	assert_names("cuda_gpu_kern_sum", KERNEL_BASE, "add; multiply");
	assert_names("cuda_gpu_trace", KERNEL_MANGLED, "_Z3addPfi; _Z8multiplyPf; _Z3addPfi; _Z3addPfi");
	assert_names("cuda_kern_exec_trace", KERNEL_BASE, "add; multiply; add; add");
	assert_names("cuda_kern_exec_sum", KERNEL_BASE, "add; multiply");
	assert_names("cuda_gpu_sum", KERNEL_BASE, "add; multiply");
	assert_names("cuda_launch_sum", KERNEL_BASE, "add; multiply");
}

Test(kernel, names_that_are_lost_or_empty_are_none)
{
	launch(1, ADD);
	launch(2, LOST);
	work(1, TF_DEVICE_KERNEL, EMPTY, 0);
	work(2, TF_DEVICE_KERNEL, LOST, 0);
	work(3, TF_DEVICE_KERNEL, MULTIPLY, 0);
	call(1, 1, 1);
	call(2, 1, 2);
	call(3, 2, 2);
	call(4, 2, 3);
	open_written(&model, &w);
	assert_names("cuda_gpu_trace", KERNEL_BASE, "add; add; " NAMELESS "; multiply");
	assert_names("cuda_launch_sum", KERNEL_BASE, "add; multiply");
}

Test(kernel, a_launch_without_a_name_has_its_records)
{
	launch(1, 0);
	launch(2, 0);
	work(1, TF_DEVICE_KERNEL, ADD, 0);
	call(1, 1, 1);
	writer_call(&thread, launch_kernel, 9100, 100, &(uint64_t){tf_arg(TF_ARG_LAUNCH, 0, 2)}, 1);
	open_written(&model, &w);
	assert_names("cuda_launch_sum", KERNEL_DEMANGLED, "add(float*, int); kernel at 0xabc2");
}

Test(kernel, nodes_of_a_graph_are_not_named_by_its_launch_nor_it_by_them)
{
	struct tf_launch graph = {.function = 0x77};

	writer_blob(&thread, TF_BLOB_LAUNCH, 1, &graph, sizeof(graph));
	launch(2, 0);
	work(1, TF_DEVICE_KERNEL, ADD, 5);
	work(2, TF_DEVICE_KERNEL, 0, 5);
	work(3, TF_DEVICE_COPY, 0, 0);
	call(1, 1, 1);
	call(2, 1, 2);
	call(3, 2, 3);
	open_written(&model, &w);
	assert_names("cuda_gpu_trace", KERNEL_BASE, "add; " NAMELESS "; [CUDA memcpy Unknown]");
	assert_names("cuda_launch_sum", KERNEL_BASE, "cudaLaunchKernel; kernel at 0xabc2");
}

Test(kernel, a_filter_takes_no_name_away)
{
	struct err err;

	launch(1, ADD);
	work(1, TF_DEVICE_KERNEL, 0, 0);
	call(1, 1, 1);
	open_written(&model, &w);
	/* The call began at 1000 ns after the start, its work at 1300. */
	cr_assert_eq(filter_time(&model, "1250/2000", &err), 0, "%s", err.text);
	assert_names("cuda_gpu_trace", KERNEL_BASE, "add");
}

Test(kernel, each_of_many_stretches_has_its_names)
{
	struct buffer wanted = {0};

	context.records_held = 3;
	launch(1, ADD);
	launch(2, MULTIPLY);
	work(1, TF_DEVICE_KERNEL, 0, 0);
	for (uint32_t i = 1; i <= 40; i++) {
		call(i, 1 + i % 3 / 2, 1);
		buffer_print(&wanted, "%s%s", i > 1 ? "; " : "", i % 3 == 2 ? "multiply" : "add");
	}
	open_written(&model, &w);
	assert_names("cuda_gpu_trace", KERNEL_BASE, wanted.data);
	buffer_done(&wanted);
}

/* Kernels that a report separates by work id are also separated by name. */
Test(kernel, work_that_was_made_up_is_not_of_a_file)
{
	struct tf_device_operation one;

	launch(1, ADD);
	work(1, TF_DEVICE_KERNEL, 0, 0);
	call(1, 1, (uint32_t)(1u << 29) + 1); /* no such work */
	call(2, 1, 1);
	open_written(&model, &w);
	assert_names("cuda_gpu_kern_sum", KERNEL_BASE, NAMELESS "; add");
	cr_assert(device_operation(model.images[0].trace, 1, &one) && !one.kernel);
	for (uint32_t id = 0; id < 100; id++)
		if (device_operation(model.images[0].trace, 1u << 31 | id, &one))
			cr_assert_eq(one.kernel, ADD);
}

Test(kernel, its_name_says_what_it_does)
{
	cr_assert(kernel_is_of_nccl("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"));
	cr_assert_not(kernel_is_of_nccl("my_nccl_copy"));
	cr_assert(kernel_is_product("ampere_sgemm_128x64_tn"));
	cr_assert_not(kernel_is_product("vectorized_elementwise_kernel"));
	cr_expect_eq(kernel_gradient("cudnn_dgrad_2d"), 1);
	cr_expect_eq(kernel_gradient("cudnn_wgrad_2d"), 2);
	cr_expect_eq(kernel_type("sm80_xmma_gemm_bf16bf16_f32"), NUMBER_BF16);
	cr_expect_eq(number_size(kernel_type("dgemm_kernel")), 8);
}
