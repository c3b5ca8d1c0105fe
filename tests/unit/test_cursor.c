/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of events pass over definitions. */
#include <criterion/criterion.h>

#include "report/read/reader.h"
#include "trace_writer.h"

static struct writer w;
static struct writer_thread t;
static struct trace *trace;
static uint16_t read_id, write_id;

static void setup(void)
{
	writer_init(&w, 0xabc, 10, 1, 1000);
	read_id = writer_function(&w, TF_GROUP_OSRT, "read");
	write_id = writer_function(&w, TF_GROUP_OSRT, "write");
	writer_thread(&w, &t, 10, "main", 2 * TF_PAGE);
}

static void teardown(void)
{
	reader_close(trace);
	writer_done(&w);
}

TestSuite(cursor, .init = setup, .fini = teardown);

static void open_it(void)
{
	struct err err;
	size_t size;
	const uint8_t *bytes = writer_bytes(&w, &size);

	cr_assert_eq(reader_open_bytes(bytes, size, &trace, &err), 0);
}

static void assert_next(struct cursor *c, unsigned int id, uint64_t ticks, uint64_t duration)
{
	struct event e;

	cr_assert(cursor_next(c, &e));
	cr_assert_eq(e.id, id);
	cr_assert_eq(e.ticks, ticks, "%llu", (unsigned long long)e.ticks);
	cr_assert_eq(e.duration, duration);
}

Test(cursor, passes_over_definitions_but_not_over_payloads)
{
	const uint64_t payload = tf_arg(TF_ARG_EXTENDED, 0, 9);
	struct cursor c;
	struct event e;

	writer_text(&t, TF_BLOB_STRING, 1, "a text of more than seven bytes");
	writer_text(&t, TF_BLOB_STRING, 2, "");
	writer_text(&t, TF_BLOB_PAYLOAD, 9, "payload");
	writer_text(&t, TF_BLOB_STRING, 3, "seven b");
	writer_event(&t, TF_MARK, 0, 1100, 1);
	writer_slot(&t, payload);
	writer_text(&t, TF_BLOB_STRING, 4, "eight by");
	writer_call(&t, read_id, 1200, 5, NULL, 0);
	writer_text(&t, TF_BLOB_STRING, 5, "the last");
	open_it();
	cr_assert_eq(trace->blob_count, 5);
	cursor_init(&c, trace, trace->threads);
	cr_assert(cursor_next(&c, &e));
	cr_assert_eq(e.kind, TF_MARK);
	cr_assert_not_null(e.payload);
	assert_next(&c, read_id, 1200, 5);
	cr_assert_not(cursor_next(&c, &e));
}

Test(cursor, loses_nothing_behind_a_definition_that_is_too_long)
{
	struct cursor c;
	struct event e;

	writer_slot(&t, tf_blob(TF_BLOB_STRING, 100, 1));
	writer_call(&t, read_id, 1100, 5, NULL, 0);
	for (size_t i = 0; i < 20; i++)
		writer_call(&t, write_id, 1200 + i, 5, NULL, 0);
	open_it();
	cursor_init(&c, trace, trace->threads);
	assert_next(&c, read_id, 1100, 5);
	for (size_t i = 0; i < 20; i++)
		assert_next(&c, write_id, 1200 + i, 5);
	cr_assert_not(cursor_next(&c, &e));
}
