/* SPDX-License-Identifier: Apache-2.0 */
/* Tests pytorch_sum with captures written here. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/tables/report.h"
#include "runtime/shared/format/trace_tensor.h"
#include "trace_writer.h"

enum { START = 1000, LINEAR = 1, MM, MM_AGAIN, MINE, BACKWARD, COLONS, COLLECTIVE, MINE_TOO,
       KERNEL = 1, CUDA = 1 };

static const char *const texts[] = {
	NULL,
	"aten::linear, seq = 3, op_id = 7, sizes = [[3, 4], [5]]",
	"aten::mm, seq = 3, sizes = [[3, 4], [4, 5]], input_op_ids = [(7,0)]",
	"aten::mm, seq = 4, sizes = [[3, 4], [4, 5]]",
	"my step",
	"AddmmBackward0, seq = 3",
	"aten::empty",
	"gloo:all_reduce, sizes = [[1000]]",
	"the program's: range",
};

static bool has_collective, has_tensors, has_recursion;

/* A block of one of PyTorch's allocators, or its free. */
static void tensor(struct writer_thread *t, uint64_t at, unsigned type, unsigned last, uint64_t address, uint64_t bytes)
{
	if (!has_tensors)
		return;
	writer_event(t, TF_TENSOR, type, at, last);
	writer_slot(t, tf_arg(TF_ARG_VALUE, 0, address));
	writer_slot(t, tf_arg(TF_ARG_BYTES, 0, bytes));
}

static void launch(struct writer_thread *host, struct writer_thread *cupti, uint16_t function, uint32_t id, uint64_t at,
		   uint64_t duration)
{
	uint64_t arg = tf_arg(TF_ARG_LAUNCH, 0, 1);

	writer_call(host, function, at + 10, 10, &arg, 1);
	writer_device_calls(cupti, TF_DEVICE_TIME_MONOTONIC,
			    &(struct writer_device_call){host->tid, id, at + 1, 8, false}, 1);
	writer_device(cupti, TF_DEVICE_TIME_MONOTONIC,
		      &(struct writer_device_record){KERNEL, id, at + 5000, duration, 0}, 1);
}

/* linear calls mm, which calls linear twice, and linear; then it is called again. */
static void recurse(struct writer_thread *t)
{
	static const struct {
		uint64_t at;
		uint32_t text; /* 0: the end of the innermost */
	} ranges[] = {{800, LINEAR}, {810, MM}, {820, LINEAR}, {830, 0}, {832, LINEAR}, {836, 0}, {850, 0},
		      {860, LINEAR}, {870, 0},	{890, 0},      {892, LINEAR}, {897, 0}};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		writer_event(t, ranges[i].text ? TF_PUSH : TF_POP, 0, START + ranges[i].at, ranges[i].text);
}

/* A range of the user's encloses linear (which calls mm, which calls mm) and another mm; another thread runs the
 * backward pass. */
