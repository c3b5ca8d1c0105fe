/* SPDX-License-Identifier: Apache-2.0 */
/* Tests pytorch_ops with a capture written here. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/tables/ops/ops.h"
#include "report/tables/report.h"
#include "trace_writer.h"

/* ---- the table ---- */

enum { START = 1000, EPOCH = 1, FORWARD, LINEAR, ADDMM, CONV, CUDNN, BACKWARD, CONV_NODE, CONV_BACKWARD, PLAIN, LAYER,
       RELU, OWN_CONV, OWN_CUDNN, OWN_TRANSPOSED };

static const char *const texts[] = {
	NULL,
	"epoch",
	"forward",
	"aten::linear, seq = 3, op_id = 7, sizes = [[3, 4], [5, 4], [5]]",
	"aten::addmm, seq = 3, op_id = 8, sizes = [[5], [3, 4], [4, 5], [], []]",
	"aten::conv2d, seq = 4, op_id = 9, sizes = [[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], []]",
	"aten::cudnn_convolution, seq = 4, op_id = 10, sizes = [[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], []]",
	"autograd::engine::evaluate_function: ConvolutionBackward0, seq = 4, op_id = 11",
	"ConvolutionBackward0, seq = 4, op_id = 12, sizes = [[2, 4, 6, 6]]",
	"aten::convolution_backward, op_id = 13, sizes = [[2, 4, 6, 6], [2, 3, 8, 8], [4, 3, 3, 3], [], []]",
	"plain",
	"layer:head, op_id = 6", /* of record_function() */
	"aten::relu, op_id = 14, sizes = [[2, 4, 6, 6]], input_op_ids = [(9,0)]",
	/* as our own callback records them */
	"aten::conv2d, sizes = [[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], []], "
	"arguments = [t5, t5, , [1, 1], [0, 0], [1, 1], 1]",
	"aten::cudnn_convolution, sizes = [[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [], [], []], "
	"arguments = [t5, t5, [0, 0], [1, 1], [1, 1], 1, False, False, True]",
	"aten::convolution, sizes = [[2, 4, 8, 8], [4, 3, 3, 3], [], [], [], [], [], [], []], "
	"arguments = [t6, t6, , [2, 2], [1, 1], [1, 1], True, [1, 1], 2]",
};

static const char *const kernels[] = {
	NULL,
	"ampere_sgemm_32x32_tn",
	"splitKreduce_kernel",
	"sm80_xmma_fprop_tensorop_f16",
	"cudnn_dgrad_f32",
	"cudnn_wgrad_f32",
	"elementwise",
};

struct job {
	struct writer w;
	struct writer_thread host, autograd, cupti;
	uint16_t function;
	uint32_t launches;
	uint64_t now;
};

static void push(struct job *j, struct writer_thread *t, uint32_t text)
{
	writer_event(t, TF_PUSH, 0, j->now += 10, text);
}

static void pop(struct job *j, struct writer_thread *t)
{
	writer_event(t, TF_POP, 0, j->now += 10, 0);
}

static void launch(struct job *j, struct writer_thread *t, uint32_t kernel, uint64_t duration)
{
	uint64_t arg = tf_arg(TF_ARG_LAUNCH, 0, 1);
	uint32_t id = ++j->launches;

	j->now += 100;
	writer_call(t, j->function, j->now + 10, 10, &arg, 1);
	writer_device_calls(&j->cupti, TF_DEVICE_TIME_MONOTONIC,
			    &(struct writer_device_call){t->tid, id, j->now + 1, 8, false}, 1);
	writer_device(&j->cupti, TF_DEVICE_TIME_MONOTONIC,
		      &(struct writer_device_record){kernel, id, j->now + 50000, duration, 0}, 1);
	j->now += 20;
}

/* 400 SMs at 1 MHz, compute capability 8.0: 51.2 operations of fp32 per ns, and 819.2 of fp16 by tensor cores. The
 * memory has 32.768 bytes per ns. */
