/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel's name. Two know it: the recorder of what was launched, CUPTI of what the device did. Where one of them does not, it
 * has the other's, by what correlate.h says. Looked for where there are such only, once for an image. */
#ifndef PILLION_KERNEL_H
#define PILLION_KERNEL_H

#include "report/derive/device/device.h"

/* Appends the name of a TF_BLOB_KERNEL as reports are to show it. False: that is lost, or empty. */
bool kernel_name(const struct trace *t, uint32_t kernel, enum kernel_name how, struct buffer *ret);

/* Likewise that of a launch. False: nobody knows it. */
bool kernel_of_launch(const struct report_context *c, const struct image *image, uint32_t id, const struct tf_launch *launch, struct buffer *ret);

/* ---- for device.c ---- */

/* Before the records of an image are gone through. */
void kernel_find(const struct report_context *c, const struct image *image);

/* What to take for a record's work: the same with a name, if it lacks one and the call has it. */
uint32_t kernel_name_operation(struct trace *t, const struct device_record *r);

/* What that was made of. False: it was not made here. */
bool kernel_made_from(const struct trace *t, uint32_t operation, uint32_t *ret_operation, uint32_t *ret_kernel);

#endif
