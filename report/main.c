/* SPDX-License-Identifier: Apache-2.0 */
/* pillion-report: the verbs, and the only file that prints errors and picks exit codes:
 * 0 done, 1 done but something is missing or damaged, 2 wrong usage or unreadable input. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "command_line.h"
#include "filter.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "unknown"
#endif

enum { EXIT_DONE = 0, EXIT_INCOMPLETE = 1, EXIT_UNUSABLE = 2 };

static int run_stats(const struct command_line *l);
static int run_info(const struct command_line *l);
static int run_export(const struct command_line *l);
static int run_analyze(const struct command_line *l);
static int run_pack(const struct command_line *l);
static int run_unpack(const struct command_line *l);

static const struct verb {
	const char *name, *usage, *help;
	unsigned int bit;
	int (*run)(const struct command_line *l);
} verbs[] = {
	{"stats", "[OPTION]... CAPTURE...", "tables of where the time went", VERB_STATS, run_stats},
	{"info", "[OPTION]... CAPTURE...", "calls in progress, processes, settings, the ledger", VERB_INFO, run_info},
	{"export", "-t TYPE [OPTION]... CAPTURE...", "files for other tools", VERB_EXPORT, run_export},
	{"pack", "[OPTION]... CAPTURE...", "one small file of captures, which every verb reads", VERB_PACK, run_pack},
	{"unpack", "[OPTION]... FILE", "the captures as they were before pack", VERB_UNPACK, run_unpack},
	{"analyze", "[OPTION]... CAPTURE...", "rules that look for trouble: found, clean, or could not check", VERB_ANALYZE, run_analyze},
};
enum { VERBS = sizeof(verbs) / sizeof(*verbs) };

static const struct verb *verb_now;

/* ---- progress ---- */

static struct {
	const char *label;
	uint64_t done, total; /* total 0: not known */
	time_t start, shown;
	bool is_wanted, is_drawn;
} progress;

static void progress_add(uint64_t bytes)
{
	time_t now;
	unsigned int percent;

	progress.done += bytes;
	if (!progress.is_wanted)
		return;
	now = time(NULL);
	if (now - progress.start <= 2 || now == progress.shown)
		return;
	progress.shown = now;
	progress.is_drawn = true;
	if (!progress.total) {
		fprintf(stderr, "\r\033[K%s: %llu MB", progress.label, (unsigned long long)progress.done / 1000000);
		return;
	}
	/* A report may read everything several times: the bar then starts anew. */
	percent = (unsigned int)(progress.done % progress.total * 100 / progress.total);
	fprintf(stderr, "\r\033[K%s [%-20.*s] %u %%", progress.label, (int)percent / 5, "####################",
		percent);
}

static void progress_begin(const char *label, uint64_t total)
{
	progress.label = label;
	progress.done = 0;
	progress.total = total;
}

static void progress_clear(void)
{
	if (progress.is_drawn)
		fputs("\r\033[K", stderr);
	progress.is_drawn = false;
}

/* ---- messages ---- */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	va_list list;

	progress_clear();
	fprintf(stderr, "pillion%s%s: ", verb_now ? " " : "", verb_now ? verb_now->name : "");
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
}

static int say_all(const struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		say("%s", texts->items[i]);
	return texts->count ? EXIT_INCOMPLETE : EXIT_DONE;
}

static void out_of_memory(void)
{
	say("out of memory");
	_exit(EXIT_UNUSABLE);
}

/* ---- verbs ---- */

/* What a verb works with. */
struct work {
	const struct command_line *line;
	struct model model;
	struct report_context context;
	struct emit emit;
	int status;
};

