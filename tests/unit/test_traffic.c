/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of calls below the threshold belong to what their descriptor referred to. */
#include <criterion/criterion.h>
#include <string.h>

#include "report/events/traffic.h"
#include "trace_writer.h"

static struct writer w;
static struct writer_thread t;
static struct trace *trace;
static struct descriptor_search search;
static uint16_t read_id, readlink_id;

static void start(void)
{
	writer_init(&w, 0xd1, 1, 0, 1000);
	read_id = writer_function(&w, TF_GROUP_OSRT, "read");
	readlink_id = writer_function(&w, TF_GROUP_OSRT, "readlink");
	writer_thread(&w, &t, 1, "one", TF_PAGE);
}

static void read_back(void)
{
	struct err err;
	size_t size;
	const uint8_t *bytes = writer_bytes(&w, &size);

	cr_assert_eq(reader_open_bytes(bytes, size, &trace, &err), 0);
	search = descriptor_search(trace);
}

static void done(void)
{
	reader_close(trace);
	writer_done(&w);
}

TestSuite(traffic, .init = start, .fini = done);

static struct traffic nth(size_t n)
{
	struct traffic found = {0};

	blobs_each(b, trace, TF_BLOB_TRAFFIC)
		if (traffic_read(trace, b, &found) && !n--)
			return found;
	cr_assert_fail("there are not so many");
	return found;
}

Test(traffic, is_read_as_it_was_written)
{
	struct traffic found;

	writer_traffic(&t, read_id, 3, 7, 2000, (struct tf_counter){40, 900}, 1ull << 40);
	read_back();
	found = nth(0);
	cr_assert_eq(found.function, read_id);
	cr_assert_eq(found.fd, 3);
	cr_assert_eq(found.generation, 7);
	cr_assert_eq(found.from_ticks, 2000);
	cr_assert_eq(found.calls, 40);
	cr_assert_eq(found.ticks, 900);
	cr_assert_eq(found.bytes, 1ull << 40);
	cr_assert_eq(found.thread, trace->threads);
}

Test(traffic, too_short_to_be_one_is_left_out)
{
	struct traffic found;

	writer_blob(&t, TF_BLOB_TRAFFIC, 0, "1234567", 7);
	read_back();
	blobs_each(b, trace, TF_BLOB_TRAFFIC)
		cr_assert_not(traffic_read(trace, b, &found));
}

Test(traffic, is_visited_in_its_order_among_other_blobs)
{
	size_t descriptors = 0;

	writer_traffic(&t, read_id, 3, 7, 2000, (struct tf_counter){1, 1}, 1);
	writer_descriptor(&t, 1, 3, 1000, TF_DESCRIPTOR_FILE, "/a");
	writer_traffic(&t, read_id, 3, 7, 1000, (struct tf_counter){1, 1}, 1);
	writer_descriptor(&t, 2, 4, 1000, TF_DESCRIPTOR_FILE, "/b");
	read_back();
	cr_assert_eq(nth(0).from_ticks, 2000);
	cr_assert_eq(nth(1).from_ticks, 1000);
	blobs_each(b, trace, TF_BLOB_DESCRIPTOR)
		cr_assert_eq(b->id, ++descriptors);
	cr_assert_eq(descriptors, 2);
	blobs_each(b, trace, TF_BLOB_NOTE)
		cr_assert_fail("there is none");
	blobs_each(b, NULL, TF_BLOB_NOTE)
		cr_assert_fail("there is no trace");
}

Test(traffic, what_has_no_sum_is_counted)
{
	writer_page(&t)->counters[read_id] = (struct tf_counter){100, 1000};
	writer_page(&t)->counters[readlink_id] = (struct tf_counter){9, 1000};
	writer_traffic(&t, read_id, 3, 0, 2000, (struct tf_counter){40, 900}, 0);
	writer_traffic(&t, read_id, 3, 1, 3000, (struct tf_counter){30, 900}, 0);
	read_back();
	cr_assert_eq(traffic_counts(trace).without_file, 30);
}

static void assert_is(uint64_t fd, uint32_t generation, uint64_t ticks, uint64_t from)
{
	const struct descriptor *found = descriptors_find_generation(&search, fd, generation, ticks);

	cr_assert_eq(found ? found->from_ticks : 0, from, "descriptor %d, generation %u at %d", (int)fd, generation,
		     (int)ticks);
}

Test(traffic, a_generation_may_be_described_later)
{
	writer_descriptor(&t, 1, 3, 1000, TF_DESCRIPTOR_FILE, "/a");
	writer_descriptor_generation(&t, 2, 3, 2000, 4, TF_DESCRIPTOR_FILE, "/b");
	writer_descriptor_generation(&t, 3, 4, 2000, 5, TF_DESCRIPTOR_FILE, "/c");
	read_back();
	assert_is(3, 0, 1500, 1000);
	assert_is(3, 4, 1500, 2000);
	assert_is(3, 4, 2500, 2000);
	assert_is(3, 5, 2500, 0);
	assert_is(4, 5, 1000, 2000);
	assert_is(4, 5, 9000, 2000);
	assert_is(5, 0, 1000, 0);
}

Test(traffic, tells_calls_with_a_path_from_those_with_a_descriptor)
{
	writer_traffic(&t, read_id, 3, 7, 2000, (struct tf_counter){40, 900}, 100);
	writer_traffic(&t, readlink_id, TF_NO_DESCRIPTOR, 2, 2000, (struct tf_counter){30, 900}, 0);
	writer_traffic(&t, readlink_id, TF_NO_DESCRIPTOR, 5, 2000, (struct tf_counter){6, 900}, 1);
	read_back();
	cr_assert_eq(traffic_counts(trace).of_paths, 36);
}
