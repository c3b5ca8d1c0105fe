/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "summarized.h"

#define US 1000ull
#define TEN_MS (10 * MS) /* nothing below 100 ms is worth a line */

enum { LINES = 24, EACH = 4, MOST = 3 };

/* The kinds of event that a capture may have; EACH events of each kind. */
enum {
	SOURCE = 1,
	KERNELS = 2,
	COPIES = 4,
	OS = 8,
	RANGES = 16,
	RANKS = 32,
	CHILDREN = 64,
	KILLED = 128,
	EVERYTHING = 255
};

SUMMARIZED_SUITE(summary);

static void code(struct writer_thread *t, uint32_t id, uint32_t line, const char *file, const char *name)
{
	writer_python_code(t, id, line, file, name);
	writer_python_stack(t, id, &id, 1);
}

/* Writes device work and its call; the function's name gives the kind. Times are relative to BEGIN. */
static void work(struct writer_thread *t, uint32_t id, const struct tf_device_operation *w, const char *kernel,
		 uint16_t function, uint64_t arg, uint64_t at)
{
	if (kernel)
		writer_text(t, TF_BLOB_KERNEL, id, kernel);
	writer_blob(t, TF_BLOB_DEVICE_OPERATION, id, w, sizeof(*w));
	writer_call(t, function, BEGIN + at + 10 * US, 10 * US, &arg, 1);
	writer_device_calls(t, TF_DEVICE_TIME_MONOTONIC,
			    &(struct writer_device_call){10, id, BEGIN + at + 1, 8 * US, false}, 1);
	writer_device(t, TF_DEVICE_TIME_MONOTONIC,
		      &(struct writer_device_record){id, id, BEGIN + at + 20 * US, 50 * US, kernel ? 0 : 4096}, 1);
}

static void device_operation(struct writer_thread *t, unsigned has, const uint16_t *cuda)
{
	char name[32];

	writer_device_source(t, TF_DEVICE_TIME_MONOTONIC, 130001, "libcupti.so.13");
	for (uint32_t i = 1; i <= EACH; i++) {
		snprintf(name, sizeof(name), "kernel_%u", i);
		if (has & KERNELS)
			work(t, i,
			     &(struct tf_device_operation){
				     .kind = TF_DEVICE_KERNEL, .kernel = i, .context = 1, .stream = 7},
			     name, cuda[i - 1], tf_arg(TF_ARG_LAUNCH, 0, 1), i * MS);
		if (has & COPIES)
			work(t, 10 + i,
			     &(struct tf_device_operation){.kind = TF_DEVICE_COPY,
					       .copy = (uint8_t)i,
					       .source = 1,
					       .target = 3,
					       .context = 1,
					       .stream = 7},
			     NULL, cuda[i - 1], tf_arg(TF_ARG_COPY, i, 4096), i * MS + MS / 2);
	}
}

static void host_work(struct writer_thread *t, unsigned has, const uint16_t *os)
{
	char name[32];

	for (uint32_t i = 1; i <= EACH; i++) {
		uint64_t at = BEGIN + (20 + i) * MS, stack = has & SOURCE ? tf_arg(TF_ARG_STACK, 0, i) : 0;

		if (has & SOURCE)
			code(t, i, 10 * i, "/home/u/train.py", "step");
		if (has & RANGES) {
			snprintf(name, sizeof(name), "range_%u", i);
			writer_text(t, TF_BLOB_STRING, i, name);
			writer_event(t, TF_PUSH, 0, at, i);
		}
		if (has & (SOURCE | OS))
			writer_call(t, os[i - 1], at + i * 100 * US, i * 100 * US, &stack, stack ? 1 : 0);
		if (has & RANGES)
			writer_event(t, TF_POP, 0, at + MS, 0);
	}
}

