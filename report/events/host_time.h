/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread spent its time on: its outermost calls, in order. */
#pragma once

#include "report/read/job/model.h"

struct host_span {
	uint64_t start, end; /* CLOCK_REALTIME, ns */
	uint32_t function, stack;
};

/* Calls visit for those that overlap [from, to]; they do not overlap each other. Calls that only enclose others (of
 * cuBLAS, cuDNN, NCCL and similar libraries) are skipped in favour of the calls inside. If a call encloses more than
 * a few thousand others, only the time after them is visited. */
void host_time(const struct model *m, const struct image *image, const struct trace_thread *thread, uint64_t from,
	       uint64_t to, void *context, void (*visit)(void *context, const struct host_span *));
