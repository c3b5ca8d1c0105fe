/* SPDX-License-Identifier: Apache-2.0 */
/* How a verb begins and ends, and its messages. */
#include "report/verbs/verb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/base/text.h"
#include "report/events/cuda/graph_estimate.h"
#include "report/events/nvtx/filter_nvtx.h"
#include "report/tables/run/ledger.h"
#include "report/time/clocks/align.h"
#include "report/verbs/output/destination.h"
#include "report/verbs/output/envelope.h"
#include "report/verbs/output/pager.h"

enum { VERB_HELP_COLUMN = 27, TERMINAL_ROWS = 20 };

const struct verb *verb_now;

void say(const char *format, ...)
{
	SCOPED(buffer) line = {0}, safe = {0}, wrapped = {0};
	va_list list;

	va_start(list, format);
	buffer_vprint(&line, format, list);
	va_end(list);
	progress_clear();
	if (envelope_is_open()) {
		envelope_message(buffer_string(&line));
	} else {
		buffer_print(&safe, "pillion%s%s: ", verb_now ? " " : "", verb_now ? verb_now->name : "");
		text_escape(&safe, buffer_string(&line), "");
		text_wrap(&wrapped, safe.data, isatty(STDERR_FILENO) ? terminal_columns(STDERR_FILENO) : 0, 2);
		fprintf(stderr, "%s\n", wrapped.data);
	}
}

void work_text(struct work *w, const char *name, const struct buffer *text)
{
	if (envelope_is_open())
		envelope_text(name, buffer_string(text));
	else
		fwrite(buffer_string(text), 1, text->size, w->emit.file);
}

void work_remark_source(struct work *w, unsigned int flags)
{
	SCOPED(buffer) text = {0}, estimates = {0};

	if (w->line->quiet || !w->model.image_count || !format_is_human(w->emit.format))
		return;
	if (flags & REPORT_DEVICE)
		device_remark(&w->model, &text);
	if (flags & REPORT_ATTRIBUTED)
		graph_estimate_remark(&w->context, &estimates);
	if (estimates.size)
		buffer_print(&text, "%s%s", text.size ? "; " : "", estimates.data);
	if (flags & REPORT_PEAK) {
		buffer_text(&text, text.size ? "; " : "");
		device_peak_remark(&w->model, &text);
	}
	if (text.size)
		emit_remark(&w->emit, text.data);
}

void work_marked(struct work *w, const char *text, const char *mark, enum colour colour)
{
	bool is_shown = w->paged || w->emit.file == stdout;
	const char *at = is_shown && *colour_begin(colour) ? strstr(text, mark) : NULL;

	while (at && at > text && at[-1] != '\n')
		at = strstr(at + 1, mark);
	if (at)
		fprintf(w->emit.file, "%.*s%s%s%s", (int)(at - text), text, colour_begin(colour), mark, colour_end());
	fputs(at ? at + strlen(mark) : text, w->emit.file);
	if (!*text || text[strlen(text) - 1] != '\n')
		fputc('\n', w->emit.file);
}

int say_all(const struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		say("%s", texts->items[i]);
	return texts->count ? EXIT_INCOMPLETE : EXIT_DONE;
}

