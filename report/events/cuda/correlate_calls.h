/* SPDX-License-Identifier: Apache-2.0 */
/* For correlate.c: the CUDA host calls of each thread, numbered within the thread. Of a large image only the chunks
 * that an index selects are read again. */
#pragma once

#include "report/events/scan.h"

struct host_calls {
	const struct trace *trace;
	struct host_chunk {
		uint64_t from, to;    /* ticks of its calls */
		uint64_t first, last; /* of their TF_ARG_DEVICE_OPERATION; first > last: none */
		uint64_t number;      /* of its first call */
	} *chunks; /* by trace.chunks; NULL: there is no index */
	uint8_t *wanted; /* by trace.chunks */
};

void host_calls_init(struct host_calls *h, const struct trace *t);
void host_calls_done(struct host_calls *h);

/* Builds the index by reading all calls once. From then on only the wanted chunks are read. */
void host_calls_index(struct host_calls *h);

/* Selects the calls of a thread that were in progress between `from` and `to`, or whose TF_ARG_DEVICE_OPERATION is in
 * [low, high). */
void host_calls_select(struct host_calls *h, size_t thread, uint64_t from, uint64_t to, uint64_t low, uint64_t high);
void host_calls_select_all(struct host_calls *h);

/* Whether anything of the trace can be correlated: it has device records, or such a thread. */
bool host_calls_may_matter(const struct trace *t);

/* Whether the thread may have calls that submit work, or that make nodes of graphs. */
bool host_calls_may_request(const struct trace_thread *thread);

/* Whether the call submitted work to a device. Host functions are launched like kernels, but run on the host; what was
 * captured into a graph is submitted by the graph's launches. */
bool host_call_requests(const struct host_calls *h, const struct event *e);

struct calls {
	const struct host_calls *of;
	struct cursor cursor;
	struct event event;
	uint64_t number;
	size_t chunk; /* in which the number was counted */
};

void calls_begin(struct calls *c, const struct host_calls *h, size_t thread);
bool calls_next(struct calls *c);
