/* SPDX-License-Identifier: Apache-2.0 */
/* Converts the extended payloads of valid and damaged traces to JSON. */
#include <criterion/criterion.h>
#include <string.h>

#include "report/events/nvtx/nvtx_define.h"
#include "trace_writer.h"

enum {
	INT32 = 15,
	UINT8 = 12,
	DOUBLE = 20,
	TEXT = 75,
	FIXED = 1 << 4,
	COUNTED = 3 << 4,
	ZERO_ENDED = 2 << 4,
	POINTER = 1 << 1,
	HIDDEN = 1 << 9,
	FLAG_MESSAGE = 1 << 10,
	SCHEMA = 1 << 24,
	LIST = SCHEMA + 1
};

static struct writer writer;
static struct writer_thread thread;
static struct trace *trace;
static struct nvtx_definitions definitions;
static struct buffer json;
static uint8_t bytes[4096];
static size_t used;

static void put(const void *from, size_t size)
{
	memcpy(bytes + used, from, size);
	used += size;
}

static void put_name(const char *name)
{
	uint16_t length = (uint16_t)strlen(name);

	put(&length, sizeof(length));
	put(name, length);
}

static void define(struct tf_nvtx head, const char *name)
{
	put(&head, sizeof(head));
	put_name(name);
}

static void end_blob(enum tf_blob_kind kind, uint32_t id)
{
	writer_blob(&thread, kind, id, bytes, used);
	used = 0;
}

static void add_entry(uint64_t flags, uint64_t type, uint64_t detail, uint64_t offset, const char *name)
{
	struct tf_nvtx_entry e = {flags, type, detail, offset};

	put(&e, sizeof(e));
	put_name(name);
}

/* Writes a mark with one payload. `claimed` is the size that the payload states. */
static void mark(uint64_t schema, const void *payload, uint32_t size, uint32_t claimed)
{
	static uint32_t id;
	struct tf_payloads head = {.count = 1};
	struct tf_payload one = {.schema = schema, .size = claimed};

	put(&head, sizeof(head));
	put(&one, sizeof(one));
	put(payload, size);
	end_blob(TF_BLOB_PAYLOAD, ++id);
	writer_event(&thread, TF_MARK, 0, 1000, 0);
	writer_slot(&thread, tf_arg(TF_ARG_EXTENDED, 0, id));
}

static void setup(void)
{
	writer_init(&writer, 1, 10, 1, 100);
	writer_thread(&writer, &thread, 10, "t", 4 * TF_PAGE);
}

static void teardown(void)
{
	nvtx_definitions_done(&definitions);
	reader_close(trace);
	writer_done(&writer);
	buffer_done(&json);
}

TestSuite(nvtx_payload, .init = setup, .fini = teardown);

/* Returns the JSON of the only mark. */
static const char *read_back(void)
{
	struct cursor cursor;
	struct event e;
	struct err err;
	size_t size;
	const uint8_t *data = writer_bytes(&writer, &size);

	cr_assert_eq(reader_open_bytes(data, size, &trace, &err), 0, "%s", err.text);
	nvtx_definitions_make(&definitions, trace);
	cursor_init(&cursor, trace, &trace->threads[0]);
	cr_assert(cursor_next(&cursor, &e));
	cr_assert(e.payload);
	nvtx_payload_json(&definitions, e.payload, &json);
	cr_assert_not(cursor_next(&cursor, &e));
	return json.data ? json.data : "";
}

Test(nvtx_payload, is_read_by_its_schema)
{
	const struct {
		int32_t n;
		uint8_t list[3], unused;
		char tag[4];
	} payload = {-7, {1, 2, 255}, 0, "ab"};

	define((struct tf_nvtx){.kind = TF_NVTX_SCHEMA, .id = SCHEMA, .type = 1, .size = sizeof(payload), .count = 3},
	       "s");
	add_entry(0, INT32, 0, 0, "n");
	add_entry(FIXED, UINT8, 3, 4, "list");
	add_entry(0, TEXT, 4, 8, "a \"tag\"");
	end_blob(TF_BLOB_NVTX, 1);
	mark(SCHEMA, &payload, sizeof(payload), sizeof(payload));
	cr_expect_str_eq(read_back(), "{\"n\":-7,\"list\":[1,2,255],\"a \\\"tag\\\"\":\"ab\"}");
}

