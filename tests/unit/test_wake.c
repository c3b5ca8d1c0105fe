/* SPDX-License-Identifier: Apache-2.0 */
/* Who ended a wait: notes of releases, and which of them a waiter finds. */
#include <criterion/criterion.h>

#include "runtime/recorder/record/thread/thread_state.h"
#include "runtime/recorder/record/wake.h"
#include "runtime/shared/common/clock.h"

static struct tf_thread page;
static char lock[1 << 20] __attribute__((aligned(64)));

/* The thread that the next notes are of. */
static void be(uint32_t tid)
{
	if (!wake_is_on)
		wake_start();
	thread_self.page = &page;
	page.chunk.tid = tid;
}

static void note(uint32_t tid, const void *address, enum wake_kind kind)
{
	be(tid);
	wake_note(address, kind);
}

Test(wake, is_found_only_after_the_start_of_the_wait)
{
	uint64_t start;

	note(1, lock, WAKE_RELEASE);
	note(1, lock + 64, WAKE_ONE);
	start = clock_now();
	cr_expect_eq(wake_released(lock, start, false).tid, 0);
	cr_expect_eq(wake_take(lock + 64, start).tid, 0);
	note(2, lock, WAKE_RELEASE);
	cr_expect_eq(wake_released(lock, start, false).tid, 2);
}

Test(wake, last_release_of_a_lock_counts)
{
	uint64_t start = clock_now();

	for (uint32_t tid = 1; tid <= 9; tid++)
		note(tid, lock, WAKE_RELEASE);
	cr_expect_eq(wake_released(lock, start, false).tid, 9);
}

Test(wake, readers_that_were_let_in_together_do_not_wake_each_other)
{
	uint64_t start = clock_now();

	note(1, lock, WAKE_RELEASE);
	note(2, lock, WAKE_READER);
	cr_expect_eq(wake_released(lock, start, true).tid, 1, "the writer");
	cr_expect_eq(wake_released(lock, start, false).tid, 2, "a writer waits for the last reader, too");
}

Test(wake, each_post_wakes_one_waiter)
{
	uint64_t start = clock_now();

	note(1, lock, WAKE_ONE);
	note(2, lock, WAKE_ONE);
	cr_expect_eq(wake_take(lock, start).tid, 1);
	cr_expect_eq(wake_take(lock, start).tid, 2);
	cr_expect_eq(wake_take(lock, start).tid, 0);
}

Test(wake, a_broadcast_wakes_all)
{
	uint64_t start = clock_now();

	note(1, lock, WAKE_ALL);
	for (int i = 0; i < 10; i++)
		cr_expect_eq(wake_take(lock, start).tid, 1);
}

/* In the bucket of `address`, at another address. */
static const char *beside(const char *address, int n)
{
	for (const char *at = lock; at < lock + sizeof(lock); at += 64)
		if (at != address && wake_bucket(at) == wake_bucket(address) && !n--)
			return at;
	return NULL;
}

Test(wake, addresses_of_one_bucket_are_told_apart)
{
	uint64_t start = clock_now();
	const char *other = beside(lock, 0);

	cr_assert(other);
	note(1, lock, WAKE_RELEASE);
	note(2, other, WAKE_RELEASE);
	note(3, lock + 4, WAKE_RELEASE);
	cr_expect_eq(wake_released(lock, start, false).tid, 1);
	cr_expect_eq(wake_released(other, start, false).tid, 2);
	cr_expect_eq(wake_released(lock + 4, start, false).tid, 3);
}

Test(wake, a_full_bucket_forgets_the_oldest)
{
	uint64_t start = clock_now();

	for (uint32_t tid = 1; tid <= 5; tid++)
		note(tid, lock, WAKE_ONE);
	for (uint32_t tid = 2; tid <= 5; tid++)
		cr_expect_eq(wake_take(lock, start).tid, tid);
}

Test(wake, a_thread_that_arrives_again_at_a_barrier_did_not_end_the_round)
{
	uint64_t first, last;

	be(1);
	first = wake_arrived(lock);
	be(2);
	last = wake_arrived(lock);
	cr_expect_eq(wake_left(lock, last).tid, 2, "it arrived last");
	wake_arrived(lock); /* the next round */
	cr_expect_eq(wake_left(lock, first).tid, 2);
	cr_expect_eq(wake_left(lock, first).ticks, wake_left(lock, last).ticks);
}

Test(wake, waiters_are_counted)
{
	be(1);
	cr_expect_not(wake_is_waited(lock));
	wake_wait(lock);
	wake_wait(lock);
	wake_waited(lock);
	cr_expect(wake_is_waited(lock));
	wake_waited(lock);
	cr_expect_not(wake_is_waited(lock));
}

Test(wake, the_time_since_is_bounded)
{
	cr_expect_eq(wake_arg((struct wake){0}, 100), 0);
	cr_expect_eq(tf_arg_value(wake_arg((struct wake){90, 7}, 100)), 7 << 24 | 10);
	cr_expect_eq(tf_arg_value(wake_arg((struct wake){110, 7}, 100)), 7 << 24, "clocks of two CPUs may differ");
	cr_expect_eq(tf_arg_value(wake_arg((struct wake){1, 7}, 1ull << 40)), 7 << 24 | 0xffffff);
}
