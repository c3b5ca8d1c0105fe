/* SPDX-License-Identifier: Apache-2.0 */
/* Resident memory of processes, as the launcher sampled it: mem_usage_sum and mem_usage_trace. */
#include "captured.h"
#include "reported.h"

#define MS 1000000ull
#define BEGIN (1000 * MS)

static struct report_context context = {.model = &model};

CAPTURED_SUITE(resident);

static struct tf_usage_sample sample(uint32_t pid, uint64_t process_start, uint64_t at_ms, uint32_t kb,
				     const char *name)
{
	struct tf_usage_sample ret = {.kind = TF_USAGE_PROCESS,
				      .pid = pid,
				      .resident_kb = kb,
				      .ticks = BEGIN + at_ms * MS,
				      .process_start = process_start,
				      .state = 'S'};

	snprintf(ret.name, sizeof(ret.name), "%s", name);
	return ret;
}

/* A capture of one process that lives for 900 ms, with these samples. */
static void open_samples(const struct tf_usage_sample *samples, size_t count)
{
	struct {
		struct tf_usage_head head;
		struct tf_usage_sample samples[16];
	} file = {.head = {.magic = TF_USAGE_MAGIC,
			   .run = 0x77,
			   .clock = 1,
			   .sample_bytes = sizeof(struct tf_usage_sample),
			   .boot = WRITER_BOOT}};
	struct writer_thread t;
	struct writer w;

	writer_init(&w, 1, 10, 1, BEGIN);
	writer_thread(&w, &t, 10, "main", 4 * TF_PAGE);
	writer_event(&t, TF_MARK, 0, BEGIN + MS, 0);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 900 * MS);
	writer_save(&w, directory);
	writer_done(&w);
	memcpy(file.samples, samples, count * sizeof(*samples));
	capture_file(directory, "node1.77.usage", &file, sizeof(file.head) + count * sizeof(*samples));
	open_capture(&model, directory);
}

/* The process 11 ends, and another one gets its PID. One that is ending has no memory any more. A thread has none. */
static void open_processes(void)
{
	struct tf_usage_sample samples[] = {
		sample(11, 1100, 100, 3000, "b"), sample(10, 1000, 100, 1000, "a"), sample(10, 1000, 200, 5000, "a"),
		sample(10, 1000, 300, 5000, "a"), sample(10, 1000, 400, 2000, "a"), sample(10, 1000, 500, 0, "a"),
		sample(11, 1100, 200, 1000, "b"), sample(11, 1300, 400, 700, "c"),  sample(10, 1000, 450, 9000, "x"),
	};

	samples[8].kind = TF_USAGE_THREAD;
	open_samples(samples, sizeof(samples) / sizeof(*samples));
}

/* The peak is the first of two equal ones. */
Test(resident, first_peak_and_last_of_each_process)
{
	open_processes();
	EXPECT_REPORT(&context, "mem_usage_sum",
		      "PID,Host,Samples,First (MB),Peak (MB),Peak At (ns),Last (MB),Growth (MB),Name\n"
		      "10,node1,4,1.024000,5.120000,200000000,2.048000,1.024000,a\n"
		      "11,node1,2,3.072000,3.072000,100000000,1.024000,-2.048000,b\n"
		      "11,node1,1,0.716800,0.716800,400000000,0.716800,0.000000,c\n");
}

Test(resident, each_sample_by_process_and_time)
{
	open_processes();
	EXPECT_REPORT(&context, "mem_usage_trace",
		      "Time (ns),PID,Host,Resident (MB),Name\n"
		      "100000000,10,node1,1.024000,a\n"
		      "200000000,10,node1,5.120000,a\n"
		      "300000000,10,node1,5.120000,a\n"
		      "400000000,10,node1,2.048000,a\n"
		      "100000000,11,node1,3.072000,b\n"
		      "200000000,11,node1,1.024000,b\n"
		      "400000000,11,node1,0.716800,c\n");
}

Test(resident, without_samples_the_reason_is_told)
{
	struct tf_usage_sample none = sample(10, 1000, 500, 0, "a");

	open_samples(&none, 1);
	EXPECT_REPORT(&context, "mem_usage_sum",
		      "no sample of a process's memory: the run lasted less than a second, or was not started by "
		      "pillion\n");
}
