/* SPDX-License-Identifier: Apache-2.0 */
/* stats: tables of where the time went. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/answers/answer_tables.h"
#include "report/answers/summary/summary.h"
#include "report/answers/summary/summary_ended.h"
#include "report/base/text.h"
#include "report/export/export.h"
#include "report/read/dumps/dumps.h"
#include "report/verbs/output/destination.h"
#include "report/verbs/output/envelope.h"
#include "report/verbs/output/keep.h"
#include "report/verbs/verb.h"

/* ---- a place for each report ---- */

/* A report that is shown, the `index`th one. */
struct shown {
	const struct requested_report *asked;
	size_t index;
};

static const char *output_of(const struct command_line *l, size_t index)
{
	const struct texts *t = &l->outputs;

	return !t->count ? "-" : t->items[index < t->count ? index : t->count - 1];
}

static enum format format_of(const struct command_line *l, size_t index, bool is_console)
{
	size_t last = l->format_count ? l->format_count - 1 : 0;
	enum format f = l->format_count ? l->formats[index < last ? index : last] : FORMAT_COUNT;

	return f != FORMAT_COUNT ? f : is_console ? FORMAT_COLUMN : FORMAT_CSV;
}

/* BASE_REPORT.csv; a suffix of the report belongs to its name: BASE_cuda_gpu_kern_sum_base.csv. */
static void file_name(const struct command_line *l, const struct shown *s, const char *output, enum format format,
		      struct buffer *ret)
{
	static const char *const suffixes[] = {
		[KERNEL_DEMANGLED] = "", [KERNEL_BASE] = "_base", [KERNEL_MANGLED] = "_mangled"};
	const struct export_type type = {.ending = ""};
	const struct report *r = s->asked->report;

	if (!strcmp(output, "."))
		export_name(l->captures[0], &type, ret);
	else
		buffer_text(ret, output);
	buffer_print(ret, "_%s%s%s%s", s->asked->is_alias ? r->alias : r->name,
		     s->asked->has_ranges ? "_nvtx-name" : "", suffixes[s->asked->kernel_name], format_endings[format]);
}

static void put_table(struct work *w, const struct shown *s, const struct table *table)
{
	const struct report *r = s->asked->report;

	work_table(w, r->name, r->title, table);
	if (table_rows(table) && w->emit.is_screen)
		w->flags |= r->flags; /* nothing is between tables */
	else if (table_rows(table))
		work_remark_source(w, r->flags);
}

static void write_table_to_file(struct work *w, const struct shown *s, const char *output, const struct table *table)
{
	enum format format = format_of(w->line, s->index, false);
	bool is_command = *output == '@';
	struct destination d;
	SCOPED(buffer) name = {0};
	struct err err;
	int code;

	if (!is_command)
		file_name(w->line, s, output, format, &name);
	code = is_command ? destination_command(output + 1, &d, &err)
			  : destination_file(name.data, w->line->is_forced, &d, &err);
	if (!code) {
		struct emit before = w->emit;

		w->emit = (struct emit){.file = d.file, .format = format, .unit = before.unit,
					 .is_nsys = before.is_nsys};
		w->emit.rows = w->line->top != TOP_DEFAULT ? w->line->top : 0;
		emit_begin(&w->emit);
		put_table(w, s, table);
		emit_end(&w->emit);
		w->emit = before;
		code = destination_close(&d, &err);
	}
	if (code)
		say("%s: %s", s->asked->report->name, err.text);
	else if (!is_command && !w->line->quiet)
		say("wrote %s", name.data);
	if (code)
		w->status = EXIT_INCOMPLETE;
}

static void put_on_console(struct work *w, const struct shown *s, const struct table *table)
{
	struct emit before = w->emit;

	w->emit.format = format_of(w->line, s->index, true);
	w->emit.is_screen &= w->emit.format == FORMAT_COLUMN;
	if (!format_is_human(w->emit.format) && w->line->top == TOP_DEFAULT)
		w->emit.rows = 0;
	emit_begin(&w->emit);
	put_table(w, s, table);
	emit_end(&w->emit);
	before.emitted = w->emit.emitted;
	w->emit = before;
}

