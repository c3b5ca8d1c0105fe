/* SPDX-License-Identifier: Apache-2.0 */
/* The exception that ended a process, by the tracebacks that its interpreter wrote. */
#include <string.h>

#include "captured.h"
#include "report/answers/summary/exception.h"
#include "report/answers/summary/summary_died.h"

CAPTURED_SUITE(exception);

#define MS 1000000ull
#define BEGIN (1000 * MS)

/* Stacks of the thread that writes: after the last frame, from threading.py, from a frame of the program that goes on,
 * from a program that prints with traceback.py within a thread, from an event loop that logs, and from a function of a
 * thread that logs. */
enum { NO_STACK, GONE, THREAD, CAUGHT, PRINTED, LOGGED, HANDLED, STACKS };

static struct writer w;
static struct writer_thread t;
static struct exception found;

static void begin_process(void)
{
	writer_init(&w, 1, 10, 1, BEGIN);
	writer_thread(&w, &t, 10, "main", 4 * TF_PAGE);
	writer_python_code(&t, 1, 1, "/lib/python3.11/threading.py", "_bootstrap_inner");
	writer_python_code(&t, 2, 2, "/job/train.py", "step");
	writer_python_code(&t, 3, 3, "/job/train.py", "<module>");
	writer_python_code(&t, 4, 4, "/lib/python3.11/traceback.py", "print_exc");
	writer_python_stack(&t, GONE, (const uint32_t[]){2}, 1);
	writer_python_stack(&t, THREAD, (const uint32_t[]){1, 2, 3}, 3);
	writer_python_stack(&t, CAUGHT, (const uint32_t[]){2, 3}, 2);
	writer_python_stack(&t, PRINTED, (const uint32_t[]){4, 1, 3}, 3);
	writer_python_code(&t, 5, 5, "/lib/python3.11/logging/__init__.py", "StreamHandler.emit");
	writer_python_code(&t, 6, 6, "/lib/python3.11/asyncio/base_events.py",
			   "BaseEventLoop.default_exception_handler");
	writer_python_stack(&t, LOGGED, (const uint32_t[]){5, 6, 2, 3}, 4);
	writer_python_stack(&t, HANDLED, (const uint32_t[]){5, 2, 1}, 3);
}

static void raise_one(uint32_t tid, uint64_t ms, uint32_t stack, const char *text)
{
	struct {
		struct tf_exception head;
		char text[1000];
	} e = {.head = {.ticks = BEGIN + ms * MS, .tid = tid, .stack = stack}};

	strcpy(e.text, text);
	writer_blob(&t, TF_BLOB_EXCEPTION, 1, &e, sizeof(e.head) + strlen(text));
}

static bool find(void)
{
	writer_end(&w, TF_END_EXIT, 0, BEGIN + 100 * MS);
	writer_save(&w, directory);
	writer_done(&w);
	open_capture(&model, directory);
	return exception_find(&model, &model.processes[0], &found);
}

static void expect(const char *text, const char *file, uint32_t line, const char *function)
{
	cr_assert(find());
	cr_expect_str_eq(found.text, text);
	cr_expect_str_eq(found.file ? found.file : "", file);
	cr_expect_eq(found.line, line);
	cr_expect_str_eq(found.function ? found.function : "", function);
	exception_done(&found);
}

#define HEAD "Traceback (most recent call last):\n"
#define MAIN "  File \"/job/train.py\", line 30, in <module>\n    main()\n"
#define STEP "  File \"/job/train.py\", line 12, in step\n    load()\n"
#define LIBRARY "  File \"/usr/lib/python3.11/json/decoder.py\", line 355, in raw_decode\n    raise\n"
#define PIPE "  File \"/lib/python3.11/multiprocessing/connection.py\", line 399, in _recv\n    raise EOFError\n"
#define GIVEN "  File \"<string>\", line 1, in <module>\n"

Test(exception, is_at_the_innermost_line_of_the_program)
{
	begin_process();
	raise_one(10, 5, GONE, HEAD MAIN STEP LIBRARY "ValueError: bad\n");
	expect("ValueError: bad", "/job/train.py", 12, "step");
}

Test(exception, is_at_a_line_of_the_library_if_there_is_no_other)
{
	begin_process();
	raise_one(10, 5, GONE, HEAD LIBRARY "ValueError: bad\n");
	expect("ValueError: bad", "/usr/lib/python3.11/json/decoder.py", 355, "raw_decode");
}

