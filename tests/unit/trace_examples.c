/* SPDX-License-Identifier: Apache-2.0 */
/* Ready-made captures. */
#include <string.h>

#include "trace_writer.h"

#define US 1000ull
#define MS 1000000ull
#define INDEX "node1." WRITER_BOOT ".index"

static void index_lines(const char *directory)
{
	capture_line(directory, INDEX,
		     "launch\trun=77\tpid=90\trealtime_ns=1700000000999000000\thost=node1\tboot=" WRITER_BOOT
		     "\trank=0\tkey=slurm:7:0:1\tscheduler=slurm\tjob=7\ttask=3\trestart=1\tstep=0\tnode=n17\tcommand="
		     "python3\\x00train.py\toptions=-"
		     "t\\x00cuda,osrt\tversion=0.1.0");
	capture_line(directory, INDEX,
		     "process\tnonce=a1\tpid=100\tppid=90\tstart=1100\trun=77\tvia=start\tparent=0\trealtime_ns="
		     "1700000001000000000\tticks=1000000000"
		     "\tclock=1\thost=node1\tboot=" WRITER_BOOT
		     "\texe=/usr/bin/python3\targs=python3\\x00train.py\\x00--name\\x00two\\x20words"
		     "\tvars=RANK=0");
	capture_line(directory, INDEX,
		     "process\tnonce=b2\tpid=101\tppid=100\tstart=1101\trun=77\tvia=fork\tparent=a1\trealtime_ns="
		     "1700000001010000000\tticks=1010000000"
		     "\tclock=1\thost=node1\tboot=" WRITER_BOOT
		     "\texe=/usr/bin/python3\targs=python3\\x00train.py\tvars=RANK=0");
	capture_line(directory, INDEX,
		     "process\tnonce=c3\tpid=102\tppid=100\tstart=1102\trun=77\tvia=start\tparent=0\trealtime_ns="
		     "1700000001020000000\tticks=1020000000"
		     "\tclock=1\thost=node1\tboot=" WRITER_BOOT "\texe=/usr/bin/true\targs=true\tvars=");
	capture_line(directory, INDEX,
		     "end\tnonce=c3\tpid=102\tkind=exit\tstatus=0\trealtime_ns=1700000001021000000\trecorded=0\tshort="
		     "0:3:900,2:1:50\tfunctions=0:read,2:close\tusage=900000:700000:50000:400:1800:2:1");
	capture_line(directory, INDEX, "bare\tpid=103\texe=/usr/bin/busybox\treason=static");
	capture_line(directory, INDEX, "child\tpid=100\tstatus=0\tlauncher=1");
	capture_line(directory, INDEX, "note\tnonce=a1\tpid=100\ttext=something\\x20odd");
	capture_line(directory, INDEX,
		     "clock\tticks=2000000000\tmonotonic_ns=2000000000\trealtime_ns=1700000002000000000\terror_ticks="
		     "30\tclock=1");
}

static void cuda_calls(struct writer_thread *t, const uint16_t *f)
{
	static const struct tf_launch launch = {
		.kernel = 1, .grid = {128, 1, 1}, .block = {256, 1, 1}, .function = 0x4000};

	writer_text(t, TF_BLOB_KERNEL, 1, "_Z6vecAddPKfS0_Pfi");
	writer_blob(t, TF_BLOB_LAUNCH, 1, &launch, sizeof(launch));
	for (uint64_t i = 0; i < 5; i++)
		writer_call(t, f[0], 1100 * MS + i * MS, 5 * US + i * US, (uint64_t[]){tf_arg(TF_ARG_LAUNCH, 0, 1)}, 1);
	writer_call(t, f[1], 1110 * MS, 100 * US, (uint64_t[]){tf_arg(TF_ARG_COPY, 1, 4000000)}, 1);
	writer_call(t, f[1], 1111 * MS, 120 * US, (uint64_t[]){tf_arg(TF_ARG_COPY, 1, 2000000)}, 1);
	writer_call(t, f[1], 1112 * MS, 300 * US, (uint64_t[]){tf_arg(TF_ARG_COPY, 2, 1000000)}, 1);
}

