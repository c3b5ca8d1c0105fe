/* SPDX-License-Identifier: Apache-2.0 */
/* The CUPTI double: activity records of the simulated GPU's operations. Records are built in the layout of 13.0 and cut
 * or extended to their size in the imitated release: later releases only appended fields. */
#include "simcupti.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A client may call CUDA or CUPTI when it gets a buffer. */
#define FOR_CLIENTS(statement) \
	do { \
		unsigned before_ = simcupti_current; \
		for (unsigned client_ = 0; client_ < CLIENTS; client_++) { \
			simcupti_current = client_; \
			statement; \
		} \
		simcupti_current = before_; \
	} while (0)

static CUpti_ActivityMemoryKind memory_kind(enum sim_place place)
{
	switch (place) {
	case SIM_PAGEABLE:
		return CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
	case SIM_PINNED:
		return CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
	case SIM_MANAGED:
		return CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
	default:
		return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	}
}

/* ---- API calls ---- */

#define EXTERNAL_DEPTH 32
static __thread struct { uint64_t ids[EXTERNAL_DEPTH]; unsigned depth; } external[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];

CUptiResult CUPTIAPI cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	if ((unsigned)kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE || external[kind].depth == EXTERNAL_DEPTH)
		return CUPTI_ERROR_INVALID_PARAMETER;
	external[kind].ids[external[kind].depth++] = id;
	return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t *lastId)
{
	if ((unsigned)kind >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!external[kind].depth)
		return CUPTI_ERROR_QUEUE_EMPTY;
	external[kind].depth--;
	if (lastId)
		*lastId = external[kind].ids[external[kind].depth];
	return CUPTI_SUCCESS;
}

static void external_record(uint32_t correlation)
{
	for (unsigned kind = 0; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; kind++) {
		CUpti_ActivityExternalCorrelation record = { .kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION };

		if (!external[kind].depth)
			continue;
		record.externalKind = (CUpti_ExternalCorrelationKind)kind;
		record.externalId = external[kind].ids[external[kind].depth - 1];
		record.correlationId = correlation;
		simcupti_emit(&record);
	}
}

static void api_record(const struct sim_api *api)
{
	CUpti_ActivityAPI record = { .kind = CUPTI_ACTIVITY_KIND_RUNTIME };

	/* A correlation id has one record, of the outermost call; driver calls within that call have none. */
	if (api->cbid >= CBID_COUNT || !simcupti_client()->api_enabled[api->layer][api->cbid])
		return;
	if (api->is_nested && (api->layer == SIM_RUNTIME || !simcupti.tells_nested))
		return;
	if (simcupti_client()->enabled[CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION])
		external_record(api->correlation);
	if (api->layer == SIM_DRIVER)
		record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
	record.cbid = api->cbid;
	record.start = simcupti_time(api->start_ns);
	record.end = simcupti_time(api->end_ns);
	record.processId = (uint32_t)syscall(SYS_getpid);
	record.threadId = simcupti_thread_id();
	record.correlationId = api->correlation;
	record.returnValue = (uint32_t)api->result;
	simcupti_emit(&record);
}

static void on_api(struct sim_api *api, bool is_exit)
{
	simcupti_call_api(api, is_exit);
	if (is_exit)
		FOR_CLIENTS(api_record(api));
}

/* ---- the device's work ----
 * Whether work is recorded is decided when it is queued: work in progress keeps its record if its kind is disabled
 * later. */

/* In sim_op's tool_flags, for each client: the work will have a record; its graph will; the record was written; it is
 * concurrent. */
enum { WANTED = 1, BY_GRAPH = 2, TOLD = 4, IS_CONCURRENT = 8, FLAG_BITS = 4, ALL_FLAGS = 15 };

static unsigned flags_of(const struct sim_op *op)
{
	return __atomic_load_n(&op->tool_flags, __ATOMIC_ACQUIRE) >> (simcupti_current * FLAG_BITS) & ALL_FLAGS;
}

