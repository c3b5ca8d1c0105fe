/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/read/job/model.h"
#include "captured.h"

#define MS 1000000ull
#define INDEX "node1." WRITER_BOOT ".index"

CAPTURED_SUITE(model);

static int open_paths(const char *path, struct err *err)
{
	char *paths[] = {(char *)path};

	return model_open(&model, paths, 1, err);
}

static const struct process *process(uint32_t pid)
{
	for (size_t i = 0; i < model.process_count; i++)
		if (model.processes[i].pid == pid)
			return &model.processes[i];
	cr_assert_fail("no process %u", pid);
	return NULL;
}

static void write_image(uint64_t nonce, uint32_t pid, uint32_t parent, uint64_t start, enum tf_end end, int status)
{
	struct writer w;
	struct writer_thread t;

	writer_init(&w, nonce, pid, parent, start);
	writer_command(&w, "/bin/x", "x\0a b", 5);
	writer_function(&w, TF_GROUP_OSRT, "read");
	writer_thread(&w, &t, pid, "main", 2 * TF_PAGE);
	writer_call(&t, 0, start + MS, 500, NULL, 0);
	if (end)
		writer_end(&w, end, status, start + 2 * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

static void assert_problem(const char *what)
{
	for (size_t i = 0; i < model.problems.count; i++)
		if (strstr(model.problems.items[i], what))
			return;
	cr_assert_fail("nobody complains of %s", what);
}

Test(model, knows_the_processes_of_index_and_traces)
{
	capture_example(directory);
	open_capture(&model, directory);
	cr_assert_eq(model.process_count, 3);
	cr_assert_eq(model.problems.count, 0);
	cr_assert_str_eq(process(100)->command, "python3 train.py --name 'two words'");
	cr_assert_str_eq(process(100)->rank, "0");
	cr_assert_eq(process(101)->parent_pid, 100);
	cr_assert_str_eq(process(102)->ended, "exit 0");
	cr_assert_eq(process(102)->end_ns - process(102)->start_ns, MS);
	cr_assert_eq(model.bare_count, 1);
	cr_assert_str_eq(model.bare[0].reason, "static");
	cr_assert_str_eq(model.runs[0].command, "python3 train.py");
}

Test(model, a_line_without_a_reason_takes_back_the_one_before_it)
{
	capture_example(directory);
	capture_line(directory, INDEX, "bare\tpid=104\texe=/usr/bin/true\treason=length");
	capture_line(directory, INDEX, "bare\tpid=105\texe=/usr/bin/true\treason=length");
	capture_line(directory, INDEX, "bare\tpid=104\texe=/usr/bin/true\treason=");
	capture_line(directory, INDEX, "bare\tpid=105\texe=/usr/bin/false\treason=");
	open_capture(&model, directory);
	cr_assert_eq(model.bare_count, 3);
	cr_expect_eq(model.bare[0].pid, 103);
	cr_expect_eq(model.bare[1].pid, 105);
	cr_expect_str_eq(model.bare[1].executable, "/usr/bin/true");
	cr_expect_str_eq(model.bare[2].executable, "/usr/bin/false", "there is none to take back");
}

/* Writes a rank of a job step, started as process 100 + run by the launcher of `run`. */
static void rank_of_step(unsigned run, const char *job, const char *rank)
{
	char line[512];

	snprintf(line, sizeof(line), "launch\trun=%x\tpid=90\trealtime_ns=1700000000999000000%s", run, job);
	capture_line(directory, INDEX, "%s", line);
	snprintf(line, sizeof(line),
		 "process\tnonce=%x\tpid=%u\tppid=90\tstart=1100\trun=%x\tvia=start\tparent=0\trealtime_ns="
		 "1700000001000000000\t"
		 "ticks=1000000000\tclock=1\thost=node1\tboot=" WRITER_BOOT "\texe=/bin/x\targs=x\tvars=%s",
		 run + 1, 100 + run, run, rank);
	capture_line(directory, INDEX, "%s", line);
}

Test(model, ranks_of_one_step_are_plain_numbers)
{
	rank_of_step(1, "\tkey=slurm:7:0:\tscheduler=slurm\tjob=7\tstep=0", "RANK=0");
	rank_of_step(2, "\tkey=slurm:7:0:\tscheduler=slurm\tjob=7\tstep=0", "RANK=1");
	rank_of_step(3, "\tscheduler=slurm\tjob=7", "");
	open_capture(&model, directory);
	cr_assert_str_eq(process(101)->rank, "0");
	cr_assert_str_eq(process(102)->rank, "1");
	cr_assert_str_eq(process(103)->rank, "");
}

Test(model, ranks_of_several_steps_have_their_step_with_them)
{
	rank_of_step(1, "\tkey=slurm:7:0:\tscheduler=slurm\tjob=7\tstep=0", "RANK=0");
	rank_of_step(2, "\tkey=slurm:7:1:\tscheduler=slurm\tjob=7\tstep=1", "RANK=0");
	rank_of_step(3, "\tkey=slurm:7:1:2\tscheduler=slurm\tjob=7\tstep=1\trestart=2", "RANK=0");
	rank_of_step(4, "\tkey=torch:a:29500:\tscheduler=lsf\tjob=8\ttask=5", "RANK=0");
	rank_of_step(5, "\tkey=hydra:n1:00:17", "RANK=0");
	rank_of_step(6, "\tscheduler=slurm\tjob=7", "RANK=0");
	rank_of_step(7, "", "RANK=0");
	rank_of_step(8, "\tkey=slurm:7:0:\tscheduler=slurm\tjob=7\tstep=0", "RANK=1");
	rank_of_step(9, "\tkey=slurm:9:0:\tscheduler=slurm\tjob=7\ttask=3\tstep=0", "RANK=0");
	open_capture(&model, directory);
	cr_assert_str_eq(process(109)->rank, "0@7[3].0");
	cr_assert_str_eq(process(101)->rank, "0@7.0");
	cr_assert_str_eq(process(102)->rank, "0@7.1");
	cr_assert_str_eq(process(103)->rank, "0@7.1.restart2");
	cr_assert_str_eq(process(104)->rank, "0@a:29500:/8[5]");
	cr_assert_str_eq(process(105)->rank, "0@n1:00:17");
	cr_assert_str_eq(process(106)->rank, "0@7");
	cr_assert_str_eq(process(107)->rank, "0");
	cr_assert_str_eq(process(108)->rank, "1@7.0");
	model_order(&model); /* as after its clocks were aligned */
	cr_assert_str_eq(process(103)->rank, "0@7.1.restart2");
	cr_assert_eq(model.ranks.count, 8);
}

Test(model, equal_pids_and_start_times_in_containers_of_two_runs)
{
	for (unsigned run = 1; run <= 2; run++) {
		char line[512];

		snprintf(line, sizeof(line), "launch\trun=%x\tpid=1\trealtime_ns=1700000000999000000", run);
		capture_line(directory, INDEX, "%s", line);
		snprintf(line, sizeof(line),
			 "process\tnonce=%x\tpid=2\tppid=1\tstart=1100\trun=%x\tvia=start\tparent=0\trealtime_ns="
			 "1700000001000000000\tticks=1000000000\tclock=1\thost=node1\tboot=" WRITER_BOOT
			 "\texe=/bin/x\targs=x\tvars=RANK=%u",
			 run + 1, run, run);
		capture_line(directory, INDEX, "%s", line);
	}
	capture_line(directory, INDEX, "child\tpid=2\tstatus=%d\tlauncher=1\trun=2", 3 << 8);
	open_capture(&model, directory);
	cr_assert_eq(model.process_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct process *p = &model.processes[i];

		cr_assert_eq(p->has_status, !strcmp(p->rank, "2"));
	}
}

Test(model, equal_pids_and_start_times_in_containers_of_one_run)
{
	for (unsigned nonce = 1; nonce <= 3; nonce++) {
		char line[512];

		snprintf(line, sizeof(line),
			 "process\tnonce=%x\tpid=2\tppid=1\tstart=1100\trun=9\tvia=start\tparent=0\trealtime_ns="
			 "170000000%u000000000\tticks=%u000000000\tclock=1\thost=node1\tboot=" WRITER_BOOT
			 "\texe=/bin/x\targs=x",
			 nonce, nonce, nonce);
		capture_line(directory, INDEX, "%s", line);
	}
	/* The first image exits, the second one executes the third. */
	capture_line(directory, INDEX, "end\tnonce=1\tkind=exit\tstatus=0\tticks=9000000000");
	capture_line(directory, INDEX, "end\tnonce=2\tkind=exec\tstatus=0\tticks=3000000000");
	open_capture(&model, directory);
	cr_assert_eq(model.process_count, 2);
	cr_assert_eq(model.processes[0].image_count, 1);
	cr_assert_eq(model.processes[1].image_count, 2);
}

Test(model, believes_the_parent_on_how_a_process_ended)
{
	capture_example(directory);
	open_capture(&model, directory);
	cr_assert_str_eq(process(101)->ended, "killed by signal 9 (SIGKILL)");
	cr_assert(process(101)->end_is_known);
	cr_assert_eq(process(101)->end_ns - process(101)->start_ns, 490 * MS);
}

Test(model, says_killed_where_nobody_knows_more)
{
	write_image(1, 50, 1, 1000 * MS, TF_END_NONE, 0);
	write_image(2, 51, 1, 1000 * MS, TF_END_EXIT, 3);
	write_image(3, 52, 1, 1000 * MS, TF_END_ABORT, 0);
	open_capture(&model, directory);
	cr_assert_str_eq(process(50)->ended, "killed");
	cr_assert_not(process(50)->end_is_known);
	cr_assert_str_eq(process(51)->ended, "exit 3");
	cr_assert_str_eq(process(52)->ended, "killed by signal 6 (SIGABRT)");
}

Test(model, takes_the_launchers_word)
{
	write_image(1, 50, 1, 1000 * MS, TF_END_EXIT, 0);
	capture_line(directory, INDEX, "child\tpid=50\tstatus=11\tlauncher=1");
	capture_line(directory, INDEX,
		     "clock\tticks=1500000000\tmonotonic_ns=1500000000\trealtime_ns=1700000001500000000\tclock=1");
	open_capture(&model, directory);
	cr_assert_str_eq(process(50)->ended, "killed by signal 11 (SIGSEGV)");
}

Test(model, makes_one_process_of_an_exec_chain)
{
	for (uint64_t i = 0; i < 50; i++)
		write_image(100 + i, 50, 1, 1000 * MS + i * 10 * MS, i < 49 ? TF_END_EXEC : TF_END_EXIT, 0);
	open_capture(&model, directory);
	cr_assert_eq(model.image_count, 50);
	cr_assert_eq(model.process_count, 1);
	cr_assert_eq(process(50)->image_count, 50);
	cr_assert_str_eq(process(50)->ended, "exit 0");
	cr_assert_eq(process(50)->end_ns - process(50)->start_ns, 492 * MS);
}

Test(model, sees_that_a_process_is_running)
{
	struct writer w;
	struct writer_thread t;
	unsigned long long start = 0;
	FILE *f = fopen("/proc/self/stat", "r"), *boot = fopen("/proc/sys/kernel/random/boot_id", "r");
	char stat[1024] = "";

	cr_assert_gt(fread(stat, 1, sizeof(stat) - 1, f), 0);
	fclose(f);
	sscanf(strrchr(stat, ')') + 1,
	       " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", &start);
	writer_init(&w, 1, (uint32_t)getpid(), 1, 1000 * MS);
	cr_assert_eq(fscanf(boot, "%36s", w.header.boot), 1);
	fclose(boot);
	w.header.process_start = start;
	writer_thread(&w, &t, 1, "main", 2 * TF_PAGE);
	writer_save(&w, directory);
	writer_done(&w);
	writer_init(&w, 2, 51, 1, 1000 * MS);
	writer_save(&w, directory);
	writer_done(&w);
	open_capture(&model, directory);
	cr_assert_str_eq(process((uint32_t)getpid())->ended, "running");
	cr_assert_str_eq(process(51)->ended, "killed");
}

Test(model, names_each_file_that_it_cannot_read_and_reads_the_rest)
{
	write_image(1, 50, 1, 1000 * MS, TF_END_EXIT, 0);
	capture_file(directory, "a.1.2.trace", "", 0);
	capture_file(directory, "b.1.2.trace", "hello world", 11);
	capture_file(directory, "notes.txt", "hello", 5);
	capture_file(directory, "c.2.range", "hello", 5);
	capture_file(directory, "c.2.usage", "hello", 5);
	capture_file(directory, INDEX, "\x01\x02rubbish\nprocess\tnon", 22);
	open_capture(&model, directory);
	cr_assert_eq(model.process_count, 1);
	assert_problem("a.1.2.trace: empty");
	assert_problem("b.1.2.trace: not a trace file");
	assert_problem("notes.txt");
	assert_problem("c.2.range");
	assert_problem("c.2.usage");
	assert_problem("1 lines cannot be read");
	assert_problem("last line is truncated");
}

/* The lines before it may be damaged. */
Test(model, a_clock_line_may_be_the_first_that_names_a_machine)
{
	capture_line(directory, INDEX, "clock\tticks=1000000000\tmonotonic_ns=1000000000\trealtime_ns="
		     "1700000001000000000\terror_ticks=1\thz=1000000000");
	open_capture(&model, directory);
	cr_assert_eq(model.machine_count, 1);
	cr_expect_eq(model.machines[0].clock.hz, 1000000000);
	cr_expect_eq(model.machines[0].clock.count, 1);
}

Test(model, refuses_what_is_no_capture)
{
	struct err err;

	cr_assert_eq(open_paths("/nonexistent/capture", &err), -ENOENT);
	cr_assert_not_null(strstr(err.text, "/nonexistent/capture"));
	model_done(&model);
	cr_assert_eq(open_paths("/proc/self/fdinfo", &err), -EINVAL);
	cr_assert_not_null(strstr(err.text, "not a pillion capture"));
	model_done(&model);
	capture_file(directory, "capture", "format=2\n", 9);
	cr_assert_eq(open_paths(directory, &err), -ENOTSUP);
}

Test(model, numbers_the_capture_ranges)
{
	struct tf_range_page page = {.magic = TF_RANGE_MAGIC, .run = 0x77, .begun = 3, .mode = TF_RANGE_PROFILER_API};
	struct tf_range ranges[] = {{1000 * MS, 1010 * MS}, {1020 * MS, 1030 * MS}, {1040 * MS, 0}};

	write_image(1, 50, 1, 1000 * MS, TF_END_EXIT, 0);
	capture_range(directory, &page, ranges);
	open_capture(&model, directory);
	cr_assert_eq(image_range(model.images, 999 * MS), 0);
	cr_assert_eq(image_range(model.images, 1000 * MS), 1);
	cr_assert_eq(image_range(model.images, 1010 * MS), 0);
	cr_assert_eq(image_range(model.images, 1025 * MS), 2);
	cr_assert_eq(image_range(model.images, 9999 * MS), 3);
	cr_assert_eq(image_range_part(model.images, 1001 * MS, 1005 * MS), 4 * MS);
	cr_assert_eq(image_range_part(model.images, 1001 * MS, 9999 * MS), 9 * MS, "up to the end of the range");
	cr_assert_eq(image_range_part(model.images, 999 * MS, 9999 * MS), 9000 * MS, "begun outside");
}

Test(model, takes_the_rate_of_a_counter_from_its_pairs)
{
	struct writer w;
	struct writer_thread t;

	writer_init(&w, 1, 50, 1, 0);
	w.header.clock = TF_CLOCK_TSC;
	w.header.clock_hz = 0;
	w.header.first = (struct tf_clock_pair){3000000000, 1000 * MS, 1700000001000000000, 100};
	w.header.last[1] = (struct tf_clock_pair){9000000000, 3000 * MS, 1700000003000000000, 100};
	writer_thread(&w, &t, 50, "main", 2 * TF_PAGE);
	writer_save(&w, directory);
	writer_done(&w);
	open_capture(&model, directory);
	cr_assert_eq(clock_map_ns(&model.machines[0].clock, 6000000000), 1700000002000000000);
	cr_assert_eq(clock_map_duration(&model.machines[0].clock, 3000000), 1000000);
}

Test(model, places_times_by_the_launchers_clock_lines_too)
{
	/* The counter runs 1 % slower in the second half: interpolation is exact, a straight line is off by 5 ms. */
	struct clock_map clock = {.source = TF_CLOCK_TSC};
	struct tf_clock_pair pairs[] = {{1000000000, 1000 * MS, 51000 * MS, 0},
					{2000000000, 2000 * MS, 52000 * MS, 0},
					{2990000000, 3000 * MS, 53000 * MS, 0}};

	for (size_t i = 0; i < 3; i++)
		clock_map_add(&clock, &pairs[2 - i]);
	clock_map_build(&clock);
	cr_assert_eq(clock_map_ns(&clock, 1500000000), 51500 * MS);
	cr_assert_leq(llabs((long long)clock_map_ns(&clock, 2495000000) - (long long)(52500 * MS)), 1);
	/* in any order: each time has its own two lines */
	cr_assert_eq(clock_map_ns(&clock, 1500000000), 51500 * MS);
	cr_assert_leq(llabs((long long)clock_map_ticks(&clock, 2500 * MS) - 2495000000), 1);
	cr_assert_leq(llabs((long long)clock_map_ticks(&clock, 1500 * MS) - 1500000000), 1);
	cr_assert_eq(clock.error_ns, 0);
	clock_map_done(&clock);
}

Test(model, interpolates_in_a_short_job_too)
{
	/* 8 ms at 2.5 GHz, where 0.2 ms were measured as 2.5025 GHz: that rate is off by 8 us at the end. A pair whose
	 * reading was interrupted for longer than that is not better. */
	struct clock_map clock = {.source = TF_CLOCK_TSC, .hz = 2502500000u},
			 interrupted = {.source = TF_CLOCK_TSC, .hz = 2500000000u};
	struct tf_clock_pair first = {1000000, 1 * MS, 51 * MS, 130}, last = {21000000, 9 * MS, 59 * MS, 130};

	clock_map_add(&clock, &first);
	clock_map_add(&clock, &last);
	clock_map_build(&clock);
	cr_assert_eq(clock_map_ns(&clock, 11000000), 55 * MS);
	cr_assert_eq(clock_map_ns(&clock, 21000000), 59 * MS);
	cr_assert_eq(clock_map_ticks(&clock, 9 * MS), 21000000);
	clock_map_done(&clock);

	last.monotonic_ns += 20000;
	last.error_ticks = 100000;
	clock_map_add(&interrupted, &first);
	clock_map_add(&interrupted, &last);
	clock_map_build(&interrupted);
	cr_assert_eq(clock_map_ns(&interrupted, 11000000), 55 * MS);
	clock_map_done(&interrupted);
}

Test(model, states_the_error_where_the_time_of_day_was_set)
{
	struct clock_map clock = {.source = TF_CLOCK_MONOTONIC};
	struct tf_clock_pair pairs[] = {{1000 * MS, 1000 * MS, 51000 * MS, 0},
					{2000 * MS, 2000 * MS, 52000 * MS, 0},
					{3000 * MS, 3000 * MS, 63000 * MS, 0}};

	for (size_t i = 0; i < 3; i++)
		clock_map_add(&clock, &pairs[i]);
	clock_map_build(&clock);
	cr_assert_eq(clock_map_ns(&clock, 3000 * MS), 53000 * MS);
	cr_assert_eq(clock.error_ns, 10000 * MS);
	clock_map_done(&clock);
}

/* An image with `samples` samples from `start` on, one each millisecond, that ends with the last of them. */
static void write_sampled(uint64_t nonce, uint32_t via, uint64_t start, unsigned samples, enum tf_end end)
{
	struct writer w;
	struct writer_thread t;

	writer_init(&w, nonce, 10, 1, start);
	writer_command(&w, via == TF_VIA_OBSERVED ? "/bin/seen" : "/bin/own", "x\0", 2);
	w.header.via = via;
	writer_function(&w, TF_GROUP_OSRT, "read");
	writer_thread(&w, &t, 10, "main", 2 * TF_PAGE);
	writer_call(&t, 0, start + 500, 500, NULL, 0);
	for (unsigned i = 0; i < samples; i++)
		writer_event(&t, TF_SAMPLE, 0, start + (i + 1) * MS, 1000);
	writer_end(&w, end, 0, start + (samples + 1) * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

Test(model, drops_the_samples_of_perf_that_a_process_took_itself)
{
	write_sampled(1, TF_VIA_START, 100 * MS, 3, TF_END_EXIT);
	write_sampled(2, TF_VIA_OBSERVED, 90 * MS, 20, TF_END_NONE);
	open_capture(&model, directory);
	cr_assert_eq(model.image_count, 1);
	cr_assert_eq(model.images[0].nonce, 1);
	cr_assert_str_eq(process(10)->ended, "exit 0");
}

Test(model, keeps_the_samples_of_perf_of_a_process_without_its_own)
{
	write_sampled(1, TF_VIA_START, 100 * MS, 0, TF_END_EXIT);
	write_sampled(2, TF_VIA_OBSERVED, 100 * MS + 100, 20, TF_END_NONE);
	open_capture(&model, directory);
	cr_assert_eq(model.image_count, 2);
	cr_assert_eq(model.process_count, 1);
	cr_assert_eq(model.images[0].via, TF_VIA_OBSERVED, "the process's own image is the last one");
	cr_assert_str_eq(process(10)->ended, "exit 0");
	cr_assert_str_eq(model.images[1].executable, "/bin/own");
}

Test(model, keeps_the_samples_of_perf_of_a_later_program_of_the_process)
{
	write_sampled(1, TF_VIA_START, 100 * MS, 3, TF_END_EXEC);
	write_sampled(2, TF_VIA_OBSERVED, 200 * MS, 20, TF_END_NONE);
	open_capture(&model, directory);
	cr_assert_eq(model.image_count, 2);
	cr_assert_eq(model.process_count, 1);
	cr_assert_str_eq(process(10)->ended, "status unknown");
	cr_assert_eq(process(10)->end_ns - process(10)->start_ns, 121 * MS);
}

/* The range file of run 0x77 with one place: the forked image `nonce` of process 10, which took its place at `start`,
 * at most `bound` ticks after the boot. */
static void write_place(uint64_t nonce, uint64_t start, uint64_t bound)
{
	static uint8_t bytes[TF_IMAGES_FIRST + TF_IMAGE_BYTES];
	struct tf_images *images = (struct tf_images *)(bytes + TF_IMAGES_OFFSET);
	struct tf_image *image = (struct tf_image *)(bytes + TF_IMAGES_FIRST);

	*(struct tf_range_page *)bytes =
		(struct tf_range_page){.magic = TF_RANGE_MAGIC, .run = 0x77, .clock = TF_CLOCK_MONOTONIC};
	*images = (struct tf_images){.magic = TF_IMAGES_MAGIC, .next = 1, .host = "node1", .boot = WRITER_BOOT};
	*image = (struct tf_image){.nonce = nonce,
				   .process_start = bound,
				   .pid = 10,
				   .parent_pid = 1,
				   .start_ticks = start,
				   .start_realtime_ns = start + 1700000000000000000u,
				   .end_ticks = start + 10 * MS,
				   .end = TF_END_EXIT,
				   .via = TF_VIA_FORK};
	*(struct tf_thread *)(image + 1) = (struct tf_thread){.chunk = {.magic = TF_CHUNK_MAGIC,
									.kind = TF_CHUNK_FIRST,
									.nonce = nonce,
									.size_bytes = TF_IMAGE_CHUNK_BYTES,
									.tid = 10,
									.base_ticks = start,
									.slots = sizeof(struct tf_thread)},
							      .start_ticks = start};
	capture_file(directory, "node1.77.range", bytes, sizeof(bytes));
}

Test(model, finds_the_process_that_was_observed_before_its_image_took_a_place)
{
	write_sampled(2, TF_VIA_OBSERVED, 100 * MS, 20, TF_END_NONE);
	write_place(1, 105 * MS, 1010);
	open_capture(&model, directory);
	cr_assert_eq(model.problems.count, 0);
	cr_assert_eq(model.image_count, 2);
	cr_assert_eq(model.process_count, 1);
	cr_assert_str_eq(process(10)->ended, "exit 0");
}

Test(model, finds_the_process_that_took_a_place_before_it_was_observed)
{
	write_place(1, 95 * MS, 1010);
	write_sampled(2, TF_VIA_OBSERVED, 100 * MS, 20, TF_END_NONE);
	open_capture(&model, directory);
	cr_assert_eq(model.image_count, 2);
	cr_assert_eq(model.process_count, 1);
}

Test(model, tells_an_observed_process_from_a_later_one_with_its_pid)
{
	write_sampled(2, TF_VIA_OBSERVED, 100 * MS, 20, TF_END_NONE);
	write_place(1, 200 * MS, 1020);
	open_capture(&model, directory);
	cr_assert_eq(model.image_count, 2);
	cr_assert_eq(model.process_count, 2);
}

/* ---- spools ---- */

/* A run whose processes recorded into a directory that is not there any more. */
Test(model, a_spool_that_was_not_moved_has_a_state)
{
	static const char *const texts[] = {
		[SPOOL_MOVING] = "is moved while its launcher runs",
		[SPOOL_LEFT] = "is not in the capture; pillion recover CAPTURE moves it",
		[SPOOL_GONE] = "is lost: the directory does not exist any more",
		[SPOOL_ELSEWHERE] = "is not in the capture; pillion recover CAPTURE moves it, on that host",
	};
	struct ranges ranges = {.run = 0x77};
	struct run_record run = {.id = 0x77, .spool = (char *)"/nonexistent/spool"};
	const struct clock_map *clock;
	struct model m;

	capture_example(directory);
	open_capture(&model, directory);
	m = model;
	m.ranges = &ranges;
	m.ranges_count = 1;
	clock = &m.machines[run.machine].clock;
	ranges.spool_ticks = clock_map_tick_at(clock, m.origin_ns + 1234 * MS) + 1;
	m.machines[0].is_this = true;
	cr_expect_eq(model_spool_since(&m, &run), clock_map_ns(clock, ranges.spool_ticks));
	for (int state = SPOOL_MOVING; state <= SPOOL_ELSEWHERE; state++) {
		SCOPED(buffer) text = {0}, wanted = {0};

		model_spool_text(&m, &run, (enum spool_state)state, &text);
		buffer_print(&wanted, "%s:/nonexistent/spool: what its processes recorded after 1.234 s %s",
			     m.machines[0].host, texts[state]);
		cr_expect_str_eq(text.data, wanted.data, "%s", text.data);
	}
	cr_expect_eq(model_spool(&m, &run), SPOOL_GONE);
	m.machines[0].is_this = false;
	cr_expect_eq(model_spool(&m, &run), SPOOL_ELSEWHERE);
	ranges.spool_ticks = TF_SPOOL_MOVED;
	cr_expect_eq(model_spool(&m, &run), SPOOL_MOVED);
	ranges.run = 0x78;
	cr_expect_eq(model_spool(&m, &run), SPOOL_MOVED, "nothing could be recorded");
}

Test(model, words_of_a_command_have_their_quotes)
{
	static const struct {
		const char *command, *word;
		size_t number;
	} cases[] = {
		{"a 'b c' d", "b c", 1},	 {"a 'b c' d", "d", 2},
		{"'it'\\''s' a", "it'\\''s", 0}, {"'a'\\'' b' c", "a'\\'' b", 0},
		{"'a'\\'' b' c", "c", 1},	 {"'' a", "", 0},
		{"a", "", 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *word;
		size_t length = model_command_word(cases[i].command, cases[i].number, &word);

		cr_expect_eq(length, strlen(cases[i].word), "case %zu: %zu", i, length);
		cr_expect(!strncmp(word, cases[i].word, length), "case %zu", i);
	}
}
