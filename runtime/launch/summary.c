/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run: prints the path of the capture and the summary of pillion-report on stderr; with --export, exports
 * the capture; with --pack, packs it into one file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/common/clock.h"
#include "runtime/launch/run.h"

enum { OTHERS_MS = 2000, STEP_MS = 50, TERMINATED_S = 10, EARLY_MS = 2000 };

/* The ranks of a step end at about the same time; the one that created the capture prints for all. */
static void others_wait(const struct run *run)
{
	struct timespec step = {0, STEP_MS * 1000000L};
	unsigned n = 0, started;

	if (!run->key[0])
		return;
	for (int ms = 0; (n = capture_launchers_running(run->directory, &started)) && ms < OTHERS_MS; ms += STEP_MS)
		nanosleep(&step, NULL);
	if (n)
		say("%u other ranks are still running; the summary covers what they have recorded so far", n);
}

/* A batch system that ends a job sends SIGTERM more than once, to each of its processes, before it sends SIGKILL. The
 * first one ends COMMAND, a later one must not end the summary. */
static bool is_termination(int signal)
{
	return signal == SIGTERM || signal == SIGHUP;
}

static pid_t report_start(const char *const *arguments, bool is_summary)
{
	sigset_t none;
	pid_t pid;

	pid = fork();
	if (pid)
		return pid;
	if (is_summary) {
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
	}
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	execv(arguments[0], (char *const *)arguments);
	_exit(EXIT_NOT_FOUND);
}

/* A signal that ends us ends the report too: the capture is complete without it, even while it is being packed. After
 * SIGTERM or SIGHUP the summary has TERMINATED_S to be printed. */
static int report_wait(pid_t pid, bool is_summary)
{
	uint64_t limit_ns = UINT64_MAX;
	sigset_t all;
	siginfo_t info;
	int status;

	sigfillset(&all);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		struct timespec second = {1, 0};
		int signal = sigtimedwait(&all, &info, &second);

		if (is_summary && is_termination(signal) && limit_ns == UINT64_MAX)
			limit_ns = clock_monotonic_ns() + TERMINATED_S * 1000000000ull;
		else if (!is_summary && is_termination(signal))
			kill(pid, SIGTERM);
		else if (signal == SIGINT || signal == SIGQUIT)
			kill(pid, SIGINT);
		else if (signal == SIGTSTP)
			kill(pid, SIGCONT); /* the terminal stopped it; continue, because it ends soon */
		if (clock_monotonic_ns() > limit_ns)
			kill(pid, SIGKILL);
	}
	return status;
}

/* Returns its wait status, or -1 after a message that begins with `what`. */
static int report_run(const struct run *run, const char *const *arguments, const char *what, bool is_summary)
{
	pid_t pid;
	int status;

	if (!run->report[0]) {
		say("%s: pillion-report was not found", what);
		return -1;
	}
	pid = report_start(arguments, is_summary);
	if (pid < 0) {
		say("%s: %s", what, strerror(errno));
		return -1;
	}
	status = report_wait(pid, is_summary);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NOT_FOUND) {
		say("%s: %s could not be run", what, run->report);
		return -1;
	}
	return status;
}

/* ---- the summary so far, after SIGTERM ---- */

/* SIGKILL may follow SIGTERM and leave a batch job's log without any summary. So if COMMAND has not ended EARLY_MS after
 * SIGTERM, the summary of what was recorded so far is printed. */
static struct {
	uint64_t due_ns; /* 0: no SIGTERM; UINT64_MAX: it was printed */
	pid_t pid;	 /* of pillion-report, 0: it does not run */
} early;

void summary_signal(const struct run *run, int signal)
{
	bool prints = run->job.scheduler && (run->is_creator || !run->key[0]) && run->options.stats != STATS_FALSE;

	if (signal == SIGTERM && prints && run->report[0] && !early.due_ns)
		early.due_ns = clock_monotonic_ns() + EARLY_MS * 1000000ull;
}

int summary_tick(const struct run *run)
{
	const char *arguments[] = {run->report, "stats", "--summary", run->directory, NULL};
	uint64_t now = clock_monotonic_ns();

	if (early.pid > 0 && waitpid(early.pid, NULL, WNOHANG) == early.pid)
		early.pid = 0;
	if (!early.due_ns || early.due_ns == UINT64_MAX)
		return -1;
	if (now < early.due_ns)
		return (int)((early.due_ns - now) / 1000000) + 1;
	early.due_ns = UINT64_MAX;
	say("COMMAND has not ended after SIGTERM; recorded so far, capture in %s", run->directory);
	early.pid = report_start(arguments, true);
	return -1;
}

/* The summary of the whole run replaces one that is still being made. */
static void summary_early_end(void)
{
	if (early.pid <= 0)
		return;
	kill(early.pid, SIGKILL);
	waitpid(early.pid, NULL, 0);
	early.pid = 0;
}

void summary_print(struct run *run)
{
	bool is_short = run->options.stats == STATS_SUMMARY;
	const char *arguments[] = {run->report, "stats", is_short ? "--summary" : run->directory,
			is_short ? run->directory : NULL, NULL};
	int status = 0;

	summary_early_end();
	if (!run->is_creator && run->key[0])
		return; /* a rank that joined the capture */
	others_wait(run);
	say("capture in %s", run->directory);
	if (run->options.stats != STATS_FALSE)
		status = report_run(run, arguments, "no summary", true);
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGINT)
		say("the summary was ended by signal %d: read the capture with pillion stats", WTERMSIG(status));
}

void summary_export(struct run *run)
{
	static const struct {
		uint32_t bit;
		const char *type, *suffix;
	} exports[] = {
		{OPTION_EXPORT_SQLITE, "sqlite", ".sqlite"},
		{OPTION_EXPORT_PARQUET, "parquetdir", "_pqtdir"},
		{OPTION_EXPORT_ARROW, "arrow", "_arwdir"},
	};
	char base[PATH_MAX], path[PATH_MAX + 16];

	if (!run->is_creator && run->key[0])
		return;
	snprintf(base, sizeof(base), "%s", run->directory);
	name_strip(base);
	for (size_t i = 0; i < sizeof(exports) / sizeof(*exports); i++) {
		const char *arguments[] = {run->report, "export", "--quiet", "-t", exports[i].type, "-o", path,
				run->options.force_overwrite ? "--force-overwrite=true" : "--force-overwrite=false",
				run->directory, NULL};

		if (!(run->options.exports & exports[i].bit))
			continue;
		snprintf(path, sizeof(path), "%s%s", base, exports[i].suffix);
		if (!report_run(run, arguments, "not exported"))
			say("exported to %s", path);
	}
}

void summary_pack(struct run *run, unsigned living)
{
	const char *arguments[] = {run->report, "pack", "--quiet", "--replace", run->directory, NULL};
	unsigned others, started;
	int status;

	if (!run->options.pack || (!run->is_creator && run->key[0]))
		return;
	others = run->key[0] ? capture_launchers_running(run->directory, &started) : 0;
	if (living || others) {
		say("not packed: %u %s are still running; run pillion pack later", living ? living : others,
		    living ? "processes" : "other ranks");
		return;
	}
	status = report_run(run, arguments, "not packed", false);
	if (status > 0)
		say("not packed: the capture in %s is unchanged", run->directory);
}
