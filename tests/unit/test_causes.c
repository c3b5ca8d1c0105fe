/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs built by hand, and their replays. An editable is a number here. */
#include <criterion/criterion.h>

#include "report/causes/path.h"
#include "report/causes/replay.h"
#include "report/causes/saving.h"

enum { A, B, C, WAIT, KERNEL, WHATS };

static struct graph g;
static float factors[WHATS];
static struct edit edit;

static void setup(void)
{
	g = (struct graph){0};
	for (int i = 0; i < WHATS; i++)
		factors[i] = 1;
	edit = (struct edit){.factors = factors};
}

static void teardown(void)
{
	graph_done(&g);
}

TestSuite(causes, .init = setup, .fini = teardown);

static double run(void)
{
	return replay_run(&g, &edit, NULL);
}

/* Every node ends when it was recorded to end. */
static void assert_exact(void)
{
	double *ends = mem_alloc((g.node_count + 1) * sizeof(*ends));

	replay_run(&g, &(struct edit){0}, ends);
	for (size_t i = 0; i < g.node_count; i++)
		cr_expect_eq(ends[i], (double)g.nodes[i].end_ns, "node %zu of kind %u", i, g.nodes[i].kind);
	free(ends);
}

/* A worker thread: the main one works for 300, waits until 500 for the worker that works until 490, works for 100. */
static void fork_and_join(void)
{
	graph_edge(&g, 0, 99, 1, 110);
	graph_edge(&g, 1, 490, 0, 500);
	graph_edges_done(&g);
	graph_begin(&g, 0, 0);
	graph_work(&g, 400, A);
	graph_call(&g, 500, WAIT, true);
	graph_work(&g, 600, C);
	graph_end(&g, true);
	graph_begin(&g, 1, 110);
	graph_work(&g, 490, B);
	graph_end(&g, false);
	graph_finish(&g);
}

Test(causes, without_an_edit_nothing_changes)
{
	fork_and_join();
	assert_exact();
	cr_expect_eq(run(), 600);
}

Test(causes, a_wait_follows_its_source_and_no_further)
{
	fork_and_join();
	factors[B] = 0.9f; /* 38 less */
	cr_expect_float_eq(run(), 600 - 38, 0.01);
	factors[B] = 0; /* the main thread works until 400; then the wait is nothing */
	cr_expect_float_eq(run(), 500, 0.01);
	factors[B] = 2;
	cr_expect_float_eq(run(), 600 + 380, 0.01);
}

Test(causes, what_a_wait_lasts_after_its_cause_is_of_the_wait)
{
	fork_and_join();
	factors[WAIT] = 0;
	cr_expect_float_eq(run(), 600 - 10, 0.01);
}

/* A worker that waits until 480 before it ends the main thread's wait. Returns the kind of that. */
static enum node_kind wait_for_one_that_waits(enum graph_alone alone)
{
	graph_edge(&g, 1, 490, 0, 500);
	graph_edges_done(&g);
	graph_begin(&g, 0, 0);
	graph_work(&g, 400, A);
	graph_call(&g, 500, WAIT, GRAPH_WAITS);
	graph_end(&g, true);
	graph_begin(&g, 1, 0);
	graph_work(&g, 390, B);
	graph_call(&g, 480, KERNEL, alone);
	graph_work(&g, 490, B);
	graph_end(&g, false);
	graph_finish(&g);
	return g.nodes[2].kind;
}

Test(causes, what_an_unknown_wait_passes_on_is_no_cause)
{
	cr_expect_eq(wait_for_one_that_waits(GRAPH_WAITS), NODE_UNSEEN);
}

Test(causes, what_its_own_timer_woke_is_a_cause)
{
	cr_expect_eq(wait_for_one_that_waits(GRAPH_TIMER), NODE_WAIT);
}

Test(causes, work_before_the_start_of_another_actor_moves_that)
{
	fork_and_join();
	factors[A] = 0; /* the worker starts 99 earlier, and its end is awaited */
	cr_expect_float_eq(run(), 600 - 99, 0.01);
}

static double by_what[WHATS], latencies;

static void visit(void *context, enum critical_kind kind, uint32_t node, uint32_t what, double ns)
{
	(void)context;
	(void)node;
	if (kind == CRITICAL_PART)
		by_what[what] += ns;
	else
		latencies += ns;
}

