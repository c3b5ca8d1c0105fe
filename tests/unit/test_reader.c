/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/read/reader.h"
#include "trace_writer.h"

static struct writer w;
static struct writer_thread t;
static struct trace *trace;
static struct err err;
static uint16_t read_id, write_id, wait_id;

static void setup(void)
{
	writer_init(&w, 0xabc, 10, 1, 1000);
	read_id = writer_function(&w, TF_GROUP_OSRT, "read");
	write_id = writer_function(&w, TF_GROUP_OSRT, "write");
	wait_id = writer_function(&w, TF_GROUP_OSRT, "waitpid");
	writer_thread(&w, &t, 10, "main", 2 * TF_PAGE);
}

static void teardown(void)
{
	reader_close(trace);
	trace = NULL;
	writer_done(&w);
}

TestSuite(reader, .init = setup, .fini = teardown);

static void open_it(void)
{
	size_t size;
	const uint8_t *bytes = writer_bytes(&w, &size);

	cr_assert_eq(reader_open_bytes(bytes, size, &trace, &err), 0, "%s", err.text);
}

static size_t count_events(void)
{
	size_t count = 0;

	for (size_t i = 0; i < trace->thread_count; i++)
		count += trace->threads[i].events;
	return count;
}

static void assert_next(struct cursor *c, unsigned int id, uint64_t ticks, uint64_t duration)
{
	struct event e;

	cr_assert(cursor_next(c, &e));
	cr_assert_eq(e.id, id);
	cr_assert_eq(e.ticks, ticks, "%llu", (unsigned long long)e.ticks);
	cr_assert_eq(e.duration, duration);
}

static void assert_refused(const void *data, size_t size, int code, const char *why)
{
	cr_assert_eq(reader_open_bytes(data, size, &trace, &err), code);
	cr_assert_null(trace);
	cr_assert_not_null(strstr(err.text, why), "%s", err.text);
}

static void assert_counted(size_t i, uint32_t function, uint64_t calls, uint64_t ticks)
{
	cr_assert_gt(trace->counter_count, i);
	cr_assert_eq(trace->counters[i].function, function);
	cr_assert_eq(trace->counters[i].sum.calls, calls);
	cr_assert_eq(trace->counters[i].sum.ticks, ticks);
}

Test(reader, gives_calls_their_times_and_durations)
{
	static const uint64_t ends[] = {1500, 1400, 5000000, 4500000, 90000000000, 1000000000000000};
	struct cursor c;
	struct event e;

	for (size_t i = 0; i < 6; i++)
		writer_call(&t, i % 2 ? read_id : write_id, ends[i], i * 0x7fffff, NULL, 0);
	open_it();
	cursor_init(&c, trace, trace->threads);
	for (size_t i = 0; i < 6; i++)
		assert_next(&c, i % 2 ? read_id : write_id, ends[i], i * 0x7fffff);
	cr_assert_not(cursor_next(&c, &e));
	cr_assert_eq(trace->threads[0].last_ticks, 1000000000000000);
}

Test(reader, goes_on_from_chunk_to_chunk)
{
	for (uint64_t i = 0; i < 5000; i++)
		writer_call(&t, read_id, 2000 + i * 10, 5, NULL, 0);
	open_it();
	cr_assert_eq(trace->thread_count, 1);
	cr_assert_gt(trace->chunk_count, 4);
	cr_assert_eq(count_events(), 5000);
	cr_assert_eq(trace->torn, 0);
}

Test(reader, steps_over_torn_slots_and_what_belonged_to_them)
{
	writer_call(&t, read_id, 1100, 5, NULL, 0);
	writer_torn(&t, 1);
	writer_slot(&t, tf_arg(TF_ARG_FD, 0, 3));
	writer_call(&t, read_id, 1200, 5, NULL, 0);
	writer_torn(&t, 3);
	writer_slot(&t, TF_DATA);
	writer_call(&t, read_id, 1300, 5, NULL, 0);
	writer_torn(&t, 5);
	open_it();
	cr_assert_eq(count_events(), 3);
	cr_assert_eq(trace->torn, 4); /* the last five slots appear never taken */
	cr_assert_eq(trace->orphans, 0);
}

