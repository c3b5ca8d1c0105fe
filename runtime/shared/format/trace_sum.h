/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of TF_SUM, with --mode=profile. Included by trace_format.h after what it needs of that. */
#ifndef PILLION_TRACE_SUM_H
#define PILLION_TRACE_SUM_H

#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

/* SAMPLE: of CPU samples, whose values are us; else of calls, whose values are ticks. OTHER: of those for which there
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

#endif
