/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "report/time/partition.h"
#include "captured.h"

#define MS 1000000ull
#define BEGIN (1000 * MS)

static struct partition partition;
static struct report_context context = {.model = &model};

static void end(void)
{
	partition_done(&partition);
	captured_end();
}

TestSuite(partition, .init = captured_begin, .fini = end);

enum { READ, COND_WAIT, SLEEP, SYNC, FUNCTIONS };
static uint16_t functions[FUNCTIONS];

static void begin_process(struct writer *w, uint64_t nonce, uint32_t pid, uint64_t start)
{
	writer_init(w, nonce, pid, 1, start);
	w->header.process_start = pid;
	writer_command(w, "/bin/task", "task", 5);
	functions[READ] = writer_function(w, TF_GROUP_OSRT, "read");
	functions[COND_WAIT] = writer_function(w, TF_GROUP_OSRT, "pthread_cond_wait");
	functions[SLEEP] = writer_function(w, TF_GROUP_OSRT, "usleep");
	functions[SYNC] = writer_function(w, TF_GROUP_CUDA, "cudaStreamSynchronize");
}

static void finish(struct writer *w, enum tf_end how, uint64_t at)
{
	writer_end(w, how, 0, at);
	writer_save(w, directory);
	writer_done(w);
}

static const struct thread_time *made(size_t wanted)
{
	open_capture(&model, directory);
	partition_make(&context, true, &partition);
	cr_assert_eq(partition.count, wanted, "%zu", partition.count);
	for (size_t i = 0; i < partition.count; i++) {
		const struct thread_time *t = &partition.threads[i];
		uint64_t calls = 0;

		for (size_t k = 0; k < t->blocked.count; k++) {
			cr_assert_leq(t->blocked.calls[k].blocked_ns, t->blocked.calls[k].total_ns);
			calls += t->blocked.calls[k].blocked_ns;
		}
		cr_assert_eq(t->lifetime_ns, t->cpu_ns + t->delay_ns + t->blocked_ns);
		cr_assert_leq(calls + t->unexplained_ns + t->stopped_ns, t->blocked_ns);
		/* rounding loses less than a ns for each call */
		cr_assert_leq(t->blocked_ns - calls - t->unexplained_ns - t->stopped_ns, t->blocked.count);
	}
	return partition.threads;
}

static uint64_t blocked_in(const struct thread_time *t, const char *name)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->blocked.count; i++)
		if (!strcmp(t->blocked.calls[i].function->name, name))
			sum += t->blocked.calls[i].blocked_ns;
	return sum;
}

Test(partition, adds_up_to_the_lifetime)
{
	struct writer_thread t;
	struct writer w;
	const struct thread_time *got;

	begin_process(&w, 1, 10, BEGIN);
	writer_thread(&w, &t, 10, "main", TF_PAGE);
	writer_call(&t, functions[SLEEP], BEGIN + 400 * MS, 300 * MS, NULL, 0);
	writer_usage(&t, &(struct tf_usage){BEGIN + 1000 * MS, 500 * MS, 100 * MS, 10, 0, 0, 0});
	writer_usage(&t, &(struct tf_usage){BEGIN + 1000 * MS, 500 * MS, TF_USAGE_UNKNOWN, 0, 1234, 0, 0});
	finish(&w, TF_END_EXIT, BEGIN + 1000 * MS);
	got = made(1);
	cr_assert_eq(got->lifetime_ns, 1000 * MS);
	cr_assert_eq(got->cpu_ns, 500 * MS);
	cr_assert_eq(got->delay_ns, 100 * MS);
	cr_assert_eq(blocked_in(got, "usleep"), 300 * MS);
	cr_assert_eq(got->unexplained_ns, 100 * MS);
	cr_assert_eq(partition.processes[0].cpu_ns, 500 * MS);
	cr_assert_eq(partition.processes[0].peak_kb, 1234);
}