Test(nvtx_payload, counts_that_the_payload_holds_stay_within_it)
{
	const struct {
		int32_t count, unused;
		double values[2];
	} payload = {1000000, 0, {1.5, 2}};

	define((struct tf_nvtx){.kind = TF_NVTX_SCHEMA, .id = SCHEMA, .type = 2, .count = 2}, "s");
	add_entry(0, INT32, 0, 0, "count");
	add_entry(COUNTED, DOUBLE, 0, TF_NVTX_FOLLOWS, "values");
	end_blob(TF_BLOB_NVTX, 1);
	mark(SCHEMA, &payload, sizeof(payload), sizeof(payload));
	cr_expect_str_eq(read_back(), "{\"count\":1000000,\"values\":[1.5,2]}");
}

Test(nvtx_payload, schemas_that_hold_themselves_end)
{
	int32_t payload = 5;

	define((struct tf_nvtx){.kind = TF_NVTX_SCHEMA, .id = SCHEMA, .type = 1, .count = 2}, "s");
	add_entry(0, INT32, 0, 0, "n");
	add_entry(0, SCHEMA, 0, 0, "self");
	end_blob(TF_BLOB_NVTX, 1);
	mark(SCHEMA, &payload, sizeof(payload), sizeof(payload));
	cr_expect_not_null(strstr(read_back(), "{\"n\":5,\"self\":{\"n\":5"));
}

Test(nvtx_payload, unknown_ones_are_bytes)
{
	mark(SCHEMA + 9, "\x12\xff", 2, 2);
	cr_expect_str_eq(read_back(), "\"0x12ff\"");
}

Test(nvtx_payload, a_size_past_the_end_is_nothing)
{
	mark(INT32, "abcd", 4, 4000000000u);
	cr_expect_str_eq(read_back(), "null");
}

Test(nvtx_payload, entries_past_the_payload_are_null)
{
	define((struct tf_nvtx){.kind = TF_NVTX_SCHEMA, .id = SCHEMA, .type = 1, .count = UINT32_MAX}, "s");
	add_entry(0, DOUBLE, 0, 1 << 20, "far");
	end_blob(TF_BLOB_NVTX, 1);
	mark(SCHEMA, "abcd", 4, 4);
	cr_expect_str_eq(read_back(), "{\"far\":null}");
}

Test(nvtx_payload, enums_have_names)
{
	struct tf_nvtx_entry one = {.type = 2}, bit = {.flags = 1, .type = 4};

	define((struct tf_nvtx){.kind = TF_NVTX_ENUM, .id = LIST, .size = 1, .count = 2}, "e");
	put(&one, sizeof(one));
	put_name("TWO");
	put(&bit, sizeof(bit));
	put_name("FOUR");
	end_blob(TF_BLOB_NVTX, 1);
	mark(LIST, "\x04", 1, 1);
	cr_expect_str_eq(read_back(), "\"FOUR\"");
}

/* Nested structures in which each entry covers the whole payload. */
Test(nvtx_payload, entries_that_overlap_do_not_become_much_more_than_the_payload)
{
	enum { CHAR = 1, ENTRIES = 100, BYTES = 3000 };
	char text[BYTES];

	memset(text, 'a', sizeof(text));
	define((struct tf_nvtx){.kind = TF_NVTX_SCHEMA, .id = SCHEMA, .type = 1, .count = ENTRIES}, "s");
	for (int i = 0; i < ENTRIES; i++)
		add_entry(FIXED, CHAR, BYTES, 0, "");
	end_blob(TF_BLOB_NVTX, 1);
	define((struct tf_nvtx){.kind = TF_NVTX_SCHEMA, .id = LIST, .type = 1, .count = ENTRIES}, "l");
	for (int i = 0; i < ENTRIES; i++)
		add_entry(0, SCHEMA, 0, 0, "");
	end_blob(TF_BLOB_NVTX, 2);
	mark(LIST, text, sizeof(text), sizeof(text));
	cr_expect_lt(strlen(read_back()), 1 << 20);
}

