/* SPDX-License-Identifier: Apache-2.0 */
/* Which edges the graph of a capture has, by traces. test_causes.c has graphs built by hand. */
#include "report/causes/causes.h"
#include "report/causes/critical.h"
#include "report/causes/saving.h"
#include "rule_fixture.h"
#include "runtime/shared/format/trace_flags.h"

static struct writer_thread worker;
static uint16_t f_sem, f_sleep, f_open, f_create, f_wait, f_signal;
static uint16_t f_parallel, f_critical, f_task, f_barrier, f_end, f_idle, f_critical_wait, f_taskwait;

static void begin_threads(void)
{
	writer_init(&w, 1, 10, 1, BEGIN);
	f_sem = writer_function(&w, TF_GROUP_OSRT, "sem_wait");
	f_sleep = writer_function(&w, TF_GROUP_OSRT, "clock_nanosleep");
	f_create = writer_function(&w, TF_GROUP_OSRT, "pthread_create");
	f_open = writer_function(&w, TF_GROUP_OSRT, "open64");
	f_wait = writer_function(&w, TF_GROUP_OSRT, "pthread_cond_wait");
	f_signal = writer_function(&w, TF_GROUP_OSRT, "pthread_cond_signal");
	f_write = writer_function(&w, TF_GROUP_OSRT, "write");
	f_poll = writer_function(&w, TF_GROUP_OSRT, "poll");
	f_read = writer_function(&w, TF_GROUP_OSRT, "read");
	f_parallel = writer_function(&w, TF_GROUP_OPENMP, "omp_parallel");
	f_critical = writer_function(&w, TF_GROUP_OPENMP, "omp_critical");
	f_task = writer_function(&w, TF_GROUP_OPENMP, "omp_task");
	f_barrier = writer_function(&w, TF_GROUP_OPENMP, "omp_barrier");
	f_end = writer_function(&w, TF_GROUP_OPENMP, "omp_implicit_barrier");
	f_idle = writer_function(&w, TF_GROUP_OPENMP, "omp_idle");
	f_critical_wait = writer_function(&w, TF_GROUP_OPENMP, "omp_critical_wait");
	f_taskwait = writer_function(&w, TF_GROUP_OPENMP, "omp_taskwait");
	writer_thread(&w, &host, 10, "main", 4 * TF_PAGE);
	writer_thread(&w, &worker, 11, "worker", 4 * TF_PAGE);
}

TestSuite(causality, .init = begin_threads, .fini = teardown);

/* The main thread waits from 10 to 220 ms, the other one sleeps and ends at that time. `delay_ms`: for which the main
 * thread has waited for a CPU. Returns the kind of the node of the wait. */
static enum node_kind wait_for_thread(uint64_t end_ms, uint64_t delay_ms)
{
	struct causality *s;
	enum node_kind kind = NODE_START;

	writer_call(&worker, f_sleep, BEGIN + (end_ms - 1) * MS, (end_ms - 20) * MS, NULL, 0);
	writer_page(&worker)->start_ticks = BEGIN + 5 * MS;
	writer_page(&worker)->end_ticks = BEGIN + end_ms * MS;
	writer_call(&host, f_sem, BEGIN + 220 * MS, 210 * MS, NULL, 0);
	writer_usage(&host, &(struct tf_usage){BEGIN + 221 * MS, 1 * MS, delay_ms * MS, 10, 0, 0, 0});
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
	cr_expect_eq(wait_for_thread(220, 0), NODE_WAIT);
}

Test(causality, a_thread_that_was_woken_gets_a_cpu_late)
{
	cr_expect_eq(wait_for_thread(200, 0), NODE_WAIT);
}

Test(causality, a_thread_that_was_woken_gets_a_cpu_as_late_as_the_kernel_says)
{
	cr_expect_eq(wait_for_thread(169, 100), NODE_WAIT);
}

Test(causality, a_thread_that_ended_long_before_is_no_cause)
{
	cr_expect_eq(wait_for_thread(169, 0), NODE_UNSEEN);
}