static void process(uint64_t nonce, uint32_t pid, uint32_t parent, const char *rank, enum tf_end how, int status)
{
	struct writer_thread t;
	struct writer w;

	writer_init(&w, nonce, pid, parent, BEGIN);
	writer_command(&w, "/bin/task", "task", 5);
	if (rank)
		writer_variables(&w, rank, strlen(rank) + 1);
	writer_thread(&w, &t, pid, "main", TF_PAGE);
	writer_end(&w, how, status, BEGIN + 50 * MS + nonce * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

/* Returns the summary that is printed at the end of a run. Valid until the next call. */
static const char *summary_of(unsigned has)
{
	struct writer_thread host;
	struct writer w;
	uint16_t cuda[EACH], os[EACH];
	char name[32];

	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/usr/bin/python3", "python3\0train.py", 17);
	if (has & RANKS)
		writer_variables(&w, "RANK=0", 7);
	for (uint32_t i = 0; i < EACH; i++) {
		snprintf(name, sizeof(name), "cudaCall%u", i);
		cuda[i] = writer_function(&w, TF_GROUP_CUDA, name);
		snprintf(name, sizeof(name), "wait_%u", i);
		os[i] = writer_function(&w, TF_GROUP_OSRT, name);
	}
	writer_thread(&w, &host, 10, "main", 16 * TF_PAGE);
	device_operation(&host, has, cuda);
	host_work(&host, has, os);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * MS);
	writer_save(&w, directory);
	writer_done(&w);
	if (has & RANKS)
		process(2, 20, 1, "RANK=1", TF_END_EXIT, 0);
	for (uint32_t i = 0; has & CHILDREN && i < EACH; i++)
		process(30 + i, 30 + i, 10, NULL, TF_END_EXIT, 1);
	for (uint32_t i = 0; has & KILLED && i < EACH; i++)
		process(40 + i, 40 + i, 10, NULL, TF_END_ABORT, 6);
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	buffer_clear(&text);
	summary_text(&context, "x.pillion", NULL, 0, &text);
	return text.data;
}

static size_t count_lines(const char *summary)
{
	size_t n = 0;

	for (; *summary; summary++)
		n += *summary == '\n';
	return n;
}

/* Counts the rows below the title. */
static size_t rows_of(const char *summary, const char *title)
{
	const char *at = strstr(summary, title);
	size_t n = 0;

	for (at = at ? strchr(at + 1, '\n') : NULL; at && at[1] == ' ' && at[2] == ' '; at = strchr(at + 1, '\n'))
		n++;
	return n;
}

Test(summary, keeps_to_its_lines_whatever_has_data)
{
	for (unsigned has = 0; has <= EVERYTHING; has++) {
		const char *summary = summary_of(has);

		cr_assert_leq(count_lines(summary), LINES, "%u:\n%s", has, summary);
		cr_assert_eq(summary[strlen(summary) - 1], '\n');
		forget();
	}
}

Test(summary, the_most_telling_have_the_most_rows)
{
	const char *summary = summary_of(EVERYTHING);
	const char *const titles[] = {"\nlines ",     "\nGPU work\n", "\nCUDA API\n",
				      "\nOS calls\n", "\ncopies\n",   "\nNVTX ranges\n"};
	size_t before = MOST;

	cr_assert_gt(rows_of(summary, titles[0]), 0, "%s", summary);
	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++) {
		cr_assert_leq(rows_of(summary, titles[i]), before, "%s:\n%s", titles[i], summary);
		before = rows_of(summary, titles[i]);
	}
	cr_assert_lt(before, MOST, "there is not room for all:\n%s", summary);
}

Test(summary, the_costliest_line_comes_first)
{
	const char *summary = summary_of(SOURCE), *first = strstr(summary, "train.py:40 (step)"),
		   *next = strstr(summary, "train.py:30 (step)");

	cr_assert(first && next && first < next, "%s", summary);
	cr_assert_eq(rows_of(summary, "\nlines "), MOST);
}

Test(summary, what_has_no_data_has_no_title)
{
	const char *summary = summary_of(0);

	cr_assert_eq(count_lines(summary), 4, "%s", summary);
}

Test(summary, equal_children_that_failed_are_one_line_with_their_name)
{
	const char *summary = summary_of(CHILDREN);

	cr_assert_not_null(strstr(summary, "\nended      4 processes of task: exit 1\n"), "%s", summary);
}

