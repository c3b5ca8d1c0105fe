/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of --mode=profile (profile.h), for the files that add to them. */
#pragma once

#include <string.h>

#include "runtime/recorder/record/profile/profile.h"

/* OWNERS: threads with rows of their own. */
enum { PROFILE_ARGS = 4, PROFILE_OWNERS = 64 };

struct profile_key {
	uint64_t head; /* the row's first slot */
	uint64_t args[PROFILE_ARGS];
	unsigned count;
	uint64_t bytes; /* of this call */
};

/* Returns the address of the numbers of the row with this key, which is made if there is room, else of a row "other";
 * NULL: there is no room for that either. *is_shared: several threads add to it, because that was passed, or it is
 * "other", or the thread is none of the first. */
uint64_t *profile_row(struct thread *t, const struct profile_key *k, bool *is_shared);

/* The id of the text of a range in the trace; 0: there is no room for it. */
__attribute__((cold)) uint32_t profile_define(struct thread *t, const char *text, size_t size);

static inline uint64_t profile_bits(double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return (bits & ~(uint64_t)0xff) | TF_DATA;
}

static inline double profile_number(uint64_t bits)
{
	double number;

	bits &= ~(uint64_t)0xff;
	memcpy(&number, &bits, sizeof(number));
	return number;
}

/* The numbers have their tag in their lowest byte, so comparisons and sums of shifted values are
 * those of the values. */
static inline __attribute__((always_inline)) void profile_count(uint64_t *row, uint64_t value, uint64_t bytes)
{
	uint64_t shifted = value << 8 | TF_DATA;

	row[TF_SUM_CALLS] += 1 << 8;
	row[TF_SUM_TOTAL] += value << 8;
	row[TF_SUM_BYTES] += bytes << 8;
	row[TF_SUM_SQUARES] = profile_bits(profile_number(row[TF_SUM_SQUARES]) + (double)value * (double)value);
	if (shifted < row[TF_SUM_LEAST])
		row[TF_SUM_LEAST] = shifted;
	if (shifted > row[TF_SUM_MOST])
		row[TF_SUM_MOST] = shifted;
}

/* Likewise, to a row to which several threads add. */
__attribute__((noinline, cold)) void profile_count_shared(uint64_t *row, uint64_t value, uint64_t bytes);
