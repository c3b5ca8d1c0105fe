/* SPDX-License-Identifier: Apache-2.0 */
/* A part of trace_format.h: device operations, and the sources of their times. */
#pragma once

#include <stdint.h>

/* Device records arrive in batches whenever the driver delivers them, in the chunks of the thread that it delivers them
 * in, and in no particular order. A record is four to six numbers. Each number is stored in groups of 7 bits, the
 * lowest first, with bit 7 set in all but the last:
 *
 *   4 * id of a TF_BLOB_DEVICE_OPERATION, + 1 if the number of bytes follows at the end, + 2 if an address follows that
 *   start in ns, as the distance from the previous record's start (first record: from base_ns), signed
 *   end - start in ns
 *   correlation id, as the distance from the previous record's (first record: from 0), signed
 *   bytes copied, set, allocated, freed or moved; or another number, see enum tf_device_operation_kind
 *   address
 *
 * Signed numbers are stored as 2n for n >= 0 and as -2n - 1 for n < 0. A kernel that is launched repeatedly takes 7 to
 * 9 bytes per record, which is 8 to 11 bytes in the file. */
enum tf_source { TF_SOURCE_CUPTI = 1, TF_SOURCE_EVENTS = 2 }; /* EVENTS: CUDA events around the operation */
enum tf_device_time {
	TF_DEVICE_TIME_MONOTONIC = 0, /* CLOCK_MONOTONIC, as accurate as the conversion of the source */
	/* the clock of the source, related to others by the TF_BLOB_DEVICE_CLOCK blobs of the file */
	TF_DEVICE_TIME_OWN = 1,
};

struct tf_device_batch {
	uint64_t base_ns;
	uint32_t count; /* records */
	uint8_t source, time;
	uint16_t epoch; /* how often the source had been started before; correlation ids are unique within an epoch */
};

/* Calls that requested a device operation; the correlation ids are assigned by them. A record is four numbers, packed
 * like the above:
 *
 *   2 * d + 1 if the driver recorded the call, + 0 if the runtime did (the ids agree if both recorded it); d is the
 *       distance of the thread's kernel id from the previous record's (first record: from 0), signed, as one number
 *   start in ns, as the distance from the previous record's start (first record: from base_ns), signed
 *   end - start in ns
 *   correlation id, as the distance from the previous record's (first record: from 0), signed
 *
 * A record takes 5 to 8 bytes if a thread makes several calls in a row. */

enum { TF_COPY_DECOMPRESSES = 11 };

enum tf_device_operation_kind {
	TF_DEVICE_KERNEL = 1,
	TF_DEVICE_COPY = 2,
	TF_DEVICE_SET = 3,
	TF_DEVICE_GRAPH = 4,
	/* in TF_BLOB_DEVICE_MORE */
	/* value = CUpti_ActivitySynchronizationType: 1 event 2 stream waits for event 3 stream 4 context */
	TF_DEVICE_WAIT = 5,
	/* target = CUpti_ActivityMemoryKind, copy = 1 if from a pool; with bytes and address */
	TF_DEVICE_ALLOCATE = 6,
	TF_DEVICE_FREE = 7, /* as TF_DEVICE_ALLOCATE */
	/* value = CUpti_ActivityOverheadKind: the cost of recording, or of the driver's compiler */
	TF_DEVICE_OVERHEAD = 8,
	/* copy = CUpti_ActivityUnifiedMemoryCounterKind: 1 bytes HtoD 2 bytes DtoH 3 CPU page fault (bytes = address of
	 * the instruction) 4 GPU page faults (bytes = their number) 8 bytes DtoD; with address */
	TF_DEVICE_MANAGED = 9,
	/* copy = CUpti_ActivityJitEntryType, value = CUpti_ActivityJitOperationType */
	TF_DEVICE_COMPILE = 10,
	/* without records: only referred to */
	TF_DEVICE_CONTEXT = 11, /* device, context, stream = its default stream */
	TF_DEVICE_STREAM = 12,  /* context, stream, value = CUpti_ActivityStreamFlag */
};