/* An actor waits from 250 to 261 for a lock that the other one took at 200 and releases at 260. */
static void wait_for_lock(void)
{
	graph_lock(&g, 1, 200, 260, 0, 261);
	graph_edges_done(&g);
	graph_begin(&g, 0, 0);
	graph_work(&g, 250, A);
	graph_call(&g, 261, WAIT, true);
	graph_work(&g, 300, C);
	graph_end(&g, true);
	graph_begin(&g, 1, 0);
	graph_work(&g, 400, B);
	graph_end(&g, false);
	graph_finish(&g);
}

Test(causes, a_lock_that_was_not_taken_yet_is_free)
{
	wait_for_lock();
	assert_exact();
	cr_expect_eq(run(), 300);
	factors[A] = 0.9f; /* at 225 it is taken */
	cr_expect_float_eq(run(), 300, 0.01);
	factors[A] = 0.5f; /* at 125 it is not */
	cr_expect_float_eq(run(), 125 + 39, 0.01);
}

Test(causes, a_lock_is_free_only_before_it_is_taken)
{
	wait_for_lock();
	factors[A] = 0.5f;
	factors[B] = 0.5f; /* taken at 100, released at 130 */
	cr_expect_float_eq(run(), 131 + 39, 0.01);
}

Test(causes, the_critical_path_adds_up_to_the_run)
{
	fork_and_join();
	critical_walk(&g, replay_last(&g), 0, UINT64_MAX, visit, NULL);
	cr_expect_float_eq(by_what[A], 99, 0.01);
	cr_expect_float_eq(by_what[B], 380, 0.01);
	cr_expect_float_eq(by_what[C], 100, 0.01);
	cr_expect_float_eq(latencies, 11 + 10, 0.01);
}

Test(causes, a_part_of_the_critical_path)
{
	fork_and_join();
	critical_walk(&g, replay_last(&g), 200, 550, visit, NULL);
	cr_expect_float_eq(by_what[A], 0, 0.01);
	cr_expect_float_eq(by_what[B], 290, 0.01);
	cr_expect_float_eq(by_what[C], 50, 0.01);
	cr_expect_float_eq(latencies, 10, 0.01);
}

Test(causes, the_stretches_of_the_path_follow_each_other)
{
	struct path_slice *slices;
	struct causality causes = {.editables = {.pool_first = 100}};
	uint32_t works[8];
	size_t count, found = 0;

	fork_and_join();
	causes.graph = g;
	count = path_slices(&causes, &slices);
	cr_assert(count > 3 && count <= 8);
	for (size_t i = 0; i < count; i++) {
		cr_expect(slices[i].start_ns < slices[i].end_ns);
		cr_expect(!i || slices[i].start_ns == slices[i - 1].end_ns);
		if (slices[i].kind == CRITICAL_PART)
			works[found++] = slices[i].what;
	}
	cr_expect_eq(slices[count - 1].end_ns - slices[0].start_ns, 600);
	cr_assert_eq(found, 3);
	cr_expect(works[0] == A && works[1] == B && works[2] == C);
	free(slices);
}

Test(causes, a_wait_without_a_source_keeps_its_length)
{
	graph_edges_done(&g);
	graph_begin(&g, 0, 0);
	graph_work(&g, 100, A);
	graph_call(&g, 400, WAIT, true);
	graph_end(&g, true);
	graph_finish(&g);
	assert_exact();
	factors[A] = 0;
	cr_expect_eq(run(), 300);
	factors[WAIT] = 0;
	cr_expect_eq(run(), 0);
}

Test(causes, at_most_such_a_wait_shrinks_with_what_came_earlier)
{
	fork_and_join();
	graph_done(&g);
	graph_edges_done(&g);
	graph_begin(&g, 0, 0);
	graph_work(&g, 10, A);
	graph_call(&g, 400, WAIT, true);
	graph_end(&g, true);
	graph_begin(&g, 1, 0);
	graph_work(&g, 390, B);
	graph_end(&g, false);
	graph_finish(&g);
	factors[B] = 0.5f;
	cr_expect_eq(run(), 400);
	edit.unseen = UNSEEN_SHRINK;
	cr_expect_float_eq(run(), 400 - 195, 0.01);
	factors[B] = 1;
	cr_expect_eq(run(), 400);
}

/* Two actors arrive at a meeting at 100 and at 300, and leave it at 310 and 320. */
static void meeting(void)
{
	uint32_t m = graph_meeting(&g);

	graph_arrive(&g, m, 0, 100);
	graph_arrive(&g, m, 1, 300);
	graph_leave(&g, m, 300, 0, 310);
	graph_leave(&g, m, 300, 1, 320);
	graph_edges_done(&g);
	for (uint32_t i = 0; i < 2; i++) {
		graph_begin(&g, i, 0);
		graph_work(&g, i ? 300 : 100, i ? B : A);
		graph_call(&g, i ? 320 : 310, WAIT, true);
		graph_end(&g, true);
	}
	graph_finish(&g);
}