/* Returns the flags before. */
static unsigned set_told(struct sim_op *op)
{
	unsigned shift = simcupti_current * FLAG_BITS;

	return __atomic_fetch_or(&op->tool_flags, (unsigned)TOLD << shift, __ATOMIC_ACQ_REL) >> shift & ALL_FLAGS;
}

static bool is_enabled(CUpti_ActivityKind kind)
{
	return simcupti_client()->enabled[kind];
}

/* Graphs are recorded as a whole if that was enabled when they were instantiated; with `once`, also ever since. */
static uint32_t graph_epoch(void)
{
	if (!is_enabled(CUPTI_ACTIVITY_KIND_GRAPH_TRACE))
		return 0;
	return 1 + (simcupti.traces_once ? simcupti.graph_disabled : 0);
}

static unsigned flags_when_queued(const struct sim_op *op)
{
	bool is_concurrent = is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	bool is_by_graph = is_enabled(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) && op->work.graph_id;
	bool is_wanted = false;

	if (op->work.kind == SIM_GRAPH_END)
		is_wanted = is_by_graph && op->work.tool_epoch == graph_epoch();
	else if (is_by_graph)
		is_wanted = false;	/* as CUPTI documents, nodes are not recorded while whole graphs are */
	else if (op->work.kind == SIM_KERNEL)
		is_wanted = is_concurrent || is_enabled(CUPTI_ACTIVITY_KIND_KERNEL);
	else if (op->work.kind == SIM_COPY && op->work.copy.is_decompression)
		is_wanted = is_enabled(CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS);
	else if (op->work.kind == SIM_COPY)
		is_wanted = is_enabled(op->work.copy.is_peer ? CUPTI_ACTIVITY_KIND_MEMCPY2 :
							       CUPTI_ACTIVITY_KIND_MEMCPY);
	else if (op->work.kind == SIM_SET)
		is_wanted = is_enabled(CUPTI_ACTIVITY_KIND_MEMSET);
	return (is_wanted && !simcupti.is_silent ? WANTED : 0) | (is_by_graph ? BY_GRAPH : 0) |
	       (is_concurrent ? IS_CONCURRENT : 0);
}

static void on_queued(struct sim_op *op)
{
	unsigned flags = 0;

	FOR_CLIENTS(flags |= flags_when_queued(op) << (simcupti_current * FLAG_BITS));
	op->tool_flags = flags;
}

static void kernel_record(const struct sim_op *op)
{
	const struct sim_work *work = &op->work;
	CUpti_ActivityKernel10 record = { .kind = CUPTI_ACTIVITY_KIND_KERNEL };

	if (flags_of(op) & IS_CONCURRENT)
		record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	record.registersPerThread = 32;
	record.start = simcupti_time(op->start_ns);
	record.end = record.completed = simcupti_time(op->end_ns);
	record.deviceId = (uint32_t)op->stream->context->device;
	record.contextId = op->stream->context->id;
	record.streamId = op->stream->id;
	record.gridX = (int32_t)work->kernel.grid[0];
	record.gridY = (int32_t)work->kernel.grid[1];
	record.gridZ = (int32_t)work->kernel.grid[2];
	record.blockX = (int32_t)work->kernel.block[0];
	record.blockY = (int32_t)work->kernel.block[1];
	record.blockZ = (int32_t)work->kernel.block[2];
	record.dynamicSharedMemory = (int32_t)work->kernel.shared_bytes;
	record.correlationId = op->correlation;
	record.gridId = (int64_t)op->id;
	record.name = work->kernel.function->name;
	if (simcupti.wants_latency_times) {
		record.queued = simcupti_time(op->queued_ns);
		record.submitted = record.queued + 200;
	}
	record.launchType = work->kernel.is_cooperative ? CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE :
							  CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR;
	record.graphNodeId = work->node_id;
	record.graphId = work->graph_id;
	record.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
	record.clusterX = work->kernel.cluster[0];
	record.clusterY = work->kernel.cluster[1];
	record.clusterZ = work->kernel.cluster[2];
	simcupti_emit_node(&record, work);
}

