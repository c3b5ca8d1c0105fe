/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a training job with a data loader: device memory, library calls, CPU samples, and a problem for most rules. */
#include "trace_writer.h"

#define US 1000ull
#define MS 1000000ull
#define BEGIN (1000 * MS)

enum { STEPS = 12, STEP = 20, MEMORY_TOTAL = 2000000000 };
enum { KERNEL = 1, PAGED_IN, OUT, HOST_SET };
enum { STACK_LOAD = 1, STACK_TRAIN, STACK_SAVE };
enum { GEMM = 1, CONVOLUTION, ALL_REDUCE };

static struct {
	uint16_t launch, copy, copy_async, set, wait, malloc, free, info, read, gemm, convolve, reduce;
} f;
static uint32_t next_id;

static void functions(struct writer *w)
{
	f.launch = writer_function(w, TF_GROUP_CUDA, "cudaLaunchKernel");
	f.copy = writer_function(w, TF_GROUP_CUDA, "cudaMemcpy");
	f.copy_async = writer_function(w, TF_GROUP_CUDA, "cudaMemcpyAsync");
	f.set = writer_function(w, TF_GROUP_CUDA, "cudaMemset");
	f.wait = writer_function(w, TF_GROUP_CUDA, "cudaStreamSynchronize");
	f.malloc = writer_function(w, TF_GROUP_CUDA, "cudaMalloc");
	f.free = writer_function(w, TF_GROUP_CUDA, "cudaFree");
	f.info = writer_function(w, TF_GROUP_CUDA, "cudaMemGetInfo");
	f.read = writer_function(w, TF_GROUP_OSRT, "read");
	f.gemm = writer_function(w, TF_GROUP_CUBLAS, "cublasGemmEx");
	f.convolve = writer_function(w, TF_GROUP_CUDNN, "cudnnConvolutionForward");
	f.reduce = writer_function(w, TF_GROUP_NCCL, "ncclAllReduce");
}

static void operation(struct writer_thread *t, uint32_t id, const struct tf_operation *op)
{
	writer_blob(t, TF_BLOB_OPERATION, id, op,
		    sizeof(*op) - (TF_OPERATION_FIELDS - op->count) * sizeof(op->values[0]));
}

static void definitions(struct writer_thread *host, struct writer_thread *cupti)
{
	static const struct tf_device_operation works[] = {
		{.kind = TF_DEVICE_KERNEL,
		 .kernel = 1,
		 .context = 1,
		 .stream = 7,
		 .grid = {64, 2, 1},
		 .block = {128, 1, 1}},
		{.kind = TF_DEVICE_COPY, .copy = 1, .source = 1, .target = 3, .context = 1, .stream = 7},
		{.kind = TF_DEVICE_COPY, .copy = 2, .source = 3, .target = 1, .context = 1, .stream = 7},
		{.kind = TF_DEVICE_SET, .target = 2, .context = 1, .stream = 7},
	};
	static const uint64_t stacks[][2] = {{0x401100, 0x401000}, {0x401200, 0x401000}, {0x401300, 0x401000}};
	static const struct tf_launch launch = {.kernel = 1, .grid = {64, 2, 1}, .block = {128, 1, 1}};

	writer_device_source(cupti, TF_DEVICE_TIME_MONOTONIC, 130001, "/opt/cuda/lib64/libcupti.so.13");
	writer_text(cupti, TF_BLOB_DEVICE_NAME, 0, "NVIDIA H200");
	writer_text(cupti, TF_BLOB_KERNEL, 1, "_Z9train_gemmILi4EEvPKfPf");
	for (uint32_t i = 0; i < sizeof(works) / sizeof(*works); i++)
		writer_blob(cupti, TF_BLOB_DEVICE_OPERATION, i + 1, &works[i], sizeof(works[i]));
	writer_blob(host, TF_BLOB_LAUNCH, 1, &launch, sizeof(launch));
	writer_module(host, 0x400000, 0x500000, 0x400000, NULL, 0, "/nonexistent/train");
	for (uint32_t i = 0; i < 3; i++)
		writer_blob(host, TF_BLOB_STACK, i + 1, stacks[i], sizeof(stacks[i]));
	writer_text(host, TF_BLOB_STRING, 1, "step");
	operation(host, GEMM,
		  &(struct tf_operation){.count = 4,
					 .fields = {TF_FIELD_M, TF_FIELD_N, TF_FIELD_K, TF_FIELD_TYPE | TF_ROLE_A},
					 .values = {4096, 1000, 50257, 2}});
	operation(host, CONVOLUTION,
		  &(struct tf_operation){.count = 2, .fields = {TF_FIELD_PADDING, TF_FIELD_GROUPS}, .values = {1, 4}});
	operation(host, ALL_REDUCE,
		  &(struct tf_operation){.count = 7,
					 .fields = {TF_FIELD_COUNT, TF_FIELD_TYPE, TF_FIELD_REDUCTION,
						    TF_FIELD_COMMUNICATOR, TF_FIELD_RANK, TF_FIELD_RANKS,
						    TF_FIELD_COMMUNICATOR_ID},
					 .values = {1048576, 7, 0, 1, 0, 8, 0x5eed}});
}

