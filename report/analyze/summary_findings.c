/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of the summary about what to fix. */
#include "report/analyze/summary_findings.h"

#include "report/analyze/summary_time.h"
#include "report/base/text.h"
#include "report/derive/stacks/frame.h"

/* Widths of texts, and of a caller's line. */
enum { FINDING_WIDTH = 140, FIRST_WIDTH = 200, LINE_WIDTH = 48 };

void summary_find_callers(const struct report_context *c, struct finding *found, size_t count,
			  struct fix_first *first)
{
	struct caller_query queries[SUMMARY_FINDINGS + 2];
	size_t n = 0;

	for (size_t i = 0; i < count && i < SUMMARY_FINDINGS; i++)
		queries[n++] = rule_caller(&found[i].line, &found[i].called_from);
	for (size_t i = 0; i < first->count && i < 2; i++)
		queries[n++] = rule_caller(&first->items[i].line, &first->items[i].called_from);
	callers_find(c, queries, n);
}

/* ", called from train.py:8" */
static void summary_called_from(const struct buffer *called_from, struct buffer *out)
{
	if (!called_from->size)
		return;
	buffer_text(out, ", called from ");
	text_fit(out, frame_file(called_from->data), LINE_WIDTH);
}

/* What is outside of the job is told even if it is not known what it costs. */
static uint64_t worth_of(const struct finding *f)
{
	return f->rule->flags & (RULE_OUTSIDE | RULE_PART) ? f->cost_ns : f->saves.saved_ns;
}

void summary_findings(const struct finding *found, size_t count, uint64_t wall_ns, const struct fix_first *first,
		      struct buffer *out)
{
	const struct fix_first_cause *inside = fix_first_inside(first);
	size_t shown = 0;

	for (size_t i = 0; i < count && shown < SUMMARY_FINDINGS_SHOWN; i++) {
		struct buffer text = {0};

		if ((first->count && &found[i] == first->items->finding) || (inside && &found[i] == inside->finding) ||
		    (!(found[i].rule->flags & RULE_NOT_TIME) && worth_of(&found[i]) < fix_first_least(wall_ns)))
			continue;
		fix_first_words(&found[i], &text);
		buffer_print(out, "%-*s ", SUMMARY_LABEL, "also");
		text_fit(out, text.data, FINDING_WIDTH);
		summary_called_from(&found[i].called_from, out);
		buffer_text(out, "\n");
		shown++;
		buffer_done(&text);
	}
}

/* " (0.500 s to 0.900 s)", where the interval is wide: a quarter of what is saved. */
static void add_interval(const struct saving *s, struct buffer *out)
{
	struct buffer low = {0}, high = {0};

	rule_time(&low, s->low_ns);
	rule_time(&high, s->high_ns);
	if (s->low_ns && s->high_ns - s->low_ns > s->saved_ns / 4)
		buffer_print(out, " (%s to %s)", low.data, high.data);
	buffer_done(&low);
	buffer_done(&high);
}

static void summary_first_line(const char *title, const char *text, const struct fix_first_cause *cause,
			       struct buffer *out)
{
	struct buffer cost = {0};

	buffer_print(out, "%-*s ", SUMMARY_LABEL, title);
	text_fit(out, text, FIRST_WIDTH);
	summary_called_from(&cause->called_from, out);
	rule_time(&cost, cause->saves.saved_ns);
	/* What costs no time has a saving only as its rank. */
	if (!cause->finding || !(cause->finding->rule->flags & RULE_NOT_TIME)) {
		buffer_print(out, "; saves %s%s%s", cost.data, cause->how ? " " : "", cause->how ? cause->how : "");
		add_interval(&cause->saves, out);
	}
	buffer_text(out, "\n");
	buffer_done(&cost);
}

void summary_first(const struct fix_first *first, struct buffer *out)
{
	const struct fix_first_cause *within = fix_first_inside(first);
	struct buffer inside = {0};

	if (first->count)
		summary_first_line("FIX FIRST", first->items->text.data, first->items, out);
	if (within) {
		buffer_print(&inside, "within the job: %s", within->text.data);
		summary_first_line("", inside.data, within, out);
	}
	buffer_done(&inside);
}