/* The parts of a device operation that its repetitions share. */
struct tf_device_operation {
	uint8_t kind;		/* enum tf_device_operation_kind */
	/* CUpti_ActivityMemcpyKind: 1 HtoD 2 DtoH 3 HtoA 4 AtoH 5 AtoA 6 AtoD 7 DtoA 8 DtoD 9 HtoH 10 PtoP; or
	 * TF_COPY_DECOMPRESSES, whose bytes are the compressed ones */
	uint8_t copy;
	/* CUpti_ActivityMemoryKind: 1 pageable 2 pinned 3 device 4 array 5 managed 6, 7 the static ones; a memset has
	 * only a target */
	uint8_t source, target;
	uint32_t kernel;	/* id of a TF_BLOB_KERNEL; 0 if it has no name */
	uint32_t device, context, stream;
	uint32_t graph; /* the executable graph of the node, or (TF_DEVICE_GRAPH) of the operation; 0: none */
	uint32_t grid[3], block[3];
	uint32_t registers;			     /* per thread */
	uint32_t static_shared_bytes, dynamic_shared_bytes; /* per block */
	uint32_t local_bytes;			     /* per thread */
	uint32_t value;				     /* of a memset */
	uint16_t source_device, target_device;	     /* of a copy between devices */
	/* the node's number and the graph in which it has that number: `graph`, or one inside of it (a child graph, the
	 * body of a conditional node). Numbers begin at 0 or 1; both 0: not a node. Absent before 1.2 */
	uint32_t node, node_graph;
	/* likewise of the node from which that one was instantiated or last updated, in the program's graph. Only if it
	 * is known, and its number is another one or `node_graph` is inside of `graph`; absent before 1.6, and where
	 * source_graph is 0 */
	uint32_t source_node, source_graph;
};

/* How much of an operation is stored. */
static inline uint32_t tf_device_operation_size(const struct tf_device_operation *operation)
{
	return operation->source_graph ? sizeof(*operation)
				       : __builtin_offsetof(struct tf_device_operation, source_node);
}

/* Attributes of a device under the driver's numbers (CU_DEVICE_ATTRIBUTE_...): X(name, number). Clocks are in kHz,
 * sizes in bytes, the width of the memory's bus in bits. */
#define TF_DEVICE_ATTRIBUTES(X)                                                                                        \
	X(BLOCK_THREADS, 1)                                                                                            \
	X(BLOCK_X, 2)                                                                                                  \
	X(BLOCK_Y, 3)                                                                                                  \
	X(BLOCK_Z, 4)                                                                                                  \
	X(GRID_X, 5)                                                                                                   \
	X(GRID_Y, 6)                                                                                                   \
	X(GRID_Z, 7)                                                                                                   \
	X(BLOCK_SHARED_BYTES, 8)                                                                                       \
	X(CONSTANT_BYTES, 9)                                                                                           \
	X(WARP_THREADS, 10)                                                                                            \
	X(BLOCK_REGISTERS, 12)                                                                                         \
	X(CLOCK, 13)                                                                                                   \
	X(SM_COUNT, 16)                                                                                                \
	X(IS_INTEGRATED, 18)                                                                                           \
	X(HAS_ECC, 32)                                                                                                 \
	X(PCI_BUS, 33)                                                                                                 \
	X(PCI_DEVICE, 34)                                                                                              \
	X(MEMORY_CLOCK, 36)                                                                                            \
	X(MEMORY_BUS_BITS, 37)                                                                                         \
	X(L2_BYTES, 38)                                                                                                \
	X(SM_THREADS, 39)                                                                                              \
	X(COPY_ENGINES, 40)                                                                                            \
	X(PCI_DOMAIN, 50)                                                                                              \
	X(MAJOR, 75)                                                                                                   \
	X(MINOR, 76)                                                                                                   \
	X(SM_SHARED_BYTES, 81)                                                                                         \
	X(SM_REGISTERS, 82)                                                                                            \
	X(BLOCK_SHARED_BYTES_OPTIN, 97)                                                                                \
	X(SM_BLOCKS, 106)

#define TF_DEVICE_ATTRIBUTE(name, number) TF_ATTRIBUTE_##name = (number),
enum tf_device_attribute { TF_DEVICE_ATTRIBUTES(TF_DEVICE_ATTRIBUTE) };
#undef TF_DEVICE_ATTRIBUTE

struct tf_attribute_value {
	uint32_t attribute; /* enum tf_device_attribute, or another number of the driver's */
	int32_t value;
};

/* Values follow: those of the attributes that this driver knows. */
struct tf_device_facts {
	uint64_t memory_bytes; /* 0: not known */
	uint8_t uuid[16];      /* all 0: not known */
};

struct tf_device_source {
	uint16_t source, time; /* enum tf_source, enum tf_device_time */
	uint32_t version;      /* of the CUPTI interface: cuptiGetVersion */
};

struct tf_device_clock {
	uint64_t device_ns, monotonic_ns;
	uint64_t error_ns; /* time that reading both clocks took */
};

/* The program used CUPTI itself for a while: device operations were not recorded. */
struct tf_device_gap {
	uint64_t ticks;
	uint32_t is_end; /* 1: the recorder uses CUPTI again */
	uint32_t reserved;
};

/* Records of operations that were complete at that time are in the trace, except for those that CUPTI still holds in a
 * buffer together with incomplete ones. */
struct tf_device_flush {
	uint64_t ticks;
};

/* Counts since the previous blob of this kind in the file. */
struct tf_device_lost {
	uint64_t dropped;    /* records that CUPTI dropped */
	uint64_t timeless;   /* records without a start or an end */
	uint64_t unreadable; /* buffers that could not be read completely, or not be stored */
};