/* Device records of the calls above: the copies are on another stream, out of order. */
static void device_records(struct writer_thread *t)
{
	static const struct tf_device_operation works[] = {
		{.kind = TF_DEVICE_KERNEL,
		 .kernel = 1,
		 .context = 1,
		 .stream = 7,
		 .grid = {128, 1, 1},
		 .block = {256, 1, 1},
		 .registers = 32,
		 .dynamic_shared_bytes = 1024},
		{.kind = TF_DEVICE_COPY, .copy = 1, .source = 1, .target = 3, .context = 1, .stream = 13},
		{.kind = TF_DEVICE_COPY, .copy = 2, .source = 3, .target = 2, .context = 1, .stream = 13},
		{.kind = TF_DEVICE_SET, .target = 3, .context = 1, .stream = 7},
		{.kind = TF_DEVICE_GRAPH, .device = 1, .context = 2, .stream = 9, .graph = 5},
	};
	struct writer_device_record kernels[4],
		others[] = {
			{11, 21, 1110 * MS, 90 * US, 4000000},  {11, 22, 1111 * MS, 50 * US, 2000000},
			{12, 23, 1112 * MS, 100 * US, 1000000}, {13, 20, 1109 * MS, 2 * US, 65536},
			{14, 24, 1113 * MS, 800 * US, 0},
		};
	const struct tf_device_lost lost = {.dropped = 3, .timeless = 1};
	const struct tf_device_flush flush = {1100 * MS};
	static const struct {
		struct tf_device_facts facts;
		struct tf_attribute_value values[6];
	} attributes = {{150ull << 30, "simulated-gpu-00"},
			{{TF_ATTRIBUTE_MAJOR, 9},
			 {TF_ATTRIBUTE_CLOCK, 1980000},
			 {TF_ATTRIBUTE_SM_COUNT, 132},
			 {TF_ATTRIBUTE_MEMORY_CLOCK, 3201000},
			 {TF_ATTRIBUTE_MEMORY_BUS_BITS, 6144},
			 {~0u, -1}}};

	writer_device_source(t, TF_DEVICE_TIME_MONOTONIC, 130001, "/opt/cuda/lib64/libcupti.so.13");
	writer_text(t, TF_BLOB_DEVICE_NAME, 0, "NVIDIA H200");
	writer_blob(t, TF_BLOB_DEVICE_FACTS, 0, &attributes, sizeof(attributes));
	for (uint32_t i = 0; i < 5; i++)
		writer_blob(t, TF_BLOB_DEVICE_OPERATION, 10 + i, &works[i], sizeof(works[i]));
	for (uint32_t i = 0; i < 4; i++)
		kernels[i] =
			(struct writer_device_record){10, 11 + i, 1100 * MS + i * MS + 20 * US, 3 * US + i * i * US, 0};
	writer_device(t, TF_DEVICE_TIME_MONOTONIC, kernels, 4);
	writer_device(t, TF_DEVICE_TIME_MONOTONIC, others, 5);
	writer_blob(t, TF_BLOB_DEVICE_LOST, 0, &lost, sizeof(lost));
	writer_blob(t, TF_BLOB_DEVICE_FLUSH, 0, &flush, sizeof(flush));
}

/* CUPTI's API records of the calls above, except one launch, and its other records. */
static void device_facts(struct writer_thread *t)
{
	static const struct tf_device_operation works[] = {
		{.kind = TF_DEVICE_WAIT, .value = 4, .context = 1},
		{.kind = TF_DEVICE_ALLOCATE, .target = 3, .context = 1},
		{.kind = TF_DEVICE_OVERHEAD, .value = 1 << 16},
		{.kind = TF_DEVICE_MANAGED, .copy = 1},
		{.kind = TF_DEVICE_MANAGED, .copy = 2},
		{.kind = TF_DEVICE_MANAGED, .copy = 3},
		{.kind = TF_DEVICE_MANAGED, .copy = 4},
	};
	static const struct writer_device_record facts[] = {
		{20, 30, 1120 * MS, 40 * US, 0, 0},
		{21, 10, 1099 * MS, 0, 4000000, 0x7f0000000000},
		{22, 0, 1121 * MS, 15 * US, 0, 0},
		{23, 0, 1122 * MS, 100 * US, 2097152, 0x7f1000000000},
		{24, 0, 1123 * MS, 50 * US, 65536, 0x7f1000000000},
		{25, 0, 1123 * MS, 0, 0x401234, 0x7f1000000000},
		{26, 0, 1122 * MS, 10 * US, 3, 0x7f1000010000},
	};
	static const struct tf_device_gap gaps[] = {{1130 * MS, 0, 0}, {1140 * MS, 1, 0}};
	struct writer_device_call calls[7];

	for (uint32_t i = 0; i < 7; i++)
		writer_blob(t, TF_BLOB_DEVICE_OPERATION, 20 + i, &works[i], sizeof(works[i]));
	for (uint32_t i = 0; i < 4; i++)
		calls[i] = (struct writer_device_call){100, 11 + i, 1100 * MS + i * MS - 4 * US, 3 * US, i == 3};
	for (uint32_t i = 0; i < 3; i++)
		calls[4 + i] = (struct writer_device_call){100, 21 + i, 1110 * MS + i * MS - 60 * US, 50 * US, false};
	writer_device_calls(t, TF_DEVICE_TIME_MONOTONIC, calls, 7);
	writer_device_more(t, TF_DEVICE_TIME_MONOTONIC, facts, 7);
	for (int i = 0; i < 2; i++)
		writer_blob(t, TF_BLOB_DEVICE_GAP, 0, &gaps[i], sizeof(gaps[i]));
}

