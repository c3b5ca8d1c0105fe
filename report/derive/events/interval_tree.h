/* SPDX-License-Identifier: Apache-2.0 */
/* Spans of time on threads, and which of them hold another one: NVTX ranges or calls of a library around CUDA calls. */
#ifndef PILLION_INTERVAL_TREE_H
#define PILLION_INTERVAL_TREE_H

#include "report/read/reader.h"

struct interval {
	const struct trace_thread *thread;
	uint64_t start, end; /* ticks */
	uint64_t last;	     /* the latest end of those that stand below it in the search tree */
	uint64_t value;	     /* the adder's own */
};

struct interval_tree {
	struct interval *items; /* by thread, then by start, the longer ones first */
	size_t count, capacity;
};

void interval_tree_add(struct interval_tree *s, const struct trace_thread *thread, uint64_t start, uint64_t end, uint64_t value);

/* After the last one was added, before the first question. */
void interval_tree_build(struct interval_tree *s);
void interval_tree_done(struct interval_tree *s);

/* Calls visit for each span of the thread that holds all of [start, end], outer ones first where they nest. */
void interval_tree_around(const struct interval_tree *s, const struct trace_thread *thread, uint64_t start, uint64_t end, void *context,
		  void (*visit)(void *context, size_t interval));

#endif
