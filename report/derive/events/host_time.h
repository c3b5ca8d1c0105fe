/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread spent its time on: its outermost calls, in order. */
#ifndef PILLION_HOST_TIME_H
#define PILLION_HOST_TIME_H

#include "report/read/model.h"

struct host_span {
	uint64_t start, end; /* CLOCK_REALTIME, ns */
	uint32_t function, stack;
};

/* Calls visit for those that touch [from, to], none of which overlap. Calls that only enclose others (of cuBLAS, cuDNN, NCCL
 * and their like) are looked through. A call that encloses more than a few thousand others counts from where they end. */
void host_time(const struct model *m, const struct image *image, const struct trace_thread *thread, uint64_t from, uint64_t to,
	       void *context, void (*visit)(void *context, const struct host_span *));

#endif
