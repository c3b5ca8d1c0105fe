/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of TF_SUM and TF_RANGES, with --mode=profile. Included by trace_format.h after what it needs of that. */
#pragma once

#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

/* A TF_SUM has calls of one kind. Bits 5..15 function  16..23 enum tf_sum_flag  24..31 class of the size, bytes < 2^it
 * 32..63 0. Their common arguments follow, then DATA slots with the numbers of enum tf_sum_number, each updated in
 * place by one store. It has no time. From 1.13 on.
 *
 * SAMPLE: of CPU samples, whose values are us; else of calls, whose values are ticks. OTHER: of those for which there
 * was no room for rows of their own. SHORT: of calls below the threshold, which are counted by function, too; the first
 * numbers are those of enum tf_traffic_number, whose key and start mean nothing. */
enum tf_sum_flag { TF_SUM_IS_OTHER = 1, TF_SUM_IS_SAMPLE = 2, TF_SUM_IS_SHORT = 4 };

/* SQUARES: the upper 56 bits of a double. LEAST is all ones if there is none. */
enum tf_sum_number {
	TF_SUM_CALLS,
	TF_SUM_TOTAL,
	TF_SUM_BYTES,
	TF_SUM_LEAST,
	TF_SUM_MOST,
	TF_SUM_SQUARES,
	TF_SUM_NUMBERS
};

static inline uint64_t tf_sum(unsigned function, unsigned flags, unsigned size_class)
{
	return TF_SUM | (uint64_t)(function & 0x7ff) << 5 | (uint64_t)flags << 16 | (uint64_t)size_class << 24;
}

static inline unsigned tf_sum_flags(uint64_t slot)
{
	return slot >> 16 & 0xff;
}

/* ---- TF_RANGES ---- */

/* Ranges of NVTX, summed as calls are. Bits 5..15 domain  16..23 enum tf_ranges_flag  32..63 TID of their thread. Then
 * TF_ARG_VALUE: id of the TF_BLOB_STRING, their text; TF_ARG_COLOR: their category, if they have one; then DATA slots
 * with the numbers. From 1.15 on. */

/* STEPS: the ranges are steps of a loop, by their name, and their lengths are known by classes. The length of one that
 * is called Optimizer.step is the time from the end of the one before to its own. */
enum tf_ranges_flag { TF_RANGES_IS_OTHER = TF_SUM_IS_OTHER, TF_RANGES_IS_STARTEND = 2, TF_RANGES_IS_STEPS = 4 };

/* How the texts of ranges begin that are steps; WORDS in upper or lower case. The recorder sums such ranges as steps,
 * and the report finds steps by them. */
#define TF_STEP_PYTORCH "ProfilerStep"
#define TF_STEP_OPTIMIZER "Optimizer.step"
#define TF_STEP_WORDS {"step", "iter", "batch", "request"}

/* Of those that have ended; instead of TF_SUM_BYTES: how many have begun, if it is not a row of steps. In such a row
 * these numbers follow. LAST: low 56 bits of the ticks at the end of the last one. OVERLAPS: how many began before the
 * end of the one before. CLASSES: how many have a length of each class. */
enum { TF_STEPS_OCTAVES = 26, TF_STEPS_SHORT_OCTAVE = 14 };
enum tf_steps_number {
	TF_STEPS_LAST = TF_SUM_NUMBERS,
	TF_STEPS_OVERLAPS,
	TF_STEPS_CLASSES,
	TF_STEPS_NUMBERS = TF_STEPS_CLASSES + 4 * TF_STEPS_OCTAVES
};

/* Four classes for each octave. The first one has what is shorter, too, and the last one what is longer. */
static inline unsigned tf_steps_class(uint64_t ticks)
{
	unsigned octave = 63 - (unsigned)__builtin_clzll(ticks | 1), class;

	if (octave < TF_STEPS_SHORT_OCTAVE)
		return 0;
	class = 4 * (octave - TF_STEPS_SHORT_OCTAVE) + (ticks >> (octave - 2) & 3);
	return class < 4 * TF_STEPS_OCTAVES ? class : 4 * TF_STEPS_OCTAVES - 1;
}

/* The shortest length of a class; that of the next class is its end. */
static inline uint64_t tf_steps_least(unsigned class)
{
	return (uint64_t)(4 + class % 4) << (class / 4 + TF_STEPS_SHORT_OCTAVE - 2);
}

/* `thread`: the TID of the thread in which all of them began; 0: of several. */
static inline uint64_t tf_ranges(unsigned domain, unsigned flags, uint32_t thread)
{
	return TF_RANGES | (uint64_t)(domain & 0x7ff) << 5 | (uint64_t)flags << 16 | (uint64_t)thread << 32;
}

static inline uint32_t tf_ranges_thread(uint64_t slot)
{
	return slot >> 32;
}

static inline unsigned tf_sum_numbers(uint64_t slot)
{
	return tf_kind(slot) == TF_RANGES && tf_sum_flags(slot) & TF_RANGES_IS_STEPS ? (unsigned)TF_STEPS_NUMBERS
										     : (unsigned)TF_SUM_NUMBERS;
}
