/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, option files and --help of pillion-launch. The options themselves: options.c. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/launch/launch.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "0"
#endif
#ifdef HAVE_CUDA_HEADERS
#define BUILT_CUDA "CUDA, OS and NVTX calls"
#else
#define BUILT_CUDA "OS and NVTX calls; built without CUDA headers"
#endif
#ifdef HAVE_UNWIND
#define BUILT_STACKS "built-in stack walker; unwind tables read by libunwind " UNWIND_VERSION
#else
#define BUILT_STACKS "no native stacks: built without libunwind's reader of unwind tables"
#endif

enum { WHY = 512 };

/* What was given, in order; applied only after the environment and the option files, which it overrides. */
struct given {
	const struct option *row;
	const char *value;
};

struct line {
	struct given *given;
	size_t count;
	char **rest; /* the first word that is no option, or the terminating NULL */
};

/* As wide as the longest name of an option. */
#define NAME_COLUMN "  %-30s  "

static void help_print(void)
{
	printf("Usage: pillion [profile] [OPTION]... [--] COMMAND [ARG]...\n"
	       "       pillion stats|export|analyze|info|pack|unpack [OPTION]... CAPTURE...   (see pillion stats --help)\n"
	       "\n"
	       "Runs COMMAND and records it, with all its processes, into a capture; then prints a summary on stderr.\n"
	       "Values come as --name=VALUE or --name VALUE. A variable PILLION_<NAME> in the environment does the same.\n\n");
	for (size_t i = 0; i < option_count; i++) {
		const struct option *row = &option_table[i];
		char name[80];

		if (row->state == OPTION_IGNORED || row->state == OPTION_REFUSED)
			continue;
		snprintf(name, sizeof(name), "%c%c%c --%s", row->letter ? '-' : ' ', row->letter ? row->letter : ' ',
			 row->letter ? ',' : ' ', row->name);
		printf(NAME_COLUMN "%s\n", name, row->help);
		if (row->kind == OPTION_BOOL || row->kind == OPTION_FLAG)
			printf(NAME_COLUMN "true|false", "");
		else if (row->value)
			printf(NAME_COLUMN "%s", "", row->value);
		else
			continue;
		printf(row->initial ? " (default %s)\n" : "\n", row->initial);
	}
	printf("\nA choice marked ! is nsys's, and not there.\n"
	       "Taken and ignored, so that lines for nsys run:");
	for (size_t i = 0, column = 200; i < option_count; i++) {
		if (option_table[i].state != OPTION_IGNORED)
			continue;
		if (column + strlen(option_table[i].name) > 100)
			column = (size_t)printf("\n ") - 1;
		column += (size_t)printf(" --%s", option_table[i].name);
	}
	printf("\n\nExit status: COMMAND's, 128+N if signal N ended it; 127 if it is missing, 126 if it cannot be run;\n"
	       "2 for wrong usage or a capture that cannot be written, and then COMMAND was not started.\n");
}

static int action(const struct option *row)
{
	if (row->letter == 'h')
		help_print();
	else
		printf("pillion %s\nrecords " BUILT_CUDA "\n" BUILT_STACKS "\n", PILLION_VERSION);
	return fflush(stdout) ? EXIT_USAGE : -1;
}

static int give(struct line *line, const struct option *row, const char *value)
{
	struct given *more = realloc(line->given, (line->count + 1) * sizeof(*more));

	if (!more) {
		say("out of memory");
		return EXIT_USAGE;
	}
	line->given = more;
	more[line->count++] = (struct given){row, value};
	return 0;
}

/* `joined`: what stands in the same word, NULL if nothing does. *words is then the word after. */
static int take_value(struct line *line, const struct option *row, const char *joined, char ***words)
{
	const char *next = **words;

	if (row->kind == OPTION_ACTION)
		return action(row);
	if (joined)
		return give(line, row, joined);
	if (row->kind == OPTION_FLAG && (!next || (strcmp(next, "true") != 0 && strcmp(next, "false") != 0)))
		return give(line, row, "true");
	if (!next) {
		say("--%s needs a value", row->name);
		return EXIT_USAGE;
	}
	++*words;
	return give(line, row, next);
}

static int unknown(const char *name)
{
	struct options scratch;
	char why[WHY];

	options_set(&scratch, name, "", why, sizeof(why));
	say("%s", why);
	return EXIT_USAGE;
}

static int take_long(struct line *line, char *word, char ***words)
{
	size_t length = strcspn(word, "=");
	const struct option *row = option_find(word, length);

	if (!row) {
		char *name = strndup(word, length);
		int rc = name ? unknown(name) : EXIT_USAGE;

		free(name);
		return rc;
	}
	return take_value(line, row, word[length] ? word + length + 1 : NULL, words);
}

static int take_short(struct line *line, char *word, char ***words)
{
	const struct option *row = option_by_letter(word[0]);

	if (!row) {
		say("unknown option -%s; see pillion --help", word);
		return EXIT_USAGE;
	}
	if (!word[1])
		return take_value(line, row, NULL, words);
	if (row->kind == OPTION_ACTION) {
		say("-%c takes no value", word[0]);
		return EXIT_USAGE;
	}
	return take_value(line, row, word + 1 + (word[1] == '='), words);
}

/* Reads options up to "--" or the first other word. */
static int line_read(struct line *line, char **words)
{
	int rc = 0;

	while (*words && !rc) {
		char *word = *words;

		if (word[0] != '-' || !word[1])
			break;
		words++;
		if (!strcmp(word, "--"))
			break;
		rc = word[1] == '-' ? take_long(line, word + 2, &words) : take_short(line, word + 1, &words);
	}
	line->rest = words;
	return rc;
}