static void call(struct writer_thread *t, uint16_t function, uint64_t at, uint64_t duration, uint32_t stack,
		 uint64_t arg)
{
	uint64_t args[2];
	size_t count = 0;

	if (arg)
		args[count++] = arg;
	if (stack)
		args[count++] = tf_arg(TF_ARG_STACK, 0, stack);
	writer_call(t, function, at + duration, duration, args, count);
}

/* Writes CUPTI's records of the last call and of its work. */
static void work(struct writer_thread *t, uint64_t at, uint64_t duration, uint32_t id, uint64_t start, uint64_t length,
		 uint64_t bytes)
{
	next_id++;
	writer_device_calls(t, TF_DEVICE_TIME_MONOTONIC,
			    &(struct writer_device_call){200, next_id, at + 1, duration - 2, false}, 1);
	writer_device(t, TF_DEVICE_TIME_MONOTONIC, &(struct writer_device_record){id, next_id, start, length, bytes},
		      1);
}

static void memory(struct writer_thread *t, uint16_t function, uint64_t at, unsigned int kind, uint64_t address,
		   uint64_t bytes, uint32_t stack)
{
	uint64_t args[] = {tf_arg(TF_ARG_MEMORY, kind, address), tf_arg(TF_ARG_BYTES, 0, bytes),
			   tf_arg(TF_ARG_STACK, 0, stack)};

	writer_call(t, function, at + 40 * US, 40 * US, args, kind & TF_MEMORY_FREE ? 1 : 3);
}

/* Writes one step: read, copy of pageable memory, matrix product, convolution, reduction, wait for the result. */
static void step(struct writer_thread *host, struct writer_thread *cupti, uint64_t at)
{
	writer_event(host, TF_PUSH, 0, at, 1);
	call(host, f.read, at + 100 * US, 6 * MS, STACK_LOAD, 0);
	memory(host, f.malloc, at + 6200 * US, TF_MEMORY_DEVICE, 0x7000, 1 << 20, STACK_TRAIN);
	call(host, f.copy_async, at + 6300 * US, 400 * US, STACK_TRAIN, tf_arg(TF_ARG_COPY, 1, 1 << 20));
	work(cupti, at + 6300 * US, 400 * US, PAGED_IN, at + 6350 * US, 300 * US, 1 << 20);
	call(host, f.launch, at + 6810 * US, 8 * US, STACK_TRAIN, tf_arg(TF_ARG_LAUNCH, 0, 1));
	work(cupti, at + 6810 * US, 8 * US, KERNEL, at + 6830 * US, 2 * MS, 0);
	call(host, f.gemm, at + 6800 * US, 30 * US, 0, tf_arg(TF_ARG_OPERATION, 0, GEMM));
	call(host, f.convolve, at + 6900 * US, 50 * US, 0, tf_arg(TF_ARG_OPERATION, 0, CONVOLUTION));
	call(host, f.launch, at + 7005 * US, 5 * US, STACK_TRAIN, tf_arg(TF_ARG_LAUNCH, 0, 1));
	work(cupti, at + 7005 * US, 5 * US, KERNEL, at + 8830 * US, 5 * US, 0);
	call(host, f.reduce, at + 7000 * US, 20 * US, 0, tf_arg(TF_ARG_OPERATION, 0, ALL_REDUCE));
	call(host, f.copy, at + 7100 * US, 1800 * US, STACK_SAVE, tf_arg(TF_ARG_COPY, 2, 4000));
	work(cupti, at + 7100 * US, 1800 * US, OUT, at + 8840 * US, 10 * US, 4000);
	memory(host, f.free, at + 9 * MS, TF_MEMORY_DEVICE | TF_MEMORY_FREE, 0x7000, 0, 0);
	writer_event(host, TF_POP, 0, at + 10 * MS, 0);
	for (uint64_t i = 0; i < 8; i++) {
		writer_event(host, TF_SAMPLE, 0, at + 10 * MS + i * MS, 1000);
		writer_slot(host, tf_arg(TF_ARG_STACK, 0, i % 4 ? STACK_TRAIN : STACK_LOAD));
	}
}

