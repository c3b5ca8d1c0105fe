/* SPDX-License-Identifier: Apache-2.0 */
/* top: what the processes of live runs use, and where they are. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/live/live_runs.h"
#include "report/verbs/output/pager.h"
#include "report/verbs/output/top_screen.h"
#include "report/verbs/verb.h"
#include "runtime/shared/common/clock.h"

static void list_runs(void)
{
	static struct live_runs runs;
	struct err err;

	if (live_find(NULL, &runs, &err))
		return;
	for (size_t i = 0; i < runs.count; i++)
		say("live: %s, PID %u, %s", runs.items[i].capture, runs.items[i].launcher, runs.items[i].command);
}

/* A reader of the file sees the old or the new text, never a part. */
static int metrics_write(const struct top *t, const char *path)
{
	SCOPED(buffer) text = {0}, part = {0};
	int fd, code = 0;

	top_metrics(t, &text);
	buffer_print(&part, "%s.%d", path, (int)getpid());
	fd = open(part.data, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, buffer_string(&text), text.size) != (ssize_t)text.size)
		code = errno ? errno : EIO;
	if (fd >= 0 && close(fd) && !code)
		code = errno;
	if (!code && rename(part.data, path))
		code = errno;
	if (code) {
		say("%s: %s", path, strerror(code));
		unlink(part.data);
	}
	return code ? EXIT_UNUSABLE : EXIT_DONE;
}

/* Waits for the interval; meanwhile samples a process that pillion does not. */
static void interval_wait(struct top *t, double seconds)
{
	uint64_t until = clock_monotonic_ns() + (uint64_t)(seconds * 1e9);
	struct timespec pause = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

	if (t->pid)
		top_sample(t, until);
	else
		nanosleep(&pause, NULL);
}

/* The exit status; a message if it is not 0. */
static int round_take(struct top *t, bool looks)
{
	struct err err;
	int code = top_round(t, looks, &err);

	if (!code)
		return EXIT_DONE;
	say("%s", err.text);
	if (code == -ENOENT)
		list_runs();
	return EXIT_UNUSABLE;
}

static int show_tables(struct top *t, const struct command_line *l)
{
	static struct work w;
	int status = work_begin_output(&w, l);

	if (status)
		return status;
	w.emit.is_list = true;
	emit_begin(&w.emit);
	for (size_t i = 0; i < TOP_TABLES; i++) {
		SCOPED(table) table = {0};

		top_table_fill(&top_tables[i], t, &table);
		if (table_rows(&table) || !format_is_human(w.emit.format))
			work_table(&w, top_tables[i].name, top_tables[i].title, &table);
	}
	emit_end(&w.emit);
	return work_end(&w);
}

static int show_once(struct top *t, const struct command_line *l)
{
	int status = round_take(t, false), worst;

	if (status)
		return status;
	interval_wait(t, l->interval_s);
	status = round_take(t, true);
	if (status)
		return status;
	say_all(&t->notes);
	worst = say_all(&t->problems);
	status = l->openmetrics ? metrics_write(t, l->openmetrics) : EXIT_DONE;
	if (!status && (!l->openmetrics || l->is_once))
		status = show_tables(t, l);
	return status > worst ? status : worst;
}

/* Writes the file until the run ends. */
static int write_metrics(struct top *t, const struct command_line *l)
{
	struct err err;
	int status = round_take(t, false);

	while (!status) {
		interval_wait(t, l->interval_s);
		if (top_round(t, false, &err))
			return EXIT_DONE;
		status = metrics_write(t, l->openmetrics);
	}
	return status;
}

static int run_top(const struct command_line *l)
{
	static struct top t;
	bool is_screen = !l->is_once && !l->is_json && !l->openmetrics && !l->output && l->format == FORMAT_COLUMN &&
			 pager_has_reader();
	int status = EXIT_UNUSABLE;

	if (l->capture_count > 1) {
		say("give one TARGET: a capture, a PID or slurm:JOBID");
		return status;
	}
	reader_progress = NULL; /* a round is short, and the screen is ours */
	t.target = l->capture_count ? l->captures[0] : NULL;
	if (is_screen)
		status = round_take(&t, false) ? EXIT_UNUSABLE : top_screen(&t, l->interval_s);
	else if (l->openmetrics && !l->is_once)
		status = write_metrics(&t, l);
	else
		status = show_once(&t, l);
	return status;
}

static void more_help(struct text *ret)
{
	text_add(ret,
		 "\nTARGET is a capture, a PID, or slurm:JOBID; without it, all live runs of this user\n"
		 "are shown. A PID may also be that of a process that pillion did not start. Everything\n"
		 "is read from outside: no process is stopped or signalled. CPU (%) is of one CPU.\n"
		 "Wait (%) is of the thread that uses most CPU time: the time in which it neither ran\n"
		 "nor waited for a CPU. Read and Written are what system calls moved, also from and to\n"
		 "pipes, sockets and the page cache. Line is where that thread is. Lines, files,\n"
		 "kernels, steps and functions and buffers of JAX are of the last 5 seconds.\n"
		 "\nOn a terminal the view is renewed each interval: q quits, < and > choose the column\n"
		 "to sort by, / filters by command or line, the arrows select a process, Enter shows its\n"
		 "threads, l, f and g the lines, files and kernels of the last seconds, and again the\n"
		 "processes;\n"
		 "s starts recording in the run of the selected process, x stops it, d dumps what it has.\n");
}

const struct verb verb_top = {
	"top", "[OPTION]... [CAPTURE|PID|slurm:JOBID]", "what the processes of live runs use, and where they are",
	VERB_TOP, run_top, more_help,
	"0 done, 1 some processes could not be read, 2 no such live run (those there are, are listed), or wrong usage",
};
