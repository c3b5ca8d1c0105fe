/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a run: prints the path of the capture and the summary of pillion-report on stderr; with --export, exports
 * the capture; with --pack, packs it into one file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/launch/run.h"
#include "runtime/shared/common/clock.h"

/* OTHERS_MS: how long the ranks of a step may take to end after the first; DYING_MS: where it failed, and mpirun or the
 * batch system kills the others. EARLY_MS: when the summary so far is due after SIGTERM. HURRIED_MS: how much later
 * than COMMAND a job may end that SIGTERM has ended, and whose verdict is printed. */
enum { OTHERS_MS = 2000, DYING_MS = 100, STEP_MS = 20, TERMINATED_S = 10, EARLY_MS = 200, HURRIED_MS = 100 };

/* SIGKILL may follow SIGTERM, and leave the log of a job without any summary. `early_ns`: when the summary so far is
 * due, because COMMAND has not ended after SIGTERM or its announcement; UINT64_MAX: it was printed. */
static struct {
	uint64_t terminated_ns, early_ns; /* 0: no SIGTERM */
	pid_t early_pid;		  /* of pillion-report, 0: it does not run */
	bool is_ours;			  /* this rank has claimed the summary */
	uint64_t limit_ns;		  /* of the summary at the end; UINT64_MAX: none */
} end;

static void wait_step(void)
{
	struct timespec step = {0, STEP_MS * 1000000L};

	nanosleep(&step, NULL);
}

/* The rank that created the capture prints for all. */
static bool is_printer(const struct run *run)
{
	return run->is_creator || !run->key[0];
}

/* A file of the capture: .summary says that a rank prints or has printed the summary, .left that the one which would
 * print it has failed, and leaves it to the others, if there are any. */
