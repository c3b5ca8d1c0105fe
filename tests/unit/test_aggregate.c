/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/table/aggregate.h"

struct values {
	size_t count;
	uint64_t range, offset; /* values are offset + random % range; range 0: any 64 bits >> 20 */
};

static uint64_t seed;

static uint64_t value(const struct values *v)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return v->range ? v->offset + (seed >> 16) % v->range : seed >> 20;
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

ParameterizedTestParameters(aggregate, finds_the_exact_median)
{
	static struct values cases[] = {
		{1, 10, 0},
		{2, 10, 0},
		{3, 1000000, 0},
		{4096, 100000, 0},
		{4097, 100000, 0},
		{10000, 2, 7},
		{10001, 2, 7},
		{50000, 1, 123456789},
		{50000, 1000000, 5000},
		{50001, 0, 0},
		{50000, 0, 0},
		{300000, 100000000, 1000000000000},
		{100000, 3, 127},
		{100000, 2, 4095},
		{99999, 60000, 0},
		{4098, 2, 1u << 30},
		{20000, 1u << 30, 1u << 31},
	};

	return cr_make_param_array(struct values, cases, sizeof(cases) / sizeof(*cases));
}

ParameterizedTest(struct values *v, aggregate, finds_the_exact_median)
{
	struct aggregate s = {0};
	uint64_t *all = malloc(v->count * sizeof(*all));
	unsigned int passes = 0;
	double median;

	do {
		seed = 1;
		for (size_t i = 0; i < v->count; i++) {
			all[i] = value(v);
			aggregate_add(&s, aggregate_row(&s, "name", 5), all[i]);
		}
		passes++;
	} while (aggregate_next_pass(&s));
	qsort(all, v->count, sizeof(*all), compare);
	median = (double)all[(v->count - 1) / 2] / 2 + (double)all[v->count / 2] / 2;
	cr_assert_float_eq(s.rows[0].median, median, 1e-9 * median + 1e-9, "%f is not %f, %zu values", s.rows[0].median,
			   median, v->count);
	cr_assert_eq(s.rows[0].least, all[0]);
	cr_assert_eq(s.rows[0].most, all[v->count - 1]);
	cr_assert_leq(passes, 7);
	free(all);
	aggregate_done(&s);
}

/* The lower middle value occurs so often that the upper one is the least of the larger values, in any order. */
Test(aggregate, finds_the_upper_middle_value_among_larger_ones)
{
	enum { COUNT = 20000, LEAST_LARGE = 1000000 };
	struct aggregate s = {0};

	do {
		for (uint64_t i = 0; i < COUNT; i++) {
			uint64_t large = LEAST_LARGE + (i * 7919 + 40) % (COUNT / 2) * 1000;

			aggregate_add(&s, aggregate_row(&s, "name", 4), i < COUNT / 2 ? 100 : large);
		}
	} while (aggregate_next_pass(&s));
	cr_assert_float_eq(s.rows[0].median, (100 + LEAST_LARGE) / 2.0, 1e-6, "%f", s.rows[0].median);
	aggregate_done(&s);
}

/* What another process gets of an aggregate; `from` keeps its rows, without values. */
static struct aggregate sent(struct aggregate *from)
{
	struct aggregate ret = {0};
	struct buffer message = {0};
	struct bytes bytes;

	aggregate_save(from, &message);
	bytes = bytes_of(&message);
	cr_assert(aggregate_load(&ret, &bytes) && !bytes.left);
	for (size_t size = 0; size < message.size; size += message.size / 37 + 1) {
		struct aggregate damaged = {0};

		bytes = (struct bytes){.at = (const uint8_t *)message.data, .left = size};
		cr_assert(!aggregate_load(&damaged, &bytes), "%zu of %zu bytes", size, message.size);
		aggregate_done(&damaged);
	}
	buffer_done(&message);
	return ret;
}

static void part_prepare(const struct aggregate *whole, struct aggregate *part, bool is_sent)
{
	struct aggregate prepared = {0}, theirs;

	if (!is_sent) {
		aggregate_split(whole, part);
		return;
	}
	aggregate_split(whole, &prepared);
	theirs = sent(&prepared);
	aggregate_split(&theirs, part);
	aggregate_done(&prepared);
	aggregate_done(&theirs);
}

static void part_join(struct aggregate *whole, struct aggregate *part, bool is_sent)
{
	struct aggregate theirs;

	if (!is_sent) {
		aggregate_join(whole, part);
		return;
	}
	theirs = sent(part);
	aggregate_join(whole, &theirs);
	aggregate_done(&theirs);
}

