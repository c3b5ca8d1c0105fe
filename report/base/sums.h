/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by name with exact medians over values that are read several times instead of being kept: memory grows with the
 * names, not with the values. The caller reads all values once per pass:
 *
 *	do
 *		for each value: sums_add(s, sums_row(...), value);
 *	while (sums_next_pass(s));                                   */
#ifndef PILLION_SUMS_H
#define PILLION_SUMS_H

#include "report/base/util.h"

struct sums_row {
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

struct sums {
	struct sums_row *rows;
	size_t count, capacity;
	struct map keys;  /* hash of a key -> row + 1; on a collision the next hash */
	struct map cache; /* whatever numbers the caller knows a row by -> row */
	unsigned int pass;
	bool totals_only; /* medians are not wanted: one pass is all */
};

/* The row of a key, made if there is none. */
uint32_t sums_row(struct sums *s, const char *key, size_t size);

/* The row known by (a, b), or NULL after which the caller stores it with sums_remember. */
const uint64_t *sums_recall(const struct sums *s, uint64_t a, uint64_t b);
void sums_remember(struct sums *s, uint64_t a, uint64_t b, uint32_t row);

void sums_add(struct sums *s, uint32_t row, uint64_t value);

/* Adds many values of which only their sum is known: no median, minimum or deviation will be true. */
void sums_add_total(struct sums *s, uint32_t row, uint64_t count, uint64_t total);

/* Ends a pass. True: all values are to be added once more. */
bool sums_next_pass(struct sums *s);

/* Sorts by total, greatest first, then by key; row numbers are void after that. */
void sums_sort(struct sums *s);

/* Of a sample, as the square root of the sum of squared differences by count - 1; 0 for one value. */
double sums_deviation(const struct sums_row *row);

/* The i-th field of a key, "" past its end. */
const char *sums_field(const struct sums_row *row, size_t i);
void sums_done(struct sums *s);

#endif