Test(causality, a_thread_that_ended_more_than_a_quarter_of_the_wait_before_is_no_cause)
{
	cr_expect_eq(wait_for_thread(150, 100), NODE_UNSEEN);
}

/* The main thread waits from 100 to 110 ms. A thread ends then, and another one started shortly before, which the main
 * thread has created or not. Returns the TID of the thread that ended the wait. */
static uint32_t start_thread(const char *executable, bool has_created)
{
	struct writer_thread newer;
	struct causality *s;
	uint32_t tid = 0;

	writer_command(&w, executable, "x", 2);
	writer_thread(&w, &newer, 12, "newer", 4 * TF_PAGE);
	writer_call(&worker, f_sleep, BEGIN + 109 * MS, 80 * MS, NULL, 0);
	writer_page(&worker)->start_ticks = BEGIN + 5 * MS;
	writer_page(&worker)->end_ticks = BEGIN + 110 * MS;
	writer_call(&newer, f_sleep, BEGIN + 290 * MS, 180 * MS, NULL, 0);
	writer_page(&newer)->start_ticks = BEGIN + 99 * MS;
	writer_page(&newer)->end_ticks = BEGIN + 295 * MS;
	if (has_created)
		writer_call(&host, f_create, BEGIN + 99 * MS + 50 * US, 100 * US, NULL, 0);
	writer_call(&host, f_sem, BEGIN + 110 * MS, 10 * MS, NULL, 0);
	open_model(300 * MS);
	s = causes_find(&context);
	cr_assert_not_null(s);
	for (size_t i = 0; i < s->graph.node_count; i++)
		if (s->graph.nodes[i].kind == NODE_WAIT && s->graph.nodes[i].end_ns == 110 * MS)
			tid = s->actors[s->graph.nodes[s->graph.nodes[i].source].actor].thread->tid;
	causes_free(s);
	return tid;
}

Test(causality, a_thread_of_python_that_starts_another_one_waits_for_it)
{
	cr_expect_eq(start_thread("/usr/bin/python3", true), 12);
}

Test(causality, a_thread_that_another_one_has_created_is_no_cause)
{
	cr_expect_eq(start_thread("/usr/bin/python3", false), 11);
}

Test(causality, another_program_may_wait_for_any_thread)
{
	cr_expect_eq(start_thread("/usr/bin/job", true), 11);
}

/* A server's thread creates another one while the main thread waits, just after its clock was read. */
Test(causality, a_thread_follows_the_one_that_has_created_it)
{
	struct writer_thread newer;
	struct causality *s;
	uint32_t tid = 0;

	writer_thread(&w, &newer, 12, "newer", 4 * TF_PAGE);
	writer_call(&worker, f_create, BEGIN + 100 * MS + 50 * US, 50 * US, NULL, 0);
	writer_page(&worker)->start_ticks = BEGIN + 5 * MS;
	writer_call(&newer, f_sleep, BEGIN + 150 * MS, 40 * MS, NULL, 0);
	writer_page(&newer)->start_ticks = BEGIN + 101 * MS;
	writer_page(&newer)->created_ticks = BEGIN + 100 * MS - 60;
	writer_call(&host, f_sem, BEGIN + 220 * MS, 210 * MS, NULL, 0);
	open_model(300 * MS);
	s = causes_find(&context);
	cr_assert_not_null(s);
	for (size_t i = 0; i < s->graph.node_count; i++) {
		const struct run_node *n = &s->graph.nodes[i];

		if (n->kind == NODE_START && n->source != NODE_NONE && s->actors[n->actor].thread->tid == 12)
			tid = s->actors[s->graph.nodes[n->source].actor].thread->tid;
	}
	causes_free(s);
	cr_expect_eq(tid, 11);
}

/* A thread waits for a condition until 210 ms, which the main thread signals at 205 ms; another thread ends at 210 ms.
 * Returns the TID of the thread that ended the wait. */
