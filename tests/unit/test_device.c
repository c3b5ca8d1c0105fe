/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report/events/cuda/device.h"
#include "report/tables/report.h"
#include "opened.h"

static struct writer w;
static struct writer_thread t;
static struct model model;
static struct report_context context = {.model = &model};

static void setup(void)
{
	writer_init(&w, 1, 10, 1, 1000);
	writer_thread(&w, &t, 10, "main", 4 * TF_PAGE);
}

static void teardown(void)
{
	model_done(&model);
	writer_done(&w);
}

TestSuite(device, .init = setup, .fini = teardown);

struct seen {
	struct device_record records[400];
	size_t count;
};

static void keep(struct scan *s, const struct device_record *r)
{
	struct seen *seen = s->more;

	cr_assert_lt(seen->count, 400u);
	seen->records[seen->count++] = *r;
}

static uint64_t scan_all(struct seen *seen)
{
	struct scan s = {.context = &context, .more = seen};
	uint64_t broken = 0;

	seen->count = 0;
	device_scan(&s, keep, &broken);
	return broken;
}

Test(device, records_come_out_as_they_went_in)
{
	static const uint64_t starts[] = {5, 4, 1ull << 62, 0, 1, 127, 128, 1ull << 32, 7};
	struct writer_device_record in[9];
	struct seen *out = malloc(sizeof(*out));

	for (uint32_t i = 0; i < 9; i++)
		in[i] = (struct writer_device_record){i * 0xfffffff, i % 2 ? UINT32_MAX - i : i, starts[i],
						      starts[8 - i], i % 3 ? starts[i] : 0};
	writer_device(&t, TF_DEVICE_TIME_MONOTONIC, in, 9);
	open_written(&model, &w);
	cr_assert_eq(scan_all(out), 0);
	cr_assert_eq(out->count, 9);
	for (size_t i = 0; i < 9; i++) {
		cr_assert_eq(out->records[i].operation, in[i].work, "%zu", i);
		cr_assert_eq(out->records[i].start_ns, in[i].start, "%zu", i);
		cr_assert_eq(out->records[i].duration_ns, in[i].duration, "%zu", i);
		cr_assert_eq(out->records[i].correlation, in[i].correlation, "%zu", i);
		cr_assert_eq(out->records[i].bytes, in[i].bytes, "%zu", i);
	}
	free(out);
}

Test(device, a_batch_that_breaks_off_is_counted_and_the_next_one_read)
{
	struct tf_device_batch head = {.base_ns = 5, .count = 1000000};
	uint8_t bytes[sizeof(head) + 3] = {0};
	struct writer_device_record one = {1, 1, 10, 10, 0};
	struct seen *out = malloc(sizeof(*out));

	memcpy(bytes, &head, sizeof(head));
	memset(bytes + sizeof(head), 0xff, 3);
	writer_blob(&t, TF_BLOB_DEVICE, 0, bytes, sizeof(bytes));
	writer_blob(&t, TF_BLOB_DEVICE, 0, bytes, 7);
	writer_device(&t, TF_DEVICE_TIME_MONOTONIC, &one, 1);
	open_written(&model, &w);
	cr_assert_eq(scan_all(out), 1000001);
	cr_assert_eq(out->count, 1);
	free(out);
}

Test(device, times_of_another_clock_are_placed_between_its_pairs)
{
	static const struct tf_device_clock pairs[] = {{10000, 2000, 30}, {20000, 4000, 50}, {5000, 1000, 20}};
	struct writer_device_record in[] = {
		{1, 1, 15000, 100, 0}, {1, 2, 5000, 100, 0}, {1, 3, 21000, 100, 0}, {1, 4, 4500, 100, 0}};
	static const uint64_t wanted[] = {3000, 1000, 5000, 500};
	struct seen *out = malloc(sizeof(*out));
	struct device_source source;

	writer_device_source(&t, TF_DEVICE_TIME_OWN, 13, "libcupti.so.11.0");
	for (size_t i = 0; i < 3; i++)
		writer_blob(&t, TF_BLOB_DEVICE_CLOCK, 0, &pairs[i], sizeof(pairs[i]));
	writer_device(&t, TF_DEVICE_TIME_OWN, in, 4);
	open_written(&model, &w);
	scan_all(out);
	for (size_t i = 0; i < 4; i++)
		cr_assert_eq(out->records[i].start_ns, wanted[i], "%zu: %llu", i,
			     (unsigned long long)out->records[i].start_ns);
	source = device_source(model.images[0].trace);
	cr_assert(source.is_known && source.is_translated);
	cr_assert_eq(source.error_ns, 50);
	cr_assert_str_eq(source.soname, "libcupti.so.11.0");
	free(out);
}

Test(device, times_by_events_say_so_and_how_exact_they_are)
{
	static const struct tf_device_source source = {TF_SOURCE_EVENTS, TF_DEVICE_TIME_MONOTONIC, 0};
	static const struct tf_device_clock pair = {10000, 2000, 70};
	struct writer_device_record in = {1, 1, 15000, 100, 0};
	struct seen *out = malloc(sizeof(*out));
	struct buffer text = {0};

	writer_blob(&t, TF_BLOB_DEVICE_SOURCE, 0, &source, sizeof(source));
	writer_blob(&t, TF_BLOB_DEVICE_CLOCK, 0, &pair, sizeof(pair));
	writer_device(&t, TF_DEVICE_TIME_MONOTONIC, &in, 1);
	open_written(&model, &w);
	scan_all(out);
	cr_assert_eq(out->records[0].start_ns, 15000, "placed already");
	device_remark(&model, &text);
	cr_assert_str_eq(text.data,
			 "device times: CUDA events before and after each operation, 1 process image, on the "
			 "device's clock, placed to 70 ns");
	buffer_done(&text);
	free(out);
}

Test(device, a_step_of_the_wall_clock_changes_no_duration)
{
	struct clock_map a = {.source = TF_CLOCK_TSC, .hz = 3000000000u};
	const uint64_t hour = 3600000000000u;

	for (uint64_t s = 1; s <= 12; s++)
		clock_map_add(&a, &(struct tf_clock_pair){s * 3000000000u, s * 1000000000u,
							  s * 1000000000u + (s < 5 ? 50 * hour : 51 * hour), 10});
	clock_map_build(&a);
	for (uint64_t s = 1; s < 12; s++)
		cr_assert_eq(clock_map_ns(&a, (s + 1) * 3000000000u) - clock_map_ns(&a, s * 3000000000u), 1000000000u);
	cr_assert_geq(a.error_ns, hour, "the stated error has the step in it");
	clock_map_done(&a);
}

Test(device, ticks_are_found_by_monotonic_time)
{
	struct clock_map a = {.source = TF_CLOCK_TSC, .hz = 3000000000u};

	clock_map_add(&a, &(struct tf_clock_pair){3000000000u, 1000000000u, 5000000000u, 10});
	clock_map_add(&a, &(struct tf_clock_pair){33000000000u, 11000000000u, 15000000000u, 10});
	clock_map_build(&a);
	cr_assert_eq(clock_map_ticks(&a, 2000000000u), 6000000000u);
	cr_assert_eq(clock_map_ticks(&a, 500000000u), 1500000000u);
	cr_assert_eq(clock_map_ns(&a, clock_map_ticks(&a, 12345678901u)), 4000000000u + 12345678901u);
	clock_map_done(&a);
}
