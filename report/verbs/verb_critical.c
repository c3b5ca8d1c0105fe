/* SPDX-License-Identifier: Apache-2.0 */
/* critical: what the end of the run, of a step or of a range waited for, back to its start. */
#include <errno.h>
#include <stdlib.h>

#include "report/causes/path.h"
#include "report/events/nvtx/filter_nvtx.h"
#include "report/time/steps/steps.h"
#include "report/verbs/verb.h"

/* ---- which part of the run ---- */

/* The steps of the process in which they take most of the time; NULL: there are none. */
static const struct step_series *main_steps(const struct step_list *list)
{
	const struct step_series *best = NULL;
	uint64_t most_ns = 0;

	list_each(const struct step_series, s, list) {
		uint64_t ns = s->items[s->count - 1].end_ns - s->items[0].start_ns;

		if (ns > most_ns) {
			most_ns = ns;
			best = s;
		}
	}
	return best;
}

static void add_part(struct causality *s, const struct image *image, const struct trace_thread *thread,
		     uint64_t from_ns, uint64_t until_ns, struct path *ret)
{
	uint32_t actor = causes_actor(s, image, thread);

	if (actor != NODE_NONE)
		path_add(ret, actor, model_since_origin(s->context->model, from_ns),
			 model_since_origin(s->context->model, until_ns));
}

static int find_step(struct causality *s, uint32_t step, struct path *ret, struct err *err)
{
	SCOPED(step_list) list = {0};
	const struct step_series *series;
	int code = 0;

	steps_find(s->context, &list);
	series = main_steps(&list);
	if (!series)
		code = err_set(err, -ENODATA, "cannot tell: no process has a loop of ranges or calls");
	else if (step >= series->count)
		code = err_set(err, -ENODATA, "--step=%u: there are only %zu steps, numbered from 0", step,
			       series->count);
	else
		add_part(s, series->image, series->thread, series->items[step].start_ns, series->items[step].end_ns,
			 ret);
	return code;
}

static int find_ranges(struct causality *s, const char *spec, struct path *ret, struct err *err)
{
	SCOPED_MEMORY struct nvtx_instance *found = NULL;
	size_t count;
	int code = nvtx_instances(s->context->model, "--range", spec, &found, &count, err);

	for (size_t i = 0; i < count && !code; i++)
		add_part(s, found[i].image, found[i].thread, found[i].from_ns, found[i].to_ns, ret);
	return code;
}

static int find_part(struct causality *s, const struct command_line *l, struct path *ret, struct err *err)
{
	int code;

	if (!l->has_step && !l->range) {
		path_find(s, UINT64_MAX, ret);
		return 0;
	}
	path_begin(s, ret);
	code = l->has_step ? find_step(s, l->step, ret, err) : find_ranges(s, l->range, ret, err);
	path_end(ret);
	return code;
}

static int run_critical(const struct command_line *l)
{
	SCOPED(table) table = {0};
	static struct causality *s;
	static struct path path;
	static struct work w;
	struct err err;
	int status, code;

	if (l->has_step && l->range) {
		say("--step and --range exclude each other");
		return EXIT_UNUSABLE;
	}
	status = work_begin(&w, l);
	if (status)
		return status;
	emit_begin(&w.emit);
	s = causes_find(&w.context);
	if (s) {
		code = find_part(s, l, &path, &err);
		if (code) {
			say("%s", err.text);
			w.status = code == -ENODATA ? EXIT_INCOMPLETE : EXIT_UNUSABLE;
		} else {
			path_table(&path, &table);
			work_table(&w, "critical", "Critical Path", &table);
		}
	} else {
		say("nothing was recorded");
		w.status = EXIT_INCOMPLETE;
	}
	work_ledger(&w);
	emit_end(&w.emit);
	return work_end(&w);
}

const struct verb verb_critical = {
	"critical", "[OPTION]... [CAPTURE]...", "what the end of the run, or of a step, waited for, back to its start",
	VERB_CRITICAL,
	run_critical, NULL, NULL,
};