/* A futex that a synchronisation waits for is not counted beside it. */
Test(partition, counts_nested_calls_once)
{
	struct writer_thread t;
	struct writer w;
	const struct thread_time *got;

	begin_process(&w, 1, 10, BEGIN);
	writer_thread(&w, &t, 10, "main", TF_PAGE);
	writer_call(&t, functions[COND_WAIT], BEGIN + 300 * MS, 100 * MS, NULL, 0);
	writer_call(&t, functions[COND_WAIT], BEGIN + 500 * MS, 100 * MS, NULL, 0);
	writer_call(&t, functions[SYNC], BEGIN + 600 * MS, 450 * MS, NULL, 0);
	writer_usage(&t, &(struct tf_usage){BEGIN + 1000 * MS, 400 * MS, 0, 10, 0, 0, 0});
	finish(&w, TF_END_EXIT, BEGIN + 1000 * MS);
	got = made(1);
	cr_assert_eq(blocked_in(got, "cudaStreamSynchronize"), 450 * MS);
	cr_assert_eq(blocked_in(got, "pthread_cond_wait"), 0);
	cr_assert_eq(got->unexplained_ns, 150 * MS);
}

/* A read that copies from the page cache computes; a sleep does not. */
Test(partition, gives_blocked_time_to_waits_first)
{
	struct writer_thread t;
	struct writer w;
	const struct thread_time *got;

	begin_process(&w, 1, 10, BEGIN);
	writer_thread(&w, &t, 10, "main", TF_PAGE);
	writer_call(&t, functions[READ], BEGIN + 600 * MS, 600 * MS, NULL, 0);
	writer_call(&t, functions[SLEEP], BEGIN + 1000 * MS, 300 * MS, NULL, 0);
	writer_usage(&t, &(struct tf_usage){BEGIN + 1000 * MS, 600 * MS, 0, 10, 0, 0, 0});
	finish(&w, TF_END_EXIT, BEGIN + 1000 * MS);
	got = made(1);
	cr_assert_eq(blocked_in(got, "usleep"), 300 * MS);
	cr_assert_eq(blocked_in(got, "read"), 100 * MS);
	cr_assert_eq(got->unexplained_ns, 0);
}

/* CUPTI's thread waits before it hands the first device records over. One that makes CUDA calls is the program's,
 * though records are handed over in its calls. */
Test(partition, has_no_threads_that_only_hand_device_records_over)
{
	const struct writer_device_record none[1] = {{0}};
	struct writer_thread t, program, cupti;
	struct writer w;

	begin_process(&w, 1, 10, BEGIN);
	writer_thread(&w, &t, 10, "main", TF_PAGE);
	writer_thread(&w, &program, 11, "program", TF_PAGE);
	writer_thread(&w, &cupti, 12, "cupti", TF_PAGE);
	writer_call(&t, functions[SLEEP], BEGIN + 400 * MS, 300 * MS, NULL, 0);
	writer_call(&program, functions[SYNC], BEGIN + 400 * MS, 300 * MS, NULL, 0);
	writer_device(&program, TF_DEVICE_TIME_MONOTONIC, none, 1);
	writer_call(&cupti, functions[COND_WAIT], BEGIN + 400 * MS, 300 * MS, NULL, 0);
	writer_device(&cupti, TF_DEVICE_TIME_MONOTONIC, none, 1);
	finish(&w, TF_END_EXIT, BEGIN + 1000 * MS);
	made(2);
	for (size_t i = 0; i < partition.count; i++)
		cr_expect_neq(partition.threads[i].thread->tid, 12);
}

/* As Linux 6.18 accounts some threads of an overloaded machine. */
Test(partition, does_not_believe_a_run_delay_that_a_sleep_contradicts)
{
	struct writer_thread t;
	struct writer w;
	const struct thread_time *got;

	begin_process(&w, 1, 10, BEGIN);
	writer_thread(&w, &t, 10, "main", TF_PAGE);
	writer_call(&t, functions[SLEEP], BEGIN + 5000 * MS, 4900 * MS, NULL, 0);
	writer_usage(&t, &(struct tf_usage){BEGIN + 5000 * MS, 1 * MS, 4950 * MS, 10, 0, 2, 1});
	finish(&w, TF_END_EXIT, BEGIN + 5000 * MS);
	got = made(1);
	cr_assert_eq(got->delay_ns, 0);
	cr_assert(!got->delay_is_known);
	cr_assert_eq(blocked_in(got, "usleep"), 4900 * MS);
}