Test(summary, what_was_killed_is_told_apart_from_what_failed)
{
	const char *summary = summary_of(KILLED | CHILDREN);

	cr_assert_not_null(strstr(summary, "\nended      4 processes of task: killed by signal 6 (SIGABRT)\n"), "%s",
			   summary);
	cr_assert_not_null(strstr(summary, "\nended      4 processes of task: exit 1\n"), "%s", summary);
}

/* One thread that sleeps for `sleep` % of a second, and computes for `cpu` % of it. */
static const char *summary_of_thread(uint64_t sleep, uint64_t cpu)
{
	const uint64_t stack = tf_arg(TF_ARG_STACK, 0, 1);
	struct writer_thread host;
	struct writer w;
	uint16_t doze;

	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/usr/bin/python3", "python3\0dir/train.py", 21);
	doze = writer_function(&w, TF_GROUP_OSRT, "usleep");
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	code(&host, 1, 12, "/home/u/dir/train.py", "step");
	if (sleep)
		writer_call(&host, doze, BEGIN + sleep * TEN_MS, sleep * TEN_MS, &stack, 1);
	writer_usage(&host, &(struct tf_usage){BEGIN + 100 * TEN_MS, cpu * TEN_MS, 0, 10, 0, 0, 0});
	writer_usage(&host, &(struct tf_usage){BEGIN + 100 * TEN_MS, cpu * TEN_MS, TF_USAGE_UNKNOWN, 0, 0, 0, 0});
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * TEN_MS);
	return summarize(&w, "x.pillion");
}

Test(summary, names_what_to_fix_first_and_then_divides_time)
{
	const char *summary = summary_of_thread(70, 25);
	static const char first[] =
		"1.00 s, 1 process, exit 0\n"
		"FIX FIRST  train.py is blocked 70 % of the time in usleep (1 call): train.py:12 step; saves "
		"660 to 740 ms\n"
		"time       █ computes, ▒ waits for a CPU, · waits for something else\n"
		"train.py   █████··············· 1.00 s: 70 % usleep train.py:12 step · 25 % CPU · 5 % other "
		"waits\n";

	cr_assert_eq(strncmp(summary, first, strlen(first)), 0, "%s", summary);
}

/* Calls of one line of a helper, from a function of a file; `other_share` of 70 of them from train.py:50 save. */
static const char *summary_of_helper(const char *file, const char *function, uint64_t other_share)
{
	const uint64_t first = tf_arg(TF_ARG_STACK, 0, 1), other = tf_arg(TF_ARG_STACK, 0, 2);
	struct writer_thread host;
	struct writer w;
	uint16_t doze;

	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/usr/bin/python3", "python3\0dir/train.py", 21);
	doze = writer_function(&w, TF_GROUP_OSRT, "usleep");
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	writer_python_code(&host, 1, 3, "/home/u/dir/helpers.py", "retry");
	writer_python_code(&host, 2, 1, "/usr/lib/python3.11/functools.py", "wrapper");
	writer_python_code(&host, 3, 40, file, function);
	writer_python_code(&host, 4, 50, "/home/u/dir/train.py", "save");
	writer_python_stack(&host, 1, (uint32_t[]){1, 1, 2, 3}, 4);
	writer_python_stack(&host, 2, (uint32_t[]){1, 4}, 2);
	if (other_share)
		writer_call(&host, doze, BEGIN + other_share * TEN_MS, other_share * TEN_MS, &other, 1);
	writer_call(&host, doze, BEGIN + 70 * TEN_MS, (70 - other_share) * TEN_MS, &first, 1);
	writer_usage(&host, &(struct tf_usage){BEGIN + 100 * TEN_MS, 25 * TEN_MS, 0, 10, 0, 0, 0});
	writer_usage(&host, &(struct tf_usage){BEGIN + 100 * TEN_MS, 25 * TEN_MS, TF_USAGE_UNKNOWN, 0, 0, 0, 0});
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * TEN_MS);
	return summarize(&w, "x.pillion");
}