/* How wide the terminal is that we print to; 0: none, or not known. */
static size_t terminal_columns(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (columns && atoi(columns) > 0)
		return (size_t)atoi(columns);
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

static int work_begin(struct work *w, const struct command_line *l)
{
	struct err err;

	*w = (struct work){.line = l};
	if (!l->capture_count) {
		say("which capture? See pillion %s --help", verb_now->name);
		return EXIT_UNUSABLE;
	}
	progress_begin("opening", 0);
	if (model_open(&w->model, l->captures, l->capture_count, &err) ||
	    (l->filter_time && filter_time(&w->model, l->filter_time, &err)) ||
	    (l->filter_nvtx && filter_nvtx(&w->model, l->filter_nvtx, &err))) {
		progress_clear();
		say("%s", err.text);
		model_done(&w->model);
		return EXIT_UNUSABLE;
	}
	progress_clear();
	w->status = say_all(&w->model.problems);
	w->context = (struct report_context){&w->model, l->by, symbols_new(&w->model, true), .lines_all = l->lines_all, .source = l->source};
	w->emit = (struct emit){.file = stdout, .format = l->format, .unit = l->unit};
	if (!l->output || !strcmp(l->output, "-"))
		w->emit.columns = terminal_columns();
	if (l->output && strcmp(l->output, "-"))
		w->emit.file = fopen(l->output, "we");
	if (w->emit.file)
		return EXIT_DONE;
	say("%s: %s", l->output, strerror(errno));
	symbols_free(w->context.symbols);
	model_done(&w->model);
	return EXIT_UNUSABLE;
}

static int work_end(struct work *w)
{
	bool failed = ferror(w->emit.file) || fflush(w->emit.file);

	if (!w->line->quiet)
		say_all(symbols_problems(w->context.symbols));
	if (w->emit.file != stdout)
		failed |= fclose(w->emit.file) != 0;
	if (failed) {
		say("%s: %s", w->line->output ? w->line->output : "standard output", strerror(errno));
		w->status = EXIT_UNUSABLE;
	}
	symbols_free(w->context.symbols);
	model_done(&w->model);
	progress_clear();
	return w->status;
}

static void show_empty(struct work *w, const struct report *r, const struct table *table, bool is_asked)
{
	if (is_asked)
		emit_table(&w->emit, r->name, r->title, table);
	if (!w->line->quiet)
		say("%s: no rows%s", r->name, is_asked ? "" : ", skipped");
}

/* What the device times of the table above rest on. */
static void remark_source(struct work *w, const struct report *r)
{
	struct buffer text = {0};

	if (!(r->flags & REPORT_DEVICE) || w->line->quiet || !format_is_human(w->emit.format))
		return;
	device_remark(&w->model, &text);
	emit_remark(&w->emit, text.data);
	buffer_done(&text);
}

/* is_asked: named by the user, so that what cannot be shown is a failure. */
static void show_report(struct work *w, const struct report *r, bool is_asked)
{
	struct table table = {0};
	struct err err;
	int code;

	if (r->flags & REPORT_LATER) {
		say("%s: not yet in this version", r->name);
		w->status = EXIT_INCOMPLETE;
		return;
	}
	if (w->context.by != BY_NOTHING && !(r->flags & REPORT_BY) && is_asked && !w->line->quiet)
		say("%s: --by does not apply", r->name);
	progress_begin(r->name, w->model.trace_bytes);
	code = r->run(&w->context, &table, &err);
	progress_clear();
	if (code && (is_asked || !w->line->quiet))
		say("%s: %s", r->name, err.text);
	if (code && is_asked)
		w->status = EXIT_INCOMPLETE;
	if (table_rows(&table)) {
		emit_table(&w->emit, r->name, r->title, &table);
		remark_source(w, r);
	} else if (!code || is_asked) {
		show_empty(w, r, &table, is_asked);
	}
	table_done(&table);
}

/* Device records come in the threads of CUPTI, which say nothing. */
static bool by_applies(enum by by, const struct report *r)
{
	bool has_devices = r->flags & REPORT_DEVICE;

	return by == BY_DEVICE ? has_devices : by == BY_THREAD ? !has_devices : true;
}

static void show_asked(struct work *w, const struct asked_report *asked)
{
	enum by by = w->context.by;

	if (!by_applies(by, asked->report)) {
		if (!w->line->quiet)
			say("%s: --by %s does not apply", asked->report->name, by_names[by]);
		w->context.by = BY_NOTHING;
	}
	w->context.kernel_name = asked->kernel_name;
	show_report(w, asked->report, true);
	w->context.kernel_name = KERNEL_DEMANGLED;
	w->context.by = by;
}

static void remark_ledger(struct work *w)
{
	struct buffer text = {0};

	if (w->line->quiet || !format_is_human(w->emit.format))
		return;
	ledger_line(&w->model, &text);
	progress_clear();
	emit_remark(&w->emit, text.data);
	buffer_done(&text);
}

static void show_summary(struct work *w)
{
	struct buffer text = {0};

	summary_text(&w->context, &text);
	progress_clear();
	fwrite(text.data, 1, text.size, w->emit.file);
	buffer_done(&text);
}

static int run_stats(const struct command_line *l)
{
	struct work w;
	int status;

	status = work_begin(&w, l);
	if (status)
		return status;
	if (l->summary) {
		show_summary(&w);
		return work_end(&w);
	}
	w.emit.is_list = l->report_count != 1;
	emit_begin(&w.emit);
	for (size_t i = 0; i < l->report_count; i++)
		show_asked(&w, &l->reports[i]);
	for (size_t i = 0; i < report_count && !l->report_count; i++)
		if (report_list[i].flags & REPORT_DEFAULT && by_applies(l->by, &report_list[i]))
			show_report(&w, &report_list[i], false);
	remark_ledger(&w);
	emit_end(&w.emit);
	return work_end(&w);
}

static int run_info(const struct command_line *l)
{
	static const char *const parts[] = {"calls_in_progress", "processes", "settings", "not_recorded", "ledger"};
	struct work w;
	int status = work_begin(&w, l);

	if (status)
		return status;
	w.emit.is_list = true;
	emit_begin(&w.emit);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const struct report *r = report_find(parts[i]);
		struct table table = {0};
		struct buffer text = {0};
		struct err err;

		r->run(&w.context, &table, &err);
		progress_clear();
		buffer_print(&text, "** %s: none", r->title);
		if (table_rows(&table) || !format_is_human(l->format))
			emit_table(&w.emit, r->name, r->title, &table);
		else
			emit_remark(&w.emit, text.data);
		buffer_done(&text);
		table_done(&table);
	}
	emit_end(&w.emit);
	return work_end(&w);
}

