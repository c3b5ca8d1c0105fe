/* SPDX-License-Identifier: Apache-2.0 */
#include "report/command_line.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/nearest.h"

/* ---- values ---- */

/* What -r takes the names of. */
struct named {
	const char *what, *help;
	const size_t *count;
	const char *(*name)(const void *list, size_t i);	   /* names and aliases in turn */
	bool (*add)(struct command_line *l, char *name); /* false: there is none of that name */
};

/* Cuts ":base" or ":mangled" off a report's name. */
static enum kernel_name take_suffix(char *name)
{
	char *colon = strchr(name, ':');
	enum kernel_name how = KERNEL_DEMANGLED;
	const struct report *r;

	if (colon && !strcmp(colon, ":base"))
		how = KERNEL_BASE;
	else if (colon && !strcmp(colon, ":mangled"))
		how = KERNEL_MANGLED;
	if (how == KERNEL_DEMANGLED)
		return how;
	*colon = 0;
	r = report_find(name);
	if (!r || !(r->flags & REPORT_NAMES))
		*colon = ':'; /* the report does not take this suffix */
	return how;
}

static bool add_report(struct command_line *l, char *name)
{
	enum kernel_name how = take_suffix(name);
	const struct report *r = report_find(name);

	if (!r)
		return false;
	l->reports = mem_grow(l->reports, l->report_count, &l->report_capacity, sizeof(*l->reports));
	l->reports[l->report_count++] = (struct requested_report){r, how};
	return true;
}

static bool add_rule(struct command_line *l, char *name)
{
	const struct rule *r = rule_find(name);

	if (!r)
		return false;
	l->rules = mem_grow(l->rules, l->rule_count, &l->rule_capacity, sizeof(*l->rules));
	l->rules[l->rule_count++] = r;
	return true;
}

static const char *report_name(const void *list, size_t i)
{
	return i % 2 ? report_list[i / 2].alias : report_list[i / 2].name;
}

static const char *rule_name(const void *list, size_t i)
{
	return i % 2 ? rule_list[i / 2].alias : rule_list[i / 2].name;
}

static const struct named named_reports = {"report", "pillion stats --help", &report_count, report_name, add_report};
static const struct named named_rules = {"rule", "pillion analyze --help", &rule_count, rule_name, add_rule};

static int unknown_name(const struct named *n, const char *typed, struct text *why)
{
	const struct nearest names = {n->name, NULL, 2 * *n->count};

	text_add(why, "unknown ");
	text_add(why, n->what);
	text_add(why, " '");
	text_bytes(why, typed, strnlen(typed, 100));
	text_add(why, "'");
	nearest_suggest(&names, typed, "", n->help, why);
	return -EINVAL;
}

static int add_names(const struct option *row, struct command_line *l, const struct named *n, const char *value,
		struct text *why)
{
	const char *list = value;
	size_t taken = 0;

	while (*list) {
		size_t length = strcspn(list, ",");
		char *name = mem_copy_text(list, length);
		int code = !length || n->add(l, name) ? 0 : unknown_name(n, name, why);

		free(name);
		if (code)
			return code;
		taken += length > 0;
		list += length + (list[length] == ',');
	}
	return taken ? 0 : option_refuse(row, value, why);
}

static int set_reports(const struct option *row, void *settings, const char *value, struct text *why)
{
	return add_names(row, settings, &named_reports, value, why);
}

static int set_rules(const struct option *row, void *settings, const char *value, struct text *why)
{
	return add_names(row, settings, &named_rules, value, why);
}

/* "found" or "found:RULE". */
static int set_fail_on(const struct option *row, void *settings, const char *value, struct text *why)
{
	static const char found[] = "found";
	struct command_line *l = settings;
	const char *name = value + strlen(found);

	if (strncmp(value, found, strlen(found)) != 0 || (*name && *name != ':'))
		return option_refuse(row, value, why);
	l->fail_on_found = true;
	l->fail_on = *name ? rule_find(name + 1) : NULL;
	return !*name || l->fail_on ? 0 : unknown_name(&named_rules, name + 1, why);
}

