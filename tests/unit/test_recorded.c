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
	writer_sample(&t, BEGIN + 12 * MS, 7000, 0);
	writer_usage(&t, &(struct tf_usage){BEGIN + 100 * MS, 60 * MS, 10 * MS, 10, 0, 0, 0});
	writer_usage(&t, &(struct tf_usage){BEGIN + 100 * MS, 60 * MS, TF_USAGE_UNKNOWN, 0, 0, 0, 0});
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

/* ---- threads ---- */

/* The main thread of the process, by its account: 60 ms on a CPU, 10 runnable. */
static struct thread_time thread_with(const struct tf_range *ranges, uint32_t count, uint64_t *ret_process_cpu_ns)
{
	struct report_context context = {.model = &model};
	SCOPED(partition) p = {0};
	struct thread_time ret;

	open_ranges(ranges, count);
	recorded_partition(&context, true, &p);
	cr_assert_eq(p.count, 1);
	ret = p.threads[0];
	*ret_process_cpu_ns = p.processes[0].cpu_ns;
	return ret;
}

Test(recorded, a_thread_has_its_account_where_all_was_recorded)
{
	uint64_t cpu_ns;
	struct thread_time t = thread_with(NULL, 0, &cpu_ns);

	cr_expect(t.cpu_is_known && t.delay_is_known);
	cr_expect_eq(t.cpu_ns, 60 * MS);
	cr_expect_eq(t.delay_ns, 10 * MS);
	cr_expect_eq(t.lifetime_ns, 100 * MS);
	cr_expect_eq(cpu_ns, 60 * MS);
	model_done(&model);
	t = thread_with((const struct tf_range[]){{990, 1200}}, 1, &cpu_ns);
	cr_expect(t.cpu_is_known && t.delay_is_known, "one range has all of it");
	cr_expect_eq(t.cpu_ns, 60 * MS);
	cr_expect_eq(cpu_ns, TF_USAGE_UNKNOWN, "but children may have lived outside");
}

/* What the kernel accounts is of the whole life: of a part, the samples tell the CPU time. */
Test(recorded, a_thread_has_its_samples_in_ranges)
{
	uint64_t cpu_ns;
	struct thread_time t = thread_with((const struct tf_range[]){{1010, 1020}, {1050, 1080}}, 2, &cpu_ns);

	cr_expect_eq(t.lifetime_ns, 40 * MS);
	cr_expect(t.cpu_is_known && !t.delay_is_known && !t.is_outside);
	cr_expect_eq(t.cpu_ns, 7 * MS);
	cr_expect_eq(t.delay_ns, 0);
	cr_expect_eq(t.blocked_ns, 33 * MS);
	cr_expect_eq(cpu_ns, TF_USAGE_UNKNOWN);
	model_done(&model);
	t = thread_with((const struct tf_range[]){{1010, 1015}}, 1, &cpu_ns);
	cr_expect_eq(t.lifetime_ns, 5 * MS);
	cr_expect_eq(t.cpu_ns, 5 * MS, "no more than it has lived");
	cr_expect_eq(t.blocked_ns, 0);
	model_done(&model);
	t = thread_with((const struct tf_range[]){{900, 1000}}, 1, &cpu_ns);
	cr_expect(t.is_outside);
	cr_expect_eq(t.lifetime_ns, 0);
	cr_expect_eq(t.cpu_ns, 0);
}