static uint32_t wait_for_condition(uint64_t signaled)
{
	const uint64_t waits[] = {tf_arg(TF_ARG_LOCK, 0, 0x1000)}, signals[] = {tf_arg(TF_ARG_LOCK, 0, signaled)};
	struct writer_thread ending;
	struct causality *s;
	uint32_t tid = 0;

	writer_thread(&w, &ending, 12, "ending", 4 * TF_PAGE);
	writer_call(&worker, f_wait, BEGIN + 210 * MS, 200 * MS, waits, 1);
	writer_page(&worker)->start_ticks = BEGIN + 5 * MS;
	writer_page(&worker)->end_ticks = BEGIN + 211 * MS;
	writer_call(&ending, f_sleep, BEGIN + 209 * MS, 150 * MS, NULL, 0);
	writer_page(&ending)->start_ticks = BEGIN + 5 * MS;
	writer_page(&ending)->end_ticks = BEGIN + 210 * MS;
	writer_call(&host, f_signal, BEGIN + 205 * MS, 10 * US, signals, 1);
	open_model(300 * MS);
	s = causes_find(&context);
	cr_assert_not_null(s);
	for (size_t i = 0; i < s->graph.node_count; i++)
		if (s->graph.nodes[i].kind == NODE_WAIT && s->graph.nodes[i].end_ns == 210 * MS)
			tid = s->actors[s->graph.nodes[s->graph.nodes[i].source].actor].thread->tid;
	causes_free(s);
	return tid;
}

Test(causality, a_wait_for_a_condition_ends_by_its_signal_however_late_a_cpu_is_free)
{
	cr_expect_eq(wait_for_condition(0x1000), 10);
}

Test(causality, the_signal_of_another_condition_is_no_cause)
{
	cr_expect_eq(wait_for_condition(0x2000), 12);
}

/* The worker waits for a semaphore from 10 to 200 ms; when that ends, the main thread sleeps since 199.5 ms, and
 * another thread is in its last call, which it began at that time or with the run. Returns the TID of the thread that
 * ended the wait; 0: none. */
static uint32_t wait_beside_a_call_in_progress(uint64_t since_us)
{
	struct writer_thread last;
	struct causality *s;
	uint32_t tid = 0;

	writer_thread(&w, &last, 12, "last", 4 * TF_PAGE);
	writer_page(&last)->start_ticks = BEGIN;
	writer_page(&last)->current = (uint64_t)(f_sem + 1) << TF_CURRENT_SHIFT |
				      ((BEGIN + since_us * US) & (((uint64_t)1 << TF_CURRENT_SHIFT) - 1));
	writer_page(&worker)->start_ticks = BEGIN;
	writer_call(&worker, f_sem, BEGIN + 200 * MS, 190 * MS, NULL, 0);
	writer_call(&host, f_sleep, BEGIN + 290 * MS, 90 * MS + 500 * US, NULL, 0);
	open_model(300 * MS);
	s = causes_find(&context);
	cr_assert_not_null(s);
	for (size_t i = 0; i < s->graph.node_count; i++)
		if (s->graph.nodes[i].kind == NODE_WAIT && s->graph.nodes[i].end_ns == 200 * MS)
			tid = s->actors[s->graph.nodes[s->graph.nodes[i].source].actor].thread->tid;
	causes_free(s);
	return tid;
}

Test(causality, a_thread_that_had_just_begun_its_last_call_has_ended_the_wait)
{
	cr_expect_eq(wait_beside_a_call_in_progress(199950), 12);
}

Test(causality, a_thread_in_its_last_call_since_long_before_is_no_cause)
{
	cr_expect_eq(wait_beside_a_call_in_progress(1000), 10);
}

/* ---- OpenMP ---- */

enum { LATE_STACK = 1 };

/* What the run saves without the calls at line 7 of job.py, in ms. */
static uint64_t saved_without_the_line(void)
{
	struct causality *s;
	struct saving saving;
	struct edit edit;
	struct err err;

	open_model(300 * MS);
	s = causes_find(&context);
	cr_assert_not_null(s);
	edit_init(&edit, s);
	cr_assert_eq(edit_parse(s, "line~job.py:7=0", &edit, &err), 0, "%s", err.text);
	saving_find(s, &edit, &saving);
	edit_done(&edit);
	causes_free(s);
	return (saving.saved_ns + MS / 2) / MS;
}

