/* SPDX-License-Identifier: Apache-2.0 */
/* What the summary says of threads and ranks that wait for each other. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "report/answers/summary/summary_deadlock.h"
#include "report/answers/where_text.h"
#include "report/causes/where/place.h"
#include "report/names/symbol.h"
#include "opened.h"

#define S 1000000000ull
enum { PROCESSES = 2, THREADS = 8 };

static struct look_thread threads[PROCESSES][THREADS];
static struct look_process looked[PROCESSES];
static struct code_line lines[PROCESSES][THREADS];
static struct where_frame frames[PROCESSES][THREADS];
static struct where_item items[PROCESSES * THREADS];
static struct where_place place;
static struct image images[PROCESSES];
static struct process processes[PROCESSES];
static struct writer w;
static struct model written; /* a process that has recorded no stack: its trace is that of all ranks */
static struct machine machine = {.host = "node1"};
static struct model model;
static struct buffer out;

static void begin(void)
{
	struct writer_thread t;

	writer_init(&w, 1, 10, 1, S);
	writer_thread(&w, &t, 10, "job", 4 * TF_PAGE);
	open_written(&written, &w);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		processes[i] = (struct process){.command = i ? "worker" : "job", .pid = 10 * (i + 1), .rank = "",
						.exit_status = -1, .ended = "exit 0", .is_running = true};
		images[i] = (struct image){.trace = written.images->trace, .process = i, .pid = 10 * (i + 1)};
		looked[i] = (struct look_process){.head = {.pid = 10 * (i + 1)}, .threads = threads[i]};
	}
	model = (struct model){.machines = &machine, .machine_count = 1, .processes = processes,
			       .process_count = PROCESSES, .images = images, .image_count = PROCESSES};
	place = (struct where_place){.items = items, .cycles = 1, .symbols = symbols_new(&model, false)};
}

static void end(void)
{
	buffer_done(&out);
	symbols_free(place.symbols);
	model_done(&written);
	writer_done(&w);
}

TestSuite(deadlock, .init = begin, .fini = end);

/* A thread of a cycle, at that line of job.py, which waits for something that the owner has. */
static struct where_item *waits(uint32_t process, const char *name, uint32_t line, const char *kind, uint32_t owner)
{
	struct look_process *p = &looked[process];
	size_t n = p->thread_count++;
	struct where_item *ret = &items[place.count++];

	threads[process][n].head.tid = 10 * (process + 1) + (uint32_t)n;
	snprintf(threads[process][n].name, sizeof(threads[process][n].name), "%s", name);
	lines[process][n] = (struct code_line){.function = "run", .file = "/home/u/job.py", .line = line};
	frames[process][n] = (struct where_frame){.line = &lines[process][n], .path = "", .is_python = true,
						  .is_named = true};
	*ret = (struct where_item){.process = p, .thread = &threads[process][n], .image = &images[process], .rank = "",
				   .since = WHERE_STILL, .cycle = 1,
				   .stack = {.frames = &frames[process][n], .count = 1},
				   .wait = {.call = "futex", .kind = kind, .owner = owner}};
	return ret;
}

#define EXPECT_DEADLOCK(proved, wanted)                                                              \
	do {                                                                                         \
		buffer_clear(&out);                                                                  \
		cr_expect_eq(summary_deadlock(&model, &place, &out), proved);                        \
		cr_expect_str_eq(buffer_string(&out), wanted, "%s", buffer_string(&out));            \
	} while (0)

Test(deadlock, two_threads)
{
	waits(0, "job", 3, "mutex", 11);
	waits(0, "loader", 7, "threading.Lock", 10);
	EXPECT_DEADLOCK(1,
			"DEADLOCK   the main thread at job.py:3 waits for a mutex of thread 11 (loader) at job.py:7,\n"
			"           which waits for a threading.Lock of the main thread; process 10 job\n");
}

/* A name that is that of the process says nothing. */
Test(deadlock, a_thread_that_waits_for_itself)
{
	waits(0, "job", 3, "mutex", 10);
	EXPECT_DEADLOCK(1,
			"DEADLOCK   the main thread at job.py:3 waits for a mutex that it holds itself; "
			"process 10 job\n");
	items[0].wait.kind = NULL;
	items[0].image = NULL;
	EXPECT_DEADLOCK(1,
			"DEADLOCK   the main thread at job.py:3 waits for a lock that it holds itself; process 10 \n");
}

Test(deadlock, a_join_is_a_wait_for_an_end)
{
	waits(0, "job", 3, NULL, 11);
	waits(0, "job", 7, "mutex", 10);
	lines[0][1].file = NULL;
	EXPECT_DEADLOCK(1,
			"DEADLOCK   the main thread at job.py:3 waits for the end of thread 11 in run,\n"
			"           which waits for a mutex of the main thread; process 10 job\n");
}

