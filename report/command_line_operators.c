/* SPDX-License-Identifier: Apache-2.0 */
#include "report/command_line_operators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *command_line_sort(size_t i)
{
	static const char *const names[SORTS] = {
		"",		       "cpu_time",	      "cuda_time",	   "cpu_time_total", "cuda_time_total",
		"self_cpu_time_total", "self_cuda_time_total", "cuda_memory_usage", "flops",	     "count"};

	return i < SORTS ? names[i] : NULL;
}

/* "shape", "stack:5" */
int command_line_set_group(const struct option *row, void *settings, const char *value, struct text *why)
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

const char *command_line_ops_column(size_t i)
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

int command_line_set_columns(const struct option *row, void *settings, const char *value, struct text *why)
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