static const char *format_choice(size_t i)
{
	return i < FORMAT_COUNT ? format_names[i] : NULL;
}

static const char *by_choice(size_t i)
{
	return i < BY_COUNT ? by_names[i] : NULL;
}

static const char *unit_choice(size_t i)
{
	return i < UNIT_COUNT ? unit_names[i] : NULL;
}

/* Also the words that nsys has for the units. */
static int set_unit(const struct option *row, void *settings, const char *value, struct text *why)
{
	static const char *const words[][2] = {
		{"nsec", "ns"}, {"usec", "us"}, {"msec", "ms"}, {"sec", "s"}, {"seconds", "s"}};
	struct command_line *l = settings;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(value, words[i][0]))
			value = words[i][1];
	return option_set_choice(row, &l->unit, value, why);
}

static const char *type_choice(size_t i)
{
	return i < export_count ? export_list[i].name : NULL;
}

static int set_type(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct command_line *l = settings;

	l->type = export_find(value);
	return l->type ? 0 : option_refuse(row, value, why);
}

static const char *metric_choice(size_t i)
{
	return i < METRIC_COUNT ? metrics[i].name : NULL;
}

static int set_metric(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct command_line *l = settings;

	l->is_metric_given = true;
	return option_set_choice(row, &l->metric, value, why);
}

static int set_split_time(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct command_line *l = settings;

	return split_time(value, &l->split.time_ns) ? option_refuse(row, value, why) : 0;
}

static int set_split_size(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct command_line *l = settings;

	return split_size(value, &l->split.bytes) ? option_refuse(row, value, why) : 0;
}

static const char *diff_by_choice(size_t i)
{
	return i < DIFF_BY_COUNT ? diff_by_names[i] : NULL;
}

/* "3%" or "3". */
static int set_gate(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct command_line *l = settings;
	char *end;

	l->gate = strtod(value, &end) / 100;
	if (end == value || (*end && strcmp(end, "%") != 0) || !(l->gate > 0) || l->gate > 10)
		return option_refuse(row, value, why);
	return 0;
}

static const char *ops_column_choice(size_t i)
{
	return i < OPS_COLUMNS ? ops_column_names[i] : NULL;
}

static int refuse_column(const char *name, size_t length, struct text *why)
{
	text_add(why, "--columns takes a list of names with commas, and there is no '");
	text_bytes(why, name, length < 100 ? length : 100);
	text_add(why, "'; there are ");
	for (size_t i = 0; i < OPS_COLUMNS; i++) {
		text_add(why, i ? " " : "");
		text_add(why, ops_column_names[i]);
	}
	return -EINVAL;
}

static int set_columns(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct command_line *l = settings;
	const char *at = value;

	(void)row;
	for (l->column_count = 0; l->column_count < OPS_COLUMNS; at++) {
		size_t length = strcspn(at, ","), column = 0;

		while (column < OPS_COLUMNS && (strlen(ops_column_names[column]) != length ||
						strncmp(ops_column_names[column], at, length) != 0))
			column++;
		if (column == OPS_COLUMNS)
			return refuse_column(at, length, why);
		l->columns[l->column_count++] = (uint8_t)column;
		at += length;
		if (!*at)
			return 0;
	}
	text_add(why, "--columns takes each name once");
	return -EINVAL;
}

/* ---- the table ---- */

#define AT(field) .offset = offsetof(struct command_line, field)
#define SET(function) .offset = OPTION_NO_FIELD, .set = set_##function
#define VERBS_OF(verbs) .users = (verbs)

