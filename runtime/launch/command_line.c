/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, command files and --help of pillion-launch. The options themselves are in options.c. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/launch/run.h"
#include "runtime/shared/base/verb_list.h"
#include "runtime/shared/base/nearest.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "0"
#endif
#ifdef HAVE_UNWIND
#define BUILT_STACKS "built-in stack walker; unwind tables read by libunwind " UNWIND_VERSION
#else
#define BUILT_STACKS "no native stacks: built without libunwind's reader of unwind tables"
#endif

enum { HELP_COLUMNS = 78 };

enum { WHY = 512 };

/* An option of the command line. They are applied in order after the environment and the command files, over which they
 * take precedence. */
struct given {
	const struct option *row;
	const char *value;
};

struct option_line {
	struct given *given;
	size_t count;
	char **rest; /* the first word that is not an option, or the terminating NULL */
};

static void verbs_print(struct text *t)
{
	static const char *const names[] = {
#define VERB_NAME(NAME, name, use) #name,
		VERBS(VERB_NAME)
#undef VERB_NAME
	};
	size_t column = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i]) + 2;

		if (i)
			text_add(t, column + length > HELP_COLUMNS ? ",\n" : ", ");
		if (column + length > HELP_COLUMNS)
			column = 0;
		column += length;
		text_add(t, names[i]);
	}
}

static const char examples[] = "  pillion python3 train.py            run a program and record it\n"
			       "  mpirun -n 8 pillion ./solver        the same with ranks: one capture for all\n"
			       "  pillion stats                       tables of the newest capture\n"
			       "  pillion analyze                     what to change, and what that would save\n"
			       "  pillion view                        its timeline, in the browser\n"
			       "  pillion diff before after           what has become slower\n";

static void usage_print(struct text *t)
{
	text_add(t, examples);
	text_add(t, "\n"
		    "Usage: pillion [profile] [OPTION]... [--] COMMAND [ARG]...\n"
		    "       pillion launch [OPTION]... [--] COMMAND [ARG]...\n"
		    "       pillion VERB [OPTION]... CAPTURE...\n"
		    "       pillion help [VERB|nsys]\n"
		    "\n"
		    "The first form runs COMMAND and records it and all its processes into a capture,\n"
		    "then prints a summary on stderr. The others read captures; VERB is one of\n");
	verbs_print(t);
	text_add(t, ", recipe.\n"
		    "A value is given as --NAME=VALUE or --NAME VALUE, or in the environment variable\n"
		    "PILLION_NAME.\n\n");
	option_help(&options_table, false, t);
	text_add(t, "\nExit status: that of COMMAND, 128+N if signal N ended it; 127 if COMMAND does\n"
		    "not exist, 126 if it cannot be run; 2 for wrong usage or a capture that cannot\n"
		    "be written, in which case COMMAND was not started.\n");
}

static void nsys_print(struct text *t)
{
	text_add(t, "Usage: pillion [profile] [OPTION]... [--] COMMAND [ARG]...\n"
		    "\n"
		    "These options of Nsight Systems and nvprof are accepted so that command lines\n"
		    "written for them work, or refused with the reason. See also pillion --help.\n\n");
	option_help(&command_line_options, true, t);
}

enum { HELP_BYTES = 32768 };

static int text_print(const char *text)
{
	fputs(text, stdout);
	return fflush(stdout) ? EXIT_USAGE : 0;
}

int command_line_help(bool is_nsys)
{
	static char bytes[HELP_BYTES];
	struct text t = text_init(bytes, sizeof(bytes));

	if (is_nsys)
		nsys_print(&t);
	else
		usage_print(&t);
	return text_print(bytes);
}

static int table_print(void)
{
	static char bytes[HELP_BYTES];
	struct text t = text_init(bytes, sizeof(bytes));

	option_help_table(&options_table, "profile", &t);
	return text_print(bytes);
}

/* --help and --version: -1, or EXIT_USAGE if they cannot be printed. For the topics of nsys, as in --help=cuda, the
 * whole text is printed. The value of --version is ignored. */
static int action_run(const struct option *row, const char *value)
{
	if (row->letter == 'h' && value && !strcmp(value, "table"))
		return table_print() ? EXIT_USAGE : -1;
	if (row->letter == 'h')
		return command_line_help(value && !strcmp(value, row->value)) ? EXIT_USAGE : -1;
	fputs("pillion " PILLION_VERSION "\n" BUILT_STACKS "\n", stdout);
	return fflush(stdout) ? EXIT_USAGE : -1;
}

