/* SPDX-License-Identifier: Apache-2.0 */
/* pillion-report: picks the verb. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/verb.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "unknown"
#endif

#define VERB_LISTED(NAME, name) &verb_##name,
static const struct verb *const verbs[VERB_COUNT] = {VERBS(VERB_LISTED)};
#undef VERB_LISTED

static void out_of_memory(void)
{
	say("out of memory");
	_exit(EXIT_UNUSABLE);
}

static void print_verbs(FILE *out)
{
	fputs("usage: pillion-report VERB [OPTION]... CAPTURE...\n\n", out);
	for (size_t i = 0; i < VERB_COUNT; i++)
		fprintf(out, "  %-9s %s\n", verbs[i]->name, verbs[i]->help);
	fputs("\npillion-report VERB --help tells a verb's options.\n", out);
}

static void print_help(const struct verb *v)
{
	printf("usage: pillion %s %s\n%s\n\n", v->name, v->usage, v->help);
	command_line_help(v->bit, stdout);
	if (v->more_help)
		v->more_help(stdout);
	puts("\nexit status: 0 done, 1 done but something is missing or damaged, 2 wrong usage or unreadable input");
}

/* Of what was printed for its own sake. */
static int printed(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_DONE;
	say("standard output: %s", strerror(errno));
	return EXIT_UNUSABLE;
}

static int run_verb(const struct verb *v, int argc, char **argv)
{
	struct command_line line;
	struct err err;
	int status = EXIT_DONE;

	verb_now = v;
	if (command_line_parse(v->bit, argc, argv, &line, &err)) {
		say("%s", err.text);
		status = EXIT_UNUSABLE;
	} else if (line.help) {
		print_help(v);
		status = printed();
	} else if (line.version) {
		puts("pillion-report " PILLION_VERSION);
		status = printed();
	} else {
		status = v->run(&line);
	}
	command_line_done(&line);
	return status;
}

static int unknown_verb(const char *typed)
{
	const char *names[VERB_COUNT], *best;

	for (size_t i = 0; i < VERB_COUNT; i++)
		names[i] = verbs[i]->name;
	best = nearest(typed, names, VERB_COUNT);
	say("unknown verb '%s'%s%s%s", typed, best ? ", did you mean " : ", see --help", best ? best : "",
	    best ? "?" : "");
	return EXIT_UNUSABLE;
}

int main(int argc, char **argv)
{
	mem_failed = out_of_memory;
	reader_progress = progress_add;
	progress_init();
	if (argc < 2) {
		print_verbs(stderr);
		return EXIT_UNUSABLE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_verbs(stdout);
		return printed();
	}
	if (!strcmp(argv[1], "--version")) {
		puts("pillion-report " PILLION_VERSION);
		return printed();
	}
	for (size_t i = 0; i < VERB_COUNT; i++)
		if (!strcmp(argv[1], verbs[i]->name))
			return run_verb(verbs[i], argc - 2, argv + 2);
	return unknown_verb(argv[1]);
}