enum {
	VERB_READS = VERB_SKILL | VERB_DIFF | VERB_STATS | VERB_INFO | VERB_EXPORT | VERB_ANALYZE | VERB_VIEW |
		     VERB_WHERE | VERB_QUERY | VERB_OPS,
	VERB_TABLES = VERB_DIFF | VERB_STATS | VERB_INFO | VERB_ANALYZE | VERB_WHERE | VERB_QUERY | VERB_OPS,
	VERB_FILTERS = VERB_STATS | VERB_EXPORT | VERB_ANALYZE | VERB_VIEW | VERB_QUERY | VERB_OPS,
	VERB_ALL = (1 << VERB_COUNT) - 1,
};

static const struct option rows[] = {
	{"report", 'r', OPTION_OWN, SET(reports), VERBS_OF(VERB_STATS), .title = "What to show",
	 .value = "REPORT[,REPORT]...", .help = "reports to show; may be repeated"},
	{"rule", 'r', OPTION_OWN, SET(rules), VERBS_OF(VERB_ANALYZE), .value = "RULE[,RULE]...",
	 .help = "rules to apply; may be repeated"},
	{"type", 't', OPTION_OWN, SET(type), VERBS_OF(VERB_EXPORT), .value = "TYPE", .choice = type_choice,
	 .help = "the format to export to"},
	{"metric", 0, OPTION_OWN, SET(metric), VERBS_OF(VERB_EXPORT), .value = "METRIC", .choice = metric_choice,
	 .help = "the values in folded, speedscope and pprof"},
	{"by", 0, OPTION_CHOICE, AT(by), VERBS_OF(VERB_STATS), .value = "WHAT", .choice = by_choice,
	 .help = "one row for each"},
	{"by", 0, OPTION_CHOICE, AT(diff_by), VERBS_OF(VERB_DIFF), .title = "What to compare", .value = "WHAT",
	 .choice = diff_by_choice, .initial = "auto",
	 .help = "rows; auto: what the captures have, in this order: kernel, line, range, api"},
	{"gate", 0, OPTION_OWN, SET(gate), VERBS_OF(VERB_DIFF), .value = "PERCENT", .initial = "3%",
	 .takes = "a percentage, such as 3%", .help = "worse is what has become slower by this much or more"},
	{"over", 0, OPTION_TEXT, AT(over), VERBS_OF(VERB_DIFF), .value = "RANGE[@DOMAIN]",
	 .help = "compare the mean time of a step: what begins within an NVTX range of this name; @*: any domain"},
	{"source", 0, OPTION_TEXT, AT(source), VERBS_OF(VERB_STATS), .value = "FILE",
	 .help = "report lines: the text of FILE with the cost of each line; the end of its path is enough"},
	{"lines-all", 0, OPTION_SWITCH, AT(lines_all), VERBS_OF(VERB_STATS),
	 .help = "report lines: attribute costs to the innermost line, also in libraries"},
	{"columns", 'c', OPTION_OWN, SET(columns), VERBS_OF(VERB_OPS), .title = "What to show",
	 .value = "COLUMN[,COLUMN]...", .choice = ops_column_choice, .initial = "idx,dir,sub,mod,op,kernel,params,sil",
	 .help = "the columns, in this order"},
	{"inclusive", 0, OPTION_SWITCH, AT(is_inclusive), VERBS_OF(VERB_STATS),
	 .help = "report lines: also the time with callees, as line_profiler shows it: CPU samples and recorded calls "
		 "of all stacks that the line is in"},
	{"summary", 0, OPTION_SWITCH, AT(summary), VERBS_OF(VERB_STATS),
	 .help = "a few lines on the whole run instead of reports"},
	{"filter-time", 0, OPTION_TEXT, AT(filter_time), VERBS_OF(VERB_FILTERS), .value = "START/END",
	 .help = "only what overlaps this interval since the start of the run; numbers with ns, us, ms or s; either "
		 "may be omitted"},
	{"filter-nvtx", 0, OPTION_TEXT, AT(filter_nvtx), VERBS_OF(VERB_FILTERS), .value = "RANGE[@DOMAIN][/INDEX]",
	 .help = "only what overlaps these NVTX ranges: all of this name, or the one with this index from 0; @*: any "
		 "domain"},

	{"format", 'f', OPTION_CHOICE, AT(format), VERBS_OF(VERB_TABLES), .title = "Output", .value = "FORMAT",
	 .choice = format_choice, .help = "the format of tables"},
	{"width", 'w', OPTION_COUNT, AT(width), VERBS_OF(VERB_OPS), .value = "N", .takes = "a number of columns",
	 .minimum = 1, .maximum = 100000,
	 .help = "as PyProf prints its table: columns of fixed width, cut, in lines of N characters"},
	{"csv", 0, OPTION_SWITCH, AT(is_quoted_csv), VERBS_OF(VERB_OPS),
	 .help = "as PyProf prints it: CSV with all cells quoted, and 0 for what is not known; -f csv leaves it empty"},
	{"json", 0, OPTION_SWITCH, AT(is_json), VERBS_OF(VERB_ALL & ~VERB_WRITES & ~VERB_MCP),
	 .help = "one JSON object with rows, a verdict and its reason, as envelope.schema.json describes it"},
	{"json", 0, OPTION_SWITCH, AT(is_json), VERBS_OF(VERB_WRITES),
	 .help = "print one JSON object with what was written, as envelope.schema.json describes it"},
	{"json-bytes", 0, OPTION_COUNT, AT(json_bytes), VERBS_OF(VERB_ALL & ~VERB_WRITES & ~VERB_MCP), .value = "N",
	 .takes = "a number of bytes, 0 for any", .maximum = UINT32_MAX - 1,
	 .help = "with --json: rows of about N bytes at most; what was left out is stated"},
	{"timeunit", 0, OPTION_OWN, SET(unit), VERBS_OF(VERB_TABLES), .value = "UNIT", .choice = unit_choice,
	 .help = "the unit of times in tables (csv, tsv and json always have ns)"},
	{"top", 0, OPTION_COUNT, AT(top), VERBS_OF(VERB_TABLES), .value = "N", .takes = "a number of rows, 0 for all",
	 .maximum = UINT32_MAX - 1,
	 .help = "at most N rows of each table, 0: all; default: 20 on a terminal, otherwise all"},
	{"fail-on", 0, OPTION_OWN, SET(fail_on), VERBS_OF(VERB_ANALYZE), .value = "found[:RULE]",
	 .takes = "found or found:RULE", .help = "exit with 3 if a rule, or this rule, has found something"},
	{"output", 'o', OPTION_TEXT, AT(output), VERBS_OF(VERB_READS), .value = "-|FILE",
	 .help = "the file to write to; -: standard output"},
	{"output", 'o', OPTION_TEXT, AT(output), VERBS_OF(VERB_PACK), .value = "FILE",
	 .help = "the file to write to; default: report1.pillpack for report1.pillion"},
	{"output", 'o', OPTION_TEXT, AT(output), VERBS_OF(VERB_UNPACK), .value = "DIRECTORY",
	 .help = "the directory to write to; default: the capture's original name, beside the file"},
	{"force-overwrite", 'f', OPTION_FLAG, AT(is_forced), VERBS_OF(VERB_EXPORT | VERB_PACK | VERB_VIEW),
	 .help = "replace an existing file"},
	{"interactive", 'i', OPTION_SWITCH, AT(interactive), VERBS_OF(VERB_QUERY),
	 .help = "read statements from standard input, with a prompt on a terminal"},
	{"no-open", 0, OPTION_SWITCH, AT(is_closed), VERBS_OF(VERB_VIEW), .help = "write the page and do not open it"},
	{"replace", 0, OPTION_SWITCH, AT(is_replacing), VERBS_OF(VERB_PACK),
	 .help = "replace the capture's directory by the file once the file is complete"},
	{"keep-symbols", 0, OPTION_SWITCH, AT(keeps_symbols), VERBS_OF(VERB_STATS | VERB_PACK),
	 .help = "first store the names of the functions in stacks in the capture, for when programs and libraries are "
		 "rebuilt or removed, or for another machine"},
	{"split-time", 0, OPTION_OWN, SET(split_time), VERBS_OF(VERB_EXPORT), .value = "TIME",
	 .takes = "a time of at least 1ms with its unit (ns, us, ms, s)",
	 .help = "chrome: one file for each interval of this length (with its unit: ns, us, ms, s): NAME.001.json "
		 "and so on"},
	{"split-size", 0, OPTION_OWN, SET(split_size), VERBS_OF(VERB_EXPORT), .value = "SIZE",
	 .takes = "a number of bytes, at least 4096, or a number with K, M or G",
	 .help = "chrome: files of at most this size in bytes, or with K, M or G"},
	{"quiet", 'q', OPTION_SWITCH, AT(quiet), VERBS_OF(VERB_READS | VERB_PACK | VERB_UNPACK | VERB_RECOVER),
	 .help = "print errors only"},

	{"help", 'h', OPTION_SWITCH, AT(help), VERBS_OF(VERB_ALL), .title = "General", .help = "print this text"},
	{"version", 0, OPTION_SWITCH, AT(version), VERBS_OF(VERB_ALL), .help = "print the version"},
};

