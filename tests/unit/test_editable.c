/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of calls that are too short for a stack. */
#include <criterion/criterion.h>

#include "report/causes/editable.h"

static double calls_ns[8];

static void add_ns(void *context, uint32_t what, double ns)
{
	(void)context;
	calls_ns[what] += ns;
}

Test(editable, short_calls_belong_to_the_lines_of_samples_in_them)
{
	struct image image = {0};
	struct editables e;
	uint32_t rest, without_line, at_line, pool = 0;

	editables_init(&e, NULL);
	rest = editable_rest(&e, &image);
	without_line = editable_named(&e, EDITABLE_CALL, "open", NULL, 0);
	at_line = editable_named(&e, EDITABLE_CALL, "open at a line", NULL, 0);
	for (int i = 0; i < 1000; i++)
		pool = editable_short_call(&e, rest, without_line, 5);
	editable_pool_sample(&e, pool, at_line, 10000000);
	editables_finish(&e);
	editable_divide(&e, editable_of_pool(&e, pool), 5000, NULL, add_ns);
	cr_expect_float_eq(calls_ns[at_line], 5000, 1);
	cr_expect_float_eq(calls_ns[without_line], 0, 1);
	cr_expect_eq(e.pools[pool & ~EDITABLE_OF_POOL].calls, 1000);
	editables_done(&e);
}

Test(editable, short_calls_without_samples_have_no_line)
{
	struct image image = {0};
	struct editables e;
	uint32_t rest, without_line, computes, pool;

	editables_init(&e, NULL);
	rest = editable_rest(&e, &image);
	without_line = editable_named(&e, EDITABLE_CALL, "open", NULL, 0);
	computes = editable_cpu(&e, &image, 0);
	for (int i = 0; i < 10; i++) /* of the program, which is no reason to think that the calls do that */
		editable_pool_sample(&e, EDITABLE_OF_POOL | rest, computes, 10000000);
	pool = editable_short_call(&e, rest, without_line, 5000);
	editables_finish(&e);
	editable_divide(&e, editable_of_pool(&e, pool), 5000, NULL, add_ns);
	cr_expect_float_eq(calls_ns[without_line], 5000, 1);
	editables_done(&e);
}

/* 30 ms of calls, of which a sample has 10; one call in four that was long enough for a stack was at that line. */
Test(editable, short_calls_without_samples_are_as_those_that_are_a_little_longer)
{
	struct image image = {0};
	struct editables e;
	uint32_t rest, without_line, at_line, at_other_line, pool = 0;

	editables_init(&e, NULL);
	rest = editable_rest(&e, &image);
	without_line = editable_named(&e, EDITABLE_CALL, "fsync", NULL, 0);
	at_line = editable_named(&e, EDITABLE_CALL, "fsync at a line", NULL, 0);
	at_other_line = editable_named(&e, EDITABLE_CALL, "fsync at another line", NULL, 0);
	for (int i = 0; i < 1000; i++)
		pool = editable_short_call(&e, rest, without_line, 30000);
	editable_pool_sample(&e, pool, at_line, 10000000);
	for (int i = 0; i < 400; i++)
		editable_stacked_call(&e, rest, without_line, i % 4 ? at_other_line : at_line);
	editables_finish(&e);
	editable_divide(&e, editable_of_pool(&e, pool), 30000000, NULL, add_ns);
	cr_expect_float_eq(calls_ns[at_line], 15000000, 100);
	cr_expect_float_eq(calls_ns[at_other_line], 15000000, 100);
	cr_expect_float_eq(calls_ns[without_line], 0, 100);
	editables_done(&e);
}
