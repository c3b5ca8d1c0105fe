/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing what the user typed. */
#include "report/command_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum option_id {
	OPTION_REPORT,
	OPTION_RULE,
	OPTION_FORMAT,
	OPTION_OUTPUT,
	OPTION_UNIT,
	OPTION_BY,
	OPTION_QUIET,
	OPTION_SUMMARY,
	OPTION_FILTER_TIME,
	OPTION_FILTER_NVTX,
	OPTION_TYPE,
	OPTION_FORCE,
	OPTION_LINES_ALL,
	OPTION_SOURCE,
	OPTION_METRIC,
	OPTION_SPLIT_TIME,
	OPTION_SPLIT_SIZE,
	OPTION_REPLACE,
	OPTION_HELP,
	OPTION_VERSION
};

static const struct option {
	enum option_id id;
	char letter;
	const char *name, *value, *help;
	unsigned int verbs;
} options[] = {
	{OPTION_REPORT, 'r', "report", "REPORT[,REPORT]...", "reports to show; may be repeated", VERB_STATS},
	{OPTION_RULE, 'r', "rule", "RULE[,RULE]...", "rules to apply; may be repeated", VERB_ANALYZE},
	{OPTION_FORMAT, 'f', "format", "FORMAT", "column, table, csv, tsv, json, markdown, html",
	 VERB_STATS | VERB_INFO | VERB_ANALYZE},
	{OPTION_TYPE, 't', "type", "TYPE", "what to make, see below", VERB_EXPORT},
	{OPTION_OUTPUT, 'o', "output", "-|FILE", "where to, - is standard output",
	 VERB_STATS | VERB_INFO | VERB_EXPORT | VERB_ANALYZE},
	{OPTION_OUTPUT, 'o', "output", "FILE", "where to; without it report1.pillpack for report1.pillion", VERB_PACK},
	{OPTION_OUTPUT, 'o', "output", "DIRECTORY", "where to; without it as it was called, beside the file", VERB_UNPACK},
	{OPTION_FORCE, 'f', "force-overwrite", "true|false", "replace a file that is there; alone it is true",
	 VERB_EXPORT | VERB_PACK},
	{OPTION_REPLACE, 0, "replace", NULL, "put the file in the place of the capture's directory, once it is whole", VERB_PACK},
	{OPTION_METRIC, 0, "metric", "METRIC", "calls, gpu, cpu, alloc, off-cpu: what folded, speedscope and pprof show",
	 VERB_EXPORT},
	{OPTION_SPLIT_TIME, 0, "split-time", "TIME", "chrome: a file for each such time, NAME.001.json and so on; ns, or with us, ms, s",
	 VERB_EXPORT},
	{OPTION_SPLIT_SIZE, 0, "split-size", "SIZE", "chrome: files of at most so many bytes, or with K, M, G", VERB_EXPORT},
	{OPTION_UNIT, 0, "timeunit", "UNIT", "ns, us, ms, s, auto; csv, tsv and json always carry ns",
	 VERB_STATS | VERB_INFO | VERB_ANALYZE},
	{OPTION_BY, 0, "by", "WHAT", "process, rank, host, thread, device, range: one row for each", VERB_STATS},
	{OPTION_FILTER_TIME, 0, "filter-time", "START/END",
	 "only what overlaps this time since the start; ns, or with us, ms, s; either may be left out",
	 VERB_STATS | VERB_EXPORT | VERB_ANALYZE},
	{OPTION_FILTER_NVTX, 0, "filter-nvtx", "RANGE[@DOMAIN][/INDEX]",
	 "only what overlaps such a range, all of them or the one of that number from 0; @* is any domain",
	 VERB_STATS | VERB_EXPORT | VERB_ANALYZE},
	{OPTION_SOURCE, 0, "source", "FILE", "lines: the text of this file with what each line cost; the end of its path will do", VERB_STATS},
	{OPTION_LINES_ALL, 0, "lines-all", NULL, "lines: charge the innermost line, also of libraries", VERB_STATS},
	{OPTION_QUIET, 'q', "quiet", NULL, "no remarks, errors only",
	 VERB_STATS | VERB_INFO | VERB_EXPORT | VERB_ANALYZE | VERB_PACK | VERB_UNPACK},
	{OPTION_SUMMARY, 0, "summary", NULL, "a few lines on the whole run instead of reports", VERB_STATS},
	{OPTION_HELP, 'h', "help", NULL, "this text", ~0u},
	{OPTION_VERSION, 0, "version", NULL, "the version", ~0u},
};
enum { OPTIONS = sizeof(options) / sizeof(*options) };