static void operators(const char *directory, bool has_operators)
{
	static const struct tf_device_operation work = {
		.kind = TF_DEVICE_KERNEL, .kernel = 1, .grid = {1, 1, 1}, .block = {1, 1, 1}};
	static const struct tf_launch launched = {.kernel = 1, .grid = {1, 1, 1}, .block = {1, 1, 1}};
	struct writer w;
	struct writer_thread t, autograd, cupti;
	uint16_t function;

	writer_init(&w, 7, 7, 1, START);
	function = writer_function(&w, TF_GROUP_CUDA, "cudaLaunchKernel");
	writer_thread(&w, &t, 7, "python", TF_PAGE * 4);
	writer_thread(&w, &autograd, 8, "autograd", TF_PAGE * 4);
	writer_thread(&w, &cupti, 9, "cupti", TF_PAGE * 4);
	for (uint32_t i = 1; i < sizeof(texts) / sizeof(*texts); i++)
		writer_text(&t, TF_BLOB_STRING, i, texts[i]);
	writer_text(&t, TF_BLOB_DOMAIN, 1, "other");
	writer_device_source(&cupti, TF_DEVICE_TIME_MONOTONIC, 130001, "libcupti.so.13");
	writer_text(&cupti, TF_BLOB_KERNEL, 1, "k");
	writer_blob(&cupti, TF_BLOB_DEVICE_OPERATION, KERNEL, &work, sizeof(work));
	writer_blob(&t, TF_BLOB_LAUNCH, 1, &launched, sizeof(launched));
	writer_event(&t, TF_PUSH, 0, START + 100, MINE);
	if (has_operators) {
		writer_event(&t, TF_PUSH, 0, START + 200, LINEAR);
		writer_event(&t, TF_PUSH, 1, START + 210, MM); /* of another domain */
		tensor(&t, START + 215, TF_TENSOR_CPU, 0, 0x10, 4000000);
		launch(&t, &cupti, function, 1, START + 220, 1000);
		writer_event(&t, TF_PUSH, 0, START + 300, MM);
		writer_event(&t, TF_PUSH, 0, START + 310, MM_AGAIN);
		tensor(&t, START + 315, CUDA, 0, 0x20, 7000000);
		tensor(&t, START + 316, TF_TENSOR_CPU, TF_TENSOR_FREED, 0x10, 4000000);
		launch(&t, &cupti, function, 2, START + 320, 200);
		writer_event(&t, TF_POP, 0, START + 350, 0);
		launch(&t, &cupti, function, 3, START + 360, 30);
		writer_event(&t, TF_POP, 0, START + 400, 0);
		writer_event(&t, TF_POP, 0, START + 500, 0);
		writer_event(&t, TF_POP, 1, START + 510, 0);
		writer_event(&t, TF_PUSH, 0, START + 600, MM_AGAIN);
		writer_event(&t, TF_POP, 0, START + 605, 0);
		writer_event(&t, TF_PUSH, 0, START + 610, COLONS);
		writer_event(&t, TF_POP, 0, START + 611, 0);
		writer_event(&autograd, TF_PUSH, 0, START + 700, BACKWARD);
		launch(&autograd, &cupti, function, 4, START + 710, 5);
		writer_event(&autograd, TF_POP, 0, START + 760, 0);
	}
	if (has_recursion)
		recurse(&autograd);
	for (uint32_t i = COLLECTIVE; has_collective && i <= MINE_TOO; i++) {
		writer_event(&t, TF_RANGE_START, 0, START + 770 + i, i);
		writer_slot(&t, tf_arg(TF_ARG_VALUE, 0, i));
		writer_event(&autograd, TF_RANGE_END, 0, START + 790 + i, 0);
		writer_slot(&autograd, tf_arg(TF_ARG_VALUE, 0, i));
	}
	launch(&t, &cupti, function, 5, START + 800, 7777);
	tensor(&t, START + 850, CUDA, 0, 0x30, 1000000);
	tensor(&t, START + 860, CUDA, TF_TENSOR_FREED, 0x20, 7000000);
	writer_event(&t, TF_POP, 0, START + 900, 0);
	writer_end(&w, TF_END_EXIT, 0, START + 9000);
	writer_save(&w, directory);
	writer_done(&w);
}

/* From START for 20000 ns a GPU took 20000 * 9012 uJ. It executed kernels of 9012 ns in all, some at the same time, in
 * 8357 ns: each takes 8357 uJ per ns. */
static void energy(const char *directory)
{
	static const struct {
		struct tf_energy_head head;
		struct tf_energy_record record;
		struct tf_energy_source source;
		char texts[8];
		struct {
			struct tf_energy_record record;
			struct tf_energy_sample sample;
		} samples[2];
	} file = {{TF_ENERGY_MAGIC, 0x77, TF_CLOCK_MONOTONIC, 0, WRITER_BOOT},
		  {TF_ENERGY_GPU, 0, sizeof(file.source) + sizeof(file.texts)},
		  {0},
		  "N\0GPU-1",
		  {{{TF_ENERGY_SAMPLE, 0, sizeof(file.samples[0].sample)}, {.ticks = START}},
		   {{TF_ENERGY_SAMPLE, 0, sizeof(file.samples[0].sample)},
		    {.ticks = START + 20000, .energy_uj = 20000 * 9012}}}};

	capture_file(directory, "node1.77.energy", &file, sizeof(file));
}

static bool has_energy;

