/* SPDX-License-Identifier: Apache-2.0 */
#include "report/live/live_request.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/live/elsewhere.h"
#include "report/live/proc_file.h"
#include "report/live/request_file.h"
#include "runtime/shared/common/sys.h"

/* ELSEWHERE_S: one on another host looks once per second, and may have been killed. */
enum { POLL_NS = 1000000, ELSEWHERE_S = 10 };

/* Runs of one capture, which have one request. */
struct group {
	const char *capture;
	const struct live_run *runs;
	struct live_answer *answers;
	size_t count;
	struct elsewhere elsewhere;
	struct live_answer *answers_elsewhere;
};

static bool read_answer(const struct group *g, uint64_t run, uint64_t request, struct live_answer *ret)
{
	SCOPED(buffer) path = {0};
	uint64_t answered = 0;
	int error = 0;
	FILE *f;

	buffer_print(&path, "%s/.answer.%016" PRIx64, g->capture, run);
	f = fopen(path.data, "re");
	ret->has_answered = f &&
			    fscanf(f, "request=%" SCNx64 "\nerror=%d\nrange=%" SCNu32 "\nprocesses=%" SCNu32, &answered,
				   &error, &ret->range, &ret->processes) == 4 &&
			    answered == request;
	ret->was_planned = error == ECANCELED;
	ret->error = ret->was_planned ? 0 : -error;
	if (f)
		fclose(f);
	return ret->has_answered;
}

static bool launcher_is_alive(const struct live_run *run)
{
	struct process_stat stat;

	return process_stat_read(run->launcher, &stat) && proc_file_is_launcher(&stat);
}

/* Whether there is an answer to wait for. */
static bool collect(const struct group *g, uint64_t request)
{
	bool waits = false;

	for (size_t i = 0; i < g->count; i++)
		if (g->runs[i].launcher && !g->answers[i].has_answered &&
		    !read_answer(g, g->runs[i].id, request, &g->answers[i]))
			waits |= launcher_is_alive(&g->runs[i]);
	for (size_t i = 0; i < g->elsewhere.count; i++)
		if (!g->answers_elsewhere[i].has_answered)
			waits |= !read_answer(g, g->elsewhere.items[i].run, request, &g->answers_elsewhere[i]);
	return waits;
}

static void add_missing(const struct group *g, struct texts *missing)
{
	for (size_t i = 0; i < g->count; i++) {
		const struct live_run *run = &g->runs[i];

		if (g->answers[i].has_answered)
			continue;
		if (!run->launcher)
			texts_add(missing, "%s: no launcher, which would start and stop recording, is above PID %u",
				  run->capture, run->process_count ? run->processes[0].pid : 0);
		else
			texts_add(missing, "%s: the launcher PID %u did not answer", run->capture, run->launcher);
	}
	for (size_t i = 0; i < g->elsewhere.count; i++)
		if (!g->answers_elsewhere[i].has_answered)
			texts_add(missing, "%s: the launcher PID %u on %s did not answer, or was killed", g->capture,
				  g->elsewhere.items[i].pid, g->elsewhere.items[i].host);
}

static int ask_group(struct group *g, const char *more, struct texts *missing, struct err *err)
{
	uint64_t request = request_number(), until;
	const struct timespec pause = {0, POLL_NS};
	SCOPED(buffer) path = {0};
	int code = request_place(g->capture, request, more, &path, err);

	elsewhere_read(g->capture, &g->elsewhere);
	g->answers_elsewhere = mem_alloc((g->elsewhere.count + 1) * sizeof(*g->answers_elsewhere));
	until = sys_clock_ns(CLOCK_MONOTONIC);
	until += (g->elsewhere.count ? ELSEWHERE_S : REQUEST_PATIENCE_S) * 1000000000ull;
	if (!code) {
		/* A launcher that receives SIGCHLD looks at once. */
		for (size_t i = 0; i < g->count; i++)
			if (g->runs[i].launcher)
				kill((pid_t)g->runs[i].launcher, SIGCHLD);
		while (collect(g, request) && sys_clock_ns(CLOCK_MONOTONIC) < until)
			nanosleep(&pause, NULL);
		unlink(path.data);
		add_missing(g, missing);
	}
	return code;
}

/* What launchers on other hosts have answered is added to the answer of the first run. */
static void join_elsewhere(struct group *g)
{
	array_each(const struct live_answer, a, g->answers_elsewhere, g->elsewhere.count) {
		g->answers[0].elsewhere += a->has_answered && !a->error ? a->processes : 0;
		if (a->has_answered && a->error && !g->answers[0].error)
			g->answers[0].error = a->error;
	}
	free(g->answers_elsewhere);
	elsewhere_done(&g->elsewhere);
}

int live_ask(const struct live_runs *runs, const struct live_wish *wish, struct live_answer *answers,
	     struct texts *missing, struct err *err)
{
	SCOPED(buffer) more = {0};
	int code = 0;

	memset(answers, 0, runs->count * sizeof(*answers));
	buffer_print(&more, "action=%s\nopens_ns=%" PRIu64 "\nfor_ns=%" PRIu64 "\n", wish->action, wish->opens_ns,
		     wish->for_ns);
	for (size_t i = 0, next; i < runs->count && !code; i = next) {
		struct group g = {.capture = runs->items[i].capture, .runs = runs->items + i, .answers = answers + i};

		for (next = i + 1; next < runs->count && !strcmp(runs->items[next].capture, g.capture);)
			next++;
		g.count = next - i;
		code = ask_group(&g, more.data, missing, err);
		join_elsewhere(&g);
	}
	return code;
}
