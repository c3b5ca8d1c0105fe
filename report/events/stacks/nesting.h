/* SPDX-License-Identifier: Apache-2.0 */
/* Which recorded call of a thread was made inside which, so that each moment is counted once: a call's own time is its
 * duration without that of the calls inside it. */
#pragma once

#include "report/read/job/model.h"

enum { NESTING_OUTERMOST = UINT32_MAX };

struct nested_call {
	const struct image *image;
	const struct trace_thread *thread;
	uint64_t start, end; /* ticks */
	uint64_t ns, self_ns;
	uint32_t function, stack;
	uint32_t outer; /* what `visit` returned for the call around it; NESTING_OUTERMOST: there is none */
	uint32_t size;	/* private, like `is_visited`: this call and those inside it */
	bool is_visited;
};

struct nesting {
	/* Outer calls are visited before inner ones. */
	uint32_t (*visit)(void *context, const struct nested_call *call);
	void *context;
	struct nested_call *calls; /* each after the calls inside it */
	size_t count;
};

/* Calls of a thread are added in the order in which they were written: that of their ends. Memory is bounded: calls
 * inside a call that encloses more than some thousand others may be visited as outermost ones; they still do not count
 * towards its own time. */
void nesting_add(struct nesting *n, const struct nested_call *call);

/* To be called after the last call. */
void nesting_done(struct nesting *n);
