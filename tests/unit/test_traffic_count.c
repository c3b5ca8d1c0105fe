/* SPDX-License-Identifier: Apache-2.0 */
/* Calls below the threshold are counted by function and descriptor, each of them once. */
#include <criterion/criterion.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder.h"
#include "runtime/recorder/record/traffic.h"

RECORDER_FUNCTIONS({"read", TF_GROUP_OSRT}, {"write", TF_GROUP_OSRT});

enum { READ, WRITE, GENERATIONS = 8, DESCRIPTORS = 1024 };

static void start(void)
{
	cr_assert(recording_begin());
	cr_assert(hook_attached());
}

static void clean(void)
{
	cr_assert(recording_end());
}

TestSuite(traffic_count, .init = start, .fini = clean);

struct sums {
	uint64_t blobs, calls, ticks, bytes;
};

/* What the file has of one descriptor, of all if fd is -1. */
struct wanted {
	int fd, generation; /* -1: any */
	unsigned function;
	struct sums sums;
};

static void visit(const struct tf_chunk *w, void *context)
{
	const uint64_t *slot = (const uint64_t *)((const char *)w + tf_slots_offset(w));
	const uint64_t *end = (const uint64_t *)((const char *)w + w->size_bytes) - TF_TRAFFIC_NUMBERS;
	struct wanted *wanted = context;

	for (; slot < end; slot++) {
		uint64_t key = slot[1 + TF_TRAFFIC_KEY] >> 8;

		if (tf_kind(*slot) != TF_BLOB || tf_blob_kind(*slot) != TF_BLOB_TRAFFIC ||
		    (wanted->fd >= 0 && (int)(key & 0xffff) != wanted->fd) || key >> 32 != wanted->function ||
		    (wanted->generation >= 0 && (int)(key >> 16 & 0xffff) != wanted->generation))
			continue;
		cr_assert_eq(tf_blob_length(*slot), sizeof(struct tf_traffic));
		for (unsigned i = 0; i < TF_TRAFFIC_NUMBERS; i++)
			cr_assert_eq(slot[1 + i] & 0xff, TF_DATA);
		wanted->sums.blobs++;
		wanted->sums.calls += slot[1 + TF_TRAFFIC_CALLS] >> 8;
		wanted->sums.ticks += slot[1 + TF_TRAFFIC_TICKS] >> 8;
		wanted->sums.bytes += slot[1 + TF_TRAFFIC_BYTES] >> 8;
	}
}

static struct sums sums_of(unsigned function, int fd, int generation)
{
	struct wanted wanted = {.fd = fd, .generation = generation, .function = function};

	cr_assert(recording_each_chunk(process.path, visit, &wanted));
	return wanted.sums;
}

static void fill_chunk(void)
{
	const struct tf_chunk *chunk = thread_self.chunk;

	while (thread_self.chunk == chunk)
		event_instant(TF_MARK, 0, 0, NULL, 0);
}

Test(traffic_count, adds_calls_times_and_bytes)
{
	for (int i = 0; i < 1000; i++) {
		traffic_count(READ, 3, 1000, 5, 10);
		traffic_count(WRITE, 3, 1000, 7, 20);
		traffic_count(READ, 4, 1000, 9, i % 2 ? -1 : 4);
	}
	traffic_count(READ, -1, 1000, 5, 10);
	traffic_count(READ, 65535, 1000, 5, 10);
	cr_assert_eq(sums_of(READ, 3, 0).calls, 1000);
	cr_assert_eq(sums_of(READ, 3, 0).ticks, 5000);
	cr_assert_eq(sums_of(READ, 3, 0).bytes, 10000);
	cr_assert_eq(sums_of(WRITE, 3, 0).bytes, 20000);
	cr_assert_eq(sums_of(READ, 4, 0).calls, 1000);
	cr_assert_eq(sums_of(READ, 4, 0).bytes, 2000);
	cr_assert_eq(sums_of(READ, -1, -1).blobs, 2);
}