static uint8_t copy_kind(const struct sim_copy *copy)
{
	switch (sim_copy_name(copy)[0] << 8 | sim_copy_name(copy)[3]) {
	case 'H' << 8 | 'D':
		return CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
	case 'D' << 8 | 'H':
		return CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
	case 'D' << 8 | 'D':
		return CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
	case 'P' << 8 | 'P':
		return CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
	default:
		return CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
	}
}

static void peer_copy_record(const struct sim_op *op)
{
	const struct sim_copy *copy = &op->work.copy;
	CUpti_ActivityMemcpyPtoP4 record = { .kind = CUPTI_ACTIVITY_KIND_MEMCPY2 };

	record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
	record.srcKind = (uint8_t)memory_kind(copy->src_place);
	record.dstKind = (uint8_t)memory_kind(copy->dst_place);
	record.flags = copy->is_async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
	record.bytes = sim_copy_bytes(copy);
	record.start = simcupti_time(op->start_ns);
	record.end = simcupti_time(op->end_ns);
	record.deviceId = (uint32_t)op->stream->context->device;
	record.contextId = op->stream->context->id;
	record.streamId = op->stream->id;
	record.srcDeviceId = (uint32_t)copy->src_device;
	record.dstDeviceId = (uint32_t)copy->dst_device;
	record.srcContextId = record.dstContextId = op->stream->context->id;
	record.correlationId = op->correlation;
	record.graphNodeId = op->work.node_id;
	record.graphId = op->work.graph_id;
	record.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
	simcupti_emit(&record);
}

/* Managed memory that the driver migrates: all that the work accesses, each time, after one page fault. */
static void managed_record(const struct sim_op *op, uint64_t address, uint64_t bytes, bool is_to_host)
{
	CUpti_ActivityUnifiedMemoryCounter3 record = { .kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER };
	CUpti_ActivityUnifiedMemoryCounterKind fault = is_to_host ?
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT :
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT;
	CUpti_ActivityUnifiedMemoryCounterKind move = is_to_host ?
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH :
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;

	if (!simcupti_client()->enabled[CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER])
		return;
	record.start = simcupti_time(op->start_ns);
	record.address = address & ~(uint64_t)4095;
	record.processId = (uint32_t)syscall(SYS_getpid);
	record.counterKind = fault;
	record.value = is_to_host ? 0x401000 : 1;
	if (simcupti.counts_managed[fault])
		simcupti_emit(&record);
	record.end = simcupti_time(op->end_ns);
	record.counterKind = move;
	record.value = bytes;
	if (!simcupti.counts_managed[move])
		return;
	simcupti.interface->log("managed", ",\"host\":%d,\"bytes\":%llu,\"address\":%llu", is_to_host,
				(unsigned long long)bytes, (unsigned long long)record.address);
	simcupti_emit(&record);
}

static void copy_record(const struct sim_op *op)
{
	const struct sim_copy *copy = &op->work.copy;
	CUpti_ActivityMemcpy6 record = { .kind = CUPTI_ACTIVITY_KIND_MEMCPY };

	record.copyKind = copy_kind(copy);
	record.srcKind = (uint8_t)memory_kind(copy->src_place);
	record.dstKind = (uint8_t)memory_kind(copy->dst_place);
	record.flags = copy->is_async ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
	record.bytes = sim_copy_bytes(copy);
	record.start = simcupti_time(op->start_ns);
	record.end = simcupti_time(op->end_ns);
	record.deviceId = (uint32_t)op->stream->context->device;
	record.contextId = op->stream->context->id;
	record.streamId = op->stream->id;
	record.correlationId = op->correlation;
	record.graphNodeId = op->work.node_id;
	record.graphId = op->work.graph_id;
	record.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
	record.copyCount = 1;
	simcupti_emit_node(&record, &op->work);
}