size_t terminal_columns(int descriptor)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (columns && atoi(columns) > 0)
		return (size_t)atoi(columns);
	return ioctl(descriptor, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

/* Sums have no time, so they cannot be divided. */
static void say_cancelled(struct model *m)
{
	for (size_t i = 0; i < m->ranges_count; i++)
		if (m->ranges[i].has_cancelled) {
			texts_add(&m->problems, "the sums of profile mode include cancelled ranges");
			return;
		}
}

static int open_aligned(struct model *m, const struct command_line *l, struct share *share, struct err *err)
{
	int code = model_open_shared(m, l->captures, l->capture_count, share, err);

	if (!code && share_failure(share))
		code = err_set(err, -EIO, "%s", share_failure(share));
	if (!code)
		align_hosts(m);
	if (!code && m->has_profile)
		say_cancelled(m);
	else if (!code)
		filter_cancelled(m);
	return code;
}

/* Output for people on a terminal has few rows and may be paged. */
static void work_terminal(struct work *w)
{
	w->emit.columns = pager_has_reader() ? terminal_columns(STDOUT_FILENO) : 0;
	w->emit.is_screen = w->emit.columns && w->emit.format == FORMAT_COLUMN && !w->line->is_nsys;
	if (!pager_has_reader() || w->line->summary || !format_is_human(w->emit.format))
		return;
	w->emit.rows = w->line->source ? 0 : TERMINAL_ROWS;
	w->paged = w->line->is_listed ? NULL : pager_begin();
	if (w->paged)
		w->emit.file = w->paged;
}

void work_table(struct work *w, const char *name, const char *title, const struct table *t)
{
	bool has_asides = w->emit.is_screen && w->emit.rows && t->aside_count && t->aside_count < table_rows(t);
	struct table shown = has_asides ? table_without_asides(t) : *t;
	size_t rows = table_rows(&shown) - emit_rows_cut(&w->emit, &shown);
	SCOPED(buffer) text = {0};

	if (envelope_is_open())
		envelope_table(name, t, rows);
	else
		emit_table(&w->emit, name, title, &shown);
	if (has_asides) {
		free(shown.cells);
		free(shown.absent);
	}
	if (envelope_is_open() || rows == table_rows(t))
		return;
	buffer_print(&text, "%zu of %zu rows%s%s; --top=0 shows all", rows, table_rows(t),
		     has_asides ? ", without " : "", has_asides ? t->aside_words : "");
	if (format_is_human(w->emit.format))
		emit_remark(&w->emit, text.data);
	else if (!w->line->quiet)
		say("%s: %s", name, text.data);
}

static int output_open(struct work *w)
{
	const struct command_line *l = w->line;
	const char *path = l->output && strcmp(l->output, "-") != 0 ? l->output : NULL;

	if (share_self(w->model.share))
		path = "/dev/null"; /* part 0 prints */
	w->emit = (struct emit){.file = stdout, .format = l->format, .unit = l->unit, .is_nsys = l->is_nsys};
	if (l->is_json)
		path = "/dev/null"; /* the envelope has all, and is written at the end */
	else if (!path)
		work_terminal(w);
	if (l->top != TOP_DEFAULT)
		w->emit.rows = l->top;
	if (path)
		w->emit.file = private_file(path);
	if (w->emit.file)
		return EXIT_DONE;
	say("%s: %s", path, strerror(errno));
	return EXIT_UNUSABLE;
}

static bool was_refused;

bool work_was_refused(void)
{
	return was_refused;
}

/* Verbs that read events, and nothing else. */
static bool verb_reads_events(void)
{
	static const unsigned int verbs = VERB_EXPORT | VERB_VIEW | VERB_QUERY | VERB_OPS | VERB_ANALYZE |
					  VERB_CRITICAL | VERB_WHATIF;

	return verb_now && verb_now->bit & verbs;
}

/* The part of the command line that a capture of --mode=profile cannot answer; NULL: there is none. Sums have neither
 * times nor threads. */
static const char *refused_in_profile(const struct command_line *l)
{
	return verb_reads_events()				   ? "its events are"
	       : l->filter_time					   ? "--filter-time: times are"
	       : l->filter_nvtx					   ? "--filter-nvtx: ranges are"
	       : l->by == BY_THREAD				   ? "--by thread: threads are"
	       : l->by == BY_RANGE				   ? "--by range: times are"
								   : NULL;
}

static void spool_problem(struct model *m, const struct run_record *run)
{
	enum spool_state state = model_spool(m, run);
	SCOPED(buffer) text = {0};

	if (state != SPOOL_MOVED && state != SPOOL_MOVING) {
		model_spool_text(m, run, state, &text);
		texts_add(&m->problems, "%s", text.data);
	}
}

int work_begin(struct work *w, const struct command_line *l)
{
	return work_begin_shared(w, l, NULL);
}

int work_begin_shared(struct work *w, const struct command_line *l, struct share *share)
{
	bool prints = !share_self(share);
	const char *refused;
	struct err err;

	*w = (struct work){.line = l};
	if (!l->capture_count) {
		say("no CAPTURE given%s; see pillion %s --help",
		    verb_now->bit & VERB_NEWEST ? ", and none in this directory" : "", verb_now->name);
		return EXIT_UNUSABLE;
	}
	progress_begin("opening", 0);
	if (open_aligned(&w->model, l, share, &err) ||
	    (l->filter_time && !w->model.has_profile && filter_time(&w->model, l->filter_time, &err)) ||
	    (l->filter_nvtx && !w->model.has_profile && filter_nvtx(&w->model, l->filter_nvtx, &err))) {
		progress_clear();
		if (err.text[0])
			say("%s", err.text);
		return EXIT_UNUSABLE;
	}
	progress_clear();
	refused = w->model.has_profile ? refused_in_profile(l) : NULL;
	if (refused) {
		if (prints)
			say("%s " REPORT_NOT_IN_PROFILE, refused);
		was_refused = true;
		return EXIT_INCOMPLETE;
	}
	for (size_t i = 0; i < w->model.run_count; i++)
		spool_problem(&w->model, &w->model.runs[i]);
	w->status = prints ? say_all(&w->model.problems) : EXIT_DONE;
	w->context = (struct report_context){&w->model, l->by, symbols_new(&w->model, true), .lines_all = l->lines_all,
					     .is_inclusive = l->is_inclusive, .group = l->group,
					     .group_depth = l->group_depth, .sort = l->sort, .source = l->source,
					     .source_roots = l->source_roots.count ? &l->source_roots : NULL};
	return output_open(w);
}

int work_begin_output(struct work *w, const struct command_line *l)
{
	*w = (struct work){.line = l};
	return output_open(w);
}

/* The errno of the first failed write; 0: everything was written. */
static int write_error(FILE *file)
{
	if (fflush(file))
		return errno;
	if (!ferror(file))
		return 0;
	/* errno has changed since the failure: writing one more byte fails for the same reason. */
	clearerr(file);
	return fputc('\n', file) == EOF || fflush(file) ? errno : EIO;
}

static void take_texts(void *context, size_t from, struct buffer *theirs)
{
	struct work *w = context;
	struct bytes bytes = bytes_of(theirs);
	const struct texts *mine = symbols_problems(w->context.symbols);

	(void)from;
	w->was_cut |= bytes_number(&bytes);
	while (bytes.left) {
		uint64_t length = bytes_number(&bytes);
		const char *text = (const char *)bytes_take(&bytes, length);
		bool is_known = !text;

		for (size_t i = 0; i < mine->count && !is_known; i++)
			is_known = strlen(mine->items[i]) == length && !memcmp(mine->items[i], text, length);
		for (size_t i = 0; i < w->theirs.count && !is_known; i++)
			is_known = strlen(w->theirs.items[i]) == length &&
				   !memcmp(w->theirs.items[i], text, length);
		if (!is_known)
			texts_add(&w->theirs, "%.*s", (int)length, text);
	}
}

void work_gather(struct work *w)
{
	const struct texts *mine = symbols_problems(w->context.symbols);
	SCOPED(buffer) message = {0};

	buffer_number(&message, mapping_was_cut());
	for (size_t i = 0; i < mine->count; i++) {
		buffer_number(&message, strlen(mine->items[i]));
		buffer_text(&message, mine->items[i]);
	}
	share_gather(w->model.share, &message, take_texts, w);
}

int work_end(struct work *w)
{
	bool prints = !share_self(w->model.share);
	int failed = prints ? write_error(w->emit.file) : 0;
	struct buffer ledger = {0};

	if (envelope_is_open() && w->model.image_count) {
		ledger_line(&w->model, &ledger);
		envelope_ledger(ledger.data);
		buffer_done(&ledger);
	}
	/* The end of a run does not list files without names. */
	if (prints && w->context.symbols && !w->line->quiet && !w->line->summary) {
		say_all(symbols_problems(w->context.symbols));
		say_all(&w->theirs);
	}
	if (w->paged) {
		int code;

		progress_clear();
		code = pager_end(w->paged);
		failed = failed ? failed : code;
	} else if (w->emit.file != stdout && fclose(w->emit.file) && !failed)
		failed = errno;
	if (failed) {
		say("%s: %s", w->line->output ? w->line->output : "standard output", strerror(failed));
		w->status = EXIT_UNUSABLE;
	}
	if (prints && (mapping_was_cut() || w->was_cut)) {
		say("damaged: a file was truncated while it was read, or has holes on a full disk; the rest is read");
		w->status = w->status ? w->status : EXIT_INCOMPLETE;
	}
	progress_clear();
	return w->status;
}

void work_ledger(struct work *w)
{
	SCOPED(buffer) text = {0};

	if (w->line->quiet || !format_is_human(w->emit.format))
		return;
	ledger_line(&w->model, &text);
	progress_clear();
	emit_remark(&w->emit, text.data);
}

void verb_help_row(const char *mark, const char *name, const char *text, const char *note, struct text *ret)
{
	char left[64], help[512];

	snprintf(left, sizeof(left), "%s%s", mark, name);
	snprintf(help, sizeof(help), "%s%s%s%s", text, note ? " (" : "", note ? note : "", note ? ")" : "");
	option_help_entry(left, VERB_HELP_COLUMN, help, ret);
}