Test(causes, a_meeting_waits_for_whoever_comes_last)
{
	meeting();
	assert_exact();
	cr_expect_eq(run(), 320);
	factors[B] = 0; /* now the other one is last */
	cr_expect_float_eq(run(), 120, 0.01);
	factors[A] = 0.5f;
	cr_expect_float_eq(run(), 70, 0.01);
}

Test(causes, several_sources_of_one_wait_are_a_meeting)
{
	graph_edge(&g, 1, 200, 0, 310);
	graph_edge(&g, 2, 300, 0, 310);
	graph_edges_done(&g);
	graph_begin(&g, 0, 0);
	graph_call(&g, 310, WAIT, true);
	graph_end(&g, true);
	for (uint32_t i = 1; i < 3; i++) {
		graph_begin(&g, i, 0);
		graph_work(&g, i == 1 ? 200 : 300, i == 1 ? A : B);
		graph_end(&g, false);
	}
	graph_finish(&g);
	assert_exact();
	factors[B] = 0;
	cr_expect_float_eq(run(), 210, 0.01);
}

/* The host launches three operations of 100 at 0, 10 and 20, which begin at 15, 115 and 215, waits for the last one
 * until 320, launches one more at 330, which begins at 340, waits for it until 445, and works until the end. */
static void stream_until(uint64_t end)
{
	static const uint64_t launches[] = {1, 10, 20, 330}, starts[] = {15, 115, 215, 340};

	g.launch_ns = 10;
	for (uint32_t i = 0; i < 4; i++)
		graph_edge(&g, 0, launches[i], 1, starts[i] + 100);
	graph_edge(&g, 1, 315, 0, 320);
	graph_edge(&g, 1, 440, 0, 445);
	graph_edges_done(&g);
	graph_begin(&g, 0, 0);
	graph_work(&g, 30, A);
	graph_call(&g, 320, WAIT, true);
	graph_work(&g, 340, A);
	graph_call(&g, 445, WAIT, true);
	if (end > 445)
		graph_work(&g, end, A);
	graph_end(&g, true);
	graph_begin(&g, 1, 0);
	for (uint32_t i = 0; i < 4; i++)
		graph_operation(&g, starts[i], starts[i] + 100, KERNEL);
	graph_end(&g, false);
	graph_finish(&g);
}

static void stream(void)
{
	stream_until(445);
}

Test(causes, operations_of_a_stream)
{
	stream();
	assert_exact();
	factors[KERNEL] = 0.5f;
	cr_expect_float_eq(run(), 445 - 4 * 50, 1.01);
	factors[KERNEL] = 0; /* the launches are what is left */
	cr_expect_leq(run(), 70);
	cr_expect_geq(run(), 50);
}

/* The host launches 20 operations, one every `each` ns; they begin at `first` and then every `every` ns. */
static void launch(uint64_t each, uint64_t first, uint64_t every, uint64_t ns)
{
	enum { COUNT = 20 };
	const uint64_t last = first + (COUNT - 1) * every + ns;

	g.launch_ns = first;
	for (uint64_t i = 0; i < COUNT; i++)
		graph_edge(&g, 0, i * each + 1, 1, first + i * every + ns);
	graph_edge(&g, 1, last, 0, last + 5);
	graph_edges_done(&g);
	graph_begin(&g, 0, 0);
	graph_work(&g, COUNT * each, A);
	graph_call(&g, last + 5, WAIT, true);
	graph_end(&g, true);
	graph_begin(&g, 1, 0);
	for (uint64_t i = 0; i < COUNT; i++)
		graph_operation(&g, first + i * every, first + i * every + ns, KERNEL);
	graph_end(&g, false);
	graph_finish(&g);
	assert_exact();
}

/* Each begins 150000 ns after its launch, 50000 after that of the next one, and 99990 after the end of the previous
 * one, for which it does not wait. */
Test(causes, operations_that_come_late_wait_for_their_launch)
{
	launch(100000, 150000, 100000, 10);
	factors[A] = 0;
	cr_expect_leq(run(), 150000 + 10 * 20 + 5.0);
}

/* All are launched at once, and each begins 8000 ns after the end of the previous one. */
Test(causes, operations_that_were_queued_wait_for_the_previous_one)
{
	launch(10, 1000, 108000, 100000);
	factors[KERNEL] = 0;
	cr_expect_leq(run(), 1000 + 8000 * 20 + 5.0);
}