static size_t distance(const char *a, const char *b)
{
	size_t row[64], length = strlen(b);

	if (length >= 64 || strlen(a) >= 64)
		return SIZE_MAX;
	for (size_t i = 0; i <= length; i++)
		row[i] = i;
	for (; *a; a++) {
		size_t corner = row[0]++;

		for (size_t i = 1; i <= length; i++) {
			size_t change = corner + (*a != b[i - 1]), best = row[i] < row[i - 1] ? row[i] : row[i - 1];

			corner = row[i];
			row[i] = best + 1 < change ? best + 1 : change;
		}
	}
	return row[length];
}

const char *nearest(const char *word, const char *const *candidates, size_t count)
{
	const char *best = NULL;
	size_t least = strlen(word) / 2 + 1;

	for (size_t i = 0; i < count; i++) {
		size_t d = candidates[i] ? distance(word, candidates[i]) : SIZE_MAX;

		if (d < least) {
			least = d;
			best = candidates[i];
		}
	}
	return best;
}

static int unknown_option(const char *typed, unsigned int verb, struct err *err)
{
	const char *names[OPTIONS] = {0}, *best;

	for (size_t i = 0; i < OPTIONS; i++)
		if (options[i].verbs & verb)
			names[i] = options[i].name;
	best = typed[1] == '-' ? nearest(typed + 2, names, OPTIONS) : NULL;
	if (best)
		return err_set(err, -EINVAL, "unknown option %s, did you mean --%s?", typed, best);
	return err_set(err, -EINVAL, "unknown option %s, see --help", typed);
}

static int choose(const char *option, const char *value, const char *const *names, size_t count, struct err *err)
{
	struct buffer all = {0};

	for (size_t i = 0; i < count; i++) {
		if (!*names[i])
			continue;
		if (!strcmp(value, names[i])) {
			buffer_done(&all);
			return (int)i;
		}
		buffer_print(&all, "%s%s", all.size ? ", " : "", names[i]);
	}
	err_set(err, -EINVAL, "--%s=%s: must be one of %s", option, value, all.data);
	buffer_done(&all);
	return -EINVAL;
}

/* Cuts ":base" or ":mangled" off a report's name. */
static enum kernel_name take_suffix(char *name)
{
	char *colon = strchr(name, ':');
	enum kernel_name how = !colon			      ? KERNEL_DEMANGLED
			       : !strcmp(colon, ":base")    ? KERNEL_BASE
			       : !strcmp(colon, ":mangled") ? KERNEL_MANGLED
							    : KERNEL_DEMANGLED;
	const struct report *r;

	if (how == KERNEL_DEMANGLED)
		return how;
	*colon = 0;
	r = report_find(name);
	if (!r || !(r->flags & REPORT_NAMES))
		*colon = ':'; /* not a suffix that it takes */
	return how;
}

static bool take_report(struct command_line *l, char *name)
{
	enum kernel_name how = take_suffix(name);
	const struct report *r = report_find(name);

	if (!r)
		return false;
	l->reports = mem_grow(l->reports, l->report_count, &l->report_capacity, sizeof(*l->reports));
	l->reports[l->report_count++] = (struct asked_report){r, how};
	return true;
}

static bool take_rule(struct command_line *l, char *name)
{
	const struct rule *r = rule_find(name);

	if (!r)
		return false;
	l->rules = mem_grow(l->rules, l->rule_count, &l->rule_capacity, sizeof(*l->rules));
	l->rules[l->rule_count++] = r;
	return true;
}

/* Names and aliases in turn. */
static const char *report_name(size_t i)
{
	return i % 2 ? report_list[i / 2].alias : report_list[i / 2].name;
}

static const char *rule_name(size_t i)
{
	return i % 2 ? rule_list[i / 2].alias : rule_list[i / 2].name;
}

/* What -r takes names of. */
struct named {
	const char *what, *verb;
	const size_t *count;
	const char *(*name)(size_t i);
	bool (*take)(struct command_line *l, char *name); /* false: there is none of that name */
};

