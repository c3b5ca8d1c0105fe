/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the host call that caused each device record.
 *
 * CUPTI assigns a correlation id to each call that submits work to a device, and stores the id of the call in each
 * device record; pillion's own call records have no id. CUPTI's call records (struct device_call) connect the two:
 * one belongs to the innermost CUDA host call on the same thread that contains its middle; or, if there is none, to
 * one that submits work and was in progress at the same time. If the times are on another clock, most of a thread's
 * records match no call, and their number equals that of the host calls that submit work, they are matched in order
 * instead. A call that both runtime and driver recorded has one id and is matched once.
 *
 * If the times are from CUDA events, the host call's record has the id itself (TF_ARG_DEVICE_OPERATION).
 *
 * An image is processed in stretches of ids that fit into memory: memory grows with the number of threads and, by
 * one bit each, of host calls, but not of device records. */
#pragma once

#include "report/events/cuda/device.h"

/* A host call and the device records of one correlation id. Exactly one of these holds:
 *   thread and records   a call and its device records: one, or the nodes of a graph, or several kernels
 *   thread alone         a call that submitted work (a launch, a copy, a memset) and has no device record
 *   records alone        device records that no recorded call submitted
 * A call with several ids (of a library, for example) is visited once for each. Stacks and launches: event_arg(). */
struct correlated {
	const struct image *image;
	const struct trace_thread *thread;
	struct event event; /* the call: times in ticks of the image; args are valid as long as the trace is */
	uint32_t correlation; /* 0: none */
	const struct device_record *records; /* by start; borrowed until the visit returns */
	size_t record_count;
	const struct correlated *launch; /* NULL except by attribute.h */
	bool is_estimate;		 /* likewise: a part of a graph that was recorded as a whole */
};

struct correlate_counts {
	uint64_t matched;      /* device records with a call */
	uint64_t without_call; /* device records without a call */
	uint64_t calls;	       /* host calls that submitted work */
	uint64_t idle;	       /* those of them without a device record */
	uint64_t captured;     /* host calls that made a node of a graph instead, by capture or explicitly */
	uint64_t foreign;      /* call records of CUPTI without a recorded call */
	uint64_t by_order;     /* calls matched by order */
	uint64_t broken;       /* records that could not be read */
};

/* Calls visit (may be NULL) for each of the above of one image, in no particular order; no device record is visited
 * twice. With a filter (filter.h) everything is matched, and the calls that pass it are visited with all their
 * device records. The counts of the whole image are added to ret_counts (may be NULL); after the first call they are
 * known without reading the events again. */
void correlate_image(const struct report_context *c, const struct image *image, void *context,
		     void (*visit)(void *context, const struct correlated *), struct correlate_counts *ret_counts);

/* Likewise, whatever the filter is. */
void correlate_unfiltered(const struct report_context *c, const struct image *image, void *context,
			  void (*visit)(void *context, const struct correlated *));

/* The correlation id of a record as a number that is unique in its process: CUPTI restarts its ids when it is
 * enabled again, and so does an image after exec. The first image and epoch keep the plain id. */
uint64_t correlation_number(const struct model *m, const struct image *image, const struct device_record *r);

/* The correlation number of each host call of an image that has one, for code that reads the calls in its own order.
 * Takes 16 bytes for each such call. */
struct correlation_ids {
	struct correlation_id {
		const uint64_t *place; /* event.args, which is unique for each event */
		uint64_t number;
	} *items; /* by place */
	size_t count, capacity;
};

void correlation_ids(const struct report_context *c, const struct image *image, struct correlation_ids *ret);
void correlation_ids_done(struct correlation_ids *ids);

/* The lowest number of the call; 0: it has none. */
uint64_t correlation_of(const struct correlation_ids *ids, const struct event *e);
