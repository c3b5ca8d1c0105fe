/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <sys/mman.h>

#include "runtime/shared/common/range.h"

static struct tf_range_page *page;

static void open_page(void)
{
	page = mmap(NULL, TF_RANGE_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(page != MAP_FAILED);
	page->magic = TF_RANGE_MAGIC;
	page->mode = TF_RANGE_PROFILER_API;
}

static void close_page(void)
{
	munmap(page, TF_RANGE_FILE_BYTES);
}

static void assert_range(unsigned i, uint64_t begin, uint64_t end)
{
	cr_assert_eq(page->ranges[i].begin_ticks, begin);
	cr_assert_eq(page->ranges[i].end_ticks, end);
}

TestSuite(range, .init = open_page, .fini = close_page);

Test(range, opens_with_the_first_start_and_closes_with_the_last_stop)
{
	range_start(page, 11, 100);
	cr_assert_eq(page->recording, ~0u);
	range_start(page, 12, 110);
	range_stop(page, 11, 120);
	cr_assert_eq(page->recording, ~0u);
	range_stop(page, 12, 130);
	cr_assert_eq(page->recording, 0);
	cr_assert_eq(page->begun, 1);
	assert_range(0, 100, 130);
}

Test(range, a_second_start_of_a_process_changes_nothing)
{
	range_start(page, 11, 100);
	range_start(page, 11, 110);
	range_stop(page, 11, 120);
	cr_assert_eq(page->recording, 0);
	assert_range(0, 100, 120);
}

Test(range, a_stop_of_one_who_is_not_inside_changes_nothing)
{
	range_start(page, 11, 100);
	range_stop(page, 12, 110);
	cr_assert_eq(page->recording, ~0u);
	cr_assert_eq(page->inside, 1);
}

Test(range, after_the_last_allowed_range_none_opens)
{
	page->limit = 2;
	for (unsigned i = 0; i < 3; i++) {
		range_start(page, 11, 100 + 10 * i);
		range_stop(page, 11, 105 + 10 * i);
	}
	cr_assert_eq(page->begun, 2);
	cr_assert(range_has_ended(page));
	assert_range(1, 110, 115);
}

Test(range, without_a_limit_ranges_are_numbered)
{
	for (unsigned i = 0; i < 1000; i++) {
		range_start(page, 11, 2 * i + 1);
		range_stop(page, 11, 2 * i + 2);
	}
	cr_assert_eq(page->begun, 1000);
	assert_range(999, 1999, 2000);
	cr_assert_not(range_has_ended(page));
}

Test(range, a_stop_that_is_to_be_ignored_leaves_it_open)
{
	page->shutdown = RANGE_STOP_IGNORED;
	range_start(page, 11, 100);
	range_stop(page, 11, 110);
	cr_assert_eq(page->recording, ~0u);
}

Test(range, a_start_during_the_delay_opens_when_it_is_over)
{
	page->ended = RANGE_HELD;
	range_start(page, 11, 100);
	cr_assert_eq(page->recording, 0);
	range_release(page, 150);
	cr_assert_eq(page->recording, ~0u);
	assert_range(0, 150, 0);
}

static bool is_alive(uint32_t pid)
{
	return pid != 11;
}

Test(range, closes_when_those_inside_have_died)
{
	range_start(page, 11, 100);
	range_start(page, 12, 100);
	range_drop_dead(page, 200, is_alive);
	cr_assert_eq(page->recording, ~0u);
	range_stop(page, 12, 210);
	cr_assert_eq(page->recording, 0);
}

Test(range, end_is_for_good)
{
	range_start(page, 11, 100);
	range_end(page, 120);
	range_start(page, 12, 130);
	cr_assert_eq(page->recording, 0);
	cr_assert_eq(page->begun, 1);
	assert_range(0, 100, 120);
}

Test(range, a_process_inside_twice_over_leaves_with_the_last_step)
{
	uint32_t inside = 0;

	range_step(page, 11, 90, &inside, -1); /* more ends than beginnings */
	cr_assert_eq(inside, 0);
	range_step(page, 11, 100, &inside, 1);
	range_step(page, 11, 110, &inside, 1);
	range_step(page, 11, 120, &inside, -1);
	cr_assert_eq(page->recording, ~0u);
	range_step(page, 11, 130, &inside, -1);
	cr_assert_eq(page->recording, 0);
	assert_range(0, 100, 130);
}

Test(range, one_begins_no_earlier_than_the_one_before_it_ended)
{
	range_start(page, 11, 100);
	range_stop(page, 11, 130);
	range_start(page, 12, 125); /* an earlier time: it waited for the lock */
	range_stop(page, 12, 140);
	assert_range(1, 130, 140);
}

static uint64_t at_time_30(void)
{
	return 30;
}

Test(range, after_a_cancelled_one_the_next_begins_at_its_own_time)
{
	uint32_t number;

	page->mode = TF_RANGE_ON_REQUEST;
	cr_assert_eq(range_request_open(page, 10, &number), 0);
	cr_assert_eq(range_request_close(page, at_time_30, 1, true, &number), 0);
	cr_assert_eq(range_request_open(page, 50, &number), 0);
	assert_range(0, 10, 30 | TF_RANGE_CANCELLED);
	assert_range(1, 50, 0);
	cr_assert_eq(range_request_close(page, at_time_30, 1, false, &number), 0);
	cr_assert_eq(range_request_open(page, 20, &number), 0);
	assert_range(2, 30, 0);
}