static uint64_t late_line(void)
{
	const uint32_t code[] = {1};

	writer_python_code(&host, 1, 7, "/home/u/job.py", "late");
	writer_python_stack(&host, LATE_STACK, code, 1);
	writer_page(&worker)->start_ticks = BEGIN;
	return tf_arg(TF_ARG_STACK, 0, LATE_STACK);
}

/* Two barriers of three threads. At the first one the main thread arrives at 10 ms, the others at 30 and 50 ms, of
 * which the last one sleeps at line 7; at the second one at 100, 90 and 60 ms. */
Test(causality, a_team_leaves_a_barrier_when_the_last_thread_has_arrived)
{
	static const uint64_t arrives[2][3] = {{10, 30, 50}, {100, 90, 60}};
	struct writer_thread third, *team[] = {&host, &worker, &third};
	uint64_t at_line = late_line();

	writer_thread(&w, &third, 12, "third", 4 * TF_PAGE);
	writer_page(&third)->start_ticks = BEGIN;
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < 3; k++) {
			uint64_t arrived = BEGIN + arrives[i][k] * MS,
				 left = BEGIN + (i ? 100 : 50) * MS + (k + 1) * 10 * US;

			if (!i)
				writer_call(team[k], f_sleep, arrived, arrived - BEGIN - MS, &at_line, k == 2);
			writer_call(team[k], f_barrier, left, left - arrived, NULL, 0);
		}
	cr_expect_eq(saved_without_the_line(), 20, "then the second thread is the last one");
}

/* The worker sleeps at line 7 until 200 ms in the only region of the program, at whose end it waits until the process
 * ends, because no other region begins. */
Test(causality, a_team_leaves_its_last_region_when_the_last_thread_has_arrived)
{
	uint64_t at_line = late_line();

	writer_call(&worker, f_sleep, BEGIN + 200 * MS, 190 * MS, &at_line, 1);
	writer_page(&worker)->current = (uint64_t)(f_end + 1) << TF_CURRENT_SHIFT | (BEGIN + 200 * MS);
	writer_call(&host, f_end, BEGIN + 201 * MS, 195 * MS, NULL, 0);
	cr_expect_eq(saved_without_the_line(), 190);
}

static void take_actor(void *of, enum critical_kind kind, uint32_t node, uint32_t what, double ns)
{
	const struct causality *s = of;

	(void)kind, (void)what, (void)ns;
	cr_expect_lt(s->graph.nodes[node].actor, s->actor_count);
}

/* Damaged events: the last thread has arrived at its barrier while it waited for something else. */
Test(causality, each_part_of_a_path_has_a_thread)
{
	struct causality *s;

	writer_page(&worker)->start_ticks = BEGIN;
	writer_call(&worker, f_barrier, BEGIN + 200 * MS, 110 * MS, NULL, 0);
	writer_call(&host, f_sem, BEGIN + 150 * MS, 100 * MS, NULL, 0);
	writer_call(&host, f_barrier, BEGIN + 200 * MS, 100 * MS, NULL, 0);
	open_model(300 * MS);
	s = causes_find(&context);
	cr_assert_not_null(s);
	critical_walk(&s->graph, critical_node_at(&s->graph, 1, 200 * MS), 0, 300 * MS, take_actor, s);
	causes_free(s);
}

/* A thread sleeps at line 7 in a construct until 200 ms, the main thread waits until 210 ms; the worker has just ended
 * a sleep of its own then. */
static uint64_t wait_for_a_construct(uint16_t construct, uint16_t wait)
{
	struct writer_thread late;
	uint64_t at_line = late_line();

	writer_thread(&w, &late, 12, "late", 4 * TF_PAGE);
	writer_page(&late)->start_ticks = BEGIN;
	writer_call(&worker, f_sleep, BEGIN + 209 * MS + 950 * US, 200 * MS, NULL, 0);
	writer_call(&late, f_sleep, BEGIN + 200 * MS, 190 * MS, &at_line, 1);
	writer_construct(&late, construct, BEGIN + 200 * MS, 195 * MS, NULL, 0);
	writer_call(&host, wait, BEGIN + 210 * MS, 200 * MS, NULL, 0);
	return saved_without_the_line();
}

