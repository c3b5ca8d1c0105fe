/* SPDX-License-Identifier: Apache-2.0 */
/* The common beginnings of CUPTI's activity records in all releases from 11.0 on: later releases only append fields.
 * They are declared here so that one build reads the records of any version. tests/abi compares them with NVIDIA's
 * headers. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Values of CUpti_ActivityKind. */
enum cupti_kind {
	CUPTI_MEMCPY = 1,
	CUPTI_MEMSET = 2,
	CUPTI_DRIVER_CALL = 4,
	CUPTI_RUNTIME_CALL = 5,
	CUPTI_DEVICE = 8,
	CUPTI_CONTEXT = 9,
	CUPTI_KERNEL = 10, /* CONCURRENT_KERNEL in CUPTI */
	CUPTI_OVERHEAD = 17,
	CUPTI_MEMCPY_PEER = 22, /* MEMCPY2 */
	CUPTI_MANAGED = 25,	/* UNIFIED_MEMORY_COUNTER */
	CUPTI_STREAM = 37,
	CUPTI_WAIT = 38, /* SYNCHRONIZATION */
	CUPTI_MEMORY = 49, /* MEMORY2 */
	CUPTI_JIT = 52,
	CUPTI_GRAPH = 51,
	CUPTI_DEVICE_GRAPH = 53, /* launched by a kernel */
	CUPTI_DECOMPRESSION = 54,
};

/* Versions of the interface (cuptiGetVersion). */
enum {
	CUPTI_OLDEST = 13,	  /* 11.0 */
	CUPTI_HAS_GRAPH_IDS = 14, /* 11.1 */
	CUPTI_HAS_MEMORY = 15,	  /* 11.2 */
	CUPTI_HAS_DEVICE_4 = 17,  /* 11.6 */
	CUPTI_STARTS_AGAIN = 24,  /* 12.6: also after cuptiFinalize */
	CUPTI_HAS_DECOMPRESSION = 26, /* 12.8 */
	CUPTI_COPES_WITHOUT_BUFFER = 27, /* 12.9 */
	CUPTI_HAS_SEVERAL = 130300, /* several subscribers, 13.3 */
	CUPTI_HAS_SOURCES = 130400, /* records of nodes have the ids of their sources, 13.4 */
};

/* How CUPTI identifies threads (CUpti_ActivityThreadIdType): by pthread_t, or by the result of gettid(). */
enum { CUPTI_THREADS_DEFAULT = 0, CUPTI_THREADS_SYSTEM = 1 };

/* Values of CUpti_ActivityAttribute; they are set per subscriber. */
enum { CUPTI_ATTRIBUTE_USER_DEFINED_RECORDS = 11, CUPTI_ATTRIBUTE_THREADS = 21, CUPTI_ATTRIBUTE_TIMESTAMP = 22 };

/* CUpti_SubscriberParams of 13.2. */
struct cupti_subscriber_params {
	size_t size;
	const char *name;
	char *old_name;
	size_t old_size;
	uint8_t allows_several, reserved[7];
};

/* Callback ids of the calls that launch, copy, set, allocate or free: the first and the last of each range. CUPTI
 * records the runtime call only, not the driver call inside it, so the operations of a call that is missing here
 * have no call. Releases only add ids. test_cupti_calls.c compares the ranges with NVIDIA's headers. */
