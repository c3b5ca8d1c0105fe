/* SPDX-License-Identifier: Apache-2.0 */
/* The summary's line about a crash. */
#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "report/answers/summary/summary_died.h"
#include "reported.h"
#include "summarized.h"

SUMMARIZED_SUITE(crash);

static const char *reason;

/* A program whose thread has died after 50 ms. */
static const char *summary_of_death(uint32_t tid, const char *name, struct tf_crash crash)
{
	struct writer_thread main, other;
	struct writer w;

	crash.ticks = BEGIN + 50 * MS;
	crash.tid = tid;
	crash.stack = 1;
	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/home/u/job", "job", 4);
	writer_thread(&w, &main, 10, "job", 4 * TF_PAGE);
	writer_event(&main, TF_MARK, 0, BEGIN, 0);
	writer_thread(&w, &other, 11, name, 4 * TF_PAGE);
	writer_python_code(&main, 1, 7, "/home/u/load.py", "parse");
	writer_python_stack(&main, 1, (const uint32_t[]){1}, 1);
	if (crash.reason)
		writer_blob(&main, TF_BLOB_STRING, crash.reason, reason, strlen(reason));
	writer_blob(tid == 10 ? &main : &other, TF_BLOB_CRASH, tid == 10 ? 1 : 2, &crash, sizeof(crash));
	writer_end(&w, TF_END_ABORT, crash.signal, BEGIN + 50 * MS);
	return summarize(&w, "x.pillion");
}

static const char *summary_of_crash(uint32_t tid, const char *name)
{
	return summary_of_death(tid, name, (struct tf_crash){.signal = SIGABRT, .code = SI_TKILL, .sender = 10});
}

Test(crash, a_crash_names_the_thread_and_its_line)
{
	const char *summary = summary_of_crash(11, "loader");

	cr_expect(strstr(summary, "CRASH      signal 6 (SIGABRT) in thread loader: at load.py:7 parse; process 10 job, "
				  "after 50.0 ms\n"), "%s", summary);
	forget();
	summary = summary_of_crash(11, "");
	cr_expect(strstr(summary, " in thread 11: at "), "%s", summary);
	forget();
	summary = summary_of_crash(10, "loader");
	cr_expect(strstr(summary, " in main thread: at "), "%s", summary);
}

