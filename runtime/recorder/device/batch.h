/* SPDX-License-Identifier: Apache-2.0 */
/* Device records, packed as trace_device.h describes, and written as one blob per 2000 bytes.
 *
 * A batch is on its caller's stack. It must be used under a guard, or where no signal handler records events,
 * because blobs are written to the thread's chunk. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

enum { BATCH_BYTES = 2000 };

struct device_batch {
	union {
		struct tf_device_batch head;
		uint8_t bytes[BATCH_BYTES];
	};
	size_t used;
	uint64_t start; /* of the previous record, like the next two */
	uint32_t correlation, thread;
	uint8_t blob; /* enum tf_blob_kind */
	struct tf_device_lost lost;
};

struct batch_item {
	struct tf_device_operation operation;
	uint64_t start, end, bytes, address; /* ns; bytes and address: 0 if none */
	uint32_t correlation;
};

/* Only the source, the time and the epoch of `head` are used. */
void batch_begin(struct device_batch *b, unsigned blob, const struct tf_device_batch *head);
void batch_end(struct device_batch *b);

/* Adds a record. A record without times, or without space for its definition, is counted in b->lost. */
void batch_put(struct device_batch *b, const struct batch_item *item);

/* Likewise for a device operation that the trace defines already, by its id. */
void batch_put_known(struct device_batch *b, uint32_t operation, const struct batch_item *item);

/* For records of other formats: begins one that starts at `start`; adds a number; adds the common fields. */
void batch_next(struct device_batch *b, uint64_t start);
void batch_number(struct device_batch *b, uint64_t n);
void batch_times(struct device_batch *b, uint64_t start, uint64_t end, uint32_t correlation);

/* Writes the counts for the ledger, unless all are 0. */
void batch_write_lost(const struct tf_device_lost *lost);
