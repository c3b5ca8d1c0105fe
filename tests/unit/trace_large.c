/* SPDX-License-Identifier: Apache-2.0 */
/* Writes captures with any number of calls or of events of another kind, for tests and benchmarks at scale. Durations
 * and pauses are pseudorandom, so that the captures compress no better than real ones. */
#include <string.h>

#include "trace_writer.h"

#define US 1000ull
#define MS 1000000ull
#define BEGIN (1000 * MS)

enum { CHUNK = 256 * 1024, TEXTS = 16, STACKS = 500, DEPTH = 24, MESSAGES = 64, KERNELS = 40, BATCH = 64 };

static uint64_t seed;

/* Returns the high bits of a linear congruential generator. */
static uint64_t draw(uint64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % below;
}

/* ---- calls of several processes ---- */

static void large_process(const char *directory, uint32_t number, uint64_t calls, uint32_t threads)
{
	static const char *const names[8] = {"read",      "write", "poll", "futex",
					     "nanosleep", "recv",  "send", "pthread_mutex_lock"};
	struct writer w;
	uint64_t last = 0;
	uint16_t ids[8];
	uint32_t pid = 4000 + number * 1000;

	writer_init(&w, 0xbeef + number, pid, 1, BEGIN);
	writer_command(&w, "/bin/large", "large", 6);
	for (size_t i = 0; i < 8; i++)
		ids[i] = writer_function(&w, TF_GROUP_OSRT, names[i]);
	for (uint32_t k = 0; k < threads; k++) {
		struct writer_thread t;
		uint64_t now = BEGIN + k * 17;

		writer_thread(&w, &t, pid + k, "worker", CHUNK);
		for (uint64_t i = 0; i < calls / threads; i++) {
			now += 100 + draw(16384);
			writer_call(&t, ids[draw(8)], now, 1000 + draw(65536), NULL, 0);
		}
		last = now > last ? now : last;
	}
	writer_end(&w, TF_END_EXIT, 0, last + MS);
	writer_save(&w, directory);
	writer_done(&w);
}

void capture_large(const char *directory, uint64_t calls, uint32_t threads, uint32_t processes)
{
	seed = 42;
	capture_remove(directory);
	capture_create(directory);
	for (uint32_t i = 0; i < processes; i++)
		large_process(directory, i, calls / processes, threads);
}

/* ---- many of one kind ---- */

struct kind_writer {
	struct writer w;
	struct writer_thread host, cupti;
	uint16_t functions[4];
	uint64_t now;
	struct writer_device_record records[BATCH];
	struct writer_device_call calls[BATCH];
	uint32_t correlation;
	size_t batch;
};

static void stack_definitions(struct writer_thread *t)
{
	writer_module(t, 0x400000, 0x900000, 0x400000, NULL, 0, "/nonexistent/large");
	for (uint32_t i = 0; i < STACKS; i++) {
		uint64_t stack[DEPTH];

		for (size_t k = 0; k < DEPTH; k++)
			stack[k] = 0x400000 + draw(k < 8 ? 0x500000 : 0x1000); /* outer frames are often the same */
		writer_blob(t, TF_BLOB_STACK, i + 1, stack, sizeof(stack));
	}
}

static void nvtx_begin(struct kind_writer *k)
{
	for (uint32_t i = 0; i < TEXTS; i++) {
		char text[32];

		snprintf(text, sizeof(text), "step %u of the model", i);
		writer_text(&k->host, TF_BLOB_STRING, i + 1, text);
	}
}

static void nvtx_event(struct kind_writer *k, uint64_t number)
{
	static const enum tf_kind turns[] = {TF_PUSH, TF_PUSH, TF_POP, TF_MARK, TF_POP};
	enum tf_kind kind = turns[number % 5];

	k->now += 200 + draw(30000);
	writer_event(&k->host, kind, 0, k->now, kind == TF_POP ? 0 : 1 + draw(TEXTS));
}

static void mpi_begin(struct kind_writer *k)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		struct tf_operation op = {.count = 5,
					  .fields = {TF_FIELD_COUNT, TF_FIELD_ELEMENT, TF_FIELD_PEER, TF_FIELD_TAG,
						     TF_FIELD_COMMUNICATOR},
					  .values = {(int64_t)(1 + draw(100000)), 8, (int64_t)draw(16),
						     (int64_t)draw(100), 0x44000000}};

		writer_blob(&k->host, TF_BLOB_OPERATION, i + 1, &op,
			    sizeof(op) - (TF_OPERATION_FIELDS - op.count) * sizeof(op.values[0]));
	}
}

static void mpi_event(struct kind_writer *k, uint64_t number)
{
	uint64_t operation = tf_arg(TF_ARG_OPERATION, 0, 1 + draw(MESSAGES)), duration = 500 + draw(50000);

	k->now += duration + 100 + draw(20000);
	writer_call(&k->host, k->functions[number % 4], k->now, duration, &operation, 1);
}

static void file_event(struct kind_writer *k, uint64_t number)
{
	uint64_t bytes = draw(8) ? 4096 : draw(65536), duration = 1000 + draw(30000);
	uint64_t args[] = {tf_arg(TF_ARG_FD, 0, (3 + draw(20)) | bytes << 16),
			   tf_arg(TF_ARG_STACK, 0, 1 + draw(STACKS))};

	k->now += duration + 100 + draw(20000);
	writer_call(&k->host, k->functions[number % 2], k->now, duration, args, duration > 25000 ? 2 : 1);
}

static void sample_event(struct kind_writer *k, uint64_t number)
{
	(void)number;
	k->now += 1 * MS + draw(20000);
	writer_event(&k->host, TF_SAMPLE, 0, k->now, 990 + draw(40));
	writer_slot(&k->host, tf_arg(TF_ARG_STACK, 0, 1 + draw(STACKS)));
}

