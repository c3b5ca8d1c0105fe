/* SPDX-License-Identifier: Apache-2.0 */
/* whatif: how long the run would have been with a change. */
#include <errno.h>
#include <string.h>

#include "report/derive/causes/saving.h"
#include "report/verb.h"

static void add_edit(struct work *w, struct causality *s, const char *text, struct table *t)
{
	struct saving saving;
	struct edit edit;
	struct err err;
	int code;

	edit_init(&edit, s);
	code = edit_parse(s, text, &edit, &err);
	if (code) {
		say("%s%s", code == -ENODATA ? "cannot tell: " : "", err.text);
		w->status = code == -ENODATA && w->status != EXIT_UNUSABLE ? EXIT_INCOMPLETE : EXIT_UNUSABLE;
	} else {
		saving_find(s, &edit, &saving);
		table_text(t, text);
		table_number(t, saving.before_ns);
		table_number(t, saving.after_ns);
		table_number(t, saving.saved_ns);
		table_number(t, saving.low_ns);
		table_number(t, saving.high_ns);
	}
	edit_done(&edit);
}

static int run_whatif(const struct command_line *l)
{
	struct command_line capture = *l;
	struct table table = {0};
	struct causality *s;
	struct work w;
	int status;

	if (l->capture_count < 2) {
		say("a capture and an edit are missing: pillion whatif CAPTURE 'line~job.py:12=0'");
		return EXIT_UNUSABLE;
	}
	capture.capture_count = 1;
	status = work_begin(&w, &capture);
	if (status)
		return status;
	emit_begin(&w.emit);
	table_has(&table, COL_EDIT);
	table_column_as(&table, COL_BEFORE_NS, COLUMN_NS);
	table_column_as(&table, COL_AFTER_NS, COLUMN_NS);
	table_has(&table, COL_SAVED_NS, COL_LOW_NS, COL_HIGH_NS);
	s = causes_find(&w.context);
	for (size_t i = 1; i < l->capture_count && s; i++)
		add_edit(&w, s, l->captures[i], &table);
	if (!s) {
		say("cannot tell: nothing was recorded");
		w.status = EXIT_INCOMPLETE;
	}
	work_table(&w, "whatif", "What If", &table);
	causes_free(s);
	table_done(&table);
	work_ledger(&w);
	emit_end(&w.emit);
	return work_end(&w);
}

static void more_help(struct text *ret)
{
	text_add(ret, "\nAn EDIT multiplies times (0.5x halves them, 0 removes them) or removes waits:\n"
		      "  line~FILE:N=0      calls and computing of a line     call~NAME=0      calls of a function\n"
		      "  kernel~REGEX=0.5x  kernels                           copy=0.5x        copies of devices\n"
		      "  lock~FILE:N=0      waits for locks at a line         no-sync~FILE:N   all waits at a line\n"
		      "  rank~5=median      the work of a rank\n");
}

const struct verb verb_whatif = {
	"whatif", "[OPTION]... CAPTURE EDIT...", "how long the run would have been with a change", VERB_WHATIF,
	run_whatif, more_help,
	"0 done, 1 done but an edit cannot be computed or something is damaged, 2 wrong usage or unreadable input",
};
