/* SPDX-License-Identifier: Apache-2.0 */
/* Aggregation by name with exact medians. Values are read several times instead of being stored, so memory grows
 * with the number of names, not of values. The caller reads all values once per pass:
 *
 *	do
 *		for each value: aggregate_add(s, aggregate_row(...), value);
 *	while (aggregate_next_pass(s)); */
#pragma once

#include "report/base/bytes.h"
#include "report/base/interner.h"

struct aggregate_row {
	const char *key; /* fields, each terminated by NUL */
	size_t key_size;
	uint64_t count, total, least, most;
	unsigned __int128 squares;
	double median;
	bool has_no_median; /* some values are known by their sums only */
	uint64_t report_value; /* free for use by the report */
	const void *of;	       /* likewise: what the row is about */
	void *more;	       /* see aggregate_more; NULL: nothing */
	/* search for the median: values are stored, or counted in buckets of [low, low + width) */
	uint64_t *values, *buckets;
	size_t value_count, value_capacity;
	uint64_t low, width, step; /* step 0: buckets of the first pass */
	uint64_t below, inside;	   /* number of values below low, and within the range */
	uint64_t next;		   /* the smallest value above the range */
	uint64_t lower;		   /* the lower of the two middle values, if is_lower_known */
	bool is_lower_known, is_settled;
};

struct aggregate {
	struct aggregate_row *rows;
	size_t count, capacity;
	struct interner keys; /* the number of a key is its row, until aggregate_sort */
	struct map cache; /* a pair of numbers by which the caller identifies a row -> row */
	unsigned int pass;
	bool totals_only; /* no medians are needed: one pass suffices */
};

/* The row of a key, created if it does not exist. */
uint32_t aggregate_row(struct aggregate *s, const char *key, size_t size);

/* The row stored for (a, b). NULL: there is none yet, and the caller stores one with aggregate_remember. */
const uint64_t *aggregate_recall(struct aggregate *s, uint64_t a, uint64_t b);
void aggregate_remember(struct aggregate *s, uint64_t a, uint64_t b, uint32_t row);

void aggregate_add(struct aggregate *s, uint32_t row, uint64_t value);

/* Adds several values of which this is known: the median becomes invalid. */
void aggregate_add_sum(struct aggregate *s, uint32_t row, uint64_t count, uint64_t total, uint64_t least, uint64_t most,
		       double squares);

/* Adds several values of which only the sum is known: median, minimum and deviation become invalid. */
void aggregate_add_total(struct aggregate *s, uint32_t row, uint64_t count, uint64_t total);

/* What a report keeps of a row beside its values: zeroed, of one type in an aggregate, and freed with it.
 * struct file_sums *r = aggregate_more(&f->keys, row, sizeof(*r)) */
void *aggregate_more(struct aggregate *s, uint32_t row, size_t size);

/* Ends a pass. True: the caller adds all values once more. */
bool aggregate_next_pass(struct aggregate *s);

/* Several threads add values, each to a part of its own: before each pass aggregate_split prepares a part, which is
 * zeroed before the first one, and after it aggregate_join adds what the part has. The result does not depend on
 * which part had which values. */
void aggregate_split(const struct aggregate *s, struct aggregate *part);
void aggregate_join(struct aggregate *s, struct aggregate *part);

/* The same for parts in other processes: aggregate_save appends what a part has and empties it, or, of what
 * aggregate_split has prepared, the ranges to search. aggregate_load gives either to a part that is zeroed. False: the
 * bytes are not from aggregate_save. */
void aggregate_save(struct aggregate *part, struct buffer *ret);
bool aggregate_load(struct aggregate *part, struct bytes *from);

/* Sorts by total in descending order, then by key. Row numbers are invalid afterwards. */
void aggregate_sort(struct aggregate *s);
/* Likewise by another comparator of rows, as for qsort; the sort is stable. */
void aggregate_sort_by(struct aggregate *s, int (*compare)(const void *, const void *));
/* Such a comparator by what a report keeps of its rows; `order` is an expression of a and b, and of row_a and row_b. */
#define ROW_COMPARATOR(name, type, order)                                          \
	static int name(const void *left, const void *right)                       \
	{                                                                          \
		const struct aggregate_row *row_a = left, *row_b = right;          \
		const type *a = row_a->more;                                       \
		const type *b = row_b->more;                                       \
                                                                                   \
		return order;                                                      \
	}

/* Sample standard deviation: the squared differences are divided by count - 1. 0 for a single value. */
double aggregate_deviation(const struct aggregate_row *row);

/* The i-th field of a key, "" past the last one. */
const char *aggregate_field(const struct aggregate_row *row, size_t i);
void aggregate_done(struct aggregate *s);