static void launch_begin(struct kind_writer *k)
{
	writer_device_source(&k->cupti, TF_DEVICE_TIME_MONOTONIC, 130001, "/opt/cuda/lib64/libcupti.so.13");
	writer_text(&k->cupti, TF_BLOB_DEVICE_NAME, 0, "NVIDIA H200");
	for (uint32_t i = 1; i <= KERNELS; i++) {
		struct tf_launch launch = {.kernel = i, .grid = {64 * i, 1, 1}, .block = {128, 1, 1}, .stream = 0x5555};
		struct tf_device_operation work = {.kind = TF_DEVICE_KERNEL,
				       .kernel = i,
				       .context = 1,
				       .stream = 7,
				       .grid = {64 * i, 1, 1},
				       .block = {128, 1, 1}};
		char name[32];

		snprintf(name, sizeof(name), "_Z8kernel%02uPf", i);
		writer_text(&k->cupti, TF_BLOB_KERNEL, i, name);
		writer_blob(&k->host, TF_BLOB_LAUNCH, i, &launch, sizeof(launch));
		writer_blob(&k->cupti, TF_BLOB_DEVICE_OPERATION, i, &work, sizeof(work));
	}
}

static void launch_batch(struct kind_writer *k)
{
	if (!k->batch)
		return;
	writer_device_calls(&k->cupti, TF_DEVICE_TIME_MONOTONIC, k->calls, k->batch);
	writer_device(&k->cupti, TF_DEVICE_TIME_MONOTONIC, k->records, k->batch);
	k->batch = 0;
}

/* A third of the events are launches, a third their kernels, and a third CUPTI's API records. */
static void launch_event(struct kind_writer *k, uint64_t number)
{
	/* Each caller always launches the same kernel. */
	uint64_t duration = 3000 + draw(4000), stack = 1 + draw(STACKS), kernel = 1 + stack % KERNELS;
	uint64_t args[] = {tf_arg(TF_ARG_LAUNCH, 0, kernel), tf_arg(TF_ARG_STACK, 0, stack)};

	if (number % 3)
		return;
	k->now += duration + 1000 + draw(10000);
	writer_call(&k->host, k->functions[0], k->now, duration, args, 2);
	k->correlation += 1 + (uint32_t)draw(3);
	k->calls[k->batch] = (struct writer_device_call){k->w.header.pid, k->correlation, k->now - duration + 300,
							 duration - 600, false};
	k->records[k->batch] = (struct writer_device_record){.work = (uint32_t)kernel,
							     .correlation = k->correlation,
							     .start = k->now + 2000 + draw(500),
							     .duration = 2000 + kernel * 100 + draw(300)};
	if (++k->batch == BATCH)
		launch_batch(k);
}

static void metadata_event(struct kind_writer *k, uint64_t number)
{
	uint64_t duration = 3000 + draw(4000), stack = tf_arg(TF_ARG_STACK, 0, 1 + draw(STACKS));

	k->now += duration + 1000 + draw(10000);
	writer_call(&k->host, k->functions[number % 4], k->now, duration, &stack, 1);
}

static void stacks_begin(struct kind_writer *k)
{
	stack_definitions(&k->host);
}

static void launches_begin(struct kind_writer *k)
{
	stack_definitions(&k->host);
	launch_begin(k);
}

static const struct kind {
	const char *name;
	enum tf_group group;
	const char *functions[4];
	void (*begin)(struct kind_writer *k);
	void (*event)(struct kind_writer *k, uint64_t number);
} kinds[] = {
	{"nvtx", TF_GROUP_OSRT, {"read", "read", "read", "read"}, nvtx_begin, nvtx_event},
	{"mpi", TF_GROUP_MPI, {"MPI_Isend", "MPI_Irecv", "MPI_Wait", "MPI_Allreduce"}, mpi_begin, mpi_event},
	{"files", TF_GROUP_OSRT, {"read", "write", "lseek", "fsync"}, stacks_begin, file_event},
	{"metadata", TF_GROUP_OSRT, {"open", "stat", "rename", "mkdir"}, stacks_begin, metadata_event},
	{"samples", TF_GROUP_OSRT, {"read", "write", "lseek", "fsync"}, stacks_begin, sample_event},
	{"launches",
	 TF_GROUP_CUDA,
	 {"cudaLaunchKernel", "cudaMalloc", "cudaFree", "cudaMemcpy"},
	 launches_begin,
	 launch_event},
};

bool capture_kind(const char *directory, const char *name, uint64_t events)
{
	const struct kind *kind = kinds;
	struct kind_writer k = {.now = BEGIN};

	while (kind < kinds + sizeof(kinds) / sizeof(*kinds) && strcmp(kind->name, name) != 0)
		kind++;
	if (kind == kinds + sizeof(kinds) / sizeof(*kinds))
		return false;
	seed = 42;
	capture_remove(directory);
	capture_create(directory);
	writer_init(&k.w, 0xf00d, 4000, 1, BEGIN);
	writer_command(&k.w, "/bin/large", "large", 6);
	for (size_t i = 0; i < 4; i++)
		k.functions[i] = writer_function(&k.w, kind->group, kind->functions[i]);
	writer_thread(&k.w, &k.host, 4000, "worker", CHUNK);
	writer_thread(&k.w, &k.cupti, 4001, "cupti", CHUNK);
	kind->begin(&k);
	for (uint64_t i = 0; i < events; i++)
		kind->event(&k, i);
	launch_batch(&k);
	writer_end(&k.w, TF_END_EXIT, 0, k.now + MS);
	writer_save(&k.w, directory);
	writer_done(&k.w);
	return true;
}
