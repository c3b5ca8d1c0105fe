/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on file descriptors: what their results mean, and the sums of those below the threshold. */
#pragma once

#include "report/events/descriptor.h"

/* The reads or writes that `calls` calls were, whose sum of bytes is given. */
static inline uint64_t traffic_transfers(enum traffic_kind kind, uint64_t calls, uint64_t bytes)
{
	return kind == TRAFFIC_STREAM && !bytes ? 0 : calls;
}

/* What a call moves: flushing or closing a stream writes what is left in its buffer. */
static inline enum traffic_role traffic_moves(enum traffic_role role, enum traffic_kind kind)
{
	return kind == TRAFFIC_STREAM && role != ROLE_READ ? ROLE_WRITE : role;
}

/* The calls of the program. */
static inline uint64_t traffic_calls(enum traffic_kind kind, uint64_t calls)
{
	return kind == TRAFFIC_INNER ? 0 : calls;
}

/* struct tf_traffic. */
struct traffic {
	const struct trace_thread *thread; /* NULL: unknown */
	uint32_t function;
	bool is_of_file; /* --mode=profile: fd and generation are not known, but the id of the description is */
	uint32_t file;	 /* then: 0: the file is not known */
	uint16_t fd, generation;
	uint64_t from_ticks, calls, ticks, bytes;
};

/* The calls have the number of a directory instead of a descriptor. */
static inline bool traffic_is_of_path(const struct traffic *t)
{
	return t->fd == TF_NO_DESCRIPTOR && !t->is_of_file;
}

/* Of a TF_BLOB_TRAFFIC; false: it is too short. */
bool traffic_read(const struct trace *t, const struct blob *b, struct traffic *ret);

/* Visits all of a trace. In --mode=profile their thread is the first one. */
void traffic_each(const struct trace *t, void (*visit)(void *context, const struct traffic *traffic), void *context);

/* What the calls used; NULL: not known. */
const struct descriptor *traffic_descriptor(struct descriptor_search *s, const struct traffic *traffic);

/* Short calls of an image: that read or write and for which no struct traffic exists; that have a path instead of a
 * descriptor. */
struct traffic_counts {
	uint64_t without_file, of_paths;
};
struct traffic_counts traffic_counts(const struct trace *t);
