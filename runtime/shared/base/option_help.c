/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/base/option.h"

enum { HELP_COLUMN = 32, VALUE_BYTES = 160, HELP_BYTES = 1024 };

static void pad(struct text *t, size_t from, size_t column)
{
	for (; from < column; from++)
		text_char(t, ' ');
}

void option_help_entry(const char *left, size_t column, const char *help, struct text *ret)
{
	size_t at = strlen(left);

	text_add(ret, left);
	if (at + 2 > column && *help) {
		text_char(ret, '\n');
		at = 0;
	}
	while (*help) {
		size_t length = strcspn(help, " ");

		if (at > column && at + 1 + length > OPTION_HELP_COLUMNS) {
			text_char(ret, '\n');
			at = 0;
		}
		if (at > column) {
			text_char(ret, ' ');
			at++;
		} else {
			pad(ret, at, column);
			at = column;
		}
		text_bytes(ret, help, length);
		at += length;
		help += length + (help[length] == ' ');
	}
	text_char(ret, '\n');
}

/* "=VALUE", "[=VALUE]" where it may be left out. */
static void value_print(const struct option *row, struct text *t)
{
	bool is_optional = row->kind == OPTION_FLAG || row->kind == OPTION_ACTION;
	bool is_bool = row->kind == OPTION_BOOL || row->kind == OPTION_FLAG;

	if (row->state != OPTION_WORKS || (!is_bool && !row->value))
		return;
	text_add(t, is_optional ? "[=" : "=");
	if (is_bool)
		text_add(t, "true|false");
	else if (row->kind == OPTION_CHOICE && !row->words)
		option_choices_print(row, "|", t);
	else
		text_add(t, row->value);
	text_add(t, is_optional ? "]" : "");
}

static void row_print(const struct option *row, struct text *ret)
{
	char left[VALUE_BYTES], help[HELP_BYTES];
	struct text l = text_init(left, sizeof(left)), h = text_init(help, sizeof(help));

	text_add(&l, "  ");
	text_char(&l, row->letter ? '-' : ' ');
	text_char(&l, row->letter ? row->letter : ' ');
	text_add(&l, row->letter ? ", --" : "  --");
	text_add(&l, row->name);
	value_print(row, &l);
	text_add(&h, row->help);
	if (row->words) {
		text_add(&h, ": ");
		option_choices_print(row, ", ", &h);
	}
	if (row->initial) {
		text_add(&h, " (default: ");
		text_add(&h, row->initial);
		text_add(&h, ")");
	}
	option_help_entry(left, HELP_COLUMN, help, ret);
}

void option_help(const struct option_table *table, bool is_nsys, struct text *ret)
{
	const char *title = NULL, *printed = NULL;
	const struct option *row;

	for (size_t i = 0; (row = option_row(table, i)); i++) {
		title = row->title ? row->title : title;
		if (row->is_nsys != is_nsys || !option_belongs(table, row))
			continue;
		if (title && title != printed) {
			text_add(ret, printed ? "\n" : "");
			text_add(ret, title);
			text_add(ret, ":\n");
			printed = title;
		}
		row_print(row, ret);
	}
}

static void field_add(struct text *t, const char *field)
{
	text_char(t, '\t');
	text_add(t, field ? field : "");
}

void option_help_row(const struct option *row, const char *verb, const char *words, struct text *ret)
{
	bool is_bool = row->kind == OPTION_BOOL || row->kind == OPTION_FLAG;
	bool may_take = row->kind == OPTION_FLAG || (row->kind == OPTION_ACTION && row->value);
	bool takes_none = row->kind == OPTION_SWITCH || (row->kind == OPTION_ACTION && !row->value);

	text_add(ret, verb);
	field_add(ret, row->name);
	text_char(ret, '\t');
	if (row->letter)
		text_char(ret, row->letter);
	field_add(ret, takes_none ? "no" : may_take ? "may" : "must");
	field_add(ret, row->value);
	text_char(ret, '\t');
	if (words)
		text_add(ret, words);
	else if (is_bool)
		text_add(ret, "true|false");
	else if (row->kind == OPTION_CHOICE || row->words)
		option_choices_print(row, "|", ret);
	field_add(ret, row->help);
	text_char(ret, '\n');
}

void option_help_table(const struct option_table *table, const char *verb, struct text *ret)
{
	const struct option *row;

	for (size_t i = 0; (row = option_row(table, i)); i++)
		if (!row->is_nsys && option_belongs(table, row))
			option_help_row(row, verb, NULL, ret);
}