Test(causality, a_wait_for_a_critical_section_ends_after_its_end_however_late)
{
	cr_expect_eq(wait_for_a_construct(f_critical, f_critical_wait), 190);
}

Test(causality, a_wait_for_tasks_ends_after_the_last_one)
{
	cr_expect_eq(wait_for_a_construct(f_task, f_taskwait), 190);
}

Test(causality, a_wait_for_tasks_is_none_for_a_critical_section)
{
	cr_expect_eq(wait_for_a_construct(f_critical, f_taskwait), 0);
}

/* The main thread sleeps at line 7 for 190 ms, then a region begins, before which the worker has no work. */
Test(causality, a_thread_of_openmp_is_idle_until_a_region_begins)
{
	uint64_t at_line = late_line();

	writer_call(&host, f_sleep, BEGIN + 200 * MS, 190 * MS, &at_line, 1);
	writer_call(&worker, f_idle, BEGIN + 210 * MS, 200 * MS, NULL, 0);
	writer_call(&worker, f_sleep, BEGIN + 260 * MS, 50 * MS, NULL, 0);
	writer_call(&worker, f_end, BEGIN + 261 * MS, 1 * MS, NULL, 0);
	writer_call(&host, f_end, BEGIN + 261 * MS, 60 * MS, NULL, 0);
	writer_construct(&host, f_parallel, BEGIN + 261 * MS, 60 * MS, NULL, 0);
	cr_expect_eq(saved_without_the_line(), 190);
}

/* ---- waits without a record ---- */

/* The worker sleeps at line 7 until 210 ms, the main thread has no event from 10 to 210 ms, and used so much CPU time
 * in all. */
static uint64_t silent_beside_a_sleep(uint64_t cpu_ms)
{
	uint64_t at_line = late_line();

	writer_call(&worker, f_sleep, BEGIN + 209 * MS + 950 * US, 190 * MS, &at_line, 1);
	writer_call(&host, f_sleep, BEGIN + 10 * MS, 5 * MS, NULL, 0);
	writer_call(&host, f_sleep, BEGIN + 215 * MS, 5 * MS, NULL, 0);
	writer_usage(&host, &(struct tf_usage){BEGIN + 290 * MS, cpu_ms * MS, 0, 10, 0, 0, 0});
	return saved_without_the_line();
}

Test(causality, a_thread_without_events_and_cpu_time_waits)
{
	cr_expect_eq(silent_beside_a_sleep(20), 190);
}

Test(causality, a_thread_without_events_that_computes_does_not_wait)
{
	cr_expect_eq(silent_beside_a_sleep(150), 0);
}

/* The process ends when the worker has slept. */
Test(causality, a_thread_without_events_until_its_end_waits)
{
	uint64_t at_line = late_line();

	writer_call(&worker, f_sleep, BEGIN + 299 * MS + 950 * US, 280 * MS, &at_line, 1);
	writer_call(&host, f_sleep, BEGIN + 10 * MS, 5 * MS, NULL, 0);
	writer_usage(&host, &(struct tf_usage){BEGIN + 290 * MS, 20 * MS, 0, 10, 0, 0, 0});
	cr_expect_eq(saved_without_the_line(), 280);
}

/* The worker begins when the main thread has slept, which then waits for it. */
Test(causality, a_thread_without_events_until_its_first_call_waits)
{
	uint64_t at_line = late_line();

	writer_page(&worker)->start_ticks = BEGIN + 5 * MS;
	writer_call(&worker, f_sleep, BEGIN + 200 * MS, 49 * MS + 950 * US, NULL, 0);
	writer_usage(&host, &(struct tf_usage){BEGIN + 290 * MS, 20 * MS, 0, 11, 0, 0, 0});
	writer_call(&host, f_sleep, BEGIN + 150 * MS, 130 * MS, &at_line, 1);
	writer_call(&host, f_sem, BEGIN + 200 * MS + 100 * US, 50 * MS, NULL, 0);
	cr_expect_eq(saved_without_the_line(), 130);
}

/* ---- pipes ---- */

