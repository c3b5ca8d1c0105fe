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

#include "runtime/launch/run.h"

enum { OTHERS_MS = 2000, STEP_MS = 50 };

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

/* A signal that ends us ends the report too: the capture is complete without it, even while it is being packed. */
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
			kill(pid, SIGCONT); /* the terminal stopped it; continue, because it ends soon */
		}
	}
	return status;
}

/* Returns its wait status, or -1 after a message that begins with `what`. */
static int report_run(const struct run *run, const char *const *arguments, const char *what)
{
	pid_t pid;
	int status;

	if (!run->report[0]) {
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
		say("%s: %s could not be run", what, run->report);
		return -1;
	}
	return status;
}

void summary_print(struct run *run)
{
	bool is_short = run->options.stats == STATS_SUMMARY;
	const char *arguments[] = {run->report, "stats", is_short ? "--summary" : run->directory,
			is_short ? run->directory : NULL, NULL};

	if (!run->is_creator && run->key[0])
		return; /* a rank that joined the capture */
	others_wait(run);
	say("capture in %s", run->directory);
	if (run->options.stats != STATS_FALSE)
		report_run(run, arguments, "no summary");
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
	status = report_run(run, arguments, "not packed");
	if (status > 0)
		say("not packed: the capture in %s is unchanged", run->directory);
}
