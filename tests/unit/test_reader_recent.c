/* SPDX-License-Identifier: Apache-2.0 */
/* Of a long trace, what a reader of the latest events needs. */
#include <criterion/criterion.h>

#include "report/read/reader.h"
#include "trace_writer.h"

enum { CHUNK = 2 * TF_PAGE, CHUNK_CALLS = CHUNK / 8 };
#define SECOND 1000000000ull
#define EPOCH 1700000000000000000ull

static struct writer w;
static struct writer_thread t;
static struct trace *trace;
static uint16_t read_id;

static void setup(void)
{
	writer_init(&w, 0xabc, 10, 1, 1000);
	read_id = writer_function(&w, TF_GROUP_OSRT, "read");
	writer_thread(&w, &t, 10, "main", CHUNK);
}

static void teardown(void)
{
	reader_close(trace);
	trace = NULL;
	writer_done(&w);
}

TestSuite(reader_recent, .init = setup, .fini = teardown);

/* A string and calls, in `chunks` chunks; every call takes SECOND / 1000. */
static void write_chunks(size_t chunks, uint32_t string)
{
	if (string)
		writer_blob(&t, TF_BLOB_STRING, string, "text", 4);
	for (size_t i = 0; i < chunks * CHUNK_CALLS; i++)
		writer_call(&t, read_id, t.now + SECOND / 1000, 5, NULL, 0);
}

static void open_since(uint64_t ns)
{
	const uint8_t *bytes;
	struct err err;
	size_t size;

	reader_since_ns = ns;
	writer_end(&w, TF_END_EXIT, 0, t.now);
	bytes = writer_bytes(&w, &size);
	cr_assert_eq(reader_open_bytes(bytes, size, &trace, &err), 0, "%s", err.text);
	reader_since_ns = 0;
}

static uint64_t count_events(void)
{
	return trace->threads[0].events;
}

static size_t chunks_read(void)
{
	size_t count = 0;

	for (size_t i = 0; i < trace->chunk_count; i++)
		count += !trace->chunks[i].is_left_out;
	return count;
}

Test(reader_recent, reads_the_last_chunks_and_those_that_define)
{
	uint64_t half;

	write_chunks(2500, 1);
	write_chunks(2500, 2);
	half = t.now;
	write_chunks(50, 3);
	open_since(EPOCH + half);
	cr_assert_lt(chunks_read(), 70);
	cr_assert_gt(chunks_read(), 50);
	cr_assert_gt(count_events(), 50 * CHUNK_CALLS);
	cr_assert_eq(trace->threads[0].last_ticks, t.now);
	for (uint32_t i = 1; i <= 3; i++)
		cr_assert_not_null(trace_definition(trace, TF_BLOB_STRING, i));
	cr_assert_eq(trace->unread_bytes, 0);
}

Test(reader_recent, reads_a_part_of_what_defines_from_both_ends)
{
	for (uint32_t i = 1; i <= 6000; i++)
		write_chunks(1, i);
	open_since(EPOCH + t.now - SECOND);
	cr_assert_gt(trace->unread_bytes, 8 << 20);
	cr_assert_lt(chunks_read() * CHUNK, 17 << 20);
	cr_assert_not_null(trace_definition(trace, TF_BLOB_STRING, 1));
	cr_assert_not_null(trace_definition(trace, TF_BLOB_STRING, 900));
	cr_assert_null(trace_definition(trace, TF_BLOB_STRING, 3000));
	cr_assert_not_null(trace_definition(trace, TF_BLOB_STRING, 5200));
	cr_assert_not_null(trace_definition(trace, TF_BLOB_STRING, 6000));
}

Test(reader_recent, reads_a_short_trace_or_all_of_any_as_a_whole)
{
	write_chunks(100, 1);
	open_since(EPOCH + t.now);
	cr_assert_eq(chunks_read(), trace->chunk_count);
	reader_close(trace);
	write_chunks(5000, 2);
	open_since(0);
	cr_assert_eq(chunks_read(), trace->chunk_count);
	reader_close(trace);
	open_since(UINT64_MAX);
	cr_assert_eq(count_events(), 0);
	cr_assert_gt(trace->chunk_count, 5000);
}
