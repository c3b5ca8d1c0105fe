/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <string.h>

#include "../../runtime/table.h"

Test(table, knows_no_key_that_nobody_added)
{
	struct table t = {0};

	cr_assert_eq(table_get(&t, 5), 0);
	cr_assert(table_set(&t, 5, 11));
	cr_assert_eq(table_get(&t, 5), 11);
	cr_assert_eq(table_get(&t, 6), 0);
}

Test(table, replaces_a_value)
{
	struct table t = {0};

	cr_assert(table_set(&t, 1, 2));
	cr_assert(table_set(&t, 1, 3));
	cr_assert_eq(table_get(&t, 1), 3);
}

Test(table, hash_depends_on_every_byte_the_length_and_the_seed)
{
	char text[24] = "the same text, but for a";
	uint64_t first = table_hash(1, text, sizeof(text));

	cr_assert_neq(first, 0);
	cr_assert_eq(table_hash(1, text, sizeof(text)), first);
	cr_assert_neq(table_hash(2, text, sizeof(text)), first);
	for (size_t length = 0; length < sizeof(text); length++)
		cr_assert_neq(table_hash(1, text, length), first);
	for (size_t i = 0; i < sizeof(text); i++) {
		text[i] ^= 1;
		cr_assert_neq(table_hash(1, text, sizeof(text)), first, "byte %zu", i);
		text[i] ^= 1;
	}
}