/* Whether what was asked for makes sense, before anything is read. */
static int check_export(const struct command_line *l)
{
	const struct export_type *type = l->type;

	if (!type)
		say("which type? -t TYPE, see pillion export --help");
	else if (type->flags & EXPORT_LATER)
		say("%s: not yet in this version", type->name);
	else if (type->missing)
		say("%s: this build has no %s", type->name, type->missing);
	else if (l->is_metric_given && !(type->flags & EXPORT_METRIC))
		say("--metric does not apply to %s", type->name);
	else if (!l->capture_count)
		say("which capture? See pillion export --help");
	else
		return EXIT_DONE;
	return EXIT_UNUSABLE;
}

static int export_to(struct work *w, const char *path)
{
	const struct command_line *l = w->line;
	struct export x = {.context = &w->context, .metric = l->metric, .is_metric_given = l->is_metric_given};
	struct err err;
	int code;

	progress_begin(l->type->name, w->model.trace_bytes);
	code = export_write(&x, l->type, path, l->is_forced, &err);
	if (code)
		say("%s", err.text);
	else if (!l->output && !l->quiet)
		say("wrote %s", path);
	return code == -ENODATA ? EXIT_INCOMPLETE : code ? EXIT_UNUSABLE : EXIT_DONE;
}

static int run_export(const struct command_line *l)
{
	struct command_line opening = *l;
	struct buffer name = {0};
	struct work w;
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
	buffer_done(&name);
	if (exported > w.status)
		w.status = exported;
	return work_end(&w);
}

static int run_pack(const struct command_line *l)
{
	struct pack_wish wish = {l->captures, l->capture_count, l->output, l->is_forced, l->is_replacing};
	struct buffer path = {0};
	struct err err;
	int code;

	if (!l->capture_count || (l->is_replacing && (l->capture_count > 1 || l->output))) {
		say(l->capture_count ? "--replace takes one capture and no -o" : "which capture? See pillion pack --help");
		return EXIT_UNUSABLE;
	}
	progress_begin("packing", 0);
	code = pack_write(&wish, &path, &err);
	progress_clear();
	if (code)
		say("%s", err.text);
	else if (!l->quiet && (!l->output || l->is_replacing))
		say("wrote %s", path.data);
	buffer_done(&path);
	return code ? EXIT_UNUSABLE : EXIT_DONE;
}

static int run_unpack(const struct command_line *l)
{
	struct buffer path = {0};
	struct err err;
	int code;

	if (l->capture_count != 1) {
		say("which packed file? See pillion unpack --help");
		return EXIT_UNUSABLE;
	}
	code = pack_extract(l->captures[0], l->output, &path, &err);
	if (code)
		say("%s", err.text);
	else if (!l->quiet && !l->output)
		say("wrote %s", path.data);
	buffer_done(&path);
	return code == -EBADMSG ? EXIT_INCOMPLETE : code ? EXIT_UNUSABLE : EXIT_DONE;
}

/* is_asked: by its name, so that not having been able to look is a failure. */
static void show_rule(struct work *w, struct rules *rules, const struct rule *rule, bool is_asked)
{
	struct finding f;
	struct buffer text = {0};

	progress_begin(rule->name, w->model.trace_bytes);
	rule_run(rules, rule, &f);
	progress_clear();
	emit_table(&w->emit, rule->name, rule->title, &f.table);
	if (f.verdict == VERDICT_UNCHECKED) {
		if (is_asked || !w->line->quiet)
			say("%s: could not check: %s", rule->name, f.text.data);
		if (is_asked)
			w->status = EXIT_INCOMPLETE;
	} else if (f.verdict == VERDICT_FOUND && !w->line->quiet && format_is_human(w->emit.format)) {
		buffer_print(&text, "%s. %s", f.text.data ? f.text.data : "", rule->advice);
		emit_remark(&w->emit, text.data);
	}
	buffer_done(&text);
	finding_done(&f);
}

