/* SPDX-License-Identifier: Apache-2.0 */
/* What devices did for one process, in order of its start. The records stand in no order in a trace: they are sorted
 * by external_sort.h, so that memory does not grow with their number, and each is looked at once. */
#ifndef PILLION_DEVICE_TIMELINE_H
#define PILLION_DEVICE_TIMELINE_H

#include "report/derive/device/correlate.h"

struct timeline_entry {
	uint64_t start, end; /* CLOCK_REALTIME, ns */
	const struct image *image;
	uint32_t device, context, operation;
	uint8_t kind; /* enum tf_work_kind, 0: not known */
	/* the call that asked for it, where that was looked for and is known: */
	const struct trace_thread *thread; /* NULL: it is not */
	uint64_t call_start, call_end;
	uint32_t function, stack;
};

/* Calls visit for each piece of work of all images of the process. Returns how many there were. */
uint64_t device_timeline(const struct report_context *c, size_t process, bool with_calls, void *context,
		      void (*visit)(void *context, const struct timeline_entry *));

/* For tests: how many are held at a time. */
extern size_t device_timeline_held;

#endif