static void write_facts(struct writer_thread *t)
{
	static const struct {
		struct tf_device_facts facts;
		struct tf_attribute_value values[6];
	} blob = {.facts = {.memory_bytes = 1 << 30},
		  .values = {{TF_ATTRIBUTE_CLOCK, 1000},
			     {TF_ATTRIBUTE_SM_COUNT, 400},
			     {TF_ATTRIBUTE_MEMORY_CLOCK, 1000},
			     {TF_ATTRIBUTE_MEMORY_BUS_BITS, 131072},
			     {TF_ATTRIBUTE_MAJOR, 8},
			     {TF_ATTRIBUTE_MINOR, 0}}};

	writer_blob(t, TF_BLOB_DEVICE_FACTS, 1, &blob, sizeof(blob));
}

static void write_job(const char *directory)
{
	static const struct tf_launch launched = {.kernel = 1, .grid = {1, 1, 1}, .block = {1, 1, 1}};
	struct job j = {.now = START};

	writer_init(&j.w, 7, 7, 1, START);
	j.function = writer_function(&j.w, TF_GROUP_CUDA, "cudaLaunchKernel");
	writer_thread(&j.w, &j.host, 7, "python", TF_PAGE * 4);
	writer_thread(&j.w, &j.autograd, 8, "autograd", TF_PAGE * 4);
	writer_thread(&j.w, &j.cupti, 9, "cupti", TF_PAGE * 4);
	for (uint32_t i = 1; i < sizeof(texts) / sizeof(*texts); i++)
		writer_text(&j.host, TF_BLOB_STRING, i, texts[i]);
	writer_device_source(&j.cupti, TF_DEVICE_TIME_MONOTONIC, 130001, "libcupti.so.13");
	write_facts(&j.cupti);
	for (uint32_t i = 1; i < sizeof(kernels) / sizeof(*kernels); i++) {
		struct tf_device_operation work = {.kind = TF_DEVICE_KERNEL, .kernel = i, .device = 1, .stream = 7,
						   .grid = {i, 2, 1}, .block = {128, 1, 1}};

		writer_text(&j.cupti, TF_BLOB_KERNEL, i, kernels[i]);
		writer_blob(&j.cupti, TF_BLOB_DEVICE_OPERATION, i, &work, sizeof(work));
	}
	writer_blob(&j.host, TF_BLOB_LAUNCH, 1, &launched, sizeof(launched));
	push(&j, &j.host, EPOCH);
	push(&j, &j.host, FORWARD);
	push(&j, &j.host, LAYER);
	push(&j, &j.host, LINEAR);
	push(&j, &j.host, ADDMM);
	launch(&j, &j.host, 2, 200);
	launch(&j, &j.host, 1, 1000);
	pop(&j, &j.host);
	pop(&j, &j.host);
	pop(&j, &j.host);
	push(&j, &j.host, CONV);
	push(&j, &j.host, CUDNN);
	launch(&j, &j.host, 3, 500);
	pop(&j, &j.host);
	pop(&j, &j.host);
	pop(&j, &j.host);
	pop(&j, &j.host);
	push(&j, &j.autograd, BACKWARD);
	push(&j, &j.autograd, CONV_NODE);
	push(&j, &j.autograd, CONV_BACKWARD);
	launch(&j, &j.autograd, 4, 600);
	launch(&j, &j.autograd, 5, 700);
	launch(&j, &j.autograd, 6, 9000);
	pop(&j, &j.autograd);
	pop(&j, &j.autograd);
	pop(&j, &j.autograd);
	push(&j, &j.host, PLAIN);
	launch(&j, &j.host, 6, 30);
	pop(&j, &j.host);
	writer_end(&j.w, TF_END_EXIT, 0, j.now + 90000);
	writer_save(&j.w, directory);
	writer_done(&j.w);
}

#define HEAD                                                                                                        \
	"Idx,SeqId,AltSeqId,TId,Layer,Trace,Direction,Sub,Module,Op,Kernel,Params,Sil(ns),TC,Device,Stream,Grid," \
	"Block,FLOPs,Bytes,Type,Peak(%)\n"