static void write_table(struct work *w, const struct shown *s, const struct table *table)
{
	const char *output = output_of(w->line, s->index);

	if (!w->line->is_listed)
		put_table(w, s, table);
	else if (!strcmp(output, "-"))
		put_on_console(w, s, table);
	else
		write_table_to_file(w, s, output, table);
}

/* ---- reports ---- */

/* Reports of the default set without rows are collected in `skipped`. */
static void show_empty(struct work *w, const struct shown *s, const struct table *table, struct buffer *skipped)
{
	const struct report *r = s->asked->report;

	if (skipped) {
		buffer_print(skipped, "%s%s", skipped->size ? ", " : "", r->name);
		return;
	}
	write_table(w, s, table);
	if (!w->line->quiet)
		say("%s: no rows", r->name);
}

/* What part 0 shows: this one reads its part of the events. */
static void help_report(struct work *w, const struct report *r)
{
	SCOPED(table) table = {0};

	if (w->context.share)
		r->run(&w->context, &table);
}

/* `skipped` is NULL for a report that the user named: then it is an error if it cannot be shown. */
static void show_report(struct work *w, const struct shown *s, struct buffer *skipped)
{
	const struct report *r = s->asked->report;
	bool is_asked = !skipped;
	SCOPED(table) table = {0};

	w->context.share = r->flags & REPORT_SHARED ? w->model.share : NULL;
	if (share_self(w->model.share)) {
		help_report(w, r);
		return;
	}
	if (share_failure(w->model.share))
		return;
	if (!w->line->capture_count && !(r->flags & REPORT_DUMP)) {
		say("%s: needs a capture", r->name);
		w->status = EXIT_INCOMPLETE;
		return;
	}
	if (!report_is_in(r, &w->model)) {
		say("%s: " REPORT_NOT_IN_PROFILE, r->name);
		w->status = EXIT_INCOMPLETE;
		return;
	}
	if (w->context.by != BY_NOTHING && !(r->flags & REPORT_BY) && is_asked && !w->line->quiet)
		say("%s: --by does not apply", r->name);
	progress_begin(r->name, w->model.trace_bytes);
	w->context.has_asides = w->emit.is_screen && w->emit.rows;
	r->run(&w->context, &table);
	progress_clear();
	if (share_failure(w->model.share))
		return;
	if (table.lacks && is_asked) {
		say("%s: %s", r->name, table.lacks);
		w->status = EXIT_INCOMPLETE;
	} else if (table.lacks && r->flags & (REPORT_DEVICE | REPORT_DUMP)) {
		texts_add(&w->theirs, "%s: %s", r->name, table.lacks);
	}
	if (table_rows(&table))
		write_table(w, s, &table);
	else if (!table.lacks || is_asked || !(r->flags & (REPORT_DEVICE | REPORT_DUMP)))
		show_empty(w, s, &table, skipped);
}

/* Device records are written by CUPTI's threads, so grouping them by thread is meaningless. */
static bool by_applies(enum by by, const struct report *r)
{
	bool has_devices = r->flags & REPORT_DEVICE;

	return by == BY_DEVICE ? has_devices : by == BY_THREAD ? !has_devices : true;
}

static void show_asked(struct work *w, size_t index)
{
	const struct requested_report *asked = &w->line->reports[index];
	enum by by = w->context.by;

	if (!by_applies(by, asked->report)) {
		if (!w->line->quiet && !share_self(w->model.share))
			say("%s: --by %s does not apply", asked->report->name, by_names[by]);
		w->context.by = BY_NOTHING;
	}
	w->context.kernel_name = asked->kernel_name;
	w->context.kernel_ranges = asked->has_ranges;
	show_report(w, &(struct shown){asked, index}, NULL);
	w->context.kernel_name = KERNEL_DEMANGLED;
	w->context.kernel_ranges = false;
	w->context.by = by;
}

