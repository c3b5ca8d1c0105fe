/* SPDX-License-Identifier: Apache-2.0 */
/* What ended the run, or made it stand still: the first lines of the summary, the table `ended`, and the rules of
 * RULE_ENDED. */
#pragma once

#include "report/answers/summary/summary_died.h"
#include "report/causes/where/place.h"

/* The first of these that holds is the cause. */
enum ended_kind { ENDED_MEMORY, ENDED_DIED, ENDED_CRASH, ENDED_DEADLOCK, ENDED_COLLECTIVE, ENDED_STALLED, ENDED_KINDS };
extern const char *const ended_words[ENDED_KINDS];

struct ended {
	struct died died;
	struct where_place place;
	bool has_ranks; /* several */
	size_t hangs; /* cycles of threads, and ranks that do not go on */
	struct buffer lines[ENDED_KINDS]; /* of the summary, in this order; each begins with its word */
};

/* Borrowed from the rules, which find it once. */
const struct ended *rules_ended(struct rules *r);
/* All its lines. False: there are none. */
bool ended_text(const struct ended *e, struct buffer *out);
void ended_free(struct ended *e);

/* A row for the death that ended the run, for a kill for memory, for each thread of a proved deadlock, and for each
 * rank that did not come to a collective or waits for other ranks. ret_lines: of each kind the first line; NULL: none
 * is known. */
void summary_ended(struct rules *r, struct table *t, const struct code_line *ret_lines[ENDED_KINDS]);