/* The main thread waits until 50 ms for a descriptor and reads from it. It waits again from 60 to 100 ms; the read
 * after that took less than the threshold. Another thread writes to the pipe at 50 ms and at `written_ms`. Returns the
 * kind of the node of the second wait. */
static enum node_kind poll_twice(uint64_t written_ms)
{
	const uint64_t got[] = {tf_arg(TF_ARG_FD, 0, 4ull << 16 | 3)}, put[] = {tf_arg(TF_ARG_FD, 0, 4ull << 16 | 4)};
	enum node_kind kind = NODE_START;
	struct causality *s;

	writer_page(&worker)->start_ticks = BEGIN;
	writer_page(&worker)->end_ticks = BEGIN + 290 * MS;
	writer_descriptor(&host, 1, 3, BEGIN, TF_DESCRIPTOR_OTHER, "pipe:[1]");
	writer_descriptor(&host, 2, 4, BEGIN, TF_DESCRIPTOR_OTHER, "pipe:[1]");
	writer_call(&worker, f_write, BEGIN + 50 * MS, 10 * US, put, 1);
	writer_call(&worker, f_write, BEGIN + written_ms * MS, 10 * US, put, 1);
	writer_call(&host, f_poll, BEGIN + 50 * MS, 40 * MS, NULL, 0);
	writer_call(&host, f_read, BEGIN + 50 * MS + 20 * US, 10 * US, got, 1);
	writer_call(&host, f_poll, BEGIN + 100 * MS, 40 * MS, NULL, 0);
	open_model(300 * MS);
	s = causes_find(&context);
	cr_assert_not_null(s);
	for (size_t i = 0; i < s->graph.node_count; i++)
		if (s->graph.nodes[i].end_ns == 100 * MS && s->graph.nodes[i].actor == 0)
			kind = s->graph.nodes[i].kind;
	causes_free(s);
	return kind;
}

Test(causality, a_wait_before_a_read_that_is_not_recorded_follows_a_write_at_its_end)
{
	cr_expect_eq(poll_twice(100), NODE_WAIT);
}

Test(causality, a_write_long_before_the_end_of_a_wait_is_no_cause)
{
	cr_expect_eq(poll_twice(80), NODE_UNSEEN);
}

/* ---- files ---- */

enum { WRITES_STACK = 1, OPENS_STACK };

/* What the run saves with the edit, in ms; at least, but for how much two runs differ. */
static uint64_t price_ms(const char *edit, uint64_t *ret_low)
{
	struct saving saving;
	struct edit parsed;
	struct causality *s;
	struct err err;

	open_model(300 * MS);
	s = causes_find(&context);
	cr_assert_not_null(s);
	edit_init(&parsed, s);
	cr_assert_eq(edit_parse(s, edit, &parsed, &err), 0, "%s", err.text);
	saving_find(s, &parsed, &saving);
	edit_done(&parsed);
	causes_free(s);
	*ret_low = (saving.low_ns + saving.saved_ns * SAVING_PERCENT / 100 + SAVING_NS + MS / 2) / MS;
	return saving.saved_ns / MS;
}

/* In turn: opens the file, writes to it; what is written to it is freed by the next open. Returns what the run saves
 * with the edit, in ms. */
static uint64_t write_files(uint32_t bytes, enum tf_opened how, const char *edit, uint64_t *ret_low)
{
	const uint32_t writing[] = {1}, opening[] = {2};
	const uint64_t stacks[] = {0, tf_arg(TF_ARG_STACK, 0, WRITES_STACK), tf_arg(TF_ARG_STACK, 0, OPENS_STACK)};

	writer_python_code(&host, 1, 7, "/home/u/job.py", "save");
	writer_python_code(&host, 2, 9, "/home/u/job.py", "main");
	writer_python_stack(&host, WRITES_STACK, writing, 1);
	writer_python_stack(&host, OPENS_STACK, opening, 1);
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t at = BEGIN + i * 50 * MS;
		const uint64_t opened[] = {tf_arg(TF_ARG_FD, how, (uint64_t)3 << 16 | TF_NO_DESCRIPTOR), stacks[2]},
			       written[] = {tf_arg(TF_ARG_FD, 0, (uint64_t)bytes << 16 | 3), stacks[1]};

		writer_descriptor(&host, i + 1, 3, at + 10 * MS, TF_DESCRIPTOR_FILE, "/home/u/checkpoint");
		writer_call(&host, f_open, at + 10 * MS, 10 * MS, opened, 2);
		writer_call(&host, f_write, at + 30 * MS, 20 * MS, written, 2);
	}
	return price_ms(edit, ret_low);
}