/* Both ways of reading calls, over the thread as a whole and chunk by chunk. */
Test(reader, gives_the_same_calls_without_their_times)
{
	uint64_t args[] = {tf_arg(TF_ARG_FD, 0, 7), tf_arg(TF_ARG_STACK, 0, 1234)}, count = 0;
	struct cursor all, one;
	struct plain_call call;
	struct event e;

	for (uint64_t i = 0; i < 4000; i++) {
		writer_call(&t, i % 3 ? read_id : write_id, 2000 + i * 10, i % 7 ? i : 0xffffff + i, args, i % 3);
		if (i % 11 == 0)
			writer_torn(&t, 1 + i % 3);
		if (i % 13 == 0)
			writer_text(&t, TF_BLOB_STRING, (uint32_t)i, "a text that needs several slots");
		if (i % 5 == 0)
			writer_event(&t, i % 2 ? TF_PUSH : TF_POP, 0, 2000 + i * 10, 1);
	}
	writer_slot(&t, tf_arg(TF_ARG_LONG, 0, 99));
	writer_torn(&t, 3);
	open_it();
	cr_assert_gt(trace->threads[0].chunk_count, 4);
	cursor_init(&all, trace, trace->threads);
	for (size_t i = 0; i < trace->threads[0].chunk_count; i++) {
		cursor_init(&one, trace, trace->threads);
		cursor_restrict(&one, i, 1);
		while (cursor_next_call(&one, &call)) {
			do
				cr_assert(cursor_next(&all, &e));
			while (e.kind != TF_CALL);
			cr_assert_eq(call.function, e.id);
			cr_assert_eq(call.duration, e.duration);
			count++;
		}
	}
	cr_assert_eq(count, 4000);
	while (cursor_next(&all, &e))
		cr_assert_neq(e.kind, TF_CALL);
}

Test(reader, keeps_the_arguments_of_an_event)
{
	uint64_t args[] = {tf_arg(TF_ARG_FD, 0, 7), tf_arg(TF_ARG_STACK, 0, 1234)};
	struct cursor c;
	struct event e;

	writer_call(&t, read_id, 1100, 0x1000000, args, 2);
	open_it();
	cursor_init(&c, trace, trace->threads);
	cr_assert(cursor_next(&c, &e));
	cr_assert_eq(e.duration, 0x1000000);
	cr_assert_eq(tf_arg_value(event_arg(&e, TF_ARG_STACK)), 1234);
	cr_assert_eq(event_arg(&e, TF_ARG_COPY), 0);
}

Test(reader, finds_definitions_wherever_they_stand)
{
	struct writer_thread other;
	struct buffer text = {0};

	writer_event(&t, TF_MARK, 0, 1100, 5);
	writer_thread(&w, &other, 11, "other", 2 * TF_PAGE);
	writer_text(&other, TF_BLOB_STRING, 5, "a text of more than seven bytes");
	writer_text(&other, TF_BLOB_STRING, 6, "");
	open_it();
	trace_text(trace, trace_definition(trace, TF_BLOB_STRING, 5), &text);
	cr_assert_str_eq(text.data, "a text of more than seven bytes");
	cr_assert_not_null(trace_definition(trace, TF_BLOB_STRING, 6));
	cr_assert_null(trace_definition(trace, TF_BLOB_STRING, 7));
	cr_assert_null(trace_definition(trace, TF_BLOB_STACK, 5));
	buffer_done(&text);
}

Test(reader, counts_a_blob_that_is_not_whole)
{
	writer_slot(&t, tf_blob(TF_BLOB_STRING, 100, 1));
	writer_slot(&t, TF_DATA);
	writer_call(&t, read_id, 1100, 5, NULL, 0);
	open_it();
	cr_assert_eq(trace->broken, 1);
	cr_assert_null(trace_definition(trace, TF_BLOB_STRING, 1));
	cr_assert_eq(count_events(), 1);
}

Test(reader, steps_over_kinds_of_a_later_minor_version)
{
	struct tf_chunk *chunk;

	w.header.version_minor = 9;
	writer_slot(&t, 29);
	writer_slot(&t, tf_arg(TF_ARG_FD, 0, 3));
	writer_call(&t, read_id, 1100, 5, NULL, 0);
	chunk = (struct tf_chunk *)(w.data + t.chunk);
	t.chunk = 0;
	writer_call(&t, read_id, 1200, 5, NULL, 0);
	chunk = (struct tf_chunk *)(w.data + t.chunk);
	chunk->kind = 77;
	t.chunk = 0;
	writer_call(&t, read_id, 1300, 5, NULL, 0);
	open_it();
	cr_assert_eq(count_events(), 2);
	cr_assert_eq(trace->orphans + trace->broken + trace->damaged_bytes, 0);
}

