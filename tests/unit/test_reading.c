/* SPDX-License-Identifier: Apache-2.0 */
/* Whether other threads of a process, or those of a process that it has started, read what it waits for. */
#include "captured.h"
#include "report/events/reading.h"

CAPTURED_SUITE(reading);

#define MS 1000000ull
#define BEGIN (1000 * MS)

/* A process that calls a function once. */
static void write_process(uint32_t pid, uint32_t parent, const char *function, uint64_t from, uint64_t to)
{
	struct writer_thread t;
	struct writer w;
	uint16_t f;

	writer_init(&w, pid, pid, parent, BEGIN);
	f = writer_function(&w, TF_GROUP_OSRT, function);
	writer_thread(&w, &t, pid, "t", 2 * TF_PAGE);
	writer_call(&t, f, BEGIN + to * MS, (to - from) * MS, NULL, 0);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 400 * MS);
	writer_save(&w, directory);
	writer_done(&w);
}

static size_t process_of(uint32_t pid)
{
	for (size_t i = 0; i < model.process_count; i++)
		if (model.processes[i].pid == pid)
			return i;
	cr_assert_fail("no process %u", pid);
	return 0;
}

static bool reads(uint32_t pid, uint64_t from, uint64_t to)
{
	uint64_t start = model.processes[process_of(pid)].start_ns;

	return reading_by_another(&model, process_of(pid), start + from, start + to);
}

/* Process 20 reads from 100 to 150 ms, and process 10 has started it; process 30 reads all the time, 40 writes. */
Test(reading, takes_half_of_the_time)
{
	write_process(10, 1, "futex", 0, 300);
	write_process(20, 10, "read", 100, 150);
	write_process(30, 1, "read", 0, 400);
	write_process(40, 30, "write", 0, 400);
	open_capture(&model, directory);
	cr_expect(reads(10, 100 * MS, 200 * MS), "just half");
	cr_expect_not(reads(10, 100 * MS, 200 * MS + 2));
	cr_expect(reads(10, 50 * MS, 150 * MS));
	cr_expect_not(reads(10, 50 * MS - 2, 150 * MS));
	cr_expect(reads(10, 110 * MS, 120 * MS), "all of it");
	cr_expect_not(reads(10, 150 * MS, 200 * MS), "afterwards");
	cr_expect(reads(20, 110 * MS, 120 * MS), "it does itself");
	cr_expect(reads(30, 390 * MS, 410 * MS), "up to its end");
	cr_expect_not(reads(30, 400 * MS, 410 * MS), "it has ended");
	cr_expect_not(reads(40, 0, 400 * MS), "neither who started it, nor by writing");
}