#define SIZES "\"N=2,C=3,H=8,W=8,K=4,P=6,Q=6,R=3,S=3,g=1\""
#define AT(grid) "1,7,\"" grid ",2,1\",\"128,1,1\","

/* The longest kernel of addmm has its work, each gradient its own kernel; a backward kernel has the layer of the
 * forward operator. The convolution's result is known from the sizes of its gradient. */
static char *report_text(struct report_context *context, const char *report)
{
	struct emit emit = {.format = FORMAT_CSV};
	struct table table = {0};
	char *text = NULL;
	size_t size;

	report_find(report)->run(context, &table);
	cr_expect_null(table.lacks, "%s", table.lacks);
	emit.file = open_memstream(&text, &size);
	emit_begin(&emit);
	emit_table(&emit, "x", "x", &table);
	emit_end(&emit);
	fclose(emit.file);
	table_done(&table);
	return text;
}

Test(pytorch_ops, has_a_row_for_each_kernel)
{
	char directory[] = "/tmp/pillion-pytorch-ops-XXXXXX", *paths[] = {directory}, *text;
	struct model model;
	struct report_context context = {.model = &model};
	struct err err = {{0}};

	cr_assert_not_null(mkdtemp(directory));
	capture_create(directory);
	write_job(directory);
	cr_assert_eq(model_open(&model, paths, 1, &err), 0, "%s", err.text);
	context.symbols = symbols_new(&model, true);
	text = report_text(&context, "pytorch_ops");
	cr_expect_str_eq(
		text,
		HEAD
		"1,3,-,7,epoch:forward:head,-,fprop,0,aten,addmm,splitKreduce_kernel,na,200,-," AT("2") ",,-,\n"
		"2,3,-,7,epoch:forward:head,-,fprop,1,aten,addmm,ampere_sgemm_32x32_tn,\"M=5,N=3,K=4\",1000,0," AT("1")
		"120,188,fp32,0.2\n"
		"3,4,-,7,epoch:forward,-,fprop,0,aten,cudnn_convolution,sm80_xmma_fprop_tensorop_f16," SIZES
		",500,1," AT("3") "15552,1560,fp16,3.8\n"
		"4,4,-,8,epoch:forward,-,bprop,0,aten,convolution_backward,cudnn_dgrad_f32," SIZES ",600,0," AT("4")
		"15552,3120,fp32,50.6\n"
		"5,4,-,8,epoch:forward,-,bprop,1,aten,convolution_backward,cudnn_wgrad_f32," SIZES ",700,0," AT("5")
		"15552,3120,fp32,43.4\n"
		"6,4,-,8,epoch:forward,-,bprop,2,aten,convolution_backward,elementwise,na,9000,-," AT("6") ",,-,\n"
		"7,-,-,7,plain,-,na,0,na,na,elementwise,na,30,-," AT("6") ",,-,\n",
		"%s", text);
	free(text);
	/* FLOPs by bytes times 32.768 bytes per ns, or 51.2 or 819.2 operations per ns */
	text = report_text(&context, "roofline");
	cr_expect_str_eq(text,
			 "Time (%),Total Time (ns),Instances,FLOPs,Estimated (MB),FLOP/byte,GFLOP/s,Type,Peak GFLOP/s,"
			 "Peak (%),Bound,Attainable GFLOP/s,Attainable (%),Name\n"
			 "8.3,1000,1,120,0.000188,0.638,0.12,fp32,51.2,0.2,memory,20.916,0.6,ampere_sgemm_32x32_tn\n"
			 "5.8,700,1,15552,0.003120,4.985,22.217,fp32,51.2,43.4,compute,51.2,43.4,cudnn_wgrad_f32\n"
			 "5.0,600,1,15552,0.003120,4.985,25.92,fp32,51.2,50.6,compute,51.2,50.6,cudnn_dgrad_f32\n"
			 "4.2,500,1,15552,0.001560,9.969,31.104,fp16 tensor,819.2,3.8,memory,326.672,9.5,"
			 "sm80_xmma_fprop_tensorop_f16\n"
			 "76.7,9230,3,,,,,,,,,,,(kernels whose FLOPs are not known)\n",
			 "%s", text);
	free(text);
	/* by the device time of all kernels of the operator: 2 * 303.75 ns at the peak rate of 10300 */
	text = report_text(&context, "pytorch_sum");
	cr_expect(strstr(text, ",3.1104e-05,5.9,1,aten::convolution_backward,"), "%s", text);
	cr_expect(strstr(text, ",1.5552e-05,,1,aten::conv2d,"), "%s", text);
	cr_expect(strstr(text, ",,3.8,1,aten::cudnn_convolution,"), "%s", text);
	free(text);
	symbols_free(context.symbols);
	model_done(&model);
	capture_remove(directory);
}

