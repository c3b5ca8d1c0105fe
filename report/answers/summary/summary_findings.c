/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the summary about what to fix. */
#include "report/answers/summary/summary_parts.h"

#include <stdlib.h>
#include <string.h>

#include "report/answers/summary/summary_time.h"
#include "report/base/table/name.h"
#include "report/base/text.h"
#include "report/names/code_line.h"

/* Widths of texts, of the words in them (paths, names), and of a caller's line. */
enum { FINDING_WIDTH = 240, FIRST_WIDTH = 300, NAME_WIDTH = 48, LINE_WIDTH = 48 };
enum { FRAMES_WIDTH = 72 }; /* of a place and a name: their times fit beside them */
enum { FIRST_MORE = 2 };

/* ", called from train.py:8" */
static void summary_called_from(const struct buffer *called_from, struct buffer *out)
{
	if (!called_from->size)
		return;
	buffer_text(out, ", called from ");
	text_fit(out, code_line_file(called_from->data), LINE_WIDTH);
}

/* Told even if it is not known which part of it can be saved. */
static uint64_t worth_of(const struct finding *f)
{
	return f->rule->flags & RULE_PART ? f->cost_ns : f->saves.saved_ns;
}

static bool is_told(const struct answer *a, const struct finding *f)
{
	return f->rule->flags & RULE_OUTSIDE || (a->first.count && f == a->first.items->finding);
}

void summary_findings(const struct answer *a, struct buffer *out)
{
	size_t *order = answer_order(a), shown = 0;

	for (size_t i = 0; i < a->found_count && i < SUMMARY_FINDINGS && shown < SUMMARY_FINDINGS_SHOWN; i++) {
		const struct finding *f = &a->found[order[i]];
		SCOPED(buffer) text = {0};

		if (f->verdict != VERDICT_FOUND)
			break;
		if (is_told(a, f) || (!(f->rule->flags & RULE_NOT_TIME) &&
				      worth_of(f) < fix_first_least(a->roles->wall_ns)))
			continue;
		fix_first_words(f, &text);
		buffer_print(out, "%-*s ", SUMMARY_LABEL, "found too");
		text_fit_sentence(out, buffer_string(&text), NAME_WIDTH, FINDING_WIDTH);
		summary_called_from(&f->called_from, out);
		buffer_text(out, "\n");
		shown++;
	}
	free(order);
}

/* "1.20 to 4.00 s", "at most 1.40 s"; "1.40 s" where both ends are printed alike. */
static void add_interval(const struct saving *s, struct buffer *out)
{
	SCOPED(buffer) low = {0}, high = {0};
	const char *unit, *low_unit;

	rule_time(&low, s->low_ns);
	rule_time(&high, s->high_ns);
	unit = strchr(high.data, ' ');
	low_unit = strchr(low.data, ' ');
	if (!s->low_ns)
		buffer_text(out, "at most ");
	else if (strcmp(low.data, high.data) != 0)
		buffer_print(out, "%.*s to ", (int)(!strcmp(unit, low_unit) ? (size_t)(low_unit - low.data) : low.size),
			     low.data);
	buffer_text(out, high.data);
}

/* Its time of its own, where it is not all of it; of a caller, that at a line that does much by itself. */
static void add_own(const struct fix_first_frame *f, bool is_caller, struct buffer *out)
{
	if (is_caller) {
		if (!f->own_place)
			return;
		buffer_text(out, ", ");
		rule_time(out, f->own_place_ns);
		buffer_print(out, " of it at %s", f->own_place);
		return;
	}
	if (f->own_ns * 100 < f->ns || f->own_ns * 100 > f->ns * 95)
		return;
	buffer_text(out, ", ");
	rule_time(out, f->own_ns);
	buffer_text(out, " its own");
}

