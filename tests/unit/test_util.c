/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "report/base/util.h"

static int by_last_digit(size_t a, size_t b, const void *context)
{
	const unsigned *numbers = context;

	return order_of(numbers[a] % 10, numbers[b] % 10);
}

Test(util, places_are_in_order_and_equal_ones_as_they_were)
{
	static const unsigned numbers[] = {19, 5, 29, 15, 0, 9, 25, 10}, wanted[] = {0, 10, 5, 15, 25, 19, 29, 9};
	size_t *places = places_in_order(8, by_last_digit, numbers);

	for (size_t i = 0; i < 8; i++)
		cr_assert_eq(numbers[places[i]], wanted[i], "%zu: %u", i, numbers[places[i]]);
	free(places);
	free(places_in_order(0, by_last_digit, NULL));
}

Test(util, a_map_knows_what_was_put_and_not_removed)
{
	struct map m = {0};
	bool is_new;

	for (uint64_t i = 0; i < 1000; i++)
		*map_put(&m, i % 10, i, NULL) = i;
	for (uint64_t i = 0; i < 1000; i += 3)
		map_remove(&m, i % 10, i);
	for (uint64_t i = 0; i < 1000; i++) {
		const uint64_t *place = map_find(&m, i % 10, i);

		cr_assert_eq(place != NULL, i % 3 != 0);
		cr_assert(!place || *place == i);
	}
	map_put(&m, 0, 0, &is_new);
	cr_assert(is_new);
	map_put(&m, 1, 1, &is_new);
	cr_assert(!is_new);
	map_done(&m);
	cr_assert_null(map_find(&m, 1, 1));
}