/* The kernel's accounts continue over exec: each image has the difference. */
Test(partition, divides_accounts_among_images)
{
	struct writer_thread t;
	struct writer w;
	const struct thread_time *got;

	begin_process(&w, 1, 10, BEGIN);
	writer_thread(&w, &t, 10, "sh", TF_PAGE);
	writer_usage(&t, &(struct tf_usage){BEGIN + 100 * MS, 30 * MS, 10 * MS, 10, 0, 0, 0});
	finish(&w, TF_END_EXEC, BEGIN + 100 * MS);
	begin_process(&w, 2, 10, BEGIN + 120 * MS);
	writer_thread(&w, &t, 10, "task", TF_PAGE);
	writer_page(&t)->chunk.cpu_before_us = 45000;
	writer_usage(&t, &(struct tf_usage){BEGIN + 500 * MS, 230 * MS, 15 * MS, 10, 0, 0, 0});
	finish(&w, TF_END_EXIT, BEGIN + 520 * MS);
	got = made(2);
	cr_assert_eq(got[0].lifetime_ns, 100 * MS);
	cr_assert_eq(got[0].cpu_ns, 30 * MS);
	/* from exec on, before the recorder started in the new image */
	cr_assert_eq(got[1].lifetime_ns, 420 * MS);
	cr_assert_eq(got[1].cpu_ns, 200 * MS);
	cr_assert_eq(got[1].delay_ns, 5 * MS);
}

static void write_usage(const struct tf_usage_sample *list, size_t bytes)
{
	const struct tf_usage_head head = {
		.magic = TF_USAGE_MAGIC, .run = 7, .clock = 1, .sample_bytes = 64, .boot = WRITER_BOOT};
	char *file = mem_alloc(sizeof(head) + bytes);

	memcpy(file, &head, sizeof(head));
	memcpy(file + sizeof(head), list, bytes);
	capture_file(directory, "node1.7.usage", file, sizeof(head) + bytes);
	free(file);
}

/* The kernel's accounts begin when a thread is created, which may be long before its first recorded call. */
Test(partition, begins_when_the_thread_was_created)
{
	struct writer_thread main, late;
	struct writer w;
	const struct thread_time *got;

	begin_process(&w, 1, 10, BEGIN);
	writer_thread(&w, &main, 10, "main", TF_PAGE);
	writer_page(&main)->created_ticks = BEGIN - 20 * MS;
	writer_usage(&main, &(struct tf_usage){BEGIN + 1000 * MS, 200 * MS, 100 * MS, 10, 0, 0, 0});
	writer_thread(&w, &late, 11, "late", TF_PAGE);
	writer_page(&late)->created_ticks = BEGIN + 100 * MS;
	writer_page(&late)->start_ticks = BEGIN + 900 * MS;
	writer_page(&late)->chunk.cpu_before_us = 150000; /* is in the lifetime already */
	writer_usage(&late, &(struct tf_usage){BEGIN + 1000 * MS, 200 * MS, 300 * MS, 11, 0, 5, 5});
	finish(&w, TF_END_EXIT, BEGIN + 1000 * MS);
	got = made(2);
	cr_assert_eq(got[0].lifetime_ns, 1020 * MS);
	cr_assert_eq(got[0].blocked_ns, 720 * MS);
	cr_assert_eq(got[1].lifetime_ns, 900 * MS);
	cr_assert_eq(got[1].cpu_ns, 200 * MS);
	cr_assert_eq(got[1].delay_ns, 300 * MS);
	cr_assert_eq(got[1].unexplained_ns, 400 * MS);
}

/* The launcher's trace of a process that recorded itself has the same time once more. */
Test(partition, counts_an_observed_process_once)
{
	struct writer_thread t;
	struct writer w;
	const struct thread_time *got;

	begin_process(&w, 1, 10, BEGIN);
	writer_thread(&w, &t, 10, "own", TF_PAGE);
	writer_usage(&t, &(struct tf_usage){BEGIN + 1000 * MS, 300 * MS, 100 * MS, 10, 0, 0, 0});
	finish(&w, TF_END_EXIT, BEGIN + 1000 * MS);
	begin_process(&w, 2, 10, BEGIN + 5 * MS);
	w.header.via = TF_VIA_OBSERVED;
	writer_thread(&w, &t, 10, "observed", TF_PAGE);
	writer_sample(&t, BEGIN + 600 * MS, 10000, 0);
	finish(&w, TF_END_EXIT, BEGIN + 1001 * MS);
	got = made(1);
	cr_assert_eq(model.process_count, 1);
	cr_assert_str_eq(got->name, "own");
	cr_assert_eq(got->lifetime_ns, 1000 * MS);
	cr_assert_eq(got->cpu_ns, 300 * MS);
	cr_assert_eq(got->delay_ns, 100 * MS);
}

