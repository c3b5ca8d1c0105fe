/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of --mode=profile (profile.h), for the files that add to them. */
#pragma once

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

/* Adds value * value to a sum of squares, which is in the trace as the upper 56 bits of a double. The arithmetic is
 * that of integers: the program sees the flags of floating-point operations, and may have enabled their exceptions. */
static inline uint64_t profile_add_square(uint64_t sum, uint64_t value)
{
	enum { FRACTION = 52, BIAS = 1023 };
	const uint64_t implicit = (uint64_t)1 << FRACTION;
	int shift = (int)(sum >> FRACTION) - BIAS - FRACTION, top;
	unsigned __int128 total = (sum & (implicit - 1) & ~(uint64_t)0xff) | implicit;

	total = sum >> 8 == 0 ? 0 : shift < 0 ? total >> -shift : total << shift;
	total += (unsigned __int128)value * value;
	if (!total)
		return TF_DATA;
	top = total >> 64 ? 127 - __builtin_clzll((uint64_t)(total >> 64)) : 63 - __builtin_clzll((uint64_t)total);
	total = top > FRACTION ? total >> (top - FRACTION) : total << (FRACTION - top);
	return (uint64_t)(top + BIAS) << FRACTION | ((uint64_t)total & (implicit - 1) & ~(uint64_t)0xff) | TF_DATA;
}

/* The numbers have their tag in their lowest byte, so comparisons and sums of shifted values are
 * those of the values. */
static inline __attribute__((always_inline)) void profile_count(uint64_t *row, uint64_t value, uint64_t bytes)
{
	uint64_t shifted = value << 8 | TF_DATA;

	row[TF_SUM_CALLS] += 1 << 8;
	row[TF_SUM_TOTAL] += value << 8;
	row[TF_SUM_BYTES] += bytes << 8;
	row[TF_SUM_SQUARES] = profile_add_square(row[TF_SUM_SQUARES], value);
	if (shifted < row[TF_SUM_LEAST])
		row[TF_SUM_LEAST] = shifted;
	if (shifted > row[TF_SUM_MOST])
		row[TF_SUM_MOST] = shifted;
}

/* Likewise, to a row to which several threads add. */
__attribute__((noinline, cold)) void profile_count_shared(uint64_t *row, uint64_t value, uint64_t bytes);