/* Each pass distributes the values over the parts in another way, as threads do. Some parts are in other processes. */
Test(aggregate, parts_give_what_one_aggregate_gives)
{
	static const struct values cases[] = {{3, 1000000, 0}, {4097, 100000, 0}, {5000, 0, 0}, {10000, 2, 7},
					      {50001, 0, 0},   {50000, 0, 0},	  {20000, 1u << 30, 1u << 31}};
	enum { PARTS = 3, NAMES = 2 };
	static const char *const names[NAMES] = {"a", "b"};

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct aggregate one = {0}, whole = {0}, parts[PARTS] = {0};
		unsigned int passes = 0;

		do {
			seed = 1;
			for (size_t i = 0; i < cases[k].count; i++) {
				uint64_t v = value(&cases[k]);

				aggregate_add(&one, aggregate_row(&one, names[i % NAMES], 2), v);
			}
		} while (aggregate_next_pass(&one));
		do {
			for (size_t i = 0; i < PARTS; i++)
				part_prepare(&whole, &parts[i], i > 0);
			seed = 1;
			for (size_t i = 0; i < cases[k].count; i++) {
				struct aggregate *part = &parts[(i / (17 + passes)) % (PARTS - 1) + passes % 2];

				aggregate_add(part, aggregate_row(part, names[i % NAMES], 2), value(&cases[k]));
			}
			for (size_t i = 0; i < PARTS; i++)
				part_join(&whole, &parts[i], i > 0);
			passes++;
		} while (aggregate_next_pass(&whole));
		cr_assert_eq(whole.count, one.count);
		aggregate_sort(&one);
		aggregate_sort(&whole);
		for (size_t i = 0; i < one.count; i++) {
			const struct aggregate_row *a = &one.rows[i], *b = &whole.rows[i];

			cr_assert_str_eq(aggregate_field(a, 0), aggregate_field(b, 0));
			cr_assert(a->count == b->count && a->total == b->total && a->least == b->least &&
				  a->most == b->most && a->squares == b->squares, "case %zu", k);
			cr_assert(a->median <= b->median && a->median >= b->median, "case %zu: %f, %f", k, a->median,
				  b->median);
		}
		for (size_t i = 0; i < PARTS; i++)
			aggregate_done(&parts[i]);
		aggregate_done(&whole);
		aggregate_done(&one);
	}
}

Test(aggregate, deviates_as_a_sample)
{
	struct aggregate s = {0};

	do
		for (uint64_t i = 1; i <= 4; i++)
			aggregate_add(&s, aggregate_row(&s, "x", 2), i * 1000000000);
	while (aggregate_next_pass(&s));
	cr_assert_float_eq(aggregate_deviation(&s.rows[0]), 1e9 * sqrt(5.0 / 3), 1);
	aggregate_done(&s);
}

Test(aggregate, sorts_by_total_then_by_name)
{
	struct aggregate s = {0};

	aggregate_add(&s, aggregate_row(&s, "b\0x", 4), 5);
	aggregate_add(&s, aggregate_row(&s, "a", 2), 5);
	aggregate_add(&s, aggregate_row(&s, "c", 2), 6);
	aggregate_next_pass(&s);
	aggregate_sort(&s);
	cr_assert_str_eq(aggregate_field(&s.rows[0], 0), "c");
	cr_assert_str_eq(aggregate_field(&s.rows[1], 0), "a");
	cr_assert_str_eq(aggregate_field(&s.rows[2], 1), "x");
	cr_assert_str_eq(aggregate_field(&s.rows[2], 9), "");
	aggregate_done(&s);
}

struct kept {
	uint64_t weight;
};

ROW_COMPARATOR(heavier_first, struct kept, order_of(b->weight, a->weight))

Test(aggregate, keeps_what_a_report_has_of_a_row_and_sorts_by_it)
{
	static const uint64_t weights[] = {5, 7, 7, 6};
	struct aggregate s = {0};

	for (size_t i = 0; i < 4; i++) {
		uint32_t row = aggregate_row(&s, &"a\0b\0c\0d"[2 * i], 2);
		struct kept *kept = aggregate_more(&s, row, sizeof(*kept));

		cr_expect_eq(kept->weight, 0);
		kept->weight = weights[i];
		cr_expect_eq(aggregate_more(&s, row, sizeof(*kept)), kept);
	}
	aggregate_sort_by(&s, heavier_first);
	for (size_t i = 0; i < 4; i++) {
		cr_expect_str_eq(aggregate_field(&s.rows[i], 0), &"b\0c\0d\0a"[2 * i]);
		cr_expect_eq(((const struct kept *)s.rows[i].more)->weight, i < 2 ? 7 : 7 - i + 1);
	}
	aggregate_done(&s);
}
