/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of each table. */
#include "report/tables/nsys/nsys_tables.h"

#include <strings.h>

#define NEED(name) {#name, NSYS_INTEGER, true}
#define INT(name) {#name, NSYS_INTEGER, false}
#define REAL(name) {#name, NSYS_REAL, false}
#define TEXT(name) {#name, NSYS_TEXT, false}
#define NEED_TEXT(name) {#name, NSYS_TEXT, true}
#define COLUMNS(...) (const struct nsys_column[]){__VA_ARGS__}, \
		     sizeof((const struct nsys_column[]){__VA_ARGS__}) / sizeof(struct nsys_column)
/* The meaning of the numbers in a column. */
#define ENUM(name_of_table) {name_of_table, COLUMNS(NEED(id), TEXT(name), TEXT(label)), .is_always = true, .key = "id"}

const struct nsys_schema nsys_schemas[NSYS_TABLES] = {
	[NSYS_EVENT_TYPES] = ENUM("ENUM_NSYS_EVENT_TYPE"),
	[NSYS_EVENT_CLASSES] = ENUM("ENUM_NSYS_EVENT_CLASS"),
	[NSYS_COPY_KINDS] = ENUM("ENUM_CUDA_MEMCPY_OPER"),
	[NSYS_MEMORY_KINDS] = ENUM("ENUM_CUDA_MEM_KIND"),
	[NSYS_SYNC_TYPES] = ENUM("ENUM_CUPTI_SYNC_TYPE"),
	[NSYS_SEVERITIES] = ENUM("ENUM_DIAGNOSTIC_SEVERITY_LEVEL"),
	[NSYS_MEMORY_OPERATIONS] = ENUM("ENUM_CUDA_DEV_MEM_EVENT_OPER"),
	[NSYS_MIGRATION_CAUSES] = ENUM("ENUM_CUDA_UNIF_MEM_MIGRATION"),
	[NSYS_LAUNCH_TYPES] = ENUM("ENUM_CUDA_KERNEL_LAUNCH_TYPE"),
	[NSYS_CACHE_CONFIGS] = ENUM("ENUM_CUDA_FUNC_CACHE_CONFIG"),
	[NSYS_SHARED_LIMITS] = ENUM("ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG"),
	[NSYS_STREAM_TYPES] = ENUM("ENUM_CUPTI_STREAM_TYPE"),
	[NSYS_OVERHEAD_TYPES] = ENUM("ENUM_CUPTI_OVERHEAD_TYPE"),
	[NSYS_DIAGNOSTIC_SOURCES] = ENUM("ENUM_DIAGNOSTIC_SOURCE_TYPE"),
	[NSYS_DIAGNOSTIC_TIMES] = ENUM("ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE"),
	[NSYS_THREAD_STATES] = ENUM("ENUM_SAMPLING_THREAD_STATE"),
	[NSYS_META] = {"EXPORT_META_DATA",
		COLUMNS(NEED_TEXT(name), TEXT(value)),
		.is_always = true},
	[NSYS_META_EXPORT] = {"META_DATA_EXPORT",
		COLUMNS(NEED_TEXT(name), TEXT(value)), .is_always = true},
	[NSYS_META_CAPTURE] = {"META_DATA_CAPTURE",
		COLUMNS(NEED_TEXT(name), TEXT(value)), .is_always = true},
	[NSYS_STRINGS] = {"StringIds",
		COLUMNS(NEED(id), NEED_TEXT(value)),
		.is_always = true, .key = "id"},
	[NSYS_START_TIME] = {"TARGET_INFO_SESSION_START_TIME",
		COLUMNS(INT(utcEpochNs), TEXT(utcTime), TEXT(localTime), INT(systemClockNs)),
		.is_always = true},
	/* devStateName and nameEnum are NOT NULL in nsys's files, but nsys's values of them are not known. */
	[NSYS_SYSTEM] = {"TARGET_INFO_SYSTEM_ENV",
		COLUMNS(INT(globalVid), TEXT(devStateName), NEED_TEXT(name), INT(nameEnum), NEED_TEXT(value))},
	[NSYS_ANALYSIS] = {"ANALYSIS_DETAILS",
		COLUMNS(NEED(globalVid), NEED(duration), NEED(startTime), NEED(stopTime)),
		.is_always = true},
	/* nsys's gputrace reads it without checking. */
	[NSYS_GPU] = {"TARGET_INFO_GPU",
		COLUMNS(NEED(vmId), NEED(id), TEXT(name), TEXT(busLocation), INT(isDiscrete), INT(l2CacheSize),
			INT(totalMemory), INT(memoryBandwidth), INT(clockRate), INT(smCount), INT(pwGpuId),
			TEXT(uuid), INT(luid), TEXT(chipName), INT(cuDevice), TEXT(ctxswDevPath), TEXT(ctrlDevPath),
			INT(revision), INT(nodeMask), INT(constantMemory), INT(maxIPC), INT(maxRegistersPerBlock),
			INT(maxShmemPerBlock), INT(maxShmemPerBlockOptin), INT(maxShmemPerSm),
			INT(maxRegistersPerSm), INT(threadsPerWarp), INT(asyncEngines), INT(maxWarpsPerSm),
			INT(maxBlocksPerSm), INT(maxThreadsPerBlock), INT(maxBlockDimX), INT(maxBlockDimY),
			INT(maxBlockDimZ), INT(maxGridDimX), INT(maxGridDimY), INT(maxGridDimZ), INT(computeMajor),
			INT(computeMinor), INT(smMajor), INT(smMinor)),
		.is_always = true},
	[NSYS_PROCESSES] = {"PROCESSES",
		COLUMNS(INT(globalPid), INT(pid), TEXT(name)),
		.is_always = true},
	[NSYS_THREADS] = {"ThreadNames",
		COLUMNS(NEED(nameId), INT(priority), INT(globalTid)),
		.is_always = true},
	[NSYS_OSRT] = {"OSRT_API",
		COLUMNS(NEED(start), NEED(end), NEED(eventClass), INT(globalTid), NEED(nameId), NEED(returnValue),
			INT(nestingLevel), NEED(callchainId))},
	[NSYS_OSRT_STACKS] = {"OSRT_CALLCHAINS",
		COLUMNS(NEED(id), NEED(symbol), NEED(module), INT(kernelMode), INT(thumbCode), INT(unresolved),
			INT(specialEntry), INT(originalIP), INT(unwindMethod), NEED(stackDepth)),
		.key = "id,stackDepth"},
	[NSYS_RUNTIME] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
		COLUMNS(NEED(start), NEED(end), NEED(eventClass), INT(globalTid), INT(correlationId), NEED(nameId),
			NEED(returnValue), INT(callchainId))},
	[NSYS_CUDA_STACKS] = {"CUDA_CALLCHAINS",
		COLUMNS(NEED(id), NEED(symbol), NEED(module), INT(unresolved), INT(originalIP), NEED(stackDepth)),
		.key = "id,stackDepth"},
	[NSYS_SAMPLE] = {"COMPOSITE_EVENTS",
		COLUMNS(NEED(id), NEED(start), INT(cpu), INT(threadState), INT(globalTid), NEED(cpuCycles)),
		.key = "id"},
	[NSYS_SAMPLE_STACKS] = {"SAMPLING_CALLCHAINS",
		COLUMNS(NEED(id), NEED(symbol), NEED(module), INT(kernelMode), INT(thumbCode), INT(unresolved),
			INT(specialEntry), INT(originalIP), INT(unwindMethod), NEED(stackDepth)),
		.key = "id,stackDepth"},
	[NSYS_NVTX] = {"NVTX_EVENTS",
		COLUMNS(NEED(start), INT(end), NEED(eventType), INT(rangeId), INT(category), INT(color), TEXT(text),
			INT(globalTid), INT(endGlobalTid), INT(textId), INT(domainId), INT(uint64Value),
			INT(int64Value), REAL(doubleValue), INT(uint32Value), INT(int32Value), REAL(floatValue),
			INT(jsonTextId), TEXT(jsonText), TEXT(binaryData))},
	[NSYS_PAYLOAD_SCHEMA] = {"NVTX_PAYLOAD_SCHEMAS",
		COLUMNS(INT(domainId), INT(schemaId), TEXT(name), INT(type), INT(flags), INT(numEntries),
			INT(payloadSize), INT(alignTo))},
	[NSYS_PAYLOAD_ENTRY] = {"NVTX_PAYLOAD_SCHEMA_ENTRIES",
		COLUMNS(NEED(domainId), NEED(schemaId), NEED(idx), INT(flags), INT(type), TEXT(name),
			TEXT(description), INT(arrayOrUnionDetail), INT(offset))},
	[NSYS_PAYLOAD_ENUM] = {"NVTX_PAYLOAD_ENUMS",
		COLUMNS(INT(domainId), INT(schemaId), TEXT(name), INT(numEntries), INT(size))},
	[NSYS_PAYLOAD_ENUM_ENTRY] = {"NVTX_PAYLOAD_ENUM_ENTRIES",
		COLUMNS(NEED(domainId), NEED(schemaId), NEED(idx), TEXT(name), INT(value), INT(isFlag))},
	[NSYS_NVTX_DEVICE] = {"TARGET_INFO_NVTX_CUDA_DEVICE",
		COLUMNS(TEXT(name), INT(hwId), INT(vmId), INT(deviceId))},
	[NSYS_NVTX_STREAM] = {"TARGET_INFO_NVTX_CUDA_STREAM",
		COLUMNS(TEXT(name), INT(hwId), INT(vmId), INT(processId), INT(deviceId), INT(contextId),
			INT(streamId))},
	/* CUPTI's priority of a stream is not recorded, so NULL must be possible. */
	[NSYS_STREAM] = {"TARGET_INFO_CUDA_STREAM",
		COLUMNS(NEED(streamId), NEED(hwId), NEED(vmId), NEED(processId), NEED(contextId), INT(priority),
			NEED(flag))},
	[NSYS_CUBLAS] = {"CUBLAS_EVENTS",
		COLUMNS(NEED(start), NEED(end), NEED(eventClass), INT(globalTid), NEED(nameId))},
	[NSYS_CUDNN] = {"CUDNN_EVENTS",
		COLUMNS(NEED(start), NEED(end), NEED(eventClass), INT(globalTid), NEED(nameId))},
	[NSYS_KERNEL] = {"CUPTI_ACTIVITY_KIND_KERNEL",
		COLUMNS(NEED(start), NEED(end), NEED(deviceId), NEED(contextId), INT(greenContextId), NEED(streamId),
			INT(correlationId), INT(globalPid), NEED(demangledName), NEED(shortName), INT(mangledName),
			INT(launchType), INT(cacheConfig), NEED(registersPerThread), NEED(gridX),
			NEED(gridY), NEED(gridZ),
			NEED(blockX), NEED(blockY), NEED(blockZ), NEED(staticSharedMemory), NEED(dynamicSharedMemory),
			NEED(localMemoryPerThread), NEED(localMemoryTotal), NEED(gridId), INT(sharedMemoryExecuted),
			INT(graphNodeId), INT(sharedMemoryLimitConfig), INT(qmdBulkReleaseDone), INT(qmdPreexitDone),
			INT(qmdLastCtaDone), INT(graphId), INT(clusterX), INT(clusterY), INT(clusterZ),
			INT(clusterSchedulingPolicy), INT(maxPotentialClusterSize), INT(maxActiveClusters),
			INT(sharedMemoryRequestedPercentage), NEED_TEXT(tensorSizeMinusOneElements))},
	[NSYS_MEMCPY] = {"CUPTI_ACTIVITY_KIND_MEMCPY",
		COLUMNS(NEED(start), NEED(end), NEED(deviceId), NEED(contextId), INT(greenContextId), NEED(streamId),
			INT(correlationId), INT(globalPid), NEED(bytes), NEED(copyKind), INT(deprecatedSrcId),
			INT(srcKind), INT(dstKind),
			INT(srcDeviceId), INT(srcContextId), INT(dstDeviceId), INT(dstContextId), INT(migrationCause),
			INT(graphNodeId), INT(virtualAddress), INT(copyCount))},
	[NSYS_MEMSET] = {"CUPTI_ACTIVITY_KIND_MEMSET",
		COLUMNS(NEED(start), NEED(end), NEED(deviceId), NEED(contextId), INT(greenContextId), NEED(streamId),
			INT(correlationId), INT(globalPid), NEED(value), NEED(bytes), INT(graphNodeId), INT(memKind))},
	[NSYS_GRAPH] = {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
		COLUMNS(NEED(start), NEED(end), NEED(deviceId), NEED(contextId), INT(greenContextId), NEED(streamId),
			INT(correlationId), INT(globalPid), NEED(graphId), NEED(graphExecId))},
	[NSYS_GRAPH_NODE] = {"CUDA_GRAPH_NODE_EVENTS",
		COLUMNS(NEED(start), NEED(end), NEED(eventClass), INT(globalTid), NEED(nameId), INT(graphNodeId),
			INT(originalGraphNodeId))},
	[NSYS_SYNC] = {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
		COLUMNS(NEED(start), NEED(end), NEED(deviceId), NEED(contextId), INT(greenContextId), NEED(streamId),
			INT(correlationId), INT(globalPid), INT(deprecatedSyncType), NEED(syncType), NEED(eventId),
			INT(eventSyncId))},
	/* eventClass is NOT NULL in nsys's files, but nsys's number of it is not known. */
	[NSYS_OVERHEAD] = {"CUPTI_ACTIVITY_KIND_OVERHEAD",
		COLUMNS(NEED(start), NEED(end), INT(eventClass), INT(globalTid), INT(correlationId), INT(nameId),
			NEED(overheadType))},
	[NSYS_DIAGNOSTIC] = {"DIAGNOSTIC_EVENT",
		COLUMNS(NEED(timestamp), NEED(timestampType), NEED(source), NEED(severity), NEED_TEXT(text),
			INT(globalPid))},
	[NSYS_MEMORY] = {"CUDA_GPU_MEMORY_USAGE_EVENTS",
		COLUMNS(NEED(start), NEED(globalPid), NEED(deviceId), NEED(contextId), NEED(address), NEED(pc),
			NEED(bytes), NEED(memKind), NEED(memoryOperationType), TEXT(name), INT(correlationId))},
	/* nsys's mpi_event_trace reads it without checking. */
	[NSYS_MPI_RANKS] = {"MPI_RANKS",
		COLUMNS(NEED(globalTid), NEED(rank))},
	[NSYS_MPI_P2P] = {"MPI_P2P_EVENTS",
		COLUMNS(NEED(start), NEED(end), INT(globalTid), INT(textId), INT(commHandle), INT(tag),
			INT(remoteRank), INT(size), INT(requestHandle))},
	[NSYS_MPI_COLLECTIVE] = {"MPI_COLLECTIVES_EVENTS",
		COLUMNS(NEED(start), NEED(end), INT(globalTid), INT(textId), INT(commHandle), INT(rootRank), INT(size),
			INT(recvSize), INT(requestHandle))},
	[NSYS_MPI_WAIT] = {"MPI_START_WAIT_EVENTS",
		COLUMNS(NEED(start), NEED(end), INT(globalTid), INT(textId), INT(requestHandle))},
	[NSYS_MPI_OTHER] = {"MPI_OTHER_EVENTS",
		COLUMNS(NEED(start), NEED(end), INT(globalTid), INT(textId))},
	[NSYS_COUNTER] = {"PILLION_COUNTER",
		COLUMNS(NEED(id), TEXT(host), TEXT(source), TEXT(name), TEXT(unit)),
		.key = "id"},
	[NSYS_COUNTER_VALUE] = {"PILLION_COUNTER_VALUE",
		COLUMNS(NEED(counterId), NEED(timestamp), REAL(value))},
};

enum nsys_table nsys_table_find(const char *name)
{
	int i = 0;

	while (i < NSYS_TABLES && strcasecmp(nsys_schemas[i].name, name) != 0)
		i++;
	return (enum nsys_table)i;
}

void nsys_declare(const struct nsys_schema *schema, struct buffer *ret)
{
	static const char *const types[] = {"INTEGER", "REAL", "TEXT"};

	buffer_text(ret, schema->name);
	for (size_t i = 0; i < schema->count; i++) {
		const struct nsys_column *c = &schema->columns[i];

		buffer_print(ret, "%s%s %s%s", i ? "," : "(", c->name, types[c->type],
			     c->is_required ? " NOT NULL" : "");
	}
	if (schema->key)
		buffer_print(ret, ",PRIMARY KEY(%s)", schema->key);
	buffer_text(ret, ")");
}