/* A program that cannot be recorded, executed by one that was. */
Test(partition, continues_with_an_observed_program)
{
	struct writer_thread t;
	struct writer w;
	const struct thread_time *got;

	begin_process(&w, 1, 10, BEGIN);
	writer_thread(&w, &t, 10, "own", TF_PAGE);
	writer_usage(&t, &(struct tf_usage){BEGIN + 100 * MS, 30 * MS, 0, 10, 0, 0, 0});
	finish(&w, TF_END_EXEC, BEGIN + 100 * MS);
	begin_process(&w, 2, 10, BEGIN + 101 * MS);
	w.header.via = TF_VIA_OBSERVED;
	writer_thread(&w, &t, 10, "static", TF_PAGE);
	writer_sample(&t, BEGIN + 600 * MS, 10000, 0);
	finish(&w, TF_END_EXIT, BEGIN + 1000 * MS);
	got = made(2);
	cr_assert_eq(got[0].lifetime_ns, 100 * MS);
	cr_assert_str_eq(got[1].name, "static");
	cr_assert_eq(got[1].lifetime_ns, 900 * MS);
}

/* Another thread described it, which does not know its switches. Nothing contradicts that it waited for a CPU. */
Test(partition, believes_the_run_delay_of_a_thread_without_calls)
{
	const struct tf_usage_sample list[] = {
		{.kind = TF_USAGE_ROUND, .ticks = BEGIN + 1900 * MS},
		{TF_USAGE_PROCESS, 10, 0, 100, BEGIN + 1900 * MS, 10, 60 * MS, TF_USAGE_UNKNOWN, 'R', "task"},
		{TF_USAGE_THREAD, 10, 11, 0, BEGIN + 1900 * MS, 10, 400 * MS, 1500 * MS, 'R', "burn"},
	};
	struct writer_thread t;
	struct writer w;
	const struct thread_time *got;

	begin_process(&w, 1, 10, BEGIN);
	writer_thread(&w, &t, 10, "main", TF_PAGE);
	writer_usage(&t, &(struct tf_usage){BEGIN + 2000 * MS, 100 * MS, 0, 10, 0, 0, 0});
	writer_usage(&t, &(struct tf_usage){BEGIN + 2000 * MS, 450 * MS, 1550 * MS, 11, 0, 0, 0});
	finish(&w, TF_END_EXIT, BEGIN + 2000 * MS);
	write_usage(list, sizeof(list));
	got = made(2);
	cr_assert_eq(got[1].tid, 11);
	cr_assert(got[1].delay_is_known);
	cr_assert_eq(got[1].delay_ns, 1550 * MS);
	cr_assert_eq(got[1].blocked_ns, 0);
}

/* What other threads than the recorded ones have used is a part of its own: the sum equals getrusage. */
Test(partition, has_the_cpu_time_of_threads_that_recorded_nothing)
{
	struct writer_thread t;
	struct writer w;
	const struct thread_time *got;

	begin_process(&w, 1, 10, BEGIN);
	writer_thread(&w, &t, 10, "main", TF_PAGE);
	writer_usage(&t, &(struct tf_usage){BEGIN + 100 * MS, 20 * MS, 0, 10, 0, 0, 0});
	writer_usage(&t, &(struct tf_usage){BEGIN + 100 * MS, 90 * MS, TF_USAGE_UNKNOWN, 0, 0, 0, 0});
	finish(&w, TF_END_EXIT, BEGIN + 100 * MS);
	got = made(2);
	cr_assert_eq(got[1].origin, THREAD_UNRECORDED);
	cr_assert_eq(got[0].cpu_ns + got[1].cpu_ns, 90 * MS);
}

