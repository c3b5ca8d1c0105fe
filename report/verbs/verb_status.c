/* SPDX-License-Identifier: Apache-2.0 */
/* status: the live runs of this user, or of a target. */
#include <errno.h>

#include "report/live/live_table.h"
#include "report/verbs/verb.h"

int verb_target(const struct command_line *l, const char **ret)
{
	*ret = l->capture_count ? l->captures[0] : NULL;
	if (l->capture_count <= 1)
		return EXIT_DONE;
	say("give one TARGET: a capture, a PID or slurm:JOBID");
	return EXIT_UNUSABLE;
}

static int run_status(const struct command_line *l)
{
	static struct live_runs runs;
	struct table table = {0};
	const char *target;
	static struct work w;
	struct err err;
	int status = verb_target(l, &target), code;

	if (status)
		return status;
	code = target ? live_find_one(target, &runs, &err) : live_find(NULL, &runs, &err);
	if (!code && !runs.count)
		code = err_set(&err, -ENOENT, "no live run");
	if (code)
		say("%s", err.text);
	status = code ? EXIT_UNUSABLE : work_begin_output(&w, l);
	if (!status) {
		live_table(&runs, &table);
		emit_begin(&w.emit);
		work_table(&w, "runs", "Live Runs", &table);
		emit_end(&w.emit);
		table_done(&table);
		status = work_end(&w);
	}
	return status;
}

const struct verb verb_status = {
	"status", "[OPTION]... [CAPTURE|PID|slurm:JOBID]", "the live runs: their processes, and whether they record",
	VERB_STATUS, run_status, NULL, VERB_LIVE_STATUSES,
};
