/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <unistd.h>

#include "report/time/cpu_limit.h"
#include "rule_fixture.h"

TestSuite(rule_cpu, .init = setup, .fini = teardown);

/* ---- CPUs that threads wait for ---- */

/* A process of 1000 ms whose `threads` threads had a CPU for `cpu` ms each and waited for one for `delay` ms, and
 * the launcher's record of the CPUs that it may use. */
struct contention {
	uint32_t threads, cpus, online;
	uint64_t cpu, delay, quota_ns;
};

static void contend(struct contention c)
{
	char directory[] = "/tmp/pillion-rule.XXXXXX";
	const struct tf_usage_head head = {
		.magic = TF_USAGE_MAGIC, .run = 0x77, .clock = 1, .sample_bytes = 64, .boot = WRITER_BOOT};
	const struct tf_usage_cpus limit = {.kind = TF_USAGE_CPUS,
					    .cpus = c.cpus,
					    .ticks = BEGIN,
					    .quota_ns = c.quota_ns ? c.quota_ns : TF_USAGE_UNKNOWN,
					    .throttled_ns = TF_USAGE_UNKNOWN,
					    .mask = 1,
					    .online = c.online};
	char bytes[sizeof(head) + sizeof(limit)];

	cr_assert_not_null(mkdtemp(directory));
	rmdir(directory);
	capture_create(directory);
	for (uint32_t i = 0; i < c.threads; i++) {
		struct writer_thread t;

		writer_thread(&w, &t, 100 + i, "busy", 2 * TF_PAGE);
		writer_event(&t, TF_MARK, 0, BEGIN, 0);
		writer_usage(&t, &(struct tf_usage){BEGIN + 1000 * MS, c.cpu * MS, c.delay * MS, 100 + i, 0, 9, 9});
	}
	writer_usage(&host, &(struct tf_usage){BEGIN + 1000 * MS, 0, 0, 10, 0, 1, 1});
	writer_usage(&host,
		     &(struct tf_usage){BEGIN + 1000 * MS, c.cpu * c.threads * MS, TF_USAGE_UNKNOWN, 0, 9, 1, 1});
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 1000 * MS);
	writer_save(&w, directory);
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), &limit, sizeof(limit));
	if (c.cpus)
		capture_file(directory, "node1.77.usage", bytes, sizeof(bytes));
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	capture_remove(directory);
}

#define CONTEND(...) contend((struct contention){__VA_ARGS__})

Test(rule_cpu, eight_threads_on_two_cpus)
{
	CONTEND(.threads = 8, .cpus = 2, .online = 2, .cpu = 250, .delay = 740);
	assert_verdict("cpu_oversubscribed", VERDICT_FOUND);
	assert_verdict("cpu_starved", VERDICT_CLEAN);
	cr_expect_eq(number("cpu_oversubscribed", "CPU (ns)", 0), 2000 * MS);
	assert_words("cpu_oversubscribed",
		     "too few CPUs (2 for 8 runnable threads): the 8 busy threads had a CPU 25 % of the time");
}

Test(rule_cpu, as_many_threads_as_cpus)
{
	CONTEND(.threads = 2, .cpus = 2, .online = 2, .cpu = 980, .delay = 10);
	assert_verdict("cpu_oversubscribed", VERDICT_CLEAN);
	assert_verdict("cpu_starved", VERDICT_CLEAN);
}

/* Twice as many as CPUs are usual: make -j4, pools of processes. */
Test(rule_cpu, twice_as_many_threads_as_cpus)
{
	CONTEND(.threads = 4, .cpus = 2, .online = 2, .cpu = 500, .delay = 490);
	assert_verdict("cpu_oversubscribed", VERDICT_CLEAN);
	assert_verdict("cpu_starved", VERDICT_CLEAN);
}

Test(rule_cpu, other_programs_hold_the_cpus)
{
	CONTEND(.threads = 2, .cpus = 2, .online = 2, .cpu = 300, .delay = 690);
	assert_verdict("cpu_starved", VERDICT_FOUND);
	assert_verdict("cpu_oversubscribed", VERDICT_CLEAN);
}

Test(rule_cpu, an_affinity_mask_that_leaves_one_cpu)
{
	CONTEND(.threads = 2, .cpus = 1, .online = 16, .cpu = 500, .delay = 490);
	assert_verdict("cpu_oversubscribed", VERDICT_FOUND);
	assert_verdict("cpu_starved", VERDICT_CLEAN);
	assert_words("cpu_oversubscribed", "too few CPUs (1 of 16 by the affinity mask): ");
}

