/* SPDX-License-Identifier: Apache-2.0 */
/* Device operations of which no record came at all. */
#pragma once

#include "report/events/cuda/device.h"

/* How many launches, copies and memsets an image made while CUPTI was enabled, of which CUPTI has delivered no record
 * and counted none as lost. 0: there are records, the ledger states another reason, or the image did not end by itself,
 * so that records which CUPTI still held are missing. */
uint64_t untimed_calls(const struct report_context *c, const struct image *image);

/* Appends a sentence on so many of them, and what to do. */
void untimed_text(uint64_t calls, struct buffer *ret);
