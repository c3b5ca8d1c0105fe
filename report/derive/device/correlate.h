/* SPDX-License-Identifier: Apache-2.0 */
/* Which host call made a device do what.
 *
 * CUPTI gives each call that asks a device for something a correlation id, and each device record the id of its call;
 * our own records of calls have none. In between stand CUPTI's records of calls (struct device_call): one belongs to the
 * innermost host call of CUDA's that holds its middle, on the same thread; or, where none does, to one that asks for work and was
 * under way at the same time. Where times were on another clock and most of a thread's fit nowhere, and there are as many of them
 * as of host calls that ask for work, they are matched in their order instead. A call that runtime and driver both recorded has one id, so it is matched once.
 *
 * Where CUDA events give the times, the call's own record has the number (TF_ARG_WORK).
 *
 * An image is gone through in stretches of ids, each small enough to be held: memory grows with the threads and, by one
 * bit each, with the host calls, not with the device records. */
#ifndef PILLION_CORRELATE_H
#define PILLION_CORRELATE_H

#include "report/derive/device/device.h"

/* A host call and what the devices did under one correlation id. Exactly one of these holds:
 *   thread and records   a call and its work: one record, or the nodes of a graph, or several kernels
 *   thread alone         a call that asked for work (a launch, a copy, a memset) of which there is no record
 *   records alone        work that no recorded call asked for
 * A call under several ids (of a library, say) comes once for each. Stacks and launches: event_arg(). */
struct correlated {
	const struct image *image;
	const struct trace_thread *thread;
	struct event event; /* the call: times in ticks of the image; args are good as long as the trace is */
	uint32_t correlation; /* 0: none */
	const struct device_record *records; /* by start; borrowed until the visit returns */
	size_t record_count;
};

struct correlate_counts {
	uint64_t matched;      /* device records with their call */
	uint64_t without_call; /* device records alone */
	uint64_t calls;	       /* host calls that asked for work */
	uint64_t idle;	       /* those of them that have no record */
	uint64_t foreign;      /* CUPTI's records of calls that no recorded call holds */
	uint64_t by_order;     /* calls matched by their order */
	uint64_t broken;       /* records that could not be read */
};

/* Calls visit (may be NULL) for each of the above of one image, in no order in time; each device record comes once.
 * Under a filter (filter.h) everything is matched, and told of are the calls that it lets through, with all their work.
 * ret_counts (may be NULL) is added to, and is of the whole image: known, without a visit, from the first time on. */
void correlate_image(const struct report_context *c, const struct image *image, void *context,
		     void (*visit)(void *context, const struct correlated *), struct correlate_counts *ret_counts);

/* Likewise whatever the filter is. */
void correlate_unfiltered(const struct report_context *c, const struct image *image, void *context,
			  void (*visit)(void *context, const struct correlated *));

/* A record's correlation id as one number that its process uses once: CUPTI begins anew when it is taken up again, and so
 * does an image after an exec. The plain id of what is the only one. */
uint64_t correlation_number(const struct model *m, const struct image *image, const struct device_record *r);

/* The number of each host call of an image that has one, for those who go through the calls in their own order. Holds 16
 * bytes for each such call. */
struct correlation_ids {
	struct correlation_id {
		const uint64_t *place; /* event.args, which no two events share */
		uint64_t number;
	} *items; /* by place */
	size_t count, capacity;
};

void correlation_ids(const struct report_context *c, const struct image *image, struct correlation_ids *ret);
void correlation_ids_done(struct correlation_ids *ids);

/* 0: the call has none. Of several the least. */
uint64_t correlation_of(const struct correlation_ids *ids, const struct event *e);

/* For tests: how many of CUPTI's calls and of device records are held at a time. */
extern size_t correlate_stretch;

#endif