Test(causality, an_open_that_frees_what_was_written_is_a_consequence_of_the_writes)
{
	uint64_t low;

	cr_expect_eq(write_files(1 << 20, TF_OPENED_EMPTIED, "line~job.py:7=0", &low), 4 * 20 + 3 * 10,
		     "all opens but the first");
	cr_expect_eq(low, 4 * 20, "what the opens take without the writes is not known");
}

Test(causality, an_open_of_an_older_trace_is_taken_for_one)
{
	uint64_t low;

	cr_expect_eq(write_files(1 << 20, TF_OPENED_UNKNOWN, "line~job.py:7=0", &low), 4 * 20 + 3 * 10);
}

Test(causality, an_open_that_keeps_what_was_written_is_no_consequence)
{
	uint64_t low;

	cr_expect_eq(write_files(1 << 20, TF_OPENED_KEPT, "line~job.py:7=0", &low), 4 * 20);
}

Test(causality, without_such_opens_the_writes_stay)
{
	uint64_t low;

	cr_expect_eq(write_files(1 << 20, TF_OPENED_EMPTIED, "line~job.py:9=0", &low), 4 * 10);
	cr_expect_eq(low, 4 * 10);
}

Test(causality, an_open_of_a_file_with_few_bytes_is_no_consequence)
{
	uint64_t low;

	cr_expect_eq(write_files(100, TF_OPENED_EMPTIED, "line~job.py:7=0", &low), 4 * 20);
}

/* A sleep of the thread that ends then, with a stack. */
static void sleep_until(struct writer_thread *t, uint64_t end_ms, uint64_t ms)
{
	const uint64_t stack[] = {tf_arg(TF_ARG_STACK, 0, 1)};

	writer_call(t, f_sleep, BEGIN + end_ms * MS, ms * MS, stack, 1);
}

static void sleep_in_turn(uint32_t count)
{
	const uint32_t at[] = {1};

	writer_python_code(&host, 1, 7, "/home/u/job.py", "ask");
	writer_python_stack(&host, 1, at, 1);
	for (uint32_t i = 0; i < count; i++)
		sleep_until(&host, (i + 1) * 20, 16);
}

Test(causality, waits_in_a_row_may_only_lie_beside_each_other_then)
{
	uint64_t low;

	sleep_in_turn(3);
	cr_expect_eq(price_ms("line~job.py:7=0", &low), 3 * 16);
	cr_expect_eq(low, 2 * 16, "a third of them is left");
}

Test(causality, no_more_than_four_of_them_do)
{
	uint64_t low;

	sleep_in_turn(12);
	cr_expect_eq(price_ms("line~job.py:7=0", &low), 12 * 16);
	cr_expect_eq(low, 12 * 16 * 3 / 4);
}

Test(causality, one_wait_lies_beside_no_other)
{
	uint64_t low;

	sleep_in_turn(1);
	cr_expect_eq(price_ms("line~job.py:7=0", &low), 16);
	cr_expect_eq(low, 16);
}

Test(causality, waits_of_two_threads_in_turn_may_lie_beside_each_other_then)
{
	uint64_t low;

	sleep_in_turn(0);
	sleep_until(&worker, 100, 40);
	writer_page(&worker)->start_ticks = BEGIN + 5 * MS;
	writer_page(&worker)->end_ticks = BEGIN + 101 * MS;
	writer_call(&host, f_sem, BEGIN + 101 * MS, 95 * MS, NULL, 0);
	sleep_until(&host, 150, 40);
	cr_expect_eq(price_ms("line~job.py:7=0", &low), 80);
	cr_expect_eq(low, 40);
}
