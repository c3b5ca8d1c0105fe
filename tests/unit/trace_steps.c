/* SPDX-License-Identifier: Apache-2.0 */
/* Writes runs of one training job that differ by chance and, if wanted, by one kernel: for the comparison of runs. */
#include "trace_writer.h"

#define US 1000ull
#define MS 1000000ull
#define BEGIN (1000 * MS)

enum { CHUNK = 256 * 1024, DRAWS = 12, LINE = 10 };

static uint64_t seed;

/* Of the standard normal distribution, nearly: a sum of uniform numbers. */
static double normal(void)
{
	double sum = -DRAWS / 2;

	for (int i = 0; i < DRAWS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		sum += (double)(seed >> 33) / (double)(1u << 31);
	}
	return sum;
}

/* Around 1; no time is negative. */
static double vary(double deviation)
{
	double factor = 1 + deviation * normal();

	return factor > 0.05 ? factor : 0.05;
}

static void definitions(const struct writer_steps *s, struct writer_thread *host, struct writer_thread *cupti)
{
	writer_device_source(cupti, TF_DEVICE_TIME_MONOTONIC, 130001, "/opt/cuda/lib64/libcupti.so.13");
	writer_text(cupti, TF_BLOB_DEVICE_NAME, 0, "NVIDIA H200");
	writer_text(host, TF_BLOB_STRING, 1, "step");
	for (uint32_t i = 1; i <= s->kernels; i++) {
		struct tf_launch launch = {.kernel = i, .grid = {64 * i, 1, 1}, .block = {128, 1, 1}, .stream = 0x5555};
		struct tf_device_operation work = {.kind = TF_DEVICE_KERNEL, .kernel = i, .context = 1, .stream = 7};
		static const uint64_t native[] = {0x401234};
		char name[64];

		snprintf(name, sizeof(name), "layer%02u_forward%s", i, s->renamed == i ? "_v2" : "");
		writer_text(cupti, TF_BLOB_KERNEL, i, name);
		writer_blob(host, TF_BLOB_LAUNCH, i, &launch, sizeof(launch));
		writer_blob(cupti, TF_BLOB_DEVICE_OPERATION, i, &work, sizeof(work));
		snprintf(name, sizeof(name), "layer%02u", i);
		writer_python_code(host, i, LINE * i, "/home/user/train.py", name);
		writer_blob(host, TF_BLOB_STACK, i, native, sizeof(native));
		writer_python_stack(host, i, &i, 1);
	}
}

void capture_steps(const char *directory, const struct writer_steps *s)
{
	struct writer_device_record record = {0};
	struct writer_device_call called = {.tid = 4000, .duration = 3 * US};
	struct writer w;
	struct writer_thread host, cupti;
	uint64_t now = BEGIN;
	double run, rows[WRITER_KERNELS + 1];
	uint16_t launch;

	seed = s->seed * 0x9e3779b97f4a7c15u + 1;
	normal();
	run = vary(s->run_deviation);
	for (uint32_t i = 1; i <= s->kernels; i++)
		rows[i] = vary(s->row_deviation);
	capture_remove(directory);
	capture_create(directory);
	writer_init(&w, 0xf00d, 4000, 1, BEGIN);
	writer_command(&w, "/usr/bin/python3", "python3\0train.py", 16);
	launch = writer_function(&w, TF_GROUP_CUDA, "cudaLaunchKernel");
	writer_thread(&w, &host, 4000, "main", CHUNK);
	writer_thread(&w, &cupti, 4001, "cupti", CHUNK);
	definitions(s, &host, &cupti);
	for (uint32_t step = 0; step < s->steps; step++) {
		writer_event(&host, TF_PUSH, 0, now, 1);
		for (uint32_t i = 1; i <= s->kernels; i++) {
			uint64_t args[] = {tf_arg(TF_ARG_LAUNCH, 0, i), tf_arg(TF_ARG_STACK, 0, i)};
			double time = (double)(100 * US * (1 + i % 4)) * run * rows[i] * vary(s->step_deviation);

			if (i == s->slower)
				time *= s->factor;
			record = (struct writer_device_record){i, ++called.correlation, now + 10 * US, (uint64_t)time,
							       0};
			called.start = now + 1 * US;
			writer_call(&host, launch, now + 5 * US, 5 * US, args, 2);
			writer_device_calls(&cupti, TF_DEVICE_TIME_MONOTONIC, &called, 1);
			writer_device(&cupti, TF_DEVICE_TIME_MONOTONIC, &record, 1);
			now += 20 * US + record.duration;
		}
		writer_event(&host, TF_POP, 0, now, 0);
		now += 1 * US;
	}
	writer_end(&w, TF_END_EXIT, 0, now + MS);
	writer_save(&w, directory);
	writer_done(&w);
}