enum { WIDTH_UNKNOWN = 100, WIDTH_LEAST = 40 };

static void show_answer(struct work *w)
{
	SCOPED(answer) answer = {0};

	answer_briefly(&w->context, &answer);
	for (int i = 0; i < ANSWER_TABLES; i++) {
		SCOPED(table) table = {0};

		answer_table(&answer, (enum answer_table)i, &table);
		work_table(w, answer_table_names[i].name, answer_table_names[i].title, &table);
	}
	if (w->model.has_profile)
		say("roles, findings and lines: " REPORT_NOT_IN_PROFILE);
}

/* What a launcher has printed of the capture: see runtime/launch/verdict.c. */
static void read_said(const struct work *w, struct buffer *ret)
{
	SCOPED(buffer) path = {0};
	struct mapping file;
	struct err err;

	if (w->line->capture_count == 1 && !model_find(w->line->captures[0], false, &path, &err)) {
		buffer_text(&path, "/.verdict");
		if (!mapping_open(path.data, &file, &err)) {
			buffer_add(ret, (const char *)file.data, file.size);
			mapping_close(&file);
		}
	}
}

static void show_summary(struct work *w)
{
	SCOPED(buffer) text = {0}, said = {0};
	const char *capture = w->line->capture_count == 1 ? text_path(w->line->captures[0]) : NULL;
	size_t width = terminal_columns(STDOUT_FILENO);

	width = !width ? WIDTH_UNKNOWN : width > WIDTH_LEAST ? width : WIDTH_LEAST;
	symbols_skip_c_library(w->context.symbols);
	if (envelope_is_open()) {
		show_answer(w);
		return;
	}
	if (w->line->verdict)
		read_said(w, &said);
	summary_text(&w->context, capture, w->line->verdict ? buffer_string(&said) : NULL, width, &text);
	progress_clear();
	work_marked(w, buffer_string(&text), "FIX FIRST", COLOUR_BOLD);
}

/* Why the run died or stands still. */
static bool show_verdict(struct work *w)
{
	SCOPED(rules) rules = {.context = &w->context};
	SCOPED(buffer) text = {0};
	bool has;

	symbols_skip_c_library(w->context.symbols);
	has = ended_text(rules_ended(&rules), &text);
	progress_clear();
	fputs(buffer_string(&text), w->emit.file);
	return has;
}

static int keep_names(const struct command_line *l)
{
	SCOPED(buffer) path = {0};
	struct err err;
	int code = 0;

	for (size_t i = 0; i < l->capture_count && l->keeps_symbols && !code; i++) {
		code = model_find(l->captures[i], false, &path, &err);
		if (!code)
			code = keep_symbols(path.data, &err);
	}
	if (code)
		say("%s", err.text);
	return code ? EXIT_UNUSABLE : EXIT_DONE;
}

static bool is_in_default_set(const struct work *w, const struct report *r)
{
	bool is_shown = r->flags & REPORT_DEFAULT && w->line->capture_count;

	if (r->flags & REPORT_DUMP)
		is_shown = w->context.dumps != NULL;
	return is_shown && report_is_in(r, &w->model) && by_applies(w->line->by, r);
}

static void show_default_set(struct work *w, struct buffer *skipped)
{
	size_t index = 0;

	for (size_t i = 0; i < report_count; i++) {
		const struct requested_report asked = {.report = &report_list[i]};

		if (is_in_default_set(w, &report_list[i]))
			show_report(w, &(struct shown){&asked, index++}, skipped);
	}
}

/* As of nsys. */
static void remark_excess(const struct command_line *l)
{
	bool is_excess = l->format_count > l->report_count || l->outputs.count > l->report_count;

	if (l->is_listed && l->report_count && is_excess && !l->quiet)
		say("there are more %s than reports: the last ones are not used",
		    l->format_count > l->report_count ? "formats" : "outputs");
}

