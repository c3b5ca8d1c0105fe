/* SPDX-License-Identifier: Apache-2.0 */
/* What a change of a function saves, in a graph built by hand. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "report/causes/function.h"
#include "report/events/scan.h"
#include "report/read/job/model.h"

#define MS 1000000ull

enum { A, B, WAIT, WHATS };

/* The main thread is in a function, A, for 400 ms. After 100 ms it starts a thread, which works, B, for 349 ms, and for
 * which it waits. So the run without the function is shorter by 100 ms. Returns the time below the function. */
static uint64_t price_of(uint32_t samples, double path_ns, double line, struct saving *ret)
{
	struct editable items[WHATS] = {[A] = {.kind = EDITABLE_CPU, .samples = samples},
					[B] = {.kind = EDITABLE_CPU, .samples = 60}};
	struct model model = {0};
	struct report_context context = {.model = &model};
	struct causality s = {.context = &context,
			      .editables = {.items = items, .count = WHATS, .pool_first = WHATS},
			      .run_ns = 500 * MS, .unseen_ns = -1};
	const float shares[WHATS] = {[A] = 1};
	const double by_what[WHATS] = {[A] = path_ns}, totals[WHATS] = {[A] = 400.0 * MS};
	const struct function_part part = {.least = FUNCTION_LEAST, .line = line};
	uint64_t ns;

	graph_edge(&s.graph, 0, 100 * MS, 1, 101 * MS);
	graph_edge(&s.graph, 1, 450 * MS, 0, 451 * MS);
	graph_edges_done(&s.graph);
	graph_begin(&s.graph, 0, 0);
	graph_work(&s.graph, 400 * MS, A);
	graph_call(&s.graph, 451 * MS, WAIT, GRAPH_WAITS);
	graph_work(&s.graph, 500 * MS, B);
	graph_end(&s.graph, true);
	graph_begin(&s.graph, 1, 101 * MS);
	graph_work(&s.graph, 450 * MS, B);
	graph_end(&s.graph, false);
	graph_finish(&s.graph);
	ns = function_saving(&s, shares, &part, by_what, totals, ret);
	graph_done(&s.graph);
	return ns;
}

Test(function_price, ends_where_the_samples_may_be_wrong)
{
	struct saving saving;
	uint64_t below = price_of(40, 400.0 * MS, 1, &saving);

	cr_expect_eq(below, 400 * MS);
	cr_expect_eq(saving.saved_ns, 100 * MS);
	cr_expect_eq(saving.low_ns, 30 * MS);
	/* 40 of 100 samples: two standard deviations are 2 * sqrt(0.6 / 40) of them */
	cr_expect_float_eq((double)saving.high_ns, 100.0 * MS * (1 + 2 * sqrt(0.6 / 40)), 1);
}

Test(function_price, is_no_more_than_the_time_below_the_function)
{
	struct saving saving;

	cr_expect_eq(price_of(1, 110.0 * MS, 1, &saving), 110 * MS);
	cr_expect_eq(saving.high_ns, 110 * MS);
	/* nothing below it was sampled */
	cr_expect_eq(price_of(0, 400.0 * MS, 1, &saving), 400 * MS);
	cr_expect_eq(saving.high_ns, 100 * MS);
}

Test(function_price, of_many_lines_is_that_of_the_heaviest_at_least)
{
	struct saving saving;

	price_of(40, 400.0 * MS, 0.1, &saving);
	cr_expect_eq(saving.low_ns, 10 * MS);
}

enum { COMPUTES, ANSWERS, READ, LONGER_READ, TAKE, LOCK, SERVED_WHATS };

struct served_case {
	uint32_t asking; /* the actor for whose request the other one waited */
	enum blocked_kind waits;
	bool is_short; /* the wait has no stack: a longer one has */
	float waiting, computing; /* the parts of waits and of the computing that are below the function */
};