#define CUPTI_RUNTIME_CALLS(X)                                                                                         \
	X(cudaLaunch_v3020, 13, cudaLaunch_v3020, 13)                                                                  \
	X(cudaMalloc_v3020, 20, cudaHostAlloc_v3020, 27)                                                               \
	X(cudaMemcpy_v3020, 31, cudaMemset2DAsync_v3020, 52)                                                           \
	X(cudaMalloc3D_v3020, 140, cudaMemcpy3DAsync_v3020, 145)                                                       \
	X(cudaHostRegister_v4000, 152, cudaHostUnregister_v4000, 153)                                                  \
	X(cudaMemcpyPeer_v4000, 160, cudaMemcpy3DPeerAsync_v4000, 163)                                                 \
	X(cudaMallocMipmappedArray_v5000, 192, cudaMallocMipmappedArray_v5000, 192)                                    \
	X(cudaFreeMipmappedArray_v5000, 194, cudaFreeMipmappedArray_v5000, 194)                                        \
	X(cudaMallocManaged_v6000, 206, cudaMallocManaged_v6000, 206)                                                  \
	X(cudaLaunchKernel_v7000, 211, cudaLaunchKernel_v7000, 211)                                                    \
	X(cudaLaunch_ptsz_v7000, 213, cudaMemset2DAsync_ptsz_v7000, 236)                                               \
	X(cudaMemset3D_ptds_v7000, 243, cudaMemcpy3DAsync_ptsz_v7000, 246)                                             \
	X(cudaMemcpy3DPeer_ptds_v7000, 249, cudaMemcpy3DPeerAsync_ptsz_v7000, 250)                                     \
	X(cudaMemPrefetchAsync_v8000, 252, cudaMemPrefetchAsync_ptsz_v8000, 253)                                       \
	X(cudaLaunchCooperativeKernel_v9000, 269, cudaLaunchCooperativeKernel_ptsz_v9000, 270)                         \
	X(cudaLaunchCooperativeKernelMultiDevice_v9000, 272, cudaLaunchCooperativeKernelMultiDevice_v9000, 272)        \
	X(cudaGraphLaunch_v10000, 311, cudaGraphLaunch_ptsz_v10000, 312)                                               \
	X(cudaMallocAsync_v11020, 373, cudaFreeAsync_ptsz_v11020, 376)                                                 \
	X(cudaMallocFromPoolAsync_v11020, 391, cudaMallocFromPoolAsync_ptsz_v11020, 392)                               \
	X(cudaLaunchKernelExC_v11060, 430, cudaLaunchKernelExC_ptsz_v11060, 431)                                       \
	X(cudaMemPrefetchAsync_v12020, 449, cudaMemPrefetchAsync_ptsz_v12020, 450)                                     \
	X(cudaMemcpyBatchAsync_v12080, 482, cudaMemcpy3DBatchAsync_ptsz_v12080, 485)                                   \
	X(cudaMemPrefetchBatchAsync_v13000, 487, cudaMemDiscardAndPrefetchBatchAsync_ptsz_v13000, 492)                 \
	X(__cudaLaunchKernel_v13000, 505, __cudaLaunchKernel_ptsz_v13000, 506)                                         \
	X(cudaMemcpyBatchAsync_v13000, 509, cudaMemcpy3DBatchAsync_ptsz_v13000, 512)                                   \
	X(cudaMemcpyWithAttributesAsync_v13020, 554, cudaMemcpy3DWithAttributesAsync_ptsz_v13020, 557)
#define CUPTI_DRIVER_CALLS(X)                                                                                          \
	X(cuMemAlloc, 29, cuMemAlloc, 29)                                                                              \
	X(cuMemAllocPitch, 31, cuMemAllocPitch, 31)                                                                    \
	X(cuMemFree, 33, cuMemFree, 33)                                                                                \
	X(cuMemAllocHost, 37, cuMemHostAlloc, 39)                                                                      \
	X(cuMemcpyHtoD, 43, cuMemcpy3DAsync, 69)                                                                       \
	X(cuMemsetD8, 71, cuMemsetD2D32, 81)                                                                           \
	X(cuArrayCreate, 87, cuArrayCreate, 87)                                                                        \
	X(cuArrayDestroy, 89, cuArray3DCreate, 90)                                                                     \
	X(cuLaunch, 115, cuLaunchGridAsync, 117)                                                                       \
	X(cuMemsetD8Async, 216, cuMemsetD2D32Async, 226)                                                               \
	X(cuMemAlloc_v2, 243, cuMemFree_v2, 245)                                                                       \
	X(cuMemcpy_v2, 248, cuMemsetD2D32_v2, 254)                                                                     \
	X(cuMemHostAlloc_v2, 271, cuArrayCreate_v2, 272)                                                               \
	X(cuArray3DCreate_v2, 274, cuArray3DCreate_v2, 274)                                                            \
	X(cuMemcpyHtoD_v2, 276, cuMemAllocHost_v2, 294)                                                                \
	X(cuMemHostRegister, 301, cuMemHostUnregister, 302)                                                            \
	X(cuMemcpy, 305, cuLaunchKernel, 307)                                                                          \
	X(cuMemcpyPeer, 318, cuMemcpy3DPeerAsync, 321)                                                                 \
	X(cuMipmappedArrayCreate, 347, cuMipmappedArrayCreate, 347)                                                    \
	X(cuMipmappedArrayDestroy, 349, cuMipmappedArrayDestroy, 349)                                                  \
	X(cuMemAllocManaged, 371, cuMemAllocManaged, 371)                                                              \
	X(cuMemHostRegister_v2, 379, cuMemHostRegister_v2, 379)                                                        \
	X(cuMemcpyHtoD_v2_ptds, 397, cuMemsetD2D32_v2_ptds, 416)                                                       \
	X(cuMemcpyAsync_ptsz, 418, cuMemsetD2D32Async_ptsz, 433)                                                       \
	X(cuLaunchKernel_ptsz, 442, cuLaunchKernel_ptsz, 442)                                                          \
	X(cuMemPrefetchAsync, 467, cuMemPrefetchAsync_ptsz, 468)                                                       \
	X(cuLaunchCooperativeKernel, 477, cuLaunchCooperativeKernel_ptsz, 478)                                         \
	X(cuLaunchCooperativeKernelMultiDevice, 480, cuLaunchCooperativeKernelMultiDevice, 480)                        \
	X(cuGraphLaunch, 514, cuGraphLaunch_ptsz, 515)                                                                 \
	X(cuMemAllocAsync, 598, cuMemFreeAsync_ptsz, 601)                                                              \
	X(cuMemAllocFromPoolAsync, 611, cuMemAllocFromPoolAsync_ptsz, 612)                                             \
	X(cuLaunchKernelEx, 652, cuLaunchKernelEx_ptsz, 653)                                                           \
	X(cuMemPrefetchAsync_v2, 716, cuMemPrefetchAsync_v2_ptsz, 717)                                                 \
	X(cuMemBatchDecompressAsync, 761, cuMemBatchDecompressAsync_ptsz, 762)                                         \
	X(cuMemcpyBatchAsync, 776, cuMemcpy3DBatchAsync_ptsz, 779)                                                     \
	X(cuMemPrefetchBatchAsync, 784, cuMemPrefetchBatchAsync_ptsz, 785)                                             \
	X(cuMemDiscardBatchAsync, 789, cuMemDiscardAndPrefetchBatchAsync_ptsz, 792)                                    \
	X(cuMemcpyBatchAsync_v2, 796, cuMemcpy3DBatchAsync_v2_ptsz, 799)                                               \
	X(cuMemcpyWithAttributesAsync, 837, cuMemcpy3DWithAttributesAsync_ptsz, 840)

