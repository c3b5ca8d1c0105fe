/* SPDX-License-Identifier: Apache-2.0 */
/* diff: what has changed between captures, and whether they have become slower. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/answers/diff/diff.h"
#include "report/page/html_diff.h"
#include "report/time/clocks/align.h"
#include "report/verbs/output/envelope.h"
#include "report/verbs/verb.h"

/* Slower and not known: what a continuous integration reads; see EXIT_UNUSABLE. */
enum { EXIT_WORSE = 1, EXIT_UNCLEAR = 2 };

static const char *const titles[DIFF_BY_COUNT] = {
	[DIFF_KERNEL] = "Changes by Device Operation", [DIFF_API] = "Changes by Function",
	[DIFF_LINE] = "Changes by Source Line",	       [DIFF_RANGE] = "Changes by NVTX Range",
	[DIFF_OP] = "Changes by PyTorch Operator",     [DIFF_RANK] = "Changes by Rank",
};

/* A page is made if it is asked for, or if the output is named like one. */
static bool wants_page(const struct command_line *l)
{
	const char *end = l->output ? strrchr(l->output, '.') : NULL;

	return l->format == FORMAT_HTML || (l->format == FORMAT_COLUMN && end && !strcmp(end, ".html"));
}

/* page: NULL: none is made. */
static int read_capture(const struct command_line *l, size_t at, struct diff *d, struct diff_page *page,
			struct gathered *ret)
{
	struct report_context context = {0};
	SCOPED(model) model = {0};
	struct err err;
	int code;

	progress_begin("reading", 0);
	code = model_open(&model, &l->captures[at], 1, &err);
	progress_clear();
	if (code) {
		say("%s", err.text); /* begins with the path */
	} else if (model.has_profile) {
		say("%s: its events are " REPORT_NOT_IN_PROFILE, l->captures[at]);
		code = -ENODATA;
	} else {
		align_hosts(&model);
		say_all(&model.problems);
		d->is_damaged |= model.problems.count > 0;
		context.model = &model;
		context.symbols = symbols_new(&model, true);
		if (d->by == DIFF_AUTO)
			d->by = gather_default(&model);
		code = gather(&context, d->by, l->over, ret, &err);
		if (page)
			diff_page_capture(page, &context, l->captures[at], at >= d->before);
		symbols_free(context.symbols);
		if (code)
			say("%s: %s", l->captures[at], err.text);
	}
	return code;
}

static void show(struct work *w, const struct diff *d)
{
	static const enum verdict verdicts[] = {VERDICT_CLEAN, VERDICT_FOUND, VERDICT_UNCHECKED};
	SCOPED(table) table = {0};
	SCOPED(buffer) reason = {0};

	diff_table(d, &table);
	diff_reason(d, &reason);
	envelope_verdict(verdicts[d->judgement.verdict], reason.data);
	if (d->judgement.verdict == DIFF_UNCLEAR)
		envelope_next("pillion diff BEFORE... -- AFTER...");
	emit_begin(&w->emit);
	work_table(w, "diff", titles[d->by], &table);
	if (!w->line->quiet)
		emit_remark(&w->emit, reason.data);
	emit_end(&w->emit);
}

/* The verdict is also said if the page is not on the terminal. */
static int write_page(struct work *w, const struct diff *d, struct diff_page *page)
{
	SCOPED(buffer) reason = {0};
	struct err err;
	int code = diff_page_write(page, d, titles[d->by], fileno(w->emit.file), &err);

	diff_reason(d, &reason);
	if (code)
		say("%s: %s", w->line->output ? w->line->output : "standard output", err.text);
	else if (!w->line->quiet)
		say("%s", buffer_string(&reason));
	return code ? EXIT_UNUSABLE : EXIT_DONE;
}

static int run_diff(const struct command_line *l)
{
	static const int statuses[] = {EXIT_DONE, EXIT_WORSE, EXIT_UNCLEAR};
	struct diff d = {.by = l->diff_by, .gate = l->gate,
			 .before = l->before_count ? l->before_count : 1};
	struct diff_page *page = wants_page(l) ? diff_page_new() : NULL;
	int status = EXIT_DONE, written = EXIT_DONE;
	static struct work w;

	if (l->capture_count <= d.before || (!l->before_count && l->capture_count != 2)) {
		say(l->capture_count < 2 ? "two captures are compared: pillion diff BEFORE AFTER"
					 : "several captures: pillion diff BEFORE... -- AFTER...");
		diff_page_free(page);
		return EXIT_UNUSABLE;
	}
	d.after = l->capture_count - d.before;
	d.captures = mem_alloc(l->capture_count * sizeof(*d.captures));
	for (size_t i = 0; i < l->capture_count && !status; i++)
		if (read_capture(l, i, &d, page, &d.captures[i]))
			status = EXIT_UNUSABLE;
	if (!status)
		status = work_begin_output(&w, l);
	if (!status) {
		diff_compare(&d);
		if (d.is_damaged && d.judgement.verdict == DIFF_NOT_WORSE)
			d.judgement.verdict = DIFF_UNCLEAR;
		if (page)
			written = write_page(&w, &d, page);
		else
			show(&w, &d);
		status = work_end(&w) ?: written;
		if (!status)
			status = statuses[d.judgement.verdict];
	}
	diff_page_free(page);
	diff_done(&d);
	array_free(capture, d.captures, l->capture_count, gathered_done(capture));
	return status;
}

static void more_help(struct text *ret)
{
	text_add(ret, "\nSeveral captures of a side, which show how much runs differ by themselves, are\n"
		      "separated by --:\n"
		      "  pillion diff old1.pillion old2.pillion old3.pillion -- new1.pillion ...\n"
		      "\nChange: after against before. Noise: its standard error. Share: of the change of\n"
		      "the total. A row is slower or faster if noise does not explain its change; line:\n"
		      "where its time changed most. Three to five captures of each side find a change\n"
		      "of all rows; of a single pair only what the other rows do not have in common.\n"
		      "\n-f html, or an output FILE.html: a page with the verdict, the rows and the flame\n"
		      "graphs of both sides, for any browser.\n");
}

const struct verb verb_diff = {
	"diff", "[OPTION]... BEFORE AFTER | BEFORE... -- AFTER...", "what has become slower between captures",
	VERB_DIFF, run_diff, more_help,
	"0 not worse, 1 worse, 2 cannot judge, wrong usage or unreadable input",
};