static struct option_table table_of(unsigned int verb, const char *help)
{
	return (struct option_table){rows, sizeof(rows) / sizeof(*rows), verb, help};
}

/* ---- parsing ---- */

/* What options mean together. */
static int combine(struct command_line *l, struct text *why)
{
	const struct option_table stats = table_of(VERB_STATS, "");

	bool is_applied = !l->fail_on || !l->rule_count;

	if (l->is_json)
		l->format = FORMAT_JSON;
	if (l->is_json && l->type && l->output && !strcmp(l->output, "-")) {
		text_add(why, "--json and -o - are both for standard output");
		return -EINVAL;
	}
	if (l->is_quoted_csv && l->width) {
		text_add(why, "--csv and --width are two layouts of one table");
		return -EINVAL;
	}
	if (l->is_json && (l->is_quoted_csv || l->width)) {
		text_add(why, "--json prints one JSON object, not a table");
		return -EINVAL;
	}
	for (size_t i = 0; i < l->rule_count; i++)
		is_applied |= l->rules[i] == l->fail_on;
	if (!is_applied) {
		text_add(why, "--fail-on: -r does not select ");
		text_add(why, l->fail_on->name);
		return -EINVAL;
	}
	if (!l->source)
		return 0;
	if (l->by != BY_NOTHING) {
		text_add(why, "--source shows one text and cannot be combined with --by");
		return -EINVAL;
	}
	return l->report_count ? 0 : option_set(option_find(&stats, "report", strlen("report")), l, "lines", why);
}

int command_line_parse(unsigned int verb, const char *help, char **words, struct command_line *ret, struct err *err)
{
	const struct option_table table = table_of(verb, help);
	struct text why = text_init(err->text, sizeof(err->text));
	bool only_captures = false;

	*ret = (struct command_line){.captures = words, .top = TOP_DEFAULT, .gate = GATE_DEFAULT};
	while (*words) {
		const struct option *row;
		const char *value;
		int code;

		if (only_captures || !option_is_word(*words)) {
			ret->captures[ret->capture_count++] = *words++;
			continue;
		}
		only_captures = !strcmp(*words, "--");
		if (only_captures) {
			ret->before_count = ret->capture_count;
			words++;
			continue;
		}
		code = option_next(&table, &words, &row, &value, &why);
		if (!code)
			code = option_set(row, ret, value, &why);
		if (code)
			return code;
	}
	return combine(ret, &why);
}

void command_line_done(struct command_line *l)
{
	free(l->reports);
	free(l->rules);
	l->reports = NULL;
	l->rules = NULL;
}

void command_line_help(unsigned int verb, struct text *ret)
{
	const struct option_table table = table_of(verb, "");

	option_help(&table, false, ret);
}