/* Values of CUptiResult. */
enum {
	CUPTI_OK = 0,
	CUPTI_AT_END = 12,
	CUPTI_UNINITIALIZED = 15,
	CUPTI_UNSUPPORTED = 27,
	CUPTI_OTHER_SUBSCRIBER = 39,
};

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
	uint8_t between[80];
	uint64_t source_node; /* CUPTI_HAS_SOURCES */
};

struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy, source, target, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation, runtime_correlation, pad;
	uint64_t reserved;
	uint64_t graph_node;
	uint32_t graph; /* CUPTI_HAS_GRAPH_IDS */
	uint8_t between[28];
	uint64_t source_node; /* CUPTI_HAS_SOURCES */
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
	uint8_t between[20];
	uint64_t source_node; /* CUPTI_HAS_SOURCES */
};

struct cupti_graph {
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
};

struct cupti_device_graph {
	uint32_t kind, device;
	uint64_t start, end;
	uint32_t graph, launcher, mode, context;
	uint64_t stream;
};

struct cupti_decompression {
	uint32_t kind, device, context, stream, channel, channel_type, correlation, operations;
	uint64_t bytes; /* compressed */
	void *reserved;
	uint64_t start, end;
};

struct cupti_call {
	uint32_t kind, function; /* its callback id */
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};

struct cupti_wait {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream;
};

struct cupti_memory {
	uint32_t kind, operation, memory, correlation; /* operation: 1 allocation, 2 release */
	uint64_t address, bytes, time, instruction;
	uint32_t process, device, context, stream;
	const char *name;
	uint32_t is_async, pad, pool;
};

struct cupti_overhead {
	uint32_t kind, overhead, object_kind, object[3];
	uint64_t start, end;
};

struct cupti_managed {
	uint32_t kind, counter;
	uint64_t value, start, end, address;
	uint32_t source, target, stream, process, flags;
};

struct cupti_managed_config {
	uint32_t scope, counter, device, is_on;
};

struct cupti_jit {
	uint32_t kind, entry, operation, device;
	uint64_t start, end;
	uint32_t correlation;
};

struct cupti_context {
	uint32_t kind, context, device;
	uint16_t api, default_stream;
};

struct cupti_stream {
	uint32_t kind, context, stream, priority, flag;
};

struct cupti_device {
	uint32_t kind;
	uint8_t before[108];
	uint32_t id;
	uint8_t between[20];
	const char *name; /* CUPTI_HAS_DEVICE_4 */
};
