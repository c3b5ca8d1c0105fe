/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by name with exact medians over values that are read several times instead of being kept: memory grows with the
 * names, not with the values. The caller reads all values once per pass:
 *
 *	do
 *		for each value: aggregate_add(s, aggregate_row(...), value);
 *	while (aggregate_next_pass(s));                                   */
#ifndef PILLION_AGGREGATE_H
#define PILLION_AGGREGATE_H

#include "report/base/util.h"

struct aggregate_row {
	char *key; /* fields, each ended by NUL */
	size_t key_size;
	uint64_t count, total, least, most;
	unsigned __int128 squares;
	double median;
	uint64_t beside; /* whatever the report adds up besides */
	/* towards the median: values kept, or counted in buckets of [low, low + width) */
	uint64_t *values, *buckets;
	size_t value_count, value_capacity;
	uint64_t low, width, step; /* step 0: buckets of the first pass */
	uint64_t below, inside;	   /* values under low, and in the range */
	uint64_t next;		   /* least value behind the range */
	uint64_t lower;		   /* the lower one of the two middle values, once is_lower_known */
	bool is_lower_known, is_settled;
};

struct aggregate {
	struct aggregate_row *rows;
	size_t count, capacity;
	struct map keys;  /* hash of a key -> row + 1; on a collision the next hash */
	struct map cache; /* whatever numbers the caller knows a row by -> row */
	unsigned int pass;
	bool totals_only; /* medians are not wanted: one pass is all */
};

/* The row of a key, made if there is none. */
uint32_t aggregate_row(struct aggregate *s, const char *key, size_t size);

/* The row known by (a, b), or NULL after which the caller stores it with aggregate_remember. */
const uint64_t *aggregate_recall(const struct aggregate *s, uint64_t a, uint64_t b);
void aggregate_remember(struct aggregate *s, uint64_t a, uint64_t b, uint32_t row);

void aggregate_add(struct aggregate *s, uint32_t row, uint64_t value);

/* Adds many values of which only their sum is known: no median, minimum or deviation will be true. */
void aggregate_add_total(struct aggregate *s, uint32_t row, uint64_t count, uint64_t total);

/* Ends a pass. True: all values are to be added once more. */
bool aggregate_next_pass(struct aggregate *s);

/* Sorts by total, greatest first, then by key; row numbers are void after that. */
void aggregate_sort(struct aggregate *s);

/* Of a sample, as the square root of the sum of squared differences by count - 1; 0 for one value. */
double aggregate_deviation(const struct aggregate_row *row);

/* The i-th field of a key, "" past its end. */
const char *aggregate_field(const struct aggregate_row *row, size_t i);
void aggregate_done(struct aggregate *s);

#endif
