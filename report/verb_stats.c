/* SPDX-License-Identifier: Apache-2.0 */
/* stats: tables of where the time went. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/analyze/summary.h"
#include "report/derive/device/graph_estimate.h"
#include "report/envelope.h"
#include "report/keep.h"
#include "report/verb.h"

/* Reports of the default set without rows are collected in `skipped`. */
static void show_empty(struct work *w, const struct report *r, const struct table *table, struct buffer *skipped)
{
	if (skipped) {
		buffer_print(skipped, "%s%s", skipped->size ? ", " : "", r->name);
		return;
	}
	work_table(w, r->name, r->title, table);
	if (!w->line->quiet)
		say("%s: no rows", r->name);
}

/* States the source of the device times in the table above. */
static void remark_source(struct work *w, const struct report *r)
{
	struct buffer text = {0}, estimates = {0};

	if (w->line->quiet || !format_is_human(w->emit.format))
		return;
	if (r->flags & REPORT_DEVICE)
		device_remark(&w->model, &text);
	if (r->flags & REPORT_ATTRIBUTED)
		graph_estimate_remark(&w->context, &estimates);
	if (estimates.size)
		buffer_print(&text, "%s%s", text.size ? "; " : "", estimates.data);
	if (text.size)
		emit_remark(&w->emit, text.data);
	buffer_done(&text);
	buffer_done(&estimates);
}

/* What another rank shows: this one reads its part of the events. */
static void help_report(struct work *w, const struct report *r)
{
	struct table table = {0};
	struct err err;

	if (w->context.share)
		r->run(&w->context, &table, &err);
	table_done(&table);
}

/* `skipped` is NULL for a report that the user named: then it is an error if it cannot be shown. */
static void show_report(struct work *w, const struct report *r, struct buffer *skipped)
{
	bool is_asked = !skipped;
	struct table table = {0};
	struct err err;
	int code;

	w->context.share = r->flags & REPORT_SHARED ? w->model.share : NULL;
	if (share_self(w->model.share)) {
		help_report(w, r);
		return;
	}
	if (share_failure(w->model.share))
		return;
	if (w->context.by != BY_NOTHING && !(r->flags & REPORT_BY) && is_asked && !w->line->quiet)
		say("%s: --by does not apply", r->name);
	progress_begin(r->name, w->model.trace_bytes);
	code = r->run(&w->context, &table, &err);
	progress_clear();
	if (share_failure(w->model.share)) {
		table_done(&table);
		return;
	}
	if (code && (is_asked || !w->line->quiet))
		say("%s: %s", r->name, err.text);
	if (code && is_asked)
		w->status = EXIT_INCOMPLETE;
	if (table_rows(&table)) {
		work_table(w, r->name, r->title, &table);
		remark_source(w, r);
	} else if (!code || is_asked) {
		show_empty(w, r, &table, skipped);
	}
	table_done(&table);
}

/* Device records are written by CUPTI's threads, so grouping them by thread is meaningless. */
static bool by_applies(enum by by, const struct report *r)
{
	bool has_devices = r->flags & REPORT_DEVICE;

	return by == BY_DEVICE ? has_devices : by == BY_THREAD ? !has_devices : true;
}

static void show_asked(struct work *w, const struct requested_report *asked)
{
	enum by by = w->context.by;

	if (!by_applies(by, asked->report)) {
		if (!w->line->quiet && !share_self(w->model.share))
			say("%s: --by %s does not apply", asked->report->name, by_names[by]);
		w->context.by = BY_NOTHING;
	}
	w->context.kernel_name = asked->kernel_name;
	show_report(w, asked->report, NULL);
	w->context.kernel_name = KERNEL_DEMANGLED;
	w->context.by = by;
}

static void show_summary(struct work *w)
{
	struct buffer text = {0};
	char directory[PATH_MAX];
	const char *capture = w->line->capture_count == 1 ? w->line->captures[0] : NULL;
	size_t length = getcwd(directory, sizeof(directory)) ? strlen(directory) : 0;

	if (capture && length && !strncmp(capture, directory, length) && capture[length] == '/')
		capture += length + 1;
	summary_text(&w->context, capture, &text);
	progress_clear();
	if (envelope_is_open())
		work_text(w, "summary", &text);
	else
		work_marked(w, buffer_string(&text), "FIX FIRST", COLOUR_WARNING);
	buffer_done(&text);
}

