/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/recorder/record/intern_table.h"

Test(table, knows_no_key_that_nobody_added)
{
	struct intern_table t = {0};

	cr_assert_eq(intern_get(&t, 5), 0);
	cr_assert(intern_set(&t, 5, 11));
	cr_assert_eq(intern_get(&t, 5), 11);
	cr_assert_eq(intern_get(&t, 6), 0);
}

Test(table, replaces_a_value)
{
	struct intern_table t = {0};

	cr_assert(intern_set(&t, 1, 2));
	cr_assert(intern_set(&t, 1, 3));
	cr_assert_eq(intern_get(&t, 1), 3);
}

Test(table, finds_the_number_of_each_key_and_adds_none)
{
	struct intern_table t = {0};
	uint32_t number[20000];
	bool is_new;

	cr_assert_eq(intern_find(&t, 7), 0);
	for (uint64_t i = 1; i < 20000; i++) {
		cr_assert_eq(intern_find(&t, i), 0);
		cr_assert(intern_add(&t, i, &number[i], &is_new) && is_new);
	}
	for (uint64_t i = 1; i < 20000; i++)
		cr_assert_eq(intern_find(&t, i), number[i]);
}

/* Keys that are there first lie together; those that come later have numbers of their own, also in the first page. */
Test(table, fills_its_first_page_first)
{
	static uint64_t key_of[1 << 20];
	struct intern_table t = {0};
	uint32_t number;
	bool is_new;

	for (uint64_t i = 1; i < 20000; i++) {
		cr_assert(intern_add(&t, i, &number, &is_new) && is_new);
		cr_assert(i > INTERN_FIRST_PAGE / 2 || number <= INTERN_FIRST_PAGE, "key %u", (unsigned)i);
		cr_assert_lt(number, sizeof(key_of) / sizeof(*key_of));
		cr_assert_eq(key_of[number], 0, "number %u", number);
		key_of[number] = i;
	}
	for (uint32_t i = 1; i <= INTERN_FIRST_PAGE; i++)
		cr_assert_neq(key_of[i], 0);
}

Test(table, hash_depends_on_every_byte_the_length_and_the_seed)
{
	char text[24] = "the same text, but for a";
	uint64_t first = intern_hash(1, text, sizeof(text));

	cr_assert_neq(first, 0);
	cr_assert_eq(intern_hash(1, text, sizeof(text)), first);
	cr_assert_neq(intern_hash(2, text, sizeof(text)), first);
	for (size_t length = 0; length < sizeof(text); length++)
		cr_assert_neq(intern_hash(1, text, length), first);
	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] ^= 1;
		cr_assert_neq(intern_hash(1, text, sizeof(text)), first, "byte %zu", i);
		text[i] ^= 1;
	}
}

Test(table, tells_a_keys_number_at_once_or_not_at_all)
{
	struct intern_table t = {0};
	unsigned told = 0;

	cr_assert_eq(intern_number(&t, 7), 0);
	for (uint64_t i = 1; i <= 3000; i++) {
		uint32_t number, known;
		bool is_new;

		cr_assert_eq(intern_number(&t, i), 0);
		cr_assert(intern_add(&t, i, &number, &is_new) && is_new);
		known = intern_number(&t, i);
		cr_assert(!known || known == number);
		told += known != 0;
	}
	cr_assert_gt(told, 1500);
}

static uint64_t sum;

static bool add_up(struct intern_entry *e)
{
	sum += e->value;
	return e->key != 9999;
}

Test(table, visits_every_key)
{
	struct intern_table t = {0};

	for (uint64_t i = 1; i <= 9000; i++)
		intern_set(&t, i, i);
	cr_assert(intern_each(&t, add_up));
	cr_assert_eq(sum, 9000ull * 9001 / 2);
	intern_set(&t, 9999, 0);
	cr_assert_not(intern_each(&t, add_up));
}

Test(table, a_fold_depends_on_every_bit_of_both_words)
{
	uint64_t first = intern_fold(0x123456789, 0x7f0000001000);

	for (unsigned i = 0; i < 64; i++) {
		cr_assert_neq(intern_fold(0x123456789 ^ 1ull << i, 0x7f0000001000), first);
		cr_assert_neq(intern_fold(0x123456789, 0x7f0000001000 ^ 1ull << i), first);
	}
	cr_assert_neq(intern_fold(0x7f0000001000, 0x123456789), first);
}
