/* SPDX-License-Identifier: Apache-2.0 */
/* Whether one set of runs is slower than another, and which rows are. docs/decisions/diff.md has the reasons. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum row_verdict { ROW_NOISE, ROW_FEW, ROW_SLOWER, ROW_FASTER, ROW_NEW, ROW_VANISHED };
enum diff_verdict { DIFF_NOT_WORSE, DIFF_WORSE, DIFF_UNCLEAR };

/* The time of a row in each run. */
struct judged {
	const double *times;	 /* by run, those before first */
	const double *variances; /* likewise, see series_variance */
	const double *samplings; /* likewise, see series_sampling */
	size_t group;		 /* rows of one function have the same, below the number of rows */
	/* filled in: */
	double before, after; /* means */
	double change;	      /* logarithm of after / before; 0 if one of them is 0 */
	double noise;	      /* standard error of `change`; negative: not known */
	enum row_verdict verdict;
};

struct judgement {
	enum diff_verdict verdict;
	double before, after;
	double change, noise; /* of the sum, as in struct judged */
	double common;	      /* few runs: the change that all rows have in common, as a logarithm */
	double explained;     /* by rows whose change is no noise, and those of their groups with few values: the part
				 of `before` by which they are longer */
	bool is_pair;	      /* one run on each side */
	size_t compared;      /* rows whose noise is known */
};

/* `before` and `after`: the number of runs. `gate`: 0.03 for 3 %. */
void judge(struct judged *rows, size_t count, size_t before, size_t after, double gate, struct judgement *ret);