/* The functions through which the time passes, each in a line, indented by depth. */
static void summary_frames(const struct fix_first_cause *cause, struct buffer *out)
{
	SCOPED(texts) places = {0}, names = {0};
	size_t wide = 0, wide_name = 0, last = 0;
	bool has_lines = array_find(frame, cause->frames, cause->frame_count, *frame->line);

	for (size_t i = 0; i < cause->frame_count; i++) {
		const struct fix_first_frame *f = &cause->frames[i];
		SCOPED(buffer) place = {0}, name = {0};

		text_fit(&place, *f->line ? code_line_file(f->line) : "", LINE_WIDTH);
		name_brief(&name, f->function);
		if (i + 1 == cause->frame_count && cause->callee && *cause->callee)
			buffer_print(&name, " (%s)", cause->callee);
		texts_add(&places, "%*s%s", has_lines ? (int)(2 * i) : 0, "", buffer_string(&place));
		buffer_clear(&place);
		text_fit(&place, name.data, NAME_WIDTH);
		texts_add(&names, "%*s%s", has_lines ? 0 : (int)(2 * i), "", buffer_string(&place));
		wide = text_width(places.items[i]) > wide ? text_width(places.items[i]) : wide;
		last = text_width(names.items[i]);
		if (last > wide_name && (i + 1 < cause->frame_count || wide + last <= FRAMES_WIDTH))
			wide_name = last;
	}
	for (size_t i = 0; i < cause->frame_count; i++) {
		size_t width = text_width(names.items[i]);

		buffer_print(out, "%*s %s%*s%s%s%*s  ", SUMMARY_LABEL, "", places.items[i],
			     (int)(wide - text_width(places.items[i])), "", has_lines ? "  " : "", names.items[i],
			     width < wide_name ? (int)(wide_name - width) : 0, "");
		rule_time(out, cause->frames[i].ns);
		add_own(&cause->frames[i], i + 1 < cause->frame_count, out);
		if (cause->frames[i].is_recursive)
			buffer_text(out, ", calls itself");
		buffer_text(out, "\n");
	}
}

/* A finding with its functions; with one of them, or as a further finding, in one line. */
static void summary_spine(const char *title, const struct fix_first_cause *cause, bool is_first, struct buffer *out)
{
	bool is_block = is_first && cause->frame_count > 1 && !cause->is_program;

	buffer_print(out, "%-*s ", SUMMARY_LABEL, title);
	if (is_block)
		buffer_print(out, "%.*s pass through these%s", (int)cause->frames_at, cause->text.data,
			     buffer_string(&cause->rest));
	else
		text_fit_sentence(out, cause->text.data, NAME_WIDTH, FIRST_WIDTH);
	buffer_text(out, "; a change there saves ");
	add_interval(&cause->saves, out);
	buffer_text(out, "\n");
	if (is_block)
		summary_frames(cause, out);
}

static void summary_first_line(const char *title, const struct fix_first_cause *cause, bool is_first,
			       struct buffer *out)
{
	/* one caller is in the line */
	bool is_block = is_first && cause->frame_count > (cause->is_of_callers || cause->awaited_at ? 1 : 2);
	bool is_work = cause->is_bound && !cause->is_last && !cause->how;
	SCOPED(buffer) whole = {0};
	struct saving saves = fix_first_told(cause, &whole);

	buffer_print(out, "%-*s ", SUMMARY_LABEL, title);
	if (is_block && cause->awaited_at)
		buffer_print(out, "%.*s, which compute here", (int)cause->awaited_at, cause->text.data);
	else
		text_fit_sentence(out, cause->text.data, NAME_WIDTH, FIRST_WIDTH);
	if (!cause->is_of_callers && !cause->awaited_at)
		summary_called_from(&cause->called_from, out);
	buffer_text(out, buffer_string(&whole));
	/* What costs no time has a saving only as its rank. */
	if (is_work || !cause->finding || !(cause->finding->rule->flags & RULE_NOT_TIME)) {
		buffer_text(out, is_work || cause->is_of_callers ? "; a change there saves " : "; saves ");
		add_interval(&saves, out);
		if (cause->how)
			buffer_print(out, " %s", cause->how);
	}
	buffer_text(out, "\n");
	if (is_block)
		summary_frames(cause, out);
}

void summary_outside(const struct answer *a, struct buffer *out)
{
	array_each(const struct finding, f, a->found, a->found_count) {
		if (f->verdict != VERDICT_FOUND || !(f->rule->flags & RULE_OUTSIDE))
			continue;
		buffer_print(out, "%-*s waited ", SUMMARY_LABEL, "");
		rule_time(out, f->cost_ns);
		buffer_text(out, " for a CPU: other programs held them\n");
	}
}

void summary_first(const struct fix_first *first, struct buffer *out)
{
	if (first->count && first->items->frames_at)
		summary_spine("FIX FIRST", first->items, true, out);
	else if (first->count)
		summary_first_line("FIX FIRST", first->items, true, out);
	for (size_t i = 1, shown = 0; i < first->count && shown < FIRST_MORE; i++)
		if (first->items[i].frames_at) {
			summary_spine("then", &first->items[i], false, out);
			shown++;
		} else if (first->items[i].is_balance) { /* no rule tells it */
			summary_first_line("then", &first->items[i], false, out);
			shown++;
		}
}