static void os_calls(struct writer_thread *t, uint16_t read, uint16_t usleep)
{
	static const uint64_t stack[] = {0x401234, 0x401300};

	writer_module(t, 0x400000, 0x500000, 0x400000, NULL, 0, "/nonexistent/train");
	writer_blob(t, TF_BLOB_STACK, 1, stack, sizeof(stack));
	writer_descriptor(t, 1, 3, 1201 * MS - 10 * US, TF_DESCRIPTOR_FILE, "/data/train, 1.bin");
	for (uint64_t i = 1; i <= 4; i++)
		writer_call(t, read, 1200 * MS + i * MS, i * 10 * US,
			    (uint64_t[]){tf_arg(TF_ARG_FD, 0, 3 | i * 4096 << 16)}, 1);
	writer_descriptor(t, 2, 3, 1204 * MS - 40 * US, TF_DESCRIPTOR_SOCKET, "tcp 10.0.0.2:5000");
	writer_call(t, usleep, 1300 * MS, 50 * MS, (uint64_t[]){tf_arg(TF_ARG_STACK, 0, 1)}, 1);
}

static void nvtx(struct writer_thread *t)
{
	struct {
		struct tf_nvtx head;
		char name[8];
	} category = {{.kind = TF_NVTX_CATEGORY, .domain = 1, .id = 7}, "\6\0ring<b"};

	writer_text(t, TF_BLOB_DOMAIN, 1, "NCCL");
	writer_blob(t, TF_BLOB_NVTX, 1, &category, sizeof(category));
	writer_text(t, TF_BLOB_STRING, 1, "epoch, \"one\"");
	writer_text(t, TF_BLOB_STRING, 2, "batch \xff\x1b[31m");
	writer_text(t, TF_BLOB_STRING, 3, "all|reduce<b>");
	writer_event(t, TF_PUSH, 0, 1310 * MS, 1);
	for (uint64_t i = 0; i < 3; i++) {
		writer_event(t, TF_PUSH, 0, 1320 * MS + i * 10 * MS, 2);
		writer_event(t, TF_POP, 0, 1325 * MS + i * 11 * MS, 0);
	}
	writer_event(t, TF_RANGE_START, 1, 1360 * MS, 3);
	writer_slot(t, tf_arg(TF_ARG_VALUE, 0, 9));
	writer_event(t, TF_MARK, 0, 1361 * MS, 1);
	writer_event(t, TF_RANGE_END, 1, 1370 * MS, 0);
	writer_slot(t, tf_arg(TF_ARG_VALUE, 0, 9));
	writer_event(t, TF_POP, 0, 1380 * MS, 0);
	writer_event(t, TF_POP, 0, 1381 * MS, 0); /* one too many */
}

/* A large block that is freed, small ones of which one stands for 64 KiB, and frees of what was not recorded. */
static void host_memory(struct writer_thread *t)
{
	static const struct {
		uint32_t kind, id, kb;
		uint64_t address, bytes, stack;
	} events[] = {
		{TF_ALLOCATION, TF_ALLOCATOR_MALLOC, 0, 0x10000, 1000000, 1},
		{TF_ALLOCATION, TF_ALLOCATOR_PYTHON, 64, 0x20000, 48, 1},
		{TF_ALLOCATION, TF_ALLOCATOR_PYTHON, 64, 0x20030, 64, 0},
		{TF_RELEASE, 0, 0, 0x10000, 0, 0},
		{TF_RELEASE, 0, 0, 0x99990, 0, 0},
		{TF_ALLOCATION, TF_ALLOCATOR_MALLOC, 0, 0x20030, 200000, 1},
	};

	for (uint64_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		writer_event(t, events[i].kind, events[i].id, 1350 * MS + i * MS, events[i].kb);
		writer_slot(t, tf_arg(TF_ARG_VALUE, 0, events[i].address));
		if (events[i].kind == TF_ALLOCATION)
			writer_slot(t, tf_arg(TF_ARG_BYTES, 0, events[i].bytes));
		if (events[i].stack)
			writer_slot(t, tf_arg(TF_ARG_STACK, 0, events[i].stack));
	}
}

