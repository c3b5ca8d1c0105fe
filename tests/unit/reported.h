/* SPDX-License-Identifier: Apache-2.0 */
/* What a report prints. */
#ifndef PILLION_TEST_REPORTED_H
#define PILLION_TEST_REPORTED_H

#include <criterion/criterion.h>
#include <stdlib.h>

#include "report/tables/report.h"

/* The rows as CSV, or why there are none; the caller frees it. */
static inline char *reported(const struct report_context *c, const char *name)
{
	struct emit emit = {.format = FORMAT_CSV};
	struct table table = {0};
	char *text = NULL;
	size_t size;

	report_find(name)->run(c, &table);
	emit.file = open_memstream(&text, &size);
	if (table.lacks)
		fprintf(emit.file, "%s\n", table.lacks);
	else
		emit_table(&emit, name, "", &table);
	fclose(emit.file);
	table_done(&table);
	return text;
}

#define EXPECT_REPORT(context, name, wanted)                                        \
	do {                                                                        \
		char *reported_text = reported(context, name);                      \
                                                                                    \
		cr_expect_str_eq(reported_text, wanted, "%s:\n%s", name, reported_text); \
		free(reported_text);                                                \
	} while (0)

#endif