static void check_as(bool has_operators, struct report_context context, bool lacks, const char *wanted)
{
	char directory[] = "/tmp/pillion-pytorch-XXXXXX", *paths[] = {directory}, *text = NULL;
	struct model model;
	struct emit emit = {.format = FORMAT_CSV};
	struct table table = {0};
	struct err err = {{0}};
	size_t size;

	cr_assert_not_null(mkdtemp(directory));
	capture_create(directory);
	operators(directory, has_operators);
	if (has_energy)
		energy(directory);
	cr_assert_eq(model_open(&model, paths, 1, &err), 0, "%s", err.text);
	context.model = &model;
	context.symbols = symbols_new(&model, false);
	report_find("pytorch_sum")->run(&context, &table);
	cr_expect_eq(table.lacks != NULL, lacks, "%s", table.lacks);
	emit.file = open_memstream(&text, &size);
	emit_begin(&emit);
	emit_table(&emit, "x", "x", &table);
	emit_end(&emit);
	fclose(emit.file);
	cr_expect_str_eq(text, wanted, "%s", text);
	free(text);
	table_done(&table);
	symbols_free(context.symbols);
	model_done(&model);
	capture_remove(directory);
}

static void check(bool has_operators, enum by by, bool lacks, const char *wanted)
{
	check_as(has_operators, (struct report_context){.by = by}, lacks, wanted);
}

#define TIMES                                                                                                \
	"GPU (%),GPU Self (ns),GPU Total (ns),GPU Avg (ns),CPU (%),CPU Self (ns),CPU Total (ns),CPU Avg (ns)," \
	"Allocated (MB),GFLOPs,Peak (%),Calls,Operator"
#define HEAD TIMES ",Sizes\n"
#define LINEAR_ROW "81.0,1000,1230,1230.0,54.6,200,300,300.0,0.000000,,,1,aten::linear,"
#define MM_ROW "18.6,230,230,115.0,28.7,105,105,52.5,0.000000,2.4e-07,,2,aten::mm,"
#define BACKWARD_ROW "0.4,5,5,5.0,16.4,60,60,60.0,0.000000,,,1,AddmmBackward0,"
#define EMPTY_ROW "0.0,0,0,0.0,0.3,1,1,1.0,0.000000,,,1,aten::empty,"

/* linear has 300, of which mm has 100; mm alone within mm is one call; the launch outside of all operators counts for
 * none. The operations are those of the innermost operator: 2 * 3 * 4 * 5 for each of two calls. */
Test(pytorch, operators_by_name_and_sizes_with_and_without_those_within)
{
	check(true, BY_NOTHING, 0,
	      HEAD LINEAR_ROW "\"[[3, 4], [5]]\"\n" MM_ROW "\"[[3, 4], [4, 5]]\"\n" BACKWARD_ROW "\n" EMPTY_ROW "\n");
}

/* What is within its like adds to the calls and to the own time: of linear 69 ns, of 95 in which any is open. */
Test(pytorch, an_operator_within_its_like_is_counted_once)
{
	has_recursion = true;
	check(true, BY_NOTHING, 0,
	      HEAD "81.0,1000,1230,205.0,58.4,269,395,65.8,0.000000,,,6,aten::linear,\"[[3, 4], [5]]\"\n"
		   "18.6,230,230,76.7,28.4,131,145,48.3,0.000000,3.6e-07,,3,aten::mm,\"[[3, 4], [4, 5]]\"\n"
		   "0.4,5,5,5.0,13.0,60,60,60.0,0.000000,,,1,AddmmBackward0,\n"
		   "0.0,0,0,0.0,0.2,1,1,1.0,0.000000,,,1,aten::empty,\n");
}

/* It begins in one thread and ends in another; other ranges that do are the program's. */
Test(pytorch, collectives_that_run_in_another_thread)
{
	has_collective = true;
	check(true, BY_NOTHING, 0,
	      HEAD LINEAR_ROW "\"[[3, 4], [5]]\"\n" MM_ROW "\"[[3, 4], [4, 5]]\"\n" BACKWARD_ROW "\n" EMPTY_ROW
	      "\n0.0,0,0,0.0,0.0,0,20,20.0,0.000000,,,1,gloo:all_reduce,[[1000]]\n");
}

Test(pytorch, by_thread_forward_and_backward_are_two)
{
	check(true, BY_THREAD, 0,
	      "TID," HEAD "7," LINEAR_ROW "\"[[3, 4], [5]]\"\n7," MM_ROW "\"[[3, 4], [4, 5]]\"\n8," BACKWARD_ROW
	      "\n7," EMPTY_ROW "\n");
}