static void usage(struct writer_thread *t)
{
	struct tf_usage whole = {1599 * MS, 170 * MS, TF_USAGE_UNKNOWN, 0, 65536, 30, 4,
				 .minor_faults = 812, .major_faults = 3, .block_ms = 40};

	tf_usage_set_bytes(whole.read_bytes, 344576);
	writer_usage(t, &(struct tf_usage){1599 * MS, 150 * MS, 20 * MS, 100, 0, 30, 4});
	writer_usage(t, &whole);
}

static void first_process(const char *directory)
{
	struct writer w;
	struct writer_thread t;
	struct tf_child child = {101, 9};
	const struct tf_short_stack shorts[] = {{400, 1, 10, 2}, {600, 1, 10, 2}, {300, 0, 10, 3}};
	/* the last one is no end of a known interval */
	const struct tf_operator_gap gaps[] = {{1400 * MS}, {1425 * MS, 1}, {1590 * MS}, {1100 * MS, 1}};
	uint16_t f[5];

	writer_init(&w, 0xa1, 100, 90, 1000 * MS);
	writer_command(&w, "/usr/bin/python3", "python3\0train.py", 17);
	writer_variables(&w, "RANK=0", 7);
	f[0] = writer_function(&w, TF_GROUP_CUDA, "cudaLaunchKernel");
	f[1] = writer_function(&w, TF_GROUP_CUDA, "cudaMemcpy");
	f[2] = writer_function(&w, TF_GROUP_OSRT, "read");
	f[3] = writer_function(&w, TF_GROUP_OSRT, "usleep");
	f[4] = writer_function(&w, TF_GROUP_OSRT, "waitpid");
	writer_thread(&w, &t, 100, "MainThread", 2 * TF_PAGE);
	cuda_calls(&t, f);
	device_records(&t);
	device_facts(&t);
	os_calls(&t, f[2], f[3]);
	nvtx(&t);
	host_memory(&t);
	writer_call(&t, f[4], 1500 * MS, 90 * MS, NULL, 0);
	writer_blob(&t, TF_BLOB_CHILD, 1, &child, sizeof(child));
	writer_page(&t)->counters[f[2]] = (struct tf_counter){40, 20 * US};
	writer_traffic(&t, f[2], 3, 0, 1202 * MS, (struct tf_counter){30, 15 * US}, 120000);
	for (uint32_t i = 0; i < 3; i++)
		writer_blob(&t, TF_BLOB_SHORT_STACK, t.number, &shorts[i], sizeof(shorts[i]));
	for (uint32_t i = 0; i < 4; i++)
		writer_blob(&t, TF_BLOB_OPERATOR_GAP, i ? i : 1, &gaps[i], sizeof(gaps[i]));
	writer_page(&t)->slow_ticks = 77 * US;
	usage(&t);
	writer_end(&w, TF_END_EXIT, 0, 1600 * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

/* What the launcher sampled of the process that is killed. */
static void samples(const char *directory)
{
	const struct tf_usage_head head = {
		.magic = TF_USAGE_MAGIC, .run = 0x77, .clock = 1, .sample_bytes = 64, .boot = WRITER_BOOT};
	const struct tf_usage_sample list[] = {
		{TF_USAGE_ROUND, 1, 1, 0, 1070 * MS, 0, 0, 0, 0, ""},
		{TF_USAGE_PROCESS, 101, 0, 4096, 1070 * MS, 1101, 30 * MS, TF_USAGE_UNKNOWN, 'S', "worker"},
		{TF_USAGE_THREAD, 101, 101, 0, 1070 * MS, 1101, 28 * MS, 3 * MS, 'S', "worker"},
		{TF_USAGE_THREAD, 101, 150, 0, 1070 * MS, 1101, 2 * MS, 1 * MS, 'S', "helper"},
	};
	char bytes[sizeof(head) + sizeof(list)];

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), list, sizeof(list));
	capture_file(directory, "node1.77.usage", bytes, sizeof(bytes));
}