/* A payload that is an array of a type of NVTX. IEEE 754's halves: 1 sign, 5 exponent, 10 mantissa bits; bfloat16: the
 * upper half of a float. */
Test(nvtx_payload, types_without_a_schema)
{
	static const struct {
		uint64_t type;
		uint32_t size;
		const char *bytes, *wanted;
	} cases[] = {
		{2, 2, "\x00\xff", "[0,255]"}, /* unsigned char */
		{3, 4, "\xff\xff\x01\x80", "[-1,-32767]"}, /* short */
		{6, 4, "\xff\xff\xff\xff", "4294967295"}, /* unsigned int */
		{7, 8, "\xfe\xff\xff\xff\xff\xff\xff\xff", "-2"}, /* long */
		{18, 8, "\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615"},
		{19, 8, "\0\0\xc0\x3f\0\0\x80\x7f", "[1.5,null]"}, /* float */
		{20, 8, "\0\0\0\0\0\0\xd0\xbf", "-0.25"}, /* double */
		{23, 8, "\xef\xbe\xad\xde\0\0\0\0", "\"0xdeadbeef\""}, /* an address without a text */
		{32, 3, "\x01\xab\xff", "\"0x01abff\""}, /* bytes */
		{33, 16, "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", "\"0x20000000000000001\""}, /* 128 bits */
		{34, 16, "\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "\"0xff\""},
		{42, 10, "\x00\x3c\x00\xc0\x01\x00\x00\x7c\xff\x7b", "[1,-2,5.96046448e-08,null,65504]"}, /* halves */
		{50, 4, "\xc0\x3f\x80\xc0", "[1.5,-4]"}, /* bfloat16 */
		{52, 4, "\x00\x00\x20\x40", "2.5"}, /* TF32 */
		{69, 4, "\x10\x20\x30\xff", "\"#ff302010\""}, /* a colour */
		{75, 5, "a\"b\0c", "\"a\\\"b\""}, /* text, which a zero ends */
		{77, 6, "\x41\x00\xe9\x00\x00\xd8", "\"A\xc3\xa9\xef\xbf\xbd\""}, /* UTF-16 with half of a pair */
		{78, 8, "\x41\0\0\0\x00\xf6\x01\0", "\"A\xf0\x9f\x98\x80\""}, /* UTF-32 */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		mark(cases[i].type, cases[i].bytes, cases[i].size, cases[i].size);
		cr_expect_str_eq(read_back(), cases[i].wanted, "type %d: %s", (int)cases[i].type, json.data);
		teardown();
		json = (struct buffer){0};
		trace = NULL;
		setup();
	}
	mark(INT32, "\1\0\0\0", 4, 4); /* teardown() closes the trace */
	cr_expect_str_eq(read_back(), "1");
}

/* Adds the text to which the address at that offset points. */
static void put_pointed(uint32_t where, const char *text)
{
	uint16_t length = (uint16_t)strlen(text);

	put(&where, sizeof(where));
	put(&length, sizeof(length));
	put(text, length);
}

/* A mark with payloads, the second of which has texts. */
static void mark_two(const void *first, uint32_t first_size, const void *payload, uint32_t size)
{
	struct tf_payloads head = {.count = 2};
	struct tf_payload one = {.schema = INT32, .size = first_size};
	struct tf_payload two = {.schema = SCHEMA, .size = size, .texts = 2};

	put(&head, sizeof(head));
	put(&one, sizeof(one));
	put(first, first_size);
	put(&two, sizeof(two));
	put(payload, size);
	put_pointed(8, "eight");
	put_pointed(0, "zero");
	end_blob(TF_BLOB_PAYLOAD, 1);
	writer_event(&thread, TF_MARK, 0, 1000, 0);
	writer_slot(&thread, tf_arg(TF_ARG_EXTENDED, 0, 1));
}

