/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/base/interner.h"
#include "report/base/varint.h"

Test(interner, numbers_follow_the_first_occurrence)
{
	struct interner n = {0};

	cr_assert_eq(interner_text_number(&n, "b"), 0);
	cr_assert_eq(interner_text_number(&n, "a"), 1);
	cr_assert_eq(interner_text_number(&n, ""), 2);
	cr_assert_eq(interner_text_number(&n, "b"), 0);
	cr_assert_eq(interner_number(&n, "b", 2), 3, "with its NUL it is another text");
	cr_assert_eq(n.count, 4);
	cr_assert_str_eq(n.items[1].text, "a");
	interner_done(&n);
	cr_assert_eq(interner_text_number(&n, "a"), 0);
	interner_done(&n);
}

Test(interner, fields_are_separated_by_nul)
{
	struct interner n = {0};
	uint32_t number = interner_number(&n, "one\0\0three\0", 11), bare = interner_number(&n, "bare", 4),
		 none = interner_number(&n, NULL, 0);

	cr_assert_str_eq(interner_field(&n, number, 0), "one");
	cr_assert_str_eq(interner_field(&n, number, 1), "");
	cr_assert_str_eq(interner_field(&n, number, 2), "three");
	cr_assert_str_eq(interner_field(&n, number, 3), "");
	cr_assert_str_eq(interner_field(&n, bare, 0), "bare");
	cr_assert_str_eq(interner_field(&n, bare, 1), "");
	cr_assert_str_eq(interner_field(&n, none, 0), "");
	interner_done(&n);
}

Test(interner, texts_keep_their_addresses)
{
	enum { TEXTS = 20000 };
	struct interner n = {0};
	const char **texts = calloc(TEXTS, sizeof(*texts));
	char *large = calloc(1, 1 << 20);

	memset(large, 'x', (1 << 20) - 1);
	for (uint32_t i = 0; i < TEXTS; i++) {
		char text[32];

		snprintf(text, sizeof(text), "text %u", i);
		cr_assert_eq(interner_text_number(&n, text), i);
		texts[i] = n.items[i].text;
	}
	cr_assert_eq(interner_text_number(&n, large), TEXTS);
	for (uint32_t i = 0; i < TEXTS; i++) {
		char text[32];

		snprintf(text, sizeof(text), "text %u", i);
		cr_assert_eq(n.items[i].text, texts[i]);
		cr_assert_str_eq(texts[i], text);
		cr_assert_eq(interner_text_number(&n, text), i);
	}
	cr_assert_str_eq(n.items[TEXTS].text, large);
	interner_done(&n);
	free(texts);
	free(large);
}

Test(varint, has_seven_bits_in_a_byte)
{
	struct buffer b = {0};

	buffer_varint(&b, 0);
	buffer_varint(&b, 127);
	buffer_varint(&b, 300);
	buffer_varint(&b, UINT64_MAX);
	cr_assert_eq(b.size, 14);
	cr_assert_arr_eq(b.data, "\x00\x7f\xac\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 14);
	cr_assert_eq(zigzag(0), 0);
	cr_assert_eq(zigzag(-1), 1);
	cr_assert_eq(zigzag(1), 2);
	cr_assert_eq(zigzag(INT64_MIN), UINT64_MAX);
	buffer_done(&b);
}

/* Keys of aggregates are read as arrays of numbers. */
Test(interner, texts_are_aligned)
{
	struct interner n = {0};
	char text[200000] = "";

	for (size_t size = 0; size < sizeof(text); size += size / 3 + 1) {
		uint32_t number = interner_number(&n, text, size);

		cr_expect_eq((uintptr_t)n.items[number].text % sizeof(uint64_t), 0, "%zu bytes", size);
		cr_expect_eq(n.items[number].size, size);
	}
	interner_done(&n);
}