static void decompression_record(const struct sim_op *op)
{
	CUpti_ActivityMemDecompress record = { .kind = CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS };

	record.deviceId = (uint32_t)op->stream->context->device;
	record.contextId = op->stream->context->id;
	record.streamId = op->stream->id;
	record.channelType = CUPTI_CHANNEL_TYPE_DECOMP;
	record.correlationId = op->correlation;
	record.numberOfOperations = 1;
	record.sourceBytes = sim_copy_bytes(&op->work.copy);
	record.start = simcupti_time(op->start_ns);
	record.end = simcupti_time(op->end_ns);
	simcupti_emit(&record);
}

static void set_record(const struct sim_op *op)
{
	const struct sim_work *work = &op->work;
	CUpti_ActivityMemset4 record = { .kind = CUPTI_ACTIVITY_KIND_MEMSET };

	record.value = work->set.value;
	record.bytes = (uint64_t)work->set.width * work->set.element_bytes * work->set.height;
	record.start = simcupti_time(op->start_ns);
	record.end = simcupti_time(op->end_ns);
	record.deviceId = (uint32_t)op->stream->context->device;
	record.contextId = op->stream->context->id;
	record.streamId = op->stream->id;
	record.correlationId = op->correlation;
	record.flags = work->set.is_async ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0;
	record.memoryKind = (uint16_t)memory_kind(work->set.place);
	record.graphNodeId = work->node_id;
	record.graphId = work->graph_id;
	record.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
	simcupti_emit_node(&record, work);
}

static void graph_record(const struct sim_op *end, const struct sim_op *first)
{
	CUpti_ActivityGraphTrace2 record = { .kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE };

	record.correlationId = end->correlation;
	record.start = simcupti_time(first->start_ns);
	record.end = simcupti_time(end->end_ns);
	record.deviceId = record.endDeviceId = (uint32_t)end->stream->context->device;
	record.contextId = record.endContextId = end->stream->context->id;
	record.streamId = end->stream->id;
	record.graphId = end->work.graph_id;
	simcupti_emit(&record);
}

static void work_record(const struct sim_op *op, const struct sim_op *graph_first)
{
	if (op->work.kind == SIM_GRAPH_END)
		graph_record(op, graph_first ? graph_first : op);
	else if (op->work.kind == SIM_KERNEL)
		kernel_record(op);
	else if (op->work.kind == SIM_COPY && op->work.copy.is_peer)
		peer_copy_record(op);
	else if (op->work.kind == SIM_COPY && op->work.copy.is_decompression)
		decompression_record(op);
	else if (op->work.kind == SIM_COPY)
		copy_record(op);
	else if (op->work.kind == SIM_SET)
		set_record(op);
}

static void work_records(struct sim_op *op, const struct sim_op *graph_first)
{
	const struct sim_copy *copy = op->work.kind == SIM_COPY && !op->work.copy.is_peer ? &op->work.copy : NULL;
	unsigned flags = set_told(op);

	if (copy && !(flags & BY_GRAPH) && copy->dst_place == SIM_MANAGED)
		managed_record(op, (uintptr_t)copy->dst, sim_copy_bytes(copy), false);
	if (copy && !(flags & BY_GRAPH) && copy->src_place == SIM_MANAGED)
		managed_record(op, (uintptr_t)copy->src, sim_copy_bytes(copy), true);
	if ((flags & (WANTED | TOLD)) == WANTED && !(op->work.kind == SIM_GRAPH_END && !graph_first))
		work_record(op, graph_first);
}

static void on_work(struct sim_op *op, const struct sim_op *graph_first)
{
	FOR_CLIENTS(work_records(op, graph_first));
}

/* ---- work in progress at a flush ---- */

static void count_unfinished(struct sim_op *op, void *count)
{
	*(unsigned *)count += (flags_of(op) & (WANTED | TOLD)) == WANTED;
}

