/* SPDX-License-Identifier: Apache-2.0 */
/* An interval tree over intervals of threads, to find those that enclose a given one: NVTX ranges or library calls
 * around CUDA calls. */
#pragma once

#include "report/read/reader.h"

struct interval {
	const struct trace_thread *thread;
	uint64_t start, end; /* ticks */
	uint64_t last;	     /* the latest end in the subtree of this item */
	uint64_t value;	     /* private to the caller */
};

struct interval_tree {
	struct interval *items; /* by thread, then by start, longer ones first */
	size_t count, capacity;
};

void interval_tree_add(struct interval_tree *s, const struct trace_thread *thread, uint64_t start, uint64_t end,
		       uint64_t value);

/* To be called after the last interval was added and before the first query. */
void interval_tree_build(struct interval_tree *s);
void interval_tree_done(struct interval_tree *s);

/* Calls visit for each interval of the thread that contains all of [start, end], from the outermost to the
 * innermost. */
void interval_tree_around(const struct interval_tree *s, const struct trace_thread *thread, uint64_t start,
			  uint64_t end, void *context, void (*visit)(void *context, size_t interval));
