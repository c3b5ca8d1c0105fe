/* SPDX-License-Identifier: Apache-2.0 */
/* For correlate.c: the host calls of CUDA's, thread by thread, each with its number in its thread. Of a large image only those of
 * some windows are read again, which an index tells. */
#ifndef PILLION_CORRELATE_CALLS_H
#define PILLION_CORRELATE_CALLS_H

#include "report/derive/events/scan.h"

struct host_calls {
	const struct trace *trace;
	uint8_t *classes; /* of each function */
	struct host_chunk {
		uint64_t from, to;    /* ticks of its calls */
		uint64_t first, last; /* of their TF_ARG_WORK; first > last: none */
		uint64_t number;      /* of the first call */
	} *chunks; /* by trace.windows; NULL: there is no index */
	uint8_t *wanted; /* likewise */
};

void host_calls_init(struct host_calls *h, const struct trace *t);
void host_calls_done(struct host_calls *h);

/* Makes the index: reads all of them once. From then on none is read but what is wanted. */
void host_calls_index(struct host_calls *h);

/* Of a thread: what was under way from `from` to `to`, or has a TF_ARG_WORK of [low, high). */
void host_calls_want(struct host_calls *h, size_t thread, uint64_t from, uint64_t to, uint64_t low, uint64_t high);
void host_calls_want_all(struct host_calls *h);

/* Threads that may have any. */
bool host_calls_may_ask(const struct trace_thread *thread);

/* Did it ask a device for work? Host functions are launched like kernels, but no device does them. */
bool host_call_asks(const struct host_calls *h, const struct event *e);

struct calls {
	const struct host_calls *of;
	struct cursor cursor;
	struct event event;
	uint64_t number;
	size_t chunk; /* that the number was counted in */
};

void calls_begin(struct calls *c, const struct host_calls *h, size_t thread);
bool calls_next(struct calls *c);

#endif