static void expect_caller(const char *file, const char *function, uint64_t other, const char *rest)
{
	static const char line[] = "in usleep (2 calls): helpers.py:3 retry";
	const char *summary = summary_of_helper(file, function, other), *found = strstr(summary, line);

	cr_assert(found && !strncmp(found + strlen(line), rest, strlen(rest)), "%s", summary);
	forget();
}

Test(summary, the_line_of_a_helper_comes_with_its_caller)
{
	expect_caller("/home/u/dir/train.py", "step", 7, ", called from train.py:40; saves 310 to 740 ms\n");
	expect_caller("/home/u/dir/train.py", "step", 8, "; saves 310 to 740 ms\n");
}

Test(summary, the_top_level_of_the_same_file_is_no_caller)
{
	expect_caller("/home/u/dir/train.py", "<module>", 7, ", called from train.py:40; saves 310 to 740 ms\n");
	expect_caller("/home/u/dir/helpers.py", "<module>", 7, "; saves 310 to 740 ms\n");
}

Test(summary, the_cost_of_a_line_is_its_own)
{
	struct writer_thread host;
	struct writer w;

	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/usr/bin/python3", "python3\0train.py", 17);
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	code(&host, 1, 12, "/home/u/train.py", "step");
	code(&host, 2, 30, "/home/u/train.py", "load");
	for (uint64_t i = 1; i <= 90; i++)
		writer_sample(&host, BEGIN + i * TEN_MS, 10000, i <= 50 ? 1 : 2);
	writer_usage(&host, &(struct tf_usage){BEGIN + 100 * TEN_MS, 90 * TEN_MS, 0, 10, 0, 0, 0});
	writer_usage(&host, &(struct tf_usage){BEGIN + 100 * TEN_MS, 90 * TEN_MS, TF_USAGE_UNKNOWN, 0, 0, 0, 0});
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * TEN_MS);
	summarize(&w, NULL);
	cr_assert(strstr(text.data, "\nFIX FIRST  500 ms of 1.00 s at train.py:12 step; a change there saves 150 to "
				    "500 ms\n"), "%s", text.data);
	cr_assert(strstr(text.data, "\nthen       500 ms of 1.00 s at train.py:30 load; a change there saves 150 to "
				    "500 ms\n"), "%s", text.data);
}

/* Thirty threads that wait for most of their life; one of them computes a little less than the limit for helpers. */
Test(summary, one_of_equal_threads_is_no_idle_helper)
{
	const uint64_t stack = tf_arg(TF_ARG_STACK, 0, 1);
	struct writer_thread t;
	struct writer w;
	uint16_t wait;

	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/home/u/job", "job", 4);
	wait = writer_function(&w, TF_GROUP_OSRT, "pthread_cond_wait");
	for (uint32_t i = 0; i <= 30; i++) {
		uint64_t cpu_ns = i == 30 ? 4 * MS : 8 * MS;

		writer_thread(&w, &t, 10 + i, "job", TF_PAGE);
		if (!i)
			code(&t, 1, 12, "/home/u/job.py", "work");
		else
			writer_call(&t, wait, BEGIN + 90 * MS, 90 * MS, &stack, 1);
		writer_usage(&t, &(struct tf_usage){BEGIN + 100 * MS, cpu_ns, 0, 10, 0, 0, 0});
		if (!i)
			writer_usage(&t, &(struct tf_usage){BEGIN + 100 * MS, 240 * MS, TF_USAGE_UNKNOWN, 0, 0, 0, 0});
	}
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * MS);
	summarize(&w, NULL);
	cr_assert_not_null(strstr(text.data, " of 30 threads: "), "%s", text.data);
	cr_assert_null(strstr(text.data, "idle helper"), "%s", text.data);
}

