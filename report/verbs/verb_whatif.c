/* SPDX-License-Identifier: Apache-2.0 */
/* whatif: how long the run would have been with a change. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/causes/function.h"
#include "report/causes/path.h"
#include "report/verbs/verb.h"
#include "report/verbs/verb_delay.h"

/* --rank: edits at most, and the part of the run from which on one is worth a row. */
enum { RANKED_MOST = 100, RANKED_PART = 100 };

static void add_row(const char *edit, const struct saving *s, struct table *t)
{
	table_text(t, edit);
	table_number(t, s->before_ns);
	table_number(t, s->after_ns);
	table_number(t, s->saved_ns);
	table_number(t, s->low_ns);
	table_number(t, s->high_ns);
}

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
		if (!function_saving_named(s, text, &saving))
			saving_find(s, &edit, &saving);
		add_row(text, &saving, t);
	}
	edit_done(&edit);
}

/* ---- --rank ---- */

/* Adds an edit to the list unless it is there, with the most that it can save. */
static void add_choice(struct texts *edits, struct map *known, double *bounds, const char *text, double ns)
{
	uint64_t *place = map_put(known, hash_bytes(text, strlen(text)), 0, NULL);

	if (!*place && edits->count < RANKED_MOST) {
		texts_add(edits, "%s", text);
		*place = edits->count;
		bounds[edits->count - 1] = 0;
	}
	if (*place)
		bounds[*place - 1] += ns;
}

/* What has a part of the critical path that is worth a row: as lines, calls, kernels and ranks. */
static void add_choices(struct causality *s, const struct path *path, struct texts *edits, double *bounds)
{
	struct map known = {0};
	struct buffer text = {0};

	for (uint32_t i = 0; i < s->editables.count; i++) {
		const struct editable *e = &s->editables.items[i];
		double ns = path->by_what[i];

		if (ns * RANKED_PART < (double)s->run_ns)
			continue;
		buffer_clear(&text);
		buffer_text(&text, "line~");
		if (editable_place(&s->editables, i, &text)) {
			buffer_text(&text, "=0");
			add_choice(edits, &known, bounds, text.data, ns);
		}
		buffer_clear(&text);
		buffer_print(&text, "%s~%s=%s", e->kind == EDITABLE_KERNEL ? "kernel" : "call", e->name,
			     e->kind == EDITABLE_KERNEL ? "0.5x" : "0");
		if (*e->name && !strpbrk(e->name, "()[]*+?{}|\\^$.") &&
		    (e->kind == EDITABLE_KERNEL || e->kind == EDITABLE_CALL))
			add_choice(edits, &known, bounds, text.data, ns);
	}
	for (size_t i = 0; i < s->actor_count; i++)
		if (*image_rank(s->actors[i].image)) {
			buffer_clear(&text);
			buffer_print(&text, "rank~%s=median", image_rank(s->actors[i].image));
			add_choice(edits, &known, bounds, text.data, (double)s->run_ns);
		}
	map_done(&known);
	buffer_done(&text);
}

struct ranked_edit {
	size_t edit;
	struct saving saving;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked_edit *a = left, *b = right;

	return order_of(b->saving.saved_ns, a->saving.saved_ns) ?: order_of(a->edit, b->edit);
}

static void add_ranking(struct causality *s, struct table *t)
{
	struct texts edits = {0};
	double bounds[RANKED_MOST];
	struct ranked_edit ranked[RANKED_MOST];
	size_t count = 0;
	struct path path;
	struct err err;

	path_find(s, 0, UINT64_MAX, &path);
	add_choices(s, &path, &edits, bounds);
	for (size_t i = 0; i < edits.count; i++) {
		struct edit edit;

		edit_init(&edit, s);
		if (!edit_parse(s, edits.items[i], &edit, &err)) {
			ranked[count].edit = i;
			saving_find(s, &edit, &ranked[count++].saving);
		}
		edit_done(&edit);
	}
	if (count)
		qsort(ranked, count, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < count; i++)
		if (ranked[i].saving.saved_ns * RANKED_PART >= s->run_ns)
			add_row(edits.items[ranked[i].edit], &ranked[i].saving, t);
	path_done(&path);
	texts_done(&edits);
}

static int run_whatif(const struct command_line *l)
{
	struct command_line capture = *l;
	struct table table = {0};
	struct causality *s;
	struct work w;
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
	causes_free(s);
	table_done(&table);
	emit_end(&w.emit);
	return work_end(&w);
}

static void more_help(struct text *ret)
{
	text_add(ret, "\nAn EDIT multiplies times (0.5x halves them, 0 removes them) or removes waits:\n"
		      "  line~FILE:N=0      calls and computing of a line     call~NAME=0      calls of a function\n"
		      "  function~NAME=0    all below a function; Low and High are what a change of it may save\n"
		      "  kernel~REGEX=0.5x  kernels                           copy=0.5x        copies of devices\n"
		      "  lock~FILE:N=0      waits for locks at a line         no-sync~FILE:N   all waits at a line\n"
		      "  rank~5=median      the work of a rank                overlap~nccl     kernels beside others\n"
		      "  gap~input=0        waits for input where operations are launched\n"
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