static void out_of_memory(struct writer_thread *t, uint64_t at)
{
	uint64_t info[] = {tf_arg(TF_ARG_LEFT, 0, MEMORY_TOTAL / 4), tf_arg(TF_ARG_BYTES, 0, MEMORY_TOTAL)};
	uint64_t args[] = {tf_arg(TF_ARG_MEMORY, TF_MEMORY_DEVICE, 0), tf_arg(TF_ARG_BYTES, 0, MEMORY_TOTAL),
			   tf_arg(TF_ARG_RESULT, 0, 2), tf_arg(TF_ARG_STACK, 0, STACK_SAVE)};

	writer_call(t, f.info, at, 5 * US, info, 2);
	writer_call(t, f.malloc, at + 100 * US, 50 * US, args, 4);
}

static void trainer(const char *directory)
{
	struct writer w;
	struct writer_thread host, cupti;

	next_id = 0;
	writer_init(&w, 0xd1, 200, 90, BEGIN);
	writer_command(&w, "/usr/bin/python3", "python3\0train.py", 17);
	functions(&w);
	writer_thread(&w, &host, 200, "MainThread", 16 * TF_PAGE);
	writer_thread(&w, &cupti, 201, "cupti", 16 * TF_PAGE);
	definitions(&host, &cupti);
	memory(&host, f.malloc, BEGIN + 10 * MS, TF_MEMORY_DEVICE, 0x1000, 400000000, STACK_LOAD);
	memory(&host, f.malloc, BEGIN + 11 * MS, TF_MEMORY_POOL, 0x2000, 100000000, STACK_TRAIN);
	memory(&host, f.malloc, BEGIN + 12 * MS, TF_MEMORY_HOST, 0x3000, 5000000, 0);
	call(&host, f.set, BEGIN + 13 * MS, 30 * US, 0, tf_arg(TF_ARG_COPY, 63, 5000000));
	work(&cupti, BEGIN + 13 * MS, 30 * US, HOST_SET, BEGIN + 13 * MS + 10 * US, 15 * US, 5000000);
	for (uint64_t i = 0; i < STEPS; i++)
		step(&host, &cupti, BEGIN + (1 + i) * STEP * MS);
	out_of_memory(&host, BEGIN + (1 + STEPS) * STEP * MS);
	memory(&host, f.free, BEGIN + (2 + STEPS) * STEP * MS, TF_MEMORY_POOL | TF_MEMORY_FREE, 0x2000, 0, 0);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + (3 + STEPS) * STEP * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

static void loader(const char *directory)
{
	struct writer w;
	struct writer_thread t;

	writer_init(&w, 0xd2, 210, 200, BEGIN + 5 * MS);
	w.header.via = TF_VIA_FORK;
	w.header.parent_nonce = 0xd1;
	writer_command(&w, "/usr/bin/python3", "python3\0train.py", 17);
	functions(&w);
	writer_thread(&w, &t, 210, "loader", 2 * TF_PAGE);
	for (uint64_t i = 0; i < STEPS; i++)
		call(&t, f.read, BEGIN + (1 + i) * STEP * MS, 5 * MS, 0, 0);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + (2 + STEPS) * STEP * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

void capture_add_job(const char *directory)
{
	trainer(directory);
	loader(directory);
}

void capture_job(const char *directory)
{
	capture_remove(directory);
	capture_create(directory);
	capture_add_job(directory);
}