Test(summary, helpers_of_mpi_are_folded)
{
	const uint64_t arg = tf_arg(TF_ARG_STACK, 0, 1), stack[] = {0x4100, 0x5100};
	struct writer_thread t;
	struct writer w;
	uint16_t lock;

	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/home/u/job", "job", 4);
	lock = writer_function(&w, TF_GROUP_OSRT, "pthread_mutex_lock");
	writer_thread(&w, &t, 10, "job", TF_PAGE);
	writer_usage(&t, &(struct tf_usage){BEGIN + 100 * MS, 20 * MS, 0, 10, 0, 0, 0});
	writer_usage(&t, &(struct tf_usage){BEGIN + 100 * MS, 60 * MS, TF_USAGE_UNKNOWN, 0, 0, 0, 0});
	writer_thread(&w, &t, 11, "job", TF_PAGE);
	writer_module(&t, 0x4000, 0x5000, 0x4000, NULL, 0, "/usr/lib/libevent_core.so");
	writer_module(&t, 0x5000, 0x6000, 0x5000, NULL, 0, "/usr/lib/libpmix.so");
	writer_blob(&t, TF_BLOB_STACK, 1, stack, sizeof(stack));
	for (uint64_t i = 1; i <= 20; i++)
		writer_call(&t, lock, BEGIN + i * 3 * MS, 2 * MS, &arg, 1);
	writer_usage(&t, &(struct tf_usage){BEGIN + 100 * MS, 40 * MS, 0, 10, 0, 0, 0});
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * MS);
	summarize(&w, NULL);
	cr_assert_not_null(strstr(text.data, "\nnot shown  1 idle helper\n"), "%s", text.data);
	cr_assert_null(strstr(text.data, "lock_convoy"), "%s", text.data);
	cr_assert_null(strstr(text.data, "libevent"), "%s", text.data);
}

Test(summary, a_rank_that_polls_in_mpi_waits_also_without_samples)
{
	struct writer_thread t;
	struct writer w;
	uint16_t receive;

	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/home/u/job", "job", 4);
	receive = writer_function(&w, TF_GROUP_MPI, "MPI_Recv");
	writer_thread(&w, &t, 10, "job", TF_PAGE);
	for (uint64_t i = 1; i <= 8; i++)
		writer_call(&t, receive, BEGIN + i * 11 * MS, 10 * MS, NULL, 0);
	writer_usage(&t, &(struct tf_usage){BEGIN + 100 * MS, 100 * MS, 0, 10, 0, 0, 0});
	writer_usage(&t, &(struct tf_usage){BEGIN + 100 * MS, 100 * MS, TF_USAGE_UNKNOWN, 0, 0, 0, 0});
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * MS);
	summarize(&w, NULL);
	cr_assert(strstr(text.data, "80 % polling for others") && strstr(text.data, "20 % CPU"), "%s", text.data);
}

Test(summary, suggests_samples_where_a_thread_computes)
{
	const char *summary = summary_of_thread(5, 95);

	cr_assert(strstr(summary, "\nFIX FIRST  train.py computes 95 % of the time, 950 ms; a change there saves 285 "
				  "to 950 ms\n"), "%s", summary);
	cr_assert(strstr(summary, "\nnext       CPU 950 ms of 1.00 s wall: run again with -s cpu\n"), "%s", summary);
}

/* A thread that has one of two CPUs for 15 % of 2 s and waits for one otherwise; no other thread of the job does. */
static const char *summary_of_starved(void)
{
	const struct tf_usage_head head = {
		.magic = TF_USAGE_MAGIC, .run = 0x77, .clock = 1, .sample_bytes = 64, .boot = WRITER_BOOT};
	const struct tf_usage_cpus limit = {.kind = TF_USAGE_CPUS,
					    .cpus = 2,
					    .ticks = BEGIN,
					    .quota_ns = TF_USAGE_UNKNOWN,
					    .throttled_ns = TF_USAGE_UNKNOWN,
					    .mask = 1,
					    .online = 2};
	char bytes[sizeof(head) + sizeof(limit)];
	struct writer_thread host;
	struct writer w;

	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/home/u/solve", "solve", 6);
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	writer_event(&host, TF_MARK, 0, BEGIN, 0);
	writer_usage(&host, &(struct tf_usage){BEGIN + 100 * (20 * MS), 15 * (20 * MS), 85 * (20 * MS), 10, 0, 9, 9});
	writer_usage(&host, &(struct tf_usage){BEGIN + 100 * (20 * MS), 15 * (20 * MS), TF_USAGE_UNKNOWN, 0, 9, 1, 1});
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * (20 * MS));
	writer_save(&w, directory);
	writer_done(&w);
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), &limit, sizeof(limit));
	capture_file(directory, "node1.77.usage", bytes, sizeof(bytes));
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	buffer_clear(&text);
	summary_text(&context, "x.pillion", NULL, 0, &text);
	return text.data;
}

