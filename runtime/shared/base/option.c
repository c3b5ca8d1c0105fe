/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/shared/base/option.h"

#include <errno.h>

#include "runtime/shared/base/value.h"

const struct option *option_row(const struct option_table *table, size_t i)
{
	while (table && i >= table->count) {
		i -= table->count;
		table = table->more;
	}
	return table ? &table->rows[i] : NULL;
}

bool option_belongs(const struct option_table *table, const struct option *row)
{
	return !table->users || (row->users & table->users);
}

const struct option *option_find(const struct option_table *table, const char *name, size_t length)
{
	const struct option *row;

	for (size_t i = 0; (row = option_row(table, i)); i++) {
		if (option_belongs(table, row) && value_is(name, length, row->name))
			break;
	}
	return row;
}

const struct option *option_by_letter(const struct option_table *table, char letter)
{
	const struct option *row = NULL;

	for (size_t i = 0; letter && (row = option_row(table, i)); i++) {
		if (option_belongs(table, row) && row->letter == letter)
			break;
	}
	return row;
}

/* ---- the words of a choice ---- */

struct option_choice {
	const char *word;
	size_t length;
	bool has_effect;
};

/* The choice at `position`; false: there are no more. */
static bool choice_at(const struct option *row, size_t position, struct option_choice *ret)
{
	const struct option_words *words = row->words;
	const char *at = row->value;

	if (words)
		at = position < words->count ? words->first[position * (words->stride / sizeof(at))] : NULL;
	for (size_t i = 0; !words && i < position && at; i++) {
		at = strchr(at, '|');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return false;
	ret->has_effect = *at != '!';
	ret->word = at + !ret->has_effect;
	ret->length = strcspn(ret->word, "|");
	return true;
}

void option_choices_print(const struct option *row, const char *separator, struct text *t)
{
	const char *before = "";
	struct option_choice choice;

	for (size_t i = 0; choice_at(row, i, &choice); i++) {
		if (!choice.has_effect || !choice.length)
			continue;
		text_add(t, before);
		text_bytes(t, choice.word, choice.length);
		before = separator;
	}
}

/* ---- errors ---- */

static void name_print(const struct option *row, const char *value, struct text *t)
{
	text_add(t, "--");
	text_add(t, row->name);
	if (value) {
		text_add(t, "=");
		text_add(t, value);
	}
}

static void takes_number(const struct option *row, struct text *why)
{
	text_add(why, "a number");
	if (row->minimum || row->maximum < UINT32_MAX) {
		text_add(why, " from ");
		text_number(why, row->minimum);
		text_add(why, " to ");
		text_number(why, row->maximum);
	}
}

__attribute__((cold)) int option_refuse(const struct option *row, const char *value, struct text *why)
{
	name_print(row, NULL, why);
	text_add(why, " takes ");
	if (row->takes)
		text_add(why, row->takes);
	else if (row->kind == OPTION_BOOL || row->kind == OPTION_FLAG)
		text_add(why, "true or false");
	else if (row->kind == OPTION_NUMBER || row->kind == OPTION_COUNT)
		takes_number(row, why);
	else if (row->kind == OPTION_SECONDS)
		text_add(why, "a number of seconds");
	else if (row->words || row->kind == OPTION_CHOICE)
		option_choices_print(row, "|", why);
	else
		text_add(why, row->value);
	text_add(why, ", not '");
	text_add(why, value);
	text_add(why, "'");
	return -EINVAL;
}

/* "--NAME=VALUE is ignored: REASON"; `value` may be NULL. */
static void has_no_effect(const struct option *row, const char *value, struct text *why)
{
	name_print(row, value, why);
	text_add(why, " is ignored: ");
	text_add(why, row->is_nsys ? row->help : "pillion does not support it");
}

/* ---- setting ---- */

int option_set_choice(const struct option *row, void *field, const char *value, struct text *why)
{
	struct option_choice choice;
	int position = 0;

	while (choice_at(row, (size_t)position, &choice) && (!choice.length || !value_is(choice.word, choice.length,
			value)))
		position++;
	if (!choice_at(row, (size_t)position, &choice))
		return option_refuse(row, value, why);
	if (!choice.has_effect)
		has_no_effect(row, value, why);
	else if (field)
		memcpy(field, &position, sizeof(position));
	return 0;
}

static int set_bool(const struct option *row, void *field, const char *value, struct text *why)
{
	bool is_true = true;

	if (row->kind != OPTION_SWITCH && !value_bool(value, &is_true))
		return option_refuse(row, value, why);
	memcpy(field, &is_true, sizeof(is_true));
	return 0;
}

static int set_number(const struct option *row, void *field, const char *value, struct text *why)
{
	uint64_t n;
	uint32_t count;

	if (!value_number(value, strlen(value), &n) || n < row->minimum || n > row->maximum)
		return option_refuse(row, value, why);
	count = (uint32_t)n;
	if (row->kind == OPTION_NUMBER)
		memcpy(field, &n, sizeof(n));
	else
		memcpy(field, &count, sizeof(count));
	return 0;
}

static int set_seconds(const struct option *row, void *field, const char *value, struct text *why)
{
	double seconds;

	if (!value_seconds(value, &seconds))
		return option_refuse(row, value, why);
	memcpy(field, &seconds, sizeof(seconds));
	return 0;
}

static int set_text(const struct option *row, void *field, const char *value, struct text *why)
{
	if (!*value)
		return option_refuse(row, value, why);
	if (field)
		memcpy(field, &value, sizeof(value));
	return 0;
}

static int set_working(const struct option *row, void *settings, const char *value, struct text *why)
{
	void *field = row->offset == OPTION_NO_FIELD ? NULL : (char *)settings + row->offset;

	switch (row->kind) {
	case OPTION_BOOL:
	case OPTION_FLAG:
	case OPTION_SWITCH:
		return set_bool(row, field, value, why);
	case OPTION_CHOICE:
		return option_set_choice(row, field, value, why);
	case OPTION_NUMBER:
	case OPTION_COUNT:
		return set_number(row, field, value, why);
	case OPTION_SECONDS:
		return set_seconds(row, field, value, why);
	case OPTION_TEXT:
		return set_text(row, field, value, why);
	case OPTION_OWN:
		return row->set(row, settings, value, why);
	default:
		return -EINVAL;
	}
}

/* Whether an ignored option has one of the words of its row. */
static bool value_is_none(const struct option *row, const char *value)
{
	struct option_choice choice;

	for (size_t i = 0; choice_at(row, i, &choice); i++) {
		if (value_is(choice.word, choice.length, value))
			return true;
	}
	return false;
}

int option_set(const struct option *row, void *settings, const char *value, struct text *why)
{
	switch (row->state) {
	case OPTION_WORKS:
		return set_working(row, settings, value, why);
	case OPTION_IGNORED:
		if (!value_is_none(row, value))
			has_no_effect(row, row->value ? value : NULL, why);
		return 0;
	default:
		name_print(row, NULL, why);
		text_add(why, " is not supported: ");
		text_add(why, row->help);
		return -ENOTSUP;
	}
}

/* ---- printing ---- */

enum { VALUE_BYTES = 4096 };

bool option_print(const struct option *row, const void *settings, struct text *ret)
{
	const char *field = (const char *)settings + row->offset, *text;
	struct option_choice choice;
	uint64_t n = 0;
	double seconds;
	int position;

	if (row->print) {
		row->print(settings, ret);
		return true;
	}
	if (row->offset == OPTION_NO_FIELD)
		return false;
	switch (row->kind) {
	case OPTION_BOOL:
	case OPTION_FLAG:
	case OPTION_SWITCH:
		text_add(ret, *(const bool *)field ? "true" : "false");
		return true;
	case OPTION_CHOICE:
		memcpy(&position, field, sizeof(position));
		if (choice_at(row, (size_t)position, &choice))
			text_bytes(ret, choice.word, choice.length);
		return true;
	case OPTION_NUMBER:
	case OPTION_COUNT:
		memcpy(&n, field, row->kind == OPTION_NUMBER ? sizeof(uint64_t) : sizeof(uint32_t));
		text_number(ret, n);
		return true;
	case OPTION_SECONDS:
		memcpy(&seconds, field, sizeof(seconds));
		value_seconds_print(seconds, ret);
		return true;
	default:
		memcpy(&text, field, sizeof(text));
		text_add(ret, text ? text : "");
		return text != NULL;
	}
}

bool option_is_changed(const struct option *row, const void *settings, const void *initial, struct text *ret)
{
	char bytes[VALUE_BYTES];
	struct text before = text_init(bytes, sizeof(bytes));
	char *at = ret->at;

	return option_print(row, settings, ret) && (!option_print(row, initial, &before) || strcmp(at, bytes) != 0);
}

void option_variable(const struct option *row, struct text *ret)
{
	text_add(ret, "PILLION_");
	for (const char *c = row->name; *c; c++)
		text_char(ret, *c == '-' ? '_' : *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
}
