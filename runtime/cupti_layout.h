/* SPDX-License-Identifier: Apache-2.0 */
/* The beginnings of CUPTI's activity records, as every release from 11.0 on has them: later ones only append fields. Here
 * so that one build reads whatever version a process has. cupti_layout.c compares them with NVIDIA's header. */
#ifndef PILLION_CUPTI_LAYOUT_H
#define PILLION_CUPTI_LAYOUT_H

#include <stdint.h>

/* Values of CUpti_ActivityKind. */
enum cupti_kind {
	CUPTI_MEMCPY = 1,
	CUPTI_MEMSET = 2,
	CUPTI_DEVICE = 8,
	CUPTI_KERNEL = 10, /* CUPTI calls it CONCURRENT_KERNEL */
	CUPTI_MEMCPY_PEER = 22, /* MEMCPY2 */
	CUPTI_GRAPH = 51,
};

/* Versions of the interface, cuptiGetVersion. */
enum { CUPTI_OLDEST = 13 /* 11.0 */, CUPTI_HAS_GRAPH_IDS = 14 /* 11.1 */, CUPTI_HAS_DEVICE_4 = 17 /* 11.6 */ };

/* Values of CUptiResult. */
enum { CUPTI_OK = 0, CUPTI_AT_END = 12, CUPTI_UNINITIALIZED = 15, CUPTI_OTHER_SUBSCRIBER = 39 };

struct cupti_record {
	uint32_t kind;
};

struct cupti_kernel {
	uint32_t kind;
	uint8_t cache, shared_memory;
	uint16_t registers;
	uint32_t partitioned, partitioned_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	uint32_t grid[3], block[3];
	uint32_t static_shared, dynamic_shared, local_per_thread, local_total;
	uint32_t correlation;
	uint64_t grid_id;
	const char *name;
	uint64_t reserved, queued, submitted;
	uint8_t launch[4];
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shared_limit, graph; /* CUPTI_HAS_GRAPH_IDS */
};

struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy, source, target, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation, runtime_correlation, pad;
	uint64_t reserved;
	uint64_t graph_node;
	uint32_t graph; /* CUPTI_HAS_GRAPH_IDS */
};

struct cupti_memcpy_peer {
	uint32_t kind;
	uint8_t copy, source, target, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t source_device, source_context, target_device, target_context, correlation;
	uint64_t reserved;
	uint64_t graph_node;
	uint32_t graph; /* CUPTI_HAS_GRAPH_IDS */
};

struct cupti_memset {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory;
	uint32_t pad;
	uint64_t reserved;
	uint64_t graph_node;
	uint32_t graph; /* CUPTI_HAS_GRAPH_IDS */
};

struct cupti_graph {
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
};

struct cupti_device {
	uint32_t kind;
	uint8_t before[108];
	uint32_t id;
	uint8_t between[20];
	const char *name; /* CUPTI_HAS_DEVICE_4 */
};

#endif