/* Of a chunk of --ring that began before what is kept. */
Test(reader, leaves_out_what_a_ring_does_not_keep)
{
	const uint64_t kept = 1 << 30;
	struct {
		struct tf_counted head;
		struct tf_counted_calls calls;
	} counted = {{.ticks = kept, .count = 1}, {.calls = 3, .ticks = 30, .function = read_id}};
	struct writer_thread other;
	struct plain_call call;
	struct cursor c;

	w.header.ring_ticks = kept;
	writer_text(&t, TF_BLOB_STRING, 1, "old");
	writer_text(&t, TF_BLOB_DOMAIN, 1, "a fact");
	writer_call(&t, read_id, 1100, 5, NULL, 0);
	writer_call(&t, read_id, kept + 10, 5, NULL, 0);
	writer_text(&t, TF_BLOB_STRING, 2, "new");
	writer_call(&t, write_id, kept + 20, 6, NULL, 0);
	writer_thread_first(&w, &other, 11, 2, 2 * TF_PAGE);
	writer_counter(&other, read_id, 1, (struct tf_counter){5, 50});
	writer_blob(&other, TF_BLOB_COUNTED, other.number, &counted, sizeof(counted));
	open_it();
	cr_assert_eq(count_events(), 2);
	cr_assert_null(trace_definition(trace, TF_BLOB_STRING, 1));
	cr_assert_not_null(trace_definition(trace, TF_BLOB_STRING, 2));
	cr_assert_not_null(trace_definition(trace, TF_BLOB_DOMAIN, 1));
	assert_counted(0, read_id, 2, 20);
	cursor_init(&c, trace, &trace->threads[0]);
	cr_assert(cursor_next_call(&c, &call) && call.function == read_id);
	cr_assert(cursor_next_call(&c, &call) && call.function == write_id);
	cr_assert_not(cursor_next_call(&c, &call));
}

Test(reader, goes_on_behind_a_chunk_whose_head_was_never_written)
{
	struct tf_chunk *chunk;

	writer_call(&t, read_id, 1100, 5, NULL, 0);
	t.chunk = 0;
	writer_torn(&t, 1);
	chunk = (struct tf_chunk *)(w.data + t.chunk);
	memset(chunk, 0, sizeof(*chunk));
	t.chunk = 0;
	writer_call(&t, read_id, 1200, 5, NULL, 0);
	open_it();
	cr_assert_eq(count_events(), 2);
	cr_assert_eq(trace->holes, 1);
	cr_assert_eq(trace->damaged_bytes, 0);
}

Test(reader, goes_on_behind_a_chunk_whose_head_was_never_finished)
{
	struct tf_chunk *chunk;

	for (unsigned stored = 0; stored < 3; stored++) {
		writer_torn(&t, 1);
		chunk = (struct tf_chunk *)(w.data + t.chunk);
		memset(chunk, 0, t.chunk_size);
		chunk->nonce = w.header.nonce;
		chunk->size_bytes = stored > 0 ? t.chunk_size : 0;
		if (stored > 1)
			memset((char *)chunk + TF_PAGE, 0x5a, 100); /* copied before the header was complete */
		t.chunk = 0;
		writer_call(&t, read_id, 1200, 5, NULL, 0);
		t.chunk = 0;
	}
	open_it();
	cr_assert_eq(count_events(), 3);
	cr_assert_eq(trace->holes, 3);
	cr_assert_eq(trace->damaged_bytes, 0);
}

Test(reader, measures_damage_and_reads_the_rest)
{
	size_t first;

	writer_call(&t, read_id, 1100, 5, NULL, 0);
	first = t.chunk;
	t.chunk = 0;
	writer_call(&t, read_id, 1200, 5, NULL, 0);
	memset(w.data + first, 0x5a, TF_PAGE);
	open_it();
	cr_assert_eq(count_events(), 1);
	cr_assert_eq(trace->damaged_bytes, TF_PAGE);
}

Test(reader, tells_how_much_of_a_truncated_file_is_missing)
{
	size_t size;
	const uint8_t *bytes;

	for (uint64_t i = 0; i < 500; i++)
		writer_call(&t, read_id, 1100 + i, 5, NULL, 0);
	bytes = writer_bytes(&w, &size);
	cr_assert_eq(reader_open_bytes(bytes, size - TF_PAGE - 1, &trace, &err), 0);
	cr_assert_eq(trace->missing_bytes, TF_PAGE + 1);
	cr_assert_gt(count_events(), 400);
	reader_close(trace);
	cr_assert_eq(reader_open_bytes(bytes, TF_PAGE + 3, &trace, &err), 0);
	cr_expect(trace->missing_bytes == w.header.function_bytes - 3 && trace->broken == 1);
}

