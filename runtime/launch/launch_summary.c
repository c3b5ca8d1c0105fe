/* SPDX-License-Identifier: Apache-2.0 */
/* What happens at the end: the user sees where the capture is, and pillion-report's summary of it, on stderr; with
 * --pack the capture becomes one file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/launch.h"

enum { OTHERS_MS = 2000, STEP_MS = 50 };

/* Ranks of a step end together, more or less; the first one prints, for all. */
static void others_wait(const struct launch *l)
{
	struct timespec step = {0, STEP_MS * 1000000L};
	unsigned n = 0, started;

	if (!l->key[0])
		return;
	for (int ms = 0; (n = capture_launchers_running(l->directory, &started)) && ms < OTHERS_MS; ms += STEP_MS)
		nanosleep(&step, NULL);
	if (n)
		say("%u other ranks still run; the summary has what they recorded so far", n);
}

static pid_t report_start(const char *const *arguments)
{
	sigset_t none;
	pid_t pid;

	pid = fork();
	if (pid)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_DFL);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execv(arguments[0], (char *const *)arguments);
	_exit(EXIT_NOT_FOUND);
}

/* Told to end meanwhile, we end the report too: the capture is whole without it, and while it is packed. */
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

/* Its wait status, or -1: `what` is missing, which is said. */
static int report_run(const struct launch *l, const char *const *arguments, const char *what)
{
	pid_t pid;
	int status;

	if (!l->report[0]) {
		say("%s: pillion-report was not found", what);
		return -1;
	}
	pid = report_start(arguments);
	if (pid < 0) {
		say("%s: %s", what, strerror(errno));
		return -1;
	}
	status = report_wait(pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_FOUND) {
		say("%s: %s could not be run", what, l->report);
		return -1;
	}
	return status;
}

void summary_print(struct launch *l)
{
	bool is_short = l->options.stats == STATS_SUMMARY;
	const char *arguments[] = {l->report, "stats", is_short ? "--summary" : l->directory,
			is_short ? l->directory : NULL, NULL};

	if (!l->is_creator && l->key[0])
		return; /* a rank that joined */
	others_wait(l);
	say("capture in %s", l->directory);
	if (l->options.stats != STATS_FALSE)
		report_run(l, arguments, "no summary");
}

void summary_pack(struct launch *l, unsigned living)
{
	const char *arguments[] = {l->report, "pack", "--quiet", "--replace", l->directory, NULL};
	unsigned others, started;
	int status;

	if (!l->options.pack || (!l->is_creator && l->key[0]))
		return;
	others = l->key[0] ? capture_launchers_running(l->directory, &started) : 0;
	if (living || others) {
		say("not packed: %u %s still run; pillion pack does it later", living ? living : others,
		    living ? "processes" : "other ranks");
		return;
	}
	status = report_run(l, arguments, "not packed");
	if (status > 0)
		say("not packed: the capture is in %s as it was", l->directory);
}
