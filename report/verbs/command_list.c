/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verbs/command_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/verbs/command_line.h"
#include "runtime/shared/base/nearest.h"

/* What -r takes the names of. */
struct name_list {
	const char *what, *help;
	const size_t *count;
	const char *(*name)(const void *list, size_t i);	   /* names and aliases in turn */
	bool (*add)(struct command_line *l, char *name); /* false: there is none of that name */
};

/* Takes the suffixes off a report's name: ":nvtx-name:base". False: the report does not take them. */
static bool take_suffixes(struct command_line *l, char *name, struct requested_report *ret)
{
	char *rest = strchr(name, ':'), *word;
	unsigned int flags = 0;

	if (rest)
		*rest++ = 0;
	while ((word = strsep(&rest, ":"))) {
		if (!strcmp(word, "nvtx-name"))
			ret->has_ranges = true;
		else if (!strcmp(word, "base"))
			ret->kernel_name = KERNEL_BASE;
		else if (!strcmp(word, "mangled"))
			ret->kernel_name = KERNEL_MANGLED;
		else
			return false;
		flags = REPORT_NAMES;
	}
	ret->report = report_find(name);
	if (ret->report && ret->has_ranges && !(ret->report->flags & REPORT_RANGES)) {
		ret->has_ranges = false;
		texts_add(&l->remarks, "%s:nvtx-name is ignored: cuda_gpu_kern_sum, cuda_gpu_kern_gb_sum and "
				       "cuda_gpu_sum have the names of ranges", name);
	}
	return ret->report && (ret->report->flags & flags) == flags;
}

static bool add_report(struct command_line *l, char *name)
{
	struct requested_report r = {0};

	if (!take_suffixes(l, name, &r))
		return false;
	r.is_alias = strcmp(name, r.report->name) != 0;
	mem_append(l->reports, l->report_count, l->report_capacity, r);
	return true;
}

static void put_rule(struct command_line *l, const struct rule *r, uint32_t rows)
{
	mem_append(l->rules, l->rule_count, l->rule_capacity, (struct requested_rule){r, rows});
}

/* "all", "RULE", "RULE:rows=N". Of what else nsys takes there, a remark says that it has no effect. */
static bool add_rule(struct command_line *l, char *name)
{
	char *rest = strchr(name, ':'), *word, *end;
	const struct rule *r;
	uint32_t rows = 0;
	bool is_all;

	if (rest)
		*rest++ = 0;
	r = rule_find(name);
	is_all = !strcmp(name, "all");
	while ((word = strsep(&rest, ":"))) {
		if (text_begins_with(word, "rows=")) {
			rows = (uint32_t)strtoul(word + 5, &end, 10);
			if (!rows || *end)
				return false;
		} else if (strchr(word, '=')) {
			texts_add(&l->remarks, "%s:%s is ignored%s", name, word,
				  text_begins_with(word, "nvtx=")	? ": use --filter-nvtx"
				  : text_begins_with(word, "start=") ||
						  text_begins_with(word, "end=") ? ": use --filter-time"
								 : "");
		} else {
			return false;
		}
	}
	if (r && !is_all)
		put_rule(l, r, rows);
	for (size_t i = 0; i < rule_count && is_all; i++)
		put_rule(l, &rule_list[i], rows);
	return r || is_all;
}

static const char *report_name(const void *list, size_t i)
{
	return i % 2 ? report_list[i / 2].alias : report_list[i / 2].name;
}

static const char *rule_name(const void *list, size_t i)
{
	return i % 2 ? rule_list[i / 2].alias : rule_list[i / 2].name;
}

static const struct name_list named_reports = {"report", "pillion stats --help", &report_count, report_name,
					       add_report};
static const struct name_list named_rules = {"rule", "pillion analyze --help", &rule_count, rule_name, add_rule};

static int unknown_name(const struct name_list *n, const char *typed, struct text *why)
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

static int add_names(const struct option *row, struct command_line *l, const struct name_list *n, const char *value,
		     struct text *why)
{
	const char *list = value;
	size_t taken = 0;