static int given_add(struct option_line *line, const struct option *row, const char *value)
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

/* Reads options up to "--" or the first other word. */
static int line_read(struct option_line *line, char **words)
{
	int rc = 0;

	while (*words && option_is_word(*words) && !rc) {
		const struct option *row;
		const char *value;
		char bytes[WHY];
		struct text why = text_init(bytes, sizeof(bytes));

		if (!strcmp(*words, "--")) {
			words++;
			break;
		}
		if (option_next(&command_line_options, &words, &row, &value, &why)) {
			say("%s", bytes);
			rc = EXIT_USAGE;
		} else {
			rc = row->kind == OPTION_ACTION ? action_run(row, value) : given_add(line, row, value);
		}
	}
	line->rest = words;
	return rc;
}

/* What of the options has no effect is in the ledger, too. */
static void notes_keep(struct run *run, const char *text)
{
	char **more = realloc(run->notes, (run->note_count + 1) * sizeof(*more)), *copy = strdup(text);

	if (more)
		run->notes = more;
	if (more && copy)
		run->notes[run->note_count++] = copy;
	else
		free(copy);
}

static int given_apply(struct run *run, const struct given *given, const char *from)
{
	char bytes[WHY];
	struct text why = text_init(bytes, sizeof(bytes));
	const char *remark, *value = python_words(run, given->row->name, given->value, &remark);
	int rc = option_set(given->row, &run->options, value, &why);

	if (remark) {
		say("%s%s", from, remark);
		notes_keep(run, remark);
	}
	if (text_length(&why)) {
		say("%s%s", from, bytes);
		if (!rc)
			notes_keep(run, bytes);
	}
	return rc ? EXIT_USAGE : 0;
}

/* Splits text into words in place like a shell: quotes, backslashes, comments. The caller frees the NULL-terminated
 * array. */
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
		*out++ = '\0'; /* out never passes in: the end of a word replaces a space or the final NUL */
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

/* The text is never freed, because options point into it. */
static int command_file(struct run *run, const char *path)
{
	char from[PATH_MAX + 4], *text = file_read(path), **words = text ? words_split(text) : NULL;
	struct option_line line = {0};
	int rc = words ? line_read(&line, words) : EXIT_USAGE;

	snprintf(from, sizeof(from), "%s: ", path);
	if (!rc && *line.rest) {
		say("%s'%s' is not an option", from, *line.rest);
		rc = EXIT_USAGE;
	}
	for (size_t i = 0; i < line.count && !rc; i++) {
		if (!strcmp(line.given[i].row->name, "command-file")) {
			say("%s--command-file is not allowed in a command file", from);
			rc = EXIT_USAGE;
		} else {
			rc = given_apply(run, &line.given[i], from);
		}
	}
	free(line.given);
	free(words);
	return rc;
}

/* Collects every -e; the field of the table holds only one. */
static int variables_keep(struct run *run, const struct option_line *line)
{
	size_t count = 0;

	run->variables = calloc(line->count + 2, sizeof(char *));
	if (!run->variables)
		return EXIT_USAGE;
	if (run->options.env_var)
		run->variables[count++] = (char *)run->options.env_var;
	for (size_t i = 0; i < line->count; i++) {
		if (line->given[i].row->letter == 'e')
			run->variables[count++] = (char *)line->given[i].value;
	}
	return 0;
}

static int options_agree(struct run *run)
{
	static const char no_range[] =
		"--capture-range=nvtx needs --nvtx-capture=RANGE[@DOMAIN]: everything is recorded";
	struct options *o = &run->options;
	const char *why = NULL;

	if (o->capture_range == CAPTURE_NVTX && !o->nvtx_capture) {
		o->capture_range = CAPTURE_ALL;
		say("%s", no_range);
		notes_keep(run, no_range);
	}
	if (o->force_overwrite && o->append)
		why = "--force-overwrite replaces a capture, --append joins it: choose one";
	else if (o->nvtx_domain_include && o->nvtx_domain_exclude)
		why = "--nvtx-domain-include and --nvtx-domain-exclude: choose one";
	else if (o->on && !options_have_ring(o))
		why = "--on dumps what a ring has kept: give --ring=30s, too";
	else if (o->mode == MODE_PROFILE && options_have_ring(o))
		why = "--ring keeps events, which --mode=profile does not record: choose one";
	else if (options_have_ring(o) && o->sampling_source == SAMPLING_PERF)
		why = "--ring does not keep the samples of perf_event_open: use --sampling-source=signal";
	if (options_have_ring(o))
		o->sampling_source = SAMPLING_SIGNAL;
	if (why)
		say("%s", why);
	return why ? EXIT_USAGE : 0;
}