static int unknown_name(const struct named *n, const char *typed, struct err *err)
{
	size_t count = 2 * *n->count;
	const char **names = mem_alloc(count * sizeof(*names)), *best;

	for (size_t i = 0; i < count; i++)
		names[i] = n->name(i);
	best = nearest(typed, names, count);
	free(names);
	if (best)
		return err_set(err, -EINVAL, "unknown %s '%.100s', did you mean %s?", n->what, typed, best);
	return err_set(err, -EINVAL, "unknown %s '%.100s', see pillion %s --help", n->what, typed, n->verb);
}

static int take_names(struct command_line *l, const struct named *n, const char *list, struct err *err)
{
	size_t taken = 0;

	while (*list) {
		size_t length = strcspn(list, ",");
		char *name = mem_copy_text(list, length);
		bool is_known = !length || n->take(l, name);
		int code = is_known ? 0 : unknown_name(n, name, err);

		free(name);
		if (code)
			return code;
		taken += length > 0;
		list += length + (list[length] == ',');
	}
	return taken ? 0 : err_set(err, -EINVAL, "-r needs the name of a %s", n->what);
}

static const struct named named_reports = {"report", "stats", &report_count, report_name, take_report};
static const struct named named_rules = {"rule", "analyze", &rule_count, rule_name, take_rule};

/* nsys's words for the units. */
static const char *unit_word(const char *value)
{
	static const char *const words[][2] = {
		{"nsec", "ns"}, {"usec", "us"}, {"msec", "ms"}, {"sec", "s"}, {"seconds", "s"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(value, words[i][0]))
			return words[i][1];
	return value;
}

static int take_choice(struct command_line *l, const struct option *o, const char *value, struct err *err)
{
	int choice;

	if (o->id == OPTION_FORMAT) {
		choice = choose(o->name, value, format_names, FORMAT_COUNT, err);
		l->format = choice < 0 ? FORMAT_COLUMN : (enum format)choice;
	} else if (o->id == OPTION_UNIT) {
		choice = choose(o->name, unit_word(value), unit_names, UNIT_COUNT, err);
		l->unit = choice < 0 ? UNIT_NS : (enum time_unit)choice;
	} else {
		choice = choose(o->name, value, by_names, BY_COUNT, err);
		l->by = choice < 0 ? BY_NOTHING : (enum by)choice;
	}
	return choice < 0 ? choice : 0;
}

static int take_type(struct command_line *l, const char *value, struct err *err)
{
	const char **names;
	int choice;

	l->type = export_find(value);
	if (l->type)
		return 0;
	names = mem_alloc(export_count * sizeof(*names));
	for (size_t i = 0; i < export_count; i++)
		names[i] = export_list[i].name;
	choice = choose("type", value, names, export_count, err);
	free(names);
	return choice;
}

static int take_metric(struct command_line *l, const char *value, struct err *err)
{
	const char *names[METRIC_COUNT];
	int choice;

	for (size_t i = 0; i < METRIC_COUNT; i++)
		names[i] = metrics[i].name;
	choice = choose("metric", value, names, METRIC_COUNT, err);
	if (choice < 0)
		return choice;
	l->metric = (enum metric)choice;
	l->is_metric_given = true;
	return 0;
}

static bool is_truth(const char *value)
{
	return !strcmp(value, "true") || !strcmp(value, "false");
}

static int take_force(struct command_line *l, const char *value, struct err *err)
{
	if (!is_truth(value))
		return err_set(err, -EINVAL, "--force-overwrite=%.100s: must be one of true, false", value);
	l->is_forced = !strcmp(value, "true");
	return 0;
}

static int take_option(struct command_line *l, const struct option *o, const char *value, struct err *err)
{
	switch (o->id) {
	case OPTION_REPORT:
		return take_names(l, &named_reports, value, err);
	case OPTION_RULE:
		return take_names(l, &named_rules, value, err);
	case OPTION_OUTPUT:
		if (!*value)
			return err_set(err, -EINVAL, "-o needs the name of a file, or -");
		l->output = value;
		return 0;
	case OPTION_REPLACE:
		l->is_replacing = true;
		return 0;
	case OPTION_QUIET:
		l->quiet = true;
		return 0;
	case OPTION_LINES_ALL:
		l->lines_all = true;
		return 0;
	case OPTION_SOURCE:
		if (!*value)
			return err_set(err, -EINVAL, "--source needs the name of a file");
		l->source = value;
		return 0;
	case OPTION_SUMMARY:
		l->summary = true;
		return 0;
	case OPTION_FILTER_TIME:
		l->filter_time = value;
		return 0;
	case OPTION_FILTER_NVTX:
		l->filter_nvtx = value;
		return 0;
	case OPTION_TYPE:
		return take_type(l, value, err);
	case OPTION_METRIC:
		return take_metric(l, value, err);
	case OPTION_SPLIT_TIME:
		return split_time(value, &l->split.time_ns, err);
	case OPTION_SPLIT_SIZE:
		return split_size(value, &l->split.bytes, err);
	case OPTION_FORCE:
		return take_force(l, value, err);
	case OPTION_HELP:
		l->help = true;
		return 0;
	case OPTION_VERSION:
		l->version = true;
		return 0;
	default:
		return take_choice(l, o, value, err);
	}
}

/* The option that an argument names, and where its value starts if it is in the same argument. */
static const struct option *find_option(unsigned int verb, const char *typed, const char **ret_value)
{
	bool is_long = typed[1] == '-';
	size_t length = is_long ? strcspn(typed + 2, "=") : 1;

	*ret_value = NULL;
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option *o = &options[i];

		if (!(o->verbs & verb))
			continue;
		if (is_long && !strncmp(o->name, typed + 2, length) && !o->name[length]) {
			*ret_value = typed[2 + length] ? typed + 3 + length : NULL;
			return o;
		}
		if (!is_long && o->letter && o->letter == typed[1] && (o->value || !typed[2])) {
			*ret_value = typed[2] ? typed + 2 + (typed[2] == '=') : NULL;
			return o;
		}
	}
	return NULL;
}

