/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace file of --ring has beside others. Its chunks are used again: a chunk may be followed in the file by one
 * that is older. Included by trace_format.h after what it needs of that. */
#pragma once

#include <stdint.h>

#include "runtime/shared/format/trace_format.h"

/* With --ring, ids of these kinds are used again, and what they define counts for the events of the same time only: it
 * does not count if it was written before ring_ticks. The others are facts, which count as long as they are there. */
#define TF_RING_PASSES(blob)                                                                                           \
	(1ull << (blob) &                                                                                              \
	 (TF_BLOBS_OF_TIME | 1ull << TF_BLOB_STRING | 1ull << TF_BLOB_STACK | 1ull << TF_BLOB_LAUNCH |                 \
	  1ull << TF_BLOB_KERNEL | 1ull << TF_BLOB_DEVICE_OPERATION | 1ull << TF_BLOB_OPERATION |                      \
	  1ull << TF_BLOB_PYTHON_CODE | 1ull << TF_BLOB_PYTHON_STACK | 1ull << TF_BLOB_LINE_CODE |                     \
	  1ull << TF_BLOB_HDF5 | 1ull << TF_BLOB_JAX_LIVE))

/* With --ring: what a thread had counted on its page at ring_ticks, which is to be subtracted. */
struct tf_counted {
	uint64_t ticks;
	uint64_t lost, slow_ticks; /* as in struct tf_thread */
	uint32_t stacks_lost, count; /* count: of struct tf_counted_calls */
};

struct tf_counted_calls {
	uint64_t calls, ticks;
	uint32_t function, reserved;
};

/* Kinds of slots that are events: each is counted as one, with what belongs to it. */
#define TF_EVENT_KINDS                                                                                                 \
	(1u << TF_CALL | 1u << TF_PUSH | 1u << TF_POP | 1u << TF_RANGE_START | 1u << TF_RANGE_END | 1u << TF_MARK |   \
	 1u << TF_SAMPLE | 1u << TF_ALLOCATION | 1u << TF_RELEASE | 1u << TF_CONSTRUCT | 1u << TF_TENSOR)