Test(deadlock, of_many_threads_six_are_named)
{
	for (uint32_t i = 0; i < THREADS; i++)
		waits(0, "job", i + 1, "mutex", 10 + (i + 1) % THREADS);
	EXPECT_DEADLOCK(1,
			"DEADLOCK   the main thread at job.py:1 waits for a mutex of thread 11 at job.py:2,\n"
			"           which waits for a mutex of thread 12 at job.py:3,\n"
			"           which waits for a mutex of thread 13 at job.py:4,\n"
			"           which waits for a mutex of thread 14 at job.py:5,\n"
			"           which waits for a mutex of thread 15 at job.py:6,\n"
			"           which waits for a mutex of the main thread (and 2 threads more); process 10 job\n");
}

Test(deadlock, is_said_only_if_it_is_proved)
{
	waits(0, "job", 3, "mutex", 11);
	waits(0, "loader", 7, "mutex", 10);
	items[1].wait.is_timed = true;
	EXPECT_DEADLOCK(0, "");
	items[1].wait.is_timed = false;
	items[0].since = WHERE_NOT_KNOWN;
	EXPECT_DEADLOCK(0, "");
}

/* Each cycle is told of up to three; of the others there is a number. */
Test(deadlock, of_many_cycles_three_are_told)
{
	place.cycles = 5;
	for (uint32_t i = 0; i < 5; i++)
		waits(0, "job", i + 1, "mutex", 10 + i)->cycle = i + 1;
	EXPECT_DEADLOCK(5,
			"DEADLOCK   the main thread at job.py:1 waits for a mutex that it holds itself; "
			"process 10 job\n"
			"DEADLOCK   thread 11 at job.py:2 waits for a mutex that it holds itself; process 10 job\n"
			"DEADLOCK   thread 12 at job.py:3 waits for a mutex that it holds itself; process 10 job\n"
			"DEADLOCK   2 more\n");
}

/* Nobody holds a semaphore: all threads of a process wait, of which those with a line come first. */
Test(deadlock, all_threads_of_a_process)
{
	waits(0, "job", 3, NULL, 11);
	waits(0, "loader", 7, "semaphore", 0);
	waits(0, "reader", 9, "pipe", 0);
	frames[0][0].is_library = true;
	EXPECT_DEADLOCK(1,
			"DEADLOCK   all 3 threads wait, and nothing else can wake them: "
			"thread 11 (loader) at job.py:7 waits for a semaphore,\n"
			"           thread 12 (reader) at job.py:9 waits for a pipe,\n"
			"           the main thread at job.py:3 waits for the end of thread 11; process 10 job\n");
}

Test(deadlock, the_only_thread)
{
	buffer_text(&waits(0, "job", 3, "semaphore", 0)->wait.tasks, "2 tasks wait at job.py:5 get");
	EXPECT_DEADLOCK(1,
			"DEADLOCK   the main thread at job.py:3 waits for a semaphore, in which 2 tasks wait at "
			"job.py:5 get, and no other thread is there to wake it; process 10 job\n");
	buffer_done(&items[0].wait.tasks);
}

/* It precedes the wait, masked as command lines are. */
Test(deadlock, after_what_has_ended_a_task)
{
	char raised[] = "ValueError: password=secret";
	struct look_task tasks[] = {{.tid = 10}, {.tid = 10, .raised = raised}};

	waits(0, "job", 3, "semaphore", 0);
	looked[0].tasks = tasks;
	looked[0].task_count = 2;
	EXPECT_DEADLOCK(1,
			"DEADLOCK   after a task ended by ValueError: password=[masked],\n"
			"           the main thread at job.py:3 waits for a semaphore, and no other thread is there to "
			"wake it; process 10 job\n");
	looked[0].task_count = 1;
	EXPECT_DEADLOCK(1,
			"DEADLOCK   the main thread at job.py:3 waits for a semaphore, and no other thread is there to "
			"wake it; process 10 job\n");
}

Test(deadlock, processes_of_ranks)
{
	waits(0, "job", 3, "pipe", 0)->rank = "4";
	waits(1, "worker", 5, "pipe", 0);
	EXPECT_DEADLOCK(1,
			"DEADLOCK   all 2 processes wait, and nothing else can wake them: "
			"process 10, the main thread at job.py:3 waits for a pipe,\n"
			"           process 20, the main thread at job.py:5 waits for a pipe; "
			"process 10 job, rank 4 on node1\n");
}

Test(deadlock, of_many_threads_of_a_process_six_are_named)
{
	for (uint32_t i = 0; i < THREADS; i++)
		waits(0, "job", i + 1, "semaphore", 0);
	buffer_clear(&out);
	cr_expect_eq(summary_deadlock(&model, &place, &out), 1);
	cr_expect_not_null(strstr(out.data, "all 8 threads wait"));
	cr_expect_not_null(strstr(out.data, "thread 15 at job.py:6 waits for a semaphore (and 2 threads more); "
					    "process 10"));
}

