/* SPDX-License-Identifier: Apache-2.0 */
/* analyze: rules that find performance problems. */
#include <string.h>

#include "report/answers/answer_tables.h"
#include "report/answers/summary/summary_parts.h"
#include "report/verbs/output/envelope.h"
#include "report/verbs/verb.h"

/* The rules to run: those named by the user, else all. */
static size_t chosen_count(const struct command_line *l)
{
	return l->rule_count ? l->rule_count : rule_count;
}

static const struct rule *chosen_rule(const struct command_line *l, size_t i)
{
	return l->rule_count ? l->rules[i].rule : &rule_list[i];
}

/* The exit status that follows from what a rule says. */
static void note_verdict(struct work *w, const struct finding *f)
{
	const struct command_line *l = w->line;

	progress_clear();
	if (f->verdict == VERDICT_FOUND && l->fail_on_found && (!l->fail_on || l->fail_on == f->rule))
		w->status = EXIT_FOUND;
	/* Named by the user: it is an error if the rule could not be checked. */
	if (f->verdict != VERDICT_UNCHECKED || !l->rule_count)
		return;
	say("%s: could not check: %s", f->rule->name, f->text.data);
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
static void show_tables(struct work *w)
{
	SCOPED(rules) rules = {.context = &w->context};

	for (size_t i = 0; i < chosen_count(w->line); i++) {
		SCOPED(finding) f = {0};

		progress_begin(chosen_rule(w->line, i)->name, w->model.trace_bytes);
		rule_run(&rules, chosen_rule(w->line, i), &f);
		note_verdict(w, &f);
		put_rows(w, i, &f, f.rule->title);
	}
}

/* Why the run ended comes before its rows: nothing is more urgent. */
static void show_finding(struct work *w, size_t i, const struct finding *f)
{
	SCOPED(buffer) text = {0};

	if (!finding_is_end(f))
		put_rows(w, i, f, f->rule->title);
	buffer_text(&text, buffer_string(&f->text));
	/* The table has the line in a column that a terminal may have no room for. */
	if (f->line && !finding_is_end(f)) {
		buffer_text(&text, text.size ? ": " : "");
		code_line_short(f->line, &text);
	}
	if (f->called_from.size)
		buffer_print(&text, "%scalled from %s", text.size ? ", " : "", f->called_from.data);
	buffer_print(&text, ". %s", f->rule->advice);
	if (!w->line->quiet)
		emit_remark(&w->emit, text.data);
	if (finding_is_end(f))
		put_rows(w, i, f, f->rule->title);
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

/* What the rules have found: why the run ended, then by what it would save. */
struct findings {
	struct answer answer;
	size_t *order;
	size_t ended; /* of the first kind */
};

/* The finding that FIX FIRST names comes next, also if it costs no time. */
static void put_first(struct findings *f)
{
	const struct answer *a = &f->answer;
	size_t i = f->ended, at;

	while (i < a->found_count && a->first.count && &a->found[f->order[i]] != a->first.items->finding)
		i++;
	if (!a->first.count || i == a->found_count)
		return;
	at = f->order[i];
	memmove(f->order + f->ended + 1, f->order + f->ended, (i - f->ended) * sizeof(*f->order));
	f->order[f->ended] = at;
}

/* Those that are of RULE_ENDED and were not found are not among the first ones. */
static void put_ended(struct findings *f)
{
	for (size_t i = 0; i < f->answer.found_count; i++) {
		size_t at = f->order[i];

		if (!finding_is_end(&f->answer.found[at]))
			continue;
		memmove(f->order + f->ended + 1, f->order + f->ended, (i - f->ended) * sizeof(*f->order));
		f->order[f->ended++] = at;
	}
}

static void findings_find(struct work *w, struct findings *ret)
{
	struct answer *a = &ret->answer;

	answer_begin(&w->context, chosen_count(w->line), a);
	for (size_t i = 0; i < chosen_count(w->line); i++) {
		progress_begin(chosen_rule(w->line, i)->name, w->model.trace_bytes);
		note_verdict(w, answer_run(a, chosen_rule(w->line, i)));
	}
	answer_finish(a, !w->line->rule_count);
	ret->order = places_in_order(a->found_count, findings_by_cost, a->found);
	ret->ended = 0;
	put_ended(ret);
	put_first(ret);
}

/* What the summary names first: it need not be the finding of a rule. */
static void show_first(struct work *w, const struct fix_first *first)
{
	SCOPED(buffer) text = {0};

	summary_first(first, &text);
	if (text.size && !w->line->quiet) {
		text.data[--text.size] = '\0'; /* the end of its line */
		emit_remark(&w->emit, text.data);
	}
}

/* How many rules could not be checked, and the most frequent reason. */
static void show_unchecked(struct work *w, const struct answer *a)
{
	size_t count = 0, most = 0;
	const char *reason = NULL;
	SCOPED(buffer) text = {0};

	for (size_t i = 0; i < a->found_count; i++) {
		size_t same = 0;

		if (a->found[i].verdict != VERDICT_UNCHECKED)
			continue;
		count++;
		for (size_t k = 0; k < a->found_count; k++)
			same += a->found[k].verdict == VERDICT_UNCHECKED &&
				!strcmp(a->found[k].text.data, a->found[i].text.data);
		if (same > most) {
			most = same;
			reason = a->found[i].text.data;
		}
	}
	buffer_print(&text, "could not check %zu rule%s", count, count == 1 ? "" : "s");
	if (most < count)
		buffer_print(&text, ", %zu of them because", most);
	buffer_print(&text, ": %s (--all lists them)", reason);
	emit_remark(&w->emit, text.data);
}

/* For people: why the run ended, what to fix first, the findings, what saves most first, then a line of the clean
 * rules and one of the others. */
static void show_findings(struct work *w)
{
	static struct findings f;
	SCOPED(buffer) clean = {0}, unchecked = {0};

	findings_find(w, &f);
	for (size_t i = 0; i < f.ended; i++)
		show_finding(w, f.order[i], &f.answer.found[f.order[i]]);
	show_first(w, &f.answer.first);
	for (size_t i = f.ended; i < f.answer.found_count; i++)
		if (f.answer.found[f.order[i]].verdict == VERDICT_FOUND)
			show_finding(w, f.order[i], &f.answer.found[f.order[i]]);
	for (size_t i = 0; i < f.answer.found_count; i++) {
		if (f.answer.found[i].verdict == VERDICT_CLEAN)
			buffer_print(&clean, "%s%s", clean.size ? ", " : "clean: ", f.answer.found[i].rule->name);
		if (f.answer.found[i].verdict == VERDICT_UNCHECKED)
			add_unchecked(f.answer.found, f.answer.found_count, i, &unchecked);
	}
	if (clean.size)
		emit_remark(&w->emit, clean.data);
	if (unchecked.size && (w->line->lists_all || w->line->rule_count))
		emit_remark(&w->emit, unchecked.data);
	else if (unchecked.size)
		show_unchecked(w, &f.answer);
}

/* Whose time it is. */
static void add_actor(struct table *t, const struct actor *a)
{
	SCOPED(buffer) pid = {0}, thread = {0};

	if (!a) {
		table_nothings(t, 3);
		return;
	}
	buffer_print(&pid, "%u", a->image->pid);
	actor_words(a, &thread);
	table_cells(t, image_rank(a->image), pid.data, thread.data);
}

static void add_cause(struct table *t, const struct fix_first_cause *cause, uint64_t wall_ns)
{
	table_cells(t, cause->rule, "found");
	answer_saving(t, &cause->saves, wall_ns);
	answer_text(t, buffer_string(&cause->text));
	answer_line(t, cause->line, false);
	answer_text(t, buffer_string(&cause->called_from));
	answer_frames(t, cause);
	add_actor(t, cause->actor);
	answer_text(t, buffer_string(&cause->edit));
	table_text(t, answer_advice(cause));
}

/* Whether one of the causes is that of the finding, or of something at its line. */
static bool is_among(const struct fix_first *causes, const struct finding *f)
{
	return list_find(cause, causes, cause->finding == f) || fix_first_at(causes, f->line);
}

/* The process of the first row. */
static void add_ended_actor(struct table *t, const struct finding *f)
{
	const char *thread = table_cell(&f->table, 0, COL_THREAD)->text;
	SCOPED(buffer) pid = {0};

	if (!f->table.absent[table_find(&f->table, COL_PID)])
		buffer_print(&pid, "%llu", (unsigned long long)table_cell(&f->table, 0, COL_PID)->count);
	answer_text(t, table_cell(&f->table, 0, COL_RANK)->text);
	answer_text(t, buffer_string(&pid));
	answer_text(t, thread);
}

/* What a rule says. Verdict minor: it has found something that would save little. */
static void add_finding(struct table *t, const struct answer *a, const struct finding *f, bool is_chosen)
{
	static const char *const words[] = {"clean", "found", "could_not_check"};
	bool is_found = f->verdict == VERDICT_FOUND, is_time = is_found && !finding_is_end(f);

	table_cells(t, f->rule->name, is_time && !is_chosen ? "minor" : words[f->verdict]);
	if (is_time)
		answer_saving(t, &f->saves, a->roles->wall_ns);
	else
		table_nothings(t, 4);
	answer_text(t, buffer_string(&f->text));
	answer_line(t, f->line, false);
	answer_text(t, buffer_string(&f->called_from));
	table_nothing(t);
	if (finding_is_end(f))
		add_ended_actor(t, f);
	else
		add_actor(t, is_found && f->line ? costs_actor(a->costs, f->line, NULL) : NULL);
	answer_text(t, buffer_string(&f->edit));
	table_text(t, f->rule->advice);
}

/* What `whatif --rank` has, and no finding stands for. Verdict candidate. */
static void add_candidates(struct table *t, const struct answer *a)
{
	const struct prices *all = costs_prices(a->costs);
	uint64_t least_ns = fix_first_least(a->roles->wall_ns);

	for (size_t i = 0; i < all->count && all->items[i].saves.saved_ns >= least_ns; i++) {
		const struct price *p = &all->items[i];
		const struct code_line *line = NULL;
		bool is_told = false;

		for (size_t k = 0; k < a->first.count && !is_told; k++)
			is_told = !strcmp(buffer_string(&a->first.items[k].edit), p->edit);
		for (size_t k = 0; k < a->found_count && !is_told; k++)
			is_told = !strcmp(buffer_string(&a->found[k].edit), p->edit) &&
				  !is_among(&a->first, &a->found[k]); /* which has no row then */
		if (is_told)
			continue;
		if (p->is_kernel || (p->what != NODE_NONE && text_begins_with(p->edit, "line~")))
			line = editable_line(&costs_causes(a->costs)->editables, p->what);
		table_cells(t, "whatif", "candidate");
		answer_saving(t, &p->saves, a->roles->wall_ns);
		table_nothing(t);
		answer_line(t, line, false);
		table_nothings(t, 5);
		table_cells(t, p->edit, NO_CELL);
	}
}

/* For --json: why the run ended; what to fix, what saves most first; then the answers, in a sentence each, of the rules
 * that say nothing about that. */
static void findings_table(const struct findings *f, bool is_chosen, struct table *ret, struct buffer *reason,
			   size_t *counts)
{
	const struct answer *a = &f->answer;

	table_has(ret, COL_RULE, COL_VERDICT, COL_SAVES_NS, COL_SAVES_LOW_NS, COL_SAVES_HIGH_NS, COL_SHARE_PERCENT,
		  COL_TEXT, COL_LINE, COL_CALLED_FROM, COL_FRAMES, COL_RANK, COL_PROCESS, COL_THREAD, COL_EDIT,
		  COL_ADVICE);
	for (size_t i = 0; i < f->ended; i++)
		add_finding(ret, a, &a->found[f->order[i]], is_chosen);
	for (size_t i = 0; i < a->first.count; i++)
		add_cause(ret, &a->first.items[i], a->roles->wall_ns);
	if (a->first.count && !f->ended)
		buffer_print(reason, "%s: %s", a->first.items->rule, a->first.items->text.data);
	for (size_t i = 0; i < a->found_count; i++) {
		const struct finding *one = &a->found[f->order[i]];
		bool is_found = one->verdict == VERDICT_FOUND;

		counts[one->verdict]++;
		if (is_found && !finding_is_end(one) && is_among(&a->first, one))
			continue;
		if (is_found && !reason->size)
			buffer_print(reason, "%s: %s. %s", one->rule->name, buffer_string(&one->text),
				     one->rule->advice);
		if (i >= f->ended)
			add_finding(ret, a, one, is_chosen);
	}
	if (!is_chosen)
		add_candidates(ret, a);
}

/* The table of findings; then the rows of the rules that found something. */
static void show_envelope(struct work *w)
{
	SCOPED(table) table = {0};
	SCOPED(buffer) reason = {0}, next = {0};
	size_t counts[3] = {0};
	static struct findings f;

	findings_find(w, &f);
	findings_table(&f, w->line->rule_count, &table, &reason, counts);
	counts[VERDICT_FOUND] += reason.size && !counts[VERDICT_FOUND];
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
	for (size_t i = 0; i < f.answer.found_count; i++)
		if (f.answer.found[f.order[i]].verdict == VERDICT_FOUND)
			put_rows(w, f.order[i], &f.answer.found[f.order[i]], NULL);
}

static int run_analyze(const struct command_line *l)
{
	static struct work w;
	int status = work_begin(&w, l);

	if (status)
		return status;
	w.emit.is_list = l->rule_count != 1;
	emit_begin(&w.emit);
	if (envelope_is_open())
		show_envelope(&w);
	else if (format_is_human(w.emit.format))
		show_findings(&w);
	else
		show_tables(&w);
	work_ledger(&w);
	emit_end(&w.emit);
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
