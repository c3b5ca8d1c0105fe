/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verbs/command_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/verbs/command_list.h"

enum { WORDS_BYTES = 8192 };

/* ---- values ---- */

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

static int set_type(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct command_line *l = settings;

	l->type = export_find(value);
	return l->type ? 0 : option_refuse(row, value, why);
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

static const char *const sort_names[SORTS] = {
	"",		       "cpu_time",	      "cuda_time",	   "cpu_time_total", "cuda_time_total",
	"self_cpu_time_total", "self_cuda_time_total", "cuda_memory_usage", "cpu_memory_usage",
	"self_cpu_memory_usage", "self_cuda_memory_usage", "flops", "count", "cumulative", "tree"};

/* "shape", "stack:5" */
static int set_group(const struct option *row, void *settings, const char *value, struct text *why)
{
	static const char *const names[GROUP_COUNT] = {"shape", "name", "stack", "line", "module", "phase"};
	struct command_line *l = settings;
	size_t length = strcspn(value, ":");
	char *end;

	for (l->group = 0; l->group < GROUP_COUNT; l->group++)
		if (strlen(names[l->group]) == length && !strncmp(names[l->group], value, length))
			break;
	if (l->group == GROUP_COUNT || (value[length] && l->group != GROUP_STACK))
		return option_refuse(row, value, why);
	l->group_depth = 5;
	if (value[length]) {
		unsigned long depth = strtoul(value + length + 1, &end, 10);

		if (*end || value[length + 1] < '1' || value[length + 1] > '9' || depth > 256)
			return option_refuse(row, value, why);
		l->group_depth = (uint32_t)depth;
	}
	return 0;
}

/* "0/4" */
static int set_partial(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct command_line *l = settings;
	char end;

	if (sscanf(value, "%" SCNu32 "/%" SCNu32 "%c", &l->part, &l->part_count, &end) != 2 ||
	    l->part >= l->part_count)
		return option_refuse(row, value, why);
	return 0;
}

/* "1.5,2000000000,0,1800000000000000000" */
static int set_slow_step(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct slow_step *s = &((struct command_line *)settings)->slow_step;
	char end;

	if (sscanf(value, "%lf,%" SCNu64 ",%" SCNu64 ",%" SCNu64 "%c", &s->factor, &s->after_ns, &s->from_ns, &s->to_ns,
		   &end) != 4 ||
	    !(s->factor > 1))
		return option_refuse(row, value, why);
	return 0;
}

static int set_step(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct command_line *l = settings;
	char end;

	if (sscanf(value, "%" SCNu32 "%c", &l->step, &end) != 1)
		return option_refuse(row, value, why);
	l->has_step = true;
	return 0;
}

static int set_source_root(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct command_line *l = settings;

	if (!*value)
		return option_refuse(row, value, why);
	texts_add(&l->source_roots, "%s", value);
	return 0;
}

/* A positive number with a unit: 500ms, 10s, 2m, 1h, 7d. */
bool command_line_time(const char *value, double *ret_s)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
	char *end;
	double number = *value >= '0' && *value <= '9' ? strtod(value, &end) : 0;

	for (size_t i = 0; number > 0 && i < sizeof(units) / sizeof(*units); i++) {
		*ret_s = number * units[i].seconds;
		if (!strcmp(end, units[i].unit))
			return *ret_s < 1e9;
	}
	return false;
}

/* Stored in seconds; `minimum` is in milliseconds. */
static int set_time(const struct option *row, void *settings, const char *value, struct text *why)
{
	double seconds;

	if (!command_line_time(value, &seconds) || seconds * 1e3 < (double)row->minimum)
		return option_refuse(row, value, why);
	memcpy((char *)settings + row->offset, &seconds, sizeof(seconds));
	return 0;
}

/* ---- the table ---- */

#define AT(field) .offset = offsetof(struct command_line, field)
#define WORDS(...) .words = &(const struct option_words)OPTION_WORDS(__VA_ARGS__)
#define LIST(function) .offset = OPTION_NO_FIELD, .set = command_list_##function
#define TIME(field) AT(field), .set = set_time
#define SET(function) .offset = OPTION_NO_FIELD, .set = set_##function
#define VERBS_OF(verbs) .users = (verbs)

