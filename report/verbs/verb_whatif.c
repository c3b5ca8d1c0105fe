/* SPDX-License-Identifier: Apache-2.0 */
/* whatif: how long the run would have been with a change. */
#include <errno.h>

#include "report/causes/price.h"
#include "report/verbs/verb.h"
#include "report/verbs/verb_delay.h"

static void add_row(const char *edit, const struct saving *s, struct table *t)
{
	table_cells(t, edit, s->before_ns, s->after_ns, s->saved_ns, s->low_ns, s->high_ns);
}

static void add_edit(struct work *w, struct causality *s, const char *text, struct table *t)
{
	struct saving saving;
	struct err err;
	int code = price_find(s, text, &saving, &err);

	if (!code) {
		add_row(text, &saving, t);
		return;
	}
	say("%s%s", code == -ENODATA ? "cannot tell: " : "", err.text);
	w->status = code == -ENODATA && w->status != EXIT_UNUSABLE ? EXIT_INCOMPLETE : EXIT_UNUSABLE;
}

static void add_ranking(struct causality *s, struct table *t)
{
	SCOPED(prices) prices = {0};
	SCOPED(path) path = {0};

	path_find(s, UINT64_MAX, &path);
	prices_rank(s, &path, &prices);
	for (size_t i = 0; i < prices.count; i++)
		add_row(prices.items[i].edit, &prices.items[i].saves, t);
}

static int run_whatif(const struct command_line *l)
{
	struct command_line capture = *l;
	SCOPED(table) table = {0};
	static struct causality *s;
	static struct work w;
	int status;

	if (l->delay)
		return verb_delay(l);
	if (l->capture_count < 2 && !(l->is_ranking && l->capture_count)) {
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
	if (s && l->is_ranking)
		add_ranking(s, &table);
	for (size_t i = 1; i < l->capture_count && s; i++)
		add_edit(&w, s, l->captures[i], &table);
	if (!s) {
		say("cannot tell: nothing was recorded");
		w.status = EXIT_INCOMPLETE;
	}
	/* After a wrong edit alone, the message is all that there is to read. */
	if (table.cell_count || !format_is_human(w.emit.format)) {
		work_table(&w, "whatif", "What If", &table);
		work_ledger(&w);
	}
	emit_end(&w.emit);
	return work_end(&w);
}

static void more_help(struct text *ret)
{
	text_add(ret, "\nAn EDIT multiplies times (0.5x halves them, 0 removes them) or removes waits:\n"
		      "  line~FILE:N=0      calls and computing of a line     call~NAME=0      calls of a function\n"
		      "  function~A|B=0     all below functions; Low and High are what a change of them may save\n"
		      "  frames~A|B=0       likewise, of libraries, too, wherever they are called\n"
		      "  kernel~REGEX=0.5x  kernels                           copy=0.5x        copies of devices\n"
		      "  kernel~REGEX@FILE:N=0.5x  kernels that a line launches\n"
		      "  lock~FILE:N=0      waits for locks at a line         no-sync~FILE:N   all waits at a line\n"
		      "  rank~5=median      the work of a rank                overlap~nccl     kernels beside others\n"
		      "  gap~input=0        waits for input where operations are launched\n"
		      "  interpreter=0      waits of Python's threads for the interpreter lock\n"
		      "  workers=4          so many child processes of one program at a time\n"
		      "\n--delay 'call~fsync=2ms' COMMAND [ARG]... runs COMMAND with and without that delay after\n"
		      "each recorded call of fsync, in turn, and prints by how much the run becomes longer for\n"
		      "each second of delay: 1 if the calls are on the critical path, 0 if they have slack. Delays\n"
		      "of several threads add up. Of locks and semaphores only calls that wait are delayed. The\n"
		      "output of COMMAND is discarded.\n");
}

const struct verb verb_whatif = {
	"whatif", "[OPTION]... CAPTURE [EDIT]... | --delay call~NAME=TIME COMMAND [ARG]...",
	"how long the run would have been with a change", VERB_WHATIF, run_whatif, more_help,
	"0 done, 1 done but an edit cannot be computed or something is damaged, 2 wrong usage or unreadable input",
};