Test(reader, refuses_what_is_no_trace)
{
	static const uint8_t zeros[TF_PAGE];
	size_t size;
	const uint8_t *bytes;

	assert_refused("", 0, -ENODATA, "empty");
	assert_refused("#!/bin/sh\necho", 14, -EPROTO, "not a trace file");
	assert_refused("x", 1, -EPROTO, "not a trace file");
	assert_refused(zeros, sizeof(zeros), -ENODATA, "killed immediately");
	bytes = writer_bytes(&w, &size);
	assert_refused(bytes, 100, -ENODATA, "truncated within its header");
	w.header.version_major = 2;
	bytes = writer_bytes(&w, &size);
	assert_refused(bytes, size, -ENOTSUP, "format version 2.");
	w.header.byte_order = 0x04030201;
	bytes = writer_bytes(&w, &size);
	assert_refused(bytes, size, -ENOTSUP, "byte order");
}

Test(reader, refuses_a_file_that_is_not_there)
{
	cr_assert_eq(reader_open("/nonexistent/x.trace", &trace, &err), -ENOENT);
	cr_assert_not_null(strstr(err.text, "/nonexistent/x.trace"));
	cr_assert_lt(reader_open("/dev/null", &trace, &err), 0);
}

Test(reader, outlives_a_file_that_is_cut_while_it_is_read)
{
	char path[] = "/tmp/pillion-reader-XXXXXX";
	int fd = mkstemp(path);
	size_t size;
	const uint8_t *bytes;
	struct cursor c;
	struct event e;

	for (uint64_t i = 0; i < 5000; i++)
		writer_call(&t, read_id, 1100 + i, 5, NULL, 0);
	bytes = writer_bytes(&w, &size);
	cr_assert_eq(write(fd, bytes, size), (ssize_t)size);
	cr_assert_eq(reader_open(path, &trace, &err), 0, "%s", err.text);
	cr_assert_eq(ftruncate(fd, 5 * TF_PAGE), 0);
	close(fd);
	unlink(path);
	cursor_init(&c, trace, trace->threads);
	while (cursor_next(&c, &e))
		;
	cr_assert(mapping_was_cut());
}

Test(reader, knows_the_call_in_progress)
{
	uint32_t function;
	uint64_t start, now = ((uint64_t)5 << 48) - 100;

	writer_page(&t)->start_ticks = now;
	writer_page(&t)->current =
		(uint64_t)(write_id + 1) << TF_CURRENT_SHIFT | ((now + 200) & (((uint64_t)1 << 48) - 1));
	open_it();
	cr_assert(thread_current(trace->threads, &function, &start));
	cr_assert_eq(function, write_id);
	cr_assert_eq(start, now + 200); /* the 48 bits wrapped around in between */
}

Test(reader, cuts_counters_to_the_page_they_stand_in)
{
	writer_page(&t)->counters[write_id] = (struct tf_counter){3, 50};
	writer_page(&t)->counter_count = 0xffffffff;
	open_it();
	assert_counted(0, write_id, 3, 50);
}

Test(reader, reads_slots_behind_the_page_of_a_first_chunk)
{
	struct writer_thread first;
	struct cursor cursor;
	struct event e;
	unsigned calls = 0;

	writer_thread_first(&w, &first, 11, 4, TF_PAGE);
	for (unsigned i = 0; i < 1000; i++)
		writer_call(&first, read_id, 1100 + 10 * i, 5, NULL, 0);
	open_it();
	cr_assert_eq(trace->thread_count, 2);
	cr_assert_eq(trace->threads[1].tid, 11);
	cr_assert_eq(trace->threads[1].chunk_count, 3);
	cursor_init(&cursor, trace, &trace->threads[1]);
	for (; cursor_next(&cursor, &e); calls++)
		cr_assert_eq(e.ticks, 1100 + 10 * calls);
	cr_assert_eq(calls, 1000);
	cr_assert_eq(trace->torn + trace->orphans + trace->broken + trace->damaged_bytes, 0);
}