Test(nvtx_payload, addresses_have_their_texts)
{
	const uint64_t payload[] = {0x1000, 0x2000, 0x3000, 0x4000};

	define((struct tf_nvtx){.kind = TF_NVTX_SCHEMA, .id = SCHEMA, .type = 1, .size = sizeof(payload), .count = 5},
	       "s");
	add_entry(0, TEXT, 0, 0, "first");
	add_entry(0, TEXT, 0, TF_NVTX_FOLLOWS, "");
	add_entry(POINTER, INT32, 0, TF_NVTX_FOLLOWS, "third");
	add_entry(HIDDEN, TEXT, 0, TF_NVTX_FOLLOWS, "fourth");
	add_entry(0, TEXT, 0, 32, "fifth");
	end_blob(TF_BLOB_NVTX, 1);
	mark_two("\x05\0\0\0\x06\0\0\0", 8, payload, sizeof(payload));
	cr_expect_str_eq(read_back(),
			 "[[5,6],{\"first\":\"zero\",\"1\":\"eight\",\"third\":\"0x3000\",\"fifth\":null}]", "%s",
			 json.data);
}

Test(nvtx_payload, entries_follow_each_other_aligned)
{
	/* a byte, a number at 4, three bytes up to a zero, a number at 12 */
	static const uint8_t payload[16] = {7, 0, 0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 9};

	define((struct tf_nvtx){.kind = TF_NVTX_SCHEMA, .id = SCHEMA, .type = 1, .size = sizeof(payload), .count = 4},
	       "s");
	add_entry(0, UINT8, 0, 0, "a");
	add_entry(0, INT32, 0, TF_NVTX_FOLLOWS, "b");
	add_entry(ZERO_ENDED, UINT8, 0, TF_NVTX_FOLLOWS, "c");
	add_entry(0, INT32, 0, TF_NVTX_FOLLOWS, "d");
	end_blob(TF_BLOB_NVTX, 1);
	mark(SCHEMA, payload, sizeof(payload), sizeof(payload));
	cr_expect_str_eq(read_back(), "{\"a\":7,\"b\":513,\"c\":[3,4],\"d\":9}", "%s", json.data);
}

Test(nvtx_payload, an_array_without_its_zero_ends_with_the_payload)
{
	define((struct tf_nvtx){.kind = TF_NVTX_SCHEMA, .id = SCHEMA, .type = 2, .count = 2}, "s");
	add_entry(0, UINT8, 0, 0, "n");
	add_entry(ZERO_ENDED, UINT8, 0, TF_NVTX_FOLLOWS, "list");
	end_blob(TF_BLOB_NVTX, 1);
	mark(SCHEMA, "\1\2\3", 3, 3);
	cr_expect_str_eq(read_back(), "{\"n\":1,\"list\":[2,3]}", "%s", json.data);
}

/* The first entry tells which of the union's is valid. */
Test(nvtx_payload, of_a_union_one_member_is_valid)
{
	const struct {
		int32_t selected;
		float value;
	} payload = {1, 2.5f};

	define((struct tf_nvtx){.kind = TF_NVTX_SCHEMA, .id = LIST, .type = 3, .size = 4, .count = 2}, "u");
	add_entry(0, INT32, 0, 0, "integer");
	add_entry(0, 19, 0, 0, "real");
	end_blob(TF_BLOB_NVTX, 1);
	define((struct tf_nvtx){.kind = TF_NVTX_SCHEMA, .id = SCHEMA, .type = 1, .size = sizeof(payload), .count = 2},
	       "s");
	add_entry(0, INT32, 0, 0, "which");
	add_entry(0, LIST, 0, 4, "value");
	end_blob(TF_BLOB_NVTX, 2);
	mark(SCHEMA, &payload, sizeof(payload), sizeof(payload));
	cr_expect_str_eq(read_back(), "{\"which\":1,\"value\":{\"real\":2.5}}", "%s", json.data);
}
