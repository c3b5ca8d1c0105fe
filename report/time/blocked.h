/* SPDX-License-Identifier: Apache-2.0 */
/* The recorded calls of a thread by function and stack, and the estimated share of each in its blocked time. A call
 * inside another one is not counted: what waits is the outer one. */
#pragma once

#include "report/events/descriptor.h"
#include "report/events/scan.h"

enum { BLOCKED_LONGEST = 4 };

/* In ticks. */
struct blocked_span {
	uint64_t start, end;
};

struct blocked_call {
	const struct function *function; /* borrowed from the trace */
	enum blocked_kind kind;
	uint32_t stack; /* 0: not taken */
	uint64_t count, total_ns;
	uint64_t blocked_ns; /* estimate, at most total_ns; see blocked_divide */
	struct blocked_span longest[BLOCKED_LONGEST]; /* of the calls, the longest first; {0}: there are no more */
};

struct blocked {
	struct blocked_call *calls; /* the largest blocked_ns first */
	size_t count, capacity;
};

/* What the call waits for, where its function waits for `kind`: what reads or writes a pipe or a terminal waits for the
 * other end of it, and so does what reads or writes a socket. */
enum blocked_kind blocked_kind_of(struct descriptor_search *descriptors, const struct event *e,
				  enum blocked_kind kind);

/* Whether what blocks is another thread or process, which has its own partition. */
static inline bool blocked_waits_for_others(enum blocked_kind kind)
{
	return kind == BLOCKED_CHILD || kind == BLOCKED_THREAD || kind == BLOCKED_POLL || kind == BLOCKED_PIPE;
}

/* The calls of the thread, and the one it is in until `end` (ticks). */
void blocked_gather(const struct report_context *c, const struct image *image, const struct trace_thread *thread,
		    uint64_t end, struct blocked *ret);

/* Divides the blocked time among the calls: first among the calls that only wait, then among the other calls. The share
 * of a call is proportional to its duration and at most its duration. Returns the time that no call explains. */
uint64_t blocked_divide(struct blocked *b, uint64_t blocked_ns);
/* The duration of calls that do nothing but wait; *ret_count is set to the number of all calls. */
uint64_t blocked_waits(const struct blocked *b, uint64_t *ret_count);
void blocked_done(struct blocked *b);
