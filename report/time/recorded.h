/* SPDX-License-Identifier: Apache-2.0 */
/* The time that a capture range recorded, and the partition of it. The kernel's accounts are of a thread's whole life;
 * its calls and samples are those of the ranges. */
#pragma once

#include "report/time/partition.h"

struct recorded {
	uint64_t ns;	/* of the ranges; of several runs, the longest sum */
	size_t ranges;	/* of that run */
	bool is_part;	/* false: there are no ranges, or none has begun: the whole run counts */
	bool is_ring;	/* it is what --ring has kept */
};

struct recorded recorded_find(const struct model *m);

/* How long the process was recorded: its life, or the part of it in capture ranges. */
uint64_t recorded_wall(const struct model *m, const struct process *p);

/* The partition of what was recorded: as partition_make(), with other accounts of threads that also lived outside of
 * the ranges. Their lifetime becomes the part in the ranges. Their CPU time becomes the sum of the samples in the
 * ranges, or unknown if the thread was not sampled. */
void recorded_partition(const struct report_context *c, bool has_calls, struct partition *ret);