/* What options mean together. */
static int combine(struct command_line *l, struct err *err)
{
	if (!l->source)
		return 0;
	if (l->by != BY_NOTHING)
		return err_set(err, -EINVAL, "--source shows one text: --by does not go with it");
	return l->report_count ? 0 : take_names(l, &named_reports, "lines", err);
}

int command_line_parse(unsigned int verb, int argc, char **argv, struct command_line *ret, struct err *err)
{
	bool only_captures = false;

	*ret = (struct command_line){.captures = argv};
	for (int i = 0; i < argc; i++) {
		const struct option *o;
		const char *value, *typed = argv[i];
		int code;

		if (only_captures || typed[0] != '-' || !typed[1]) {
			argv[ret->capture_count++] = argv[i];
			continue;
		}
		only_captures = !strcmp(typed, "--");
		if (only_captures)
			continue;
		o = find_option(verb, typed, &value);
		if (!o)
			return unknown_option(typed, verb, err);
		if (o->id == OPTION_FORCE && !value && (i + 1 == argc || !is_truth(argv[i + 1])))
			value = "true";
		if (o->value && !value && ++i < argc)
			value = argv[i];
		if (o->value && !value)
			return err_set(err, -EINVAL, "--%s needs a value: %s", o->name, o->value);
		if (!o->value && value)
			return err_set(err, -EINVAL, "--%s takes no value", o->name);
		code = take_option(ret, o, value, err);
		if (code)
			return code;
	}
	return combine(ret, err);
}

void command_line_done(struct command_line *l)
{
	free(l->reports);
	free(l->rules);
	l->reports = NULL;
	l->rules = NULL;
}

enum { LEFT_COLUMN = 33 };

void command_line_help(unsigned int verb, FILE *out)
{
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option *o = &options[i];
		char left[64];

		if (!(o->verbs & verb))
			continue;
		snprintf(left, sizeof(left), "%c%c%s --%s%s%s", o->letter ? '-' : ' ', o->letter ? o->letter : ' ',
			 o->letter ? "," : " ", o->name, o->value ? " " : "", o->value ? o->value : "");
		if (strlen(left) > LEFT_COLUMN)
			fprintf(out, "  %s\n  %-*s  %s\n", left, LEFT_COLUMN, "", o->help);
		else
			fprintf(out, "  %-*s  %s\n", LEFT_COLUMN, left, o->help);
	}
}
