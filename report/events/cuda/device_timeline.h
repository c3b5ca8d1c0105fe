/* SPDX-License-Identifier: Apache-2.0 */
/* What devices executed for one process, ordered by start. Records are in no particular order in a trace: they are
 * sorted by external_sort.h, so that memory does not grow with their number, and each is visited once. */
#pragma once

#include "report/events/cuda/correlate.h"

struct timeline_entry {
	uint64_t start, end; /* CLOCK_REALTIME, ns */
	const struct image *image;
	uint32_t device, context, operation;
	uint8_t kind; /* enum tf_device_operation_kind, 0: not known */
	/* the call that submitted it, if requested and known: */
	const struct trace_thread *thread; /* NULL: not known */
	uint64_t call_start, call_end;
	uint32_t function, stack;
};

/* Calls visit for each device operation of all images of the process. Returns how many there were. */
uint64_t device_timeline(const struct report_context *c, size_t process, bool with_calls, void *context,
			 void (*visit)(void *context, const struct timeline_entry *));
