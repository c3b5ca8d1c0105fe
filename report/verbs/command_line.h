/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the verbs: one table for the command line and for --help. */
#pragma once

#include "report/answers/diff/gather.h"
#include "report/answers/diff/trial.h"
#include "report/answers/rule.h"
#include "report/export/export_split.h"
#include "report/tables/ops/ops.h"
#include "report/tables/report.h"
#include "report/time/steps/steps.h"
#include "runtime/shared/base/option.h"
#include "runtime/shared/base/verb_list.h"

/* verb_<name> is the struct verb, VERB_<NAME> the bit that the options of the verb have. */
#define VERB_PLACE(NAME, name, use) VERB_PLACE_##NAME,
enum { VERBS(VERB_PLACE) VERB_COUNT };
#undef VERB_PLACE
#define VERB_BIT(NAME, name, use) VERB_##NAME = 1 << VERB_PLACE_##NAME,
enum { VERBS(VERB_BIT) };
#undef VERB_BIT

/* Their -o names what they write, not a table. */
enum { VERB_WRITES = VERB_EXPORT | VERB_VIEW | VERB_PACK | VERB_UNPACK };

/* Likewise; that of doctor names the capture of a later run. */
enum { VERB_NAMES = VERB_WRITES | VERB_DOCTOR | VERB_DUMP };

/* Without CAPTURE they take the newest one of the working directory. */
enum { VERB_NEWEST = VERB_STATS | VERB_INFO | VERB_ANALYZE | VERB_CRITICAL | VERB_VIEW | VERB_EXPORT | VERB_PACK };

enum { TOP_DEFAULT = UINT32_MAX, TIME_LIMIT_DEFAULT = UINT32_MAX };
#define GATE_DEFAULT 0.03
#define RUNS_DEFAULT 10

struct requested_report {
	const struct report *report;
	enum kernel_name kernel_name;
	bool has_ranges; /* as kernel_ranges of struct report_context */
	bool is_alias; /* it was requested by its older name */
};

struct requested_rule {
	const struct rule *rule;
	uint32_t rows; /* at most; 0: not given */
};

struct command_line {
	struct requested_report *reports; /* NULL: the default set */
	size_t report_count, report_capacity;
	struct requested_rule *rules; /* NULL: all */
	size_t rule_count, rule_capacity;
	enum format format;
	enum time_unit unit;
	enum by by;
	const char *output; /* NULL or "-": stdout */
	/* stats: each report in turn has a format and an output, the last one of each is that of the others, too. */
	enum format *formats; /* FORMAT_COUNT: the default of the output */
	size_t format_count, format_capacity;
	struct texts outputs;
	bool is_listed; /* the reports are written one by one as these lists say, not all as format and output do */
	const char *filter_time, *filter_nvtx; /* NULL: everything; see filter.h */
	uint32_t top;	/* rows of a table, 0: all; TOP_DEFAULT: not given */
	uint32_t time_limit; /* seconds, 0: none; TIME_LIMIT_DEFAULT: not given */
	bool fail_on_found;
	const struct rule *fail_on; /* NULL: any rule */
	bool lines_all, is_inclusive;
	enum operator_group group;
	uint32_t group_depth;
	enum row_sort sort;
	const char *source; /* NULL: not given */
	struct texts source_roots;
	double hung_s; /* where: 0: everything */
	double interval_s; /* top */
	const char *openmetrics; /* top: NULL: not given */
	bool is_once; /* top */
	struct slow_step slow_step; /* dump */
	bool is_nsys; /* tables on a terminal as Nsight Systems has them */
	bool quiet, summary, verdict, help, version;
	bool help_reports, help_formats; /* stats: prints its lists */
	uint32_t part, part_count; /* stats: of the trace files, this process reads a part; count 0: all */
	const struct export_type *type; /* NULL: not given */
	enum metric metric;
	struct split split;
	bool has_critical_path;
	bool is_metric_given, is_forced, is_replacing, is_redacting;
	bool keeps_symbols, keeps_sources, shows_secrets;
	bool has_step;
	uint32_t step;	   /* critical */
	const char *range; /* critical; NULL: not given */
	bool is_ranking; /* whatif: what each could save */
	bool is_json; /* one JSON object: envelope.h */
	bool is_sarif;
	bool lists_all; /* analyze: the rules that could not be checked */
	uint32_t json_bytes; /* of its rows at most; 0: any */
	bool is_closed; /* view: does not open the page */
	uint8_t columns[OPS_COLUMNS]; /* ops: enum ops_column, in this order */
	size_t column_count;	      /* 0: those of PyProf */
	uint32_t width;		      /* ops: of PyProf's columns, 0: not given */
	bool is_quoted_csv;	      /* ops: PyProf's CSV */
	const char *at; /* start: NULL: now */
	double for_s;	/* start: 0: until it is stopped */
	double remove_older_s; /* captures: 0: removes none */
	bool is_agreed;	       /* captures: removes without asking */
	bool interactive; /* query: statements come from standard input */
	enum diff_by diff_by;
	double gate;
	uint32_t runs; /* try, whatif --delay: of each kind */
	const char *delay; /* whatif: NULL: not given. The operands are then a command, not captures */
	const char *over;    /* diff: the range that is a step; NULL: not given */
	size_t before_count; /* diff: captures before "--"; 0: there was none */
	struct texts remarks; /* what of the options has no effect */
	char **captures; /* borrowed from argv */
	size_t capture_count;
};

/* `words`: argv without program and verb, NULL-terminated; its captures are moved to the front. `help`: the
 * command that shows the options. 0 or -EINVAL. */
int command_line_parse(unsigned int verb, const char *help, char **words, struct command_line *ret, struct err *err);

/* Parses a positive number with a unit: 500ms, 10s, 2m, 1h, 7d. */
bool command_line_time(const char *value, double *ret_s);

/* The options of a verb, for --help. */
void command_line_help(unsigned int verb, struct text *ret);

/* Likewise, for programs: option_help_table. */
void command_line_table(unsigned int verb, const char *name, struct text *ret);