Test(reader, finds_counters_by_their_places)
{
	struct writer_thread first, more;

	writer_thread_first(&w, &first, 11, 4, TF_PAGE);
	writer_counter(&first, write_id, 2, (struct tf_counter){7, 70});
	writer_thread_first(&w, &more, 11, 4, TF_PAGE);
	writer_page(&more)->chunk.thread = first.number;
	writer_page(&more)->chunk.sequence = 1;
	writer_counter(&more, read_id, 0, (struct tf_counter){8, 80});
	open_it();
	cr_assert_eq(trace->thread_count, 2);
	cr_assert_eq(trace->threads[0].counter_count, 0);
	cr_assert_eq(trace->threads[1].counter_count, 2);
	assert_counted(0, write_id, 7, 70);
	assert_counted(1, read_id, 8, 80);
}

Test(reader, trusts_no_place_and_no_offset_of_a_first_chunk)
{
	static const uint32_t offsets[] = {
		0, 1, sizeof(struct tf_chunk) - 8, sizeof(struct tf_thread) + 4, TF_PAGE - 4, TF_PAGE, 0xfffffff8};
	struct writer_thread first;

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		writer_thread_first(&w, &first, 11, 4, TF_PAGE);
		writer_counter(&first, write_id, 2, (struct tf_counter){7, 70});
		writer_page(&first)->chunk.slots = offsets[i];
	}
	writer_thread_first(&w, &first, 11, 4, TF_PAGE);
	memset(&writer_page(&first)->counters[4], 0xff, 4);
	writer_thread_first(&w, &first, 11, 0xffffff, TF_PAGE);
	open_it();
	cr_assert_eq(count_events(), 0);
	cr_assert_eq(trace->thread_count, 3 + sizeof(offsets) / sizeof(offsets[0]));
	for (size_t i = 0; i < trace->thread_count; i++)
		cr_assert_leq(trace->threads[i].counter_count, 2);
}

static struct trace *open_by(size_t workers)
{
	struct trace *ret;
	struct mapping copy;
	size_t size;
	const uint8_t *bytes = writer_bytes(&w, &size);

	mapping_from_bytes(bytes, size, &copy);
	cr_assert_eq(reader_open_mapping("(bytes)", &copy, workers, &ret, &err), 0, "%s", err.text);
	return ret;
}

static void assert_same_thread(const struct trace_thread *a, const struct trace_thread *b)
{
	cr_expect_str_eq(a->name, b->name);
	cr_expect_eq(a->events, b->events);
	cr_expect_eq(a->first_ticks, b->first_ticks);
	cr_expect_eq(a->last_ticks, b->last_ticks);
	cr_expect_eq(a->longest_ticks, b->longest_ticks);
	cr_expect_eq(a->unmatched_pushes, b->unmatched_pushes);
	cr_expect_eq(a->unmatched_pops, b->unmatched_pops);
	cr_expect_eq(a->samples, b->samples);
	cr_expect_eq(a->sampled_us, b->sampled_us);
	cr_expect_eq(a->stackless_samples, b->stackless_samples);
	cr_expect_eq(a->kinds, b->kinds);
	cr_expect_eq(a->args, b->args);
	cr_expect_eq(a->groups, b->groups);
	cr_expect_eq(a->has_device_records, b->has_device_records);
}

/* Some 100,000 slots, so that each part begins within something else. */
static void write_mixture(void)
{
	uint64_t args[] = {tf_arg(TF_ARG_FD, 0, 7), tf_arg(TF_ARG_STACK, 0, 1234)};
	struct tf_child child = {.pid = 1};

	for (uint64_t i = 0, now = 2000; i < 40000; i++, now += i % 97 ? 10 : 1 << 25) {
		if (i % 11 == 0)
			writer_torn(&t, 1 + i % 3);
		if (i % 13 == 0)
			writer_text(&t, TF_BLOB_STRING, (uint32_t)i % 2000, "a text that needs several slots");
		if (i % 3001 == 0)
			writer_text(&t, TF_BLOB_THREAD_NAME, 0, i % 2 ? "odd" : "even");
		if (i % 5 == 0)
			writer_event(&t, i % 10 < 5 || i % 7 == 0 ? TF_POP : TF_PUSH, i / 5000 % 3, now, 1);
		if (i % 17 == 0)
			writer_sample(&t, now, 10, i % 2);
		if (i % 19 == 0) {
			child.pid = (uint32_t)i;
			writer_blob(&t, TF_BLOB_CHILD, 0, &child, sizeof(child) - (i % 361 ? 0 : 4));
		}
		if (i % 4)
			writer_call(&t, i % 19 < 2 ? wait_id : i % 3 ? read_id : write_id, now + 5,
				    i % 7 ? i : 0xffffff + i, args, i % 3);
	}
}