Test(exception, a_text_that_was_given_comes_before_the_library)
{
	begin_process();
	raise_one(10, 5, GONE, HEAD GIVEN LIBRARY "ValueError: bad\n");
	expect("ValueError: bad", "<string>", 1, "<module>");
}

Test(exception, the_last_of_a_chain_counts)
{
	begin_process();
	raise_one(10, 5, GONE, HEAD MAIN "KeyError: 1\n\nDuring handling of the above exception, another occurred:\n\n"
			       HEAD STEP "OSError: late\n");
	expect("OSError: late", "/job/train.py", 12, "step");
}

Test(exception, what_a_worker_sent_has_its_place)
{
	begin_process();
	raise_one(10, 5, GONE, "multiprocessing.pool.RemoteTraceback: \n\"\"\"\n" HEAD STEP "OSError: far\n\"\"\"\n\n"
			       HEAD MAIN "OSError: far\n");
	expect("OSError: far", "/job/train.py", 12, "step");
}

Test(exception, one_that_was_caught_is_none)
{
	begin_process();
	raise_one(10, 5, CAUGHT, HEAD MAIN "ValueError: caught\n");
	raise_one(10, 6, NO_STACK, HEAD MAIN "ValueError: caught\n");
	cr_expect_not(find());
}

Test(exception, threads_write_what_left_them)
{
	begin_process();
	raise_one(11, 5, THREAD, HEAD STEP "ValueError: thread\n");
	cr_assert(find());
	cr_expect_eq(found.tid, 11);
	cr_expect_eq(found.at_ns, clock_map_ns(&model.machines[model.processes[0].machine].clock, BEGIN + 5 * MS));
	cr_expect_eq(found.image, &model.images[0]);
	cr_expect(found.is_last);
	exception_done(&found);
}

/* Its thread may go on, or have gone on until its end. */
Test(exception, what_a_function_of_a_thread_logs_is_not_known_to_be_the_last)
{
	begin_process();
	raise_one(11, 5, HANDLED, HEAD STEP "ValueError: handled\n");
	cr_assert(find());
	cr_expect_not(found.is_last);
	exception_done(&found);
}

/* The program goes on. */
Test(exception, what_an_event_loop_logs_has_ended_a_task_only)
{
	begin_process();
	raise_one(10, 5, LOGGED, HEAD STEP "ValueError: task\n");
	cr_expect_not(find());
	cr_assert(exception_of_loop(&model, &model.processes[0], &found));
	cr_expect_str_eq(found.text, "ValueError: task");
	exception_done(&found);
}

Test(exception, modules_that_print_are_not_who_writes)
{
	begin_process();
	raise_one(11, 5, PRINTED, HEAD STEP "ValueError: printed\n");
	cr_expect(find());
	exception_done(&found);
}

Test(exception, the_main_thread_comes_before_later_ones)
{
	begin_process();
	raise_one(10, 5, GONE, HEAD MAIN "ValueError: main\n");
	raise_one(11, 9, THREAD, HEAD STEP "ValueError: thread\n");
	expect("ValueError: main", "/job/train.py", 30, "<module>");
}

Test(exception, of_one_thread_the_last_one_counts)
{
	begin_process();
	raise_one(11, 9, THREAD, HEAD STEP "ValueError: late\n");
	raise_one(11, 5, THREAD, HEAD MAIN "ValueError: early\n");
	expect("ValueError: late", "/job/train.py", 12, "step");
}

Test(exception, an_interrupt_was_asked_for)
{
	begin_process();
	raise_one(11, 5, THREAD, HEAD STEP "ValueError: thread\n");
	raise_one(10, 7, GONE, HEAD MAIN "KeyboardInterrupt\n");
	cr_expect_not(find());
}

Test(exception, a_text_without_lines_has_no_place)
{
	begin_process();
	raise_one(10, 5, GONE, "SystemError: bare\n  File \"/job/x.py, line\n");
	expect("SystemError: bare", "", 0, "");
}

Test(exception, there_may_be_none)
{
	begin_process();
	raise_one(10, 5, GONE, "");
	cr_expect_not(find());
	cr_expect_null(found.text);
}

static bool names(char *text, uint32_t pid)
{
	return exception_names(&(struct exception){.text = text}, pid);
}