static bool mark_open(const struct run *run, const char *name, int flags)
{
	char path[PATH_MAX + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", run->directory, name);
	fd = open(path, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Whether this rank is the first that prints a summary of the capture. */
static bool summary_claim(const struct run *run)
{
	end.is_ours |= !run->key[0] || mark_open(run, ".summary", O_WRONLY | O_CREAT | O_EXCL);
	return end.is_ours;
}

/* What has printed the verdict has printed the path, too. */
static void path_print(const struct run *run)
{
	if (!verdict_is_printed(run))
		path_say(run);
}

/* Whether this rank prints. If the rank that created the capture was killed, another one that received SIGTERM does. */
static bool summary_begin(const struct run *run)
{
	uint64_t limit_ns = end.terminated_ns + EARLY_MS * 1000000ull;
	bool is_first;

	if (!is_printer(run) && !mark_open(run, ".left", O_RDONLY)) {
		if (!end.terminated_ns)
			return false;
		while (!mark_open(run, ".summary", O_RDONLY) && clock_monotonic_ns() < limit_ns)
			wait_step();
	}
	is_first = summary_claim(run);
	return is_first || (is_printer(run) && !mark_open(run, ".left", O_RDONLY));
}

/* The ranks of a step end at about the same time. */
static void others_wait(const struct run *run)
{
	bool is_dying = run->status || (end.terminated_ns && was_told_within(run, KILLED_MS));
	int limit_ms = is_dying ? DYING_MS : OTHERS_MS;
	unsigned n = 0, started;

	if (!run->key[0] || end.limit_ns != UINT64_MAX)
		return;
	for (int ms = 0; (n = capture_launchers_running(run->directory, &started)) && ms < limit_ms; ms += STEP_MS)
		wait_step();
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

/* A second at most, also after the limit: what was killed then may end late. */
static struct timespec rest_until(uint64_t limit_ns, uint64_t now)
{
	uint64_t second = 1000000000u, rest = now < limit_ns && limit_ns - now < second ? limit_ns - now : second;

	return (struct timespec){(time_t)(rest / second), (long)(rest % second)};
}

/* A signal that ends us ends the report too: the capture is complete without it, even while it is being packed. After
 * SIGTERM or SIGHUP the summary has TERMINATED_S to be printed. */
static int report_wait(pid_t pid, bool is_summary)
{
	uint64_t limit_ns = is_summary ? end.limit_ns : UINT64_MAX;
	sigset_t all;
	siginfo_t info;
	int status;

	sigfillset(&all);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		uint64_t now = clock_monotonic_ns();
		struct timespec rest = rest_until(limit_ns, now);
		int signal;

		if (now >= limit_ns)
			kill(pid, SIGKILL);
		signal = sigtimedwait(&all, &info, &rest);
		if (is_summary && is_termination(signal) && limit_ns == UINT64_MAX)
			limit_ns = clock_monotonic_ns() + TERMINATED_S * 1000000000ull;
		else if (!is_summary && is_termination(signal))
			kill(pid, SIGTERM);
		else if (signal == SIGINT || signal == SIGQUIT)
			kill(pid, SIGINT);
		else if (signal == SIGTSTP)
			kill(pid, SIGCONT); /* the terminal stopped it; continue, because it ends soon */
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

pid_t summary_dump(const struct run *run, const char *name, const char *slow_step)
{
	const char *arguments[] = {run->report, "dump", "--quiet", "-o", name, run->directory,
				   slow_step ? "--slow-step" : NULL, slow_step, NULL};
	pid_t pid = run->report[0] ? report_start(arguments, false) : 0;

	return pid > 0 ? pid : 0;
}

void summary_signal(const struct run *run, int signal)
{
	if (signal != SIGTERM || end.terminated_ns)
		return;
	end.terminated_ns = clock_monotonic_ns();
	if (is_printer(run)) {
		summary_claim(run);
		path_print(run);
	}
	if ((run->job.scheduler || run->key[0]) && run->options.stats != STATS_FALSE && run->report[0])
		end.early_ns = end.terminated_ns + EARLY_MS * 1000000ull * (is_printer(run) ? 1 : 2);
}

int summary_tick(const struct run *run)
{
	const char *arguments[] = {run->report, "stats", "--summary", "--verdict", run->directory, NULL};
	uint64_t now = clock_monotonic_ns();

	if (end.early_pid > 0 && waitpid(end.early_pid, NULL, WNOHANG) == end.early_pid)
		end.early_pid = 0;
	if (!end.early_ns || end.early_ns == UINT64_MAX)
		return -1;
	if (now < end.early_ns)
		return (int)((end.early_ns - now) / 1000000) + 1;
	end.early_ns = UINT64_MAX;
	if (!summary_claim(run))
		return -1;
	say("%s; recorded so far; open it with pillion %s %s",
	    forwarder_has_announced_end() ? "mpirun is about to end COMMAND" : "COMMAND has not ended after SIGTERM",
	    path_verb(run), path_shown(run));
	end.early_pid = report_start(arguments, true);
	return -1;
}

/* The summary of the whole run replaces one that is still being made. */
static void summary_early_end(void)
{
	if (end.early_pid <= 0)
		return;
	kill(end.early_pid, SIGKILL);
	waitpid(end.early_pid, NULL, 0);
	end.early_pid = 0;
}

/* Whether the job would end later because of us. mpirun leaves time before that, or none, and kills us in between; srun
 * does at Ctrl-C. Where nothing says why, a step that was told to end by a time limit has its summary. */
static bool end_is_awaited(const struct run *run)
{
	bool is_said = verdict_is_printed(run), was_told = was_told_within(run, KILLED_MS);

	if (forwarder_ends_ranks(run))
		return is_said || was_told;
	return run->key[0] && was_told && is_said;
}

/* srun learns of a rank that has failed, and ends the others, when this launcher ends. */
static bool is_leaving(const struct run *run)
{
	return run->key[0] && run->status && verdict_is_printed(run);
}

/* The summary is that of the others, if there are any. The mark comes before the look who runs: who ends after that
 * sees it. */
static bool summary_leave(const struct run *run)
{
	unsigned started;

	if (is_printer(run))
		mark_open(run, ".left", O_WRONLY | O_CREAT);
	return capture_launchers_running(run->directory, &started);
}

/* Whether the log says why the job ends, and somebody waits for that: not the person who presses Ctrl-C. */
static bool is_hurried(const struct run *run)
{
	return run->options.stats == STATS_SUMMARY && verdict_is_printed(run) && end.terminated_ns &&
	       was_told_within(run, KILLED_MS);
}

void summary_print(struct run *run)
{
	bool is_short = run->options.stats == STATS_SUMMARY;
	const char *arguments[] = {run->report, "stats", "--keep-sources", is_short ? "--summary" : run->directory,
			is_short ? "--verdict" : NULL, run->directory, NULL};
	int status = 0;

	summary_early_end();
	end.limit_ns = is_hurried(run) ? clock_monotonic_ns() + HURRIED_MS * 1000000ull : UINT64_MAX;
	if (is_printer(run))
		path_print(run);
	if (end_is_awaited(run) || (is_leaving(run) && summary_leave(run)) || !summary_begin(run))
		return;
	path_print(run);
	others_wait(run);
	if (run->options.stats != STATS_FALSE)
		status = report_run(run, arguments, "no summary", true);
	if (WIFSIGNALED(status) && clock_monotonic_ns() >= end.limit_ns)
		say("the job ends before its summary: pillion stats --summary %s", path_shown(run));
	else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGINT)
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

	if (!is_printer(run))
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
		if (!report_run(run, arguments, "not exported", false))
			say("exported to %s", path);
	}
}

void summary_pack(struct run *run, unsigned living)
{
	const char *arguments[] = {run->report, "pack", "--quiet", "--replace", run->directory, NULL};
	unsigned others, started;
	int status;

	if (!run->options.pack || !is_printer(run))
		return;
	others = run->key[0] ? capture_launchers_running(run->directory, &started) : 0;
	if (living || others) {
		say("not packed: %u %s are still running; run pillion pack later", living ? living : others,
		    living ? "processes" : "other ranks");
		return;
	}
	status = report_run(run, arguments, "not packed", false);
	if (status > 0)
		say("not packed: the capture %s is unchanged", path_shown(run));
}