/* What other programs take is no finding of the job: a note below its time. */
Test(summary, other_programs_are_a_note)
{
	const char *summary = summary_of_starved();
	cr_expect(strstr(summary, "\nFIX FIRST  solve computes 15 % of the time, 300 ms; a change there saves 90.0 "
				  "to 300 ms\n"), "%s", summary);
	cr_expect(strstr(summary, "\n           waited 1.70 s for a CPU: other programs held them\n"), "%s", summary);
	cr_expect(!strstr(summary, "\nfound too "), "%s", summary);
}

/* A rank that has the library and computes for 60 of 100 ms, or polls. options: of its launcher. */
static const char *summary_of_rank(const char *library, const char *options)
{
	struct writer_thread host;
	struct writer w;

	writer_init(&w, 1, 10, 1, BEGIN);
	w.header.run = 0x77;
	writer_command(&w, "/home/u/solve", "solve", 6);
	writer_variables(&w, "RANK=0", 7);
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	writer_module(&host, 0x1000, 0x2000, 0, NULL, 0, library);
	writer_usage(&host, &(struct tf_usage){BEGIN + 100 * MS, 60 * MS, 0, 10, 0, 0, 0});
	writer_usage(&host, &(struct tf_usage){BEGIN + 100 * MS, 60 * MS, TF_USAGE_UNKNOWN, 0, 0, 0, 0});
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * MS);
	writer_save(&w, directory);
	writer_done(&w);
	capture_line(directory, "node1." WRITER_BOOT ".index",
		     "launch\trun=77\tpid=90\trealtime_ns=1700000000999000000%s", options);
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	buffer_clear(&text);
	summary_text(&context, "x.pillion", NULL, 0, &text);
	return text.data;
}

Test(summary, suggests_to_record_mpi_where_ranks_have_it)
{
	const char *summary = summary_of_rank("/usr/lib/libmpi.so.40", "");

	cr_assert(strstr(summary, ": run again with -s cpu -t mpi,cuda,nvtx,osrt,cublas,cudnn\n"), "%s", summary);
	forget();
	summary = summary_of_rank("/usr/lib/libmpi.so.40", "\toptions=sample=none\\x00trace=osrt,nccl");
	cr_assert_not_null(strstr(summary, ": run again with -s cpu -t mpi,osrt,nccl\n"), "%s", summary);
	forget();
	cr_assert(strstr(summary_of_rank("/usr/lib/libmpi.so.40", "\toptions=sample=cpu"), ": run again with -t mpi,"));
}

Test(summary, does_not_suggest_to_record_mpi_again)
{
	const char *summary = summary_of_rank("/usr/lib/libm.so.6", "");

	cr_assert_null(strstr(summary, "-t "), "%s", summary);
	forget();
	summary = summary_of_rank("/usr/lib/libmpi.so.40", "\toptions=trace=cuda,mpi");
	cr_assert_null(strstr(summary, "-t "), "%s", summary);
}

/* Less than 2 % of the run. */
Test(summary, names_nothing_that_is_not_worth_it)
{
	const char *summary = summary_of_thread(1, 1);

	cr_assert_null(strstr(summary, "FIX FIRST"), "%s", summary);
	cr_assert_null(strstr(summary, "\nnext "), "%s", summary);
}