Test(deadlock, its_lines)
{
	SCOPED(texts) found = {0};

	waits(0, "job", 3, "mutex", 11);
	waits(0, "loader", 7, "mutex", 10);
	waits(0, "other", 9, "mutex", 10)->cycle = 0;
	deadlock_places(&place, &found);
	cr_assert_eq(found.count, 2);
	cr_expect_str_eq(found.items[0], "/home/u/job.py:3");
	cr_expect_str_eq(found.items[1], "/home/u/job.py:7");
}

/* ---- ranks ---- */

/* Rank 0 and 1, for 2 and 3 s in these calls; NULL: it computes. */
static void ranks_in(const char *first, const char *second)
{
	static const char *const names[] = {"0", "1"};
	const char *const calls[] = {first, second};

	place.count = place.cycles = 0;
	for (uint32_t i = 0; i < PROCESSES; i++) {
		struct where_item *item;

		looked[i].thread_count = 0;
		item = waits(i, "job", i + 3, NULL, 0);
		processes[i].rank = item->rank = names[i];
		item->cycle = 0;
		item->stack = (struct where_stack){0};
		item->is_recorded = true;
		item->has_age = calls[i];
		item->age_ns = (i + 2) * S;
		item->name = calls[i];
		item->wait = (struct where_wait){.call = "", .collective = (char *)calls[i]};
		threads[i][0].head.flags = calls[i] ? 0 : TF_WHERE_IS_RUNNING;
	}
}

static size_t stall(uint64_t least_ns, enum where_stall *ret)
{
	buffer_clear(&out);
	return summary_stall(&model, &place, least_ns, ret, &out);
}

Test(deadlock, a_rank_that_has_not_come)
{
	enum where_stall found;

	ranks_in("MPI_Barrier", NULL);
	cr_expect_eq(stall(2 * S, &found), 1);
	cr_expect_eq(found, WHERE_LATE);
	cr_expect_str_eq(buffer_string(&out),
			 "STALLED    1 of 2 ranks are in MPI_Barrier; rank 1, PID 20, has not come for 2.00 s: "
			 "computes\n",
			 "%s", buffer_string(&out));
	cr_expect_eq(stall(2 * S + 1, &found), 0, "too short");
	cr_expect_str_eq(buffer_string(&out), "");
}

Test(deadlock, ranks_in_calls_that_do_not_match)
{
	enum where_stall found;

	ranks_in("MPI_Barrier", "MPI_Allreduce");
	cr_expect_eq(stall(S, &found), 2);
	cr_expect_eq(found, WHERE_MISMATCH);
	cr_expect_str_eq(buffer_string(&out),
			 "DEADLOCK   the ranks are in calls that do not match: rank 0, PID 10: MPI_Barrier for 2.00 s\n"
			 "           rank 1, PID 20: MPI_Allreduce for 3.00 s\n",
			 "%s", buffer_string(&out));
}

Test(deadlock, ranks_that_wait_for_one_that_has_ended)
{
	enum where_stall found;

	ranks_in("MPI_Barrier", "MPI_Barrier");
	cr_expect_eq(stall(S, &found), 2);
	cr_expect_eq(found, WHERE_IN_CALLS);
	processes[1].is_running = false;
	processes[1].exit_status = 0;
	processes[1].rank = "2";
	cr_expect_eq(stall(S, &found), 2);
	cr_expect_eq(found, WHERE_MISSING);
	cr_expect_str_eq(buffer_string(&out),
			 "COLLECTIVE all ranks that are left, 2, are in MPI_Barrier; rank 2, PID 20, has ended: "
			 "exit 0\n",
			 "%s", buffer_string(&out));
}

Test(deadlock, words_of_stalls)
{
	cr_expect_str_eq(where_text_word(WHERE_LATE), "STALLED");
	cr_expect_str_eq(where_text_word(WHERE_IN_CALLS), "STALLED");
	cr_expect_str_eq(where_text_word(WHERE_MISSING), "COLLECTIVE");
	cr_expect_str_eq(where_text_word(WHERE_MISMATCH), "DEADLOCK");
	cr_expect_str_eq(where_text_word(WHERE_EACH_OTHER), "DEADLOCK");
	cr_expect_str_eq(where_text_stall(WHERE_NOBODY_SENDS), "every rank receives, and none sends");
	cr_expect_str_eq(where_text_stall(WHERE_NOBODY_RECEIVES), "every rank sends, and none receives");
	cr_expect_str_eq(where_text_stall(WHERE_EACH_OTHER), "ranks wait for each other");
	cr_expect_str_eq(where_text_stall(WHERE_LATE), "");
}