/* Samples: a process that is killed, stopped for a time, with a thread that never made a recorded call. */
static void write_samples(void)
{
	const struct tf_usage_sample list[] = {
		{TF_USAGE_PROCESS, 10, 0, 100, BEGIN + 100 * MS, 10, 50 * MS, TF_USAGE_UNKNOWN, 'R', "task"},
		{TF_USAGE_THREAD, 10, 10, 0, BEGIN + 100 * MS, 10, 50 * MS, 1 * MS, 'R', "task"},
		{TF_USAGE_PROCESS, 10, 0, 900, BEGIN + 200 * MS, 10, 60 * MS, TF_USAGE_UNKNOWN, 'T', "task"},
		{TF_USAGE_THREAD, 10, 10, 0, BEGIN + 200 * MS, 10, 60 * MS, 2 * MS, 'T', "task"},
		{TF_USAGE_THREAD, 10, 11, 0, BEGIN + 200 * MS, 10, 40 * MS, 10 * MS, 'S', "pool"},
		{TF_USAGE_PROCESS, 10, 0, 400, BEGIN + 500 * MS, 10, 70 * MS, TF_USAGE_UNKNOWN, 'R', "task"},
		{TF_USAGE_THREAD, 10, 10, 0, BEGIN + 600 * MS, 10, 70 * MS, 3 * MS, 'R', "task"},
		{TF_USAGE_GONE, 10, 11, 0, BEGIN + 700 * MS, 10, 40 * MS, 10 * MS, 'S', "pool"},
	};

	write_usage(list, sizeof(list));
}

Test(partition, takes_samples_of_what_was_killed)
{
	struct writer_thread t;
	struct writer w;
	const struct thread_time *got;

	begin_process(&w, 1, 10, BEGIN);
	writer_thread(&w, &t, 10, "main", TF_PAGE);
	writer_call(&t, functions[SLEEP], BEGIN + 1000 * MS, 1 * MS, NULL, 0);
	writer_save(&w, directory);
	writer_done(&w);
	write_samples();
	got = made(2);
	cr_assert_eq(got[0].lifetime_ns, 1000 * MS);
	cr_assert_eq(got[0].cpu_ns, 70 * MS);
	cr_assert_eq(got[0].delay_ns, 3 * MS);
	cr_assert_eq(got[0].stopped_ns, 300 * MS);
	cr_assert_eq(got[1].tid, 11);
	cr_assert_str_eq(got[1].name, "pool");
	/* first seen after 50 ms of its life, last 500 ms later */
	cr_assert_eq(got[1].lifetime_ns, 550 * MS);
	cr_assert_eq(got[1].cpu_ns, 40 * MS);
	cr_assert_eq(partition.processes[0].peak_kb, 900);
}

/* A thread that records nothing ends after its last sample; how it spent the time from then on is not known. */
Test(partition, a_sampled_thread_ends_where_it_was_last_seen)
{
	const struct tf_usage_sample list[] = {
		{.kind = TF_USAGE_ROUND, .ticks = BEGIN + 100 * MS},
		{TF_USAGE_PROCESS, 10, 0, 100, BEGIN + 100 * MS, 10, 60 * MS, TF_USAGE_UNKNOWN, 'R', "task"},
		{TF_USAGE_THREAD, 10, 11, 0, BEGIN + 100 * MS, 10, 20 * MS, 40 * MS, 'R', "gone"},
		{TF_USAGE_THREAD, 10, 12, 0, BEGIN + 100 * MS, 10, 10 * MS, 30 * MS, 'R', "ended"},
		{TF_USAGE_THREAD, 10, 13, 0, BEGIN + 100 * MS, 10, 10 * MS, 0, 'S', "alive"},
		{.kind = TF_USAGE_ROUND, .ticks = BEGIN + 1100 * MS},
		{TF_USAGE_THREAD, 10, 11, 0, BEGIN + 1100 * MS, 10, 220 * MS, 840 * MS, 'R', "gone"},
		{TF_USAGE_THREAD, 10, 12, 0, BEGIN + 1100 * MS, 10, 110 * MS, 930 * MS, 'R', "ended"},
		{.kind = TF_USAGE_ROUND, .ticks = BEGIN + 2100 * MS},
		{TF_USAGE_GONE, 10, 11, 0, BEGIN + 2100 * MS, 10, 220 * MS, 840 * MS, 'R', "gone"},
		{TF_USAGE_THREAD, 10, 12, 0, BEGIN + 2100 * MS, 10, 210 * MS, 1830 * MS, 'R', "ended"},
	};
	struct writer_thread t;
	struct writer w;
	const struct thread_time *got;

	begin_process(&w, 1, 10, BEGIN);
	writer_thread(&w, &t, 10, "main", TF_PAGE);
	writer_usage(&t, &(struct tf_usage){BEGIN + 3000 * MS, 100 * MS, 0, 10, 0, 0, 0});
	writer_usage(&t, &(struct tf_usage){BEGIN + 3000 * MS, 700 * MS, 0, 0, 0, 0, 0});
	writer_usage(&t, &(struct tf_usage){BEGIN + 3000 * MS, 10 * MS, 0, 13, 0, 0, 0});
	finish(&w, TF_END_EXIT, BEGIN + 3000 * MS);
	write_usage(list, sizeof(list));
	got = made(5);
	cr_assert_eq(got[1].tid, 11);
	cr_assert_eq(got[1].lifetime_ns, 1060 * MS);
	cr_assert_eq(got[1].unexplained_ns, 0);
	cr_assert_eq(got[2].tid, 12);
	cr_assert_eq(got[2].lifetime_ns, 2040 * MS);
	cr_assert_eq(got[2].unexplained_ns, 0);
	cr_assert(got[2].ended);
	cr_assert_eq(got[3].tid, 13);
	cr_assert_eq(got[3].lifetime_ns, 2910 * MS);
	cr_assert_eq(got[4].origin, THREAD_UNRECORDED);
	cr_assert_eq(got[4].cpu_ns, 160 * MS);
}