/* Python's compile(..., "", "exec") gives such code. AddressSanitizer detects a search that reads past the name. */
Test(summary, code_may_be_of_a_file_without_a_name)
{
	struct writer_thread host;
	struct writer w;
	const uint64_t arg = tf_arg(TF_ARG_LAUNCH, 0, 1);
	uint16_t allocate, launch;

	writer_init(&w, 1, 10, 1, BEGIN);
	launch = writer_function(&w, TF_GROUP_CUDA, "cudaLaunchKernel");
	allocate = writer_function(&w, TF_GROUP_CUDA, "cudaMalloc");
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	code(&host, 1, 12, "", "a/b");
	for (uint64_t i = 1; i < 40; i++) {
		const uint64_t args[] = {tf_arg(TF_ARG_MEMORY, TF_MEMORY_DEVICE, 0x1000 * i),
					 tf_arg(TF_ARG_STACK, 0, 1)};

		writer_call(&host, launch, BEGIN + i * (100 * MS), 5 * (100 * US), &arg, 1);
		writer_call(&host, allocate, BEGIN + i * (100 * MS) + 100 * (100 * US), 50 * (100 * US), args, 2);
	}
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 50 * (100 * MS));
	summarize(&w, "x.pillion");
	cr_assert_not_null(strstr(text.data, "  :12 (a/b)\n"), "%s", text.data);
	cr_assert_not_null(strstr(text.data, ": :12 a/b"), "%s", text.data);
}

/* Of a rank that waits for most of its time; `said`: what the launcher has printed. */
static const char *summary_after(int status, const char *said, bool has_other_rank)
{
	struct writer_thread t;
	struct writer w;
	const uint64_t stack = tf_arg(TF_ARG_STACK, 0, 1);
	uint16_t sleeps;

	if (has_other_rank)
		process(2, 20, 1, "RANK=1", TF_END_EXIT, 0);
	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/home/u/job", "job", 4);
	writer_variables(&w, "RANK=0", 7);
	sleeps = writer_function(&w, TF_GROUP_OSRT, "nanosleep");
	writer_thread(&w, &t, 10, "job", TF_PAGE);
	code(&t, 1, 10, "/home/u/train.py", "step");
	writer_call(&t, sleeps, BEGIN + 10 * MS, 150 * MS, &stack, 1);
	writer_end(&w, TF_END_EXIT, status, BEGIN + 200 * MS);
	writer_save(&w, directory);
	writer_done(&w);
	open_capture(&model, directory);
	context.symbols = symbols_new(&model, false);
	buffer_clear(&text);
	summary_text(&context, "x.pillion", said, 0, &text);
	return text.data;
}

/* The end of several ranks, one of which died, does not wait for what says where their time went. */
Test(summary, of_a_death_that_was_told_has_no_times)
{
	static const struct {
		const char *said;
		int status;
		bool has_other_rank, has_times;
	} rows[] = {{"CRASH x\n", 3, true, false}, {"CRASH x\n", 3, false, true}, {"CRASH x\n", 0, true, true},
		    {"", 3, true, true}, {NULL, 3, true, true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *summary = summary_after(rows[i].status, rows[i].said, rows[i].has_other_rank);

		cr_assert_eq(strstr(summary, "nanosleep") != NULL, rows[i].has_times, "%s", summary);
		cr_assert_eq(!strstr(summary, "\nnot shown  where the time went: pillion stats --summary x.pillion\n"),
			     rows[i].has_times, "%s", summary);
		cr_assert_not_null(strstr(summary, "\nrecording "), "%s", summary);
		forget();
	}
}

/* What died has its last line if the launcher has printed another verdict, and is not told twice. */
Test(summary, of_a_death_that_was_not_told_has_its_verdict)
{
	const char *summary = summary_after(3, "DIED FIRST rank 1 on node1: exit 4; process 20 task\n", true);

	cr_assert_not_null(strstr(summary, "\nDIED FIRST rank 0 on node1: exit 3; process 10 job, after 200 ms; last "
					   "recorded: thread 10, train.py:10 step\n"), "%s", summary);
	forget();
	summary = summary_after(3, "DIED FIRST rank 0 on node1: exit 3; process 10 job, after 198 ms\n", true);
	cr_assert_null(strstr(summary, "DIED FIRST"), "%s", summary);
}
