/* SPDX-License-Identifier: Apache-2.0 */
/* What the user sees at the end: where the capture is, and pillion-report's summary of it, on stderr. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch.h"

enum { OTHERS_MS = 2000, STEP_MS = 50 };

/* Ranks of a step end together, more or less; the first one prints, for all. */
static void others_wait(const struct launch *l)
{
	struct timespec step = {0, STEP_MS * 1000000L};
	unsigned n = 0;

	if (!l->key[0])
		return;
	for (int ms = 0; (n = capture_launchers_running(l)) && ms < OTHERS_MS; ms += STEP_MS)
		nanosleep(&step, NULL);
	if (n)
		say("%u other ranks still run; the summary has what they recorded so far", n);
}

static pid_t report_start(const struct launch *l)
{
	const char *arguments[5] = {l->report, "stats"};
	size_t n = 2;
	sigset_t none;
	pid_t pid;

	if (l->options.stats == STATS_SUMMARY)
		arguments[n++] = "--summary";
	arguments[n++] = l->directory;
	pid = fork();
	if (pid)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_DFL);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execv(l->report, (char *const *)arguments);
	_exit(EXIT_NOT_FOUND);
}

/* Told to end meanwhile, we end the report too: the capture is whole without it. */
static int report_wait(pid_t pid)
{
	sigset_t all;
	siginfo_t info;
	int status;

	sigfillset(&all);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct timespec second = {1, 0};
		int signal = sigtimedwait(&all, &info, &second);

		if (signal == SIGTERM || signal == SIGHUP || signal == SIGINT || signal == SIGQUIT)
			kill(pid, SIGTERM);
		else if (signal == SIGTSTP) {
			kill(pid, SIGCONT); /* the terminal stopped it; a summary is soon done */
		}
	}
	return status;
}

void summary_print(struct launch *l)
{
	pid_t pid;
	int status;

	if (!l->is_creator && l->key[0])
		return; /* a rank that joined */
	others_wait(l);
	say("capture in %s", l->directory);
	if (l->options.stats == STATS_FALSE)
		return;
	if (!l->report[0]) {
		say("no summary: pillion-report was not found");
		return;
	}
	pid = report_start(l);
	if (pid < 0) {
		say("no summary: %s", strerror(errno));
		return;
	}
	status = report_wait(pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_FOUND)
		say("no summary: %s could not be run", l->report);
}