Test(rule_cpu, a_quota_of_half_a_cpu)
{
	CONTEND(.threads = 1, .cpus = 16, .online = 16, .cpu = 500, .delay = 490, .quota_ns = 500 * MS);
	assert_verdict("cpu_oversubscribed", VERDICT_FOUND);
	assert_words("cpu_oversubscribed", "too few CPUs (0.50 by the quota of the cgroup): ");
}

Test(rule_cpu, cpus_that_were_not_recorded)
{
	CONTEND(.threads = 8, .cpu = 250, .delay = 740);
	assert_verdict("cpu_oversubscribed", VERDICT_UNCHECKED);
	assert_verdict("cpu_starved", VERDICT_UNCHECKED);
}

/* ---- the records of CPUs ---- */

#define NONE TF_USAGE_UNKNOWN

/* The last record of a thread holds; how long its quota held it back is the sum of what grew between two records. */
Test(cpu_limit, is_that_of_the_thread_else_of_its_process_else_of_its_launcher)
{
	static const struct tf_usage_cpus records[] = {
		{.cpus = 16, .online = 16, .quota_ns = NONE, .throttled_ns = NONE, .mask = 9},
		{.pid = 10, .cpus = 4, .ticks = 10, .process_start = 100, .quota_ns = 2000000000, .throttled_ns = 100},
		{.pid = 10, .cpus = 3, .ticks = 30, .process_start = 100, .quota_ns = 2000000000, .throttled_ns = 400,
		 .mask = 5},
		{.pid = 10, .cpus = 4, .ticks = 20, .process_start = 100, .quota_ns = 2000000000, .throttled_ns = 300},
		{.pid = 10, .tid = 11, .cpus = 1, .process_start = 100, .quota_ns = NONE, .throttled_ns = NONE,
		 .mask = 1},
		{.pid = 12, .cpus = 2, .ticks = 1, .quota_ns = 500000000, .throttled_ns = 500},
		{.pid = 12, .cpus = 2, .ticks = 2, .quota_ns = 500000000, .throttled_ns = 200},
		{.pid = 12, .cpus = 2, .ticks = 3, .quota_ns = 500000000, .throttled_ns = 250},
		{.pid = 13, .cpus = 2, .ticks = 1, .quota_ns = NONE, .throttled_ns = 100},
		{.pid = 13, .cpus = 2, .ticks = 2, .quota_ns = 3000000000, .throttled_ns = 400},
		{.pid = 14, .cpus = 2, .ticks = 1, .quota_ns = 2000000000, .throttled_ns = 100},
		{.pid = 14, .cpus = 2, .ticks = 2, .quota_ns = 2000000000, .throttled_ns = NONE},
	};
	static const struct {
		struct cpu_thread thread;
		uint32_t cpus;
		uint64_t mask, throttled_ns;
		double width;
	} cases[] = {
		{{0, 7, 10, 10, 100}, 3, 5, 300, 2}, {{0, 7, 10, 11, 100}, 1, 1, 300, 1},
		{{0, 7, 10, 0, 100}, 3, 5, 300, 2},  {{0, 7, 10, 10, 101}, 16, 9, 0, 16},
		{{0, 7, 10, 11, 101}, 16, 9, 0, 16}, {{0, 8, 10, 10, 101}, 0, 0, 0, 0},
		{{1, 7, 10, 10, 100}, 0, 0, 0, 0},   {{0, 7, 12, 12, 0}, 2, 0, 50, 0.5},
		{{0, 7, 13, 13, 0}, 2, 0, 0, 2},     {{0, 7, 14, 14, 0}, 2, 0, 0, 2},
	};
	enum { COUNT = sizeof(records) / sizeof(*records) };
	struct tf_usage_sample items[COUNT + 1] = {{.kind = TF_USAGE_THREAD, .pid = 10, .process_start = 100}};
	struct usage_samples samples = {.machine = 0, .run = 7, .items = items, .count = COUNT + 1};
	struct machine machines[2] = {{.is_this = false}};
	const struct model m = {.machines = machines, .machine_count = 2, .usages = &samples, .usage_count = 1};
	struct cpu_limits *limits;

	for (size_t i = 0; i < COUNT; i++) {
		struct tf_usage_cpus c = records[i];

		c.kind = TF_USAGE_CPUS;
		memcpy(&items[i + 1], &c, sizeof(c));
	}
	limits = cpu_limits_new(&m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cpu_limit l = cpu_limits_of(limits, &cases[i].thread);

		cr_expect_eq(l.cpus, cases[i].cpus, "case %zu: %u", i, l.cpus);
		cr_expect_eq(l.mask, cases[i].mask, "case %zu", i);
		cr_expect_eq(l.throttled_ns, cases[i].throttled_ns, "case %zu", i);
		cr_expect_float_eq(cpu_limit_width(&l), cases[i].width, 1e-12, "case %zu", i);
	}
	machines[1].is_this = true;
	cr_expect_eq(cpu_limits_of(limits, &cases[6].thread).cpus, sysconf(_SC_NPROCESSORS_ONLN));
	cpu_limits_free(limits);
}