Test(crash, why_abort_was_called_is_beside_the_signal)
{
	static const struct {
		const char *reason, *wanted;
	} cases[] = {
		{"job: lib/job.c:3: check: Assertion `n > 0' failed.", "(SIGABRT: Assertion `n > 0' failed.) in main"},
		{"free(): invalid pointer", "(SIGABRT: free(): invalid pointer) in main"},
		{"_ZTISt13runtime_error: no a: b", "(SIGABRT: std::runtime_error: no a: b) in main"},
		{"_ZTIN4mesh8singularE", "(SIGABRT: mesh::singular) in main"},
		{"_ZTIi: token=abc", "(SIGABRT: int: token=[masked]) in main"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *summary;

		reason = cases[i].reason;
		summary = summary_of_death(10, "job", (struct tf_crash){.signal = SIGABRT, .code = SI_TKILL,
									.sender = 10, .reason = 5});
		cr_expect(strstr(summary, cases[i].wanted), "%s", summary);
		forget();
	}
}

/* What the fault concerns, or who sent the signal, if that was another process. */
Test(crash, the_report_tells_the_cause_of_the_signal)
{
	static const struct {
		struct tf_crash crash;
		const char *wanted;
	} cases[] = {
		{{.signal = SIGSEGV, .code = SEGV_MAPERR, .address = 0x2000},
		 "\"signal 11 (SIGSEGV, address 0x2000)\""},
		{{.signal = SIGBUS, .code = BUS_ADRERR, .address = 0x1000}, "\"signal 7 (SIGBUS, address 0x1000)\""},
		{{.signal = SIGFPE, .code = FPE_INTDIV, .address = 0x1000}, "signal 8 (SIGFPE)"},
		{{.signal = SIGSEGV, .code = SI_USER, .sender = 77}, "\"signal 11 (SIGSEGV, sent by PID 77)\""},
		{{.signal = SIGTERM, .code = SI_USER, .sender = 77}, "\"signal 15 (SIGTERM, sent by PID 77)\""},
		{{.signal = SIGABRT, .code = SI_TKILL, .sender = 10}, "signal 6 (SIGABRT)"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char wanted[512];

		summary_of_death(11, "loader", cases[i].crash);
		snprintf(wanted, sizeof(wanted), "%s10,node1,,11,loader,%s,50000000,%s,%s\n",
			 "PID,Host,Rank,TID,Thread,Signal,At (ns),Line,Stack\n", cases[i].wanted,
			 "parse (/home/u/load.py:7)", "parse (/home/u/load.py:7)");
		EXPECT_REPORT(&context, "crashes", wanted);
		forget();
	}
}

/* A program of which an exception left the main thread after 40 ms, with that text. */
static const char *summary_of_exception(const char *raised)
{
	struct {
		struct tf_exception head;
		char text[1000];
	} e = {.head = {.ticks = BEGIN + 40 * MS, .tid = 10, .stack = 1}};
	struct writer_thread main;
	struct writer w;

	writer_init(&w, 1, 10, 1, BEGIN);
	writer_command(&w, "/usr/bin/python3", "python3\0train.py", 17);
	writer_thread(&w, &main, 10, "python3", 4 * TF_PAGE);
	writer_event(&main, TF_MARK, 0, BEGIN, 0);
	writer_python_code(&main, 1, 2, "/job/train.py", "step"); /* it has been left */
	writer_python_stack(&main, 1, (const uint32_t[]){1}, 1);
	strcpy(e.text, raised);
	writer_blob(&main, TF_BLOB_EXCEPTION, 1, &e, sizeof(e.head) + strlen(raised));
	writer_end(&w, TF_END_EXIT, 1, BEGIN + 50 * MS);
	return summarize(&w, "x.pillion");
}

#define HEAD "Traceback (most recent call last):\n"

Test(crash, an_exception_has_its_line_and_function)
{
	const char *summary = summary_of_exception(
		HEAD "  File \"/job/train.py\", line 30, in <module>\n    main()\n"
		     "  File \"/job/train.py\", line 12, in step\n    load()\nValueError: bad\n");

	cr_expect(strstr(summary, "CRASH      ValueError: bad at train.py:12 step; process 10 python3 train.py, after "
				  "40.0 ms\n"), "%s", summary);
	forget();
	summary = summary_of_exception(
		HEAD "  File \"/job/train.py\", line 30, in <module>\n    main()\nKeyError: 'x'\n");
	cr_expect(strstr(summary, "CRASH      KeyError: 'x' at train.py:30; process 10"), "%s", summary);
	forget();
	summary = summary_of_exception("RuntimeError: no lines\n");
	cr_expect(strstr(summary, "CRASH      RuntimeError: no lines; process 10"), "%s", summary);
}

/* exit(300) and exit(-1), without a launcher. */
Test(crash, an_exit_has_the_byte_that_its_parent_sees)
{
	static const struct {
		int status, code;
		const char *wanted;
	} cases[] = {{3, 3, "exit 3\n"}, {300, 44, "exit 44\n"}, {-1, 255, "exit 255\n"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tf_crash exits = {.ticks = BEGIN + 50 * MS, .tid = 10, .code = cases[i].code};
		struct writer_thread main;
		struct crash found;
		const char *summary;
		struct writer w;

		writer_init(&w, 1, 10, 1, BEGIN);
		writer_command(&w, "/home/u/job", "job", 4);
		writer_thread(&w, &main, 10, "job", 4 * TF_PAGE);
		writer_event(&main, TF_MARK, 0, BEGIN, 0);
		writer_blob(&main, TF_BLOB_CRASH, 1, &exits, sizeof(exits));
		writer_end(&w, TF_END_EXIT, cases[i].status, BEGIN + 50 * MS);
		summary = summarize(&w, "x.pillion");
		cr_expect(strstr(summary, cases[i].wanted), "%s", summary);
		cr_expect(exit_find(context.model, &context.model->processes[0], &found), "exit %d", cases[i].code);
		forget();
	}
}

Test(crash, what_the_kernel_killed_has_its_limit)
{
	struct process killed[] = {{.pid = 20, .run = 7, .command = "server", .has_status = true},
				   {.pid = 21, .run = 7, .command = "worker", .has_status = true, .status = SIGKILL},
				   {.pid = 22, .run = 7, .command = "later", .has_status = true, .status = SIGKILL}};
	struct image images[] = {{.pid = 20}, {.pid = 21}, {.pid = 22}};
	struct model m = {.processes = killed, .process_count = 3, .images = images, .image_count = 3};
	struct run_record run = {.id = 7, .oom_kills = 1, .oom_limit = 256000000, .oom_group = "/job"};
	struct died d = {.oom = &run};
	SCOPED(buffer) out = {0};

	summary_oom(&m, &d, &out);
	cr_expect_str_eq(out.data, "OUT OF MEMORY: the kernel killed 1 process (process 21 worker): the limit of "
				   "cgroup /job is 256.0 MB\n", "%s", out.data);
	buffer_clear(&out);
	run.oom_kills = 2;
	run.oom_limit = UINT64_MAX;
	run.id = 8;
	summary_oom(&m, &d, &out);
	cr_expect_str_eq(out.data, "OUT OF MEMORY: the kernel killed 2 processes: the limit of cgroup /job is not "
				   "known\n", "%s", out.data);
	buffer_clear(&out);
	d.oom = NULL;
	summary_oom(&m, &d, &out);
	cr_expect_str_eq(buffer_string(&out), "");
}
