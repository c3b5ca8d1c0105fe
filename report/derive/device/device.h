/* SPDX-License-Identifier: Apache-2.0 */
/* What the devices did, and where their times come from. */
#ifndef PILLION_DEVICE_H
#define PILLION_DEVICE_H

#include "report/derive/events/scan.h"

struct device_record {
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t duration_ns;
	uint64_t bytes, address; /* 0: none */
	uint32_t operation; /* id of a TF_BLOB_WORK */
	uint32_t correlation;
	uint16_t epoch; /* correlation ids are this one's own */
};

/* A call as the driver's tools saw it. */
struct device_call {
	uint64_t start_ns, duration_ns; /* CLOCK_MONOTONIC */
	uint32_t tid, correlation;
	uint16_t epoch;
	bool is_driver; /* the runtime may have recorded the same one */
	bool is_placed; /* its times were on another clock */
};

/* Where an image's device times come from. */
struct device_source {
	uint32_t version;
	uint16_t kind;	   /* enum tf_source */
	bool is_known;	   /* false: nothing recorded any */
	bool is_translated; /* times were on another clock, and placed on ours by the pairs: */
	uint64_t error_ns;
	char soname[256];
};
struct device_source device_source(const struct trace *t);

/* Times in which another tool had the source, and who: the library's path, "" the program itself. */
struct device_gap {
	uint64_t from, to; /* ticks */
	bool is_open;	   /* to the image's end */
	char path[512];
};

/* Those of an image in no order; *ret is to be freed. Returns how many. */
size_t device_gaps(const struct image *image, struct device_gap **ret);

/* Calls visit for each record of each image. Records that cannot be read are counted in *ret_broken, if it is not NULL. */
void device_scan(struct scan *s, void (*visit)(struct scan *, const struct device_record *), uint64_t *ret_broken);

/* Likewise of one image. */
void device_scan_image(struct scan *s, void (*visit)(struct scan *, const struct device_record *), uint64_t *ret_broken);

/* What a TF_WORK_OVERHEAD was spent on, by CUpti_ActivityOverheadKind >> 16: 0 the driver's compiling, else CUPTI's own. */
enum { DEVICE_OVERHEADS = 9 };
extern const char *const device_overheads[DEVICE_OVERHEADS];

/* Likewise what no device was busy with: waits, allocations, overhead, managed memory's traffic, compiling. */
void device_scan_more(struct scan *s, void (*visit)(struct scan *, const struct device_record *), uint64_t *ret_broken);

/* Likewise the calls that device records come from, of one image. Reports want correlate.h instead. */
void device_scan_calls(struct scan *s, void (*visit)(struct scan *, const struct device_call *), uint64_t *ret_broken);

/* False: the definition is lost. */
bool device_operation(const struct trace *t, uint32_t id, struct tf_work *ret);

/* Appends "NVIDIA H200 (0)". */
void device_name(const struct trace *t, uint32_t device, struct buffer *ret);

/* Appends the kernel's name, or that of a copy, memset or graph. */
void device_operation_name(const struct report_context *c, const struct trace *t, const struct tf_work *operation, struct buffer *ret);

/* One line on the sources of a model's device times. */
void device_remark(const struct model *m, struct buffer *ret);

#endif