/* Killed while it waits in read(). */
static void second_process(const char *directory)
{
	struct writer w;
	struct writer_thread t;
	uint16_t read;

	writer_init(&w, 0xb2, 101, 100, 1010 * MS);
	w.header.via = TF_VIA_FORK;
	w.header.parent_nonce = 0xa1;
	writer_command(&w, "/usr/bin/python3", "python3\0train.py", 17);
	writer_variables(&w, "RANK=0", 7);
	read = writer_function(&w, TF_GROUP_OSRT, "read");
	writer_thread(&w, &t, 101, "worker", 2 * TF_PAGE);
	writer_call(&t, read, 1050 * MS, 30 * MS, NULL, 0);
	writer_torn(&t, 2);
	writer_call(&t, read, 1060 * MS, 2 * MS, NULL, 0);
	writer_page(&t)->current = (uint64_t)(read + 1) << TF_CURRENT_SHIFT | 1100 * MS;
	writer_page(&t)->lost = 2;
	writer_save(&w, directory);
	writer_done(&w);
}

void capture_example(const char *directory)
{
	capture_remove(directory);
	capture_create(directory);
	index_lines(directory);
	first_process(directory);
	second_process(directory);
	samples(directory);
}

void capture_code_line(const char *directory, const char *file, const char *function)
{
	const uint32_t codes[] = {1, 2};
	const uint64_t stack = tf_arg(TF_ARG_STACK, 0, 1);
	struct writer w;
	struct writer_thread t;
	uint16_t sleeps;

	capture_remove(directory);
	capture_create(directory);
	writer_init(&w, 0xe5, 100, 90, 1000 * MS);
	writer_command(&w, "/usr/bin/python3", "python3\0job.py", 15);
	sleeps = writer_function(&w, TF_GROUP_OSRT, "usleep");
	writer_thread(&w, &t, 100, "MainThread", 2 * TF_PAGE);
	writer_python_code(&t, 1, 9, file, function);
	writer_python_code(&t, 2, 1, file, "<module>");
	writer_python_stack(&t, 1, codes, 2);
	for (uint64_t i = 1; i <= 100; i++) {
		writer_sample(&t, (1000 + 12 * i) * MS, 10000, 1);
		writer_call(&t, sleeps, (1002 + 12 * i) * MS, 2 * MS, &stack, 1);
	}
	writer_end(&w, TF_END_EXIT, 0, 2210 * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

void capture_hostile(const char *directory)
{
	static const char script[] = "</script><script>alert(2)</script>", command[] = WRITER_HOSTILE " \"&'";
	static const struct tf_launch launch = {.kernel = 1, .grid = {1, 1, 1}, .block = {32, 1, 1}};
	static const struct tf_device_operation work = {
		.kind = TF_DEVICE_KERNEL, .kernel = 1, .context = 1, .stream = 7};
	const struct writer_device_record record = {1, 1, 1001 * MS, 1 * MS, 0};
	struct writer w;
	struct writer_thread t;
	uint16_t f[2];

	capture_remove(directory);
	capture_create(directory);
	writer_init(&w, 0xd4, 100, 90, 1000 * MS);
	writer_command(&w, "/bin/x", command, sizeof(command));
	f[0] = writer_function(&w, TF_GROUP_CUDA, "cudaLaunchKernel");
	f[1] = writer_function(&w, TF_GROUP_OSRT, WRITER_HOSTILE);
	writer_thread(&w, &t, 100, script, 2 * TF_PAGE);
	writer_text(&t, TF_BLOB_KERNEL, 1, WRITER_HOSTILE);
	writer_text(&t, TF_BLOB_STRING, 1, script);
	writer_text(&t, TF_BLOB_STRING, 2, "<!--" WRITER_HOSTILE);
	writer_text(&t, TF_BLOB_DOMAIN, 1, WRITER_HOSTILE);
	writer_blob(&t, TF_BLOB_LAUNCH, 1, &launch, sizeof(launch));
	writer_event(&t, TF_PUSH, 0, 1000 * MS, 1);
	writer_event(&t, TF_PUSH, 1, 1000 * MS, 2);
	writer_call(&t, f[0], 1001 * MS, 1 * MS, (uint64_t[]){tf_arg(TF_ARG_LAUNCH, 0, 1)}, 1);
	writer_call(&t, f[1], 1003 * MS, 1 * MS, NULL, 0);
	writer_event(&t, TF_POP, 1, 1004 * MS, 0);
	writer_event(&t, TF_POP, 0, 1005 * MS, 0);
	writer_device_source(&t, TF_DEVICE_TIME_MONOTONIC, 130001, WRITER_HOSTILE);
	writer_text(&t, TF_BLOB_DEVICE_NAME, 0, script);
	writer_blob(&t, TF_BLOB_DEVICE_OPERATION, 1, &work, sizeof(work));
	writer_device(&t, TF_DEVICE_TIME_MONOTONIC, &record, 1);
	writer_end(&w, TF_END_EXIT, 0, 1006 * MS);
	writer_save(&w, directory);
	writer_done(&w);
}
