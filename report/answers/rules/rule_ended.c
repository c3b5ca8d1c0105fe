/* SPDX-License-Identifier: Apache-2.0 */
/* out_of_memory, died_first, crash, deadlock, collective: what the summary begins with. */
#include <string.h>

#include "report/answers/summary/summary_ended.h"

/* The lines of the summary as one. */
static void add_text(const struct buffer *lines, struct finding *f)
{
	const char *at = buffer_string(lines);

	for (at += strspn(at, " \n"); *at; at += strspn(at, " \n")) {
		size_t length = strcspn(at, " \n");

		buffer_text(&f->text, f->text.size ? " " : "");
		buffer_add(&f->text, at, length);
		at += length;
	}
}

/* A row of the table `ended`, without its kind. */
static void add_row(const struct table *t, size_t row, struct finding *f)
{
	rule_row(f);
	for (size_t i = 1; i < t->column_count; i++) {
		size_t at = row * t->column_count + i;

		if (t->absent[at])
			table_nothing(&f->table);
		else if (t->columns[i].type == COLUMN_TEXT)
			table_text(&f->table, t->cells[at].text);
		else
			table_number(&f->table, t->cells[at].count);
	}
}

static void find_ended(struct rules *r, enum ended_kind kind, struct finding *f)
{
	const struct ended *e = rules_ended(r);
	enum column_id ids[TABLE_COLUMNS];
	const struct code_line *lines[ENDED_KINDS] = {NULL};
	SCOPED(table) t = {0};

	summary_ended(r, &t, lines);
	for (size_t i = 1; i < t.column_count; i++)
		ids[i - 1] = t.columns[i].id;
	rule_columns(f, ids, t.column_count - 1);
	for (size_t row = 0; row < table_rows(&t); row++)
		if (!strcmp(table_cell(&t, row, COL_KIND)->text, ended_words[kind]))
			add_row(&t, row, f);
	f->line = lines[kind];
	if (f->verdict == VERDICT_FOUND)
		add_text(&e->lines[kind], f);
	if (!r->context->model->process_count)
		rule_unchecked(f, "no process was recorded");
}

void rule_out_of_memory(struct rules *r, struct finding *f)
{
	find_ended(r, ENDED_MEMORY, f);
	if (!r->context->model->run_count)
		rule_unchecked(f, "no launcher watched the run");
}

void rule_died_first(struct rules *r, struct finding *f)
{
	find_ended(r, ENDED_DIED, f);
	if (!rules_ended(r)->has_ranks)
		rule_unchecked(f, "fewer than two ranks");
}

void rule_crash(struct rules *r, struct finding *f)
{
	find_ended(r, ENDED_CRASH, f);
	if (rules_ended(r)->has_ranks)
		rule_unchecked(f, "died_first looks at several ranks");
}

void rule_deadlock(struct rules *r, struct finding *f)
{
	find_ended(r, ENDED_DEADLOCK, f);
}

void rule_collective(struct rules *r, struct finding *f)
{
	find_ended(r, rules_ended(r)->lines[ENDED_COLLECTIVE].size ? ENDED_COLLECTIVE : ENDED_STALLED, f);
	if (!rules_ended(r)->has_ranks)
		rule_unchecked(f, "fewer than two ranks");
}