/* The main thread computes for 100 ms, sends a request and waits for the answer, for which another process works for
 * 89 ms, with a wait for a lock; then that one works for 29 ms without a request. Returns the part of the other one's
 * work that is done for the function. */
static double part_served(struct served_case c)
{
	struct editable call = {.kind = EDITABLE_CALL, .waits = c.waits, .has_frame = true};
	struct editable items[SERVED_WHATS] = {[COMPUTES] = {.kind = EDITABLE_CPU},
					       [ANSWERS] = {.kind = EDITABLE_CPU},
					       [READ] = call, [LONGER_READ] = call, [TAKE] = call,
					       [LOCK] = {.kind = EDITABLE_CALL, .waits = BLOCKED_LOCK}};
	struct editable_stack stacks[] = {{.what = LONGER_READ, .stack = 1, .ns = 5 * MS}};
	struct causality s = {.editables = {.items = items, .count = SERVED_WHATS, .pool_first = SERVED_WHATS,
					    .stacks = stacks, .stack_count = 1}};
	float shares[SERVED_WHATS] = {[COMPUTES] = c.computing};
	float *served;
	double part;

	items[READ].has_frame = !c.is_short;
	shares[c.is_short ? LONGER_READ : READ] = c.waiting;
	graph_edge(&s.graph, c.asking, 100 * MS, 1, 101 * MS);
	graph_edge(&s.graph, 2, 149 * MS, 1, 150 * MS);
	graph_edge(&s.graph, 1, 200 * MS, 0, 201 * MS);
	graph_edges_done(&s.graph);
	graph_begin(&s.graph, 0, 0);
	graph_work(&s.graph, 100 * MS, COMPUTES);
	graph_call(&s.graph, 201 * MS, READ, GRAPH_WAITS);
	graph_work(&s.graph, 300 * MS, LOCK);
	graph_end(&s.graph, true);
	graph_begin(&s.graph, 1, 0);
	graph_call(&s.graph, 101 * MS, TAKE, GRAPH_WAITS);
	graph_work(&s.graph, 140 * MS, ANSWERS);
	graph_call(&s.graph, 150 * MS, LOCK, GRAPH_WAITS);
	graph_work(&s.graph, 200 * MS, ANSWERS);
	graph_call(&s.graph, 250 * MS, TAKE, GRAPH_WAITS);
	graph_work(&s.graph, 279 * MS, ANSWERS); /* for nobody */
	graph_end(&s.graph, false);
	graph_begin(&s.graph, 2, 0);
	graph_work(&s.graph, 260 * MS, LOCK);
	graph_end(&s.graph, false);
	graph_finish(&s.graph);
	served = function_with_served(&s, shares);
	part = (double)served[ANSWERS];
	cr_expect_eq(served[COMPUTES], c.computing);
	free(served);
	graph_done(&s.graph);
	return part;
}

Test(function_price, has_what_another_process_does_for_it)
{
	const double all = 89.0 / 118;

	cr_expect_float_eq(part_served((struct served_case){0, BLOCKED_SOCKET, false, 1, 1}), all, 1e-6);
	cr_expect_float_eq(part_served((struct served_case){0, BLOCKED_SOCKET, false, 0.5, 0}), all / 2, 1e-6);
	cr_expect_float_eq(part_served((struct served_case){0, BLOCKED_SOCKET, true, 0.5, 0}), all / 2, 1e-6);
	/* it only computes before the request */
	cr_expect_eq(part_served((struct served_case){0, BLOCKED_SOCKET, false, 0, 1}), 0);
	cr_expect_eq(part_served((struct served_case){0, BLOCKED_SOCKET, true, 0, 1}), 0);
	/* it was asked by another one */
	cr_expect_eq(part_served((struct served_case){2, BLOCKED_SOCKET, false, 1, 1}), 0);
	/* it held a lock */
	cr_expect_eq(part_served((struct served_case){0, BLOCKED_LOCK, false, 1, 1}), 0);
}
