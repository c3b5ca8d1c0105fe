/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "runtime/recorder/record/profile/profile_row.h"

static double number(uint64_t bits)
{
	double ret;

	cr_assert_eq(bits & 0xff, TF_DATA);
	bits &= ~(uint64_t)0xff;
	memcpy(&ret, &bits, sizeof(ret));
	return ret;
}

/* 44 bits of a double's fraction are kept. */
Test(profile_row, sums_of_squares_are_doubles_made_of_integers)
{
	uint64_t sum = TF_DATA, value = 0;
	double expected = 0;

	cr_assert_eq(number(profile_add_square(sum, 0)), 0);
	cr_assert_eq(number(profile_add_square(sum, 1)), 1);
	cr_assert_eq(number(profile_add_square(sum, 3)), 9);
	for (int i = 0; i < 10000; i++) {
		value = (value * 6364136223846793005u + 1442695040888963407u) >> (i % 61);
		value &= ((uint64_t)1 << 58) - 1;
		sum = profile_add_square(sum, value);
		expected += (double)value * (double)value;
		cr_assert(fabs(number(sum) - expected) <= expected / ((uint64_t)1 << 30), "%d: %a and %a", i,
			  number(sum), expected);
	}
}
