/* SPDX-License-Identifier: Apache-2.0 */
/* pillion-report: selects the verb. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "report/read/job/command.h"
#include "report/verbs/output/envelope.h"
#include "report/verbs/verb.h"
#include "runtime/shared/base/nearest.h"

#ifndef PILLION_VERSION
#define PILLION_VERSION "unknown"
#endif

enum { HELP_BYTES = 32768, VERB_COLUMN = 12, STATUS_COLUMN = 13 };

static const char statuses[] = "0 done, 1 done but something is missing or damaged, 2 wrong usage or unreadable input";
static const char version[] = "pillion-report " PILLION_VERSION "\n";

#define VERB_LISTED(NAME, name, use) &verb_##name,
static const struct verb *const verbs[VERB_COUNT] = {VERBS(VERB_LISTED)};
#undef VERB_LISTED

static void out_of_memory(void)
{
	if (envelope_is_open())
		envelope_abandon();
	else
		say("out of memory");
	_exit(EXIT_UNUSABLE);
}

/* Prints the output of --help or --version. Returns the exit status. */
static int print(const char *text)
{
	fputs(text, stdout);
	if (!fflush(stdout) && !ferror(stdout))
		return EXIT_DONE;
	say("standard output: %s", strerror(errno));
	return EXIT_UNUSABLE;
}

static const char *usage(void)
{
	static char bytes[HELP_BYTES];
	struct text t = text_init(bytes, sizeof(bytes));

	text_add(&t, "Usage: pillion-report VERB [OPTION]... CAPTURE...\n\n");
	for (size_t i = 0; i < VERB_COUNT; i++) {
		char left[16];

		snprintf(left, sizeof(left), "  %s", verbs[i]->name);
		option_help_entry(left, VERB_COLUMN, verbs[i]->help, &t);
	}
	text_add(&t, "\npillion-report VERB --help prints the options of a verb.\n");
	return bytes;
}

static const char *usage_of(const struct verb *v)
{
	static char bytes[HELP_BYTES];
	struct text t = text_init(bytes, sizeof(bytes));

	text_add(&t, "Usage: pillion ");
	text_add(&t, v->name);
	text_add(&t, " ");
	text_add(&t, v->usage);
	text_add(&t, "\n\n");
	text_add(&t, v->help);
	text_add(&t, "\n\n");
	command_line_help(v->bit, &t);
	if (v->bit & VERB_NEWEST)
		text_add(&t, "\nWithout CAPTURE: the newest one of the working directory.\n");
	if (v->more_help)
		v->more_help(&t);
	option_help_entry("\nExit status:", STATUS_COLUMN, v->statuses ? v->statuses : statuses, &t);
	return bytes;
}

/* A line "VERB", its usage and what it does, and its options: option_help_table. */
static const char *usage_table(void)
{
	static char bytes[2 * HELP_BYTES];
	struct text t = text_init(bytes, sizeof(bytes));

	for (size_t i = 0; i < VERB_COUNT; i++) {
		text_add(&t, verbs[i]->name);
		text_add(&t, "\t\t\t\t");
		text_add(&t, verbs[i]->usage);
		text_add(&t, "\t\t");
		text_add(&t, verbs[i]->help);
		text_add(&t, "\n");
		command_line_table(verbs[i]->bit, verbs[i]->name, &t);
	}
	return bytes;
}

/* Also where the rest of the command line is wrong. */
static bool asks_json(char **words)
{
	for (; *words && strcmp(*words, "--") != 0; words++)
		if (!strcmp(*words, "--json"))
			return true;
	return false;
}

/* Takes the newest capture unless one is given, or there is none. */
static void take_newest(const struct verb *v, struct command_line *line)
{
	bool reads = v->bit & VERB_NEWEST && !line->help_reports && !line->help_formats;
	static char *name;

	name = reads && !line->capture_count ? newest_capture() : NULL;
	if (!name)
		return;
	if (!envelope_is_open()) /* which has a field for it */
		say("%s", name);
	line->captures = &name;
	line->capture_count = 1;
}

/* Its operands are no captures. */
static bool has_commands(const struct verb *v, const struct command_line *l)
{
	return v->bit == VERB_TRY || l->delay;
}

