/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of time on threads, and which of them hold another one: NVTX ranges or calls of a library around CUDA calls. */
#ifndef PILLION_SPANS_H
#define PILLION_SPANS_H

#include "report/read/reader.h"

struct span {
	const struct trace_thread *thread;
	uint64_t start, end; /* ticks */
	uint64_t last;	     /* the latest end of those that stand below it in the search tree */
	uint64_t value;	     /* the adder's own */
};

struct spans {
	struct span *items; /* by thread, then by start, the longer ones first */
	size_t count, capacity;
};

void spans_add(struct spans *s, const struct trace_thread *thread, uint64_t start, uint64_t end, uint64_t value);

/* After the last one was added, before the first question. */
void spans_build(struct spans *s);
void spans_done(struct spans *s);

/* Calls visit for each span of the thread that holds all of [start, end], outer ones first where they nest. */
void spans_around(const struct spans *s, const struct trace_thread *thread, uint64_t start, uint64_t end, void *context,
		  void (*visit)(void *context, size_t span));

#endif