/* pytorch_sum of a capture in which one operator calls another, and then relu runs. */
static char *inference(uint32_t outer, uint32_t inner)
{
	char directory[] = "/tmp/pillion-pytorch-ops-XXXXXX", *paths[] = {directory}, *text;
	struct model model;
	struct report_context context = {.model = &model};
	struct err err = {{0}};
	struct job j = {.now = START};

	cr_assert_not_null(mkdtemp(directory));
	capture_create(directory);
	writer_init(&j.w, 7, 7, 1, START);
	writer_thread(&j.w, &j.host, 7, "python", TF_PAGE * 4);
	for (uint32_t i = 1; i < sizeof(texts) / sizeof(*texts); i++)
		writer_text(&j.host, TF_BLOB_STRING, i, texts[i]);
	push(&j, &j.host, outer);
	push(&j, &j.host, inner);
	pop(&j, &j.host);
	pop(&j, &j.host);
	push(&j, &j.host, RELU);
	pop(&j, &j.host);
	writer_end(&j.w, TF_END_EXIT, 0, j.now + 90000);
	writer_save(&j.w, directory);
	writer_done(&j.w);
	cr_assert_eq(model_open(&model, paths, 1, &err), 0, "%s", err.text);
	context.symbols = symbols_new(&model, true);
	text = report_text(&context, "pytorch_sum");
	symbols_free(context.symbols);
	model_done(&model);
	capture_remove(directory);
	return text;
}

/* Without a gradient the sizes of a convolution's result are those that the operator has which takes it. */
Test(pytorch_ops, knows_the_work_of_a_convolution_in_inference)
{
	char *text = inference(CONV, CUDNN);

	cr_expect(strstr(text, ",1.5552e-05,,1,aten::conv2d,"), "%s", text);
	cr_expect(strstr(text, ",,,1,aten::cudnn_convolution,"), "%s", text);
	free(text);
}

/* A text that was cut, or that is nobody's. */
Test(pytorch_ops, finds_arguments_in_texts_that_were_cut)
{
	static const char *const cut[] = {"[a,]", "[a, ", "[a,", "[", "[, , ", "[]"};

	for (size_t i = 0; i < sizeof(cut) / sizeof(*cut); i++) {
		struct operator_field list = {cut[i], strlen(cut[i])}, f;

		for (size_t n = 0; n < 4; n++) {
			f = operator_list_at(&list, n);
			cr_assert_leq(f.length, list.length, "%s, %zu", cut[i], n);
		}
	}
	cr_assert_null(operator_list_at(&(struct operator_field){0}, 0).text);
}

/* Or they follow from its arguments, where our callback has recorded them. */
Test(pytorch_ops, knows_the_work_of_a_convolution_by_its_arguments)
{
	char *text = inference(OWN_CONV, OWN_CUDNN);

	cr_expect(strstr(text, ",1.5552e-05,,1,aten::conv2d,"), "%s", text);
	cr_expect(strstr(text, ",,,1,aten::cudnn_convolution,"), "%s", text);
	free(text);
	text = inference(OWN_TRANSPOSED, PLAIN); /* 2 * (2 * 4 * 8 * 8) * 3 * 3 * 3 */
	cr_expect(strstr(text, ",2.7648e-05,,1,aten::convolution,"), "%s", text);
	free(text);
}