static int run_verb(const struct verb *v, char **words)
{
	static struct command_line line;
	struct err err;
	char help[64];
	int status;

	verb_now = v;
	snprintf(help, sizeof(help), "pillion %s --help", v->name);
	if (asks_json(words))
		envelope_begin(v->name, help);
	if (command_line_parse(v->bit, help, words, &line, &err)) {
		say("%s", err.text);
		status = EXIT_UNUSABLE;
	} else if (line.help) {
		status = print(usage_of(v));
	} else if (line.version) {
		status = print(version);
	} else {
		take_newest(v, &line);
		envelope_settings(line.captures, has_commands(v, &line) ? 0 : line.capture_count, line.json_bytes);
		for (size_t i = 0; i < line.remarks.count && !line.quiet; i++)
			say("%s", line.remarks.items[i]);
		command_masks_secrets = !line.shows_secrets;
		status = v->run(&line);
	}
	if (envelope_is_open() && !line.help && !line.version)
		status = envelope_end(status, v->bit & VERB_NAMES || !line.output || !strcmp(line.output, "-")
						      ? NULL
						      : line.output);
	return status;
}

static const char *verb_name(const void *list, size_t i)
{
	return verbs[i]->name;
}

/* For the launcher: 1: the words are options of the verb with their values, and no operand. */
static int has_operand(char **words)
{
	static struct command_line line;
	struct err err;
	int status = EXIT_DONE;

	for (size_t i = 0; *words && i < VERB_COUNT; i++) {
		if (strcmp(*words, verbs[i]->name) != 0)
			continue;
		if (!command_line_parse(verbs[i]->bit, "", words + 1, &line, &err) && !line.capture_count)
			status = EXIT_INCOMPLETE;
	}
	return status;
}

/* What --help-on knows: all names of verbs, reports, rules and types of exports, in this order. */
static const char *any_name(const void *list, size_t i)
{
	if (i < VERB_COUNT)
		return verbs[i]->name;
	i -= VERB_COUNT;
	if (i < report_count)
		return report_list[i].name;
	i -= report_count;
	return i < rule_count ? rule_list[i].name : export_list[i - rule_count].name;
}

/* For the launcher: `pillion help WORD` of what is no verb. */
static int help_on(const char *word)
{
	const struct nearest names = {any_name, NULL, VERB_COUNT + report_count + rule_count + EXPORT_COUNT};
	const struct report *report = report_find(word);
	const struct rule *rule = rule_find(word);
	const struct export_type *type = export_find(word);
	char bytes[512];
	struct text t = text_init(bytes, sizeof(bytes));
	SCOPED(buffer) out = {0};
	int status;

	if (report)
		buffer_print(&out, "%s\n  pillion stats -r %s CAPTURE\n", report->title, report->name);
	if (rule)
		buffer_print(&out, "%s. %s\n  pillion analyze -r %s CAPTURE\n", rule->title, rule->advice, rule->name);
	if (type)
		buffer_print(&out, "%s\n  pillion export -t %s CAPTURE\n", type->title, type->name);
	if (out.size) {
		status = print(out.data);
	} else {
		nearest_suggest(&names, word, "pillion help ", "pillion --help", &t);
		say("there is no help on '%s'%s", word, bytes);
		status = EXIT_UNUSABLE;
	}
	return status;
}

static int unknown_verb(const char *typed)
{
	const struct nearest names = {verb_name, NULL, VERB_COUNT};
	char bytes[256];
	struct text t = text_init(bytes, sizeof(bytes));

	nearest_suggest(&names, typed, "", "pillion-report --help", &t);
	say("unknown verb '%s'%s", typed, bytes);
	return envelope_is_open() ? envelope_end(EXIT_UNUSABLE, NULL) : EXIT_UNUSABLE;
}

int main(int argc, char **argv)
{
	mem_failed = out_of_memory;
	reader_progress = progress_add;
	progress_init();
	if (argc < 2) {
		fputs(usage(), stderr);
		return EXIT_UNUSABLE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return print(usage());
	if (!strcmp(argv[1], "--help=table"))
		return print(usage_table());
	if (!strcmp(argv[1], "--version"))
		return print(version);
	if (!strcmp(argv[1], "--help-on") && argc == 3)
		return help_on(argv[2]);
	if (!strcmp(argv[1], "--has-operand"))
		return has_operand(argv + 2);
	for (size_t i = 0; i < VERB_COUNT; i++)
		if (!strcmp(argv[1], verbs[i]->name))
			return run_verb(verbs[i], argv + 2);
	if (asks_json(argv + 2))
		envelope_begin(NULL, "pillion-report --help");
	return unknown_verb(argv[1]);
}