Test(exception, only_the_number_of_a_process_names_it)
{
	cr_expect(names("RuntimeError: DataLoader worker (pid 4711) is killed by signal: Killed.", 4711));
	cr_expect(names("RuntimeError: DataLoader worker (pid(s) 4710, 4711) exited unexpectedly", 4711));
	cr_expect(names("OSError: <ForkProcess name='Process-1' pid=4711 parent=1>", 4711));
	cr_expect(names("OSError: Workers: 4711", 4711));
	cr_expect_not(names("ValueError: expected 4711 rows", 4711));
	cr_expect_not(names("ValueError: worker 3: 4711 rows", 4711));
	cr_expect_not(names("ValueError: processed 4711 rows", 4711));
	cr_expect_not(names("ValueError: rapid 4711", 4711));
	cr_expect_not(names("OSError: process 47110", 4711));
	cr_expect_not(names("OSError: process 4711", 711));
}

/* Two workers of a pool that says at 100 that it is broken. */
Test(exception, the_worker_is_told_that_was_lost_first_and_not_awaited)
{
	enum { NONE = 2, AT = 100 };
	static const struct {
		struct {
			uint64_t end_ns, waited_ns;
			int status;
		} of[2];
		size_t lost;
	} cases[] = {
		{{{10, 0, 9}, {20, 0, 9}}, 0},	  {{{20, 0, 9}, {10, 0, 9}}, 1},
		{{{10, 50, 9}, {20, 0, 9}}, 1},	  {{{10, 0, 9}, {5, 50, 9}}, 0},
		{{{20, 50, 9}, {10, 60, 9}}, 1},  {{{10, 150, 9}, {5, 50, 9}}, 0},
		{{{10, 0, 0}, {20, 0, 9}}, 1},	  {{{10, 0, 15}, {20, 0, 9}}, 1},
		{{{100, 0, 9}, {200, 0, 9}}, 0},  {{{101, 0, 9}, {200, 0, 9}}, NONE},
	};
	struct exception e = {.text = "concurrent.futures.process.BrokenProcessPool: A process", .at_ns = AT};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct machine machine = {0};
		struct image images[3] = {0};
		struct process processes[3] = {{.image_count = 1, .pid = 10, .parent = SIZE_MAX}};
		struct model m = {.machines = &machine, .machine_count = 1, .images = images, .image_count = 3,
				  .processes = processes, .process_count = 3};
		const struct process *lost;

		for (size_t k = 0; k < 3; k++) {
			images[k].executable = "/usr/bin/python3";
			images[k].via = k ? TF_VIA_FORK : TF_VIA_START;
			images[k].end_ticks = 1;
			images[k].process = k;
		}
		for (size_t k = 0; k < 2; k++)
			processes[k + 1] = (struct process){
				.first_image = k + 1, .image_count = 1, .pid = 11 + (uint32_t)k, .rank = "",
				.end_ns = cases[i].of[k].end_ns, .waited_ns = cases[i].of[k].waited_ns,
				.has_status = true, .status = cases[i].of[k].status};
		lost = summary_lost_worker(&m, &processes[0], &e);
		cr_expect_eq(lost, cases[i].lost == NONE ? NULL : &processes[cases[i].lost + 1], "case %zu", i);
	}
}

static bool is_of_loss(char *text, bool is_of_connection)
{
	return exception_is_of_loss(&(struct exception){.text = text, .is_of_connection = is_of_connection});
}

Test(exception, files_and_pipes_end_by_the_same_classes)
{
	cr_expect(is_of_loss("concurrent.futures.process.BrokenProcessPool: A process", false));
	cr_expect(is_of_loss("EOFError", true));
	cr_expect(is_of_loss("BrokenPipeError: [Errno 32] Broken pipe", true));
	cr_expect_not(is_of_loss("EOFError: EOF when reading a line", false));
	cr_expect_not(is_of_loss("OSError: EOFError", true));
	cr_expect_not(is_of_loss("asyncio.MyEOFError", true));
}

Test(exception, a_pipe_of_multiprocessing_raises_it_itself)
{
	begin_process();
	raise_one(10, 5, GONE, HEAD MAIN PIPE "EOFError\n");
	cr_assert(find());
	cr_expect(found.is_of_connection);
	exception_done(&found);
}

Test(exception, what_a_pipe_calls_is_no_end_of_it)
{
	begin_process();
	raise_one(10, 5, GONE, HEAD MAIN PIPE LIBRARY "EOFError\n");
	cr_assert(find());
	cr_expect_not(found.is_of_connection);
	exception_done(&found);
}