/* ---- OS calls ---- */

static void flushes(uint64_t count, uint64_t each)
{
	for (uint64_t i = 0; i < count; i++)
		call(f_fsync, i * 5 * MS, each, 0);
	open_model(100 * MS);
}

Test(rule_cpu, flushes_that_take_a_share_of_the_time)
{
	flushes(10, 2 * MS);
	assert_verdict("file_flush", VERDICT_FOUND);
	cr_expect_eq(number("file_flush", "Num Calls", 0), 10);
	cr_expect_eq(number("file_flush", "Total Time (ns)", 0), 20 * MS);
}

Test(rule_cpu, flushes_that_cost_little)
{
	flushes(10, 100 * US);
	assert_verdict("file_flush", VERDICT_CLEAN);
}

Test(rule_cpu, two_flushes_are_the_end_of_a_file)
{
	flushes(2, 5 * MS);
	assert_verdict("file_flush", VERDICT_CLEAN);
}

static void reads(uint64_t count, uint64_t bytes, uint64_t each)
{
	for (uint64_t i = 0; i < count; i++)
		call(f_read, i * 10 * US, each, tf_arg(TF_ARG_FD, 0, bytes << 16 | 3));
	open_model(100 * MS);
}

Test(rule_cpu, many_small_reads)
{
	reads(6000, 16, 2 * US);
	assert_verdict("small_io", VERDICT_FOUND);
	cr_expect_eq(number("small_io", "Num Calls", 0), 6000);
}

Test(rule_cpu, small_reads_below_the_threshold)
{
	struct writer_thread t;

	writer_thread_first(&w, &t, 12, 1, 4 * TF_PAGE);
	writer_counter(&t, f_read, 0, (struct tf_counter){50000, 20 * MS});
	call(f_read, 0, US, tf_arg(TF_ARG_FD, 0, 16 << 16 | 3));
	open_model(100 * MS);
	assert_verdict("small_io", VERDICT_FOUND);
	cr_expect_eq(number("small_io", "Num Calls", 0), 50001);
}

Test(rule_cpu, many_large_reads)
{
	reads(6000, 65536, 2 * US);
	assert_verdict("small_io", VERDICT_CLEAN);
}

Test(rule_cpu, few_small_reads)
{
	reads(400, 16, 9 * US);
	assert_verdict("small_io", VERDICT_CLEAN);
}

/* It gets what the other end has written, whatever it asks for. */
Test(rule_cpu, small_reads_that_wait_for_the_other_end_of_a_pipe)
{
	writer_descriptor(&host, 1, 3, BEGIN, TF_DESCRIPTOR_OTHER, "pipe:[1]");
	reads(6000, 16, 25 * US);
	assert_verdict("small_io", VERDICT_CLEAN);
}

Test(rule_cpu, small_reads_of_what_a_pipe_has)
{
	writer_descriptor(&host, 1, 3, BEGIN, TF_DESCRIPTOR_OTHER, "pipe:[1]");
	reads(6000, 16, 2 * US);
	assert_verdict("small_io", VERDICT_FOUND);
}

/* Calls that are too short for a stack have the line of the samples in them: most are in other code. */
Test(rule_cpu, small_reads_have_the_line_of_their_samples)
{
	const uint32_t at[] = {1}, other[] = {2};
	const uint64_t computes[] = {0x1010};
	struct finding f;

	writer_module(&host, 0x1000, 0x2000, 0, NULL, 0, "/usr/lib/libcomputes.so");
	writer_python_code(&host, 1, 7, "/home/u/job.py", "read_all");
	writer_python_code(&host, 2, 9, "/home/u/job.py", "compute");
	writer_python_stack(&host, 1, at, 1);
	writer_blob(&host, TF_BLOB_STACK, 2, computes, sizeof(computes));
	writer_python_stack(&host, 2, other, 1);
	for (uint64_t i = 0; i < 6; i++)
		writer_sample(&host, BEGIN + (i + 1) * 10 * MS, 10000, i < 2 ? 1 : 2);
	reads(6000, 16, 2 * US);
	rule_run(&rules, rule_find("small_io"), &f);
	cr_assert_not_null(f.line);
	cr_expect_eq(f.line->line, 7);
	finding_done(&f);
}

