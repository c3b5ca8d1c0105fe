/* SPDX-License-Identifier: Apache-2.0 */
/* dump: a capture of what a live run has recorded so far. */
#include <string.h>
#include <unistd.h>

#include "report/live/capture_copy.h"
#include "report/live/live_runs.h"
#include "report/verbs/output/envelope.h"
#include "report/verbs/verb.h"

static const char ending[] = ".pillion";

/* NAME stands for NAME.pillion. Without a name: that of the capture and the next free number. */
static void name_copy(const char *output, const char *capture, struct buffer *ret)
{
	size_t length = strlen(capture) - (text_ends_with(capture, ending) ? strlen(ending) : 0);

	if (output) {
		buffer_print(ret, "%s%s", output, text_ends_with(output, ending) ? "" : ending);
		return;
	}
	for (unsigned i = 1; !i || !ret->size || !access(ret->data, F_OK); i++) {
		buffer_set(ret, "%.*s.dump%u%s", (int)length, capture, i, ending);
	}
}

static int dump(const struct command_line *l, const char *capture)
{
	SCOPED(buffer) path = {0};
	struct err err;
	int code;

	name_copy(l->output, capture, &path);
	code = capture_copy(capture, path.data, &err);
	if (code)
		say("%s", err.text);
	else if (envelope_is_open())
		envelope_file(path.data);
	else if (!l->quiet)
		printf("%s\n", path.data);
	return code ? EXIT_UNUSABLE : EXIT_DONE;
}

/* What was read of a live capture is not of one moment: where the ring has begun a turn meanwhile, it may be of
 * others. */
static bool has_turned(const struct model *m)
{
	for (size_t i = 0; i < m->image_count; i++) {
		const struct trace *t = m->images[i].trace;
		uint64_t now;

		if (!t || t->bytes.size < sizeof(t->header))
			continue;
		memcpy(&now, (const char *)t->bytes.data + offsetof(struct tf_header, ring_ticks), sizeof(now));
		if (now != t->header.ring_ticks)
			return true;
	}
	return false;
}

/* EXIT_FOUND, and says what is slow; EXIT_INCOMPLETE: not known yet. */
static int find_slow_step(const struct command_line *l, struct model *m)
{
	struct report_context c = {.model = m, .symbols = symbols_new(m, false)};
	const struct step_series *series;
	const struct run_step *step;
	SCOPED(step_list) list = {0};
	int status = EXIT_DONE;

	steps_find(&c, &list);
	step = steps_slow(&list, &l->slow_step, &series);
	if (step)
		status = has_turned(m) ? EXIT_INCOMPLETE : EXIT_FOUND;
	verb_now = NULL; /* a line of the launcher's, which started this */
	if (status == EXIT_FOUND)
		say("a step of process %u took %.3f s, %.1f times as long as usual; what was recorded around it:",
		    series->image->pid, (double)(step->end_ns - step->start_ns) / 1e9,
		    (double)(step->end_ns - step->start_ns) / (double)(step->usual_ns ?: 1));
	symbols_free(c.symbols);
	return status;
}

static int dump_slow_step(const struct command_line *l)
{
	SCOPED(model) m = {0};
	struct err err;
	int status = EXIT_UNUSABLE;

	if (l->capture_count != 1) {
		say("give one CAPTURE");
		return EXIT_UNUSABLE;
	}
	if (model_open(&m, l->captures, 1, &err))
		say("%s", err.text);
	else
		status = find_slow_step(l, &m);
	if (status == EXIT_FOUND && dump(l, l->captures[0]))
		status = EXIT_UNUSABLE;
	return status;
}

/* Of a run that writes into a spool, the capture alone has only a part. */
static int dump_all(const struct command_line *l, const struct live_runs *runs)
{
	int worst = EXIT_DONE;

	for (size_t i = 0; i < runs->count; i++) {
		const struct live_run *run = &runs->items[i];
		int status = EXIT_INCOMPLETE;

		if (i && !strcmp(run->capture, runs->items[i - 1].capture))
			continue;
		if (strcmp(run->capture, run->directory) != 0)
			say("%s: its processes write into %s, which cannot be copied with it while they do",
			    run->capture, run->directory);
		else
			status = dump(l, run->capture);
		worst = status > worst ? status : worst;
	}
	return worst;
}

static int run_dump(const struct command_line *l)
{
	static struct live_runs runs;
	const char *target;
	struct err err;
	int status;

	if (l->slow_step.factor > 0)
		return dump_slow_step(l);
	status = verb_target(l, &target);
	if (status)
		return status;
	if (live_find_one(target, &runs, &err)) {
		say("%s", err.text);
		status = EXIT_UNUSABLE;
	} else {
		status = dump_all(l, &runs);
	}
	return status;
}

const struct verb verb_dump = {
	"dump", "[OPTION]... [CAPTURE|PID|slurm:JOBID]", "a capture of what a live run has recorded so far", VERB_DUMP,
	run_dump, NULL, VERB_LIVE_STATUSES,
};
