/* SPDX-License-Identifier: Apache-2.0 */
/* A capture whose calls, ranges and device operations have what those of the other ready-made captures lack. */
#include <string.h>

#include "runtime/shared/format/trace_flags.h"
#include "trace_writer.h"

#define US 1000ull
#define MS 1000000ull
#define BEGIN (1000 * MS)

enum { STACK = 1, OPERATION = 1, OBJECT, KERNEL = 1 };
enum { NVTX_DOUBLE = 3, NVTX_FLOAT = 6 };

static uint64_t at;

/* Each call takes 40 us and begins 100 us after the one before. */
static void call(struct writer_thread *t, uint16_t f, uint64_t a, uint64_t b, uint64_t c)
{
	const uint64_t args[] = {a, b, c};

	at += 100 * US;
	writer_call(t, f, at + 40 * US, 40 * US, args, !a ? 0 : !b ? 1 : !c ? 2 : 3);
}

/* The result of a call with a descriptor. */
static uint64_t of_descriptor(uint64_t fd, int32_t result)
{
	return tf_arg(TF_ARG_FD, 0, fd | (uint64_t)(uint32_t)result << 16);
}

static void os_calls(struct writer_thread *t, const uint16_t *f)
{
	const uint64_t stack = tf_arg(TF_ARG_STACK, 0, STACK);

	call(t, f[0], of_descriptor(5, 4096), stack, 0);
	call(t, f[0], of_descriptor(5, -11), 0, 0);
	call(t, f[0], of_descriptor(0xffff, -9), 0, 0);
	call(t, f[1], tf_arg(TF_ARG_TIMEOUT, 0, 2500ull << 16 | 3), stack, 0);
	call(t, f[1], tf_arg(TF_ARG_TIMEOUT, 0, 0xffffffffull << 16 | (uint16_t)-4), 0, 0);
	call(t, f[2], tf_arg(TF_ARG_RESULT, 0, 2), tf_arg(TF_ARG_FLAGS, TF_FLAGS_EVENTFD, 02000000), 0);
	call(t, f[3], tf_arg(TF_ARG_LOCK, 0, 0x7000), tf_arg(TF_ARG_HOLDER, 0, 401),
	     tf_arg(TF_ARG_WAKER, 0, tf_waker(401, 7000)));
	call(t, f[4], tf_arg(TF_ARG_DIRECTORY, 0, 13ull << 16 | 1), 0, 0);
	call(t, f[5], tf_arg(TF_ARG_VALUE, 0, 77), 0, 0);
	writer_sample(t, at + 50 * US, 1500, STACK);
}

static void library_calls(struct writer_thread *t, const uint16_t *f)
{
	call(t, f[6], tf_arg(TF_ARG_OPERATION, 0, OPERATION), tf_arg(TF_ARG_STREAM, 0, 0x55), 0);
	call(t, f[7], tf_arg(TF_ARG_OPERATION, 0, OBJECT), 0, 0);
	call(t, f[8], tf_arg(TF_ARG_MEMORY, TF_MEMORY_DEVICE, 0x9000), tf_arg(TF_ARG_BYTES, 0, 4096), 0);
	call(t, f[9], tf_arg(TF_ARG_MEMORY, TF_MEMORY_DEVICE | TF_MEMORY_FREE, 0x9000), 0, 0);
	call(t, f[8], tf_arg(TF_ARG_MEMORY, TF_MEMORY_DEVICE, 0), tf_arg(TF_ARG_BYTES, 0, 1ull << 40),
	     tf_arg(TF_ARG_RESULT, 0, 2));
	call(t, f[10], tf_arg(TF_ARG_COPY, 63, 4096), 0, 0);
	at += 100 * US;
	writer_construct(t, f[11], at + 80 * US, 80 * US,
			 (uint64_t[]){tf_arg(TF_ARG_TEAM, 0, 4), tf_arg(TF_ARG_VALUE, 0, 30 * US)}, 2);
}

static void mark(struct writer_thread *t, uint32_t domain, uint32_t text, unsigned type, uint64_t payload)
{
	at += 100 * US;
	writer_event(t, TF_MARK, domain, at, text);
	writer_slot(t, tf_arg(TF_ARG_COLOR, 0, 0xff00ff00 | 7ull << 32));
	writer_slot(t, tf_arg(TF_ARG_PAYLOAD, type, payload & 0xffffffffffff));
	writer_slot(t, tf_arg(TF_ARG_PAYLOAD_HIGH, 0, payload >> 48));
}