/* Threads that each wait for a lock for most of the time, with this stack. */
static void waits_in(uint32_t threads, uint64_t waits, unsigned int function, uint32_t stack)
{
	const uint64_t args[] = {tf_arg(TF_ARG_STACK, 0, stack)};

	for (uint32_t i = 0; i < threads; i++) {
		struct writer_thread t;

		writer_thread(&w, &t, 100 + i, "worker", 16 * TF_PAGE);
		for (uint64_t k = 0; k < waits; k++)
			writer_call(&t, function, BEGIN + (k + 1) * MS, 900 * US, args, stack != 0);
	}
	open_model(100 * MS);
}

static void lock_waits(uint32_t threads, uint64_t waits)
{
	waits_in(threads, waits, f_lock, 0);
}

/* In Python: each wait is in `inner`, which the user's code has called, or in that code itself. */
static void python_waits(const char *inner)
{
	const uint32_t stack[] = {1, 2};

	if (inner)
		writer_python_code(&host, 1, 359, inner, "Condition.wait");
	writer_python_code(&host, 2, 23, "/home/u/ask.py", "work");
	writer_python_stack(&host, 1, inner ? stack : stack + 1, inner ? 2 : 1);
	waits_in(4, 50, f_futex, 1); /* of the class of sem_wait() */
}

Test(rule_cpu, threads_that_wait_for_a_lock_of_python)
{
	struct finding f;

	python_waits(NULL);
	rule_run(&rules, rule_find("lock_convoy"), &f);
	cr_expect_eq(f.verdict, VERDICT_FOUND);
	cr_assert_not_null(f.line);
	cr_expect_eq(f.line->line, 23);
	finding_done(&f);
}

Test(rule_cpu, threads_of_python_that_wait_for_each_other_wait_for_no_lock)
{
	python_waits("/usr/lib/python3.11/threading.py");
	assert_verdict("lock_convoy", VERDICT_CLEAN);
}

Test(rule_cpu, threads_that_wait_for_a_lock)
{
	struct finding f;

	lock_waits(4, 50);
	assert_verdict("lock_convoy", VERDICT_FOUND);
	rule_run(&rules, rule_find("lock_convoy"), &f);
	cr_expect_eq(f.cost_ns, 45 * MS, "the mean of the threads");
	finding_done(&f);
}

Test(rule_cpu, a_lock_of_one_thread_is_no_convoy)
{
	lock_waits(1, 50);
	assert_verdict("lock_convoy", VERDICT_CLEAN);
}

Test(rule_cpu, locks_that_are_seldom_taken)
{
	lock_waits(4, 2);
	assert_verdict("lock_convoy", VERDICT_CLEAN);
}

/* ---- processes ---- */

/* A process that starts `count` others, one after the other, each of `cpu` ms of CPU time. */
static void starts(size_t count, uint64_t cpu)
{
	char directory[] = "/tmp/pillion-rule.XXXXXX";

	cr_assert_not_null(mkdtemp(directory));
	rmdir(directory);
	capture_create(directory);
	writer_event(&host, TF_MARK, 0, BEGIN, 0);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 1000 * MS);
	writer_save(&w, directory);
	for (size_t i = 0; i < count; i++) {
		uint64_t at = BEGIN + (i + 1) * 9 * MS, end = at + 8 * MS;

		writer_done(&w);
		writer_init(&w, 100 + i, 100 + (uint32_t)i, 10, at);
		writer_thread(&w, &host, 100 + (uint32_t)i, "cut", 2 * TF_PAGE);
		writer_event(&host, TF_MARK, 0, at, 0);
		writer_usage(&host, &(struct tf_usage){end, cpu * MS, TF_USAGE_UNKNOWN, 0, 9, 1, 1});
		writer_end(&w, TF_END_EXIT, 0, end);
		writer_save(&w, directory);
	}
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	capture_remove(directory);
}