static void write_process(uint64_t nonce, uint32_t pid, uint32_t parent, uint64_t from, uint64_t to, uint64_t cpu_ns,
			  uint64_t waited_ns)
{
	struct writer_thread t;
	struct writer w;

	begin_process(&w, nonce, pid, BEGIN + from);
	w.header.parent_pid = parent;
	writer_thread(&w, &t, pid, "main", TF_PAGE);
	writer_usage(&t, &(struct tf_usage){BEGIN + to, cpu_ns, 0, pid, 0, 0, 0});
	writer_usage(&t, &(struct tf_usage){BEGIN + to, cpu_ns, waited_ns, 0, 0, 0, 0});
	finish(&w, TF_END_EXIT, BEGIN + to);
}

/* 10 waits for 11, which waits for 12; 13 outlives its parent, and 10 does not wait for it. */
Test(partition, accounts_for_the_ends_of_children)
{
	write_process(1, 10, 1, 0, 1000 * MS, 100 * MS, 150 * MS);
	write_process(2, 11, 10, 100 * MS, 500 * MS, 40 * MS, 65 * MS);
	write_process(3, 12, 11, 200 * MS, 400 * MS, 60 * MS, 0);
	write_process(4, 13, 11, 300 * MS, 600 * MS, 10 * MS, 0);
	made(4);
	cr_assert_eq(partition.processes[2].children_ns, 0);
	cr_assert_eq(partition.processes[1].children_ns, 5 * MS);
	/* at least: 150 - 40 - 65 - 10 */
	cr_assert_eq(partition.processes[0].children_ns, 35 * MS);
	cr_assert_eq(partition.processes[0].end_ns, 0);
}

/* The parent of 12 is a program that is not recorded: 12 is a part of what 10 waited for, and is not counted twice. */
Test(partition, accounts_for_no_children_behind_unrecorded_programs)
{
	write_process(1, 10, 1, 0, 1000 * MS, 100 * MS, 150 * MS);
	write_process(3, 12, 11, 200 * MS, 400 * MS, 60 * MS, 0);
	made(2);
	cr_assert_eq(partition.processes[0].children_ns, 0);
}

Test(partition, says_where_nothing_is_known)
{
	struct writer_thread t;
	struct writer w;
	const struct thread_time *got;

	begin_process(&w, 1, 10, BEGIN);
	writer_thread(&w, &t, 10, "main", TF_PAGE);
	writer_call(&t, functions[SLEEP], BEGIN + 100 * MS, 60 * MS, NULL, 0);
	finish(&w, TF_END_EXIT, BEGIN + 100 * MS);
	got = made(1);
	cr_assert(!got->cpu_is_known);
	cr_assert_eq(partition.missing, 1);
	cr_assert_eq(blocked_in(got, "usleep"), 60 * MS);
}

Test(partition, an_account_that_exceeds_the_span_extends_it)
{
	struct thread_time t = {.cpu_ns = 90, .delay_ns = 20, .stopped_ns = 7};

	partition_settle(&t, 100, 0);
	cr_assert_eq(t.lifetime_ns, 110);
	cr_assert_eq(t.blocked_ns, 0);
	cr_assert_eq(t.stopped_ns, 0);
	t = (struct thread_time){.cpu_ns = 90, .stopped_ns = 7};
	partition_settle(&t, 100, 5);
	cr_assert_eq(t.lifetime_ns, 105);
	cr_assert_eq(t.blocked_ns, 15);
	cr_assert_eq(t.stopped_ns, 7);
}
