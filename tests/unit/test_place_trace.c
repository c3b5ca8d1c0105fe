/* SPDX-License-Identifier: Apache-2.0 */
/* Where the threads of a process were that nobody looked into: what its trace has of them. */
#include <criterion/criterion.h>
#include <string.h>

#include "report/causes/where/place.h"
#include "report/names/symbol.h"
#include "opened.h"

#define S 1000000000ull
enum { MAIN = 10, SLEEPER, WORKER, SYNCHRONIZER, ALLOCATOR, ENDED };
enum { LINE = 30 };

static struct writer w;
static struct writer_thread threads[ENDED - MAIN + 1];
static struct model model;
static struct where_place place;
static struct symbols *symbols;

static uint64_t in(uint16_t function, uint64_t since)
{
	return (uint64_t)(function + 1) << TF_CURRENT_SHIFT | (since & (((uint64_t)1 << TF_CURRENT_SHIFT) - 1));
}

/* `rank`: of Open MPI, NULL: none. The process began at 1 s, and was seen last at 6 s. */
static void begin_rank(const char *rank)
{
	static const char *const names[] = {"main", "sleeper", "worker", "waits", "allocates", "ended"};
	uint64_t stack = tf_arg(TF_ARG_STACK, 0, 1);
	uint16_t barrier, poll, sleep, ioctl, malloc, synchronize;
	char variables[64];

	writer_init(&w, 1, MAIN, 1, S);
	if (rank)
		writer_variables(&w, variables, 1 + (size_t)snprintf(variables, sizeof(variables),
								     "OMPI_COMM_WORLD_RANK=%s", rank));
	barrier = writer_function(&w, TF_GROUP_MPI, "MPI_Barrier");
	poll = writer_function(&w, TF_GROUP_OSRT, "poll");
	sleep = writer_function(&w, TF_GROUP_OSRT, "nanosleep");
	ioctl = writer_function(&w, TF_GROUP_OSRT, "ioctl");
	malloc = writer_function(&w, TF_GROUP_CUDA, "cudaMalloc");
	synchronize = writer_function(&w, TF_GROUP_CUDA, "cudaStreamSynchronize");
	for (uint32_t i = MAIN; i <= ENDED; i++) {
		writer_thread(&w, &threads[i - MAIN], i, names[i - MAIN], 64 * TF_PAGE);
		writer_page(&threads[i - MAIN])->start_ticks = S;
	}
	writer_page(&threads[0])->outer = in(barrier, 3 * S);
	writer_page(&threads[0])->current = in(poll, 4 * S);
	writer_page(&threads[SLEEPER - MAIN])->current = in(sleep, 2 * S);
	writer_page(&threads[SYNCHRONIZER - MAIN])->outer = in(synchronize, 5 * S);
	writer_page(&threads[SYNCHRONIZER - MAIN])->current = in(ioctl, 5 * S + 1000);
	writer_page(&threads[ALLOCATOR - MAIN])->outer = in(malloc, 5 * S);
	writer_page(&threads[ALLOCATOR - MAIN])->current = in(ioctl, 5 * S + 1000);
	writer_page(&threads[ENDED - MAIN])->end_ticks = 3 * S;
	writer_python_code(&threads[WORKER - MAIN], 1, LINE, "/home/u/job.py", "run");
	writer_python_stack(&threads[WORKER - MAIN], 1, (uint32_t[]){1}, 1);
	writer_call(&threads[WORKER - MAIN], poll, 2 * S, S / 100, &stack, 1);
	for (uint64_t at = 3 * S; at <= 6 * S; at += S / 10) /* more than one step back without a stack */
		writer_call(&threads[WORKER - MAIN], poll, at, S / 100, NULL, 0);
	open_written(&model, &w);
	symbols = symbols_new(&model, false);
}

static void end(void)
{
	where_place_done(&place);
	symbols_free(symbols);
	model_done(&model);
	writer_done(&w);
}

TestSuite(place_trace, .fini = end);

static void expect(size_t i, uint32_t tid, const char *name, uint64_t age_s, const char *text)
{
	const struct where_item *item = &place.items[i];

	cr_assert_lt(i, place.count);
	cr_expect_eq(item->thread->head.tid, tid);
	cr_expect_str_eq(item->name ? item->name : "", name, "%u: %s", tid, item->name);
	cr_expect_eq(item->age_ns, age_s * S, "%u: %llu", tid, (unsigned long long)item->age_ns);
	cr_expect_eq(item->has_age, age_s > 0);
	cr_expect_str_eq(buffer_string(&item->wait.text), text);
	cr_expect(item->is_recorded && item->since == WHERE_STILL);
}

Test(place_trace, threads_are_in_their_last_calls)
{
	begin_rank(NULL);
	where_place_read(&place, &model, symbols, 0);
	cr_expect(place.is_recorded);
	cr_assert_eq(place.count, 5, "all but the one that has ended");
	expect(0, MAIN, "MPI_Barrier", 3, "in MPI_Barrier, waits for other ranks");
	cr_expect_str_eq(place.items[0].wait.collective, "MPI_Barrier");
	expect(1, SLEEPER, "nanosleep", 4, "sleeps");
	expect(2, WORKER, "", 0, "in no recorded call");
	expect(3, SYNCHRONIZER, "cudaStreamSynchronize", 1, "");
	cr_expect_str_eq(place.items[4].name, "ioctl", "the innermost one, unless the outer one waits for others");
	cr_expect_eq(place.items[4].age_ns, S - 1000);
	cr_expect_eq(place.cycles, 0);
	cr_expect_str_eq(place.items[0].thread->name, "main");
	cr_expect_eq(place.looks[0].begin.realtime_ns, model.processes[0].end_ns);
}

Test(place_trace, the_last_stack_may_be_long_ago)
{
	const struct where_frame *line;
	uint64_t start = 0;

	begin_rank(NULL);
	where_place_read(&place, &model, symbols, 0);
	cr_assert_eq(place.items[2].stack.count, 1);
	line = where_item_line(&place.items[2]);
	cr_assert_not_null(line);
	cr_expect(line->is_python && line->is_named);
	cr_expect_str_eq(line_text(line->line), "run (/home/u/job.py:30)");
	cr_expect_eq(place.items[1].stack.count, 0, "it has recorded none");
	cr_expect_null(where_item_line(&place.items[1]));
	cr_expect_eq(where_last_stack(model.images, where_trace_thread(model.images, WORKER), UINT64_MAX, &start), 1);
	cr_expect_eq(start, 2 * S - S / 100);
	cr_expect_eq(where_last_stack(model.images, where_trace_thread(model.images, WORKER), start, &start), 0,
		     "none before that one");
	cr_expect_eq(where_last_stack(model.images, NULL, UINT64_MAX, &start), 0);
}

Test(place_trace, briefly_only_ranks)
{
	begin_rank(NULL);
	where_place_read_briefly(&place, &model, symbols);
	cr_expect_eq(place.count, 0);
}

Test(place_trace, briefly_of_a_rank_its_first_thread)
{
	begin_rank("3");
	where_place_read_briefly(&place, &model, symbols);
	cr_assert_eq(place.count, 1);
	expect(0, MAIN, "MPI_Barrier", 3, "in MPI_Barrier, waits for other ranks");
	cr_expect_str_eq(place.items[0].rank, "3");
}

Test(place_trace, what_has_ended_is_nowhere)
{
	begin_rank(NULL);
	model.images[0].end = TF_END_EXIT;
	where_place_read(&place, &model, symbols, 0);
	cr_expect_eq(place.count, 0);
	cr_expect_eq(place.look_count, 0);
}