Test(rule_cpu, many_short_processes)
{
	struct finding f;

	starts(100, 1);
	assert_verdict("short_processes", VERDICT_FOUND);
	rule_run(&rules, rule_find("short_processes"), &f);
	cr_expect_eq(f.cost_ns, 800 * MS, "the time in which one of them existed");
	finding_done(&f);
}

Test(rule_cpu, processes_that_compute)
{
	starts(100, 30);
	assert_verdict("short_processes", VERDICT_CLEAN);
}

Test(rule_cpu, few_processes)
{
	starts(20, 1);
	assert_verdict("short_processes", VERDICT_CLEAN);
}

/* ---- memory ---- */

/* A process of 10 s whose memory is kb[i] KiB i seconds after its start. */
static void resident(const uint32_t *kb, size_t count)
{
	char directory[] = "/tmp/pillion-rule.XXXXXX";
	struct {
		struct tf_usage_head head;
		struct tf_usage_sample samples[16];
	} file = {{.magic = TF_USAGE_MAGIC, .run = 0x77, .clock = 1, .sample_bytes = 64, .boot = WRITER_BOOT}};

	cr_assert_not_null(mkdtemp(directory));
	rmdir(directory);
	capture_create(directory);
	writer_event(&host, TF_MARK, 0, BEGIN, 0);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 10000 * MS);
	writer_save(&w, directory);
	for (size_t i = 0; i < count; i++)
		file.samples[i] = (struct tf_usage_sample){.kind = TF_USAGE_PROCESS,
							   .pid = 10,
							   .resident_kb = kb[i],
							   .ticks = BEGIN + i * 1000 * MS,
							   .process_start = 1010,
							   .state = 'R'};
	capture_file(directory, "node1.77.usage", &file, sizeof(file.head) + count * sizeof(*file.samples));
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	capture_remove(directory);
}

#define RESIDENT(...) \
	resident((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

Test(rule_cpu, memory_that_grows_steadily)
{
	RESIDENT(50000, 100000, 200000, 300000, 400000, 500000, 600000, 700000, 800000, 900000);
	assert_verdict("memory_growth", VERDICT_FOUND);
	cr_expect_eq(number("memory_growth", "PID", 0), 10);
	assert_words("memory_growth", "the memory of process 10 grows steadily by 1");
}

Test(rule_cpu, memory_that_grows_until_the_process_ends)
{
	RESIDENT(180000, 550000, 1580000, 2650000, 3810000, 4630000, 0);
	assert_verdict("memory_growth", VERDICT_FOUND);
}

Test(rule_cpu, memory_that_grows_until_it_is_freed_at_the_end)
{
	RESIDENT(180000, 550000, 1580000, 2650000, 3810000, 4630000, 1200000);
	assert_verdict("memory_growth", VERDICT_FOUND);
}

Test(rule_cpu, few_samples_of_memory_must_differ_much)
{
	RESIDENT(150000, 350000, 450000, 550000, 700000, 850000);
	assert_verdict("memory_growth", VERDICT_CLEAN);
	teardown();
	setup();
	RESIDENT(150000, 350000, 1250000, 2150000, 3050000, 3950000);
	assert_verdict("memory_growth", VERDICT_FOUND);
}

/* However much it is: a start may take as long. */
Test(rule_cpu, too_few_samples_of_memory_for_a_steady_state)
{
	RESIDENT(150000, 1350000, 2250000, 3150000, 4150000);
	assert_verdict("memory_growth", VERDICT_UNCHECKED);
}

Test(rule_cpu, memory_of_a_framework_that_starts)
{
	RESIDENT(200000, 349000, 540000, 730000, 929000, 1120000);
	assert_verdict("memory_growth", VERDICT_CLEAN);
}

Test(rule_cpu, memory_that_is_allocated_at_the_start)
{
	RESIDENT(50000, 500000, 900000, 900000, 901000, 900000, 902000, 901000, 900000, 900000);
	assert_verdict("memory_growth", VERDICT_CLEAN);
}

Test(rule_cpu, memory_that_is_freed_again)
{
	RESIDENT(50000, 100000, 900000, 100000, 900000, 100000, 900000, 100000, 900000, 950000);
	assert_verdict("memory_growth", VERDICT_CLEAN);
}

Test(rule_cpu, memory_of_a_short_run)
{
	RESIDENT(50000, 100000, 200000);
	assert_verdict("memory_growth", VERDICT_UNCHECKED);
}
