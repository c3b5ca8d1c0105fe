/* SPDX-License-Identifier: Apache-2.0 */
/* export: files for other tools. */
#include <errno.h>
#include <string.h>

#include "report/verbs/output/envelope.h"
#include "report/verbs/verb.h"

/* Checks the command line before anything is read. */
static int check_export(const struct command_line *l)
{
	const struct export_type *type = l->type;

	if (!type)
		say("no type given: use -t TYPE; see pillion export --help");
	else if (type->missing)
		say("%s: this build has no %s", type->name, type->missing);
	else if (l->is_metric_given && !(type->flags & EXPORT_METRIC))
		say("--metric does not apply to %s", type->name);
	else if (split_is_requested(&l->split) && !(type->flags & EXPORT_SPLIT))
		say("--split-time and --split-size do not apply to %s", type->name);
	else if (l->has_critical_path && !(type->flags & EXPORT_CRITICAL))
		say("--critical-path does not apply to %s", type->name);
	else if (l->has_critical_path && split_is_requested(&l->split))
		say("--critical-path is of the whole run: leave out --split-time and --split-size");
	else if (!l->capture_count)
		say("no CAPTURE given, and none in this directory; see pillion %s --help", verb_now->name);
	else
		return EXIT_DONE;
	return EXIT_UNUSABLE;
}

static int export_to(struct work *w, const char *path)
{
	const struct command_line *l = w->line;
	static struct export x;
	struct err err;
	int code;

	x = (struct export){.context = &w->context, .metric = l->metric, .is_metric_given = l->is_metric_given,
			    .has_critical_path = l->has_critical_path};
	progress_begin(l->type->name, w->model.trace_bytes);
	code = export_split(&x, &w->model, l->type, path, l->is_forced, &l->split, &err);
	for (size_t i = 0; i < x.written.count && envelope_is_open(); i++)
		envelope_file(x.written.items[i]);
	for (size_t i = 0; i < x.written.count && !l->quiet && !envelope_is_open(); i++)
		if (!l->output || strcmp(x.written.items[i], path) != 0)
			say("wrote %s", x.written.items[i]);
	for (size_t i = 0; i < x.left.count; i++)
		say("%s: not part of this export, but of an earlier one in more files", x.left.items[i]);
	for (size_t i = 0; i < x.remarks.count && !l->quiet && !envelope_is_open(); i++)
		say("%s", x.remarks.items[i]);
	if (code)
		say("%s", err.text);
	return code == -ENODATA ? EXIT_INCOMPLETE : code ? EXIT_UNUSABLE : EXIT_DONE;
}

static int run_export(const struct command_line *l)
{
	struct command_line opening = *l;
	SCOPED(buffer) name = {0};
	static struct work w;
	int status = check_export(l), exported;

	opening.output = NULL;
	if (!status)
		status = work_begin(&w, &opening);
	if (status)
		return status;
	w.line = l;
	if (!l->output)
		export_name(l->captures[0], l->type, &name);
	exported = export_to(&w, l->output ? l->output : name.data);
	if (exported > w.status)
		w.status = exported;
	return work_end(&w);
}

static void more_help(struct text *ret)
{
	struct buffer note = {0};

	text_add(ret, "\nTypes:\n");
	array_each(const struct export_type, t, export_list, EXPORT_COUNT) {
		buffer_done(&note);
		if (t->missing)
			buffer_print(&note, "this build has no %s", t->missing);
		verb_help_row("  ", t->name, t->title, note.data, ret);
	}
	buffer_done(&note);
	text_add(ret, "\nWithout -o the file has the name of the first capture: report1.sqlite "
			"for\nreport1.pillion.\n");
}

const struct verb verb_export = {
	"export", "-t TYPE [OPTION]... [CAPTURE]...", "files for other tools", VERB_EXPORT, run_export, more_help,
};