static void show_tables(struct work *w)
{
	const struct command_line *l = w->line;
	bool prints = !share_self(w->model.share);
	SCOPED(buffer) skipped = {0};

	w->emit.is_list = l->report_count != 1 && !l->is_listed;
	if (prints)
		remark_excess(l);
	if (prints && !l->is_listed)
		emit_begin(&w->emit);
	for (size_t i = 0; i < l->report_count; i++)
		show_asked(w, i);
	if (!l->report_count)
		show_default_set(w, &skipped);
	if (prints && skipped.size && !l->quiet)
		say("no rows: %s", skipped.data);
	if (prints && w->model.has_profile && !l->report_count && !l->quiet)
		say("other reports of the default set: " REPORT_NOT_IN_PROFILE);
	if (l->capture_count)
		work_gather(w);
	if (prints)
		work_remark_source(w, w->flags);
	if (share_failure(w->model.share)) {
		if (*share_failure(w->model.share))
			say("%s", share_failure(w->model.share));
		w->status = EXIT_UNUSABLE;
	} else if (prints && l->is_listed) {
		if (w->emit.emitted && l->capture_count)
			work_ledger(w);
	} else if (prints) {
		if (l->capture_count)
			work_ledger(w);
		emit_end(&w->emit);
	}
}

/* ---- --help-reports, --help-formats ---- */

static bool is_named(const struct command_line *l, const struct report *r)
{
	return !l->capture_count || array_find(name, l->captures, l->capture_count,
					       !strcmp(*name, "ALL") || report_find(*name) == r);
}

/* l: NULL: those of the topic. */
static void list_reports(const struct command_line *l, size_t topic, struct text *ret)
{
	array_each(const struct report, r, report_list, report_count)
		if (!(r->flags & REPORT_HIDDEN) && (l ? is_named(l, r) : report_topic(r) == topic))
			verb_help_row(r->flags & REPORT_DEFAULT ? " *" : "  ", r->name, r->title, r->alias, ret);
}

enum { LIST_BYTES = 32768 };

static int print_lists(const struct command_line *l)
{
	static char bytes[LIST_BYTES];
	struct text t = text_init(bytes, sizeof(bytes));

	for (size_t i = 0; l->help_formats && i < FORMAT_COUNT; i++)
		verb_help_row("  ", format_names[i], format_titles[i], NULL, &t);
	if (l->help_reports)
		list_reports(l, 0, &t);
	if (!*bytes)
		say("unknown report '%s'; see pillion stats --help-reports", l->captures[0]);
	fputs(bytes, stdout);
	return *bytes && !fflush(stdout) ? EXIT_DONE : EXIT_UNUSABLE;
}

/* ---- dumps of other tools ---- */

/* The operands that are captures, and behind them those that are not: only the former are counted. */
static struct command_line without_dumps(const struct command_line *l)
{
	struct command_line ret = *l;
	size_t count = 0, behind = l->capture_count;

	ret.captures = mem_alloc((l->capture_count + 1) * sizeof(*ret.captures));
	for (size_t i = 0; i < l->capture_count; i++)
		if (dump_recognise(l->captures[i]))
			ret.captures[--behind] = l->captures[i];
		else
			ret.captures[count++] = l->captures[i];
	ret.capture_count = count;
	return ret;
}

/* EXIT_UNUSABLE: nothing was read, and there is no capture either. */
static int read_dumps(const struct command_line *l, size_t operands, struct dumps **ret)
{
	SCOPED(texts) problems = {0};
	struct err err;
	int status;

	*ret = operands > l->capture_count ? dumps_new(&err) : NULL;
	if (operands > l->capture_count && !*ret)
		texts_add(&problems, "%s: %s", l->captures[l->capture_count], err.text);
	for (size_t i = operands; *ret && i-- > l->capture_count;)
		dumps_read(*ret, l->captures[i], &problems);
	status = say_all(&problems);
	if (problems.count && !l->capture_count && !dumps_have(*ret, DUMP_FLIGHT) && !dumps_have(*ret, DUMP_INSPECTOR))
		status = EXIT_UNUSABLE;
	return status;
}

