/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "report/base/external_sort.h"

struct item {
	uint64_t key, number;
};

static int by_key(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	return order_of(a->key, b->key) ?: order_of(a->number, b->number);
}

static uint64_t random_state = 1;

static uint64_t below(uint64_t limit)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % limit;
}

static void assert_sorts(uint64_t count, size_t held)
{
	struct external_sort r;
	const struct item *i;
	struct item last = {0};
	uint64_t came = 0, sum = 0;

	external_sort_init(&r, sizeof(struct item), held, by_key);
	for (uint64_t n = 0; n < count; n++) {
		struct item *place = external_sort_add(&r);

		cr_assert_eq(place->key + place->number, 0, "zeroed");
		*place = (struct item){below(count / 2 + 1), n + 1};
	}
	while ((i = external_sort_next(&r)) != NULL) {
		cr_assert(!came++ || by_key(&last, i) < 0);
		sum += i->number;
		last = *i;
	}
	cr_assert_null(external_sort_next(&r));
	cr_expect_eq(came, count);
	cr_expect_eq(sum, count * (count + 1) / 2, "each came once");
	external_sort_done(&r);
}

Test(external_sort, nothing_and_what_memory_holds)
{
	assert_sorts(0, 10);
	assert_sorts(1, 10);
	assert_sorts(10, 10);
	assert_sorts(500, 1000);
}

Test(external_sort, many_times_what_memory_holds)
{
	assert_sorts(11, 10);
	assert_sorts(1000, 1);
	assert_sorts(100000, 997);
	assert_sorts(100000, 5000);
}

Test(external_sort, memory_holds_them_where_there_is_no_file)
{
	setenv("TMPDIR", "/nonexistent", 1);
	assert_sorts(10000, 100);
}

Test(external_sort, may_end_before_all_came)
{
	struct external_sort r;

	external_sort_init(&r, sizeof(struct item), 10, by_key);
	for (uint64_t n = 0; n < 95; n++)
		*(struct item *)external_sort_add(&r) = (struct item){95 - n, n};
	cr_assert_eq(((const struct item *)external_sort_next(&r))->key, 1);
	cr_assert_eq(((const struct item *)external_sort_next(&r))->key, 2);
	external_sort_done(&r);
	external_sort_done(&r);
}
