/* SPDX-License-Identifier: Apache-2.0 */
/* How long a process was recorded, with capture ranges and without. */
#include "captured.h"
#include "report/time/recorded.h"

#define MS 1000000ull
#define BEGIN (1000 * MS)

CAPTURED_SUITE(recorded);

/* A process that lives from 1000 to 1100 ms, with these ranges, in ms; none: the whole run is recorded. */
static void open_ranges(const struct tf_range *ranges, uint32_t count)
{
	struct tf_range_page page = {
		.magic = TF_RANGE_MAGIC, .run = 0x77, .begun = count, .mode = TF_RANGE_PROFILER_API};
	struct tf_range spans[8];
	struct writer_thread t;
	struct writer w;

	writer_init(&w, 1, 10, 1, BEGIN);
	writer_thread(&w, &t, 10, "main", 4 * TF_PAGE);
	writer_event(&t, TF_MARK, 0, BEGIN + MS, 0);
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * MS);
	writer_save(&w, directory);
	writer_done(&w);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t cancelled = ranges[i].end_ticks & TF_RANGE_CANCELLED;

		spans[i] = (struct tf_range){ranges[i].begin_ticks * MS,
					     (ranges[i].end_ticks ^ cancelled) * MS | cancelled};
	}
	if (count)
		capture_range(directory, &page, spans);
	open_capture(&model, directory);
	cr_assert_eq(model.process_count, 1);
}

static void expect(uint64_t run_ms, size_t ranges, uint64_t process_ms)
{
	struct recorded r = recorded_find(&model);

	cr_expect_eq(r.is_part, ranges > 0);
	cr_expect_eq(r.ranges, ranges);
	cr_expect_eq(r.ns, run_ms * MS, "%llu ns", (unsigned long long)r.ns);
	cr_expect_eq(recorded_wall(&model, model.processes), process_ms * MS, "%llu ns",
		     (unsigned long long)recorded_wall(&model, model.processes));
}

Test(recorded, the_whole_run)
{
	open_ranges(NULL, 0);
	expect(0, 0, 100);
	model.processes->end_ns = model.processes->start_ns;
	cr_expect_eq(recorded_wall(&model, model.processes), 0);
}

Test(recorded, ranges_add_up)
{
	open_ranges((const struct tf_range[]){{1010, 1020}, {1050, 1080}}, 2);
	expect(40, 2, 40);
}

/* The first range began before the process, the last one did not end. */
Test(recorded, a_process_has_its_part_of_a_range)
{
	open_ranges((const struct tf_range[]){{990, 1010}, {1070, 0}}, 2);
	expect(50, 2, 40);
}

Test(recorded, what_was_cancelled_does_not_count)
{
	open_ranges((const struct tf_range[]){{1010, 1020}, {1030, 1080 | TF_RANGE_CANCELLED}, {1090, 1095}}, 3);
	expect(15, 3, 15);
}
