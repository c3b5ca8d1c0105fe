/* SPDX-License-Identifier: Apache-2.0 */
/* The search for the period of a thread, for period.c and period_anchor.c. */
#pragma once

#include "report/time/steps/period.h"

enum { RANGE_MOST = 15 };

struct usual_range {
	uint32_t counts[RANGE_MOST + 1];
	uint32_t least, most;
};

struct period_search {
	const struct looped_call *calls;
	uint32_t count, whats;
	uint64_t lifetime_ns;
	const float *importance;
	/* by what */
	uint32_t *counts, *firsts, *lasts, *seen, *present, *once;
	struct usual_range *ranges; /* how often the interval has it */
	double *weights, all_weights;
	uint8_t *is_core; /* it is called in each step */
	uint64_t *lengths; /* of intervals */
	/* the calls of the anchor */
	uint32_t *places;
	size_t place_count;
	uint32_t core_count;   /* what most intervals have */
	uint32_t usual;	       /* calls in most intervals */
	struct map followers; /* (what, the next one or two) -> how often */
	uint32_t begins;       /* see count_begins; 0: their number varies */
	uint32_t head, tail;   /* calls of the first step before its anchor, and of the last one after it */
};

/* The calls of something from its `first`-th on, as long as the intervals between them are alike. */
struct anchor {
	uint32_t what, first, intervals;
	uint32_t from, until; /* calls */
	/* exact: how often others are called once in an interval; lower if the anchor is called outside of the loop */
	double score, exact, coverage, regular;
};

/* From the begin of a call to that of another one. */
static inline uint64_t period_duration(const struct period_search *s, uint32_t from, uint32_t until)
{
	return s->calls[until].start_ns - s->calls[from].start_ns;
}

/* All calls of something, into s->places. */
void period_places_of(struct period_search *s, uint32_t what);
/* Sorts the lengths of the intervals into s->lengths. Returns the length such that half of the time is in shorter ones,
 * which also is that of a step if several calls follow each other in each. */
uint64_t period_usual_length(struct period_search *s, uint32_t first, uint32_t intervals);
/* The anchor of the steps. False: there is none. */
bool period_choose_anchor(struct period_search *s, struct anchor *ret);