Test(pytorch, grouped_and_sorted)
{
	check_as(true, (struct report_context){.group = GROUP_PHASE, .sort = SORT_COUNT}, 0,
		 TIMES ",Phase\n" MM_ROW "forward\n" LINEAR_ROW "forward\n" BACKWARD_ROW "backward\n" EMPTY_ROW
		       "forward\n");
	check_as(true, (struct report_context){.group = GROUP_NAME, .sort = SORT_CPU_TIME}, 0,
		 TIMES "\n81.0,1000,1230,1230.0,54.6,200,300,300.0,0.000000,,,1,aten::linear\n"
		       "0.4,5,5,5.0,16.4,60,60,60.0,0.000000,,,1,AddmmBackward0\n"
		       "18.6,230,230,115.0,28.7,105,105,52.5,0.000000,2.4e-07,,2,aten::mm\n"
		       "0.0,0,0,0.0,0.3,1,1,1.0,0.000000,,,1,aten::empty\n");
	check_as(true, (struct report_context){.group = GROUP_LINE, .sort = SORT_FLOPS}, 0,
		 TIMES ",Line\n" MM_ROW "(not attributed)\n" LINEAR_ROW "(not attributed)\n" BACKWARD_ROW
		       "(not attributed)\n" EMPTY_ROW "(not attributed)\n");
}

Test(pytorch, with_energy_where_power_was_sampled)
{
	has_energy = true;
	check_as(true, (struct report_context){.group = GROUP_NAME}, 0,
		 "GPU (%),GPU Self (ns),GPU Total (ns),GPU Avg (ns),Energy Est. (J),CPU (%),CPU Self (ns),"
		 "CPU Total (ns),CPU Avg (ns),Allocated (MB),GFLOPs,Peak (%),Calls,Operator\n"
		 "81.0,1000,1230,1230.0,8.357000,54.6,200,300,300.0,0.000000,,,1,aten::linear\n"
		 "18.6,230,230,115.0,1.922110,28.7,105,105,52.5,0.000000,2.4e-07,,2,aten::mm\n"
		 "0.4,5,5,5.0,0.041785,16.4,60,60,60.0,0.000000,,,1,AddmmBackward0\n"
		 "0.0,0,0,0.0,0.000000,0.3,1,1,1.0,0.000000,,,1,aten::empty\n");
}

Test(pytorch, without_operators_it_could_not_look)
{
	check(false, BY_NOTHING, true, HEAD);
}

/* linear allocates 4 MB, which mm frees; mm allocates 7 MB, which are freed outside of operators, where 1 MB remains.
 * The peak of the device is 8 MB, of which mm has 7. */
Test(pytorch, tensors_are_of_the_operators_around_them)
{
	has_tensors = true;
	check_as(true, (struct report_context){.group = GROUP_NAME}, 0,
		 "GPU (%),GPU Self (ns),GPU Total (ns),GPU Avg (ns),CPU (%),CPU Self (ns),CPU Total (ns),CPU Avg (ns),"
		 "Allocated (MB),CPU Mem Self (MB),CPU Mem Total (MB),CPU Mem Peak (MB),CUDA Mem Self (MB),"
		 "CUDA Mem Total (MB),CUDA Mem Peak (MB),GFLOPs,Peak (%),Calls,Operator\n"
		 "81.0,1000,1230,1230.0,54.6,200,300,300.0,0.000000,4.000000,0.000000,"
		 "4.000000,0.000000,7.000000,0.000000,,,1,aten::linear\n"
		 "18.6,230,230,115.0,28.7,105,105,52.5,0.000000,-4.000000,-4.000000,"
		 "0.000000,7.000000,7.000000,7.000000,2.4e-07,,2,aten::mm\n"
		 "0.4,5,5,5.0,16.4,60,60,60.0,0.000000,0.000000,0.000000,0.000000,"
		 "0.000000,0.000000,0.000000,,,1,AddmmBackward0\n"
		 "0.0,0,0,0.0,0.3,1,1,1.0,0.000000,0.000000,0.000000,0.000000,0.000000,"
		 "0.000000,0.000000,,,1,aten::empty\n"
		 "0.0,0,0,0.0,0.0,0,0,0.0,0.000000,0.000000,0.000000,0.000000,-6.000000,"
		 "-6.000000,1.000000,,,2,[memory]\n");
}