enum {
	VERB_LIVE = VERB_STATUS | VERB_CAPTURES | VERB_TOP,
	VERB_READS = VERB_SKILL | VERB_DIFF | VERB_STATS | VERB_INFO | VERB_EXPORT | VERB_ANALYZE | VERB_VIEW |
		     VERB_WHERE | VERB_QUERY | VERB_OPS | VERB_CRITICAL | VERB_WHATIF | VERB_TRY,
	VERB_TABLES = VERB_DIFF | VERB_STATS | VERB_INFO | VERB_ANALYZE | VERB_WHERE | VERB_QUERY | VERB_OPS |
		      VERB_CRITICAL | VERB_WHATIF | VERB_TRY | VERB_LIVE,
	VERB_ONE_OUTPUT = (VERB_READS & ~VERB_STATS) | VERB_LIVE,
	VERB_FILTERS = VERB_STATS | VERB_EXPORT | VERB_ANALYZE | VERB_VIEW | VERB_QUERY | VERB_OPS,
	VERB_ALL = (1 << VERB_COUNT) - 1,
};

static const struct option rows[] = {
	{"report", 'r', OPTION_OWN, LIST(reports), VERBS_OF(VERB_STATS), .title = "What to show",
	 .value = "REPORT[,REPORT]...", .help = "reports to show; may be repeated"},
	{"rule", 'r', OPTION_OWN, LIST(rules), VERBS_OF(VERB_ANALYZE), .value = "RULE[,RULE]...",
	 .help = "rules to apply; may be repeated; all: each of them, RULE:rows=N: at most N rows"},
	{"type", 't', OPTION_OWN, SET(type), VERBS_OF(VERB_EXPORT), .value = "TYPE", WORDS(export_list, .name),
	 .help = "the format to export to"},
	{"metric", 0, OPTION_OWN, SET(metric), VERBS_OF(VERB_EXPORT), .value = "METRIC", WORDS(metrics, .name),
	 .help = "the values in folded, speedscope and pprof"},
	{"by", 0, OPTION_CHOICE, AT(by), VERBS_OF(VERB_STATS), .value = "WHAT", WORDS(by_names),
	 .help = "one row for each"},
	{"rank", 0, OPTION_SWITCH, AT(is_ranking), VERBS_OF(VERB_WHATIF),
	 .help = "what each kernel, line, call and rank could save, instead of edits"},
	{"step", 0, OPTION_OWN, SET(step), VERBS_OF(VERB_CRITICAL), .value = "N",
	 .takes = "the number of a step from 0",
	 .help = "what the end of this step of the main loop waited for, back to its start: the steps that the report "
		 "steps has of the process whose steps take most of the time"},
	{"range", 0, OPTION_TEXT, AT(range), VERBS_OF(VERB_CRITICAL), .value = "RANGE[@DOMAIN][/INDEX]",
	 .help = "likewise of NVTX ranges: all of this name, or the one with this index, as --filter-nvtx has "
		 "it; @*: any domain"},
	{"source", 0, OPTION_TEXT, AT(source), VERBS_OF(VERB_STATS), .value = "FILE",
	 .help = "report lines: the text of FILE with the cost of each line; the end of its path is enough"},
	{"source-root", 0, OPTION_OWN, SET(source_root), VERBS_OF(VERB_STATS | VERB_MCP), .value = "DIRECTORY",
	 .help = "show the text of a source only if it is below this directory and is what the run has recorded; may "
		 "be repeated; default of mcp: the working directory, unless that is /"},
	{"lines-all", 0, OPTION_SWITCH, AT(lines_all), VERBS_OF(VERB_STATS),
	 .help = "report lines: attribute costs to the innermost line, also in libraries"},
	{"columns", 'c', OPTION_OWN, LIST(columns), VERBS_OF(VERB_OPS),
	 .title = "What to show", .value = "COLUMN[,COLUMN]...", WORDS(ops_column_rows, .name),
	 .initial = "idx,dir,sub,mod,op,kernel,params,sil",
	 .help = "the columns, in this order; all: every one"},
	{"inclusive", 0, OPTION_SWITCH, AT(is_inclusive), VERBS_OF(VERB_STATS),
	 .help = "report lines: also the time with callees, as line_profiler shows it: CPU samples and recorded calls "
		 "of all stacks that the line is in"},
	{"group-by", 0, OPTION_OWN, SET(group), VERBS_OF(VERB_STATS),
	 .value = "WHAT", .initial = "shape",
	 .takes = "shape, name, stack, stack:N, line, module or phase",
	 .help = "report pytorch_sum: one row for each operator and shape, name (nothing else), stack[:N] (the N "
		 "innermost frames of the program that launched it), line, module (of nn.Module), phase (forward, "
		 "backward, optimizer, data loading)"},
	{"sort", 0, OPTION_CHOICE, AT(sort), VERBS_OF(VERB_STATS), .value = "KEY", WORDS(sort_names),
	 .help = "report pytorch_sum: the order, by torch.profiler's names; python_import_sum: cumulative, count or "
		 "tree instead of own time"},
	{"verdict", 0, OPTION_SWITCH, AT(verdict), VERBS_OF(VERB_STATS),
	 .help = "only why the run died, or stands still: the lines of the summary that begin with OUT OF MEMORY, DIED "
		 "FIRST, CRASH, DEADLOCK or COLLECTIVE; status 3 if there are any. With --summary: the summary without "
		 "these lines, if the launcher has printed them"},
	{"summary", 0, OPTION_SWITCH, AT(summary), VERBS_OF(VERB_STATS),
	 .help = "a few lines on the whole run instead of reports"},
	{"hung", 0, OPTION_SECONDS, AT(hung_s), VERBS_OF(VERB_WHERE), .value = "SECONDS", .initial = "0",
	 .help = "only threads and ranks that are proved to wait for each other, for SECONDS at least, without asking "
		 "the launchers; status 3 if there are any"},
	{"once", 0, OPTION_SWITCH, AT(is_once), VERBS_OF(VERB_TOP),
	 .help = "print one set of tables and end; so it is where standard output is no terminal"},
	{"interval", 0, OPTION_OWN, TIME(interval_s), VERBS_OF(VERB_TOP), .value = "TIME", .initial = "1s",
	 .minimum = 100, .takes = "a time of 100ms or more with its unit (ms, s, m)",
	 .help = "the time between two rounds"},
	{"openmetrics", 0, OPTION_TEXT, AT(openmetrics), VERBS_OF(VERB_TOP), .value = "FILE",
	 .help = "write metrics for the textfile collector of Prometheus into FILE, in each round anew; with --once "
		 "only once"},
	{"partial", 0, OPTION_OWN, SET(partial), VERBS_OF(VERB_STATS), .value = "I/N",
	 .takes = "the number of a part from 0, and of all parts, such as 0/4",
	 .help = "read one of N parts of the trace files, for a program that starts all N and carries their messages: "
		 "pillion recipe stats"},
	{"filter-time", 0, OPTION_TEXT, AT(filter_time), VERBS_OF(VERB_FILTERS), .value = "START/END",
	 .help = "only what overlaps this interval since the start of the run; numbers with ns, us, ms or s; either "
		 "may be omitted"},
	{"filter-nvtx", 0, OPTION_TEXT, AT(filter_nvtx), VERBS_OF(VERB_FILTERS), .value = "RANGE[@DOMAIN][/INDEX]",
	 .help = "only what overlaps these NVTX ranges: all of this name, or the one with this index from 0, or "
		 "from -1, the last one, backwards; @*: any domain"},
	{"at", 0, OPTION_TEXT, AT(at), VERBS_OF(VERB_START), .title = "When", .value = "/TIME|+TIME|HH:MM:SS",
	 .help = "start later: at the next multiple of TIME of the wall clock, such as /10s, which is the same on all "
		 "hosts; after TIME; or at a time of the day"},
	{"for", 0, OPTION_OWN, TIME(for_s), VERBS_OF(VERB_START), .value = "TIME",
	 .takes = "a time with its unit (ms, s, m, h), such as 5s", .help = "stop after so long"},
	{"remove-older", 0, OPTION_OWN, TIME(remove_older_s), VERBS_OF(VERB_CAPTURES), .title = "What to remove",
	 .value = "AGE", .takes = "an age with its unit (s, m, h, d), such as 7d",
	 .help = "remove the captures of the working directory that nothing was written to for so long, after asking; "
		 "never those of live runs"},
	{"yes", 'y', OPTION_SWITCH, AT(is_agreed), VERBS_OF(VERB_CAPTURES), .help = "do not ask"},
	{"by", 0, OPTION_CHOICE, AT(diff_by), VERBS_OF(VERB_DIFF), .title = "What to compare", .value = "WHAT",
	 WORDS(diff_by_names), .initial = "auto",
	 .help = "rows; auto: what the captures have, in this order: kernel, line, range, api"},
	{"runs", 'n', OPTION_COUNT, AT(runs), VERBS_OF(VERB_TRY | VERB_WHATIF), .title = "What to compare",
	 .value = "N", .takes = "a number of at least 3 runs", .initial = "10", .minimum = TRIAL_LEAST_RUNS,
	 .maximum = 100000,
	 .help = "how often each command runs, or with and without --delay, at least 3 times, after a run of each that "
		 "does not count"},
	{"delay", 0, OPTION_TEXT, AT(delay), VERBS_OF(VERB_WHATIF), .value = "WHAT=TIME",
	 .help = "run the operands, which are a command, with calls that take longer by TIME (with its unit: ns, us, "
		 "ms, s), and without, in turn. WHAT is call~NAME, line~FILE:N, lock~FILE:N, rank~N or "
		 "collective~NAME"},
	{"gate", 0, OPTION_OWN, SET(gate), VERBS_OF(VERB_DIFF | VERB_TRY), .value = "PERCENT", .initial = "3%",
	 .takes = "a percentage, such as 3%", .help = "worse is what has become slower by this much or more"},
	{"over", 0, OPTION_TEXT, AT(over), VERBS_OF(VERB_DIFF), .value = "RANGE[@DOMAIN]",
	 .help = "compare the mean time of a step: what begins within an NVTX range of this name; @*: any domain"},

	{"format", 'f', OPTION_OWN, LIST(formats), VERBS_OF(VERB_STATS), .title = "Output",
	 .value = "FORMAT[,FORMAT]...", WORDS(format_names),
	 .help = "the format of tables; of several, each report in turn has its own, and the last one is that of "
		 "all others; . is the default of the output"},
	{"format", 'f', OPTION_CHOICE, AT(format), VERBS_OF((VERB_TABLES & ~VERB_STATS) | VERB_DOCTOR),
	 .title = "Output", .value = "FORMAT", WORDS(format_names), .help = "the format of tables"},
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
	{"all", 0, OPTION_SWITCH, AT(lists_all), VERBS_OF(VERB_ANALYZE),
	 .help = "list each rule that could not be checked, with the reason"},
	{"sarif", 0, OPTION_SWITCH, AT(is_sarif), VERBS_OF(VERB_ANALYZE),
	 .help = "one object of SARIF 2.1.0, which code hosts show beside the lines that are to be fixed; needs "
		 "Python 3"},
	{"nsys", 0, OPTION_SWITCH, AT(is_nsys), VERBS_OF(VERB_TABLES),
	 .help = "tables on a terminal with all columns in the order of Nsight Systems, as elsewhere; html and "
		 "markdown likewise, with times in ns"},
	{"timeunit", 0, OPTION_OWN, SET(unit), VERBS_OF(VERB_TABLES), .value = "UNIT", WORDS(unit_names),
	 .help = "the unit of times in tables (csv, tsv and json always have ns)"},
	{"top", 0, OPTION_COUNT, AT(top), VERBS_OF(VERB_TABLES), .value = "N", .takes = "a number of rows, 0 for all",
	 .maximum = UINT32_MAX - 1,
	 .help = "at most N rows of each table, 0: all; default: 20 on a terminal, otherwise all"},
	{"fail-on", 0, OPTION_OWN, LIST(fail_on), VERBS_OF(VERB_ANALYZE), .value = "found[:RULE]",
	 .takes = "found or found:RULE", .help = "exit with 3 if a rule, or this rule, has found something"},
	{"output", 'o', OPTION_OWN, LIST(outputs), VERBS_OF(VERB_STATS), .value = "-|.|@COMMAND|FILE[,...]",
	 .takes = "a list of -, ., @COMMAND and names of files",
	 .help = "where to write to. -: standard output; FILE: all tables into this file; .: each report into a file "
		 "of its own, report1_REPORT.csv for report1.pillion; @COMMAND: into the standard input of a command "
		 "that is run for each report, without a shell. Of several, each report in turn has its own, the last "
		 "one is that of all others, and FILE is the beginning of a name, FILE_REPORT.csv"},
	{"force-overwrite", 0, OPTION_FLAG, AT(is_forced), VERBS_OF(VERB_STATS),
	 .help = "replace files of reports that exist"},
	{"output", 'o', OPTION_TEXT, AT(output), VERBS_OF(VERB_ONE_OUTPUT), .value = "-|FILE",
	 .help = "the file to write to; -: standard output"},
	{"output", 'o', OPTION_TEXT, AT(output), VERBS_OF(VERB_PACK), .value = "FILE",
	 .help = "the file to write to; default: report1.pillpack for report1.pillion"},
	{"output", 'o', OPTION_TEXT, AT(output), VERBS_OF(VERB_UNPACK), .value = "DIRECTORY",
	 .help = "the directory to write to; default: the capture's original name, beside the file"},
	{"output", 'o', OPTION_TEXT, AT(output), VERBS_OF(VERB_DUMP), .value = "NAME",
	 .help = "the capture to write; default: report1.dump1.pillion beside report1.pillion, and so on"},
	{"slow-step", 0, OPTION_OWN, SET(slow_step), VERBS_OF(VERB_DUMP), .value = "FACTOR,AFTER,FROM,TO",
	 .takes = "a factor above 1 and three numbers of nanoseconds",
	 .help = "only if a step took longer than FACTOR times its usual time, and between FROM and TO, in ns since "
		 "1970, five steps or AFTER ns had followed it; status 3 then, 0 else: what --on=slow-step uses"},
	{"output", 'o', OPTION_TEXT, AT(output), VERBS_OF(VERB_DOCTOR), .value = "NAME",
	 .help = "the capture that a run would write; default: one in the current directory"},
	{"force-overwrite", 'f', OPTION_FLAG, AT(is_forced), VERBS_OF(VERB_EXPORT | VERB_PACK | VERB_VIEW),
	 .help = "replace an existing file"},
	{"interactive", 'i', OPTION_SWITCH, AT(interactive), VERBS_OF(VERB_QUERY),
	 .help = "read statements from standard input, with a prompt on a terminal"},
	{"time-limit", 0, OPTION_COUNT, AT(time_limit), VERBS_OF(VERB_QUERY | VERB_OPS | VERB_MCP), .value = "SECONDS",
	 .takes = "a number of seconds, 0 for any", .maximum = 1000000,
	 .help = "end what takes longer: a query (default: 0, any time), reading a database (default: 600), a call of "
		 "a tool of mcp (default: 60)"},
	{"no-open", 0, OPTION_SWITCH, AT(is_closed), VERBS_OF(VERB_VIEW), .help = "write the page and do not open it"},
	{"replace", 0, OPTION_SWITCH, AT(is_replacing), VERBS_OF(VERB_PACK),
	 .help = "replace the capture's directory by the file once the file is complete"},
	{"redact", 0, OPTION_SWITCH, AT(is_redacting), VERBS_OF(VERB_PACK),
	 .help = "replace command lines and names of hosts, users, files and threads by random ones of equal length, "
		 "and leave out the memory that `pillion where` shows; names of functions and ranges stay (needs "
		 "python3)"},
	{"keep-symbols", 0, OPTION_SWITCH, AT(keeps_symbols), VERBS_OF(VERB_STATS | VERB_PACK),
	 .help = "first store the names of the functions in stacks in the capture, for when programs and libraries are "
		 "rebuilt or removed, or for another machine"},
	{"keep-sources", 0, OPTION_SWITCH, AT(keeps_sources), VERBS_OF(VERB_STATS),
	 .help = "then store size, time and hash of the source files in stacks in the capture, so that their text can "
		 "be verified later; the end of a run does so"},
	{"split-time", 0, OPTION_OWN, SET(split_time), VERBS_OF(VERB_EXPORT), .value = "TIME",
	 .takes = "a time of at least 1ms with its unit (ns, us, ms, s)",
	 .help = "chrome: one file for each interval of this length (with its unit: ns, us, ms, s): NAME.001.json "
		 "and so on"},
	{"split-size", 0, OPTION_OWN, SET(split_size), VERBS_OF(VERB_EXPORT), .value = "SIZE",
	 .takes = "a number of bytes, at least 4096, or a number with K, M or G",
	 .help = "chrome: files of at most this size in bytes, or with K, M or G"},
	{"critical-path", 0, OPTION_SWITCH, AT(has_critical_path), VERBS_OF(VERB_EXPORT),
	 .help = "chrome, perfetto: the critical path of the whole run, with arrows to what waited"},
	{"show-secrets", 0, OPTION_SWITCH, AT(shows_secrets),
	 VERBS_OF((VERB_READS & ~VERB_SKILL & ~VERB_TRY) | VERB_LIVE),
	 .help = "show command lines as they were; default: the values of options and variables named like a password, "
		 "a token or a key, and passwords in URLs, are shown as [masked]"},
	{"quiet", 'q', OPTION_SWITCH, AT(quiet),
	 VERBS_OF(VERB_READS | VERB_PACK | VERB_UNPACK | VERB_RECOVER | VERB_CAPTURES | VERB_DUMP),
	 .help = "print errors only"},

	{"force-export", 0, OPTION_FLAG, OPTION_IGNORED, .is_nsys = true, .offset = OPTION_NO_FIELD,
	 VERBS_OF(VERB_STATS), .value = "true|false", .help = "captures are read without an export"},
	{"sqlite", 0, OPTION_TEXT, OPTION_IGNORED, .is_nsys = true, .offset = OPTION_NO_FIELD, VERBS_OF(VERB_STATS),
	 .help = "captures are read without an export; pillion export -t sqlite writes one"},
	{"pid", 'p', OPTION_TEXT, OPTION_REFUSED, .is_nsys = true, .offset = OPTION_NO_FIELD, VERBS_OF(VERB_WHERE),
	 .help = "the PID is the operand: pillion where PID"},
	{"pid", 'p', OPTION_TEXT, OPTION_REFUSED, .is_nsys = true, .offset = OPTION_NO_FIELD, VERBS_OF(VERB_TOP),
	 .help = "the PID is the operand: pillion top PID"},

	{"help", 'h', OPTION_SWITCH, AT(help), VERBS_OF(VERB_ALL), .title = "General", .help = "print this text"},
	{"help-reports", 0, OPTION_SWITCH, AT(help_reports), VERBS_OF(VERB_STATS),
	 .help = "print the list of reports, or the rows of those that are named"},
	{"help-formats", 0, OPTION_SWITCH, AT(help_formats), VERBS_OF(VERB_STATS),
	 .help = "print the list of formats"},
	{"version", 0, OPTION_SWITCH, AT(version), VERBS_OF(VERB_ALL), .help = "print the version"},
};