static void nvtx(struct writer_thread *t, struct writer_thread *other)
{
	static const struct {
		struct tf_nvtx head;
		char name[8];
	} all[] = {
		{{.kind = TF_NVTX_CATEGORY, .id = 7}, "\6\0colour"},
		{{.kind = TF_NVTX_CATEGORY, .domain = 1, .id = 7}, "\6\0others"},
		{{.kind = TF_NVTX_RESOURCE, .id = 0, .type = TF_NVTX_CUDA_DEVICE}, "\6\0my gpu"},
		{{.kind = TF_NVTX_COUNTER, .domain = 1, .id = 5}, "\6\0levels"},
	};
	const double real = 2.5;
	const float single = -0.5f;
	uint64_t bits = 0;
	uint32_t low = 0;

	memcpy(&bits, &real, sizeof(bits));
	memcpy(&low, &single, sizeof(low));
	for (uint32_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		writer_blob(t, TF_BLOB_NVTX, i + 1, &all[i], sizeof(all[i]));
	writer_text(t, TF_BLOB_DOMAIN, 1, "library");
	writer_text(t, TF_BLOB_STRING, 1, "first");
	writer_text(t, TF_BLOB_STRING, 2, "second");
	mark(t, 0, 1, 1, 0xfedcba9876543210);
	mark(t, 1, 2, 2, (uint64_t)-5);
	mark(t, 0, 1, NVTX_DOUBLE, bits);
	mark(t, 0, 1, 4, 0xffffffff);
	mark(t, 0, 1, 5, (uint32_t)-6);
	mark(t, 0, 9, NVTX_FLOAT, low);
	writer_event(t, TF_RANGE_START, 1, at + 10 * US, 2);
	writer_slot(t, tf_arg(TF_ARG_VALUE, 0, 9));
	writer_event(other, TF_RANGE_END, 1, at + 70 * US, 0);
	writer_slot(other, tf_arg(TF_ARG_VALUE, 0, 9));
	writer_event(t, TF_MARK, 1, at + 80 * US, 2);
	writer_slot(t, tf_arg(TF_ARG_COUNTER, 1, 5));
	writer_event(t, TF_PUSH, 0, at + 90 * US, 1); /* it does not end */
}

static void device(struct writer_thread *t)
{
	static const struct tf_device_operation works[] = {
		{.kind = TF_DEVICE_KERNEL, .kernel = KERNEL, .context = 1, .stream = 7, .grid = {3, 2, 1},
		 .block = {64, 2, 1}, .registers = 40, .static_shared_bytes = 16, .dynamic_shared_bytes = 1024,
		 .local_bytes = 8},
		{.kind = TF_DEVICE_COPY, .copy = 10, .source = 3, .target = 3, .source_device = 0, .target_device = 1,
		 .context = 1, .stream = 7},
		{.kind = TF_DEVICE_SET, .value = 255, .target = 3, .context = 1, .stream = 7},
		{.kind = TF_DEVICE_STREAM, .value = 1, .context = 1, .stream = 7},
		{.kind = TF_DEVICE_CONTEXT, .context = 1, .stream = 13},
		{.kind = TF_DEVICE_WAIT, .value = 3, .context = 1, .stream = 7},
		{.kind = TF_DEVICE_OVERHEAD, .value = 1},
		{.kind = TF_DEVICE_OVERHEAD, .value = 7 << 16},
		{.kind = TF_DEVICE_ALLOCATE, .target = 3, .context = 1},
		{.kind = TF_DEVICE_FREE, .target = 3, .context = 1},
		{.kind = TF_DEVICE_COPY, .copy = 9, .source = 1, .target = 9, .context = 1, .stream = 7},
	};
	static const struct {
		struct tf_device_facts facts;
		struct tf_attribute_value values[8];
	} facts = {{1ull << 30, "simulated-gpu-01"},
		   {{TF_ATTRIBUTE_MAJOR, 9},
		    {TF_ATTRIBUTE_MINOR, 1},
		    {TF_ATTRIBUTE_CLOCK, 1500000},
		    {TF_ATTRIBUTE_SM_COUNT, 10},
		    {TF_ATTRIBUTE_SM_THREADS, 2048},
		    {TF_ATTRIBUTE_WARP_THREADS, 32},
		    {TF_ATTRIBUTE_IS_INTEGRATED, 0},
		    {TF_ATTRIBUTE_COPY_ENGINES, 3}}};
	const struct writer_device_record records[] = {
		{1, 1, BEGIN + 20 * MS, 500 * US, 0}, {2, 2, BEGIN + 21 * MS, 20 * US, 8192},
		{3, 3, BEGIN + 22 * MS, 30 * US, 100}, {11, 4, BEGIN + 23 * MS, 40 * US, 16}};
	const struct writer_device_record more[] = {
		{6, 5, BEGIN + 24 * MS, 10 * US, 0, 0}, {7, 0, BEGIN + 25 * MS, 11 * US, 0, 0},
		{8, 0, BEGIN + 26 * MS, 12 * US, 0, 0}, {9, 6, BEGIN + 27 * MS, 0, 4096, 0x9000},
		{10, 7, BEGIN + 28 * MS, 0, 4096, 0x9000}};

	writer_device_source(t, TF_DEVICE_TIME_MONOTONIC, 130001, "/opt/cuda/lib64/libcupti.so.13");
	writer_text(t, TF_BLOB_KERNEL, KERNEL, "_Z6squarePf");
	writer_text(t, TF_BLOB_DEVICE_NAME, 0, "NVIDIA H200");
	writer_blob(t, TF_BLOB_DEVICE_FACTS, 0, &facts, sizeof(facts));
	for (uint32_t i = 0; i < sizeof(works) / sizeof(*works); i++)
		writer_blob(t, TF_BLOB_DEVICE_OPERATION, i + 1, &works[i], sizeof(works[i]));
	writer_device(t, TF_DEVICE_TIME_MONOTONIC, records, sizeof(records) / sizeof(*records));
	writer_device_more(t, TF_DEVICE_TIME_MONOTONIC, more, sizeof(more) / sizeof(*more));
}

static void definitions(struct writer_thread *t)
{
	static const struct tf_operation gemm = {.count = 4,
						 .fields = {TF_FIELD_M, TF_FIELD_N, TF_FIELD_K,
							    TF_FIELD_TYPE | TF_ROLE_A},
						 .values = {64, 32, 16, 2}},
					 write = {.count = 3,
						  .fields = {TF_FIELD_OBJECT, TF_FIELD_COUNT, TF_FIELD_ELEMENT},
						  .values = {1, 10, 8}};
	static const uint64_t stack[] = {0x401234};

	writer_module(t, 0x400000, 0x500000, 0x400000, NULL, 0, "/nonexistent/program");
	writer_blob(t, TF_BLOB_STACK, STACK, stack, sizeof(stack));
	writer_blob(t, TF_BLOB_OPERATION, OPERATION, &gemm, sizeof(gemm));
	writer_blob(t, TF_BLOB_OPERATION, OBJECT, &write, sizeof(write));
	writer_blob(t, TF_BLOB_HDF5, 1, "out.h5\0/group/data", 18);
	writer_descriptor(t, 1, 5, BEGIN, TF_DESCRIPTOR_FILE, "/data/input");
}

void capture_add_arguments(const char *directory)
{
	static const struct {
		enum tf_group group;
		const char *name;
	} functions[] = {
		{TF_GROUP_OSRT, "read"}, {TF_GROUP_OSRT, "poll"}, {TF_GROUP_OSRT, "eventfd"},
		{TF_GROUP_OSRT, "pthread_mutex_lock"}, {TF_GROUP_OSRT, "mkdir"}, {TF_GROUP_OSRT, "kill"},
		{TF_GROUP_CUBLAS, "cublasSgemm_v2"}, {TF_GROUP_HDF5, "H5Dwrite"}, {TF_GROUP_CUDA, "cudaMalloc"},
		{TF_GROUP_CUDA, "cudaFree"}, {TF_GROUP_CUDA, "cudaMemset"}, {TF_GROUP_OPENMP, "omp_parallel"},
	};
	uint16_t f[sizeof(functions) / sizeof(*functions)];
	struct writer w;
	struct writer_thread t, other, cupti;

	writer_init(&w, 0xf1, 400, 90, BEGIN);
	writer_command(&w, "/usr/bin/program", "program\0-x", 11);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		f[i] = writer_function(&w, functions[i].group, functions[i].name);
	writer_thread(&w, &t, 400, "main", 4 * TF_PAGE);
	writer_thread(&w, &other, 401, "other", 2 * TF_PAGE);
	writer_thread(&w, &cupti, 402, "cupti", 4 * TF_PAGE);
	at = BEGIN;
	definitions(&t);
	os_calls(&t, f);
	library_calls(&t, f);
	nvtx(&t, &other);
	device(&cupti);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 30 * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

void capture_arguments(const char *directory)
{
	capture_remove(directory);
	capture_create(directory);
	capture_add_arguments(directory);
}

void capture_together(const char *directory)
{
	capture_example(directory);
	capture_add_job(directory);
	capture_add_arguments(directory);
}
