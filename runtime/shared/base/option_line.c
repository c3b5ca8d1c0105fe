/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "runtime/shared/base/nearest.h"
#include "runtime/shared/base/option.h"

bool option_is_word(const char *word)
{
	return word[0] == '-' && word[1];
}

static const char *name_at(const void *list, size_t i)
{
	const struct option_table *table = list;
	const struct option *row = option_row(table, i);

	return option_belongs(table, row) ? row->name : NULL;
}

/* "unknown option WORD" with the nearest known one. Returns -EINVAL. */
static int unknown_option(const struct option_table *table, const char *word, struct text *why)
{
	bool is_long = word[1] == '-';
	struct nearest names = {name_at, table, 0, .is_short = true};
	char name[OPTION_NAME_BYTES];
	struct text typed = text_init(name, sizeof(name));

	while (is_long && option_row(table, names.count))
		names.count++;
	text_bytes(&typed, word, strcspn(word, "="));
	text_add(why, "unknown option ");
	text_add(why, name);
	nearest_suggest(&names, is_long ? name + 2 : name, "--", table->help, why);
	return -EINVAL;
}

static int wrong(const struct option *row, const char *text, struct text *why)
{
	text_add(why, "--");
	text_add(why, row->name);
	text_add(why, text);
	return -EINVAL;
}

/* `joined`: the value in the word of the option itself, NULL if there is none. *words is the word after it. The value
 * of an action follows its name only, so that a misspelled word such as -hotkey is not taken for -h. */
static int take_value(const struct option *row, bool is_long, const char *joined, char ***words, const char **ret,
		struct text *why)
{
	const char *next = **words;

	*ret = joined;
	if (joined && (row->kind == OPTION_SWITCH || (row->kind == OPTION_ACTION && !is_long)))
		return wrong(row, " takes no value", why);
	if (joined || row->kind == OPTION_SWITCH || row->kind == OPTION_ACTION)
		return 0;
	if (row->kind == OPTION_FLAG && (!next || (strcmp(next, "true") != 0 && strcmp(next, "false") != 0))) {
		*ret = "true";
		return 0;
	}
	if (!next) {
		wrong(row, " needs a value", why);
		if (row->value) {
			text_add(why, ": ");
			text_add(why, row->value);
		}
		return -EINVAL;
	}
	++*words;
	*ret = next;
	return 0;
}

int option_next(const struct option_table *table, char ***words, const struct option **ret_row, const char **ret_value,
		struct text *why)
{
	const char *word = *(*words)++, *value;
	bool is_long = word[1] == '-';

	if (is_long) {
		size_t length = strcspn(word + 2, "=");

		*ret_row = option_find(table, word + 2, length);
		value = word[2 + length] ? word + 2 + length + 1 : NULL;
	} else {
		*ret_row = option_by_letter(table, word[1]);
		value = word[2] ? word + 2 + (word[2] == '=') : NULL;
	}
	if (!*ret_row)
		return unknown_option(table, word, why);
	return take_value(*ret_row, is_long, value, words, ret_value, why);
}