Test(traffic_count, a_descriptor_that_was_closed_has_new_counters)
{
	for (int i = 0; i < GENERATIONS; i++) {
		for (int k = 0; k <= i; k++)
			traffic_count(READ, 5, 1000, 1, 1);
		descriptor_invalidate(5);
	}
	for (int i = 0; i < GENERATIONS; i++) {
		cr_assert_eq(sums_of(READ, 5, i).calls, (uint64_t)i + 1);
		cr_assert_eq(sums_of(READ, 5, i).blobs, 1);
	}
}

Test(traffic_count, counts_many_descriptors)
{
	for (int i = 0; i < 10; i++)
		for (int fd = 0; fd < DESCRIPTORS / 4; fd++)
			traffic_count(READ, fd, 1000, 1, fd);
	for (int fd = 0; fd < DESCRIPTORS / 4; fd++)
		cr_assert_eq(sums_of(READ, fd, 0).calls, 10);
}

Test(traffic_count, gives_up_counters_if_there_are_too_many_descriptors)
{
	uint64_t counted;

	for (int i = 0; i < 100; i++)
		for (int fd = 0; fd < DESCRIPTORS; fd++)
			traffic_count(READ, fd, 1000, 1, 1);
	counted = sums_of(READ, -1, 0).calls;
	cr_assert(counted > 10 * DESCRIPTORS);
	cr_assert(counted <= 100 * DESCRIPTORS);
}

/* As in a server that accepts many connections one after the other: more than the table has entries. */
Test(traffic_count, reuses_the_counters_of_closed_descriptors)
{
	enum { CONNECTIONS = 3000 };

	for (int i = 0; i < CONNECTIONS; i++) {
		int fd = 3 + i % 50;

		traffic_count(READ, fd, 1000, 1, 1);
		descriptor_invalidate(fd);
	}
	cr_assert_eq(sums_of(READ, -1, -1).calls, CONNECTIONS);
	cr_assert_eq(sums_of(READ, -1, -1).blobs, CONNECTIONS);
}

Test(traffic_count, continues_in_the_next_chunk)
{
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < 100; k++)
			traffic_count(READ, 3, 1000, 1, 2);
		fill_chunk();
	}
	cr_assert_eq(sums_of(READ, 3, 0).calls, 400);
	cr_assert_eq(sums_of(READ, 3, 0).bytes, 800);
	cr_assert_eq(sums_of(READ, 3, 0).blobs, 4);
}

Test(traffic_count, an_unknown_descriptor_is_described_after_a_few_calls)
{
	uint32_t texts = process.descriptor_texts;

	for (int i = 0; i < 15; i++)
		traffic_count(READ, 0, 1000, 1, 1);
	cr_assert_eq(process.descriptor_texts, texts);
	for (int i = 0; i < 100; i++)
		traffic_count(READ, 0, 1000, 1, 1);
	cr_assert_eq(process.descriptor_texts, texts + 1);
	cr_assert_eq(sums_of(READ, 0, 0).calls, 115);
}

static volatile sig_atomic_t handled;

/* Replaces the chunk, and uses the table, in the middle of a count. */
static void handle(int signal)
{
	handled++;
	traffic_count(WRITE, handled % 64, 1000, 1, 1);
	if (handled % 8 == 0)
		fill_chunk();
}

Test(traffic_count, is_exact_if_handlers_interrupt_it)
{
	const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	uint64_t calls = 0;

	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; handled < 500; calls++)
		traffic_count(READ, (int)(calls % 40), 1000, 1, 1);
	setitimer(ITIMER_REAL, &never, NULL);
	cr_assert_eq(sums_of(READ, -1, 0).calls, calls);
	cr_assert_eq(sums_of(WRITE, -1, 0).calls, (uint64_t)handled);
}

Test(traffic_count, a_child_counts_for_itself)
{
	uint64_t calls;
	int status;
	pid_t pid;

	for (int fd = 0; fd < 40; fd++)
		traffic_count(READ, fd, 1000, 1, 1);
	pid = fork();
	if (!pid) {
		if (!hook_attached())
			_exit(1);
		for (int fd = 0; fd < 40; fd++)
			traffic_count(READ, fd, 1000, 1, 1);
		calls = sums_of(READ, -1, -1).calls;
		_exit(calls == 40 ? 0 : 2);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
	cr_assert_eq(sums_of(READ, -1, -1).calls, 40);
}
