/* SPDX-License-Identifier: Apache-2.0 */
/* From where a line is reached: a line in a helper function tells little without the line that calls the helper.
 * The caller is the nearest frame of the user's code around the line that is in another function or file, unless that
 * frame is the top level of the same Python file. The caller is named where CALLER_PERCENT of the time that was
 * recorded at the line, in calls and samples with a stack, has the same caller. */
#pragma once

#include "report/events/scan.h"

enum { CALLER_PERCENT = 90 };

struct caller_query {
	const struct code_line *line; /* NULL: none */
	struct buffer *ret; /* "/dir/file:line", a function in programs without lines; left empty: there is no such
			     * caller */
};

/* Answers all queries with one reading of the events. */
void callers_find(const struct report_context *c, const struct caller_query *queries, size_t count);