static struct option_table table_of(unsigned int verb, const char *help)
{
	return (struct option_table){rows, sizeof(rows) / sizeof(*rows), verb, help};
}

/* ---- parsing ---- */

/* One format and one plain name are for all tables together. */
static int combine_outputs(struct command_line *l, struct text *why)
{
	const char *first = l->outputs.count ? l->outputs.items[0] : "-";

	l->is_listed = l->format_count > 1 || l->outputs.count > 1 || !strcmp(first, ".") || *first == '@';
	if (!l->is_listed) {
		l->format = l->format_count && l->formats[0] != FORMAT_COUNT ? l->formats[0] : l->format;
		l->output = l->outputs.count ? first : l->output;
	} else if (l->is_json || l->summary || l->source) {
		text_add(why, "several formats or outputs are for reports and cannot be combined with --");
		text_add(why, l->is_json ? "json" : l->summary ? "summary" : "source");
		return -EINVAL;
	}
	return 0;
}

/* What options mean together. */
static int combine(struct command_line *l, struct text *why)
{
	const struct option_table stats = table_of(VERB_STATS, "");

	if (combine_outputs(l, why))
		return -EINVAL;

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
	if (l->is_sarif) {
		text_add(why, "--sarif is written by Python: by `pillion analyze --sarif` alone, in full");
		return -EINVAL;
	}
	if (l->fail_on && l->rule_count &&
	    !array_find(selected, l->rules, l->rule_count, selected->rule == l->fail_on)) {
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

	*ret = (struct command_line){.captures = words, .top = TOP_DEFAULT, .gate = GATE_DEFAULT, .runs = RUNS_DEFAULT,
				     .time_limit = TIME_LIMIT_DEFAULT, .interval_s = 1};
	while (*words) {
		const struct option *row;
		const char *value;
		int code;

		if (only_captures || !option_is_word(*words) || (ret->delay && ret->capture_count)) {
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
		if (text_length(&why)) {
			texts_add(&ret->remarks, "%s", err->text);
			why = text_init(err->text, sizeof(err->text));
		}
	}
	return combine(ret, &why);
}

void command_line_help(unsigned int verb, struct text *ret)
{
	const struct option_table table = table_of(verb, "");

	option_help(&table, false, ret);
}

void command_line_table(unsigned int verb, const char *name, struct text *ret)
{
	const struct option_table table = table_of(verb, "");
	const struct option *row;

	for (size_t i = 0; (row = option_row(&table, i)); i++) {
		char bytes[WORDS_BYTES];
		struct text words = text_init(bytes, sizeof(bytes));

		if (!option_belongs(&table, row))
			continue;
		option_help_row(row, name, command_list_words(row, &words) ? bytes : NULL, ret);
	}
}