/* ---- calls of libraries ---- */

static void library_call(struct job *j, uint16_t function, uint32_t id, const uint8_t *fields, const int64_t *values,
			 uint8_t count, uint64_t duration)
{
	uint64_t arg = tf_arg(TF_ARG_OPERATION, 0, id), start = j->now;
	struct tf_operation op = {.count = count};

	memcpy(op.fields, fields, count);
	memcpy(op.values, values, count * sizeof(*values));
	writer_blob(&j->host, TF_BLOB_OPERATION, id, &op,
		    offsetof(struct tf_operation, values) + count * sizeof(*values));
	launch(j, &j->host, 6, duration / 2);
	launch(j, &j->host, 1, duration);
	j->now += 10;
	writer_call(&j->host, function, j->now, j->now - start, &arg, 1);
}

enum {
	DIM_A = TF_FIELD_DIMENSION | TF_ROLE_A,
	DIM_B = TF_FIELD_DIMENSION | TF_ROLE_B,
	DIM_C = TF_FIELD_DIMENSION | TF_ROLE_C,
	TYPE_A = TF_FIELD_TYPE | TF_ROLE_A,
};

static const uint8_t convolution_fields[] = {DIM_A, DIM_A, DIM_A, DIM_A, DIM_B, DIM_B, DIM_B,
					     DIM_B, DIM_C, DIM_C, DIM_C, DIM_C, TYPE_A};

/* The convolutions of these calls. Operations by hand: 2 * elements of the result * elements of a filter. A: the input,
 * B: the weight, C: the result of the convolution, also for its gradients, as cuDNN has them. */
static const struct convolution {
	const char *function;
	int64_t sizes[13]; /* the last: CUDNN_DATA_HALF or CUDNN_DATA_FLOAT */
	uint64_t flops, bytes;
} convolutions[] = {
	{"cudnnConvolutionForward", {16, 3, 32, 32, 8, 3, 5, 5, 16, 8, 28, 28, 2}, 2 * 100352 * 75,
	 2 * (49152 + 600 + 100352)},
	{"cudnnConvolutionBackwardFilter", {16, 3, 32, 32, 8, 3, 5, 5, 16, 8, 28, 28, 0}, 2 * 100352 * 75,
	 4 * (49152 + 600 + 100352)},
	{"cudnnConvolutionForward", {2, 8, 9, 9, 8, 1, 3, 3, 2, 8, 7, 7, 0}, 2 * 784 * 9, 4 * (1296 + 72 + 784)},
	/* a transposed convolution of 4 to 2 channels and from 5x5 to 11x11, which cuDNN has as a gradient */
	{"cudnnConvolutionBackwardData", {1, 2, 11, 11, 4, 2, 3, 3, 1, 4, 5, 5, 0}, 2 * 100 * 18,
	 4 * (242 + 72 + 100)},
	/* padded so that the result is larger than the input */
	{"cudnnConvolutionForward", {1, 4, 5, 5, 4, 4, 1, 1, 1, 4, 9, 9, 0}, 2 * 324 * 4, 4 * (100 + 16 + 324)},
};