bool simcupti_has_unfinished(void)
{
	unsigned count = 0;

	FOR_CLIENTS(simcupti.interface->each_op(count_unfinished, &count));
	return count > 0;
}

struct unfinished { struct sim_op *list; size_t count, room; };

/* Copied, because no function of the client may be called with the core's lock held. */
static void take_unfinished(struct sim_op *op, void *data)
{
	struct unfinished *all = data;

	if ((flags_of(op) & (WANTED | TOLD)) != WANTED || all->count == all->room || set_told(op) & TOLD)
		return;
	all->list[all->count] = *op;
	if (!op->is_placed || op->start_ns > simcupti.interface->now_ns())
		all->list[all->count].start_ns = 0;
	all->list[all->count++].end_ns = 0;
}

static void tell_unfinished(void)
{
	struct unfinished all = {0};
	unsigned count = 0;

	simcupti.interface->each_op(count_unfinished, &count);
	all.room = count;
	all.list = count ? calloc(count, sizeof(*all.list)) : NULL;
	if (!all.list)
		return;
	simcupti.interface->each_op(take_unfinished, &all);
	for (size_t i = 0; i < all.count; i++) {
		const struct sim_op *op = &all.list[i];

		simcupti.interface->log("cupti_unfinished", ",\"op\":%llu,\"graph\":%u,\"corr\":%u",
					(unsigned long long)op->id, op->work.graph_id, op->correlation);
		work_record(op, NULL);
	}
	free(all.list);
}

void simcupti_tell_unfinished(void)
{
	FOR_CLIENTS(tell_unfinished());
}

/* ---- everything else ---- */

static void memory_record(const struct sim_allocation *allocation, bool is_free, uint32_t correlation, uint32_t stream,
			  bool is_async)
{
	CUpti_ActivityMemory4 record = { .kind = CUPTI_ACTIVITY_KIND_MEMORY2 };

	if (!simcupti_client()->enabled[CUPTI_ACTIVITY_KIND_MEMORY2] || allocation->is_registered)
		return;
	record.memoryOperationType = is_free ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE :
					       CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
	record.memoryKind = memory_kind(allocation->place);
	record.correlationId = correlation;
	record.address = allocation->address;
	record.bytes = allocation->bytes;
	record.timestamp = simcupti_time(simcupti.interface->now_ns());
	record.processId = (uint32_t)syscall(SYS_getpid);
	record.deviceId = (uint32_t)allocation->device;
	record.contextId = allocation->context ? allocation->context->id : 0;
	record.streamId = stream;
	record.isAsync = is_async;
	if (allocation->pool) {
		record.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
		record.memoryPoolConfig.address = (uintptr_t)allocation->pool;
		record.memoryPoolConfig.releaseThreshold = allocation->pool_threshold_bytes;
		record.memoryPoolConfig.pool.size = allocation->pool_high_bytes;
		record.memoryPoolConfig.utilizedSize = allocation->pool_used_bytes;
	}
	simcupti_emit(&record);
}

static void on_memory(const struct sim_allocation *allocation, bool is_free, uint32_t correlation, uint32_t stream,
		      bool is_async)
{
	FOR_CLIENTS(memory_record(allocation, is_free, correlation, stream, is_async));
}

static void wait_record(int type, const struct sim_context *context, uint32_t stream, uint32_t event,
			uint64_t start_ns, uint64_t end_ns, uint32_t correlation)
{
	CUpti_ActivitySynchronization2 record = { .kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION };

	if (!simcupti_client()->enabled[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION])
		return;
	record.type = (CUpti_ActivitySynchronizationType)type;
	record.start = simcupti_time(start_ns);
	record.end = simcupti_time(end_ns);
	record.correlationId = correlation;
	record.contextId = context ? context->id : 0;
	record.streamId = stream ? stream : (uint32_t)CUPTI_SYNCHRONIZATION_INVALID_VALUE;
	record.cudaEventId = event ? event : (uint32_t)CUPTI_SYNCHRONIZATION_INVALID_VALUE;
	simcupti_emit(&record);
}

