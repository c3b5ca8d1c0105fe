/* SPDX-License-Identifier: Apache-2.0 */
/* Which launcher of a capture has the text that says why the job hangs, and what happens where it cannot be made. A
 * script stands in for pillion-report, and other processes for other launchers. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/run.h"

enum { STEP_MS = 20, STEPS = 6000, QUIET_STEPS = 75 };

static struct run run;
static char mark[PATH_MAX + 16];
static unsigned lines;

/* ---- stand-ins ---- */

void say(const char *format, ...)
{
	lines++;
}

void path_say(const struct run *r)
{
}

void forwarder_find(const struct run *r)
{
}

void forwarder_pass(const struct run *r)
{
}

bool forwarder_is_daemon(void)
{
	return false;
}

/* ---- tests ---- */

static void write_report(void)
{
	static const char text[] = "#!/bin/sh\necho DEADLOCK\nexit 3\n";
	int fd;

	strcat(strcpy(run.report, run.directory), "/report");
	fd = open(run.report, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	cr_assert_eq(write(fd, text, sizeof(text) - 1), (ssize_t)sizeof(text) - 1);
	close(fd);
}

static void setup(void)
{
	char directory[] = "/tmp/pillion-verdict.XXXXXX";

	cr_assert_not_null(mkdtemp(directory));
	snprintf(run.directory, sizeof(run.directory), "%s", directory);
	snprintf(mark, sizeof(mark), "%s/.hang", run.directory);
	run.options.hang_s = 1;
	write_report();
}

static void teardown(void)
{
	char command[PATH_MAX + 16];

	snprintf(command, sizeof(command), "rm -r %s", run.directory);
	cr_assert_eq(system(command), 0);
}

TestSuite(verdict, .init = setup, .fini = teardown);

static void rest(void)
{
	struct timespec step = {0, STEP_MS * 1000000};

	nanosleep(&step, NULL);
}

/* Whether the text comes within so many steps. */
static bool speaks(int steps)
{
	while (!verdict_say_live() && steps--) {
		verdict_tick(&run);
		rest();
	}
	return lines;
}

/* Another launcher, which has the claim until it is ended. */
static pid_t other_begin(void)
{
	int ends[2];
	pid_t pid;
	char byte;

	cr_assert_eq(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		int fd = open(mark, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

		_exit(flock(fd, LOCK_EX) || write(ends[1], "x", 1) != 1 || pause());
	}
	close(ends[1]);
	cr_assert_eq(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	return pid;
}

static void other_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static bool has_text(void)
{
	struct stat st;

	return !stat(mark, &st) && st.st_size;
}

Test(verdict, the_mark_of_a_launcher_that_was_killed_stops_nobody)
{
	other_end(other_begin());
	verdict_prepare(&run);
	cr_assert(speaks(STEPS));
	cr_assert(has_text(), "for all launchers");
	verdict_end(&run);
	cr_assert(access(mark, F_OK));
}

Test(verdict, a_launcher_that_is_killed_later_leaves_the_text_to_the_one_that_has_asked)
{
	pid_t other = other_begin();

	verdict_prepare(&run);
	cr_assert_not(speaks(QUIET_STEPS), "the other one has it");
	other_end(other);
	cr_assert(speaks(STEPS));
	verdict_end(&run);
}

/* A thousand launchers may wait for one. */
Test(verdict, a_launcher_asks_less_often_while_another_one_has_the_text)
{
	pid_t other = other_begin();
	int longest = 0;

	verdict_prepare(&run);
	for (int i = 0; i < STEPS && longest <= 3000; i++) {
		int ms = verdict_tick(&run);

		longest = ms > longest ? ms : longest;
		rest();
	}
	other_end(other);
	cr_assert_gt(longest, 3000);
	cr_assert(speaks(STEPS));
	verdict_end(&run);
}

/* Where locks are local to a node, two have the claim. */
Test(verdict, a_launcher_that_ends_leaves_the_text_of_another_one)
{
	char others[sizeof(mark) + 8];
	int fd;

	snprintf(others, sizeof(others), "%s.others", mark);
	verdict_prepare(&run);
	cr_assert(speaks(STEPS));
	fd = open(others, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_eq(write(fd, "x", 1), 1);
	close(fd);
	cr_assert_eq(rename(others, mark), 0);
	verdict_end(&run);
	cr_assert(has_text());
}

/* It has found nothing. Nobody asks for the same once more. */
Test(verdict, a_launcher_that_leaves_the_text_ends_the_question)
{
	pid_t other = other_begin();

	verdict_prepare(&run);
	unlink(mark);
	other_end(other);
	cr_assert_not(speaks(QUIET_STEPS));
	verdict_end(&run);
}

Test(verdict, others_do_not_get_the_claim_of_this_launcher)
{
	int fd;

	verdict_prepare(&run);
	cr_assert(speaks(STEPS));
	fd = open(mark, O_RDWR | O_CLOEXEC);
	cr_assert_eq(flock(fd, LOCK_EX | LOCK_NB), -1, "also of the file that has the text");
	close(fd);
	verdict_end(&run);
}

Test(verdict, a_report_that_could_not_be_started_is_started_later)
{
	struct rlimit limit, none;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){0, limit.rlim_max};
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	verdict_prepare(&run);
	verdict_tick(&run);
	cr_assert_not(verdict_say_live());
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_assert(speaks(STEPS));
	verdict_end(&run);
}
