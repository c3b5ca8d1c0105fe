/* SPDX-License-Identifier: Apache-2.0 */
/* analyze: rules that find performance problems. */
#include <stdlib.h>
#include <string.h>

#include "report/envelope.h"
#include "report/verb.h"

/* The rules to run: those named by the user, else all. */
static size_t chosen_count(const struct command_line *l)
{
	return l->rule_count ? l->rule_count : rule_count;
}

static const struct rule *chosen_rule(const struct command_line *l, size_t i)
{
	return l->rule_count ? l->rules[i].rule : &rule_list[i];
}

static void run_rule(struct work *w, struct rules *rules, const struct rule *rule, struct finding *ret)
{
	const struct command_line *l = w->line;

	progress_begin(rule->name, w->model.trace_bytes);
	rule_run(rules, rule, ret);
	progress_clear();
	if (ret->verdict == VERDICT_FOUND && l->fail_on_found && (!l->fail_on || l->fail_on == rule))
		w->status = EXIT_FOUND;
	/* Named by the user: it is an error if the rule could not be checked. */
	if (ret->verdict != VERDICT_UNCHECKED || !l->rule_count)
		return;
	say("%s: could not check: %s", rule->name, ret->text.data);
	if (w->status != EXIT_FOUND)
		w->status = EXIT_INCOMPLETE;
}

/* The rows of the `i`th chosen rule, at most as many as RULE:rows=N says. */
static void put_rows(struct work *w, size_t i, const struct finding *f, const char *title)
{
	uint32_t rows = w->line->rule_count ? w->line->rules[i].rows : 0;
	size_t before = w->emit.rows;

	if (rows)
		w->emit.rows = rows;
	work_table(w, f->rule->name, title, &f->table);
	w->emit.rows = before;
}

/* A table for each rule, in the order of the list. */
static void show_tables(struct work *w, struct rules *rules)
{
	for (size_t i = 0; i < chosen_count(w->line); i++) {
		struct finding f;

		run_rule(w, rules, chosen_rule(w->line, i), &f);
		put_rows(w, i, &f, f.rule->title);
		finding_done(&f);
	}
}

static void show_finding(struct work *w, size_t i, const struct finding *f)
{
	struct buffer text = {0};

	put_rows(w, i, f, f->rule->title);
	buffer_text(&text, buffer_string(&f->text));
	if (f->called_from.size)
		buffer_print(&text, "%scalled from %s", text.size ? ", " : "", f->called_from.data);
	buffer_print(&text, ". %s", f->rule->advice);
	if (!w->line->quiet)
		emit_remark(&w->emit, text.data);
	buffer_done(&text);
}

/* Appends the rules that could not be checked for the same reason as rule `at`; the first of them has the reason. */
static void add_unchecked(const struct finding *all, size_t count, size_t at, struct buffer *ret)
{
	for (size_t i = 0; i < at; i++)
		if (all[i].verdict == VERDICT_UNCHECKED && !strcmp(all[i].text.data, all[at].text.data))
			return;
	buffer_text(ret, ret->size ? "; " : "could not check: ");
	for (size_t i = at; i < count; i++)
		if (all[i].verdict == VERDICT_UNCHECKED && !strcmp(all[i].text.data, all[at].text.data))
			buffer_print(ret, "%s%s", i == at ? "" : ", ", all[i].rule->name);
	buffer_print(ret, " (%s)", all[at].text.data);
}

static size_t *findings_in_order(struct work *w, struct rules *rules, struct finding *ret)
{
	size_t count = chosen_count(w->line);

	for (size_t i = 0; i < count; i++)
		run_rule(w, rules, chosen_rule(w->line, i), &ret[i]);
	rules_find_callers(rules->context, ret, count);
	return places_in_order(count, findings_by_cost, ret);
}

