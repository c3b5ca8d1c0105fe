/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels. There are two sources: the recorder for launches, CUPTI for device records. A name that one of
 * them lacks is taken from the other through correlate.h. The search is done once for an image, and only if names
 * are missing. */
#pragma once

#include "report/events/cuda/device.h"

/* Appends the name of a TF_BLOB_KERNEL in the requested form. False: the definition is lost or empty. */
bool kernel_name(const struct trace *t, uint32_t kernel, enum kernel_name how, struct buffer *ret);

/* Likewise the name of a launch. False: it is not known. */
bool kernel_of_launch(const struct report_context *c, const struct image *image, uint32_t id,
		      const struct tf_launch *launch, struct buffer *ret);

/* ---- for device.c ---- */

/* To be called before the records of an image are read. */
void kernel_find(const struct report_context *c, const struct image *image);

/* The id of the record's operation; if it lacks a name that the call has, the id of a copy with that name. */
uint32_t kernel_name_operation(struct trace *t, const struct device_record *r);

/* The operation and kernel from which such a copy was made. False: the id is not one of a copy. */
bool kernel_made_from(const struct trace *t, uint32_t operation, uint32_t *ret_operation, uint32_t *ret_kernel);
