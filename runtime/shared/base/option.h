/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a program as a table. One row serves the command line, the environment, the help text and the
 * checks.
 *
 * No allocation, no I/O, no libc beyond <string.h>: the recorder parses its environment with it before the program
 * has begun. Values are borrowed from argv or the environment. Errors are one line for the user, without a
 * newline. */
#pragma once

#include "runtime/shared/base/text.h"

enum option_kind {
	OPTION_BOOL,	/* true or false, must be given */
	OPTION_FLAG,	/* true or false, true if neither is given */
	OPTION_SWITCH,	/* true, takes no value */
	OPTION_CHOICE,	/* one of several words, stored as its position (an int or an enum) */
	OPTION_NUMBER,	/* uint64_t from minimum to maximum */
	OPTION_COUNT,	/* uint32_t from minimum to maximum */
	OPTION_SECONDS, /* double */
	OPTION_TEXT,	/* const char *, not empty */
	OPTION_OWN,	/* parsed by its own set() */
	OPTION_ACTION,	/* carried out by the program at once: --help, --version. `value`: what it may take */
};

enum option_state {
	OPTION_WORKS,
	OPTION_IGNORED, /* of nsys, without effect: any value, a warning unless it is one of the words in `value` */
	OPTION_REFUSED, /* an option of nsys whose omission could do harm */
};

/* The words of an option, in the list that defines them: each at the beginning of `stride` bytes. "": none here. */
struct option_words {
	const char *const *first;
	size_t stride, count;
};
/* Of an array of words, or with `.name` of the names in an array of structs. */
#define OPTION_WORDS(array, ...) \
	{&(array)[0] __VA_ARGS__, sizeof((array)[0]), sizeof(array) / sizeof((array)[0])}

struct option {
	const char *name;
	char letter;
	uint8_t kind, state;
	bool is_nsys;	  /* only for compatibility with nsys: listed by --help=nsys */
	bool is_recorded; /* the recorder reads it too: passed on in the environment */
	uint16_t offset;  /* of its field in the settings, OPTION_NO_FIELD: none */
	uint32_t users;	  /* see struct option_table */
	const char *title;   /* of the group of options that begins with this row, for --help */
	const char *value;   /* name of the value in --help; of OPTION_CHOICE without `words`: its words "a|!b",
			!: of nsys and without effect, a warning; of OPTION_IGNORED: words that ask for nothing */
	const struct option_words *words; /* that it takes; NULL: those of `value` */
	const char *takes;   /* what an error says that it takes; NULL: follows from the kind and `value` */
	const char *initial; /* the default, parsed by the same code; NULL: none */
	const char *help;    /* or why it is ignored or refused; of a row for nsys with "!" words: why they are */
	uint64_t minimum, maximum;
	int (*set)(const struct option *row, void *settings, const char *value, struct text *why);
	void (*print)(const void *settings, struct text *ret);
};

struct option_table {
	const struct option *rows;
	size_t count;
	uint32_t users;	  /* only rows with one of these bits belong to it; 0: all rows */
	const char *help; /* the command that prints the list */
	const struct option_table *more; /* whose rows follow, NULL: none */
};

#define OPTION_NO_FIELD UINT16_MAX
#define OPTION_NAME_BYTES 64

/* ---- option.c: values ---- */

/* The row at position `i`, NULL: there are no more. */
const struct option *option_row(const struct option_table *table, size_t i);
bool option_belongs(const struct option_table *table, const struct option *row);
/* The row of `table` with this name or letter, NULL: none. */
const struct option *option_find(const struct option_table *table, const char *name, size_t length);
const struct option *option_by_letter(const struct option_table *table, char letter);

/* Sets one option. 0; -EINVAL: bad value; -ENOTSUP: known and refused. On error `why` says what to do; on success
 * it is empty, or says what of the value has no effect. */
int option_set(const struct option *row, void *settings, const char *value, struct text *why);
/* For a set() of its own: stores the position of `value` among the words of the row. */
int option_set_choice(const struct option *row, void *field, const char *value, struct text *why);
/* "--NAME takes ..., not 'VALUE'". Returns -EINVAL. */
int option_refuse(const struct option *row, const char *value, struct text *why);

/* Appends the words that a row takes, with `separator` between them. */
void option_choices_print(const struct option *row, const char *separator, struct text *t);
/* Appends the value as option_set takes it; false: the row has none of its own (older spellings, no value). */
bool option_print(const struct option *row, const void *settings, struct text *ret);
/* Appends the value; whether it differs from the one in `initial`. False also if the row has none of its own. */
bool option_is_changed(const struct option *row, const void *settings, const void *initial, struct text *ret);
/* Appends the environment variable, PILLION_OSRT_THRESHOLD for osrt-threshold. */
void option_variable(const struct option *row, struct text *ret);

/* ---- option_line.c: the command line ---- */

/* Whether a word of the command line is an option, or "--". */
bool option_is_word(const char *word);
/* Takes the option at *words and its value, and moves *words past them. *ret_value is NULL where it takes none. 0,
 * or -EINVAL with `why`. */
int option_next(const struct option_table *table, char ***words, const struct option **ret_row, const char **ret_value,
		struct text *why);

/* ---- option_help.c: --help, at most OPTION_HELP_COLUMNS wide ---- */

enum { OPTION_HELP_COLUMNS = 80 };

/* The options of a table by group; is_nsys: those for compatibility with nsys instead of the others. */
void option_help(const struct option_table *table, bool is_nsys, struct text *ret);
/* For --help=table, of which completions of shells and manual pages are made: a line for each option of a table, with
 * tabs between VERB, name, letter, no|may|must take a value, the value's name, the words that it can be separated by
 * '|', and the help. */
void option_help_table(const struct option_table *table, const char *verb, struct text *ret);
/* One such line; `words`: instead of those of the row, separated by '|', or NULL. */
void option_help_row(const struct option *row, const char *verb, const char *words, struct text *ret);
/* `left` and, from `column` on, `help` in as many lines as it needs. */
void option_help_entry(const char *left, size_t column, const char *help, struct text *ret);
