/* SPDX-License-Identifier: Apache-2.0 */
/* What the devices executed, and the source of their times. */
#pragma once

#include "report/events/scan.h"

struct device_record {
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t duration_ns;
	uint64_t bytes, address; /* 0: none */
	uint32_t operation; /* id of a TF_BLOB_DEVICE_OPERATION */
	uint32_t correlation;
	uint16_t epoch; /* correlation ids are unique within an epoch */
};

/* A call as CUPTI recorded it. */
struct device_call {
	uint64_t start_ns, duration_ns; /* CLOCK_MONOTONIC */
	uint32_t tid, correlation;
	uint16_t epoch;
	bool is_driver; /* the runtime may have recorded the same call */
	bool is_placed; /* its times were converted from another clock */
};

/* The source of an image's device times. */
struct device_source {
	uint32_t version;
	uint16_t kind;	   /* enum tf_source */
	bool is_known;	   /* false: no device times were recorded */
	bool is_translated; /* the times were converted from another clock by clock pairs */
	uint64_t error_ns;
	char soname[256];
};
struct device_source device_source(const struct trace *t);

/* Whether any image has device records. */
bool device_any(const struct model *m);

/* An interval in which another tool used the source. path: the library of that tool, "" for the program itself. */
struct device_gap {
	uint64_t from, to; /* ticks */
	bool is_open;	   /* until the end of the image */
	char path[512];
};

/* The intervals of an image in no particular order; the caller frees *ret. Returns how many. */
size_t device_gaps(const struct image *image, struct device_gap **ret);

/* Records of a trace that CUPTI or the recorder lost. */
struct tf_device_lost device_lost(const struct trace *t);

/* When device records were read for the last time; 0: CUPTI was not used, or the trace is an older one. */
uint64_t device_last_flush(const struct image *image);

/* Calls visit for each record of each image that is this process's to read. Unreadable records are counted in
 * *ret_broken, which may be NULL. */
void device_scan(struct scan *s, void (*visit)(struct scan *, const struct device_record *), uint64_t *ret_broken);

/* Likewise of one image. */
void device_scan_image(struct scan *s, void (*visit)(struct scan *, const struct device_record *),
		       uint64_t *ret_broken);

/* What the time of a TF_DEVICE_OVERHEAD was spent on, by CUpti_ActivityOverheadKind >> 16: 0 is the driver's compiler,
 * the others are CUPTI's. */
enum { DEVICE_OVERHEADS = 9 };
extern const char *const device_overheads[DEVICE_OVERHEADS];

/* Likewise for records of other activities: waits, allocations, overhead, managed memory, compilation. */
void device_scan_more(struct scan *s, void (*visit)(struct scan *, const struct device_record *), uint64_t *ret_broken);

/* Likewise for the calls that caused device records, of one image. Reports use correlate.h instead. */
void device_scan_calls(struct scan *s, void (*visit)(struct scan *, const struct device_call *), uint64_t *ret_broken);

/* The device operation with that id. False: its definition is lost. */
bool device_operation(const struct trace *t, uint32_t id, struct tf_device_operation *ret);

/* Was it executed as the node of a graph? A node may have the number 0. */
static inline bool device_is_node(const struct tf_device_operation *operation)
{
	return operation->node || operation->node_graph;
}

/* Appends "NVIDIA H200 (0)". */
void device_name(const struct trace *t, uint32_t device, struct buffer *ret);

/* A kind of memory in nsys's words. */
const char *device_memory_name(uint8_t kind);

/* Appends the kernel's name, or a description of a copy, memset or graph. */
void device_operation_name(const struct report_context *c, const struct trace *t,
			   const struct tf_device_operation *operation, struct buffer *ret);

/* Appends one line on the sources of a model's device times. */
void device_remark(const struct model *m, struct buffer *ret);