static void on_wait(int type, const struct sim_context *context, uint32_t stream, uint32_t event, uint64_t start_ns,
		    uint64_t end_ns, uint32_t correlation)
{
	FOR_CLIENTS(wait_record(type, context, stream, event, start_ns, end_ns, correlation));
}

static void device_record(int ordinal)
{
	const struct sim_device *device = simcupti.interface->device(ordinal);
	CUpti_ActivityDevice5 record = { .kind = CUPTI_ACTIVITY_KIND_DEVICE };

	record.globalMemorySize = device->total_bytes;
	record.numThreadsPerWarp = 32;
	record.coreClockRate = 1500000;
	record.numMultiprocessors = 80;
	record.maxThreadsPerBlock = 1024;
	record.computeCapabilityMajor = 9;
	record.id = (uint32_t)ordinal;
	record.name = device->name;
	record.isCudaVisible = 1;
	memcpy(record.uuid.bytes, "simulated-gpu-00", sizeof(record.uuid.bytes));
	record.uuid.bytes[15] = (char)('0' + ordinal % 10);
	simcupti_emit(&record);
}

static void context_record(const struct sim_context *context)
{
	CUpti_ActivityContext3 record = { .kind = CUPTI_ACTIVITY_KIND_CONTEXT };

	record.contextId = context->id;
	record.deviceId = (uint32_t)context->device;
	record.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
	record.nullStreamId = (uint16_t)(context->legacy ? context->legacy->id : 0);
	record.parentContextId = 0;
	record.numMultiprocessors = 80;
	simcupti_emit(&record);
}

static void new_context_records(const struct sim_context *context)
{
	if (simcupti_client()->enabled[CUPTI_ACTIVITY_KIND_DEVICE])
		device_record(context->device);
	if (simcupti_client()->enabled[CUPTI_ACTIVITY_KIND_CONTEXT])
		context_record(context);
}

static void on_context(const struct sim_context *context, bool is_end)
{
	if (!is_end)
		FOR_CLIENTS(new_context_records(context));
	simcupti_call_resource(is_end ? CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING :
					CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
			       (CUcontext)(uintptr_t)context, NULL);
}

static void stream_record(const struct sim_stream *stream, uint32_t correlation)
{
	CUpti_ActivityStream record = { .kind = CUPTI_ACTIVITY_KIND_STREAM };

	if (!simcupti_client()->enabled[CUPTI_ACTIVITY_KIND_STREAM])
		return;
	record.contextId = stream->context->id;
	record.streamId = stream->id;
	record.priority = (uint32_t)stream->priority;
	record.flag = stream->flags & CU_STREAM_NON_BLOCKING ?
		CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
	record.correlationId = correlation;
	simcupti_emit(&record);
}

static void on_stream(const struct sim_stream *stream, bool is_end, uint32_t correlation)
{
	if (!is_end)
		FOR_CLIENTS(stream_record(stream, correlation));
	simcupti_call_resource(is_end ? CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING :
					CUPTI_CBID_RESOURCE_STREAM_CREATED,
			       (CUcontext)stream->context, (CUstream)(uintptr_t)stream);
}

/* Devices and contexts that existed before their kind was enabled. */
void simcupti_tell_existing(CUpti_ActivityKind kind)
{
	const struct sim_context *context = simcupti.interface->first_context();

	for (; context; context = context->next) {
		if (context->is_dead)
			continue;
		if (kind == CUPTI_ACTIVITY_KIND_DEVICE)
			device_record(context->device);
		else if (kind == CUPTI_ACTIVITY_KIND_CONTEXT)
			context_record(context);
	}
}

const struct sim_tool simcupti_tool = {
	.epoch = graph_epoch,
	.queued = on_queued,
	.api = on_api,
	.work = on_work,
	.memory = on_memory,
	.wait = on_wait,
	.context = on_context,
	.stream = on_stream,
};
