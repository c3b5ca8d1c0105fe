/* SPDX-License-Identifier: Apache-2.0 */
/* A part of trace_format.h: what the devices did, and where their times come from. */
#ifndef PILLION_TRACE_DEVICE_H
#define PILLION_TRACE_DEVICE_H

#include <stdint.h>

/* Records come in batches, when the driver hands them over, in the chunks of whichever thread it does that in, and in no
 * order. A record is four to six numbers, each in groups of 7 bits, the lowest first, bit 7 set on all but the last:
 *
 *   4 * id of a TF_BLOB_DEVICE_OPERATION, + 1 if the number of bytes follows at the end, + 2 if an address follows after all
 *   start in ns, as the distance from the start before it (of the first: from base_ns), signed
 *   end - start in ns
 *   correlation id, as the distance from the one before it (of the first: from 0), signed
 *   bytes copied or set, allocated or freed, moved; or another number, see enum tf_device_operation_kind
 *   address
 *
 * Signed: n >= 0 as 2n, n < 0 as -2n - 1. A kernel launched again and again takes 7 to 9 bytes, so 8 to 11 in the file. */
enum tf_source { TF_SOURCE_CUPTI = 1, TF_SOURCE_EVENTS = 2 }; /* EVENTS: CUDA events around the work */
enum tf_device_time {
	TF_DEVICE_TIME_MONOTONIC = 0, /* CLOCK_MONOTONIC, as far as the source's own conversion is right */
	TF_DEVICE_TIME_OWN = 1,	      /* the source's: TF_BLOB_DEVICE_CLOCK of the same file tell where it stood */
};

struct tf_device_batch {
	uint64_t base_ns;
	uint32_t count; /* records */
	uint8_t source, time;
	uint16_t epoch; /* times that the source was started before: correlation ids are one's own */
};

/* Calls that asked a device for something, which is where correlation ids are given out. A record is four numbers, packed
 * like the above:
 *
 *   2 * the distance of its thread's kernel id from that of the record before it (of the first: from 0), signed, as one
 *   number; + 1 if the driver saw the call, + 0 if the runtime did: of a call that both saw, the ids are the same
 *   start in ns, as the distance from the start before it (of the first: from base_ns), signed
 *   end - start in ns
 *   correlation id, as the distance from the one before it (of the first: from 0), signed
 *
 * 5 to 8 bytes where a thread makes several in a row. */

enum tf_device_operation_kind {
	TF_DEVICE_KERNEL = 1,
	TF_DEVICE_COPY = 2,
	TF_DEVICE_SET = 3,
	TF_DEVICE_GRAPH = 4,
	/* in TF_BLOB_DEVICE_MORE */
	TF_DEVICE_WAIT = 5,     /* value = CUpti_ActivitySynchronizationType: 1 event 2 stream waits for event 3 stream 4 context */
	TF_DEVICE_ALLOCATE = 6, /* target = CUpti_ActivityMemoryKind, copy = 1 if from a pool; with bytes and address */
	TF_DEVICE_FREE = 7,     /* likewise */
	TF_DEVICE_OVERHEAD = 8, /* value = CUpti_ActivityOverheadKind: what recording, or the driver's own compiling, cost */
	TF_DEVICE_MANAGED = 9,  /* copy = CUpti_ActivityUnifiedMemoryCounterKind: 1 bytes HtoD 2 bytes DtoH 3 CPU page fault (bytes =
				 address of the instruction) 4 GPU page faults (bytes = how many) 8 bytes DtoD; with address */
	TF_DEVICE_COMPILE = 10, /* copy = CUpti_ActivityJitEntryType, value = CUpti_ActivityJitOperationType */
	/* without records: facts that others refer to */
	TF_DEVICE_CONTEXT = 11, /* device, context, stream = its default stream */
	TF_DEVICE_STREAM = 12,  /* context, stream, value = CUpti_ActivityStreamFlag */
};

/* Everything about a piece of work that tends to come again. */
struct tf_device_operation {
	uint8_t kind;		/* enum tf_device_operation_kind */
	uint8_t copy;		/* CUpti_ActivityMemcpyKind: 1 HtoD 2 DtoH 3 HtoA 4 AtoH 5 AtoA 6 AtoD 7 DtoA 8 DtoD 9 HtoH 10 PtoP */
	uint8_t source, target; /* CUpti_ActivityMemoryKind: 1 pageable 2 pinned 3 device 4 array 5 managed 6, 7 the static ones; of
				   a memset target alone */
	uint32_t kernel;	/* id of a TF_BLOB_KERNEL, 0 if it has no name */
	uint32_t device, context, stream;
	uint32_t graph; /* the executable graph that it is a node of, or (TF_DEVICE_GRAPH) is; 0: none */
	uint32_t grid[3], block[3];
	uint32_t registers;			     /* per thread */
	uint32_t static_shared_bytes, dynamic_shared_bytes; /* per block */
	uint32_t local_bytes;			     /* per thread */
	uint32_t value;				     /* of a memset */
	uint16_t source_device, target_device;	     /* of a copy between devices */
};

struct tf_device_source {
	uint16_t source, time; /* enum tf_source, enum tf_device_time */
	uint32_t version;      /* of CUPTI's interface: cuptiGetVersion */
};

struct tf_device_clock {
	uint64_t device_ns, monotonic_ns;
	uint64_t error_ns; /* how long reading the two took */
};

/* The source was the program's own for a while: nothing is known of what the devices did then. */
struct tf_device_gap {
	uint64_t ticks;
	uint32_t is_end; /* 1: ours again */
	uint32_t reserved;
};

/* Since the last one of these in the file. */
struct tf_device_lost {
	uint64_t dropped;    /* records that the source says it had no room for */
	uint64_t timeless;   /* records without a start and an end */
	uint64_t unreadable; /* buffers that could not be read to their end, or not be kept */
};

#endif