/* A chunk is small, so that the thread has several parts. */
Test(reader, reads_the_same_in_several_threads)
{
	struct trace *several;

	write_mixture();
	trace = open_by(1);
	several = open_by(4);
	cr_assert_gt(trace->threads[0].chunk_count, 64);
	cr_assert_gt(trace->threads[0].unmatched_pops, 0);
	cr_assert_gt(trace->threads[0].unmatched_pushes, 0);
	cr_assert_gt(trace->broken, 0);
	assert_same_thread(&several->threads[0], &trace->threads[0]);
	cr_assert_eq(several->blob_count, trace->blob_count);
	for (size_t i = 0; i < trace->blob_count; i++) {
		const struct blob *a = &several->blobs[i], *b = &trace->blobs[i];

		cr_assert(a->offset == b->offset && a->id == b->id && a->length == b->length && a->type == b->type);
		cr_assert_eq(trace_definition(several, b->type, b->id) - several->blobs,
			     trace_definition(trace, b->type, b->id) - trace->blobs);
	}
	cr_assert_gt(trace->child_count, 1000);
	cr_assert_eq(several->child_count, trace->child_count);
	for (size_t i = 0; i < trace->child_count; i++) {
		cr_assert_eq(several->children[i].child.pid, trace->children[i].child.pid);
		cr_assert_eq(several->children[i].ticks, trace->children[i].ticks, "child %zu", i);
	}
	cr_assert_eq(several->written_bytes, trace->written_bytes);
	cr_assert_eq(several->torn, trace->torn);
	cr_assert_eq(several->orphans, trace->orphans);
	cr_assert_eq(several->broken, trace->broken);
	reader_close(several);
}

Test(reader, counts_pushes_and_pops_without_a_counterpart)
{
	writer_event(&t, TF_POP, 0, 1100, 0);
	writer_event(&t, TF_PUSH, 0, 1200, 1);
	writer_event(&t, TF_PUSH, 1, 1300, 1);
	writer_event(&t, TF_POP, 0, 1400, 0);
	open_it();
	cr_assert_eq(trace->threads[0].unmatched_pops, 1);
	cr_assert_eq(trace->threads[0].unmatched_pushes, 1);
}

static const char *text_of(uint32_t id)
{
	static struct buffer text;

	buffer_clear(&text);
	trace_text(trace, trace_definition(trace, TF_BLOB_STRING, id), &text);
	return buffer_string(&text);
}

Test(reader, gives_each_operator_a_text_with_its_numbers)
{
	struct cursor c;
	struct event e, next;
	char expected[96];

	writer_text(&t, TF_BLOB_STRING, 1, "aten::mm, sizes = [[2, 3], [3]]");
	writer_text(&t, TF_BLOB_STRING, OPERATOR_STRINGS + 1, "a forged id");
	writer_event(&t, TF_PUSH, 0, 1100, 1);
	writer_slot(&t, tf_arg(TF_ARG_VALUE, 0, 5));
	writer_event(&t, TF_PUSH, 0, 1200, 1);
	writer_slot(&t, tf_arg(TF_ARG_VALUE, 0, 0));
	writer_event(&t, TF_PUSH, 0, 1300, 7);
	writer_slot(&t, tf_arg(TF_ARG_VALUE, 0, 1));
	open_it();
	cursor_init(&c, trace, &trace->threads[0]);
	cr_assert(cursor_next(&c, &e) && cursor_next(&c, &next));
	cr_assert_neq(e.text, next.text);
	snprintf(expected, sizeof(expected), "aten::mm, seq = 4, op_id = %u, sizes = [[2, 3], [3]]",
		 e.text - OPERATOR_STRINGS);
	cr_assert_str_eq(text_of(e.text), expected);
	snprintf(expected, sizeof(expected), "aten::mm, op_id = %u, sizes = [[2, 3], [3]]",
		 next.text - OPERATOR_STRINGS);
	cr_assert_str_eq(text_of(next.text), expected);
	cr_assert(cursor_next(&c, &e));
	snprintf(expected, sizeof(expected), ", seq = 0, op_id = %u", e.text - OPERATOR_STRINGS);
	cr_assert_str_eq(text_of(e.text), expected, "a name that is missing");
	cr_assert_str_eq(text_of(OPERATOR_STRINGS + 1), "a forged id");
}