Test(causes, a_wait_that_is_removed_is_made_by_the_last_one)
{
	uint8_t no_waits[WHATS] = {[WAIT] = 1};

	stream();
	edit.no_waits = no_waits;
	/* the host is at 50 when it waits for the end of the fourth one, which follows the third one at 315 */
	cr_expect_float_eq(run(), 315 + 100 + 5, 1.01);
}

Test(causes, work_after_a_removed_wait_for_the_device_overlaps_the_device)
{
	uint8_t no_waits[WHATS] = {[WAIT] = 1};

	stream_until(500);
	edit.no_waits = no_waits;
	cr_expect_float_eq(run(), 315 + 100 + 5, 1.01); /* the host has ended its work at 105 */
}

Test(causes, an_edge_from_a_later_moment_is_none)
{
	graph_edge(&g, 1, 500, 0, 400);
	graph_edges_done(&g);
	graph_begin(&g, 0, 0);
	graph_call(&g, 400, WAIT, true);
	graph_end(&g, true);
	graph_begin(&g, 1, 0);
	graph_work(&g, 600, B);
	graph_end(&g, false);
	graph_finish(&g);
	cr_expect_eq(g.nodes[1].kind, NODE_UNSEEN);
	assert_exact();
}

Test(causes, a_long_chain_is_exact)
{
	enum { LINKS = 1000 };

	for (uint64_t i = 1; i < LINKS; i++)
		graph_edge(&g, i % 2 ? 0 : 1, i * 100, i % 2 ? 1 : 0, i * 100 + 7);
	graph_edges_done(&g);
	for (uint32_t a = 0; a < 2; a++) {
		graph_begin(&g, a, 0);
		for (uint64_t i = 1; i < LINKS; i++)
			if ((i % 2 ? 1 : 0) == a) {
				graph_call(&g, i * 100 + 7, WAIT, true);
				graph_work(&g, (i + 1) * 100 + 3, a ? B : A);
			}
		graph_end(&g, true);
	}
	graph_finish(&g);
	assert_exact();
	factors[A] = factors[B] = 0;
	cr_expect_lt(run(), LINKS * 8 + 100);
}

/* The host launches A, B and A on a stream, which run one after another, and waits for the last one. */
static void two_kernels(void)
{
	static const uint64_t launches[] = {1, 10, 20}, starts[] = {15, 115, 165}, ends[] = {115, 165, 265};

	g.launch_ns = 10;
	for (uint32_t i = 0; i < 3; i++)
		graph_edge(&g, 0, launches[i], 1, ends[i]);
	graph_edge(&g, 1, 265, 0, 270);
	graph_edges_done(&g);
	graph_begin(&g, 0, 0);
	graph_work(&g, 30, C);
	graph_call(&g, 270, WAIT, true);
	graph_end(&g, true);
	graph_begin(&g, 1, 0);
	for (uint32_t i = 0; i < 3; i++)
		graph_operation(&g, starts[i], ends[i], i == 1 ? B : KERNEL);
	graph_end(&g, false);
	graph_finish(&g);
}

Test(causes, an_operation_that_overlaps_costs_nothing_until_it_is_awaited)
{
	uint8_t overlaps[WHATS] = {[B] = 1};

	two_kernels();
	assert_exact();
	edit.overlaps = overlaps;
	cr_expect_float_eq(run(), 270 - 50, 0.01);
	factors[B] = 10; /* 500 from 115 on are more than the other one's 100 */
	cr_expect_float_eq(run(), 115 + 500 + 5, 0.01);
}

Test(causes, input_takes_no_time_where_it_is_awaited)
{
	uint8_t inputs[WHATS] = {[WAIT] = 1}, actors[] = {1, 0};

	fork_and_join();
	edit.inputs = inputs;
	edit.input_actors = actors;
	cr_expect_float_eq(run(), 500, 0.01);
	actors[1] = 1; /* a wait for a thread that launches, too, is none for input */
	cr_expect_float_eq(run(), 600, 0.01);
}

#define MS 1000000ull

/* Four calls of A that take 400 ms in all, and 200 of other work. */
static struct saving saving_of_calls(double delay_ns)
{
	struct editable items[WHATS] = {[A] = {.kind = EDITABLE_CALL, .calls = 4}};
	struct causality s = {.editables = {.items = items, .count = WHATS, .pool_first = WHATS}, .run_ns = 600 * MS,
			      .delay_ns = delay_ns};
	struct saving saving;
	struct edit change;

