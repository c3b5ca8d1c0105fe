/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer's entry point: processes a trace file in memory by the reader, the merge, and every report, rule and
 * format; any other input by the parser of index lines. Files that a trace names are not opened. */
#include <stdlib.h>

#include "report/answers/rule.h"
#include "report/answers/summary/summary.h"
#include "report/read/index.h"
#include "report/tables/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *nowhere;

static void run_reports(const struct report_context *context, enum format format)
{
	struct emit emit = {.file = nowhere, .format = format, .unit = UNIT_AUTO, .is_list = true};

	emit_begin(&emit);
	for (size_t i = 0; i < report_count; i++) {
		struct table table = {0};

		if (!report_list[i].run)
			continue;
		report_list[i].run(context, &table);
		emit_table(&emit, report_list[i].name, report_list[i].title, &table);
		table_done(&table);
	}
	emit_end(&emit);
}

static void run_rules(const struct report_context *context)
{
	struct rules rules = {.context = context};

	for (size_t i = 0; i < rule_count; i++) {
		struct finding f;

		rule_run(&rules, &rule_list[i], &f);
		finding_done(&f);
	}
	rules_done(&rules);
}

static void run_line(const uint8_t *data, size_t size)
{
	struct index_line line;

	index_parse((const char *)data, size, &line);
	for (size_t i = 0; i < line.count; i++)
		index_number(&line, line.fields[i].key);
	index_line_done(&line);
}

static void run_merge(const struct model *m)
{
	struct merge *g = merge_new(m, SIZE_MAX);

	while (merge_next(g))
		;
	merge_free(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum by groups[] = {BY_NOTHING, BY_PROCESS, BY_RANK, BY_HOST, BY_RANGE};
	/* Selected by the size, so that each file always takes the same path. */
	struct report_context context = {.by = groups[size / 7 % 5], .lines_all = size / 35 % 2};
	struct buffer summary = {0};
	struct model model;
	struct err err;

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	if (!model_open_bytes(&model, data, size, &err)) {
		context.model = &model;
		context.symbols = symbols_new(&model, false);
		run_merge(&model);
		run_reports(&context, (enum format)(size % FORMAT_COUNT));
		run_rules(&context);
		summary_text(&context, NULL, NULL, 0, &summary);
		buffer_done(&summary);
		symbols_free(context.symbols);
	} else {
		run_line(data, size);
	}
	model_done(&model);
	return 0;
}
