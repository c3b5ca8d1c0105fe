/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "runtime/base/nearest.h"
#include "runtime/base/option.h"

bool option_is_word(const char *word)
{
	return word[0] == '-' && word[1];
}

static const char *name_at(const void *list, size_t i)
{
	const struct option_table *table = list;
	const struct option *row = &table->rows[i];

	return option_belongs(table, row) ? row->name : NULL;
}

int option_unknown(const struct option_table *table, const char *word, struct text *why)
{
	bool is_long = word[1] == '-';
	const struct nearest names = {name_at, table, is_long ? table->count : 0};
	char name[OPTION_NAME_BYTES];
	struct text typed = text_init(name, sizeof(name));

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

/* `joined`: the value in the word of the option itself, NULL if there is none. *words is the word after it. */
static int take_value(const struct option *row, const char *joined, char ***words, const char **ret, struct text *why)
{
	const char *next = **words;

	*ret = joined;
	if (row->kind == OPTION_SWITCH || row->kind == OPTION_ACTION)
		return joined && !row->value ? wrong(row, " takes no value", why) : 0;
	if (joined)
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

	if (word[1] == '-') {
		size_t length = strcspn(word + 2, "=");

		*ret_row = option_find(table, word + 2, length);
		value = word[2 + length] ? word + 2 + length + 1 : NULL;
	} else {
		*ret_row = option_by_letter(table, word[1]);
		value = word[2] ? word + 2 + (word[2] == '=') : NULL;
	}
	return *ret_row ? take_value(*ret_row, value, words, ret_value, why) : option_unknown(table, word, why);
}