/* For people: the findings, the costliest first, then a line of the clean rules and one of the others. */
static void show_findings(struct work *w, struct rules *rules)
{
	size_t count = chosen_count(w->line);
	struct finding *all = mem_alloc(count * sizeof(*all) + 1);
	struct buffer clean = {0}, unchecked = {0};
	size_t *order;

	order = findings_in_order(w, rules, all);
	for (size_t i = 0; i < count; i++)
		if (all[order[i]].verdict == VERDICT_FOUND)
			show_finding(w, order[i], &all[order[i]]);
	for (size_t i = 0; i < count; i++) {
		if (all[i].verdict == VERDICT_CLEAN)
			buffer_print(&clean, "%s%s", clean.size ? ", " : "clean: ", all[i].rule->name);
		if (all[i].verdict == VERDICT_UNCHECKED)
			add_unchecked(all, count, i, &unchecked);
	}
	if (clean.size)
		emit_remark(&w->emit, clean.data);
	if (unchecked.size)
		emit_remark(&w->emit, unchecked.data);
	for (size_t i = 0; i < count; i++)
		finding_done(&all[i]);
	buffer_done(&clean);
	buffer_done(&unchecked);
	free(order);
	free(all);
}

static void add_text(struct table *t, const struct buffer *text)
{
	if (text->size)
		table_text(t, text->data);
	else
		table_nothing(t);
}

/* For --json: what each rule has found in a sentence, the costliest first; then the rows of those that found it. */
static void show_envelope(struct work *w, struct rules *rules)
{
	static const char *const words[] = {"clean", "found", "could_not_check"};
	size_t count = chosen_count(w->line), counts[3] = {0};
	struct finding *all = mem_alloc(count * sizeof(*all) + 1);
	size_t *order = findings_in_order(w, rules, all);
	struct table table = {0};
	struct buffer reason = {0}, next = {0};

	table_has(&table, COL_RULE, COL_VERDICT, COL_COST_NS, COL_TEXT, COL_LINE, COL_CALLED_FROM, COL_ADVICE);
	for (size_t i = 0; i < count; i++) {
		const struct finding *f = &all[order[i]];

		if (f->verdict == VERDICT_FOUND && !counts[VERDICT_FOUND])
			buffer_print(&reason, "%s: %s. %s", f->rule->name, buffer_string(&f->text), f->rule->advice);
		counts[f->verdict]++;
		table_text(&table, f->rule->name);
		table_text(&table, words[f->verdict]);
		table_number_if(&table, f->verdict == VERDICT_FOUND, f->cost_ns);
		add_text(&table, &f->text);
		add_text(&table, &f->line);
		add_text(&table, &f->called_from);
		table_text(&table, f->rule->advice);
	}
	if (!counts[VERDICT_FOUND])
		buffer_print(&reason, "%zu rules are clean, %zu could not be checked", counts[VERDICT_CLEAN],
			     counts[VERDICT_UNCHECKED]);
	envelope_verdict(counts[VERDICT_FOUND]	 ? VERDICT_FOUND
			 : counts[VERDICT_CLEAN] ? VERDICT_CLEAN
						 : VERDICT_UNCHECKED,
			 reason.data);
	if (counts[VERDICT_FOUND]) {
		buffer_print(&next, "pillion stats --json -r lines %s", w->line->captures[0]);
		envelope_next(next.data);
	}
	work_table(w, "findings", NULL, &table);
	for (size_t i = 0; i < count; i++)
		if (all[order[i]].verdict == VERDICT_FOUND)
			put_rows(w, order[i], &all[order[i]], NULL);
	for (size_t i = 0; i < count; i++)
		finding_done(&all[i]);
	table_done(&table);
	buffer_done(&reason);
	buffer_done(&next);
	free(order);
	free(all);
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
	if (envelope_is_open())
		show_envelope(&w, &rules);
	else if (format_is_human(w.emit.format))
		show_findings(&w, &rules);
	else
		show_tables(&w, &rules);
	work_ledger(&w);
	emit_end(&w.emit);
	rules_done(&rules);
	return work_end(&w);
}

static void more_help(struct text *ret)
{
	text_add(ret, "\nRules (default: all of them):\n");
	for (size_t i = 0; i < rule_count; i++)
		verb_help_row("  ", rule_list[i].name, rule_list[i].title, rule_list[i].alias, ret);
}

const struct verb verb_analyze = {
	"analyze", "[OPTION]... [CAPTURE]...", "rules that find performance problems: found, clean, or could not check",
	VERB_ANALYZE, run_analyze, more_help,
	"0 done, 1 done but something is missing or damaged, 2 wrong usage or unreadable input, 3 --fail-on applies",
};