static int given_apply(struct launch *l, const struct given *given, const char *from)
{
	char why[WHY];

	if (option_set(given->row, &l->options, given->value, why, sizeof(why))) {
		say("%s%s", from, why);
		return EXIT_USAGE;
	}
	if (*why)
		say("%s%s", from, why);
	return 0;
}

/* Splits text into words in place, as a shell would: quotes, backslashes, comments. NULL-terminated; the array is the
 * caller's. */
static char **words_split(char *text)
{
	char **words = calloc(strlen(text) / 2 + 2, sizeof(*words)), *out = text;
	size_t count = 0;

	for (char *in = text; words;) {
		char quote = '\0';

		while (isspace((unsigned char)*in))
			in++;
		if (*in == '#')
			in += strcspn(in, "\n");
		if (!*in)
			break;
		if (isspace((unsigned char)*in))
			continue;
		words[count++] = out;
		for (; *in && (quote || !isspace((unsigned char)*in)); in++) {
			if (quote ? *in == quote : (*in == '"' || *in == '\'')) {
				quote = quote ? '\0' : *in;
				continue;
			}
			if (*in == '\\' && quote != '\'' && in[1])
				in++;
			*out++ = *in;
		}
		if (*in)
			in++;
		*out++ = '\0'; /* out never passes in: a word's end takes the place of a blank, or of the final NUL */
	}
	return words;
}

static char *file_read(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!f || getdelim(&text, &size, '\0', f) < 0) {
		if (f && !ferror(f) && text)
			*text = '\0';
		else if (!f || ferror(f)) {
			free(text);
			text = NULL;
		}
	}
	if (!text)
		say("--command-file: cannot read %s: %s", path, strerror(errno));
	if (f)
		fclose(f);
	return text;
}

/* The text stays: options borrow from it. */
static int command_file(struct launch *l, const char *path)
{
	char from[PATH_MAX + 4], *text = file_read(path), **words = text ? words_split(text) : NULL;
	struct line line = {0};
	int rc = words ? line_read(&line, words) : EXIT_USAGE;

	snprintf(from, sizeof(from), "%s: ", path);
	if (!rc && *line.rest) {
		say("%s'%s' is no option", from, *line.rest);
		rc = EXIT_USAGE;
	}
	for (size_t i = 0; i < line.count && !rc; i++) {
		if (!strcmp(line.given[i].row->name, "command-file")) {
			say("%s--command-file cannot stand in a file", from);
			rc = EXIT_USAGE;
		} else {
			rc = given_apply(l, &line.given[i], from);
		}
	}
	free(line.given);
	free(words);
	return rc;
}

/* Every -e counts; the table's field holds one. */
static int variables_keep(struct launch *l, const struct line *line)
{
	size_t count = 0;

	l->variables = calloc(line->count + 2, sizeof(char *));
	if (!l->variables)
		return EXIT_USAGE;
	if (l->options.env_var)
		l->variables[count++] = (char *)l->options.env_var;
	for (size_t i = 0; i < line->count; i++) {
		if (line->given[i].row->letter == 'e')
			l->variables[count++] = (char *)line->given[i].value;
	}
	return 0;
}

static int options_agree(const struct options *o)
{
	const char *why = NULL;

	if (o->force_overwrite && o->append)
		why = "--force-overwrite replaces a capture, --append joins it: choose one";
	else if (o->nvtx_domain_include && o->nvtx_domain_exclude)
		why = "--nvtx-domain-include and --nvtx-domain-exclude: choose one";
	else if (o->capture_range == CAPTURE_NVTX && !o->nvtx_capture)
		why = "-c nvtx needs --nvtx-capture=RANGE[@DOMAIN]";
	if (why)
		say("%s", why);
	return why ? EXIT_USAGE : 0;
}

static int options_apply(struct launch *l, const struct line *line)
{
	extern char **environ;
	char why[WHY];
	int rc = 0;

	options_init(&l->options);
	if (options_from_environment(&l->options, environ, why, sizeof(why))) {
		say("environment: %s", why);
		return EXIT_USAGE;
	}
	/* Within another run, PILLION_OUTPUT names that one's capture. */
	if (getenv("PILLION_RUN"))
		l->options.output = NULL;
	if (l->options.command_file)
		rc = command_file(l, l->options.command_file);
	for (size_t i = 0; i < line->count && !rc; i++) {
		if (!strcmp(line->given[i].row->name, "command-file"))
			rc = command_file(l, line->given[i].value);
	}
	if (!rc)
		rc = variables_keep(l, line);
	for (size_t i = 0; i < line->count && !rc; i++)
		rc = given_apply(l, &line->given[i], "");
	if (!rc)
		rc = options_agree(&l->options);
	return rc ? rc : python_options_check(l);
}

int launch_options(struct launch *l, int argc, char **argv)
{
	struct line line = {0};
	int rc;

	argv += argc > 0;
	if (*argv && !strcmp(*argv, "profile"))
		argv++;
	rc = line_read(&line, argv);
	if (!rc)
		rc = options_apply(l, &line);
	l->command = line.rest;
	l->has_output = l->options.output != NULL;
	if (!rc && !*l->command) {
		say("no COMMAND given; see pillion --help");
		rc = EXIT_USAGE;
	}
	free(line.given);
	return rc;
}