static int begin_with_dumps(struct work *w, const struct command_line *l, size_t operands, struct share *share,
			    struct dumps **dumps)
{
	int of_dumps = read_dumps(l, operands, dumps), status;

	if (of_dumps == EXIT_UNUSABLE)
		return of_dumps;
	if (!l->capture_count && (l->summary || l->verdict)) {
		say("--%s needs a capture", l->summary ? "summary" : "verdict");
		return EXIT_UNUSABLE;
	}
	status = *dumps && !l->capture_count ? work_begin_output(w, l) : work_begin_shared(w, l, share);
	if (status)
		return status;
	w->context.model = &w->model;
	w->context.dumps = *dumps;
	w->status = w->status ? w->status : of_dumps;
	return EXIT_DONE;
}

/* A packed capture stays as it is. */
static void keep_source_records(struct work *w)
{
	const struct command_line *l = w->line;
	SCOPED(buffer) path = {0};
	struct err err;

	if (!l->keeps_sources || l->capture_count != 1 || !model_path_is_directory(l->captures[0]))
		return;
	if (model_find(l->captures[0], false, &path, &err) || keep_sources(path.data, &w->context, &err)) {
		say("%s", err.text);
		w->status = w->status ? w->status : EXIT_INCOMPLETE;
	}
}

static int run_reports(const struct command_line *l, size_t operands, struct share *share)
{
	static struct dumps *dumps;
	bool has_verdict = false;
	static struct work w;
	int status;

	status = keep_names(l);
	if (!status)
		status = begin_with_dumps(&w, l, operands, share, &dumps);
	if (!status) {
		if (l->verdict && !l->summary) {
			has_verdict = show_verdict(&w);
		} else if (l->summary) {
			show_summary(&w);
			fflush(w.emit.file);
		} else {
			show_tables(&w);
		}
		keep_source_records(&w);
		status = work_end(&w);
	}
	return has_verdict ? EXIT_FOUND : status;
}

/* One part of several, of which another program carries the messages. */
static int run_part(const struct command_line *l, size_t operands)
{
	struct share *share = NULL;
	struct err err;
	int status = EXIT_UNUSABLE;

	if (l->summary || l->verdict || l->is_json || l->keeps_symbols || l->keeps_sources ||
	    operands != l->capture_count)
		say("--partial is for tables of captures");
	else if (share_new(l->part, l->part_count, &share, &err))
		say("%s", err.text);
	else
		status = run_reports(l, operands, share);
	if (share_end(share, &err) && status != EXIT_UNUSABLE) {
		say("%s", err.text);
		status = EXIT_UNUSABLE;
	}
	return status;
}

static int run_stats(const struct command_line *l)
{
	static struct command_line captures;

	if (l->help_reports || l->help_formats)
		return print_lists(l);
	captures = without_dumps(l);
	return l->part_count ? run_part(&captures, l->capture_count)
			     : run_reports(&captures, l->capture_count, NULL);
}

static void more_help(struct text *ret)
{
	text_add(ret, "\nA DUMP is JSON that PyTorch's flight recorder (nccl_flight_sum) or NCCL's\n"
		      "inspector (nccl_inspector_sum) has written.\n");
	text_add(ret, "\nReports by topic; *: in the default set.\n");
	for (size_t i = 0; i < REPORT_TOPICS; i++) {
		text_add(ret, "\n");
		text_add(ret, report_topics[i].title);
		text_add(ret, ":\n");
		list_reports(NULL, i, ret);
	}
}

const struct verb verb_stats = {
	"stats", "[OPTION]... [CAPTURE|DUMP]...", "tables of where the time went", VERB_STATS, run_stats, more_help,
};