/* ---- the environment ---- */

/* Variables at this edit distance from that of an option, and of at least three times as many letters, are misspelt. */
enum { MISSPELT = 2 };

/* The option whose variable has nearly this name; NULL: there is none, or it is the name of one. */
static const struct option *misspelt(const char *name, size_t length)
{
	static const char recipes[] = "PILLION_REPORT"; /* scripts/pillion, for recipes */
	const struct option *ret = NULL;
	char word[NEAREST_BYTES], bytes[OPTION_NAME_BYTES];
	size_t fewest = MISSPELT + 1;

	if (length >= sizeof(word) || (length == strlen(recipes) && !strncmp(name, recipes, length)))
		return NULL;
	memcpy(word, name, length);
	word[length] = '\0';
	for (size_t i = 0; i < options_table.count; i++) {
		const struct option *row = &options_table.rows[i];
		struct text variable = text_init(bytes, sizeof(bytes));
		size_t distance;

		if (row->kind == OPTION_ACTION)
			continue;
		option_variable(row, &variable);
		distance = nearest_distance(word, bytes);
		if (!distance)
			return NULL;
		if (distance < fewest && 3 * distance <= length - strlen("PILLION_")) {
			fewest = distance;
			ret = row;
		}
	}
	return ret;
}

/* A misspelt variable has no effect, which nobody else says. Inside another run its launcher has said it. */
static void variables_check(struct run *run)
{
	extern char **environ;

	for (char **e = environ; *e && !getenv("PILLION_RUN"); e++) {
		char bytes[OPTION_NAME_BYTES], remark[WHY];
		struct text variable = text_init(bytes, sizeof(bytes));
		size_t length = strcspn(*e, "=");
		const struct option *row = !strncmp(*e, "PILLION_", 8) ? misspelt(*e, length) : NULL;

		if (!row)
			continue;
		option_variable(row, &variable);
		snprintf(remark, sizeof(remark), "the variable %.*s has no effect; did you mean %s?", (int)length, *e,
			 bytes);
		say("%s", remark);
		notes_keep(run, remark);
	}
}

static int options_apply(struct run *run, const struct option_line *line)
{
	extern char **environ;
	char why[WHY];
	int rc = 0;

	options_init(&run->options);
	if (options_from_environment(&run->options, environ, why, sizeof(why))) {
		say("environment: %s", why);
		return EXIT_USAGE;
	}
	variables_check(run);
	/* Inside another run, PILLION_OUTPUT and PILLION_SPOOL are those of that run. */
	if (getenv("PILLION_RUN"))
		run->options.output = run->options.spool = NULL;
	if (run->options.command_file)
		rc = command_file(run, run->options.command_file);
	for (size_t i = 0; i < line->count && !rc; i++) {
		if (!strcmp(line->given[i].row->name, "command-file"))
			rc = command_file(run, line->given[i].value);
	}
	if (!rc)
		rc = variables_keep(run, line);
	for (size_t i = 0; i < line->count && !rc; i++)
		rc = given_apply(run, &line->given[i], "");
	if (!rc)
		rc = options_agree(run);
	return rc ? rc : python_check(run);
}

int command_line_read(struct run *run, int argc, char **argv)
{
	struct option_line line = {0};
	bool is_launch;
	int rc;

	argv += argc > 0;
	is_launch = *argv && !strcmp(*argv, "launch");
	if (is_launch || (*argv && !strcmp(*argv, "profile")))
		argv++;
	rc = line_read(&line, argv);
	if (!rc)
		rc = options_apply(run, &line);
	run->options.is_launched = is_launch;
	if (!rc && is_launch && (run->options.delay_s > 0 || run->options.duration_s > 0)) {
		say("launch records nothing until pillion start, whose --at and --for take the place of --delay and "
		    "--duration");
		rc = EXIT_USAGE;
	}
	run->command = line.rest;
	run->has_output = run->options.output != NULL;
	if (!rc && !*run->command) {
		say("no COMMAND given; see pillion --help");
		if (argc == 1)
			fputs(examples, stderr);
		rc = EXIT_USAGE;
	}
	free(line.given);
	return rc;
}
