/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the records and values of runtime/recorder/device/cupti_layout.h with those of NVIDIA's headers. */
#include <cupti.h>
#include <stddef.h>

#include "runtime/recorder/device/cupti_layout.h"

#define SAME(ours, field, theirs, their_field)                                                                         \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, their_field) &&                                \
			       sizeof(((struct ours *)0)->field) >= sizeof(((theirs *)0)->their_field),                \
		       #ours "." #field " differs from CUPTI's layout")

SAME(cupti_kernel, registers, CUpti_ActivityKernel4, registersPerThread);
SAME(cupti_kernel, start, CUpti_ActivityKernel4, start);
SAME(cupti_kernel, end, CUpti_ActivityKernel4, end);
SAME(cupti_kernel, device, CUpti_ActivityKernel4, deviceId);
SAME(cupti_kernel, context, CUpti_ActivityKernel4, contextId);
SAME(cupti_kernel, stream, CUpti_ActivityKernel4, streamId);
SAME(cupti_kernel, grid, CUpti_ActivityKernel4, gridX);
SAME(cupti_kernel, block, CUpti_ActivityKernel4, blockX);
SAME(cupti_kernel, static_shared, CUpti_ActivityKernel4, staticSharedMemory);
SAME(cupti_kernel, dynamic_shared, CUpti_ActivityKernel4, dynamicSharedMemory);
SAME(cupti_kernel, local_per_thread, CUpti_ActivityKernel4, localMemoryPerThread);
SAME(cupti_kernel, correlation, CUpti_ActivityKernel4, correlationId);
SAME(cupti_kernel, name, CUpti_ActivityKernel4, name);
SAME(cupti_kernel, graph_node, CUpti_ActivityKernel5, graphNodeId);
SAME(cupti_kernel, graph, CUpti_ActivityKernel5, graphId);
#if CUPTI_API_VERSION >= 130400
SAME(cupti_kernel, source_node, CUpti_ActivityKernel13, sourceGraphNodeId);
SAME(cupti_memcpy, source_node, CUpti_ActivityMemcpy7, sourceGraphNodeId);
SAME(cupti_memset, source_node, CUpti_ActivityMemset5, sourceGraphNodeId);
#endif
SAME(cupti_memcpy, copy, CUpti_ActivityMemcpy3, copyKind);
SAME(cupti_memcpy, source, CUpti_ActivityMemcpy3, srcKind);
SAME(cupti_memcpy, target, CUpti_ActivityMemcpy3, dstKind);
SAME(cupti_memcpy, bytes, CUpti_ActivityMemcpy3, bytes);
SAME(cupti_memcpy, start, CUpti_ActivityMemcpy3, start);
SAME(cupti_memcpy, end, CUpti_ActivityMemcpy3, end);
SAME(cupti_memcpy, device, CUpti_ActivityMemcpy3, deviceId);
SAME(cupti_memcpy, context, CUpti_ActivityMemcpy3, contextId);
SAME(cupti_memcpy, stream, CUpti_ActivityMemcpy3, streamId);
SAME(cupti_memcpy, correlation, CUpti_ActivityMemcpy3, correlationId);
SAME(cupti_memcpy, graph, CUpti_ActivityMemcpy4, graphId);
SAME(cupti_memcpy_peer, bytes, CUpti_ActivityMemcpyPtoP2, bytes);
SAME(cupti_memcpy_peer, start, CUpti_ActivityMemcpyPtoP2, start);
SAME(cupti_memcpy_peer, device, CUpti_ActivityMemcpyPtoP2, deviceId);
SAME(cupti_memcpy_peer, stream, CUpti_ActivityMemcpyPtoP2, streamId);
SAME(cupti_memcpy_peer, source_device, CUpti_ActivityMemcpyPtoP2, srcDeviceId);
SAME(cupti_memcpy_peer, target_device, CUpti_ActivityMemcpyPtoP2, dstDeviceId);
SAME(cupti_memcpy_peer, correlation, CUpti_ActivityMemcpyPtoP2, correlationId);
SAME(cupti_memcpy_peer, graph, CUpti_ActivityMemcpyPtoP3, graphId);
SAME(cupti_memset, value, CUpti_ActivityMemset2, value);
SAME(cupti_memset, bytes, CUpti_ActivityMemset2, bytes);
SAME(cupti_memset, start, CUpti_ActivityMemset2, start);
SAME(cupti_memset, device, CUpti_ActivityMemset2, deviceId);
SAME(cupti_memset, stream, CUpti_ActivityMemset2, streamId);
SAME(cupti_memset, correlation, CUpti_ActivityMemset2, correlationId);
SAME(cupti_memset, memory, CUpti_ActivityMemset2, memoryKind);
SAME(cupti_memset, graph, CUpti_ActivityMemset3, graphId);
SAME(cupti_graph, correlation, CUpti_ActivityGraphTrace, correlationId);
SAME(cupti_graph, start, CUpti_ActivityGraphTrace, start);
SAME(cupti_graph, device, CUpti_ActivityGraphTrace, deviceId);
SAME(cupti_graph, graph, CUpti_ActivityGraphTrace, graphId);
SAME(cupti_graph, context, CUpti_ActivityGraphTrace, contextId);
SAME(cupti_graph, stream, CUpti_ActivityGraphTrace, streamId);
SAME(cupti_wait, type, CUpti_ActivitySynchronization, type);
SAME(cupti_wait, start, CUpti_ActivitySynchronization, start);
SAME(cupti_wait, end, CUpti_ActivitySynchronization, end);
SAME(cupti_wait, correlation, CUpti_ActivitySynchronization, correlationId);
SAME(cupti_wait, context, CUpti_ActivitySynchronization, contextId);
SAME(cupti_wait, stream, CUpti_ActivitySynchronization, streamId);
SAME(cupti_memory, operation, CUpti_ActivityMemory2, memoryOperationType);
SAME(cupti_memory, memory, CUpti_ActivityMemory2, memoryKind);
SAME(cupti_memory, correlation, CUpti_ActivityMemory2, correlationId);
SAME(cupti_memory, address, CUpti_ActivityMemory2, address);
SAME(cupti_memory, bytes, CUpti_ActivityMemory2, bytes);
SAME(cupti_memory, time, CUpti_ActivityMemory2, timestamp);
SAME(cupti_memory, device, CUpti_ActivityMemory2, deviceId);
SAME(cupti_memory, context, CUpti_ActivityMemory2, contextId);
SAME(cupti_memory, stream, CUpti_ActivityMemory2, streamId);
SAME(cupti_memory, pool, CUpti_ActivityMemory2, memoryPoolConfig.memoryPoolType);
SAME(cupti_overhead, overhead, CUpti_ActivityOverhead, overheadKind);
SAME(cupti_overhead, start, CUpti_ActivityOverhead, start);
SAME(cupti_overhead, end, CUpti_ActivityOverhead, end);
SAME(cupti_managed, counter, CUpti_ActivityUnifiedMemoryCounter2, counterKind);
SAME(cupti_managed, value, CUpti_ActivityUnifiedMemoryCounter2, value);
SAME(cupti_managed, start, CUpti_ActivityUnifiedMemoryCounter2, start);
SAME(cupti_managed, end, CUpti_ActivityUnifiedMemoryCounter2, end);
SAME(cupti_managed, address, CUpti_ActivityUnifiedMemoryCounter2, address);
SAME(cupti_managed, source, CUpti_ActivityUnifiedMemoryCounter2, srcId);
SAME(cupti_managed, target, CUpti_ActivityUnifiedMemoryCounter2, dstId);
SAME(cupti_managed, flags, CUpti_ActivityUnifiedMemoryCounter2, flags);
SAME(cupti_managed_config, counter, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
SAME(cupti_managed_config, is_on, CUpti_ActivityUnifiedMemoryCounterConfig, enable);
_Static_assert(sizeof(struct cupti_managed_config) == sizeof(CUpti_ActivityUnifiedMemoryCounterConfig),
	       "elements of an array");
SAME(cupti_jit, entry, CUpti_ActivityJit, jitEntryType);
SAME(cupti_jit, operation, CUpti_ActivityJit, jitOperationType);
SAME(cupti_jit, device, CUpti_ActivityJit, deviceId);
SAME(cupti_jit, start, CUpti_ActivityJit, start);
SAME(cupti_jit, end, CUpti_ActivityJit, end);
SAME(cupti_jit, correlation, CUpti_ActivityJit, correlationId);
SAME(cupti_context, context, CUpti_ActivityContext, contextId);
SAME(cupti_context, device, CUpti_ActivityContext, deviceId);
SAME(cupti_context, default_stream, CUpti_ActivityContext, nullStreamId);
SAME(cupti_stream, context, CUpti_ActivityStream, contextId);
SAME(cupti_stream, stream, CUpti_ActivityStream, streamId);
SAME(cupti_stream, flag, CUpti_ActivityStream, flag);
#if CUPTI_API_VERSION >= 21 /* 12.3 */
SAME(cupti_device_graph, start, CUpti_ActivityDeviceGraphTrace, start);
SAME(cupti_device_graph, graph, CUpti_ActivityDeviceGraphTrace, graphId);
SAME(cupti_device_graph, context, CUpti_ActivityDeviceGraphTrace, contextId);
SAME(cupti_device_graph, stream, CUpti_ActivityDeviceGraphTrace, streamId);
#endif
#if CUPTI_API_VERSION >= 26 /* 12.8 */
SAME(cupti_decompression, device, CUpti_ActivityMemDecompress, deviceId);
SAME(cupti_decompression, stream, CUpti_ActivityMemDecompress, streamId);
SAME(cupti_decompression, correlation, CUpti_ActivityMemDecompress, correlationId);
SAME(cupti_decompression, bytes, CUpti_ActivityMemDecompress, sourceBytes);
SAME(cupti_decompression, start, CUpti_ActivityMemDecompress, start);
SAME(cupti_decompression, end, CUpti_ActivityMemDecompress, end);
#endif
SAME(cupti_call, function, CUpti_ActivityAPI, cbid);
SAME(cupti_call, start, CUpti_ActivityAPI, start);
SAME(cupti_call, end, CUpti_ActivityAPI, end);
SAME(cupti_call, thread, CUpti_ActivityAPI, threadId);
SAME(cupti_call, correlation, CUpti_ActivityAPI, correlationId);
SAME(cupti_device, id, CUpti_ActivityDevice4, id);
SAME(cupti_device, name, CUpti_ActivityDevice4, name);

#if CUPTI_API_VERSION >= 130000 /* 13.0 */
SAME(cupti_subscriber_params, size, CUpti_SubscriberParams, structSize);
SAME(cupti_subscriber_params, name, CUpti_SubscriberParams, subscriberName);
SAME(cupti_subscriber_params, old_name, CUpti_SubscriberParams, oldSubscriberName);
SAME(cupti_subscriber_params, old_size, CUpti_SubscriberParams, oldSubscriberSize);
#endif

#define SAME_VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours " is not " #theirs)

SAME_VALUE(CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME_VALUE(CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
SAME_VALUE(CUPTI_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
SAME_VALUE(CUPTI_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME_VALUE(CUPTI_DRIVER_CALL, CUPTI_ACTIVITY_KIND_DRIVER);
SAME_VALUE(CUPTI_RUNTIME_CALL, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME_VALUE(CUPTI_MEMCPY_PEER, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME_VALUE(CUPTI_GRAPH, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
#if CUPTI_API_VERSION >= 21 /* 12.3 */
SAME_VALUE(CUPTI_DEVICE_GRAPH, CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE);
#endif
#if CUPTI_API_VERSION >= 26 /* 12.8 */
SAME_VALUE(CUPTI_DECOMPRESSION, CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS);
#endif
SAME_VALUE(CUPTI_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT);
SAME_VALUE(CUPTI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME_VALUE(CUPTI_MANAGED, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
SAME_VALUE(CUPTI_STREAM, CUPTI_ACTIVITY_KIND_STREAM);
SAME_VALUE(CUPTI_WAIT, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME_VALUE(CUPTI_MEMORY, CUPTI_ACTIVITY_KIND_MEMORY2);
SAME_VALUE(CUPTI_JIT, CUPTI_ACTIVITY_KIND_JIT);
SAME_VALUE(CUPTI_AT_END, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME_VALUE(CUPTI_UNINITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
SAME_VALUE(CUPTI_UNSUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
SAME_VALUE(CUPTI_OTHER_SUBSCRIBER, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
_Static_assert((int)CUPTI_THREADS_DEFAULT == CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT &&
		       (int)CUPTI_THREADS_SYSTEM == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM,
	       "names of threads");
#if CUPTI_API_VERSION >= 130200 /* 13.2 */
SAME(cupti_subscriber_params, allows_several, CUpti_SubscriberParams, allowMultipleSubscribers);
SAME_VALUE(CUPTI_ATTRIBUTE_USER_DEFINED_RECORDS, CUPTI_ACTIVITY_ATTR_USER_DEFINED_RECORDS);
SAME_VALUE(CUPTI_ATTRIBUTE_THREADS, CUPTI_ACTIVITY_ATTR_THREAD_ID_TYPE);
SAME_VALUE(CUPTI_ATTRIBUTE_TIMESTAMP, CUPTI_ACTIVITY_ATTR_TIMESTAMP_CALLBACK);
#endif