	while (*list) {
		size_t length = strcspn(list, ",");
		SCOPED_MEMORY char *name = mem_copy_text(list, length);
		SCOPED_MEMORY char *parts = mem_copy_text(list, length);
		int code = !length || n->add(l, parts) ? 0 : unknown_name(n, name, why);

		if (code)
			return code;
		taken += length > 0;
		list += length + (list[length] == ',');
	}
	return taken ? 0 : option_refuse(row, value, why);
}

int command_list_reports(const struct option *row, void *settings, const char *value, struct text *why)
{
	return add_names(row, settings, &named_reports, value, why);
}

int command_list_rules(const struct option *row, void *settings, const char *value, struct text *why)
{
	return add_names(row, settings, &named_rules, value, why);
}

/* "found" or "found:RULE". */
int command_list_fail_on(const struct option *row, void *settings, const char *value, struct text *why)
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

/* The words of nsys besides ours. */
static enum format format_find(const char *name)
{
	enum format f = 0;

	if (!strcmp(name, "hdoc") || !strcmp(name, "htable"))
		return FORMAT_HTML;
	while (f < FORMAT_COUNT && strcmp(format_names[f], name) != 0)
		f++;
	return f;
}

/* Calls add() with each part of a list between commas. An empty part is refused. */
static int add_parts(const struct option *row, struct command_line *l, const char *value, struct text *why,
		     bool (*add)(struct command_line *l, const char *part))
{
	const char *list = value;
	bool is_last = false;

	while (!is_last) {
		size_t length = strcspn(list, ",");
		SCOPED_MEMORY char *part = mem_copy_text(list, length);
		bool is_taken = length && add(l, part);

		if (!is_taken)
			return option_refuse(row, value, why);
		is_last = !list[length];
		list += length + 1;
	}
	return 0;
}

static bool add_format(struct command_line *l, const char *part)
{
	enum format f = format_find(part);

	if (f == FORMAT_COUNT && strcmp(part, ".") != 0)
		return false;
	mem_append(l->formats, l->format_count, l->format_capacity, f);
	return true;
}

static bool add_output(struct command_line *l, const char *part)
{
	texts_add(&l->outputs, "%s", part);
	return strcmp(part, "@") != 0;
}

int command_list_formats(const struct option *row, void *settings, const char *value, struct text *why)
{
	return add_parts(row, settings, value, why, add_format);
}

int command_list_outputs(const struct option *row, void *settings, const char *value, struct text *why)
{
	return add_parts(row, settings, value, why, add_output);
}

static bool is_word(const char *word, const char *text, size_t length)
{
	return strlen(word) == length && !strncmp(word, text, length);
}

static int refuse_column(const char *name, size_t length, struct text *why)
{
	text_add(why, "--columns takes a list of names with commas, and there is no '");
	text_bytes(why, name, length < 100 ? length : 100);
	text_add(why, "'; there are all, or ");
	for (size_t i = 0; i < OPS_COLUMNS; i++) {
		text_add(why, i ? " " : "");
		text_add(why, ops_column_rows[i].name);
	}
	return -EINVAL;
}

int command_list_columns(const struct option *row, void *settings, const char *value, struct text *why)
{
	struct command_line *l = settings;
	const char *at = value;

	(void)row;
	if (!strcmp(value, "all")) {
		for (l->column_count = 0; l->column_count < OPS_COLUMNS; l->column_count++)
			l->columns[l->column_count] = (uint8_t)l->column_count;
		return 0;
	}
	for (l->column_count = 0; l->column_count < OPS_COLUMNS; at++) {
		size_t length = strcspn(at, ","), column = 0;

		while (column < OPS_COLUMNS && !is_word(ops_column_rows[column].name, at, length))
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

bool command_list_words(const struct option *row, struct text *ret)
{
	const struct name_list *n = row->set == command_list_reports ? &named_reports
				    : row->set == command_list_rules ? &named_rules
								     : NULL;

	for (size_t i = 0; n && i < *n->count; i++) {
		text_add(ret, i ? "|" : "");
		text_add(ret, n->name(NULL, 2 * i));
	}
	return n;
}