Test(pytorch_ops, takes_the_work_of_library_calls)
{
	static const struct tf_launch launched = {.kernel = 1, .grid = {1, 1, 1}, .block = {1, 1, 1}};
	enum { CONVOLUTIONS = sizeof(convolutions) / sizeof(*convolutions) };
	char directory[] = "/tmp/pillion-pytorch-ops-XXXXXX", *paths[] = {directory};
	uint16_t functions[CONVOLUTIONS + 1];
	struct job j = {.now = START};
	struct model model;
	struct report_context context = {.model = &model};
	struct table table = {0};
	struct err err = {{0}};

	cr_assert_not_null(mkdtemp(directory));
	capture_create(directory);
	writer_init(&j.w, 7, 7, 1, START);
	j.function = writer_function(&j.w, TF_GROUP_CUDA, "cudaLaunchKernel");
	for (size_t i = 0; i < CONVOLUTIONS; i++)
		functions[i] = writer_function(&j.w, TF_GROUP_CUDNN, convolutions[i].function);
	functions[CONVOLUTIONS] = writer_function(&j.w, TF_GROUP_CUBLAS, "cublasSgemm");
	writer_thread(&j.w, &j.host, 7, "python", TF_PAGE * 4);
	writer_thread(&j.w, &j.cupti, 9, "cupti", TF_PAGE * 4);
	writer_device_source(&j.cupti, TF_DEVICE_TIME_MONOTONIC, 130001, "libcupti.so.13");
	for (uint32_t i = 1; i < sizeof(kernels) / sizeof(*kernels); i++) {
		struct tf_device_operation work = {.kind = TF_DEVICE_KERNEL, .kernel = i, .device = 1, .stream = 7};

		writer_text(&j.cupti, TF_BLOB_KERNEL, i, kernels[i]);
		writer_blob(&j.cupti, TF_BLOB_DEVICE_OPERATION, i, &work, sizeof(work));
	}
	writer_blob(&j.host, TF_BLOB_LAUNCH, 1, &launched, sizeof(launched));
	writer_text(&j.host, TF_BLOB_STRING, ADDMM, texts[ADDMM]);
	for (uint32_t i = 0; i < CONVOLUTIONS; i++)
		library_call(&j, functions[i], i + 1,
			     convolution_fields, convolutions[i].sizes, sizeof(convolution_fields), 1000);
	/* the call is inside of an operator, which has another kernel: the work is there once */
	push(&j, &j.host, ADDMM);
	launch(&j, &j.host, 1, 5000);
	library_call(&j, functions[CONVOLUTIONS], 50,
		     (const uint8_t[]){TF_FIELD_M, TF_FIELD_N, TF_FIELD_K}, (const int64_t[]){5, 3, 4}, 3, 600);
	pop(&j, &j.host);
	writer_end(&j.w, TF_END_EXIT, 0, j.now + 90000);
	writer_save(&j.w, directory);
	writer_done(&j.w);

	cr_assert_eq(model_open(&model, paths, 1, &err), 0, "%s", err.text);
	context.symbols = symbols_new(&model, true);
	report_find("pytorch_ops")->run(&context, &table);
	cr_expect_null(table.lacks, "%s", table.lacks);
	cr_assert_eq(table_rows(&table), 2 * CONVOLUTIONS + 3);
	for (size_t i = 0; i < CONVOLUTIONS; i++) {
		const union cell *short_one = &table.cells[2 * i * OPS_COLUMNS], *long_one = short_one + OPS_COLUMNS;

		cr_expect(table.absent[(short_one - table.cells) + OPS_FLOPS], "the shorter kernel has none");
		cr_expect_eq(long_one[OPS_FLOPS].count, convolutions[i].flops, "%zu: %" PRIu64, i,
			     long_one[OPS_FLOPS].count);
		cr_expect_eq(long_one[OPS_BYTES].count, convolutions[i].bytes, "%zu: %" PRIu64, i,
			     long_one[OPS_BYTES].count);
	}
	for (size_t i = 0; i < 3; i++) {
		size_t at = (2 * CONVOLUTIONS + i) * OPS_COLUMNS;

		cr_expect_eq(table.absent[at + OPS_FLOPS], i != 2, "%zu", i);
		if (i == 2) {
			cr_expect_eq(table.cells[at + OPS_FLOPS].count, 2 * 5 * 3 * 4);
			cr_expect_str_eq(table.cells[at + OPS_PARAMS].text, "M=5,N=3,K=4");
		}
	}
	table_done(&table);
	symbols_free(context.symbols);
	model_done(&model);
	capture_remove(directory);
}