	graph_edges_done(&g);
	graph_begin(&g, 0, 0);
	graph_work(&g, 400 * MS, A);
	graph_work(&g, 600 * MS, B);
	graph_end(&g, true);
	graph_finish(&g);
	s.graph = g;
	edit_init(&change, &s);
	edit_scale(&change, A, 0);
	saving_find(&s, &change, &saving);
	edit_done(&change);
	cr_expect_eq(saving.saved_ns, 400 * MS);
	cr_expect_eq(saving.cost_ns, 400 * MS);
	return saving;
}

Test(causes, the_interval_has_the_wait_for_a_cpu)
{
	const uint64_t noise = 400 * MS * SAVING_PERCENT / 100 + SAVING_NS;
	struct saving exact = saving_of_calls(0), noisy;

	graph_done(&g);
	noisy = saving_of_calls(30 * MS);
	cr_expect(exact.low_ns == 400 * MS - noise && exact.high_ns == 400 * MS + noise);
	cr_expect(noisy.low_ns == 370 * MS - noise && noisy.high_ns == 430 * MS + noise);
}

Test(causes, a_delay_after_each_call_lengthens_work)
{
	struct editable items[WHATS] = {[A] = {.kind = EDITABLE_CALL, .calls = 4}, [WAIT] = {.calls = 1}};
	struct causality s = {.editables = {.items = items, .count = WHATS, .pool_first = WHATS}};
	const uint8_t calls[WHATS] = {[A] = 1, [WAIT] = 1};
	struct edit delays;

	fork_and_join();
	s.graph = g;
	edit_init(&delays, &s);
	edit_delay(&delays, &s, calls, NULL, 5);
	/* of the four calls in 400 of work, 99 are before the start of the thread that is awaited; then the wait */
	cr_expect_float_eq(replay_run(&g, &delays, NULL), 600 + 4 * 5 * 99.0 / 400 + 5, 0.01);
	edit_done(&delays);
}

/* ---- a wait for several streams ---- */

/* Two operations of streams of their own, launched at once: one takes 400, the other one 300. The host waits for both,
 * then works for 50. */
static void two_streams(void)
{
	for (uint32_t i = 1; i <= 2; i++) {
		graph_edge(&g, 0, 10, i, i == 1 ? 420 : 320);
		graph_edge(&g, i, i == 1 ? 420 : 320, 0, 425);
	}
	graph_edges_done(&g);
	graph_begin(&g, 0, 0);
	graph_work(&g, 20, A);
	graph_call(&g, 425, WAIT, true);
	graph_work(&g, 475, C);
	graph_end(&g, true);
	for (uint32_t i = 1; i <= 2; i++) {
		graph_begin(&g, i, 0);
		graph_operation(&g, 20, i == 1 ? 420 : 320, i == 1 ? KERNEL : B);
		graph_end(&g, false);
	}
	graph_finish(&g);
}

Test(causes, a_wait_for_all_streams_ends_with_the_last_one)
{
	two_streams();
	assert_exact();
	factors[KERNEL] = 0.5f; /* the other stream is the last one then */
	cr_expect_float_eq(run(), 475 - 100, 0.01);
	factors[KERNEL] = 1;
	factors[B] = 2;
	cr_expect_float_eq(run(), 475 + 200, 0.01);
}

Test(causes, work_after_a_removed_wait_for_all_streams_overlaps_them)
{
	uint8_t no_waits[WHATS] = {[WAIT] = 1};

	two_streams();
	edit.no_waits = no_waits;
	cr_expect_float_eq(run(), 425, 0.01);
}

Test(causes, a_delay_after_each_call_lengthens_short_calls)
{
	struct editable items[WHATS] = {[A] = {.kind = EDITABLE_CALL}};
	struct share_of_pool share = {A, 1};
	struct pool pool = {.count = 1, .calls = 100};
	struct causality s = {.editables = {.items = items, .count = WHATS, .pool_first = WHATS, .pool_count = 1,
					    .pools = &pool, .shares = &share}};
	const uint8_t calls[WHATS] = {[A] = 1};
	struct edit delays;

	graph_edges_done(&g);
	graph_begin(&g, 0, 0);
	graph_work(&g, 400, WHATS);
	graph_end(&g, true);
	graph_finish(&g);
	s.graph = g;
	edit_init(&delays, &s);
	edit_delay(&delays, &s, calls, NULL, 5);
	cr_expect_float_eq(replay_run(&g, &delays, NULL), 400 + 100 * 5, 0.01);
	edit_done(&delays);
}
