/* SPDX-License-Identifier: Apache-2.0 */
/* analyze: rules that find performance problems. */
#include "report/verb.h"

/* is_asked: named by the user, so that it is an error if the rule could not be checked. */
static void show_rule(struct work *w, struct rules *rules, const struct rule *rule, bool is_asked)
{
	struct finding f;
	struct buffer text = {0};

	progress_begin(rule->name, w->model.trace_bytes);
	rule_run(rules, rule, &f);
	progress_clear();
	work_table(w, rule->name, rule->title, &f.table);
	if (f.verdict == VERDICT_UNCHECKED) {
		if (is_asked || !w->line->quiet)
			say("%s: could not check: %s", rule->name, f.text.data);
		if (is_asked && w->status != EXIT_FOUND)
			w->status = EXIT_INCOMPLETE;
	} else if (f.verdict == VERDICT_FOUND && !w->line->quiet && format_is_human(w->emit.format)) {
		buffer_print(&text, "%s. %s", f.text.data ? f.text.data : "", rule->advice);
		emit_remark(&w->emit, text.data);
	}
	if (f.verdict == VERDICT_FOUND && w->line->fail_on_found && (!w->line->fail_on || w->line->fail_on == rule))
		w->status = EXIT_FOUND;
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
	"analyze", "[OPTION]... CAPTURE...", "rules that find performance problems: found, clean, or could not check",
	VERB_ANALYZE, run_analyze, more_help,
};
