/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/read/merge.h"
#include "captured.h"

CAPTURED_SUITE(merge);

/* Writes an image with `threads` threads whose i-th call ends at base + step * i + thread. */
static void write_image(uint64_t nonce, uint32_t pid, const char *host, uint64_t realtime, uint32_t threads,
			uint64_t step)
{
	struct writer w;
	struct writer_thread t;
	uint16_t id;

	writer_init(&w, nonce, pid, 1, 1000000);
	snprintf(w.header.host, sizeof(w.header.host), "%s", host);
	snprintf(w.header.boot, sizeof(w.header.boot), "boot-of-%s", host);
	w.header.first.realtime_ns = realtime;
	id = writer_function(&w, TF_GROUP_OSRT, "read");
	for (uint32_t k = 0; k < threads; k++) {
		writer_thread(&w, &t, pid + k, "t", 2 * TF_PAGE);
		for (uint64_t i = 1; i <= 1000; i++)
			writer_call(&t, id, 1000000 + i * step + k, 10, NULL, 0);
	}
	writer_save(&w, directory);
	writer_done(&w);
}

static size_t count_in_order(struct merge *g)
{
	const struct merge_event *e;
	uint64_t last = 0;
	size_t count = 0;

	for (; (e = merge_next(g)); count++) {
		cr_assert_geq(e->ns, last);
		last = e->ns;
	}
	return count;
}

Test(merge, orders_events_of_all_threads_and_processes)
{
	struct merge *g;

	write_image(1, 100, "a", 1700000000000000000, 3, 50);
	write_image(2, 200, "a", 1700000000000000000, 2, 70);
	open_capture(&model, directory);
	g = merge_new(&model, SIZE_MAX);
	cr_assert_eq(count_in_order(g), 5000);
	merge_free(g);
}

Test(merge, places_hosts_by_the_time_of_day)
{
	struct merge *g;
	const struct merge_event *e;

	/* Both have the same ticks; the CLOCK_REALTIME of b is 20 us ahead. */
	write_image(1, 100, "b", 1700000000000020000, 1, 50);
	write_image(2, 100, "a", 1700000000000000000, 1, 50);
	open_capture(&model, directory);
	g = merge_new(&model, SIZE_MAX);
	for (int i = 0; i < 400; i++) {
		e = merge_next(g);
		cr_assert_str_eq(e->image->trace->header.host, "a");
	}
	cr_assert_eq(count_in_order(g), 1600);
	merge_free(g);
}

Test(merge, keeps_to_one_process_if_told)
{
	struct merge *g;

	write_image(1, 100, "a", 1700000000000000000, 1, 50);
	write_image(2, 200, "a", 1700000000000000000, 4, 70);
	open_capture(&model, directory);
	for (size_t i = 0; i < 2; i++) {
		g = merge_new(&model, i);
		cr_assert_eq(count_in_order(g), model.processes[i].pid == 100 ? 1000 : 4000);
		merge_free(g);
	}
}

Test(merge, of_nothing_is_empty)
{
	struct merge *g;

	open_capture(&model, directory);
	g = merge_new(&model, SIZE_MAX);
	cr_assert_null(merge_next(g));
	merge_free(g);
}
