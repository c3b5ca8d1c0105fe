/* SPDX-License-Identifier: Apache-2.0 */
/* Which edges the graph of a capture has, by traces. test_causes.c has graphs built by hand. */
#include "report/derive/causes/causes.h"
#include "rule_fixture.h"

static struct writer_thread worker;
static uint16_t f_sem, f_sleep;

static void begin_threads(void)
{
	writer_init(&w, 1, 10, 1, BEGIN);
	f_sem = writer_function(&w, TF_GROUP_OSRT, "sem_wait");
	f_sleep = writer_function(&w, TF_GROUP_OSRT, "clock_nanosleep");
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	writer_thread(&w, &worker, 11, "worker", 4 * TF_PAGE);
}

TestSuite(causality, .init = begin_threads, .fini = teardown);

/* The main thread waits from 10 to 220 ms, the other one sleeps and ends at that time. Returns the kind of the node of
 * the wait. */
static enum node_kind wait_for_thread(uint64_t end_ms)
{
	struct causality *s;
	enum node_kind kind = NODE_START;

	writer_call(&worker, f_sleep, BEGIN + (end_ms - 1) * MS, (end_ms - 20) * MS, NULL, 0);
	writer_page(&worker)->start_ticks = BEGIN + 5 * MS;
	writer_page(&worker)->end_ticks = BEGIN + end_ms * MS;
	writer_call(&host, f_sem, BEGIN + 220 * MS, 210 * MS, NULL, 0);
	open_model(300 * MS);
	s = causes_find(&context);
	cr_assert_not_null(s);
	for (size_t i = 0; i < s->graph.node_count; i++)
		if (s->graph.nodes[i].end_ns == 220 * MS && s->graph.nodes[i].actor == 0)
			kind = s->graph.nodes[i].kind;
	causes_free(s);
	return kind;
}

Test(causality, a_wait_for_a_thread_that_ends_with_it)
{
	cr_expect_eq(wait_for_thread(220), NODE_WAIT);
}

Test(causality, a_thread_that_was_woken_gets_a_cpu_late)
{
	cr_expect_eq(wait_for_thread(200), NODE_WAIT);
}

Test(causality, a_thread_that_ended_long_before_is_no_cause)
{
	cr_expect_eq(wait_for_thread(150), NODE_UNSEEN);
}
