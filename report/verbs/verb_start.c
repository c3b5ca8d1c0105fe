/* SPDX-License-Identifier: Apache-2.0 */
/* start, stop and cancel: whether live runs record. Their launchers do it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/live/live_request.h"
#include "report/live/request_file.h"
#include "report/verbs/output/envelope.h"
#include "report/verbs/verb.h"
#include "runtime/shared/common/sys.h"

/* ---- times ---- */

static bool parse_clock(const char *text, struct tm *ret)
{
	const char *end = strptime(text, "%H:%M:%S", ret);

	return end && !*end;
}

/* /10s: the next multiple of 10 s since midnight of UTC, the same on all hosts; +5s: from now on; HH:MM:SS: the next
 * time that the local clock shows it. 0: it is none of these. */
static uint64_t opening_ns(const char *at)
{
	uint64_t now = sys_clock_ns(CLOCK_REALTIME), step;
	time_t seconds = (time_t)(now / 1000000000u);
	struct tm tm;
	double s;

	if ((*at == '/' || *at == '+') && command_line_time(at + 1, &s)) {
		step = (uint64_t)(s * 1e9);
		return *at == '+' ? now + step : step ? (now / step + 1) * step : 0;
	}
	localtime_r(&seconds, &tm);
	if (!parse_clock(at, &tm))
		return 0;
	tm.tm_isdst = -1;
	if (mktime(&tm) <= seconds)
		tm.tm_mday++;
	return (uint64_t)mktime(&tm) * 1000000000u;
}

static void write_time(uint64_t ns, struct buffer *ret)
{
	time_t seconds = (time_t)(ns / 1000000000u);
	struct tm tm;
	char text[32];

	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%H:%M:%S", &tm);
	buffer_print(ret, "%s.%03u", text, (unsigned)(ns / 1000000u % 1000u));
}

/* ---- answers ---- */

static const char *reason(int error, const char *action)
{
	switch (error) {
	case -EALREADY:
		return !strcmp(action, "start") ? "it records already" : "it does not record";
	case -EPERM:
		return "its recording has ended for good: --duration, --capture-range-end, or the end of COMMAND";
	case -EBUSY:
		return "its --delay is not over";
	case -ENOSPC:
		return "there is no room for further ranges";
	default:
		return strerror(-error);
	}
}

/* "range 3: started in 4 processes" */
static void write_line(const struct live_wish *wish, uint32_t range, size_t processes, bool was_planned,
		       struct buffer *ret)
{
	bool is_start = !strcmp(wish->action, "start");

	buffer_print(ret, "range %u: ", range);
	buffer_text(ret, was_planned			       ? "its planned start is cancelled"
			 : !is_start && wish->action[0] == 'c' ? "cancelled"
			 : !is_start			       ? "stopped"
			 : wish->opens_ns		       ? "starts at "
							       : "started");
	if (wish->opens_ns)
		write_time(wish->opens_ns, ret);
	buffer_print(ret, " in %zu process%s", processes, processes == 1 ? "" : "es");
	if (wish->for_ns)
		buffer_print(ret, ", for %g s", (double)wish->for_ns / 1e9);
	buffer_text(ret, "\n");
}

static int print_answers(const struct live_runs *runs, const struct live_wish *wish, const struct live_answer *answers)
{
	SCOPED(buffer) line = {0};
	bool was_planned = true;
	size_t processes = 0;
	uint32_t range = 0;
	int status = EXIT_DONE;

	for (size_t i = 0; i < runs->count; i++) {
		processes += answers[i].elsewhere;
		if (!answers[i].has_answered) {
			status = EXIT_INCOMPLETE;
		} else if (answers[i].error) {
			say("%s: %s", runs->items[i].capture, reason(answers[i].error, wish->action));
			status = EXIT_INCOMPLETE;
		} else {
			range = answers[i].range > range ? answers[i].range : range;
			was_planned &= answers[i].was_planned;
			processes += runs->items[i].process_count;
		}
	}
	if (range) {
		write_line(wish, range, processes, was_planned, &line);
		if (envelope_is_open())
			envelope_text("range", line.data);
		else
			fputs(line.data, stdout);
	}
	return status;
}

/* What the verb's name says. */
static int run_ask(const struct command_line *l)
{
	struct live_wish wish = {.action = verb_now->name, .for_ns = (uint64_t)(l->for_s * 1e9)};
	SCOPED(texts) missing = {0};
	SCOPED_MEMORY struct live_answer *answers = NULL;
	static struct live_runs runs;
	const char *target;
	struct err err;
	int status = verb_target(l, &target), code;

	if (!status && l->at && !(wish.opens_ns = opening_ns(l->at))) {
		say("--at takes /TIME, +TIME or HH:MM:SS, such as /10s, not '%s'", l->at);
		status = EXIT_UNUSABLE;
	}
	if (status)
		return status;
	code = live_find_one(target, &runs, &err);
	answers = mem_alloc((runs.count + 1) * sizeof(*answers));
	if (!code)
		code = live_ask(&runs, &wish, answers, &missing, &err);
	say_all(&missing);
	if (code)
		say("%s", err.text);
	status = code ? EXIT_UNUSABLE : print_answers(&runs, &wish, answers);
	if (!status && missing.count)
		status = EXIT_INCOMPLETE;
	return status;
}

static void more_help(struct text *ret)
{
	text_add(ret,
		 "\nThe run may have been started by pillion launch, or record already: what it\n"
		 "records between a start and a stop is a range, and the ranges are numbered.\n"
		 "Processes follow at once, also those that begin later; no signal is sent to\n"
		 "them. Before the time of --at, stop and cancel cancel that start. TARGET may\n"
		 "be left out where one capture only has live runs. Only the owner of a run, or\n"
		 "root, may do this.\n");
}

#define TARGET "[OPTION]... [CAPTURE|PID|slurm:JOBID]"

const struct verb verb_start = {
	"start", TARGET, "start to record a live run", VERB_START, run_ask, more_help, VERB_LIVE_STATUSES,
};

const struct verb verb_stop = {
	"stop", TARGET, "stop to record a live run, which goes on", VERB_STOP, run_ask, more_help, VERB_LIVE_STATUSES,
};

const struct verb verb_cancel = {
	"cancel", TARGET, "stop to record a live run, and forget this range", VERB_CANCEL, run_ask, more_help,
	VERB_LIVE_STATUSES,
};
