/* SPDX-License-Identifier: Apache-2.0 */
/* What a run says of itself, as tables for programs and for the page. */
#pragma once

#include "report/answers/answer.h"

enum answer_table {
	ANSWER_RUN,
	ANSWER_FIX_FIRST,
	ANSWER_ROLES,
	ANSWER_GPU,
	ANSWER_RANKS,
	ANSWER_LINES,
	ANSWER_CALLS,
	ANSWER_ENDED,
	ANSWER_LEDGER,
	ANSWER_TABLES
};

extern const struct answer_table_names {
	const char *name, *title;
} answer_table_names[ANSWER_TABLES];

/* It may have no rows. */
void answer_table(struct answer *a, enum answer_table which, struct table *ret);

/* ---- cells, for other tables about findings ---- */

void answer_text(struct table *t, const char *text); /* nothing, if it is empty or NULL */

/* FILE:LINE; with_function: and a cell with the function. */
void answer_line(struct table *t, const struct code_line *line, bool with_function);

/* What a repair saves, its bounds, and its share of the run. */
void answer_saving(struct table *t, const struct saving *s, uint64_t wall_ns);

/* The functions of a cause as a list of JSON: Line, Function, Time (ns), Own (ns). */
void answer_frames(struct table *t, const struct fix_first_cause *cause);

/* What to change. */
const char *answer_advice(const struct fix_first_cause *cause);
