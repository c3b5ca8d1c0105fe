/* SPDX-License-Identifier: Apache-2.0 */
/* Captures of two sides as one table of changes. */
#pragma once

#include "report/answers/diff/gather.h"
#include "report/answers/diff/judge.h"
#include "report/base/table/emit.h"

struct diff_row {
	char *name, *line; /* line: where its time changed most; "": not known */
	double before, after; /* values per run */
	bool is_foreign; /* see struct gathered */
};

/* The wall and the CPU time of the run. They count in the verdict, but not in the sum of the rows. */
struct diff_whole {
	double *times, *variances; /* as in struct judged */
	struct judged judged;
	struct judgement judgement;
	bool is_known; /* in each capture */
};
enum { WHOLE_WALL, WHOLE_CPU, WHOLE_COUNT };

struct diff {
	/* set by the caller: */
	enum diff_by by;
	double gate;
	struct gathered *captures; /* those before first */
	size_t before, after;
	bool is_damaged; /* something of a capture could not be read */
	/* filled in, by row: */
	struct diff_row *rows;
	struct judged *judged;
	size_t count;
	struct judgement judgement;
	double *times, *variances, *samplings;
	struct diff_whole whole[WHOLE_COUNT];
	bool is_worse_as_whole; /* the run is worse, the rows are not */
	bool is_unsampled; /* most of a run computes what the rows do not have */
};

void diff_compare(struct diff *d);
void diff_done(struct diff *d);

/* The sum, then the rows, those with the largest change of time first. */
void diff_table(const struct diff *d, struct table *table);

/* The verdict in a sentence or two, and what could make it certain. */
void diff_reason(const struct diff *d, struct buffer *ret);

extern const char *const diff_verdicts[]; /* "not worse", "worse", "cannot judge" */
