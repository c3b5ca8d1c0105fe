/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of a device as its driver told them, and its peak rates. */
#pragma once

#include "report/read/job/model.h"
#include "report/read/number_type.h"
#include "report/read/reader.h"

enum { DEVICE_ATTRIBUTES = 128 };

struct device_properties {
	bool is_known; /* false: they were not recorded */
	uint64_t memory_bytes;
	double bandwidth; /* bytes per second between its memory and the device; 0: not known */
	uint8_t uuid[16];
	int32_t values[DEVICE_ATTRIBUTES]; /* by enum tf_device_attribute */
	bool has[DEVICE_ATTRIBUTES];
};

/* Of the device with that number in this process. */
struct device_properties device_properties(const struct trace *t, uint32_t device);

/* Appends "0000:3b:00.0" and "6f2c...-...", which nvidia-smi prints after "GPU-"; nothing if it is not known. */
void device_bus(const struct device_properties *p, struct buffer *ret);
void device_uuid(const struct device_properties *p, struct buffer *ret);

/* ---- peak rates ---- */

/* Operations per second at the clock of the SMs that the driver reports; a fused multiply-add is two. 0: not known. */
double device_peak(const struct device_properties *p, enum number_type type, bool on_tensor_cores);

/* Appends where FLOPs, bytes and peak rates are from, and of which devices there are no peak rates. */
void device_peak_remark(const struct model *m, struct buffer *ret);