static int run_analyze(const struct command_line *l)
{
	struct rules rules = {0};
	struct work w;
	int status = work_begin(&w, l);

	if (status)
		return status;
	rules.context = &w.context;
	w.emit.is_list = l->rule_count != 1;
	emit_begin(&w.emit);
	for (size_t i = 0; i < l->rule_count; i++)
		show_rule(&w, &rules, l->rules[i], true);
	for (size_t i = 0; i < rule_count && !l->rule_count; i++)
		show_rule(&w, &rules, &rule_list[i], false);
	remark_ledger(&w);
	emit_end(&w.emit);
	rules_done(&rules);
	return work_end(&w);
}

/* ---- usage ---- */

static void print_verbs(FILE *out)
{
	fputs("usage: pillion-report VERB [OPTION]... CAPTURE...\n\n", out);
	for (size_t i = 0; i < VERBS; i++)
		fprintf(out, "  %-9s %s\n", verbs[i].name, verbs[i].help);
	fputs("\npillion-report VERB --help tells a verb's options.\n", out);
}

static void print_reports(FILE *out)
{
	fputs("\nreports (* in the default set):\n", out);
	for (size_t i = 0; i < report_count; i++) {
		const struct report *r = &report_list[i];

		if (!(r->flags & (REPORT_HIDDEN | REPORT_LATER)))
			fprintf(out, " %c%-24s %s%s%s%s\n", r->flags & REPORT_DEFAULT ? '*' : ' ', r->name, r->title,
				r->alias ? " (" : "", r->alias ? r->alias : "", r->alias ? ")" : "");
	}
}

static void print_rules(FILE *out)
{
	fputs("\nrules, all of them without -r:\n", out);
	for (size_t i = 0; i < rule_count; i++)
		fprintf(out, "  %-18s %s%s%s%s\n", rule_list[i].name, rule_list[i].title, rule_list[i].alias ? " (" : "",
			rule_list[i].alias ? rule_list[i].alias : "", rule_list[i].alias ? ")" : "");
}

static void print_exports(FILE *out)
{
	fputs("\ntypes:\n", out);
	for (size_t i = 0; i < export_count; i++) {
		const struct export_type *t = &export_list[i];

		fprintf(out, "  %-11s %s%s%s%s%s\n", t->name, t->title, t->flags & EXPORT_LATER ? " (not yet)" : "",
			t->missing ? " (this build has no " : "", t->missing ? t->missing : "", t->missing ? ")" : "");
	}
	fputs("\nWithout -o the file bears the name of the first capture: report1.sqlite for report1.pillion.\n", out);
}

static void print_help(const struct verb *v)
{
	printf("usage: pillion %s %s\n%s\n\n", v->name, v->usage, v->help);
	command_line_help(v->bit, stdout);
	if (v->bit == VERB_STATS)
		print_reports(stdout);
	if (v->bit == VERB_ANALYZE)
		print_rules(stdout);
	if (v->bit == VERB_EXPORT)
		print_exports(stdout);
	puts("\nexit status: 0 done, 1 done but something is missing or damaged, 2 wrong usage or unreadable input");
}

static int run_verb(const struct verb *v, int argc, char **argv)
{
	struct command_line line;
	struct err err;
	int status = EXIT_DONE;

	verb_now = v;
	if (command_line_parse(v->bit, argc, argv, &line, &err)) {
		say("%s", err.text);
		status = EXIT_UNUSABLE;
	} else if (line.help) {
		print_help(v);
	} else if (line.version) {
		puts("pillion-report " PILLION_VERSION);
	} else {
		status = v->run(&line);
	}
	command_line_done(&line);
	return status;
}

static int unknown_verb(const char *typed)
{
	const char *names[VERBS], *best;

	for (size_t i = 0; i < VERBS; i++)
		names[i] = verbs[i].name;
	best = nearest(typed, names, VERBS);
	say("unknown verb '%s'%s%s%s", typed, best ? ", did you mean " : ", see --help", best ? best : "",
	    best ? "?" : "");
	return EXIT_UNUSABLE;
}

int main(int argc, char **argv)
{
	mem_failed = out_of_memory;
	reader_progress = progress_add;
	progress.start = time(NULL);
	progress.is_wanted = isatty(STDERR_FILENO);
	if (argc < 2) {
		print_verbs(stderr);
		return EXIT_UNUSABLE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_verbs(stdout);
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("pillion-report " PILLION_VERSION);
		return EXIT_DONE;
	}
	for (size_t i = 0; i < VERBS; i++)
		if (!strcmp(argv[1], verbs[i].name))
			return run_verb(&verbs[i], argc - 2, argv + 2);
	return unknown_verb(argv[1]);
}
