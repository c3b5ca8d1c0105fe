/* SPDX-License-Identifier: Apache-2.0 */
/* What one process has found in a trace is the trace for another one that has the file, too. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "report/base/bytes.h"
#include "report/read/reader.h"
#include "trace_writer.h"

enum { COUNTS = 12 }; /* the numbers before the arrays, of which the first is that of the chunks */

static struct writer w;
static struct trace *trace, *again;
static struct buffer saved;
static struct err err;

/* Two threads, the second of which has ended, with calls, a counter and texts; its chunks are full. */
static void begin(void)
{
	struct writer_thread first, second;
	const uint8_t *bytes;
	uint16_t read_id;
	size_t size;

	writer_init(&w, 0xabc, 10, 1, 1000);
	read_id = writer_function(&w, TF_GROUP_OSRT, "read");
	writer_thread(&w, &first, 10, "main", 2 * TF_PAGE);
	writer_thread_first(&w, &second, 11, 4, 2 * TF_PAGE);
	writer_counter(&second, read_id, 0, (struct tf_counter){3, 90});
	writer_text(&first, TF_BLOB_STRING, 1, "step");
	for (uint64_t i = 1; i <= 600; i++) {
		uint64_t arg = tf_arg(TF_ARG_FD, 0, i);

		writer_call(i % 3 ? &first : &second, read_id, 2000 + i * 10, 5, &arg, 1);
	}
	writer_text(&second, TF_BLOB_STRING, 2, "load");
	writer_end(&w, TF_END_EXIT, 3, 90000);
	bytes = writer_bytes(&w, &size);
	cr_assert_eq(reader_open_bytes(bytes, size, &trace, &err), 0, "%s", err.text);
	trace_save(trace, &saved);
}

static void end(void)
{
	reader_close(again);
	reader_close(trace);
	buffer_done(&saved);
	writer_done(&w);
}

TestSuite(reader_saved, .init = begin, .fini = end);

/* From the first bytes of what was saved. */
static int load(size_t size)
{
	struct bytes from = bytes_of(&saved);
	struct mapping mapping;
	const uint8_t *bytes;
	size_t all;

	from.left = size;
	bytes = writer_bytes(&w, &all);
	mapping_from_bytes(bytes, all, &mapping);
	return reader_open_saved("a.trace", &mapping, &from, &again, &err);
}

Test(reader_saved, threads_texts_and_counters_are_those_that_were_found)
{
	cr_assert_eq(load(saved.size), 0, "%s", err.text);
	cr_assert_eq(again->thread_count, 2);
	for (size_t i = 0; i < 2; i++) {
		cr_expect_eq(again->threads[i].tid, 10 + i);
		cr_expect_str_eq(again->threads[i].name, trace->threads[i].name);
		cr_expect_eq(again->threads[i].events, i ? 200 : 400);
		cr_expect_eq((const uint8_t *)again->threads[i].page - again->bytes.data,
			     (const uint8_t *)trace->threads[i].page - trace->bytes.data);
	}
	cr_expect_eq(again->counter_count, 1);
	cr_expect_eq(again->chunk_count, trace->chunk_count);
	cr_expect_eq(again->blob_count, trace->blob_count);
	cr_expect_eq(again->written_bytes, trace->written_bytes);
	cr_expect_not_null(trace_definition(again, TF_BLOB_STRING, 1));
	cr_expect_not_null(trace_definition(again, TF_BLOB_STRING, 2));
	cr_expect_null(trace_definition(again, TF_BLOB_STRING, 3));
}

Test(reader_saved, events_are_those_of_the_file)
{
	cr_assert_eq(load(saved.size), 0, "%s", err.text);
	for (size_t i = 0; i < 2; i++) {
		struct cursor a, b;
		struct event x, y;

		cursor_init(&a, trace, &trace->threads[i]);
		cursor_init(&b, again, &again->threads[i]);
		while (cursor_next(&a, &x)) {
			cr_assert(cursor_next(&b, &y));
			cr_assert_eq(x.ticks, y.ticks);
			cr_assert_eq(x.duration, y.duration);
			cr_assert_eq(x.args[0], y.args[0]);
		}
		cr_assert_not(cursor_next(&b, &y));
	}
}

Test(reader_saved, what_was_damaged_is_still_known)
{
	trace->torn = 1;
	trace->orphans = 2;
	trace->broken = 3;
	trace->holes = 4;
	trace->damaged_bytes = 5;
	trace->missing_bytes = 6;
	buffer_clear(&saved);
	trace_save(trace, &saved);
	cr_assert_eq(load(saved.size), 0, "%s", err.text);
	cr_expect_eq(again->torn, 1);
	cr_expect_eq(again->orphans, 2);
	cr_expect_eq(again->broken, 3);
	cr_expect_eq(again->holes, 4);
	cr_expect_eq(again->damaged_bytes, 5);
	cr_expect_eq(again->missing_bytes, 6);
}

Test(reader_saved, a_part_of_it_is_refused)
{
	for (size_t size = 0; size < saved.size; size += size < 512 ? 1 : 61) {
		cr_assert_eq(load(size), -EPROTO, "%zu of %zu bytes", size, saved.size);
		cr_assert_null(again);
	}
	cr_expect_str_eq(err.text, "a.trace: is not what another process has read");
}

/* Of a file that has become shorter since: the last chunk is not in it any more. */
Test(reader_saved, a_place_beyond_the_file_is_refused)
{
	struct chunk *chunks = (struct chunk *)(saved.data + COUNTS * sizeof(uint64_t));

	chunks[0].offset += 1ull << 40;
	cr_expect_eq(load(saved.size), -EPROTO);
	chunks[0].offset -= 1ull << 40;
	cr_expect_eq(load(saved.size), 0, "%s", err.text);
}