static int keep_names(const struct command_line *l)
{
	struct buffer path = {0};
	struct err err;
	int code = 0;

	for (size_t i = 0; i < l->capture_count && l->keeps_symbols && !code; i++) {
		code = model_find(l->captures[i], false, &path, &err);
		if (!code)
			code = keep_symbols(path.data, &err);
	}
	buffer_done(&path);
	if (code)
		say("%s", err.text);
	return code ? EXIT_UNUSABLE : EXIT_DONE;
}

/* Where the ranks of a job step meet: in the capture, or beside it if it is a file. */
static void meeting_place(const char *word, struct buffer *ret)
{
	struct err err;
	struct stat st;

	if (model_find(word, false, ret, &err)) {
		buffer_clear(ret);
		return;
	}
	if (stat(ret->data, &st) == 0 && !S_ISDIR(st.st_mode)) {
		char *slash = strrchr(ret->data, '/');

		buffer_text(ret, slash ? "" : "/..");
		if (slash)
			*slash = '\0';
		else
			mem_replace_text(&ret->data, mem_copy_text(".", 1));
	}
}

/* All words of the command line, so that two commands of the same ranks are kept apart. */
static void command_text(struct buffer *ret)
{
	FILE *f = fopen("/proc/self/cmdline", "re");
	char piece[4096];
	size_t size;

	while (f && (size = fread(piece, 1, sizeof(piece), f)) > 0)
		for (size_t i = 0; i < size; i++)
			buffer_add(ret, piece[i] ? &piece[i] : "\n", 1);
	if (f)
		fclose(f);
}

static enum share_role join_ranks(const struct command_line *l, struct share **ret)
{
	struct buffer place = {0}, command = {0}, note = {0};
	enum share_role role = SHARE_ALONE;
	struct rank_job job;

	*ret = NULL;
	if (l->summary || l->is_json || l->keeps_symbols || !l->capture_count || !rank_job_find(&job))
		return role;
	meeting_place(l->captures[0], &place);
	command_text(&command);
	if (place.size)
		role = share_join(&job, buffer_string(&place), buffer_string(&command), ret, &note);
	if (note.size && !l->quiet)
		say("%s", note.data);
	buffer_done(&place);
	buffer_done(&command);
	buffer_done(&note);
	return role;
}

static void show_tables(struct work *w)
{
	const struct command_line *l = w->line;
	bool prints = !share_self(w->model.share);
	struct buffer skipped = {0};

	w->emit.is_list = l->report_count != 1;
	if (prints)
		emit_begin(&w->emit);
	for (size_t i = 0; i < l->report_count; i++)
		show_asked(w, &l->reports[i]);
	for (size_t i = 0; i < report_count && !l->report_count; i++)
		if (report_list[i].flags & REPORT_DEFAULT && by_applies(l->by, &report_list[i]))
			show_report(w, &report_list[i], &skipped);
	if (prints && skipped.size && !l->quiet)
		say("no rows: %s", skipped.data);
	buffer_done(&skipped);
	work_gather(w);
	if (share_failure(w->model.share)) {
		if (*share_failure(w->model.share))
			say("%s", share_failure(w->model.share));
		w->status = EXIT_UNUSABLE;
	} else if (prints) {
		work_ledger(w);
		emit_end(&w->emit);
	}
}

static int run_stats(const struct command_line *l)
{
	struct share *share;
	struct work w;
	int status;

	if (join_ranks(l, &share) == SHARE_ABSENT)
		return EXIT_DONE;
	status = keep_names(l);
	if (!status)
		status = work_begin_shared(&w, l, share);
	if (status) {
		share_abandon(share);
	} else if (l->summary) {
		show_summary(&w);
		status = work_end(&w);
	} else {
		show_tables(&w);
		status = work_end(&w);
	}
	share_leave(share);
	return status;
}

static void more_help(struct text *ret)
{
	text_add(ret, "\nReports (*: in the default set):\n");
	for (size_t i = 0; i < report_count; i++) {
		const struct report *r = &report_list[i];

		if (!(r->flags & REPORT_HIDDEN))
			verb_help_row(r->flags & REPORT_DEFAULT ? " *" : "  ", r->name, r->title, r->alias, ret);
	}
}

const struct verb verb_stats = {
	"stats", "[OPTION]... CAPTURE...", "tables of where the time went", VERB_STATS, run_stats, more_help,
};
